package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// api lets those in who may come, as often as they may ask, and tells others in problem+json.
func (s *Server) api(use Use, h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, err := s.admit(w, r, use)
		if err == nil {
			err = s.requests.allow(a.ID)
		}
		if err == nil {
			err = h(w, r, a)
		}
		if err != nil {
			s.fail(w, r, err)
		}
	}
}

// runBody is a run as the API tells it.
type runBody struct {
	RunID         string                 `json:"runId"`
	ToolID        string                 `json:"toolId"`
	ToolVersion   string                 `json:"toolVersion"`
	Status        runs.Status            `json:"status"`
	Progress      *float64               `json:"progress"` // 0..1, null while no real figure is known
	Stage         string                 `json:"stage,omitempty"`
	QueuePosition int                    `json:"queuePosition,omitempty"`
	Notice        runs.Notice            `json:"notice,omitempty"`           // while it is under way: what became of its engine
	Remaining     int                    `json:"remainingSeconds,omitempty"` // by how long such runs took
	Inputs        map[string]any         `json:"inputs"`
	Sources       map[string]runs.Source `json:"sources,omitempty"`
	Outputs       []outputBody           `json:"outputs"`
	Quote         quoteBody              `json:"quoteNanoUsd"`
	Cost          billing.NanoUSD        `json:"costNanoUsd"`
	Receipt       *billing.Receipt       `json:"receipt,omitempty"`
	Error         *runs.Failure          `json:"error,omitempty"`
	CreatedAt     time.Time              `json:"createdAt"`
	StartedAt     *time.Time             `json:"startedAt,omitempty"`
	EndedAt       *time.Time             `json:"endedAt,omitempty"`
	TraceID       string                 `json:"traceId"`
	LatencyMs     int64                  `json:"latencyMs,omitempty"` // once over; see runs.Envelope
	Attempts      int                    `json:"attempts,omitempty"`  // executions until now
	Confirmation  *confirmationBody      `json:"confirmation,omitempty"`
	Question      *questionBody          `json:"question,omitempty"`
	Granted       []string               `json:"granted,omitzero"` // the personal data that its owner let go to the service; absent: all that the tool asks for
}

// confirmationBody is what a run waits for: its owner's word to exactly this, in time.
type confirmationBody struct {
	Kind      string          `json:"kind"`
	Hash      string          `json:"summaryHash"`
	Personal  []string        `json:"personal,omitempty"` // scopes of personal data that go to the service
	Promise   billing.NanoUSD `json:"promiseNanoUsd"`
	ExpiresAt time.Time       `json:"expiresAt"`
	URL       string          `json:"url"` // the page on which its owner can confirm
}

// questionBody is what a run's service asks its owner, while the call waits.
type questionBody struct {
	ID        string                `json:"id"`
	Message   string                `json:"message"`
	Fields    []registry.InputField `json:"fields"`
	OpenURL   string                `json:"openUrl,omitempty"` // a page that the owner is asked to open; no model gets it
	ExpiresAt time.Time             `json:"expiresAt"`
	URL       string                `json:"url"` // the page on which its owner can answer
}

type quoteBody struct {
	Low  billing.NanoUSD `json:"low"`
	High billing.NanoUSD `json:"high"`
}

type outputBody struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	MIMEType string `json:"mimeType,omitempty"`
	URL      string `json:"url,omitempty"`
	ImageURL string `json:"imageUrl,omitempty"` // the same, of a picture: what planners look for
	Alt      string `json:"alt,omitempty"`      // what the picture shows
	Text     string `json:"text,omitempty"`
	Width    int    `json:"width,omitempty"`
	Height   int    `json:"height,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`
	Deleted  bool   `json:"deleted,omitempty"` // its content is gone
}

