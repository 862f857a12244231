package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

// planned is the context of a model's call.
var planned = registry.CallContext{SiteID: "shop.example", SessionID: "chat-7", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", PlannerProvider: "anthropic"}

// listening is a tool that only reads, for nothing.
func listening() registry.Tool {
	tool := perSecond()
	tool.ToolID, tool.CommandName, tool.Capability, tool.CostingModel = "listen", "", registry.CapabilityRead, nil
	return tool
}

func listen(user string, c registry.CallContext) runs.Request {
	r := sing(user)
	r.ToolID, r.Context = "listen", c
	return r
}

// events is a log that keeps what it is told, as JSON.
type events struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (e *events) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.Write(p)
}

// String is all that was told.
func (e *events) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.String()
}

func (e *events) log() *slog.Logger { return slog.New(slog.NewJSONHandler(e, nil)) }

// of gives the events of a run.
func (e *events) of(t *testing.T, runID string) (found []map[string]any) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	d := json.NewDecoder(bytes.NewReader(e.text.Bytes()))
	for {
		var one map[string]any
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		if _, counted := one["attempts"]; counted && one["run"] == runID {
			found = append(found, one)
		}
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *runs.Config) { c.SiteID = "bot.example" }, listening())
	user := h.user(t, billing.Dollar)
	// Nobody works yet: what the handler gets is what outlived the process that accepted.
	full, bare := h.accept(t, listen(user, planned)), h.accept(t, listen(user, registry.CallContext{}))
	part := h.accept(t, listen(user, registry.CallContext{TraceID: "t-1"}))
	h.start(t, h.open(t))
	call := func(t *testing.T, run runs.Run) registry.Call {
		t.Helper()
		h.ends(t, run.ID)
		c, ok := h.provider.CallOf(run.ID)
		if !ok {
			t.Fatal("it was never called")
		}
		return c
	}
	t.Run("B14 B15 B16 B17 B18 the context arrives at the handler, also in another process", func(t *testing.T) {
		if c := call(t, full); c.Context != planned || c.UserID != user {
			t.Errorf("got %+v of %s", c.Context, c.UserID)
		}
	})
	t.Run("B14 B16 what nobody named is absent; the site is the house", func(t *testing.T) {
		if c := call(t, bare); c.Context != (registry.CallContext{SiteID: "bot.example"}) {
			t.Errorf("got %+v", c.Context)
		}
		if c := call(t, part); c.Context != (registry.CallContext{SiteID: "bot.example", TraceID: "t-1"}) {
			t.Errorf("got %+v", c.Context)
		}
		var stored *string
		if err := h.pool.QueryRow(t.Context(), `SELECT context::text FROM runs WHERE id = $1`, bare.ID).Scan(&stored); err != nil || stored != nil {
			t.Errorf("%v is stored, %v", stored, err)
		}
		if err := h.pool.QueryRow(t.Context(), `SELECT context::text FROM runs WHERE id = $1`, part.ID).Scan(&stored); err != nil || *stored != `{"traceId":"t-1"}` {
			t.Errorf("%v is stored, %v", stored, err)
		}
	})
	t.Run("B17 a run without a trace is its own", func(t *testing.T) {
		if full.Trace() != planned.TraceID || bare.Trace() != bare.ID {
			t.Errorf("%s and %s", full.Trace(), bare.Trace())
		}
	})
	t.Run("B18 a context that can't be kept is refused", func(t *testing.T) {
		_, err := h.Accept(t.Context(), listen(user, registry.CallContext{PlannerProvider: "a\x00b"}))
		if e := registry.AsError(err); e.Code != registry.CodeInvalidInput || e.Field != "plannerProvider" {
			t.Errorf("got %v", err)
		}
	})
}

