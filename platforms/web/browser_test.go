package web_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
)

// open opens a tab. The browser reports each answer that refuses an input, such as the quote's, or a key; that is no
// fault.
func open(t *testing.T, w browsertest.Window) context.Context {
	t.Helper()
	w.Expected = func(text, address string) bool {
		return strings.Contains(text, "status of 422") || strings.Contains(text, "status of 401") || strings.HasSuffix(address, "/missing")
	}
	return browsertest.Open(t, w)
}

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
			ctx := open(t, browsertest.Window{Width: size.width, Height: size.height})
			browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/"), chromedp.WaitVisible(chromedp.CSS(".tools")))
			if !browsertest.Is(t, ctx, browsertest.Fits) {
				t.Error("the list is wider than the window")
			}
			list := browsertest.Text(t, ctx, "main")
			for _, tool := range h.reg.Snapshot().Public() {
				if !strings.Contains(list, tool.DisplayName) {
					t.Errorf("%s is not in the list", tool.DisplayName)
				}
			}
			browsertest.Shot(t, ctx, "tools-"+size.name)

			browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS(`a[href="/tool/wallpaper"]`)), chromedp.WaitVisible(chromedp.CSS("#inputs")))
			if !browsertest.Is(t, ctx, browsertest.Fits) {
				t.Error("the form is wider than the window")
			}
			for _, f := range wallpaperInputs(h) {
				if !browsertest.Is(t, ctx, `!!document.querySelector('#inputs [name="`+f+`"]')`) {
					t.Errorf("the form has no field %s", f)
				}
			}
			if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`document.getElementById("quote").textContent.includes("$")`)); err != nil {
				t.Errorf("no price before the run: %v", err)
			}
			browsertest.Shot(t, ctx, "form-"+size.name)
			browsertest.Do(t, ctx,
				chromedp.SetValue(chromedp.CSS(`[name=width]`), "320"), chromedp.SetValue(chromedp.CSS(`[name=height]`), "200"),
				chromedp.Click(chromedp.CSS("#start")), chromedp.WaitVisible(chromedp.CSS(".results img")))
			if _, err := chromedp.Run(ctx, chromedp.Poll[bool](loaded)); err != nil {
				t.Fatalf("the result is not shown: %v", err)
			}
			browsertest.Becomes(t, ctx, `["done", "$", "Receipt", "drawn by chance"].every(part => document.querySelector(".details")?.innerText.includes(part))`)
			if !browsertest.Is(t, ctx, browsertest.Fits) {
				t.Error("the result is wider than the window")
			}
			browsertest.Shot(t, ctx, "result-"+size.name)

			browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/history"), chromedp.WaitVisible(chromedp.CSS(".runcard")))
			if balance := browsertest.Text(t, ctx, "#balance strong"); balance == "$1.00" {
				t.Error("the balance did not change")
			}
			browsertest.Shot(t, ctx, "history-"+size.name)
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
	ctx := open(t, browsertest.Window{Width: 1000, Height: 800})
	file := filepath.Join(t.TempDir(), "photo.png")
	if err := os.WriteFile(file, photo(t), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("A36 a picture is asked for, taken and worked on", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/beforeafter"), chromedp.WaitVisible(chromedp.CSS("#inputs")),
			chromedp.SetUploadFiles(chromedp.CSS(`[name=image]`), []string{file}),
			chromedp.Click(chromedp.CSS("#start")), chromedp.WaitVisible(chromedp.CSS(".results img")))
		if _, err := chromedp.Run(ctx, chromedp.Poll[bool](loaded)); err != nil {
			t.Error(err)
		}
		if !browsertest.Is(t, ctx, `document.querySelectorAll(".results figure").length === 2`) {
			t.Error("a tool with two results shows another number of them")
		}
	})
	t.Run("A18 a value out of range comes back with its reason, the rest is kept", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/wallpaper"), chromedp.WaitVisible(chromedp.CSS("#inputs")),
			chromedp.SetValue(chromedp.CSS(`[name=colors]`), "100000"), chromedp.SetValue(chromedp.CSS(`[name=width]`), "333"),
			chromedp.Click(chromedp.CSS("#start")), chromedp.WaitVisible(chromedp.CSS(".field.wrong")))
		if got := browsertest.Text(t, ctx, ".field.wrong .problem"); !strings.Contains(got, "64") {
			t.Errorf("the reason reads %q, expected the allowed range", got)
		}
		if !browsertest.Is(t, ctx, `document.querySelector("[name=width]").value === "333"`) {
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