func (s *Server) runBody(r *http.Request, run runs.Run) runBody {
	b := runBody{
		RunID: run.ID, ToolID: run.Tool.ToolID, ToolVersion: run.Tool.Version, Status: run.Status, Progress: run.Fraction,
		Stage: run.Stage, QueuePosition: run.QueuePosition, Remaining: int(run.Rest(time.Now()).Round(time.Second).Seconds()), Inputs: run.Inputs, Sources: run.Sources, Outputs: []outputBody{},
		Quote: quoteBody{Low: run.Quote.Low, High: run.Quote.High}, Cost: run.Cost, Receipt: run.Receipt, Error: run.Error,
		CreatedAt: run.CreatedAt, StartedAt: run.StartedAt, EndedAt: run.EndedAt,
		TraceID: run.Trace(), LatencyMs: run.Latency().Milliseconds(), Attempts: run.Executions(), Granted: run.Granted,
	}
	if !run.Status.Final() {
		b.Notice = run.Notice
	}
	if run.Status == runs.StatusAwaitingConfirmation {
		said := run.Summary()
		b.Confirmation = &confirmationBody{
			Kind: said.Kind, Hash: said.Hash(), Personal: said.Personal, Promise: said.Promise, ExpiresAt: run.CreatedAt.Add(runs.SummaryLife), URL: s.absolute(r, "/run/"+run.ID),
		}
	}
	if q := run.Question; q != nil {
		b.Question = &questionBody{ID: q.ID, Message: q.Message, Fields: append([]registry.InputField{}, q.Fields...), ExpiresAt: q.Until, URL: s.absolute(r, "/run/"+run.ID)}
		if !ByAgent(r.Context()) {
			b.Question.OpenURL = q.URL
		}
	}
	if run.Status == runs.StatusSucceeded {
		b.Progress = new(1.0)
	}
	for _, o := range run.Outputs {
		b.Outputs = append(b.Outputs, s.outputBody(r, run.AccountID, o))
	}
	return b
}

func (s *Server) outputBody(r *http.Request, owner string, o runs.Output) outputBody {
	out := outputBody{Name: o.Name, Type: o.Type, MIMEType: o.MIMEType, Text: o.Text, Width: o.Width, Height: o.Height, Bytes: o.Bytes, Alt: o.Alt, Deleted: o.Deleted}
	if o.Media != "" {
		out.URL = s.absolute(r, s.FilePath(owner, o.Media, o.FileName))
	}
	if o.Type == string(registry.TypeImage) {
		out.ImageURL = out.URL
	}
	return out
}

// absolute makes a path an address: under PUBLIC_URL, or as the client reached us.
func (s *Server) absolute(r *http.Request, path string) string {
	if s.cfg.Public != nil {
		return s.cfg.Public.Scheme + "://" + s.cfg.Public.Host + strings.TrimRight(s.cfg.Public.Path, "/") + path
	}
	return (&url.URL{Scheme: "http", Host: r.Host}).String() + path
}

func (s *Server) apiTools(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if r.URL.Query().Has("q") {
		return s.apiSearch(w, r, a)
	}
	list, err := s.catalogue().tools[audience(a)]()
	if err == nil {
		list.serve(w, r)
	}
	return err
}

func (s *Server) apiTool(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, ok := s.cfg.Registry.Snapshot().Resolve(r.PathValue("id"))
	if !ok || !t.KnownTo(audience(a)) {
		return runs.ErrUnknownTool
	}
	tool, err := encode(t)
	if err == nil {
		tool.serve(w, r)
	}
	return err
}

// apiStatus tells how loaders and engines are.
func (s *Server) apiStatus(w http.ResponseWriter, _ *http.Request, _ users.Account) error {
	body := map[string]any{"version": s.cfg.Version, "loaders": s.cfg.Registry.Status()}
	if s.cfg.Status != nil {
		for k, v := range s.cfg.Status() {
			body[k] = v
		}
	}
	writeJSON(w, http.StatusOK, body)
	return nil
}

