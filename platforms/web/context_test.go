package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/runs/runstest"
)

const (
	traceID     = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "00-" + traceID + "-00f067aa0ba902b7-01"
)

// toolHouse is a house with a tool that reads, one that writes for money, and one that sends personal data.
func toolHouse(t *testing.T, options ...option) *house {
	t.Helper()
	h := newHouse(t, options...)
	text := func(c *registry.Tool) {
		c.CommandName, c.OutputSchema = "", registry.OutputSchema{{Name: "story", Type: "text"}}
	}
	reads := func(c *registry.Tool) { c.Capability = registry.CapabilityRead }
	h.fakes.Set(
		registrytest.Tool("look", text, reads),
		registrytest.Tool("order", text, func(c *registry.Tool) {
			c.Capability, c.DisplayName = registry.CapabilityWrite, "Order"
			c.CostingModel = &registry.CostingModel{Rate: "0.02", Unit: registry.UnitRequest, RateSource: registry.RateStatic}
		}),
		registrytest.Tool("introduce", text, reads, func(c *registry.Tool) {
			c.PIIRequired, c.Confirmation = []string{"full_name", "email"}, "Shall I introduce you <to> them?"
		}),
	)
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.fake.Answer(func(c registry.Call) (registry.Result, *registry.Error) {
		switch c.Inputs["prompt"] {
		case "fail":
			return registry.Result{}, registry.Errorf(registry.CodeRefused, "not that")
		case "nothing":
			return registry.Result{}, nil
		}
		return registry.Result{Outputs: []registry.Output{registrytest.Text("story", fmt.Sprint("said: ", c.Inputs["prompt"]))}}, nil
	})
	return h
}

// executed counts the calls of a tool.
func (h *house) executed(toolID string) (n int) {
	for _, c := range h.fake.Calls() {
		if c.Tool.ToolID == toolID {
			n++
		}
	}
	return n
}

// planned is a run as a planner's program reads it, or the problem in place of one.
type planned struct {
	apiRun
	Status       any // a run's is a text, a problem's a number
	TraceID      string
	LatencyMs    int64
	Attempts     int
	Confirmation *struct {
		Kind, SummaryHash, URL string
		Personal               []string
		PromiseNanoUsd         int64
		ExpiresAt              time.Time
	}
	Code, Detail string
	Run          *planned
	Envelope     *envelope
}

type envelope struct {
	OK    bool
	Data  map[string][]any
	Error *struct {
		Code, Message string
		Retryable     bool
	}
	LatencyMs *int64
	Attempts  *int
	TraceID   string
}

// envelope waits for a run's end and reads its envelope.
func (c *client) envelope(runID string) (e envelope) {
	c.t.Helper()
	c.finished(runID)
	if status := c.call("GET", "/api/runs/"+runID+"/envelope", "", &e); status != http.StatusOK || e.OK == (e.Error != nil) || e.OK != (e.Data != nil) || e.LatencyMs == nil || e.Attempts == nil {
		c.t.Fatalf("%d %+v", status, e)
	}
	return e
}

func ask(prompt string) string { return fmt.Sprintf(`{"inputs":{"prompt":%q}}`, prompt) }

