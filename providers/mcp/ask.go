package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"

	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Bounds of what a server may ask.
const (
	maxQuestion = 2000 // characters of its words
	maxFields   = 20
	maxOptions  = 100 // of one field
	maxLabel    = 200 // characters of a name, a title, an option
	maxForm     = 64 << 10
	maxAddress  = 1200
)

// asks leads what a server asks over one connection to the call that it is about.
type asks struct {
	mu   sync.Mutex
	open map[*asked]bool // the calls under way
	// Before 2026-07-28 a question does not say which call it is of. lost: a call ended without an answer, so that the server may
	// still ask for it; unclear: a question was declined for that.
	lost, unclear bool
}

// asked is a call, and what became of the server's questions.
type asked struct {
	ctx     context.Context         // of the call, for questions that come beside it
	ask     registry.Asker          // nil: there is nobody to ask
	report  func(registry.Progress) // nil: nobody looks how far it is
	token   string                  // by which the server says how far it is
	mu      sync.Mutex
	problem said.Text // why the last question got no answer of its owner's; empty: it did, or there was none
}

// askKey leads from a call's context to the call.
type askKey struct{}

func (a *asks) begin(ctx context.Context, c registry.Call) (context.Context, *asked) {
	call := &asked{ask: c.Ask, report: c.Report, token: uuid.NewString()}
	call.ctx = context.WithValue(ctx, askKey{}, call)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		a.open = map[*asked]bool{}
	}
	a.open[call] = true
	return call.ctx, call
}

// end gives why a question of the call got no answer, and whether the connection can't tell any more whose questions are.
func (a *asks) end(call *asked, answered bool) (problem said.Text, spent bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, call)
	a.lost = a.lost || !answered
	call.mu.Lock()
	defer call.mu.Unlock()
	return call.problem, a.unclear && len(a.open) == 0
}

// of gives the call that a question is about, or nil where that is not certain: nobody may read what another was asked.
func (a *asks) of(ctx context.Context) *asked {
	if call, known := ctx.Value(askKey{}).(*asked); known {
		return call
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unclear = a.unclear || a.lost
	if len(a.open) != 1 || a.lost {
		return nil
	}
	for call := range a.open {
		return call
	}
	return nil
}

// progress leads what a server says of how far it is to the call that it is about.
func (s *server) progress(a *asks, params *sdk.ProgressNotificationParams) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for call := range a.open {
		if params.ProgressToken != call.token || call.report == nil {
			continue
		}
		now := registry.Progress{State: registry.RunRunning, Stage: shorter(s.hide(params.Message), maxLabel)}
		if params.Total > 0 {
			now.Fraction, now.HasFraction = params.Progress/params.Total, true
		}
		call.report(now)
	}
}

func (c *asked) note(problem said.Text) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problem = problem
}

// elicit asks the owner of a call's run what the server wants to know.
func (s *server) elicit(ctx context.Context, a *asks, params *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	declined := &sdk.ElicitResult{Action: string(registry.ActionDecline)}
	call := a.of(ctx)
	if call == nil {
		return declined, errWhose
	}
	words := cut(s.hide(params.Message))
	q, err := s.question(params)
	switch {
	case call.ask == nil:
		err = errNobody
	case err == nil:
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(call.ctx, cancel)()
		return s.reply(ctx, call, q, words), nil
	}
	call.note(said.ServerAsks.With("service", s.name, "words", words))
	return declined, err
}

var (
	errNobody = errors.New("there is nobody to ask")
	errWhose  = errors.New("it does not say which of its calls this is about, and that is not certain")
)

func (s *server) reply(ctx context.Context, call *asked, q registry.Question, words string) *sdk.ElicitResult {
	if limit, ok := call.ctx.Deadline(); ok {
		limited, cancel := context.WithDeadline(ctx, limit)
		defer cancel()
		ctx = limited
	}
	reply := call.ask(ctx, q)
	call.note(said.Text{})
	switch reply.Action {
	case registry.ActionAccept:
		if q.URL != "" {
			return &sdk.ElicitResult{Action: string(reply.Action)}
		}
		content := map[string]any{}
		for name, value := range reply.Values {
			content[name] = number(value)
		}
		return &sdk.ElicitResult{Action: string(reply.Action), Content: content}
	case registry.ActionDecline:
	default:
		call.note(said.ServerUnanswered.With("service", s.name, "words", words))
		reply.Action = registry.ActionCancel
	}
	return &sdk.ElicitResult{Action: string(reply.Action)}
}

// number gives a number as the library takes it, and any other value as it is.
func number(value any) any {
	n, ok := value.(json.Number)
	if !ok {
		return value
	}
	if whole, err := n.Int64(); err == nil {
		return whole
	}
	if f, err := n.Float64(); err == nil {
		return f
	}
	return value
}

// question is what a server asks, within bounds.
func (s *server) question(params *sdk.ElicitParams) (registry.Question, error) {
	q := registry.Question{Message: shorter(s.secretless(params.Message), maxQuestion)}
	if params.URL != "" {
		u, err := url.Parse(params.URL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || len(params.URL) > maxAddress || s.secretless(params.URL) != params.URL {
			return q, errors.New("it asks to open what is no plain address of a web page")
		}
		q.URL = u.String()
		return q, nil
	}
	if params.RequestedSchema == nil {
		return q, nil
	}
	raw, err := json.Marshal(params.RequestedSchema)
	if err != nil {
		return q, err
	}
	if len(raw) > maxForm {
		return q, fmt.Errorf("its form has %d bytes, at most %d are taken", len(raw), maxForm)
	}
	if q.Fields, err = registry.SchemaInputs(json.RawMessage(s.secretless(string(raw)))); err != nil {
		return q, fmt.Errorf("its form: %w", err)
	}
	slices.SortStableFunc(q.Fields, requiredFirst) // the order they had is lost on the way
	if len(q.Fields) > maxFields {
		return q, fmt.Errorf("its form has %d fields, at most %d are taken", len(q.Fields), maxFields)
	}
	for i := range q.Fields {
		f := &q.Fields[i]
		if len(f.Choices) > maxOptions || len(f.Name) > maxLabel || f.Name == "" {
			return q, fmt.Errorf("its form's field %d has more than %d choices, or a name that is empty or longer than %d bytes", i+1, maxOptions, maxLabel)
		}
		f.DisplayName, f.Description = shorter(f.DisplayName, maxLabel), shorter(f.Description, maxMessage)
		for j := range f.Choices {
			f.Choices[j].Label = shorter(f.Choices[j].Label, maxLabel)
		}
	}
	return q, nil
}