// apiStart runs the tool whose apiPath was asked for. It takes the same way as a chat command, or, where a model asks, as one that
// its owner may have to approve.
func (s *Server) apiStart(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, ok := s.cfg.Registry.Snapshot().ByAPIPath(r.URL.EscapedPath())
	if !ok || t.Refusal(audience(a)) != nil {
		if run, err := s.startedBefore(r, a); err == nil {
			t, ok = &run.Tool, true // as it was then
		}
	}
	if ok && !t.KnownTo(audience(a)) || !ok && strings.HasPrefix(r.URL.Path, registry.RunPrefix) {
		return s.refuseCall(w, r, runs.Run{}, runs.ErrUnknownTool)
	}
	if !ok {
		s.notFound(w, r)
		return nil
	}
	began := s.cfg.Now()
	run, err := s.startCall(w, r, a, *t)
	if err != nil {
		return s.refuseCall(w, r, run, err)
	}
	status := http.StatusAccepted
	if run.Status.Final() {
		status = http.StatusOK
	}
	if repeatable := r.Header.Get("Idempotency-Key") != "" || run.Context.TraceID != ""; repeatable && run.CreatedAt.Before(began) {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	w.Header().Set("Location", s.absolute(r, "/api/runs/"+run.ID))
	writeJSON(w, status, s.runBody(r, run))
	return nil
}

// startedBefore gives the run that a repeated request began before its tool went away: its client must not take it for lost.
func (s *Server) startedBefore(r *http.Request, a users.Account) (runs.Run, error) {
	run, err := s.cfg.Runs.First(r.Context(), a.ID, apiKey(r.Header.Get("Idempotency-Key")))
	if path, _ := url.PathUnescape(run.Tool.RunPath()); err == nil && path != r.URL.Path {
		err = runs.ErrNotFound
	}
	return run, err
}

// apiKey is the key of a run that a request with an Idempotency-Key began; "" for none.
func apiKey(header string) string {
	if header == "" {
		return ""
	}
	return "api:" + header
}

// startCall takes on the run that a request asks for. One that waits for approval comes with the error.
func (s *Server) startCall(w http.ResponseWriter, r *http.Request, a users.Account, t registry.Tool) (runs.Run, error) {
	if refusal := t.Refusal(audience(a)); refusal != nil {
		return runs.Run{}, refusal
	}
	request := runs.Request{AccountID: a.ID, ToolID: t.ToolID, Origin: runs.Origin{Platform: "api"}, Audience: audience(a), Context: contextOf(r), Quote: r.Header.Get(quoteHeader)}
	if ByAgent(r.Context()) {
		request.Approval = runs.ApproveWrites
	}
	v, err := s.readInputs(w, r, a, t)
	if err == nil {
		err = s.settleMedia(r.Context(), a, t, v)
	}
	if err != nil {
		return runs.Run{}, err
	}
	request.Values = v
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		if err := checkIdempotencyKey(key); err != nil {
			return runs.Run{}, err
		}
		request.IdempotencyKey = apiKey(key)
	}
	run, err := s.accept(r.Context(), a, request)
	if run.ID != "" && request.IdempotencyKey != "" {
		if other := s.checkRepeat(r.Context(), request, run); other != nil {
			return runs.Run{}, other
		}
	}
	return run, err
}

// accept takes a run on for somebody who may use its tool.
func (s *Server) accept(ctx context.Context, a users.Account, request runs.Request) (runs.Run, error) {
	decision, err := s.cfg.Users.CheckAccount(ctx, a, Platform, request.ToolID)
	if err == nil {
		err = decision.Err()
	}
	if err != nil {
		return runs.Run{}, err
	}
	request.Budget = Budget(ctx)
	if byModel(request) {
		return s.cfg.Runs.Ask(ctx, request)
	}
	return s.cfg.Runs.Accept(ctx, request)
}

const maxIdempotencyKey = 255

// checkRepeat refuses a key that was used for another request: answering with the run of that one would
// be a lie.
func (s *Server) checkRepeat(ctx context.Context, request runs.Request, run runs.Run) error {
	if run.Tool.ToolID != request.ToolID {
		return errKeyReused
	}
	bound, err := s.cfg.Runs.BindAs(ctx, run.Tool, request)
	if err != nil {
		return err
	}
	given := func(from runs.Source) bool { return from == runs.FromArgument || from == runs.FromAttachment }
	for name, value := range bound.Inputs {
		if given(bound.Sources[name]) != given(run.Sources[name]) || given(bound.Sources[name]) && !sameValue(value, run.Inputs[name]) {
			return errKeyReused
		}
	}
	return nil
}

var errKeyReused = registry.Errorf(registry.CodeInvalidInput, "this Idempotency-Key was used for another request; nothing was started")

// sameValue compares numbers by worth: the database may have written 1e3 as 1000.
func sameValue(a, b any) bool {
	na, isNumber := a.(json.Number)
	if nb, ok := b.(json.Number); ok && isNumber {
		ra, errA := registry.ParseDecimal(na)
		rb, errB := registry.ParseDecimal(nb)
		return errA == nil && errB == nil && ra.Cmp(rb) == 0
	}
	ja, errA := json.Marshal(a)
	jb, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(ja, jb)
}