func TestEnvelope(t *testing.T) {
	t.Parallel()
	tool := listening()
	tool.RetryPolicy = &registry.RetryPolicy{MaxAttempts: 3, BackoffMs: 40}
	secret := strings.Repeat("ö", 300)
	h := newHouse(t, nil, tool, booking())
	h.provider.OnSubmit = func(c registry.Call, _ int) *runstest.Outcome {
		passing := &registry.Error{Code: registry.CodeUnavailable, Message: secret, Retryable: true}
		switch {
		case c.Inputs["song"] == "fail":
			return &runstest.Outcome{Err: passing}
		case c.Inputs["song"] == "refuse":
			return &runstest.Outcome{Err: registry.Errorf(registry.CodeRefused, "not that")}
		case c.Inputs["song"] == "nothing":
			return &runstest.Outcome{Outputs: []registry.Output{runstest.Text("other", "x")}}
		case c.Inputs["song"] == "third" && c.RunID == c.Handle:
			return &runstest.Outcome{Err: passing}
		}
		return &runstest.Outcome{Outputs: []registry.Output{runstest.Text("result", "la"), runstest.File("result", "file", "a.txt", "b")}}
	}
	h.start(t)
	user := h.user(t, billing.Dollar)
	ended := func(t *testing.T, song string) (runs.Run, runs.Envelope) {
		t.Helper()
		r := listen(user, planned)
		r.Values = map[runs.Source]map[string]any{runs.FromArgument: {"song": song}}
		run := h.ends(t, h.accept(t, r).ID)
		e, ok := run.Envelope(run.DataOf(func(o runs.Output) any { return o.FileName }))
		if !ok || e.TraceID != planned.TraceID || e.OK == (e.Data == nil) || e.OK != (e.Error == nil) {
			t.Errorf("got %+v", e)
		}
		return run, e
	}
	t.Run("B17 B19 B20 B25 ok comes with data by the names of the outputSchema, one attempt, and the trace", func(t *testing.T) {
		t.Parallel()
		_, e := ended(t, "la")
		if want := map[string][]any{"result": {"la", "a.txt"}}; !e.OK || !reflect.DeepEqual(e.Data, want) || e.Attempts != 1 || e.LatencyMs < 0 {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("B24 B25 retries and the waits between them count", func(t *testing.T) {
		t.Parallel()
		_, e := ended(t, "third")
		if !e.OK || e.Attempts != 2 || e.LatencyMs < 40 {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("B19 B21 B22 B23 B24 B25 B80 tool_execution_failed, after three attempts, in 240 characters", func(t *testing.T) {
		t.Parallel()
		_, e := ended(t, "fail")
		if e.OK || e.Error.Code != runs.ToolExecutionFailed || len([]rune(e.Error.Message)) != 240 || !e.Error.Retryable || e.Attempts != 3 || e.LatencyMs < 120 {
			t.Errorf("got %+v, %+v", e, e.Error)
		}
	})
	t.Run("B23 a refusal is not worth repeating", func(t *testing.T) {
		t.Parallel()
		if _, e := ended(t, "refuse"); e.Error == nil || e.Error.Code != runs.ToolExecutionFailed || e.Error.Retryable || e.Attempts != 1 {
			t.Errorf("got %+v, %+v", e, e.Error)
		}
	})
	t.Run("B80 invalid_tool_output", func(t *testing.T) {
		t.Parallel()
		if _, e := ended(t, "nothing"); e.Error == nil || e.Error.Code != runs.InvalidToolOutput {
			t.Errorf("got %+v, %+v", e, e.Error)
		}
	})
	for name, c := range map[string]struct {
		request runs.Request
		want    runs.ToolCode
	}{
		"B80 tool_not_found":                           {runs.Request{AccountID: user, ToolID: "dance"}, runs.ToolNotFound},
		"B80 invalid_tool_input, by a value":           {runs.Request{AccountID: user, ToolID: "listen", Values: map[runs.Source]map[string]any{runs.FromArgument: {"song": "la", "voices": "99"}}}, runs.InvalidToolInput},
		"B80 invalid_tool_input, by one that is there": {runs.Request{AccountID: user, ToolID: "listen"}, runs.InvalidToolInput},
		"B80 tool_requires_approval":                   {func() runs.Request { r := sing(user); r.Context = planned; return r }(), runs.ToolRequiresApproval},
	} {
		t.Run(name+": never executed", func(t *testing.T) {
			t.Parallel()
			_, err := h.Ask(t.Context(), c.request)
			if e := runs.Refused(err, "t"); e.OK || e.Error == nil || e.Error.Code != c.want || e.Error.Message == "" || e.Error.Retryable || e.Attempts != 0 || e.TraceID != "t" {
				t.Errorf("%v: got %+v, %+v", err, e, e.Error)
			}
		})
	}
	t.Run("B80 tool_auto_run_disabled: never executed", func(t *testing.T) {
		t.Parallel()
		strict := newHouse(t, func(c *runs.Config) { c.Approval = runs.ApproveAll }, listening())
		run, err := strict.Ask(t.Context(), listen(strict.user(t, billing.Dollar), planned))
		if e := runs.Refused(err, ""); e.Error.Code != runs.ToolAutoRunDisabled || len(strict.provider.Handles()) != 0 {
			t.Errorf("%v: got %+v", err, e.Error)
		}
		if e, ok := run.Envelope(nil); !ok || e.Error.Code != runs.ToolAutoRunDisabled || e.Attempts != 0 {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("a run that is under way has no envelope yet", func(t *testing.T) {
		t.Parallel()
		if _, ok := (runs.Run{Status: runs.StatusRunning}).Envelope(nil); ok {
			t.Error("it has")
		}
	})
}

func TestExecutionEvent(t *testing.T) {
	t.Parallel()
	told, usual := &events{}, &events{}
	tool := listening()
	tool.RetryPolicy = &registry.RetryPolicy{MaxAttempts: 2, BackoffMs: 1}
	h := newHouse(t, func(c *runs.Config) { c.SiteID, c.Events, c.Logger = "bot.example", told.log(), usual.log() }, tool, booking())
	h.provider.OnSubmit = func(c registry.Call, _ int) *runstest.Outcome {
		if c.Tool.ToolID == "listen" && c.Inputs["song"] == "fail" {
			return &runstest.Outcome{Err: &registry.Error{Code: registry.CodeUnavailable, Message: "later", Retryable: true}}
		}
		return nil
	}
	h.start(t)
	user := h.user(t, billing.Dollar)
	one := func(t *testing.T, from *events, run runs.Run, want map[string]any) {
		t.Helper()
		h.delivered(t, run.ID)
		list := from.of(t, run.ID)
		if len(list) != 1 {
			t.Fatalf("%d events: %v", len(list), list)
		}
		if _, ok := list[0]["latencyMs"].(float64); !ok {
			t.Errorf("no latencyMs in %v", list[0])
		}
		for name, value := range want {
			if list[0][name] != value {
				t.Errorf("%s is %v, want %v", name, list[0][name], value)
			}
		}
	}
	t.Run("B17 B85 one event for a success", func(t *testing.T) {
		run := h.accept(t, listen(user, planned))
		one(t, told, run, map[string]any{
			"tool": "listen", "ok": true, "attempts": 1.0, "errorCode": "", "traceId": planned.TraceID, "sessionId": "chat-7", "siteId": "shop.example",
			"plannerProvider": "anthropic", "deferred": false,
		})
	})
	t.Run("B85 one event for a failure, whatever its attempts", func(t *testing.T) {
		r := listen(user, registry.CallContext{SessionID: "s", TraceID: "t-85", PlannerProvider: "demo"})
		r.Values = map[runs.Source]map[string]any{runs.FromArgument: {"song": "fail"}}
		run := h.accept(t, r)
		one(t, told, run, map[string]any{"ok": false, "attempts": 2.0, "errorCode": "tool_execution_failed", "traceId": "t-85", "sessionId": "s", "siteId": "bot.example", "plannerProvider": "demo"})
		if log := usual.String(); !strings.Contains(log, `"traceId":"t-85"`) {
			t.Errorf("B17 the log of the work does not name the trace: %s", log)
		}
		again, err := h.Retry(t.Context(), run.ID)
		if err != nil || again.Context != (registry.CallContext{SessionID: "s", TraceID: "t-85"}) || again.Status != runs.StatusQueued {
			t.Errorf("tried again by a person it is %s in %+v, %v", again.Status, again.Context, err)
		}
	})
	t.Run("B85 a call that was put off is told when it waits, and once more when it is over", func(t *testing.T) {
		r := sing(user)
		r.Context = planned
		run, err := h.Ask(t.Context(), r)
		if runs.Refused(err, "").Error.Code != runs.ToolRequiresApproval {
			t.Fatal(err)
		}
		waiting := told.of(t, run.ID)
		if len(waiting) != 1 || waiting[0]["deferred"] != true || waiting[0]["attempts"] != 0.0 || waiting[0]["errorCode"] != "tool_requires_approval" {
			t.Errorf("got %v", waiting)
		}
		if _, err := h.Confirm(t.Context(), run.ID, user); err != nil {
			t.Fatal(err)
		}
		h.delivered(t, run.ID)
		if list := told.of(t, run.ID); len(list) != 2 || list[1]["deferred"] != true || list[1]["ok"] != true || list[1]["attempts"] != 1.0 {
			t.Errorf("got %v", list)
		}
	})
	t.Run("B85 runs that nobody planned are told in the usual log", func(t *testing.T) {
		run := h.accept(t, listen(user, registry.CallContext{SessionID: "chat"}))
		one(t, usual, run, map[string]any{"ok": true, "traceId": run.ID, "sessionId": "chat", "plannerProvider": ""})
		if len(told.of(t, run.ID)) != 0 {
			t.Error("it is told twice")
		}
	})
}

func TestAsk(t *testing.T) {
	t.Parallel()
	concert := perSecond()
	concert.ToolID, concert.CommandName, concert.Capability = "concert", "", registry.CapabilityRead
	h := newHouse(t, nil, perSecond(), listening(), concert)
	h.start(t)
	user := h.user(t, billing.Dollar)
	with := func(trace, song string) runs.Request {
		r := sing(user)
		r.Context, r.Values = planned, map[runs.Source]map[string]any{runs.FromArgument: {"song": song}}
		r.Context.TraceID = trace
		return r
	}
	asks := func(t *testing.T, r runs.Request) runs.Run {
		t.Helper()
		run, err := h.Ask(t.Context(), r)
		var approval *runs.ApprovalError
		if !errors.As(err, &approval) || approval.Run.ID != run.ID || run.Status != runs.StatusAwaitingConfirmation || run.ID == "" {
			t.Fatalf("got %s, %v", run.Status, err)
		}
		if e := registry.AsError(err); e.Code != registry.CodeUnauthorized || e.Message == "" {
			t.Errorf("people read %+v", e)
		}
		return run
	}
	executed := func(run runs.Run) bool { _, ok := h.provider.CallOf(run.ID); return ok }
	t.Run("B26 what only reads runs by itself", func(t *testing.T) {
		run, err := h.Ask(t.Context(), listen(user, planned))
		if err != nil || h.ends(t, run.ID).Status != runs.StatusSucceeded {
			t.Errorf("got %v", err)
		}
	})
	t.Run("B26 what only reads and has a price is refused as one that needs approval, and runs once with it", func(t *testing.T) {
		r := listen(user, planned)
		r.ToolID, r.Context.TraceID = "concert", "t26"
		first := asks(t, r)
		envelope, over := first.Envelope(nil)
		if !over || envelope.Error.Code != runs.ToolRequiresApproval || !strings.Contains(envelope.Error.Message, first.Quote.High.String()) || executed(first) {
			t.Errorf("got %+v", envelope.Error)
		}
		if _, err := h.Confirm(t.Context(), first.ID, user); err != nil {
			t.Fatal(err)
		}
		run, err := h.Ask(t.Context(), r)
		if err != nil || run.ID != first.ID || h.ends(t, run.ID).Status != runs.StatusSucceeded || run.Quote != first.Quote {
			t.Errorf("after the approval: %v", err)
		}
	})
	t.Run("B27 what changes something is refused and not executed, however often it is asked for", func(t *testing.T) {
		first := asks(t, with("t27", "la"))
		if again := asks(t, with("t27", "la")); again.ID != first.ID {
			t.Error("it became another call")
		}
		if executed(first) {
			t.Error("it was carried out")
		}
		h.wantBalance(t, user, billing.Dollar-h.spent(t, user), 0)
	})
	t.Run("B28 an approved call runs once, and the same call finds it", func(t *testing.T) {
		run := asks(t, with("t28", "la"))
		if _, err := h.Confirm(t.Context(), run.ID, user); err != nil {
			t.Fatal(err)
		}
		if done := h.ends(t, run.ID); done.Status != runs.StatusSucceeded || done.ConfirmedAt == nil || done.Latency() > done.EndedAt.Sub(done.CreatedAt) {
			t.Errorf("got %s, confirmed %v", done.Status, done.ConfirmedAt)
		}
		for range 3 {
			if again, err := h.Ask(t.Context(), with("t28", "la")); err != nil || again.ID != run.ID || again.Status != runs.StatusSucceeded {
				t.Errorf("got %s as %s, %v", again.ID, again.Status, err)
			}
		}
	})
	t.Run("B28 other arguments, another trace, another tool and another model need an approval of their own", func(t *testing.T) {
		first := asks(t, with("t28b", "la"))
		if _, err := h.Confirm(t.Context(), first.ID, user); err != nil {
			t.Fatal(err)
		}
		other := with("t28b", "la")
		other.Context.PlannerProvider = "gemini"
		for _, r := range []runs.Request{with("t28b", "lo"), with("t28c", "la"), other} {
			if run := asks(t, r); run.ID == first.ID || executed(run) {
				t.Error("the approval of another call counted")
			}
		}
	})
	t.Run("B28 an approval that does not come in time, or is refused, has to be asked for anew", func(t *testing.T) {
		late := asks(t, with("t28d", "la"))
		if _, err := h.pool.Exec(t.Context(), `UPDATE runs SET created_at = created_at - $2::interval WHERE id = $1`, late.ID, runs.SummaryLife+time.Second); err != nil {
			t.Fatal(err)
		}
		_, err := h.Confirm(t.Context(), late.ID, user)
		if h.ends(t, late.ID).Status != runs.StatusCanceled {
			t.Error("it waits for ever")
		}
		wantGateOrOver(t, err)
		second := asks(t, with("t28d", "la"))
		if _, err := h.Cancel(t.Context(), second.ID, user); err != nil {
			t.Fatal(err)
		}
		third := asks(t, with("t28d", "la"))
		if late.ID == second.ID || second.ID == third.ID || executed(late) || executed(second) {
			t.Errorf("%s, %s, %s", late.ID, second.ID, third.ID)
		}
	})
	t.Run("B28 a request with a key of its own is the call of that key", func(t *testing.T) {
		r := with("t28e", "la")
		r.IdempotencyKey = "mine"
		if run := asks(t, r); asks(t, r).ID != run.ID {
			t.Error("it became another call")
		}
	})
	t.Run("B28 C29 the hash of the summary is what is confirmed", func(t *testing.T) {
		run := asks(t, with("t28f", "la"))
		_, err := h.ConfirmSummary(t.Context(), run.ID, user, asks(t, with("t28f", "lo")).Summary().Hash(), nil)
		wantGate(t, err, runs.SummaryHashMismatch)
		if executed(run) {
			t.Error("it was carried out")
		}
		if _, err := h.ConfirmSummary(t.Context(), run.ID, user, run.Summary().Hash(), nil); err != nil {
			t.Error(err)
		}
		if h.ends(t, run.ID).Status != runs.StatusSucceeded {
			t.Error("it did not run")
		}
	})
	t.Run("B29 under a strict policy what reads waits, too, and a person's own command does not", func(t *testing.T) {
		strict := newHouse(t, func(c *runs.Config) { c.Approval = runs.ApproveAll }, listening())
		user := strict.user(t, billing.Dollar)
		_, err := strict.Ask(t.Context(), listen(user, planned))
		var approval *runs.ApprovalError
		if !errors.As(err, &approval) || !approval.Reading || len(strict.provider.Handles()) != 0 {
			t.Errorf("got %v", err)
		}
		if run, err := strict.Accept(t.Context(), listen(user, registry.CallContext{SessionID: "chat"})); err != nil || run.Status != runs.StatusQueued {
			t.Errorf("got %s, %v", run.Status, err)
		}
	})
}

// spent is what an account's runs have cost.
func (h *house) spent(t *testing.T, user string) (n billing.NanoUSD) {
	t.Helper()
	if err := h.pool.QueryRow(context.Background(), `SELECT coalesce(sum(cost), 0)::bigint FROM runs WHERE account_id = $1`, user).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// wantGateOrOver: the summary was too old, or the reaper had canceled the run already, which then stays as it is.
func wantGateOrOver(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		wantGate(t, err, runs.SummaryExpired)
	}
}
