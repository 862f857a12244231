package webhooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/time/rate"

	"github.com/signalbox/signalbox/internal/signature"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/strategy"
)

const (
	answerWithin = 10 * time.Second // to receive, store and answer
	maxKey       = 200              // bytes of an id that is kept as it is
)

// refusal is why a callback was not taken.
type refusal struct {
	status int
	reason string // the metric's label
	wait   time.Duration
}

// The answers tell nothing about what was wrong with a signature: that would help only forgers.
var (
	errNobody   = &refusal{status: http.StatusNotFound, reason: "unknown_source"}
	errMethod   = &refusal{status: http.StatusMethodNotAllowed, reason: "method"}
	errTooLarge = &refusal{status: http.StatusRequestEntityTooLarge, reason: "too_large"}
	errBody     = &refusal{status: http.StatusBadRequest, reason: "unreadable"}
	errForged   = &refusal{status: http.StatusUnauthorized, reason: "forged"}
	errStorage  = &refusal{status: http.StatusServiceUnavailable, reason: "storage", wait: 5 * time.Second}
)

// Error gives the reason.
func (r *refusal) Error() string { return r.reason }

// ServeHTTP takes one callback: POST Root + service + "/" + run, and a token where the service does not sign. 200 says
// that it is stored for good, or was before. A repeated one is no error.
func (b *Inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), answerWithin)
	defer cancel()
	service, runID, token := split(r.URL.EscapedPath())
	err := b.receive(ctx, w, r, service, runID, token)
	var refused *refusal
	switch {
	case err == nil:
		w.WriteHeader(http.StatusOK)
		io.WriteString(w, "ok\n")
		return
	case errors.As(err, &refused):
	default:
		b.cfg.Logger.WarnContext(ctx, "a callback could not be stored; the service will repeat it", "service", service, "error", err)
		refused = errStorage
	}
	if _, known := b.sources[service]; known {
		b.metrics.rejected.WithLabelValues(service, refused.reason).Inc()
	}
	if refused.wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(refused.wait/time.Second)+1))
	}
	http.Error(w, http.StatusText(refused.status), refused.status)
}

// split takes a path apart; what is not there is empty.
func split(path string) (service, runID, token string) {
	parts := strings.Split(strings.TrimPrefix(path, Root), "/")
	if len(parts) > 3 {
		return "", "", ""
	}
	for i := range parts {
		var err error
		if parts[i], err = url.PathUnescape(parts[i]); err != nil {
			return "", "", ""
		}
	}
	parts = append(parts, "", "")
	return parts[0], parts[1], parts[2]
}

func (b *Inbox) receive(ctx context.Context, w http.ResponseWriter, r *http.Request, service, runID, token string) error {
	from, known := b.sources[service]
	if !known {
		return errNobody
	}
	b.metrics.received.WithLabelValues(service).Inc()
	if r.Method != http.MethodPost {
		return errMethod
	}
	body, err := readBody(w, r, from.MaxBody)
	if err != nil {
		return err
	}
	now := b.cfg.Now()
	e, err := b.authentic(from, r, service, runID, token, body)
	if errors.As(err, new(*uncheckedError)) {
		return err
	}
	if err != nil {
		b.cfg.Logger.DebugContext(ctx, "a callback was refused", "service", service, "error", err)
		if wait := tooOften(from.forged, now); wait > 0 {
			return &refusal{status: http.StatusTooManyRequests, reason: "rate_limited", wait: wait}
		}
		return errForged
	}
	if wait := tooOften(from.genuine, now); wait > 0 {
		return &refusal{status: http.StatusTooManyRequests, reason: "rate_limited", wait: wait}
	}
	b.metrics.verified.WithLabelValues(service).Inc()
	return b.store(ctx, e)
}

// tooOften gives the time until there is room again, and takes nothing then.
func tooOften(limit *rate.Limiter, now time.Time) time.Duration {
	r := limit.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	// A sender that dribbles must not hold a connection for ever. Recorders in tests have no deadlines.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(answerWithin))
	if r.ContentLength > limit {
		return nil, errTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, errTooLarge
	case err != nil:
		return nil, errBody
	}
	return body, nil
}

