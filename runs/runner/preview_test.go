package runner

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// blog is a house with a tool that deletes posts once it is called with confirmed, and only shows them before.
type blog struct {
	*house
	user  string
	edits atomic.Int64 // of the post
	gone  atomic.Bool
}

func newBlog(t *testing.T, adapt func(*runs.Config)) *blog {
	t.Helper()
	tool := perSecond()
	tool.ToolID, tool.CommandName, tool.CostingModel, tool.Capability = "deletePosts", "", nil, registry.CapabilityWrite
	tool.InputSchema = registry.InputSchema{
		{Name: "slug", Type: registry.TypeString, Required: true}, {Name: "confirmed", Type: registry.TypeBoolean},
		{Name: "name", Type: registry.TypeString},
	}
	priced, personal := tool, tool
	priced.ToolID, priced.CostingModel = "searchPosts", perSecond().CostingModel
	personal.ToolID, personal.PIIRequired = "signPosts", []string{"name"}
	b := &blog{}
	b.house = newHouse(t, adapt, tool, priced, personal)
	b.provider.OnPreview = b.preview
	b.start(t)
	b.user = b.house.user(t, billing.Dollar)
	return b
}

func (b *blog) preview(_ context.Context, c registry.Call) (registry.Preview, error) {
	if b.gone.Load() {
		return registry.Preview{}, registry.Errorf(registry.CodeInvalidInput, "there is no post %v", c.Inputs["slug"])
	}
	p := registry.Preview{Capability: registry.CapabilityRead, Message: "Delete 1 post?", Touches: []registry.Touch{
		{Kind: "post", ID: "7", Title: "Hello", Version: string(rune('a' + b.edits.Load()))},
	}}
	if c.Inputs["confirmed"] == true {
		p.Capability = registry.CapabilityWrite
	}
	return p, nil
}

// asks is what a model asks for.
func (b *blog) asks(tool, trace string, confirmed bool) runs.Request {
	return runs.Request{
		AccountID: b.user, ToolID: tool, Origin: runs.Origin{Platform: "post"}, Approval: runs.ApproveWrites, Context: registry.CallContext{TraceID: trace},
		Values: map[runs.Source]map[string]any{runs.FromArgument: {"slug": "hello", "confirmed": confirmed}},
	}
}

// waits asks for the deed and gives the run that waits for it.
func (b *blog) waits(t *testing.T, r runs.Request) runs.Run {
	t.Helper()
	run, err := b.Ask(t.Context(), r)
	var approval *runs.ApprovalError
	if !errors.As(err, &approval) || approval.Reading || run.Status != runs.StatusAwaitingConfirmation {
		t.Fatalf("it is %s, %v", run.Status, err)
	}
	return run
}

func (b *blog) executions() int { return len(b.provider.Handles()) }

