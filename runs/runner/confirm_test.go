package runner

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// booking is a tool that asks for an affirmed summary.
func booking() registry.Tool {
	tool := perSecond()
	tool.Confirmation = "structured-booking"
	return tool
}

// affirmed is what a model says truly about a run's summary.
func affirmed(run runs.Run) runs.Affirmation {
	return runs.Affirmation{Kind: run.Summary().Kind, Hash: run.Summary().Hash(), Latest: "yes"}
}

func wantGate(t *testing.T, err error, want runs.GateReason) {
	t.Helper()
	var gate *runs.GateError
	if !errors.As(err, &gate) || gate.Reason != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestSummaryHash(t *testing.T) {
	t.Parallel()
	run := runs.Run{Tool: booking(), Inputs: map[string]any{"a": json.Number("18446744073709551615"), "b": map[string]any{"x": "1", "y": "2"}}}
	t.Run("C29 the order of keys does not change it", func(t *testing.T) {
		t.Parallel()
		other := run
		other.Inputs = map[string]any{"b": map[string]any{"y": "2", "x": "1"}, "a": json.Number("18446744073709551615")}
		if h := run.Summary().Hash(); h != other.Summary().Hash() || len(h) != 64 {
			t.Errorf("%s and %s", h, other.Summary().Hash())
		}
	})
	for name, change := range map[string]func(*runs.Run){
		"an input": func(r *runs.Run) {
			r.Inputs = map[string]any{"a": json.Number("18446744073709551614"), "b": r.Inputs["b"]}
		},
		"one more input":    func(r *runs.Run) { r.Inputs = map[string]any{"a": r.Inputs["a"], "b": r.Inputs["b"], "c": nil} },
		"the price":         func(r *runs.Run) { r.Quote.High = 1 },
		"the tool":          func(r *runs.Run) { r.Tool.ToolID = "other" },
		"the tool's text":   func(r *runs.Run) { r.Tool.Version = "other" },
		"the personal data": func(r *runs.Run) { r.Tool.PIIRequired = []string{"name"} },
	} {
		t.Run("C29 "+name+" changes it", func(t *testing.T) {
			t.Parallel()
			other := run
			change(&other)
			if run.Summary().Hash() == other.Summary().Hash() {
				t.Error("it is the same")
			}
		})
	}
}

func TestAffirms(t *testing.T) {
	t.Parallel()
	t.Run("C32 only yes and nothing else affirms", func(t *testing.T) {
		t.Parallel()
		for message, want := range map[string]bool{
			"yes": true, "Yes!": true, "OK": true, "book it": true, "yes, book it": true, "Yes please": true, "  ok. ": true, "ja, bitte": true, "да": true, "好的。": true, "sí, gracias": true,
			"yes but change the date": false, "yes, but not on Monday": false, "no": false, "": false, "ok?": false, "not yes": false, "book it for Tuesday": false,
			"yes no": false, "is it ok": false, "what did you book": false, "don't book it": false,
		} {
			if got := runs.Affirms(message); got != want {
				t.Errorf("%q: %v", message, got)
			}
		}
	})
}

func TestGates(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil, booking())
	user := h.user(t, billing.Dollar)
	age := func(t *testing.T, run runs.Run, by time.Duration) {
		t.Helper()
		if _, err := h.pool.Exec(t.Context(), `UPDATE runs SET created_at = created_at - make_interval(secs => $2) WHERE id = $1`, run.ID, by.Seconds()); err != nil {
			t.Fatal(err)
		}
	}
	// Each case has all faults of those that come after it, so that the order is proven, too.
	all := runs.Affirmation{Kind: "structured-trip", Hash: "other", Latest: "yes but later"}
	t.Run("C30 C33 no-prior-summary", func(t *testing.T) {
		run := h.accept(t, sing(user))
		age(t, run, time.Hour)
		a := all
		a.Kind = ""
		_, err := h.ConfirmBy(t.Context(), run.ID, user, a)
		wantGate(t, err, runs.NoPriorSummary)
		_, err = h.ConfirmBy(t.Context(), "", user, affirmed(run))
		wantGate(t, err, runs.NoPriorSummary)
	})
	t.Run("C30 wrong-summary-kind", func(t *testing.T) {
		run := h.accept(t, sing(user))
		age(t, run, time.Hour)
		_, err := h.ConfirmBy(t.Context(), run.ID, user, all)
		wantGate(t, err, runs.WrongSummaryKind)
	})
	t.Run("C30 C31 summary-expired, after ten minutes and a second", func(t *testing.T) {
		run := h.accept(t, sing(user))
		age(t, run, 10*time.Minute+time.Second)
		a := all
		a.Kind = "structured-booking"
		_, err := h.ConfirmBy(t.Context(), run.ID, user, a)
		wantGate(t, err, runs.SummaryExpired)
		_, err = h.Confirm(t.Context(), run.ID, user)
		wantGate(t, err, runs.SummaryExpired)
		if e := registry.AsError(err); e.Code == registry.CodeInternal || e.Message == "" {
			t.Errorf("people read %+v", e)
		}
	})
	t.Run("C31 within ten minutes it holds", func(t *testing.T) {
		run := h.accept(t, sing(user))
		age(t, run, 9*time.Minute+30*time.Second)
		if _, err := h.ConfirmBy(t.Context(), run.ID, user, affirmed(run)); err != nil {
			t.Error(err)
		}
	})
	t.Run("C30 summary-hash-mismatch", func(t *testing.T) {
		run := h.accept(t, sing(user))
		other := affirmed(h.accept(t, runs.Request{AccountID: user, ToolID: "sing", Origin: run.Origin, Values: map[runs.Source]map[string]any{runs.FromArgument: {"song": "lo"}}}))
		other.Latest = "yes but later"
		_, err := h.ConfirmBy(t.Context(), run.ID, user, other)
		wantGate(t, err, runs.SummaryHashMismatch)
	})
	t.Run("C30 C32 no-user-confirmation", func(t *testing.T) {
		run := h.accept(t, sing(user))
		a := affirmed(run)
		a.Latest = "yes but change the date"
		_, err := h.ConfirmBy(t.Context(), run.ID, user, a)
		wantGate(t, err, runs.NoUserConfirmation)
		if now, err := h.Get(t.Context(), run.ID); err != nil || now.Status != runs.StatusAwaitingConfirmation {
			t.Errorf("it is %s, %v", now.Status, err)
		}
	})
	t.Run("B28 C30 an affirmation lets one run go ahead, once, and only its owner's", func(t *testing.T) {
		run := h.accept(t, sing(user))
		_, err := h.ConfirmBy(t.Context(), run.ID, h.user(t, 0), affirmed(run))
		wantGate(t, err, runs.NoPriorSummary)
		if now, err := h.ConfirmBy(t.Context(), run.ID, user, affirmed(run)); err != nil || now.Status == runs.StatusAwaitingConfirmation {
			t.Errorf("it is %s, %v", now.Status, err)
		}
		_, err = h.ConfirmBy(t.Context(), run.ID, user, affirmed(run))
		wantGate(t, err, runs.NoPriorSummary)
	})
}

