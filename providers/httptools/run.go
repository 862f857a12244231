package httptools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

const (
	callTimeout = 3 * time.Minute
	answerLimit = 64 << 20
	maxMedia    = 20 << 20 // bytes of a file sent as a data URI
)

// Jobs runs those tools that work for a while.
type Jobs struct{ tools *Tools }

// Calls runs those tools that answer at once.
type Calls struct{ tools *Tools }

var (
	_ registry.Submitter = Jobs{}
	_ registry.Canceler  = Jobs{}
	_ registry.Caller    = Calls{}
)

// Jobs gives the provider of Service.
func (t *Tools) Jobs() Jobs { return Jobs{t} }

// Calls gives the provider of ServiceNow.
func (t *Tools) Calls() Calls { return Calls{t} }

// Call makes one request; its answer is the result.
func (c Calls) Call(ctx context.Context, call registry.Call) (registry.Result, error) {
	s, err := c.tools.specOf(ctx, refOf(call))
	if err != nil {
		return registry.Result{}, err
	}
	answer, began, err := c.tools.submit(ctx, s, call, false)
	if err != nil {
		return registry.Result{}, err
	}
	kind := answer.Header.Get("Content-Type")
	if out := call.Tool.OutputSchema[0]; out.Type != "text" && isFile(kind) {
		return registry.Result{Outputs: []registry.Output{fileOf(out, kind, answer.Body)}, Usage: registry.Usage{RunTime: c.tools.cfg.Now().Sub(began)}}, nil
	}
	reading := registry.Reading{State: registry.RunSucceeded}
	if w := call.Tool.WebhookStrategy; w != nil {
		if reading, err = w.Read(answer.Body, began, c.tools.cfg.Now()); err != nil {
			return registry.Result{}, err
		}
		if reading.State != registry.RunSucceeded {
			return registry.Result{}, failed(call.Tool.DisplayName, reading)
		}
	} else if reading.Result, err = decode(answer.Body); err != nil {
		reading.Result = string(answer.Body)
	}
	outputs, err := c.tools.outputs(call.Tool.OutputSchema, reading.Result)
	return registry.Result{Outputs: outputs, Usage: registry.Usage{RunTime: c.tools.cfg.Now().Sub(began), CostUSD: s.cost(reading)}}, err
}

// isFile reports whether an answer of this type is the file itself.
func isFile(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, "/")
	return kind == "image" || kind == "video" || kind == "audio" || kind == "model" || strings.HasPrefix(contentType, "application/octet-stream")
}

func fileOf(out registry.OutputField, kind string, data []byte) registry.Output {
	return registry.Output{
		Name: out.Name, Type: out.Type, Info: registry.MediaInfo{MIMEType: kind, Bytes: int64(len(data))},
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
	}
}

// cost is what a run has cost in dollars, where the answer says it.
func (s spec) cost(r registry.Reading) string {
	if r.Cost == "" {
		return ""
	}
	return s.usd(r.Cost)
}

// submit sends the request that begins a run; begins says that the service works on by itself then.
func (t *Tools) submit(ctx context.Context, s spec, call registry.Call, begins bool) (upstream.Response, time.Time, error) {
	began := t.cfg.Now()
	values, err := t.values(ctx, s, call)
	if err != nil {
		return upstream.Response{}, began, err
	}
	answer, err := t.send(ctx, s, s.Submit, upstream.Request{Method: http.MethodPost, Repeatable: s.Repeatable, Begins: begins, Words: wordsOf(call.Tool.WebhookStrategy)}, values)
	return answer, began, err
}

// wordsOf reads a service's own words for a refusal as the file says.
func wordsOf(w *registry.WebhookConfig) func([]byte) string {
	if w == nil {
		return nil
	}
	return w.Words
}

// refOf is the reference of the spec with which a call was accepted.
func refOf(call registry.Call) registry.Media {
	ref, _ := call.Tool.Metadata[specKey].(string)
	return ref
}