// apiQuote tells the price of a run without starting it.
func (s *Server) apiQuote(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, ok := s.cfg.Registry.Snapshot().Resolve(r.PathValue("id"))
	if !ok || !t.KnownTo(audience(a)) {
		return runs.ErrUnknownTool
	}
	v, err := s.readInputs(w, r, a, *t)
	if err != nil {
		return err
	}
	bound, err := s.cfg.Runs.Bind(r.Context(), runs.Request{AccountID: a.ID, ToolID: t.ToolID, Values: v, Audience: audience(a)})
	if err != nil {
		return err
	}
	offer, err := s.cfg.Runs.Offer(r.Context(), bound)
	if err != nil {
		return err
	}
	q := offer.Quote
	writeJSON(w, http.StatusOK, map[string]any{
		"quote": offer.Sealed, "expiresAt": offer.Until,
		"quoteNanoUsd": quoteBody{q.Low, q.High}, "rate": q.Rate, "unit": q.Unit, "source": q.Source, "basis": q.Basis, "text": priceText(q), "billCanceled": q.BillCanceled,
	})
	return nil
}

// apiChanges lists what changed in the catalogue, for operators.
func (s *Server) apiChanges(w http.ResponseWriter, r *http.Request, _ users.Account) error {
	list, err := s.cfg.Changes(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, map[string]any{"changes": list})
	return nil
}

func (s *Server) apiRuns(w http.ResponseWriter, r *http.Request, a users.Account) error {
	q := r.URL.Query()
	f := runs.Filter{AccountID: a.ID, ToolID: q.Get("toolId"), Status: runs.Status(q.Get("status")), Before: q.Get("before"), Limit: 50}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 200 {
			return registry.Errorf(registry.CodeInvalidInput, "limit must be a number from 1 to 200")
		}
		f.Limit = n
	}
	if err := checkFilter(f); err != nil {
		return err
	}
	list, err := s.cfg.Runs.List(r.Context(), f)
	if err != nil {
		return err
	}
	bodies := []runBody{}
	for _, run := range list {
		bodies = append(bodies, s.runBody(r, run))
	}
	writeJSON(w, http.StatusOK, map[string]any{"runs": bodies})
	return nil
}

// statuses are the values that ?status= takes.
var statuses = [...]runs.Status{
	runs.StatusAwaitingConfirmation, runs.StatusQueued, runs.StatusSubmitted, runs.StatusRunning,
	runs.StatusSucceeded, runs.StatusFailed, runs.StatusCanceled, runs.StatusTimedOut,
}

func checkFilter(f runs.Filter) error {
	if f.Status != "" && !slices.Contains(statuses[:], f.Status) {
		return registry.Errorf(registry.CodeInvalidInput, "status: found %q, expected one of %v", f.Status, statuses)
	}
	if f.Before == "" {
		return nil
	}
	if _, err := uuid.Parse(f.Before); err != nil {
		return registry.Errorf(registry.CodeInvalidInput, "before: expected the id of a run")
	}
	return nil
}

// ownRun finds a run of this account; the runs of others do not exist for it.
func (s *Server) ownRun(r *http.Request, a users.Account) (runs.Run, error) {
	run, err := s.cfg.Runs.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return runs.Run{}, err
	}
	if run.AccountID != a.ID && !a.Operator {
		return runs.Run{}, runs.ErrNotFound
	}
	return run, nil
}

// resultKey names a run as it is told to a client: addresses in it depend on how the client reached us.
type resultKey struct{ runID, host string }

// toldRun is a run that is over, as it is told to its owner.
type toldRun struct {
	owner string
	body  encoded
}

// maxResult bounds what is remembered of one run.
const maxResult = 64 << 10