func TestCallContext(t *testing.T) {
	t.Parallel()
	h := toolHouse(t)
	dev := h.developer("ann")
	last := func() registry.Call {
		calls := h.fake.Calls()
		return calls[len(calls)-1]
	}
	t.Run("B14 B15 B16 B17 B18 the headers arrive at the handler, and the trace in the result", func(t *testing.T) {
		var run planned
		if status := dev.call("POST", "/api/run/look", ask("a pier"), &run, "X-Site-Id", "shop.example", "X-Session-Id", "chat-7", "X-Trace-Id", "t-9", "X-Planner-Provider", "anthropic"); status != http.StatusAccepted || run.TraceID != "t-9" {
			t.Fatalf("%d %+v", status, run)
		}
		e := dev.envelope(run.RunID)
		c := last()
		if want := (registry.CallContext{SiteID: "shop.example", SessionID: "chat-7", TraceID: "t-9", PlannerProvider: "anthropic"}); c.Context != want || c.UserID == "" || e.TraceID != "t-9" {
			t.Errorf("got %+v of %q; the result has %s", c.Context, c.UserID, e.TraceID)
		}
	})
	t.Run("B17 a W3C traceparent is the trace", func(t *testing.T) {
		var run planned
		dev.call("POST", "/api/run/look", ask("a lamp"), &run, "Traceparent", traceparent)
		if e := dev.envelope(run.RunID); e.TraceID != traceID || last().Context.TraceID != traceID {
			t.Errorf("got %s and %+v", e.TraceID, last().Context)
		}
	})
	t.Run("B16 what no header names is absent, and the run is its own trace", func(t *testing.T) {
		var run planned
		dev.call("POST", "/api/run/look", ask("a boat"), &run, "Traceparent", "nonsense")
		if e := dev.envelope(run.RunID); e.TraceID != run.RunID || last().Context != (registry.CallContext{}) {
			t.Errorf("got %s and %+v", e.TraceID, last().Context)
		}
	})
	t.Run("B18 what can't be kept is refused", func(t *testing.T) {
		var p planned
		if status := dev.call("POST", "/api/run/look", ask("x"), &p, "X-Planner-Provider", strings.Repeat("x", 201)); status != http.StatusUnprocessableEntity || p.Envelope == nil || p.Envelope.Error.Code != "invalid_tool_input" {
			t.Errorf("%d %+v", status, p)
		}
	})
}

func TestEnvelope(t *testing.T) {
	t.Parallel()
	h := toolHouse(t)
	dev := h.developer("ann")
	started := func(t *testing.T, prompt string) planned {
		t.Helper()
		var run planned
		if status := dev.call("POST", "/api/run/look", ask(prompt), &run); status != http.StatusAccepted && status != http.StatusOK {
			t.Fatalf("%d %+v", status, run)
		}
		return run
	}
	t.Run("B19 B20 B24 B25 a success: ok with data, latency and attempts, in the run as well", func(t *testing.T) {
		run := started(t, "a pier")
		e := dev.envelope(run.RunID)
		if !e.OK || e.Data["story"][0] != "said: a pier" || *e.Attempts != 1 {
			t.Errorf("got %+v", e)
		}
		var told planned
		dev.call("GET", "/api/runs/"+run.RunID, "", &told)
		if told.Attempts != 1 || told.LatencyMs != *e.LatencyMs || told.TraceID != e.TraceID {
			t.Errorf("got %+v", told)
		}
	})
	for prompt, code := range map[string]string{"fail": "tool_execution_failed", "nothing": "invalid_tool_output"} {
		t.Run("B21 B22 B80 "+code, func(t *testing.T) {
			if e := dev.envelope(started(t, prompt).RunID); e.Error.Code != code || e.Error.Message == "" || *e.Attempts != 1 {
				t.Errorf("got %+v", e.Error)
			}
		})
	}
	for name, c := range map[string]struct {
		path, body, code string
		status           int
	}{
		"B80 tool_not_found, never executed":     {"/api/run/nothing", ask("x"), "tool_not_found", http.StatusNotFound},
		"B80 invalid_tool_input, never executed": {"/api/run/look", `{"inputs":{"prompt":5}}`, "invalid_tool_input", http.StatusUnprocessableEntity},
		"B80 an input that is not there":         {"/api/run/look", `{"inputs":{}}`, "invalid_tool_input", http.StatusUnprocessableEntity},
	} {
		t.Run(name, func(t *testing.T) {
			before := h.executed("look")
			var p planned
			if status := dev.call("POST", c.path, c.body, &p, "X-Trace-Id", "t-80"); status != c.status || p.Envelope == nil || p.Envelope.Error.Code != c.code || *p.Envelope.Attempts != 0 || p.Envelope.TraceID != "t-80" || p.Code == "" {
				t.Errorf("%d %+v", status, p)
			}
			if h.executed("look") != before {
				t.Error("it was executed")
			}
		})
	}
	t.Run("a run that is under way has no envelope yet", func(t *testing.T) {
		h.fake.Answer(nil)
		run := started(t, "later")
		if status := dev.call("GET", "/api/runs/"+run.RunID+"/envelope", "", &run); status != http.StatusAccepted || run.RunID == "" {
			t.Errorf("%d %+v", status, run)
		}
	})
	t.Run("the runs of others have none either", func(t *testing.T) {
		if status := h.developer("bob").call("GET", "/api/runs/"+started(t, "mine").RunID+"/envelope", "", nil); status != http.StatusNotFound {
			t.Error(status)
		}
	})
}

