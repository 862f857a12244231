package console_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// signIn signs the tab in as the operator. The tests' server is reached by its address, so that the page's
// own host does not matter.
func signIn(t *testing.T, ctx context.Context, h *house) {
	t.Helper()
	browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/signin"), chromedp.WaitVisible(chromedp.CSS("[name=key]")),
		chromedp.SetValue(chromedp.CSS("[name=key]"), adminToken), chromedp.Click(chromedp.CSS("form:has([name=key]) button")),
		chromedp.WaitVisible(chromedp.CSS(`a[href="/history"]`)))
}

// furnish fills a house with what an operator sees on a working day.
func furnish(h *house) (done, running string, anna string) {
	a, b := h.person("Anna Petrova"), h.person("Ben")
	for i := range 24 {
		run := h.run(a, "upscale", fmt.Sprintf("a red bicycle, number %d", i), runs.StatusSucceeded)
		h.endedAgo(run.ID, time.Duration(i*i)*2*time.Minute, time.Duration(3+i%7)*time.Second)
	}
	done = h.run(a, "paint", "a red bicycle with a basket", runs.StatusSucceeded).ID
	h.run(b, "upscale", "fail: a poster of a film", runs.StatusFailed)
	h.run(b, "paint", "fail: a portrait", runs.StatusFailed)
	run := h.accept(b, "paint", "wait for this one")
	h.reaches(run.ID, runs.StatusSubmitted)
	h.provider.Report(run.ID, registry.Progress{State: registry.RunRunning, Fraction: 0.42, HasFraction: true, Stage: "Sampling"})
	h.reaches(run.ID, runs.StatusRunning)
	h.engines = []console.Engine{
		{Name: "gpu1.example:8188", Up: true, Version: "0.9.2", GPUs: []string{"NVIDIA GeForce RTX 4090"}, Classes: 812, Running: []string{run.ID}, CheckedAt: time.Now()},
		{Name: "gpu2.example:8188", Error: "dial tcp 10.0.0.7:8188: connection refused", CheckedAt: time.Now().Add(-3 * time.Minute)},
	}
	h.findings = map[string][]console.Finding{"paint": {
		{Severity: "warning", Message: "no note describes the workflow", Advice: "write a Note in the workflow: what it is for, what to put in, when to use it"},
		{Severity: "info", Message: "the seed is fixed", Node: "3"},
	}}
	h.lacks = []console.Lack{{Engine: "gpu2.example:8188", ToolID: "paint", What: "the node KSamplerWithEverything, the model flux1-dev-of-the-house-quantized.safetensors"}}
	return done, run.ID, a.ID
}

// post is a page that another room fills.
func post() console.Section {
	return console.Section{
		Path: "post", Title: "Post", Views: []console.View{{Name: "all", Title: "All"}, {Name: "left", Title: "Given up"}},
		Table: func(context.Context, string) (console.Table, error) {
			return console.Table{Lead: "Callbacks of services, newest first.", Columns: []string{"No.", "Received", "Service", "Run", "Status", "Trouble"}, Rows: []console.Row{
				{Cells: []console.Cell{{Text: "18"}, {Text: "2026-11-20 09:05:12"}, {Text: "vidu"}, {Run: "01234567-89ab-cdef-0123-456789abcdef"}, {Text: "done"}, {}}},
				{ID: "17", Cells: []console.Cell{{Text: "17"}, {Text: "2026-11-20 09:05:11"}, {Text: "replicate"}, {Text: "a-job-that-is-not-ours"}, {Text: "orphan"}, {Text: "there is no such run"}}},
			}}, nil
		},
		Deed: &console.Deed{Name: "replay", Button: "Replay", All: "Replay all", Says: "What was given up is worked on again.", Do: func(context.Context, ...string) (string, error) { return "Done.", nil }},
	}
}

// endedAgo moves a run into the past.
func (h *house) endedAgo(id string, ago, took time.Duration) {
	h.t.Helper()
	_, err := h.pool.Exec(h.t.Context(), `UPDATE runs SET ended_at = now() - $2::interval, created_at = now() - $2::interval - $3::interval, delivered_at = NULL WHERE id = $1`, id, ago, took)
	if err != nil {
		h.t.Fatal(err)
	}
}

func TestConsoleInABrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t, post())
	done, running, anna := furnish(h)
	views := []struct {
		name   string
		widths []int64 // the last one is that of the picture
		height int64
		dark   bool
	}{{"desktop", []int64{768, 1360}, 900, false}, {"dark", []int64{1360}, 500, true}, {"phone", []int64{500, 390, 320}, 640, false}}
	paths := map[string]string{
		"overview": "", "runs": "runs", "run": "runs/" + done, "running": "runs/" + running, "errors": "errors", "plots": "plots?span=24h", "tools": "tools", "tool": "tools/paint",
		"changes": "changes", "engines": "engines", "ledger": "ledger", "people": "people", "person": "people/" + anna, "access": "access", "rule": "access/new", "invitations": "invitations", "settings": "settings", "setting": "settings/terms/change", "post": "post", "replay": "post/17/replay", "audit": "audit", "refund": "runs/" + done + "/refund", "limits": "people/" + anna + "/limits",
	}
	for _, view := range views {
		t.Run("every page fits, draws its plots and has no barrier, on "+view.name, func(t *testing.T) {
			t.Parallel()
			ctx := browsertest.Open(t, browsertest.Window{Width: view.widths[len(view.widths)-1], Height: view.height, Dark: view.dark})
			signIn(t, ctx, h)
			for name, path := range paths {
				browsertest.Do(t, ctx, chromedp.Navigate(h.url+console.Root+path), chromedp.WaitVisible(chromedp.CSS("main h1")))
				for _, width := range view.widths {
					browsertest.Do(t, ctx, chromedp.EmulateViewport(width, view.height))
					browsertest.Becomes(t, ctx, fmt.Sprintf(`innerWidth === %d && (innerWidth > 704 || [...document.querySelectorAll(".scroll:has(.cards)")].every(e => e.scrollWidth <= e.clientWidth)) && `, width)+browsertest.Fits)
				}
				if !browsertest.Is(t, ctx, `scrollY === 0`) {
					t.Errorf("%s is not shown from its top", name)
				}
				if strings.HasPrefix(path, "plots") && !browsertest.Is(t, ctx, `document.querySelectorAll(".plot canvas").length > 0 && document.querySelectorAll(".plot canvas, .plot [data-empty]").length === 5`) {
					t.Error("not every plot is drawn")
				}
				browsertest.Shot(t, ctx, "console-"+name+"-"+view.name)
				browsertest.Accessible(t, ctx, name)
			}
		})
	}
	t.Run("a refund, from the run to its effect", func(t *testing.T) {
		t.Parallel()
		ctx := browsertest.Open(t, browsertest.Window{Width: 1100, Height: 800})
		signIn(t, ctx, h)
		blank := h.run(h.person("Dora"), "paint", "a blank page", runs.StatusSucceeded).ID
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/operator/runs/"+blank), chromedp.Click(chromedp.CSS(`a[href$="/refund"]`)), chromedp.WaitVisible(chromedp.CSS("#why")),
			chromedp.SetValue(chromedp.CSS("#why"), "The picture was blank."), chromedp.Click(chromedp.CSS("form button.danger")), chromedp.WaitVisible(chromedp.CSS("[role=status]")))
		said, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("[role=status]")))
		if err != nil || !strings.Contains(said, "Refunded $0.50") {
			t.Errorf("the page says %q (%v)", said, err)
		}
		browsertest.Shot(t, ctx, "console-refunded")
	})
	t.Run("the terms, from the settings to their effect", func(t *testing.T) {
		t.Parallel()
		ctx := browsertest.Open(t, browsertest.Window{Width: 1100, Height: 800})
		signIn(t, ctx, h)
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/operator/settings"), chromedp.Click(chromedp.CSS(`a[href$="/terms/change"]`)), chromedp.WaitVisible(chromedp.CSS("#value")),
			chromedp.SetValue(chromedp.CSS("#value"), "Be kind."), chromedp.Click(chromedp.CSS("form button.primary")), chromedp.WaitVisible(chromedp.CSS("[role=status]")))
		if shown := browsertest.Text(t, ctx, "#terms"); !strings.Contains(shown, "Be kind.") || !strings.Contains(shown, "console") {
			t.Errorf("the settings show %q", shown)
		}
		browsertest.Shot(t, ctx, "console-set")
	})
	t.Run("the list of runs shows a new one by itself, unless it is paused", func(t *testing.T) {
		t.Parallel()
		ctx := browsertest.Open(t, browsertest.Window{Width: 1100, Height: 800})
		signIn(t, ctx, h)
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/operator/runs?q=unseen"), chromedp.WaitVisible(chromedp.CSS("main h1")))
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/operator/runs"), chromedp.WaitVisible(chromedp.CSS(".list")))
		run := h.run(h.person("Cleo"), "paint", "something new", runs.StatusSucceeded)
		if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`!!document.querySelector('a[href="/operator/runs/`+run.ID+`"]')`)); err != nil {
			t.Fatalf("the new run is not shown: %v", err)
		}
		if !browsertest.Is(t, ctx, `document.getElementById("pause").click(), document.getElementById("pause").getAttribute("aria-pressed") === "true"`) {
			t.Error("the page cannot be paused")
		}
	})
}
