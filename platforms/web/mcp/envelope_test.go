package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// envelope is what a result's _meta tells.
type envelope struct {
	OK    bool
	Data  map[string][]any
	Error *struct {
		Code, Message string
		Retryable     bool
	}
	LatencyMs *int64
	Attempts  int
	TraceID   string
}

func envelopeOf(t *testing.T, r *sdk.CallToolResult) (e envelope) {
	t.Helper()
	raw, err := json.Marshal(r.Meta["signalbox/envelope"])
	if err == nil {
		err = json.Unmarshal(raw, &e)
	}
	if err != nil || e.OK == (e.Error != nil) || e.OK != (e.Data != nil) || e.LatencyMs == nil {
		t.Fatalf("got %s, %v", raw, err)
	}
	return e
}

// traced sends a traceparent with each request.
type traced struct{ next http.RoundTripper }

const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"

func (c traced) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Traceparent", "00-"+traceID+"-00f067aa0ba902b7-01")
	return c.next.RoundTrip(r)
}

func TestEnvelope(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			testEnvelope(t, h, version)
			testContext(t, h, version)
		})
	}
}

func testEnvelope(t *testing.T, h *house, version string) {
	account, key := h.person(t, "planner", 0)
	session := h.connect(t, version, key, sdk.ClientOptions{})
	t.Run("B17 B19 B20 B24 B25 a result carries the envelope", func(t *testing.T) {
		e := envelopeOf(t, call(t, session, "free.story", prompt("a pier")))
		list, err := h.runs.List(t.Context(), runs.Filter{AccountID: account})
		if err != nil || !e.OK || len(e.Data["story"]) != 1 || e.Data["story"][0] != "said: a pier" || e.Attempts != 1 || e.TraceID != list[0].ID {
			t.Errorf("got %+v, %v", e, err)
		}
	})
	for name, c := range map[string]struct {
		tool, prompt, code string
		attempts           int
	}{
		"B21 B25 B80 tool_execution_failed":                     {"free.story", "fail", "tool_execution_failed", 1},
		"B27 B80 tool_requires_approval, and no execution":      {"delete-all", "x", "tool_requires_approval", 0},
		"B27 what costs money without anybody to ask is no run": {"paid-story", "x", "tool_requires_approval", 0},
	} {
		t.Run(name, func(t *testing.T) {
			calls := h.now.count()
			if e := envelopeOf(t, call(t, session, c.tool, prompt(c.prompt))); e.OK || e.Error.Code != c.code || e.Error.Message == "" || e.Attempts != c.attempts || h.now.count()-calls != c.attempts {
				t.Errorf("got %+v, %+v", e, e.Error)
			}
		})
	}
	t.Run("B80 invalid_tool_input", func(t *testing.T) {
		if e := envelopeOf(t, call(t, session, "free.story", map[string]any{"prompt": 5})); e.Error.Code != "invalid_tool_input" || e.Attempts != 0 {
			t.Errorf("got %+v", e.Error)
		}
	})
}

func testContext(t *testing.T, h *house, version string) {
	t.Run("B15 B16 B17 B18 session and trace of the protocol arrive at the handler; what nobody named is absent", func(t *testing.T) {
		account, key := h.person(t, "traced", 0)
		client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: h.url + "/mcp", HTTPClient: &http.Client{Transport: traced{bearer{key}}}, MaxRetries: -1},
			&sdk.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		e := envelopeOf(t, call(t, session, "free.story", prompt("a pier")))
		h.now.mu.Lock()
		got := h.now.calls[len(h.now.calls)-1]
		h.now.mu.Unlock()
		want := registry.CallContext{SessionID: session.ID(), TraceID: traceID}
		if got.Context != want || got.UserID != account || e.TraceID != traceID {
			t.Errorf("got %+v of %s, want %+v; the result has %s", got.Context, got.UserID, want, e.TraceID)
		}
	})
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	t.Run("B29 under a strict policy what only reads is asked for, too", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, func(c *runs.Config) { c.Approval = runs.ApproveAll })
		_, key := h.person(t, "strict", billing.Dollar)
		if e := envelopeOf(t, call(t, h.connect(t, versions[0], key, sdk.ClientOptions{}), "free.story", prompt("x"))); e.Error.Code != "tool_auto_run_disabled" || h.now.count() != 0 {
			t.Errorf("got %+v", e.Error)
		}
		person := &answers{action: "accept"}
		if e := envelopeOf(t, call(t, h.connect(t, versions[0], key, sdk.ClientOptions{ElicitationHandler: person.elicit}), "free.story", prompt("x"))); !e.OK || len(person.asked) != 1 {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("C15 personal data is granted one by one", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		_, key := h.person(t, "shy", 0)
		session := h.connect(t, versions[0], key, sdk.ClientOptions{ElicitationHandler: (&answers{}).elicit, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}})
		asked := call(t, session, "introduce", prompt("x"))
		question, _ := asked.InputRequests["confirm"].(*sdk.ElicitParams)
		if fields := fmt.Sprint(question.RequestedSchema); !strings.Contains(fields, "full_name") || !strings.Contains(fields, "email") {
			t.Errorf("asked %v", fields)
		}
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "introduce", Arguments: prompt("x"), RequestState: asked.RequestState,
			InputResponses: sdk.InputResponseMap{"confirm": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"full_name": true, "email": false}}}})
		if err != nil || result.IsError || h.now.count() != 1 || !slices.Equal(h.now.calls[0].Tool.PIIRequired, []string{"full_name"}) {
			t.Errorf("%v %s, sent %+v", err, textOf(result), h.now.calls)
		}
	})
	t.Run("B28 an approval that comes too late, or after a no, lets nothing run", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		account, key := h.person(t, "late", 0)
		person := &answers{}
		session := h.connect(t, versions[0], key, sdk.ClientOptions{ElicitationHandler: person.elicit, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}})
		answer := func(state, action string) *sdk.CallToolResult {
			result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "delete-all", Arguments: prompt("x"), RequestState: state,
				InputResponses: sdk.InputResponseMap{"confirm": &sdk.ElicitResult{Action: action, Content: map[string]any{}}}})
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		first := call(t, session, "delete-all", prompt("x"))
		if declined := answer(first.RequestState, "decline"); !declined.IsError {
			t.Errorf("declined: %s", textOf(declined))
		}
		list, err := h.runs.List(t.Context(), runs.Filter{AccountID: account})
		if err != nil || len(list) != 1 || list[0].Status != runs.StatusCanceled {
			t.Errorf("it is %+v, %v", list, err)
		}
		if changed := answer(first.RequestState, "accept"); !changed.IsError {
			t.Errorf("a yes after a no: %s", textOf(changed))
		}
		second := call(t, session, "delete-all", prompt("x"))
		if _, err := h.pool.Exec(t.Context(), `UPDATE runs SET created_at = created_at - $1::interval`, runs.SummaryLife+time.Second); err != nil {
			t.Fatal(err)
		}
		if late := answer(second.RequestState, "accept"); !late.IsError || h.now.count() != 0 {
			t.Errorf("too late: %s", textOf(late))
		}
	})
}