// Submit begins a run. Where the service can't tell a repeated request, one that may have arrived is lost
// rather than made twice.
func (j Jobs) Submit(ctx context.Context, call registry.Call) (registry.Ticket, error) {
	t := j.tools
	s, err := t.specOf(ctx, refOf(call))
	if err != nil {
		return registry.Ticket{}, err
	}
	reports := s.Poll == nil
	if deaf := t.hears(Service, s); deaf != nil || reports && call.CallbackURL == "" {
		return registry.Ticket{}, cmp.Or(deaf, registry.Say(registry.CodeUnavailable, said.CallbackNowhere))
	}
	if call.Repeated && !s.Repeatable && !t.refused.Take(call.Handle) {
		if reports { // if it took the run, it will call
			return ticketOf(call, call.Handle, t.cfg.Now())
		}
		return registry.Ticket{}, registry.Say(registry.CodeLost, said.LostRun, "service", upstream.Named(hostOf(s.BaseURL)))
	}
	answer, began, err := t.submit(ctx, s, call, true)
	if err != nil {
		if registry.AsError(err).Retryable {
			t.refused.Note(call.Handle)
		}
		return registry.Ticket{}, err
	}
	id, err := idOf(*call.Tool.WebhookStrategy, answer.Body)
	if err != nil && reports && len(call.Tool.WebhookStrategy.IDPath) == 0 {
		id, err = call.Handle, nil
	}
	if err != nil {
		return registry.Ticket{}, err
	}
	return ticketOf(call, id, began)
}

// ticketOf notes all that it takes to read what is told of a run.
func ticketOf(call registry.Call, id string, began time.Time) (registry.Ticket, error) {
	strategy, err := json.Marshal(call.Tool.WebhookStrategy)
	if err != nil {
		return registry.Ticket{}, err
	}
	outputs, err := json.Marshal(call.Tool.OutputSchema)
	if err != nil {
		return registry.Ticket{}, err
	}
	return registry.Ticket{RunID: call.RunID, Service: Service, ProviderID: id, Extra: map[string]string{
		specKey: refOf(call), "strategy": string(strategy), "outputs": string(outputs), "began": began.UTC().Format(time.RFC3339Nano), "handle": call.Handle, "name": call.Tool.DisplayName,
	}}, nil
}

// idOf reads the service's id of a run, whatever the status beside it.
func idOf(w registry.WebhookConfig, body []byte) (string, error) {
	w.ResultPath = nil
	reading, err := w.Read(body, time.Time{}, time.Time{})
	if err != nil { // an answer to a submission need not have a status
		w.ExpectedStatusField = strings.Join(w.IDPath, ".")
		if reading, err = w.Read(body, time.Time{}, time.Time{}); err != nil {
			return "", err
		}
	}
	if reading.ID == "" {
		return "", registry.Say(registry.CodeProvider, said.AnswerPath, "path", strings.Join(w.IDPath, "."))
	}
	return reading.ID, nil
}

// order is a ticket's memory of how to read answers.
type order struct {
	spec     spec
	strategy registry.WebhookConfig
	outputs  registry.OutputSchema
	began    time.Time
	values   map[string]any
}

func (t *Tools) order(ctx context.Context, ticket registry.Ticket) (o order, err error) {
	if o.spec, err = t.specOf(ctx, ticket.Extra[specKey]); err != nil {
		return o, err
	}
	o.began, err = time.Parse(time.RFC3339Nano, ticket.Extra["began"])
	var tool registry.Tool
	if err == nil {
		tool, err = registry.DecodeTool(fmt.Appendf(nil, `{"toolId":"x","service":"x","displayName":"x","inputSchema":{},"webhookStrategy":%s,"outputSchema":%s}`, ticket.Extra["strategy"], ticket.Extra["outputs"]))
	}
	if err != nil || tool.WebhookStrategy == nil {
		return o, registry.Say(registry.CodeInternal, said.NoteUnread).Because(err)
	}
	o.strategy, o.outputs = *tool.WebhookStrategy, tool.OutputSchema
	o.values = map[string]any{"task.id": ticket.ProviderID, "run.id": ticket.RunID, "run.handle": ticket.Extra["handle"]}
	return o, nil
}

