package web_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// browser opens a tab of headless Chromium at a window size. What the page logs as an error fails the
// test.
func browser(t *testing.T, width, height int64) context.Context {
	t.Helper()
	program := chromium(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("force-prefers-reduced-motion", true)) // pictures are taken of the end, not of a fade
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	tab, closeTab := chromedp.NewContext(allocator)
	var reading sync.WaitGroup
	t.Cleanup(func() {
		closeTab()
		stop()
		reading.Wait()
	})
	if err := chromedp.Do(tab, chromedp.EmulateViewport(width, height)); err != nil {
		t.Fatalf("starting %s: %v", program, err)
	}
	console := chromedp.Console(tab)
	reading.Go(func() {
		for m, err := range console {
			// The browser reports each answer that refuses an input, such as the quote's, or a key; that is no fault.
			refusal := strings.Contains(m.Text, "status of 422") || strings.Contains(m.Text, "status of 401") || strings.HasSuffix(m.URL, "/missing")
			if err == nil && !refusal && (m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleException) {
				t.Errorf("the page reports: %s (%s)", m.Text, m.URL)
			}
		}
	})
	ctx, cancel := context.WithTimeout(tab, 3*time.Minute)
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
	const advice = "no Chromium on this machine; install the package chromium"
	if os.Getenv("CI") == "true" {
		t.Fatal(advice)
	}
	t.Skip(advice)
	return ""
}

// keepShot stores a picture of the page where SCREENSHOTS_DIR says, for people to look at.
func keepShot(t *testing.T, ctx context.Context, name string) {
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
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, ctx context.Context, selector string) string {
	t.Helper()
	s, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(selector)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func yes(t *testing.T, ctx context.Context, script string) bool {
	t.Helper()
	ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script))
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// fits tells whether nothing of the page sticks out sideways.
const fits = `document.documentElement.scrollWidth <= window.innerWidth`

// loaded tells whether every result picture was decoded.
const loaded = `[...document.querySelectorAll(".results img")].length > 0 && [...document.querySelectorAll(".results img")].every(i => i.complete && i.naturalWidth > 0)`

func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	sizes := []struct {
		name          string
		width, height int64
	}{{"phone", 390, 844}, {"desktop", 1280, 900}}
	for _, size := range sizes {
		t.Run("A50 A61 from the list over the form to the result, on a "+size.name, func(t *testing.T) {
			t.Parallel()
			ctx := browser(t, size.width, size.height)
			must(t, ctx, chromedp.Navigate(h.url+"/"), chromedp.WaitVisible(chromedp.CSS(".tools")))
			if !yes(t, ctx, fits) {
				t.Error("the list is wider than the window")
			}
			list := text(t, ctx, "main")
			for _, tool := range h.reg.Snapshot().Public() {
				if !strings.Contains(list, tool.DisplayName) {
					t.Errorf("%s is not in the list", tool.DisplayName)
				}
			}
			keepShot(t, ctx, "tools-"+size.name)

			must(t, ctx, chromedp.Click(chromedp.CSS(`a[href="/tool/wallpaper"]`)), chromedp.WaitVisible(chromedp.CSS("#inputs")))
			if !yes(t, ctx, fits) {
				t.Error("the form is wider than the window")
			}
			for _, f := range wallpaperInputs(h) {
				if !yes(t, ctx, `!!document.querySelector('#inputs [name="`+f+`"]')`) {
					t.Errorf("the form has no field %s", f)
				}
			}
			if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`document.getElementById("quote").textContent.includes("$")`)); err != nil {
				t.Errorf("no price before the run: %v", err)
			}
			keepShot(t, ctx, "form-"+size.name)
			must(t, ctx,
				chromedp.SetValue(chromedp.CSS(`[name=width]`), "320"), chromedp.SetValue(chromedp.CSS(`[name=height]`), "200"),
				chromedp.Click(chromedp.CSS("#start")), chromedp.WaitVisible(chromedp.CSS(".results img")))
			if _, err := chromedp.Run(ctx, chromedp.Poll[bool](loaded)); err != nil {
				t.Fatalf("the result is not shown: %v", err)
			}
			if end := text(t, ctx, ".details"); !strings.Contains(end, "done") || !strings.Contains(end, "$") {
				t.Errorf("the end reads %q", end)
			}
			if details := text(t, ctx, ".details"); !strings.Contains(details, "Receipt") || !strings.Contains(details, "drawn by chance") {
				t.Errorf("the details read %q", details)
			}
			if !yes(t, ctx, fits) {
				t.Error("the result is wider than the window")
			}
			keepShot(t, ctx, "result-"+size.name)

			must(t, ctx, chromedp.Navigate(h.url+"/history"), chromedp.WaitVisible(chromedp.CSS(".runcard")))
			if balance := text(t, ctx, "#balance strong"); balance == "$1.00" {
				t.Error("the balance did not change")
			}
			keepShot(t, ctx, "history-"+size.name)
		})
	}
}