func TestApproval(t *testing.T) {
	t.Parallel()
	write, read := perSecond(), perSecond()
	read.ToolID, read.Capability, read.CommandName, read.CostingModel = "listen", registry.CapabilityRead, "", nil
	dear := perSecond()
	dear.ToolID, dear.Capability, dear.CommandName = "concert", registry.CapabilityRead, ""
	personal := perSecond()
	personal.ToolID, personal.PIIRequired, personal.CommandName = "introduce", []string{"name"}, ""
	undo := perSecond()
	undo.ToolID, undo.CancelFor, undo.PIIRequired, undo.CommandName = "undo", "sing", []string{"name"}, ""
	h := newHouse(t, nil, write, read, dear, personal, undo)
	user := h.user(t, billing.Dollar)
	for name, c := range map[string]struct {
		tool     string
		approval runs.Approval
		budget   runs.Budget
		waits    bool
	}{
		"B26 what only reads runs for a model":                       {"listen", runs.ApproveWrites, runs.Budget{}, false},
		"B26 what only reads and has a price waits for a model":      {"concert", runs.ApproveWrites, runs.Budget{}, true},
		"B26 a budget without a limit is no word about money":        {"concert", runs.ApproveWrites, runs.Budget{Name: "key:1"}, true},
		"B26 a budget is its owner's word for what a read costs":     {"concert", runs.ApproveWrites, runs.Budget{Name: "key:2", Limit: billing.Dollar}, false},
		"B27 a budget is no word for what changes something":         {"sing", runs.ApproveWrites, runs.Budget{Name: "key:3", Limit: billing.Dollar}, true},
		"B27 what changes something waits, whatever the model says":  {"sing", runs.ApproveWrites, runs.Budget{}, true},
		"B29 under a strict policy what reads waits, too":            {"listen", runs.ApproveAll, runs.Budget{}, true},
		"B29 under a strict policy a budget changes nothing":         {"concert", runs.ApproveAll, runs.Budget{Name: "key:4", Limit: billing.Dollar}, true},
		"a person's own command is an approval":                      {"concert", runs.ApproveNothing, runs.Budget{}, false},
		"C15 personal data goes out only when its owner has said so": {"introduce", runs.ApproveNothing, runs.Budget{}, true},
		"C37 what cancels never asks":                                {"undo", runs.ApproveAll, runs.Budget{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := sing(user)
			r.ToolID, r.Approval, r.Budget = c.tool, c.approval, c.budget
			run := h.accept(t, r)
			if waits := run.Status == runs.StatusAwaitingConfirmation; waits != c.waits {
				t.Errorf("it is %s", run.Status)
			}
			if c.waits && len(h.provider.Handles()) != 0 {
				t.Error("it was carried out")
			}
		})
	}
}