// Poll asks after a run.
func (j Jobs) Poll(ctx context.Context, ticket registry.Ticket) (registry.Progress, error) {
	o, err := j.tools.order(ctx, ticket)
	if err != nil {
		return registry.Progress{}, err
	}
	if o.spec.Poll == nil {
		return j.reported(ctx, ticket, o)
	}
	answer, err := j.tools.send(ctx, o.spec, *o.spec.Poll, upstream.Request{Method: http.MethodGet, Repeatable: true, Words: o.strategy.Words}, o.values)
	if err != nil {
		return registry.Progress{}, err
	}
	return j.progress(ticket, o, answer.Body, j.tools.cfg.Now())
}

// reported is what a service has called back that can't be asked. The first word of the end counts; callbacks that can't
// be read say nothing.
func (j Jobs) reported(ctx context.Context, ticket registry.Ticket, o order) (registry.Progress, error) {
	if deaf := j.tools.hears(Service, o.spec); deaf != nil {
		return registry.Progress{}, deaf
	}
	reports, err := j.tools.cfg.Reports(ctx, ticket.RunID)
	if err != nil {
		return registry.Progress{}, err
	}
	last := registry.Progress{State: registry.RunQueued}
	for _, report := range reports {
		progress, err := j.progress(ticket, o, report.Body, report.At)
		if err != nil {
			continue
		}
		if last = progress; last.State.Terminal() {
			break
		}
	}
	return last, nil
}

// progress reads what a service says of a run.
func (j Jobs) progress(ticket registry.Ticket, o order, body []byte, at time.Time) (registry.Progress, error) {
	reading, err := o.strategy.Read(body, o.began, at)
	if failure := registry.AsError(err); failure != nil {
		if failure.Code == registry.CodeBadOutput { // it is over, and there is nothing
			return registry.Progress{State: registry.RunFailed, Err: failure}, nil
		}
		return registry.Progress{}, err
	}
	progress := registry.Progress{State: reading.State, Unknown: reading.Unknown}
	switch reading.State {
	case registry.RunFailed:
		progress.Err = failed(ticket.Extra["name"], reading)
	case registry.RunSucceeded:
		outputs, err := j.tools.outputs(o.outputs, reading.Result)
		if err != nil {
			return registry.Progress{State: registry.RunFailed, Err: registry.AsError(err)}, nil
		}
		progress.Result = &registry.Result{Outputs: outputs, Usage: registry.Usage{RunTime: reading.Duration, CostUSD: o.spec.cost(reading)}}
	}
	return progress, nil
}

func failed(name string, r registry.Reading) *registry.Error {
	if r.Error != "" {
		return registry.Say(registry.CodeProvider, said.ServiceFailedWhy, "service", name, "words", fmt.Sprintf("%.200s", r.Error))
	}
	return registry.Say(registry.CodeProvider, said.ServiceFailed, "service", name)
}

// Find begins a run again where the service takes a repeated request for the first, which gives its id, and the run can be
// stopped by that.
func (j Jobs) Find(ctx context.Context, call registry.Call) (registry.Ticket, error) {
	s, err := j.tools.specOf(ctx, refOf(call))
	if err != nil {
		return registry.Ticket{}, err
	}
	if !s.Repeatable || s.Cancel == nil {
		return registry.Ticket{}, fmt.Errorf("%s can't be asked for a run without its id: %w", upstream.Named(hostOf(s.BaseURL)), registry.ErrCantCancel)
	}
	return j.Submit(ctx, call)
}

// Cancel stops a run where the file says how. One that is over or unknown is left.
func (j Jobs) Cancel(ctx context.Context, ticket registry.Ticket) error {
	o, err := j.tools.order(ctx, ticket)
	if err != nil {
		return err
	}
	if o.spec.Cancel == nil {
		return fmt.Errorf("the file says no way to cancel at %s: %w", upstream.Named(hostOf(o.spec.BaseURL)), registry.ErrCantCancel)
	}
	_, err = j.tools.send(ctx, o.spec, *o.spec.Cancel, upstream.Request{Method: http.MethodPost, Repeatable: true}, o.values)
	return upstream.Stopped(ctx, err, j, ticket)
}

