package web_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// look is a window that people have.
type look struct {
	name          string
	width, height int64
	dark, touch   bool
}

var looks = []look{
	{"phone", 390, 844, false, true},
	{"phone-dark", 390, 844, true, true},
	{"desktop", 1280, 860, false, false},
	{"desktop-dark", 1280, 860, true, false},
}

func (l look) open(t *testing.T) context.Context {
	t.Helper()
	ctx := open(t, browsertest.Window{Width: l.width, Height: l.height})
	if l.touch {
		browsertest.Do(t, ctx, chromedp.EmulateViewport(l.width, l.height, chromedp.EmulateMobile, chromedp.EmulateTouch))
	}
	if l.dark {
		browsertest.Do(t, ctx, browsertest.Dark())
	}
	return ctx
}

// lived is a house in which the local user has made a few things.
type lived struct {
	*house
	studioRun, posterRun, sketchRun, failedRun, shared string
}

func newLived(t *testing.T) lived {
	t.Helper()
	h := lived{house: newHouse(t)}
	h.fakes.Set(studio(), sketch())
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.fake.Answer(func(c registry.Call) (registry.Result, *registry.Error) {
		if strings.Contains(c.Inputs["prompt"].(string), "forbidden") {
			return registry.Result{}, registry.Errorf(registry.CodeRefused, "The provider's rules do not allow this one.")
		}
		return studioResult(t), nil
	})
	me, err := h.users.Identify(t.Context(), users.Identity{Platform: "web", ExternalID: "local", Name: "Local user"})
	if err != nil {
		t.Fatal(err)
	}
	picture, _, err := h.runs.PutMedia(t.Context(), me.ID, strings.NewReader(string(scene(t, 480, 360, 1))), "hills.png")
	if err != nil {
		t.Fatal(err)
	}
	h.posterRun = h.made(me, "filmlook", map[string]any{"image": picture})
	for seed := range 3 {
		h.made(me, "wallpaper", map[string]any{"width": 320, "height": 240, "seed": seed + 7})
	}
	h.studioRun = h.made(me, "studio", map[string]any{"prompt": "A lamp at the end of the pier, evening, the sea is calm"})
	h.failedRun = h.made(me, "studio", map[string]any{"prompt": "something forbidden"})
	h.fake.Answer(nil)
	run, err := h.runs.Accept(t.Context(), runs.Request{AccountID: me.ID, ToolID: "sketch", Values: argument(map[string]any{"prompt": "a boat"}), Origin: runs.Origin{Platform: "web"}})
	if err != nil {
		t.Fatal(err)
	}
	h.sketchRun = run.ID
	h.progress(run.ID)
	if err := h.users.SavePreset(t.Context(), me.ID, "studio", "Evening", map[string]any{"mood": "dreamy"}); err != nil {
		t.Fatal(err)
	}
	if err := h.users.SetPreference(t.Context(), me.ID, "studio", "style", "ink"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.users.MakeKey(t.Context(), me.ID, users.NewKey{Label: "Backup script"}); err != nil {
		t.Fatal(err)
	}
	v := h.visitor()
	v.do("GET", "/", "", nil)
	v.form("/run/"+h.posterRun+"/share", nil)
	page := readAll(t, v.do("GET", "/run/"+h.posterRun, "", nil).Body)
	_, rest, _ := strings.Cut(page, `id="link" readonly value="`)
	h.shared, _, _ = strings.Cut(rest, `"`)
	return h
}

func argument(inputs map[string]any) map[runs.Source]map[string]any {
	return map[runs.Source]map[string]any{runs.FromArgument: inputs}
}

// made runs a tool to its end.
func (h lived) made(me users.Account, toolID string, inputs map[string]any) string {
	h.t.Helper()
	run, err := h.runs.Accept(h.t.Context(), runs.Request{AccountID: me.ID, ToolID: toolID, Values: argument(inputs), Origin: runs.Origin{Platform: "web"}})
	if err != nil {
		h.t.Fatal(err)
	}
	states, cancel := h.runs.Subscribe(run.ID)
	defer cancel()
	for run = range states {
	}
	if !run.Status.Final() {
		h.t.Fatalf("%s did not end: %s", toolID, run.Status)
	}
	return run.ID
}

// progress waits until the provider has a run, and moves it half way.
func (h lived) progress(runID string) {
	h.t.Helper()
	states, cancel := h.runs.Subscribe(runID)
	defer cancel()
	for run := range states {
		if run.Status == runs.StatusSubmitted || run.Status == runs.StatusRunning {
			break
		}
	}
	half := registry.Progress{State: registry.RunRunning, Fraction: .45, HasFraction: true, Stage: "Drawing the lines", Preview: scene(h.t, 320, 240, 5)}
	if err := h.fake.Set(runID, half); err != nil {
		h.t.Fatal(err)
	}
}

func TestEveryPageForEverybody(t *testing.T) {
	t.Parallel()
	h := newLived(t)
	pages := []struct{ name, path, wait string }{
		{"tools", "/", ".tools"},
		{"tools-found", "/?q=postr", ".tools"},
		{"tools-none", "/?q=zzzzqqq", ".empty"},
		{"tool-wallpaper", "/tool/wallpaper", "#inputs"},
		{"tool-studio", "/tool/studio?preset=Evening", "#inputs"},
		{"tool-filled", "/tool/poster?use=" + h.studioRun + ".0", ".files img"},
		{"run-kinds", "/run/" + h.studioRun, ".results"},
		{"run-picture", "/run/" + h.posterRun, ".compare.over"},
		{"run-working", "/run/" + h.sketchRun, "#preview:not([hidden])"},
		{"run-failed", "/run/" + h.failedRun, ".problem"},
		{"history", "/history", ".runs"},
		{"history-none", "/history?tool=sticker", ".empty"},
		{"account", "/account", ".sheet"},
		{"prices", "/prices", "table"},
		{"buy", "/buy", ".panel"},
		{"developers", "/developers", "pre"},
		{"missing", "/run/missing", ".empty"},
		{"signin", "/signin", "main form"},
		{"link", "/link", "main form"},
		{"shared", strings.TrimPrefix(h.shared, h.url), ".results"},
	}
	for _, l := range looks {
		t.Run("A50 A61 every page fits, is readable and accessible on a "+l.name, func(t *testing.T) {
			t.Parallel()
			ctx := l.open(t)
			for _, page := range pages {
				browsertest.Do(t, ctx, chromedp.Navigate(h.url+page.path), chromedp.WaitVisible(chromedp.CSS(page.wait)))
				if !browsertest.Is(t, ctx, browsertest.Fits) {
					t.Errorf("%s is wider than the window", page.name)
				}
				if !browsertest.Is(t, ctx, `[...document.querySelectorAll(".command")].every(c => c.getClientRects().length === 1)`) {
					t.Errorf("%s breaks inside a command", page.name)
				}
				browsertest.Accessible(t, ctx, page.name)
				browsertest.Shot(t, ctx, page.name+"-"+l.name)
				if !browsertest.Is(t, ctx, longWords+" && "+browsertest.Fits) {
					t.Errorf("%s is wider than the window where a word is", page.name)
				}
			}
		})
	}
}

// longWords is a script that makes what a page says of tools and values one long word, such as an address in a description. What is
// written from right to left goes by its own letters.
const longWords = `[...document.querySelectorAll("main :is(h1, .lead, dd)")].filter((e) => !e.children.length)
	.every((e) => { e.textContent = "https://example.org/" + "W".repeat(200); return getComputedStyle(e).unicodeBidi === "plaintext"; })`

func TestWeightAndSpeed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := open(t, browsertest.Phone)
	for _, path := range []string{"/", "/tool/wallpaper"} {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+path), chromedp.WaitVisible(chromedp.CSS("main")))
		type figures struct{ Bytes, Interactive, Painted float64 }
		got, err := chromedp.Run(ctx, chromedp.Evaluate[figures](`(() => {
			const page = performance.getEntriesByType("navigation")[0];
			const parts = performance.getEntriesByType("resource").filter(e => e.initiatorType !== "img" || e.name.endsWith(".svg"));
			return {
				bytes: [page, ...parts].reduce((sum, e) => sum + e.encodedBodySize, 0),
				interactive: page.domContentLoadedEventEnd, // scripts of a module kind have run by then
				painted: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
			};
		})()`))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.1f KB compressed, interactive after %.0f ms, painted after %.0f ms", path, got.Bytes/1000, got.Interactive, got.Painted)
		if got.Bytes == 0 || got.Bytes > 100_000 {
			t.Errorf("%s: the first load has %.0f bytes, the limit is 100,000", path, got.Bytes)
		}
		if got.Interactive > 3000 {
			t.Errorf("%s: interactive after %.0f ms", path, got.Interactive)
		}
	}
}