func TestGrants(t *testing.T) {
	t.Parallel()
	tool := perSecond()
	tool.ToolID, tool.CommandName, tool.PIIRequired = "introduce", "", []string{"name", "email", "phone"}
	tool.InputSchema = append(tool.InputSchema,
		registry.InputField{Name: "name", Type: registry.TypeString, Required: true}, registry.InputField{Name: "email", Type: registry.TypeString},
		registry.InputField{Name: "phone", Type: registry.TypeString})
	h := newHouse(t, nil, tool)
	h.start(t)
	user := h.user(t, billing.Dollar)
	ask := func(t *testing.T) runs.Run {
		t.Helper()
		r := sing(user)
		r.ToolID = "introduce"
		maps.Copy(r.Values[runs.FromArgument], map[string]any{"name": "Ann", "email": "ann@example.com", "phone": "123"})
		return h.accept(t, r)
	}
	for name, c := range map[string]struct{ granted, sent []string }{
		"C15 only what is listed and granted goes to the service": {[]string{"name", "phone"}, []string{"name", "phone"}},
		"C15 where nothing is said all that was shown is granted": {nil, []string{"name", "email", "phone"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := ask(t)
			if _, err := h.ConfirmSummary(t.Context(), run.ID, user, run.Summary().Hash(), c.granted); err != nil {
				t.Fatal(err)
			}
			h.ends(t, run.ID)
			call, ok := h.provider.CallOf(run.ID)
			if !ok || !slices.Equal(call.Tool.PIIRequired, c.sent) || call.Inputs["song"] == nil {
				t.Errorf("%v: the grant is %v, the inputs %v", ok, call.Tool.PIIRequired, call.Inputs)
			}
			for _, scope := range tool.PIIRequired {
				if _, sent := call.Inputs[scope]; sent != slices.Contains(c.sent, scope) {
					t.Errorf("%s sent: %v", scope, sent)
				}
			}
		})
	}
	for name, granted := range map[string][]string{
		"C15 a missing grant of what the tool can't do without stops the call": {"email"},
		"C15 what is not listed can't be granted":                              {"name", "passport"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := ask(t)
			var refused *registry.Error
			if _, err := h.ConfirmSummary(t.Context(), run.ID, user, "", granted); !errors.As(err, &refused) || refused.Code != registry.CodeInvalidInput {
				t.Errorf("got %v", err)
			}
			if now, err := h.Get(t.Context(), run.ID); err != nil || now.Status != runs.StatusAwaitingConfirmation {
				t.Errorf("it is %s, %v", now.Status, err)
			}
		})
	}
}