// apiRun tells one run. One that is over is remembered for a moment, since clients ask for it again and
// again.
func (s *Server) apiRun(w http.ResponseWriter, r *http.Request, a users.Account) error {
	key, now := resultKey{r.PathValue("id"), r.Host}, s.cfg.Now()
	if known, ok := s.results.get(key, now); ok && (known.owner == a.ID || a.Operator) {
		known.body.serve(w, r)
		return nil
	}
	run, err := s.ownRun(r, a)
	if err != nil {
		return err
	}
	body, err := encode(s.runBody(r, run))
	if err != nil {
		return err
	}
	if run.Status.Final() && len(body.raw) <= maxResult {
		s.results.put(key, toldRun{run.AccountID, body}, now)
	}
	body.serve(w, r)
	return nil
}

func (s *Server) apiCancel(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if _, err := s.ownRun(r, a); err != nil {
		return err
	}
	run, err := s.cfg.Runs.Cancel(r.Context(), r.PathValue("id"), a.ID)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, s.runBody(r, run))
	return nil
}

// apiConfirm lets a run go ahead that waits for its owner's word. {"summaryHash": "..."} says what the owner was shown: anything else
// is refused; "granted" which of its personal data may go to the service.
func (s *Server) apiConfirm(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if _, err := s.ownRun(r, a); err != nil {
		return err
	}
	var body struct {
		Hash    string   `json:"summaryHash"`
		Granted []string `json:"granted"` // absent: all
	}
	if err := readBody(w, r, &body); err != nil {
		return err
	}
	if err := s.mayApprove(r); err != nil {
		return err
	}
	run, err := s.cfg.Runs.ConfirmSummary(r.Context(), r.PathValue("id"), a.ID, body.Hash, body.Granted)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusAccepted, s.runBody(r, run))
	return nil
}

// apiAnswer gives the owner's answer to the question that a run has.
func (s *Server) apiAnswer(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if _, err := s.ownRun(r, a); err != nil {
		return err
	}
	var body struct {
		Question string          `json:"question"`
		Action   registry.Action `json:"action"`
		Values   map[string]any  `json:"values"`
	}
	if err := readBody(w, r, &body); err != nil {
		return err
	}
	if err := s.mayApprove(r); err != nil {
		return err
	}
	run, err := s.cfg.Runs.Answer(r.Context(), r.PathValue("id"), a.ID, body.Question, registry.Reply{Action: body.Action, Values: body.Values})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusAccepted, s.runBody(r, run))
	return nil
}

func (s *Server) apiPreview(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if _, err := s.ownRun(r, a); err != nil {
		return err
	}
	picture := s.cfg.Runs.PreviewOf(r.PathValue("id"))
	if len(picture) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("Content-Type", http.DetectContentType(picture))
	w.Header().Set("Cache-Control", "no-store")
	w.Write(picture)
	return nil
}

func (s *Server) apiBalance(w http.ResponseWriter, r *http.Request, a users.Account) error {
	b, err := s.cfg.Ledger.Balance(r.Context(), a.ID)
	if err != nil {
		return err
	}
	body := map[string]any{"balanceNanoUsd": b.Available, "heldNanoUsd": b.Held}
	if p := s.cfg.Points; p.Enabled() {
		body["points"] = pointsBody{Balance: p.Of(b.Available), Held: p.Of(b.Held), Worth: p.Worth()}
	}
	writeJSON(w, http.StatusOK, body)
	return nil
}

// pointsBody is a balance in points, as decimals.
type pointsBody struct {
	Balance string `json:"balance"`
	Held    string `json:"held"`
	Worth   string `json:"usdPerPoint"`
}

// apiUpload stores one file, sent as multipart member "file" or as the body itself.
func (s *Server) apiUpload(w http.ResponseWriter, r *http.Request, a users.Account) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	content, name := r.Body, r.URL.Query().Get("name")
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		file, header, err := r.FormFile("file")
		if err != nil {
			return tooLargeOr(err, `send the file as the form's member "file"`)
		}
		defer r.MultipartForm.RemoveAll()
		content, name = file, header.Filename
	}
	defer content.Close()
	ref, info, err := s.cfg.Runs.PutMedia(r.Context(), a.ID, content, name)
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return tooLargeOr(err, "")
	}
	if err != nil {
		return err
	}
	if info.Bytes == 0 {
		return registry.Errorf(registry.CodeInvalidInput, "the file is empty")
	}
	writeJSON(w, http.StatusCreated, map[string]any{"ref": ref, "url": s.absolute(r, s.FilePath(a.ID, ref, info.Name)), "info": info})
	return nil
}