func TestApproval(t *testing.T) {
	t.Parallel()
	h := toolHouse(t)
	dev := h.developer("ann")
	// asks is a model's call that somebody has to approve.
	asks := func(t *testing.T, c *client, tool, prompt string, header ...string) planned {
		t.Helper()
		var p planned
		res := c.do("POST", "/api/run/"+tool, "application/json", strings.NewReader(ask(prompt)), header...)
		if err := json.NewDecoder(res.Body).Decode(&p); err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusForbidden || p.Code != "tool_requires_approval" || p.Run == nil || p.Run.Status != "awaiting_confirmation" || p.Run.Confirmation == nil || p.Envelope == nil {
			t.Fatalf("%d %+v", res.StatusCode, p)
		}
		if p.Envelope.OK || p.Envelope.Error.Code != p.Code || *p.Envelope.Attempts != 0 || p.Envelope.TraceID != p.Run.TraceID || !strings.HasSuffix(res.Header.Get("Location"), "/api/runs/"+p.Run.RunID) {
			t.Errorf("got %+v at %s", p.Envelope, res.Header.Get("Location"))
		}
		return *p.Run
	}
	model := []string{"X-Planner-Provider", "anthropic", "Traceparent", traceparent}
	t.Run("B26 what only reads runs for a model", func(t *testing.T) {
		var run planned
		if status := dev.call("POST", "/api/run/look", ask("a pier"), &run, model...); status != http.StatusAccepted {
			t.Errorf("%d %+v", status, run)
		}
	})
	t.Run("B27 what changes something is refused and not executed; a program of the owner's needs no approval", func(t *testing.T) {
		run := asks(t, dev, "order", "a chair", model...)
		if h.executed("order") != 0 || run.Confirmation.Kind != "approval" || run.Confirmation.PromiseNanoUsd != 20_000_000 || time.Until(run.Confirmation.ExpiresAt) > runs.SummaryLife || !strings.HasSuffix(run.Confirmation.URL, "/run/"+run.RunID) {
			t.Errorf("executed %d times; %+v", h.executed("order"), run.Confirmation)
		}
		var own planned
		if status := dev.call("POST", "/api/run/order", ask("a table"), &own); status != http.StatusAccepted {
			t.Errorf("the owner's program: %d %+v", status, own)
		}
	})
	t.Run("B28 C29 the approved call runs once; the same call finds it, other arguments and traces need an approval", func(t *testing.T) {
		run := asks(t, dev, "order", "a lamp", model...)
		if other := asks(t, dev, "order", "two lamps", model...); other.RunID == run.RunID || other.Confirmation.SummaryHash == run.Confirmation.SummaryHash {
			t.Error("it is the same call")
		}
		if other := asks(t, dev, "order", "a lamp", "X-Planner-Provider", "anthropic", "X-Trace-Id", "other"); other.RunID == run.RunID {
			t.Error("it is the same call")
		}
		before := h.executed("order")
		if status := dev.call("POST", "/api/runs/"+run.RunID+"/confirm", `{"summaryHash":"`+run.Confirmation.SummaryHash+`"}`, nil); status != http.StatusAccepted {
			t.Fatalf("confirm: %d", status)
		}
		if e := dev.envelope(run.RunID); !e.OK || e.TraceID != traceID {
			t.Errorf("got %+v", e)
		}
		for range 2 {
			var again planned
			if status := dev.call("POST", "/api/run/order", ask("a lamp"), &again, model...); status != http.StatusOK || again.RunID != run.RunID {
				t.Errorf("sent again: %d %+v", status, again)
			}
		}
		if n := h.executed("order") - before; n != 1 {
			t.Errorf("it was executed %d times", n)
		}
	})
	t.Run("C29 C30 C33 another hash than that of the summary is refused", func(t *testing.T) {
		run := asks(t, dev, "order", "a bed", model...)
		var p planned
		if status := dev.call("POST", "/api/runs/"+run.RunID+"/confirm", `{"summaryHash":"`+strings.Repeat("0", 64)+`"}`, &p); status != http.StatusConflict || p.Code != "summary-hash-mismatch" {
			t.Errorf("%d %+v", status, p)
		}
		dev.call("GET", "/api/runs/"+run.RunID, "", &p)
		if p.Status != "awaiting_confirmation" {
			t.Errorf("it is %s", p.Status)
		}
	})
	t.Run("B28 C31 an approval that comes too late is refused", func(t *testing.T) {
		run := asks(t, dev, "order", "a shelf", model...)
		if _, err := h.pool.Exec(t.Context(), `UPDATE runs SET created_at = created_at - $2::interval WHERE id = $1`, run.RunID, runs.SummaryLife+time.Second); err != nil {
			t.Fatal(err)
		}
		var p planned
		// The reaper may have been faster: then the run is canceled, and stays so.
		if status := dev.call("POST", "/api/runs/"+run.RunID+"/confirm", ``, &p); (status != http.StatusConflict || p.Code != "summary-expired") && p.Status != "canceled" {
			t.Errorf("%d %+v", status, p)
		}
		if again := asks(t, dev, "order", "a shelf", model...); again.RunID == run.RunID {
			t.Error("it waits for what can't come any more")
		}
	})
	t.Run("B27 B29 an agent's key is a model's, whatever it says, and approves nothing", func(t *testing.T) {
		var made struct{ Key string }
		if status := dev.call("POST", "/api/keys", `{"label":"agent","agent":true}`, &made); status != http.StatusCreated {
			t.Fatal(status)
		}
		agent := h.visitor()
		agent.key = made.Key
		run := asks(t, agent, "order", "a desk")
		for path, body := range map[string]string{"/api/runs/" + run.RunID + "/confirm": "{}", "/api/keys": "{}"} {
			if status := agent.call("POST", path, body, nil); status != http.StatusForbidden {
				t.Errorf("%s: %d", path, status)
			}
		}
		for _, path := range []string{"/run/" + run.RunID + "/confirm", "/tool/order", "/account/code"} {
			if res := agent.do("POST", path, "application/x-www-form-urlencoded", strings.NewReader("prompt=x")); res.StatusCode != http.StatusForbidden {
				t.Errorf("%s: %d", path, res.StatusCode)
			}
		}
		if res := h.visitor().do("POST", "/signin", "application/x-www-form-urlencoded", strings.NewReader("key="+made.Key)); res.StatusCode == http.StatusSeeOther {
			t.Error("it signs in")
		}
		if status := dev.call("POST", "/api/runs/"+run.RunID+"/confirm", "{}", nil, "X-Planner-Provider", "anthropic"); status != http.StatusForbidden {
			t.Errorf("a model approves itself: %d", status)
		}
		var keys struct{ Keys []struct{ Agent bool } }
		if dev.call("GET", "/api/keys", "", &keys); len(keys.Keys) != 2 || !keys.Keys[0].Agent || keys.Keys[1].Agent {
			t.Errorf("got %+v", keys)
		}
		if status := dev.call("POST", "/api/runs/"+run.RunID+"/confirm", "", nil); status != http.StatusAccepted {
			t.Errorf("the owner: %d", status)
		}
		if e := agent.envelope(run.RunID); !e.OK {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("B28 an Idempotency-Key holds for a call that waits, too", func(t *testing.T) {
		first := asks(t, dev, "order", "a rug", "X-Planner-Provider", "demo", "Idempotency-Key", "k28")
		if again := asks(t, dev, "order", "a rug", "X-Planner-Provider", "demo", "Idempotency-Key", "k28"); again.RunID != first.RunID {
			t.Error("it is another call")
		}
		var p planned
		if status := dev.call("POST", "/api/run/order", ask("a mat"), &p, "X-Planner-Provider", "demo", "Idempotency-Key", "k28"); status != http.StatusUnprocessableEntity || p.Code != "idempotency_key_reused" {
			t.Errorf("%d %+v", status, p)
		}
	})
	t.Run("B29 B80 tool_auto_run_disabled: under a strict policy what reads waits, too", func(t *testing.T) {
		strict, err := runner.New(runs.Config{Pool: h.pool, Registry: h.reg, Ledger: h.ledger, Assets: &runstest.Assets{}, Approval: runs.ApproveAll})
		if err != nil {
			t.Fatal(err)
		}
		other := &house{t: t, reg: h.reg, runs: strict, users: h.users, ledger: h.ledger, shares: h.shares}
		other.serve(func(c *web.Config) { c.Runs = strict })
		c := other.visitor()
		c.key = dev.key
		before := h.executed("look")
		var p planned
		if status := c.call("POST", "/api/run/look", ask("x"), &p, model[:2]...); status != http.StatusForbidden || p.Code != "tool_auto_run_disabled" || p.Envelope.Error.Code != p.Code || h.executed("look") != before {
			t.Errorf("%d %+v", status, p)
		}
	})
}

func TestPreview(t *testing.T) {
	t.Parallel()
	h := toolHouse(t)
	dev := h.developer("ann")
	h.fake.Previews(func(c registry.Call) (registry.Preview, error) {
		p := registry.Preview{Capability: registry.CapabilityRead, Message: "Delete <2> posts?", Touches: []registry.Touch{
			{Kind: "post", ID: "7", Title: "Hello <you>", Version: "3"}, {Kind: "post", ID: "8", Version: "1"},
		}}
		if c.Inputs["prompt"] == "confirmed" {
			p.Capability = registry.CapabilityWrite
		}
		if c.Inputs["prompt"] == "changed" {
			p.Capability, p.Link, p.Untold = registry.CapabilityWrite, "https://bot.example/site/preview/entry/7", 3
			p.Changes = []registry.Change{{Field: "prompt", Pieces: []edit.Piece{{Kind: edit.Same, Text: "a "}, {Kind: edit.Gone, Text: "<red> "}, {Kind: edit.New, Text: "blue\x00 "}, {Kind: edit.Same, Text: "mug"}}}}
		}
		if c.Inputs["prompt"] == "nothing" {
			return p, registry.Errorf(registry.CodeInvalidInput, "there are no such posts")
		}
		return p, nil
	})
	var shown struct {
		planned
		Run *struct {
			RunID   string
			Preview *registry.Preview
		}
	}
	model := []string{"X-Planner-Provider", "anthropic", "X-Trace-Id", "posts"}
	t.Run("D99 a model's call that would change something waits, and its owner sees what", func(t *testing.T) {
		if status := dev.call("POST", "/api/run/look", ask("confirmed"), &shown, model...); status != http.StatusForbidden || shown.Code != "tool_requires_approval" || h.executed("look") != 0 {
			t.Fatalf("%d %+v", status, shown)
		}
		if p := shown.Run.Preview; p == nil || p.Capability != registry.CapabilityWrite || p.Message != "Delete <2> posts?" || len(p.Touches) != 2 || p.Touches[0].Version != "3" {
			t.Fatalf("the preview is %+v", p)
		}
		me := h.visitor()
		me.form("/signin", url.Values{"key": {dev.key}})
		has(t, me.page("/run/"+shown.Run.RunID), "Delete &lt;2&gt; posts?", "<li>Hello &lt;you&gt;</li>", "<li>post 8</li>")
	})
	t.Run("what would be different is marked up, and told to programs in pieces", func(t *testing.T) {
		dev.call("POST", "/api/run/look", ask("changed"), &shown, model...)
		if p := shown.Run.Preview; len(p.Changes) != 1 || len(p.Changes[0].Pieces) != 4 || p.Changes[0].Pieces[1] != (edit.Piece{Kind: edit.Gone, Text: "<red> "}) || p.Link == "" {
			t.Fatalf("the preview is %+v", p)
		}
		me := h.visitor()
		me.form("/signin", url.Values{"key": {dev.key}})
		has(t, me.page("/run/"+shown.Run.RunID), "<dd>a <del>&lt;red&gt; </del><ins>blue </ins>mug</dd>", "… and 3 more", `href="https://bot.example/site/preview/entry/7"`)
	})
	t.Run("D96 one that only shows what it would change runs", func(t *testing.T) {
		if status := dev.call("POST", "/api/run/look", ask("show"), &shown, model...); status != http.StatusAccepted {
			t.Errorf("%d %+v", status, shown)
		}
	})
	t.Run("a preview's error is the answer", func(t *testing.T) {
		if status := dev.call("POST", "/api/run/look", ask("nothing"), &shown, model...); status != http.StatusUnprocessableEntity || shown.Detail != "there are no such posts" {
			t.Errorf("%d %+v", status, shown)
		}
	})
}

func TestSummaryCard(t *testing.T) {
	t.Parallel()
	h := toolHouse(t)
	me := h.reader()
	start := func(t *testing.T) string {
		t.Helper()
		res := me.form("/tool/introduce", url.Values{"prompt": {"to the <neighbours>"}})
		if res.StatusCode != http.StatusSeeOther {
			t.Fatalf("%d %s", res.StatusCode, readAll(t, res.Body))
		}
		return res.Header.Get("Location")
	}
	hash := regexp.MustCompile(`name="summary" value="([0-9a-f]{64})"`)
	t.Run("C27 C33 the page shows what would be done, the price and the data passed on, and waits", func(t *testing.T) {
		page := me.page(start(t))
		has(t, page, "What would be done", "Shall I introduce you &lt;to&gt; them?", "to the &lt;neighbours&gt;", `name="grant" value="full_name" checked`, `value="email" checked`, "Free", "/confirm", "/cancel", "You can confirm until")
		if h.executed("introduce") != 0 || !hash.MatchString(page) {
			t.Error("it was carried out, or has no hash")
		}
	})
	t.Run("C29 Confirm carries the hash of what was shown; another is refused and nothing runs", func(t *testing.T) {
		path := start(t)
		if res := me.form(path+"/confirm", url.Values{"summary": {strings.Repeat("0", 64)}}); res.StatusCode == http.StatusSeeOther || h.executed("introduce") != 0 {
			t.Errorf("%d", res.StatusCode)
		}
		shown := hash.FindStringSubmatch(me.page(path))
		if res := me.form(path+"/confirm", url.Values{"summary": {shown[1]}}); res.StatusCode != http.StatusSeeOther {
			t.Fatalf("%d", res.StatusCode)
		}
		if err := h.fake.WaitFor(t.Context(), func() bool { return h.executed("introduce") == 1 }); err != nil {
			t.Error(err)
		}
	})
	t.Run("C15 personal data is granted one by one, on the page and by the API", func(t *testing.T) {
		path := start(t)
		if res := me.form(path+"/confirm", url.Values{"grant": {"full_name"}}); res.StatusCode != http.StatusSeeOther {
			t.Fatalf("%d", res.StatusCode)
		}
		if run, err := h.runs.Get(t.Context(), strings.TrimPrefix(path, "/run/")); err != nil || !slices.Equal(run.Granted, []string{"full_name"}) {
			t.Errorf("granted %v, %v", run.Granted, err)
		}
		dev := h.developer("ann")
		var run struct {
			RunID   string
			Granted []string
		}
		dev.call("POST", "/api/run/introduce", ask("to bob"), &run)
		if status := dev.call("POST", "/api/runs/"+run.RunID+"/confirm", `{"granted":["email"]}`, &run); status != http.StatusAccepted || !slices.Equal(run.Granted, []string{"email"}) {
			t.Errorf("%d, granted %v", status, run.Granted)
		}
		if err := h.fake.WaitFor(t.Context(), func() bool { return h.executed("introduce") == 3 }); err != nil { // what is under way is not the next test's
			t.Error(err)
		}
	})
	t.Run("C33 Cancel ends it, and nothing runs", func(t *testing.T) {
		before := h.executed("introduce")
		path := start(t)
		if res := me.form(path+"/cancel", nil); res.StatusCode != http.StatusSeeOther {
			t.Fatalf("%d", res.StatusCode)
		}
		if page := me.page(path); strings.Contains(page, `id="summary"`) || h.executed("introduce") != before {
			t.Error("it still waits, or was carried out")
		}
	})
}