func TestPreview(t *testing.T) {
	t.Parallel()
	t.Run("D96 D99 a model's confirmed becomes a waiting run with its preview, and the deed once its owner has approved it", func(t *testing.T) {
		t.Parallel()
		b := newBlog(t, nil)
		run := b.waits(t, b.asks("deletePosts", "", true))
		kept, err := b.open(t).Get(t.Context(), run.ID)
		want := &registry.Preview{Capability: registry.CapabilityWrite, Message: "Delete 1 post?", Touches: []registry.Touch{{Kind: "post", ID: "7", Title: "Hello", Version: "a"}}}
		if err != nil || !reflect.DeepEqual(run.Preview, want) || !reflect.DeepEqual(kept.Preview, want) || kept.Summary().Hash() != run.Summary().Hash() {
			t.Errorf("the preview is %+v, kept %+v, %v", run.Preview, kept.Preview, err)
		}
		if b.executions() != 0 {
			t.Error("it was carried out before")
		}
		if _, err := b.ConfirmSummary(t.Context(), run.ID, b.user, run.Summary().Hash(), nil); err != nil {
			t.Fatal(err)
		}
		b.ends(t, run.ID)
		if call, ok := b.provider.CallOf(run.ID); !ok || !reflect.DeepEqual(call.Preview, want) || b.executions() != 1 {
			t.Errorf("carried out %d times, with %+v", b.executions(), call.Preview)
		}
	})
	t.Run("D96 a call that only shows what it would change runs by itself", func(t *testing.T) {
		t.Parallel()
		b := newBlog(t, nil)
		run, err := b.Ask(t.Context(), b.asks("deletePosts", "", false))
		if err != nil || b.ends(t, run.ID).Status != runs.StatusSucceeded {
			t.Fatal(run.Status, err)
		}
		if call, _ := b.provider.CallOf(run.ID); call.Preview != nil {
			t.Errorf("nobody was asked, and the call has %+v", call.Preview)
		}
	})
	t.Run("B26 a call that reads and has a price waits without a budget for it", func(t *testing.T) {
		t.Parallel()
		b := newBlog(t, nil)
		r := b.asks("searchPosts", "", false)
		if run := b.waits(t, r); run.NeedsApproval().(*runs.ApprovalError).Price == 0 {
			t.Error("the reason is not its price")
		}
		r.Budget = runs.Budget{Name: "key:1", Limit: billing.Dollar}
		if run, err := b.Ask(t.Context(), r); err != nil {
			t.Errorf("it is %s, %v", run.Status, err)
		}
		r = b.asks("searchPosts", "", true)
		r.Budget = runs.Budget{Name: "key:1", Limit: billing.Dollar}
		b.waits(t, r)
	})
	t.Run("B29 under a strict policy a call that reads waits, too", func(t *testing.T) {
		t.Parallel()
		b := newBlog(t, func(c *runs.Config) { c.Approval = runs.ApproveAll })
		_, err := b.Ask(t.Context(), b.asks("deletePosts", "", false))
		var approval *runs.ApprovalError
		if !errors.As(err, &approval) || !approval.Reading || b.executions() != 0 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a person's word is an approval", func(t *testing.T) {
		t.Parallel()
		b := newBlog(t, nil)
		r := b.asks("deletePosts", "", true)
		r.Approval = runs.ApproveNothing
		run := b.accept(t, r)
		if b.ends(t, run.ID).Status != runs.StatusSucceeded || run.Preview == nil {
			t.Errorf("%s with %+v", run.Status, run.Preview)
		}
	})
	t.Run("a preview's error is the request's, and nothing is written", func(t *testing.T) {
		t.Parallel()
		b := newBlog(t, nil)
		b.gone.Store(true)
		_, err := b.Ask(t.Context(), b.asks("deletePosts", "", true))
		if e := registry.AsError(err); e == nil || e.Code != registry.CodeInvalidInput || !strings.Contains(e.Message, "no post hello") {
			t.Errorf("got %v", err)
		}
		if list, err := b.List(t.Context(), runs.Filter{AccountID: b.user}); err != nil || len(list) != 0 {
			t.Errorf("%d runs, %v", len(list), err)
		}
	})
	t.Run("C15 a preview gets no personal data", func(t *testing.T) {
		t.Parallel()
		b := newBlog(t, nil)
		var seen registry.Call
		b.provider.OnPreview = func(_ context.Context, c registry.Call) (registry.Preview, error) {
			seen = c
			return registry.Preview{Capability: registry.CapabilityRead}, nil
		}
		r := b.asks("signPosts", "", true)
		r.Values[runs.FromArgument]["name"] = "Ann"
		b.waits(t, r)
		if _, sent := seen.Inputs["name"]; sent || len(seen.Tool.PIIRequired) != 0 || seen.Inputs["slug"] != "hello" {
			t.Errorf("it got %v and %v", seen.Inputs, seen.Tool.PIIRequired)
		}
	})
}