// outputs are a result's parts: one text or address, a list of them, or an object by the outputs' names.
func (t *Tools) outputs(schema registry.OutputSchema, result any) ([]registry.Output, error) {
	if named, ok := result.(map[string]any); ok {
		var list []registry.Output
		for _, out := range schema {
			if part, there := named[out.Name]; there {
				more, err := t.outputs(registry.OutputSchema{out}, part)
				if err != nil {
					return nil, err
				}
				list = append(list, more...)
			}
		}
		if len(list) > 0 {
			return list, nil
		}
	}
	out := schema[0]
	if parts, ok := result.([]any); ok && out.Type != "text" {
		var list []registry.Output
		for _, part := range parts {
			more, err := t.outputs(schema[:1], part)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
		}
		return list, nil
	}
	if out.Type == "text" {
		return []registry.Output{{Name: out.Name, Type: "text", Text: textOf(result)}}, nil
	}
	return t.fileAt(out, result)
}

func textOf(result any) string {
	if s, ok := result.(string); ok {
		return s
	}
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return fmt.Sprint(result)
	}
	return string(text)
}

// members says of an object which of its members resultPath can name.
func members(result any) string {
	object, ok := result.(map[string]any)
	if !ok {
		return ""
	}
	names := slices.Sorted(maps.Keys(object))
	return fmt.Sprintf(` but an object; let resultPath go on to one of its members (%.120s), through a list of them with "*"`, strings.Join(names, ", "))
}

// fileAt is the file that a result names: by an address, as a data URI or in base64.
func (t *Tools) fileAt(out registry.OutputField, result any) ([]registry.Output, error) {
	text, ok := result.(string)
	if !ok || text == "" {
		return nil, registry.Say(registry.CodeBadOutput, said.ResultAddressWords, "name", out.Name, "words", members(result))
	}
	if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
		return []registry.Output{upstream.File(t.cfg.Guard, out.Name, out.Type, text, registry.MediaInfo{})}, nil
	}
	head, data, isURI := strings.Cut(text, ";base64,")
	if !isURI {
		head, data = "", text
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, registry.Say(registry.CodeBadOutput, said.ResultEither, "name", out.Name)
	}
	return []registry.Output{fileOf(out, strings.TrimPrefix(head, "data:"), raw)}, nil
}

// values are what placeholders stand for.
func (t *Tools) values(ctx context.Context, s spec, call registry.Call) (map[string]any, error) {
	values := map[string]any{"run.id": call.RunID, "run.handle": call.Handle}
	if call.CallbackURL != "" {
		values["run.callback"] = call.CallbackURL
	}
	for _, f := range call.Tool.InputSchema {
		value, given := call.Inputs[f.Name]
		if !given {
			continue
		}
		if f.Type.IsMedia() {
			var err error
			if value, err = t.media(ctx, s, call, f.Name, value); err != nil {
				return nil, err
			}
		}
		values[f.Name] = value
	}
	return values, nil
}

func (t *Tools) media(ctx context.Context, s spec, call registry.Call, field string, value any) (any, error) {
	refs, several := value.([]any)
	if !several {
		return t.mediaOne(ctx, s, call, field, fmt.Sprint(value))
	}
	list := make([]any, len(refs))
	for i, ref := range refs {
		one, err := t.mediaOne(ctx, s, call, field, fmt.Sprint(ref))
		if err != nil {
			return nil, err
		}
		list[i] = one
	}
	return list, nil
}

func (t *Tools) mediaOne(ctx context.Context, s spec, call registry.Call, field string, ref registry.Media) (string, error) {
	unusable := func(cause error, why said.Sentence, pairs ...any) error {
		return registry.Say(registry.CodeInvalidInput, why, pairs...).At(field).Because(cause)
	}
	if s.Media == "url" {
		if t.cfg.MediaURL == nil {
			return "", unusable(errors.New("no public address"), said.FileHand)
		}
		address, err := t.cfg.MediaURL(ctx, ref)
		if err != nil {
			return "", unusable(err, said.FileHand)
		}
		return address, nil
	}
	body, info, err := call.Media.OpenMedia(ctx, ref)
	if err != nil {
		return "", unusable(err, said.FileUnopened)
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, maxMedia+1))
	if err != nil {
		return "", unusable(err, said.FileUnread)
	}
	if len(data) > maxMedia {
		return "", unusable(nil, said.FileMB, "n", maxMedia>>20)
	}
	return "data:" + cmp.Or(info.MIMEType, http.DetectContentType(data)) + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}