func wallpaperInputs(h *house) []string {
	var names []string
	if tool, ok := h.reg.Snapshot().ByID("wallpaper"); ok {
		for _, f := range tool.InputSchema {
			names = append(names, f.Name)
		}
	}
	return names
}

func TestPageTakesFilesAndExplainsMistakes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := browser(t, 1000, 800)
	file := filepath.Join(t.TempDir(), "photo.png")
	if err := os.WriteFile(file, photo(t), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("A36 a picture is asked for, taken and worked on", func(t *testing.T) {
		must(t, ctx, chromedp.Navigate(h.url+"/tool/beforeafter"), chromedp.WaitVisible(chromedp.CSS("#inputs")),
			chromedp.SetUploadFiles(chromedp.CSS(`[name=image]`), []string{file}),
			chromedp.Click(chromedp.CSS("#start")), chromedp.WaitVisible(chromedp.CSS(".results img")))
		if _, err := chromedp.Run(ctx, chromedp.Poll[bool](loaded)); err != nil {
			t.Error(err)
		}
		if !yes(t, ctx, `document.querySelectorAll(".results figure").length === 2`) {
			t.Error("a tool with two results shows another number of them")
		}
	})
	t.Run("A18 a value out of range comes back with its reason, the rest is kept", func(t *testing.T) {
		must(t, ctx, chromedp.Navigate(h.url+"/tool/wallpaper"), chromedp.WaitVisible(chromedp.CSS("#inputs")),
			chromedp.SetValue(chromedp.CSS(`[name=colors]`), "100000"), chromedp.SetValue(chromedp.CSS(`[name=width]`), "333"),
			chromedp.Click(chromedp.CSS("#start")), chromedp.WaitVisible(chromedp.CSS(".field.wrong")))
		if got := text(t, ctx, ".field.wrong .problem"); !strings.Contains(got, "64") {
			t.Errorf("the reason reads %q, expected the allowed range", got)
		}
		if !yes(t, ctx, `document.querySelector("[name=width]").value === "333"`) {
			t.Error("what was typed elsewhere is gone")
		}
	})
	t.Run("the basic flow works without JavaScript", func(t *testing.T) {
		v := h.visitor()
		v.do("GET", "/", "", nil)
		res := v.do("POST", "/tool/wallpaper", "application/x-www-form-urlencoded", strings.NewReader("width=64&height=64"))
		location := res.Header.Get("Location")
		if res.StatusCode != 303 || !strings.HasPrefix(location, "/run/") {
			t.Fatalf("status %d to %q", res.StatusCode, location)
		}
		v.finished(strings.TrimPrefix(location, "/run/"))
		page := v.do("GET", location, "", nil)
		if page.StatusCode != 200 || !strings.Contains(readAll(t, page.Body), `class="results"`) {
			t.Error("the finished page has no results")
		}
	})
}