func TestPreviewThatIsOver(t *testing.T) {
	t.Parallel()
	t.Run("D98 what was approved and has changed since is refused, and shown anew when it is asked for again", func(t *testing.T) {
		t.Parallel()
		b := newBlog(t, nil)
		first := b.waits(t, b.asks("deletePosts", "trace-1", true))
		b.edits.Add(1)
		if _, err := b.Confirm(t.Context(), first.ID, b.user); err != nil {
			t.Fatal(err)
		}
		if over := b.ends(t, first.ID); over.Status != runs.StatusFailed || b.executions() != 0 {
			t.Errorf("it ended as %s after %d executions", over.Status, b.executions())
		}
		second := b.waits(t, b.asks("deletePosts", "trace-1", true))
		if second.ID == first.ID || second.Preview.Touches[0].Version != "b" || second.Summary().Hash() == first.Summary().Hash() {
			t.Errorf("the second is %s with %+v", second.ID, second.Preview)
		}
	})
	t.Run("B28 the same call in the same trace finds what was done, though there is nothing to preview any more", func(t *testing.T) {
		t.Parallel()
		b := newBlog(t, nil)
		r := b.asks("deletePosts", "trace-2", true)
		run := b.waits(t, r)
		if again := b.waits(t, r); again.ID != run.ID {
			t.Errorf("%s waits beside %s", again.ID, run.ID)
		}
		if _, err := b.Confirm(t.Context(), run.ID, b.user); err != nil {
			t.Fatal(err)
		}
		b.ends(t, run.ID)
		b.gone.Store(true)
		if again, err := b.Ask(t.Context(), r); err != nil || again.ID != run.ID || again.Status != runs.StatusSucceeded || b.executions() != 1 {
			t.Errorf("found %s %s, %v; %d executions", again.ID, again.Status, err, b.executions())
		}
	})
	t.Run("a deleted run has no preview", func(t *testing.T) {
		t.Parallel()
		b := newBlog(t, nil)
		run := b.waits(t, b.asks("deletePosts", "", true))
		if err := b.Delete(t.Context(), run.ID, b.user); err != nil {
			t.Fatal(err)
		}
		if kept, err := b.Look(t.Context(), run.ID); err != nil || kept.Preview != nil {
			t.Errorf("%+v, %v", kept.Preview, err)
		}
	})
}

func TestSummaryOfAPreview(t *testing.T) {
	t.Parallel()
	shown := func() *registry.Preview {
		return &registry.Preview{Capability: registry.CapabilityWrite, Message: "Delete?", Touches: []registry.Touch{{Kind: "post", ID: "7", Version: "a"}}}
	}
	run := runs.Run{Tool: booking(), Inputs: map[string]any{"a": "b"}, Preview: shown()}
	for name, change := range map[string]func(*registry.Preview){
		"what would change":           func(p *registry.Preview) { p.Touches[0].ID = "8" },
		"its version":                 func(p *registry.Preview) { p.Touches[0].Version = "b" },
		"one more thing":              func(p *registry.Preview) { p.Touches = append(p.Touches, registry.Touch{Kind: "post", ID: "9"}) },
		"what the provider says":      func(p *registry.Preview) { p.Message = "Delete both?" },
		"whether it changes at all":   func(p *registry.Preview) { p.Capability = registry.CapabilityRead },
		"a preview that is not there": func(p *registry.Preview) { *p = registry.Preview{} },
	} {
		t.Run("C29 "+name+" changes the hash", func(t *testing.T) {
			t.Parallel()
			other := run
			other.Preview = shown()
			change(other.Preview)
			if run.Summary().Hash() == other.Summary().Hash() {
				t.Error("it is the same")
			}
		})
	}
	t.Run("C29 without a preview nothing changes", func(t *testing.T) {
		t.Parallel()
		plain := run
		plain.Preview = nil
		if raw, err := json.Marshal(plain.Summary()); err != nil || strings.Contains(string(raw), "preview") {
			t.Errorf("%s, %v", raw, err)
		}
	})
}