// send makes a request of values; out is what is certain of it without the file.
func (t *Tools) send(ctx context.Context, s spec, r request, out upstream.Request, values map[string]any) (upstream.Response, error) {
	client, err := t.client(s)
	if err != nil {
		return upstream.Response{}, err
	}
	path, err := inPath(r.Path, values)
	if err != nil {
		return upstream.Response{}, err
	}
	out.Method, out.Path, out.Query = cmp.Or(strings.ToUpper(r.Method), out.Method), path, url.Values{}
	for name, text := range r.Query {
		if filled, there := replace(text, values); there {
			out.Query.Set(name, fmt.Sprint(filled))
		}
	}
	if len(r.Body) == 0 {
		return client.Do(ctx, out)
	}
	body, err := inBody(r.Body, values)
	if err != nil {
		return upstream.Response{}, err
	}
	if !r.Form {
		out.JSON = body
		return client.Do(ctx, out)
	}
	form := url.Values{}
	members, _ := body.(map[string]any)
	for name, value := range members {
		form.Set(name, fmt.Sprint(value))
	}
	out.Body, out.ContentType = strings.NewReader(form.Encode()), "application/x-www-form-urlencoded"
	return client.Do(ctx, out)
}

// hostOf is what people are told of a service's address: its name where the world knows it, and "" of the operator's own network.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	_, notIP := netip.ParseAddr(host)
	isInner := func(domain string) bool { return strings.HasSuffix(host, domain) }
	if notIP == nil || !strings.Contains(host, ".") || slices.ContainsFunc(innerDomains, isInner) {
		return ""
	}
	return host
}

// innerDomains are those that the world does not resolve: RFC 6762, RFC 8375, ICANN's of 2024, and what routers and offices use.
var innerDomains = []string{".local", ".localhost", ".internal", ".home.arpa", ".lan", ".home", ".corp", ".intranet"}

// decode reads JSON; its numbers keep all their digits.
func decode(raw []byte) (v any, _ error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more follows the JSON value")
	}
	return v, nil
}

// inPath fills placeholders in a path. A value can't leave its place: what it has of slashes and question
// marks is escaped, and one that stands for another folder is refused.
func inPath(path string, values map[string]any) (string, error) {
	var wrong error
	filled := placeholder.ReplaceAllStringFunc(path, func(found string) string {
		name := placeholder.FindStringSubmatch(found)[1]
		text := ""
		if value, given := values[name]; given {
			text = fmt.Sprint(value)
		}
		if text == "." || text == ".." {
			wrong = registry.Say(registry.CodeInvalidInput, said.CantBe, "words", text).At(name)
		}
		return url.PathEscape(text)
	})
	return filled, wrong
}

// inBody fills placeholders in the texts of a JSON body.
func inBody(raw json.RawMessage, values map[string]any) (any, error) {
	body, err := decode(raw)
	if err != nil {
		return nil, registry.Say(registry.CodeInternal, said.BodyUnread).Because(err)
	}
	filled, _ := fillIn(body, values)
	return filled, nil
}

// fillIn gives a value with its placeholders filled; false: it is one that stands for nothing.
func fillIn(v any, values map[string]any) (any, bool) {
	switch v := v.(type) {
	case string:
		return replace(v, values)
	case []any:
		list := make([]any, 0, len(v))
		for _, item := range v {
			if filled, there := fillIn(item, values); there {
				list = append(list, filled)
			}
		}
		return list, true
	case map[string]any:
		members := make(map[string]any, len(v))
		for name, item := range v {
			if filled, there := fillIn(item, values); there {
				members[name] = filled
			}
		}
		return members, true
	}
	return v, true
}

// replace fills one text. A text that is nothing but a placeholder becomes the value, with its type, or is
// left out; elsewhere values become text.
func replace(text string, values map[string]any) (any, bool) {
	if m := placeholder.FindStringSubmatch(text); m != nil && m[0] == text {
		value, there := values[m[1]]
		return value, there
	}
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		value, there := values[placeholder.FindStringSubmatch(found)[1]]
		if !there {
			return ""
		}
		return fmt.Sprint(value)
	}), true
}
