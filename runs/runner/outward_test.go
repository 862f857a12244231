package runner

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

// fetches are files that note which are opened.
type fetches struct {
	runs.Assets
	opened []string
}

func (f *fetches) OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	f.opened = append(f.opened, ref)
	return f.Assets.OpenMedia(ctx, ref)
}

// TestWhereModelsGo has a model go to addresses that somebody else has named, and wait with all others.
func TestWhereModelsGo(t *testing.T) {
	t.Parallel()
	fetch := perSecond()
	fetch.ToolID, fetch.CommandName, fetch.CostingModel, fetch.Capability, fetch.Reaches = "fetch", "", nil, registry.CapabilityRead, []string{"urls", "headers"}
	fetch.InputSchema = registry.InputSchema{
		{Name: "query", Type: registry.TypeString}, {Name: "urls", Type: registry.TypeString, Multiple: true}, {Name: "picture", Type: registry.TypeImage},
		{Name: "headers", Type: registry.TypeString, Schema: []byte(`{"type":"object"}`)},
	}
	files := &fetches{}
	h := newHouse(t, func(c *runs.Config) { c.SiteID, files.Assets, c.Assets = "our.example", c.Assets, files }, fetch)
	h.provider.OnSubmit = func(c registry.Call, _ int) *runstest.Outcome {
		answer := `{"items":["https://found.example/a?b=1\u0026c=2"]}`
		if query, ok := c.Inputs["query"].(string); ok {
			answer += strings.ReplaceAll(query, "+", " ") // as services repeat what was asked
		}
		return &runstest.Outcome{Outputs: []registry.Output{registrytest.Text("result", answer)}}
	}
	h.start(t)
	user := h.user(t, billing.Dollar)
	asks := func(inputs map[string]any, said ...string) runs.Request {
		return runs.Request{
			AccountID: user, ToolID: "fetch", Origin: runs.Origin{Platform: "post"}, Approval: runs.ApproveWrites, Said: said,
			Values: map[runs.Source]map[string]any{runs.FromArgument: inputs},
		}
	}
	urls := func(list ...any) map[string]any { return map[string]any{"urls": list} }
	waits := func(name string, r runs.Request, want bool) runs.Run {
		t.Helper()
		run, err := h.Accept(t.Context(), r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := run.Status == runs.StatusAwaitingConfirmation; got != want {
			t.Errorf("%s: it waits: %v", name, got)
		}
		if !want {
			h.ends(t, run.ID)
		}
		return run
	}
	found := "https://found.example/a?b=1&c=2"
	waits("what nobody has found yet", asks(urls(found)), true)
	waits("a question that goes nowhere", asks(map[string]any{"query": "told.example/?secret"}), false)
	waits("a question with another word around an address", asks(map[string]any{"query": "around+told.example/?Secret+it"}), false)
	waits("what was found", asks(urls(found)), false)
	waits("more than what was found", asks(urls(found+"&secret")), true)
	waits("one of two", asks(urls(found, "https://evil.example")), true)
	waits("what an answer only repeats", asks(urls("https://told.example/?secret")), true)
	waits("what an answer only repeats, with other words around it", asks(urls("https://told.example/?Secret")), true)
	waits("what the person has said", asks(urls("https://shop.example/x", "http://site.example/"), "look at Site.Example and https://shop.example/x, please"), false)
	waits("where a call has gone", asks(urls("https://shop.example/x")), false)
	waits("what the person has said, in other letters", asks(urls("https://shop.example/X"), "https://shop.example/x"), true)
	for said, address := range map[string]string{
		"look at notevil.example":                   "https://evil.example",
		"look at https://not.evil.example/a":        "https://evil.example/a",
		"look at https://not-evil.example/a":        "https://evil.example/a",
		"look at https://evil.example.org/":         "https://evil.example",
		"look at https://evil.example-shop.org/":    "https://evil.example",
		"look at https://evil.example@bank.example": "https://evil.example",
		"look at https://evil.example:8443/":        "https://evil.example",
		"write to ann@evil.example":                 "https://evil.example",
		"look at https://bank.example/evil.example": "https://evil.example",
		"look at https://store.example/x?a=12":      "https://store.example/x?a=1",
		"look at https://store.example/x-secret":    "https://store.example/x",
	} {
		waits("only a part of what the person has said: "+said, asks(urls(address), said), true)
	}
	for _, said := range []string{"look at named.example.", "(named.example)", "is it named.example?", "see «https://Named.example/», please", "notnamed.example or named.example: which?", "请看https://named.example吧", "https://named.example/page"} {
		waits("what the person has said: "+said, asks(urls("https://named.example"), said), false)
	}
	waits("what goes along", asks(map[string]any{"urls": []any{found}, "headers": map[string]any{"X-A": "please"}}, "please"), true)
	h.provider.OnPreview = func(ctx context.Context, c registry.Call) (registry.Preview, error) {
		if ref, ok := c.Inputs["picture"].(string); ok {
			c.Media.OpenMedia(ctx, ref) // as a provider may that looks at what it is given
		}
		return registry.Preview{}, nil
	}
	waits("a picture elsewhere", asks(map[string]any{"picture": "https://evil.example/?secret"}), true)
	if len(files.opened) > 0 {
		t.Errorf("%s was fetched before anybody said so", files.opened)
	}
	waits("a picture of the house", asks(map[string]any{"picture": "https://our.example/files/x.png"}), false)
	by := asks(urls("https://evil.example/?secret"))
	by.Approval = runs.ApproveNothing
	waits("a person who asks", by, false)
	other := asks(urls(found))
	other.AccountID = h.user(t, billing.Dollar)
	waits("what somebody else has found", other, true)
	held := waits("a call that is approved", asks(urls("https://new.example/")), true)
	if err := held.NeedsApproval(); err == nil || !strings.Contains(err.Error(), "search first") {
		t.Errorf("the model hears %v", err)
	}
	if _, err := h.ConfirmSummary(t.Context(), held.ID, user, held.Summary().Hash(), nil); err != nil {
		t.Fatal(err)
	}
	if run := h.ends(t, held.ID); run.Status != runs.StatusSucceeded {
		t.Errorf("what was approved is %s: %+v", run.Status, run.Error)
	}
}