func TestFormInABrowser(t *testing.T) {
	t.Parallel()
	h := newLived(t)
	ctx := open(t, browsertest.Window{Width: 1280, Height: 860})
	file := filepath.Join(t.TempDir(), "hills.png")
	if err := os.WriteFile(file, scene(t, 320, 240, 2), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("what is typed into the search is found in spite of a slip", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/"), chromedp.WaitVisible(chromedp.CSS(".tools")), chromedp.SendKeys(chromedp.CSS("#q"), "stiker"))
		until(t, ctx, `document.querySelectorAll(".tool").length === 1 && document.querySelector(".tool h3").textContent === "Sticker cut-out"`)
	})
	t.Run("the slider and its box say the same, a value goes back to the tool's own, the dice rolls a number in the seed's range", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/wallpaper"), chromedp.WaitVisible(chromedp.CSS("#f-colors")))
		until(t, ctx, `(() => { const r = document.querySelector("[data-for=f-colors]"); r.value = 12; r.dispatchEvent(new Event("input", {bubbles: true})); return document.getElementById("f-colors").value === "12"; })()`)
		until(t, ctx, `(() => { const b = document.querySelector(".field:has(#f-colors) .reset"); const shown = !b.hidden; b.click(); return shown && b.hidden && document.getElementById("f-colors").value === "6" && document.querySelector("[data-for=f-colors]").value === "6"; })()`)
		until(t, ctx, `(() => { document.querySelector("[data-dice=f-seed]").click(); return /^[0-9]+$/.test(document.getElementById("f-seed").value); })()`)
	})
	t.Run("the price follows the form", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/studio"), chromedp.WaitVisible(chromedp.CSS("#quote")))
		until(t, ctx, `document.getElementById("quote").textContent === "$0.02"`)
		until(t, ctx, `(() => { document.getElementById("quote").textContent = ""; document.getElementById("f-prompt").dispatchEvent(new Event("input", {bubbles: true})); return true; })()`)
		until(t, ctx, `document.getElementById("quote").textContent === "$0.02"`)
	})
	t.Run("files are dropped, shown, and taken out again", func(t *testing.T) {
		drop := `(() => { const data = new DataTransfer(); data.items.add(new File(["x"], "a.png", {type: "image/png"})); data.items.add(new File(["x"], "b.txt", {type: "text/plain"}));
			document.querySelector(".drop").dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: data}));
			return document.querySelectorAll(".files li").length === 1; })()`
		until(t, ctx, drop)
		paste := `(() => { const data = new DataTransfer(); data.items.add(new File(["x"], "c.png", {type: "image/png"}));
			dispatchEvent(new ClipboardEvent("paste", {bubbles: true, cancelable: true, clipboardData: data}));
			return document.querySelectorAll(".files li").length === 2; })()`
		until(t, ctx, paste)
		until(t, ctx, `(() => { document.querySelector("[data-remove]").click(); return document.querySelector(".files").textContent.includes("c.png") && document.querySelectorAll(".files li").length === 1; })()`)
	})
	t.Run("a file that was sent with a mistake elsewhere need not be sent again", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/poster"), chromedp.WaitVisible(chromedp.CSS("#inputs")),
			chromedp.SetUploadFiles(chromedp.CSS(`[name=image][type=file]`), []string{file}), chromedp.SetValue(chromedp.CSS("#f-inks"), "999"),
			chromedp.Click(chromedp.CSS("#start")), chromedp.WaitVisible(chromedp.CSS(".field.wrong")), chromedp.SetValue(chromedp.CSS("#f-inks"), "5"),
			chromedp.Click(chromedp.CSS("#start")), chromedp.WaitVisible(chromedp.CSS(".results img")))
	})
	t.Run("what has the focus is in sight, at 200 % and on a phone, beside the places and the price that stay there", func(t *testing.T) {
		for _, size := range [][2]int64{{640, 450}, {320, 640}} {
			for _, path := range []string{"/", "/tool/wallpaper", "/account"} {
				browsertest.Do(t, ctx, chromedp.EmulateViewport(size[0], size[1]), chromedp.Navigate(h.url+path), chromedp.WaitVisible(chromedp.CSS("main h1")))
				for range 30 {
					browsertest.Do(t, ctx, chromedp.KeyEvent("\t"))
					if !browsertest.Is(t, ctx, `(() => { const e = document.activeElement; if (e === document.body || e.closest("nav, .go")) return true;
						const r = e.getBoundingClientRect(), seen = document.elementFromPoint(r.left + r.width / 2, r.top + Math.min(r.height / 2, 30));
						return Boolean(seen) && !seen.closest("nav, .go"); })()`) {
						t.Errorf("%s in %d x %d hides %s", path, size[0], size[1], browsertest.Text(t, ctx, ":focus"))
					}
				}
			}
		}
	})
}

