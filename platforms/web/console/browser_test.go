package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// tab opens a tab of headless Chromium. What a page logs as an error, such as something that the content
// security policy forbids, fails the test.
func tab(t *testing.T, width, height int64, dark bool) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("force-prefers-reduced-motion", true))
	if dark {
		options = append(options, chromedp.Flag("blink-settings", "preferredColorScheme=0"))
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	page, closeTab := chromedp.NewContext(allocator)
	var reading sync.WaitGroup
	t.Cleanup(func() {
		closeTab()
		stop()
		reading.Wait()
	})
	must(t, page, chromedp.EmulateViewport(width, height))
	log := chromedp.Console(page)
	reading.Go(func() {
		for m, err := range log {
			if err == nil && (m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleException) {
				t.Errorf("the page reports: %s (%s)", m.Text, m.URL)
			}
		}
	})
	ctx, cancel := context.WithTimeout(page, 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	absent(t, "no Chromium on this machine; install the package chromium")
	return ""
}

// absent skips on a laptop, and fails where everything has to be there.
func absent(t *testing.T, advice string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(advice)
	}
	t.Skip(advice)
}

func must(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

func yes(t *testing.T, ctx context.Context, script string) bool {
	t.Helper()
	ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script))
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// shot stores a picture of the page where SCREENSHOTS_DIR says, for people to look at.
func shot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("SCREENSHOTS_DIR")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "console-"+name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

// fits tells whether nothing of the page sticks out sideways.
const fits = `document.documentElement.scrollWidth <= window.innerWidth`

// signIn signs the tab in as the operator. The tests' server is reached by its address, so that the page's
// own host does not matter.
func signIn(t *testing.T, ctx context.Context, h *house) {
	t.Helper()
	must(t, ctx, chromedp.Navigate(h.url+"/signin"), chromedp.WaitVisible(chromedp.CSS("[name=key]")),
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
	return done, run.ID, a.ID
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
	h := newHouse(t)
	done, running, anna := furnish(h)
	views := []struct {
		name          string
		width, height int64
		dark          bool
	}{{"desktop", 1360, 900, false}, {"dark", 1360, 900, true}, {"phone", 390, 844, false}}
	paths := map[string]string{
		"overview": "", "runs": "runs", "run": "runs/" + done, "running": "runs/" + running, "errors": "errors", "plots": "plots?span=24h", "tools": "tools", "tool": "tools/paint",
		"changes": "changes", "engines": "engines", "ledger": "ledger", "people": "people", "person": "people/" + anna, "audit": "audit", "refund": "runs/" + done + "/refund", "limits": "people/" + anna + "/limits",
	}
	for _, view := range views {
		t.Run("every page fits, draws its plots and has no barrier, on "+view.name, func(t *testing.T) {
			t.Parallel()
			ctx := tab(t, view.width, view.height, view.dark)
			signIn(t, ctx, h)
			axe := axeScript(t)
			for name, path := range paths {
				must(t, ctx, chromedp.Navigate(h.url+console.Root+path), chromedp.WaitVisible(chromedp.CSS("main h1")))
				if !yes(t, ctx, fits) {
					t.Errorf("%s is wider than the window", name)
				}
				if strings.HasPrefix(path, "plots") && !yes(t, ctx, `document.querySelectorAll(".plot canvas").length > 0 && document.querySelectorAll(".plot canvas, .plot [data-empty]").length === 5`) {
					t.Error("not every plot is drawn")
				}
				shot(t, ctx, name+"-"+view.name)
				if axe != "" {
					accessible(t, ctx, name, axe)
				}
			}
		})
	}
	t.Run("a refund, from the run to its effect", func(t *testing.T) {
		t.Parallel()
		ctx := tab(t, 1100, 800, false)
		signIn(t, ctx, h)
		blank := h.run(h.person("Dora"), "paint", "a blank page", runs.StatusSucceeded).ID
		must(t, ctx, chromedp.Navigate(h.url+"/operator/runs/"+blank), chromedp.Click(chromedp.CSS(`a[href$="/refund"]`)), chromedp.WaitVisible(chromedp.CSS("#why")),
			chromedp.SetValue(chromedp.CSS("#why"), "The picture was blank."), chromedp.Click(chromedp.CSS("form button.danger")), chromedp.WaitVisible(chromedp.CSS("[role=status]")))
		said, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("[role=status]")))
		if err != nil || !strings.Contains(said, "Refunded $0.50") {
			t.Errorf("the page says %q (%v)", said, err)
		}
		shot(t, ctx, "refunded")
	})
	t.Run("the list of runs shows a new one by itself, unless it is paused", func(t *testing.T) {
		t.Parallel()
		ctx := tab(t, 1100, 800, false)
		signIn(t, ctx, h)
		must(t, ctx, chromedp.Navigate(h.url+"/operator/runs?q=unseen"), chromedp.WaitVisible(chromedp.CSS("main h1")))
		must(t, ctx, chromedp.Navigate(h.url+"/operator/runs"), chromedp.WaitVisible(chromedp.CSS(".list")))
		run := h.run(h.person("Cleo"), "paint", "something new", runs.StatusSucceeded)
		if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`!!document.querySelector('a[href="/operator/runs/`+run.ID+`"]')`)); err != nil {
			t.Fatalf("the new run is not shown: %v", err)
		}
		if !yes(t, ctx, `document.getElementById("pause").click(), document.getElementById("pause").getAttribute("aria-pressed") === "true"`) {
			t.Error("the page cannot be paused")
		}
	})
}

// axeScript is the accessibility checker that .ci/run fetches with npm.
func axeScript(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("..", "testdata", "axe", "node_modules", "axe-core", "axe.min.js"))
	if err == nil {
		return string(script)
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("axe-core is not there; .ci/run fetches it")
	}
	return ""
}

// accessible fails for each barrier that axe-core finds on the page.
func accessible(t *testing.T, ctx context.Context, name, axe string) {
	t.Helper()
	const check = `;axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(v => ({id: v.id, help: v.help, at: v.nodes.slice(0, 3).map(n => n.html.slice(0, 160))}))))`
	found, err := chromedp.Run(ctx, chromedp.Evaluate[string](axe+check, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: axe-core: %v", name, err)
	}
	var violations []struct {
		ID, Help string
		At       []string
	}
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Errorf("%s: %s (%s): %s", name, v.Help, v.ID, strings.Join(v.At, " | "))
	}
}