// authentic checks who speaks, and reads the callback.
func (b *Inbox) authentic(from *source, r *http.Request, service, runID, token string, body []byte) (event, error) {
	e := event{Event: Event{Service: service, RunID: runID, ReceivedAt: b.cfg.Now()}, body: body}
	request := registry.CallbackRequest{Method: r.Method, Path: r.URL.EscapedPath(), RawQuery: r.URL.RawQuery, Header: r.Header, Body: body, At: e.ReceivedAt}
	if from.Verifier == nil {
		if !b.cfg.Addresses.allows(service, runID, token) {
			return event{}, errors.New("the token in the address is missing, wrong or too old")
		}
		if from.Check != nil {
			if err := from.Check(r.Context(), runID, request); err != nil {
				return event{}, checked(err)
			}
		}
		b.read(&e)
	} else {
		said, err := from.Verifier.VerifyCallback(r.Context(), request)
		if err != nil {
			return event{}, fmt.Errorf("verify: %w", err)
		}
		e.ProviderID, e.EventID, e.State = said.ProviderID, said.EventID, string(said.State)
		if e.EventID == "" {
			e.EventID = strings.Join([]string{"run", runID, said.ProviderID, e.State}, "/")
		}
	}
	e.EventID, e.ProviderID = keepable(e.EventID), clean(e.ProviderID)
	e.RunID = clean(e.RunID)
	return e, nil
}

// uncheckedError says that it could not be found out whether a callback is authentic, so that it is to be repeated.
type uncheckedError struct{ error }

// Unwrap gives why.
func (e *uncheckedError) Unwrap() error { return e.error }

// checked tells what is forged from what could not be checked.
func checked(err error) error {
	for _, forged := range []error{signature.ErrMissing, signature.ErrTime, signature.ErrWrong} {
		if errors.Is(err, forged) {
			return fmt.Errorf("check: %w", err)
		}
	}
	return &uncheckedError{fmt.Errorf("check whether it is authentic: %w", err)}
}

// read finds out what a callback without signature says, and makes its id of that: of run, state and progress.
// What is unreadable or says something new is stored all the same; the provider is asked in any case.
func (b *Inbox) read(e *event) {
	sum := sha256.Sum256(e.body)
	e.EventID = "body/" + e.RunID + "/" + hex.EncodeToString(sum[:])
	if b.cfg.Strategy == nil {
		return
	}
	config, ok := b.cfg.Strategy(e.Service)
	if !ok {
		return
	}
	said, err := strategy.Reader{WebhookConfig: config}.Read(e.body, e.ReceivedAt, e.ReceivedAt)
	if said.State == "" { // a success without result is a state, too
		if b.strange.first(e.Service + " unreadable") {
			b.cfg.Logger.Warn("a callback can't be read by the tool's webhookStrategy; the service is asked instead", "service", e.Service, "error", err)
		}
		return
	}
	if said.Unknown != "" && b.strange.first(e.Service+" "+said.Unknown) {
		b.cfg.Logger.Info("a callback has a status that the tool's webhookStrategy does not name; the service is asked", "service", e.Service, "status", clean(said.Unknown))
	}
	e.State = string(said.State)
	e.ProviderID = said.ID
	e.EventID = strings.Join([]string{"run", e.RunID, e.State, said.Unknown, percent(e.body)}, "/")
}

// percent is how far a callback says that the run is, in whole percent, or "".
func percent(body []byte) string {
	var said struct {
		Progress *float64 `json:"progress"`
	}
	if json.Unmarshal(body, &said) != nil || said.Progress == nil {
		return ""
	}
	return strconv.Itoa(int(min(max(*said.Progress, 0), 1) * 100))
}

// keepable is an id that fits into the table: long or odd ones are kept as their hash.
func keepable(id string) string {
	if len(id) <= maxKey && utf8.ValidString(id) && !strings.Contains(id, "\x00") {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256/" + hex.EncodeToString(sum[:])
}

// clean makes a foreign text fit for the database and the log.
func clean(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), maxKey)], "\x00", ""), "")
}