func TestRunInABrowser(t *testing.T) {
	t.Parallel()
	h := newLived(t)
	ctx := open(t, browsertest.Window{Width: 1280, Height: 860})
	t.Run("progress, preview and the end are shown as they happen", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/run/"+h.sketchRun), chromedp.WaitVisible(chromedp.CSS("#preview:not([hidden])")))
		until(t, ctx, `document.getElementById("bar").value === 45 && document.getElementById("stage").textContent.includes("Drawing the lines")`)
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("button.danger")), chromedp.WaitVisible(chromedp.CSS(".status.canceled")))
	})
	t.Run("the large view turns with the arrows and closes with Escape", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/run/"+h.posterRun), chromedp.WaitVisible(chromedp.CSS(".compare.over")), chromedp.Click(chromedp.CSS("a.view")), chromedp.WaitVisible(chromedp.CSS("dialog[open] img")))
		browsertest.Shot(t, ctx, "look-desktop")
		browsertest.Do(t, ctx, chromedp.KeyEvent("\u001b"))
		until(t, ctx, `!document.getElementById("look").open && document.activeElement.matches("a.view")`)
	})
	t.Run("the comparison follows its slider", func(t *testing.T) {
		until(t, ctx, `(() => { const r = document.querySelector(".compare input"); r.value = 20; r.dispatchEvent(new Event("input")); return document.querySelector(".compare").style.getPropertyValue("--at") === "20%"; })()`)
	})
	t.Run("a result goes on into another tool", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS(".menu summary")), chromedp.WaitVisible(chromedp.CSS(".menu ul a[href^='/tool/poster?use=']")))
		browsertest.Shot(t, ctx, "use-desktop")
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS(".menu ul a[href^='/tool/poster?use=']")), chromedp.WaitVisible(chromedp.CSS(".files img")),
			chromedp.Click(chromedp.CSS("#start")), chromedp.WaitVisible(chromedp.CSS(".results img")))
	})
}

// until waits for what a script tells.
func until(t *testing.T, ctx context.Context, script string) {
	t.Helper()
	browsertest.Becomes(t, ctx, script)
}

// form sends a form as a browser does.
func (c *client) form(path string, fields url.Values) *http.Response {
	c.t.Helper()
	return c.do("POST", path, "application/x-www-form-urlencoded", strings.NewReader(fields.Encode()))
}

func TestPagesSpeakTheReadersLanguage(t *testing.T) {
	t.Parallel()
	h := newLived(t)
	for lang, heading := range map[string]string{"de": "Was möchtest du machen?", "es": "¿Qué quieres crear?", "ru": "Что вы хотите создать?", "zh": "你想做点什么？"} {
		t.Run("every page fits and is accessible in "+lang, func(t *testing.T) {
			t.Parallel()
			ctx := looks[0].open(t)
			browsertest.Do(t, ctx, asksFor(lang), chromedp.Navigate(h.url+"/"), chromedp.WaitVisible(chromedp.CSS(".tools")))
			if got := browsertest.Text(t, ctx, "h1"); got != heading {
				t.Errorf("the heading reads %q, want %q", got, heading)
			}
			for _, path := range []string{"/", "/tool/studio?preset=Evening", "/run/" + h.studioRun, "/history?tool=studio", "/account"} {
				browsertest.Do(t, ctx, chromedp.Navigate(h.url+path), chromedp.WaitVisible(chromedp.CSS("main")))
				if !browsertest.Is(t, ctx, browsertest.Fits) || !browsertest.Is(t, ctx, `document.documentElement.lang === "`+lang+`"`) {
					t.Errorf("%s is wider than the window, or speaks another language", path)
				}
				browsertest.Accessible(t, ctx, path)
				browsertest.Shot(t, ctx, strings.ReplaceAll(strings.Split(strings.Trim(path, "/"), "/")[0]+"-"+lang, "?", ""))
			}
		})
	}
	t.Run("bot-ux 31 choices and results have their words in it", func(t *testing.T) {
		v := h.visitor()
		has(t, v.page("/tool/studio", "Accept-Language", "de"), "<span>Fotografie</span>", "<span>Ink</span>")
		has(t, v.page("/run/"+h.studioRun, "Accept-Language", "de"), "<dd>Fotografie", "<figcaption><span>Das Bild zur Szene")
		has(t, v.page("/run/"+h.studioRun, "Accept-Language", "es"), "<dd>Photo", "<figcaption><span>picture")
		has(t, v.page("/account", "Accept-Language", "de"), "Lokaler Nutzer")
	})
	t.Run("the language that somebody chose goes before their browser's", func(t *testing.T) {
		v := h.reader()
		has(t, v.page("/account", "Accept-Language", "de-CH, en;q=0.5"), `<html lang="de">`)
		v.form("/account/language", url.Values{"language": {"es"}})
		has(t, v.page("/account", "Accept-Language", "de"), `<html lang="es">`)
		v.form("/account/language", url.Values{"language": {""}})
		has(t, v.page("/account", "Accept-Language", "de"), `<html lang="de">`)
	})
}

// asksFor lets the browser ask for pages in a language.
func asksFor(lang string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": lang}})
		return err
	})
}
