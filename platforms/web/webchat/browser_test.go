package webchat_test

import (
	"context"
	"fmt"
	"image/color"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/platforms/chat/chattest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// press presses the button with that label under the last message that has it.
func press(t *testing.T, ctx context.Context, label string) {
	t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll("#log .keys button")].findLast(b => b.textContent === %q)`, label)
	browsertest.Becomes(t, ctx, "!!"+find)
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](find+`.click() ?? true`)); err != nil {
		t.Fatal(err)
	}
}

func TestConversationInABrowser(t *testing.T) {
	t.Parallel()
	for _, size := range []struct {
		name          string
		width, height int64
	}{{"phone", 390, 844}, {"desktop", 1280, 900}} {
		t.Run("from a command to the result and its settings, on a "+size.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			w := chattest.NewWorld(t, h, chattest.Tools()...)
			ctx := browsertest.Open(t, browsertest.Window{Width: size.width, Height: size.height})
			shot := func(name string) {
				t.Helper()
				browsertest.Becomes(t, ctx, browsertest.Fits)
				browsertest.Accessible(t, ctx, name)
				browsertest.WindowShot(t, ctx, "chat-"+name+"-"+size.name)
			}
			browsertest.Do(t, ctx, chromedp.Navigate(h.server.URL+"/chat"), chromedp.WaitVisible(chromedp.CSS("#say")))
			shot("empty")

			browsertest.Do(t, ctx, chromedp.SendKeys(chromedp.CSS("#say"), "/pain"), chromedp.WaitVisible(chromedp.CSS("#offers [role=option]")))
			shot("offers")
			browsertest.Do(t, ctx, chromedp.SendKeys(chromedp.CSS("#say"), "ter a red bicycle in the rain steps=7"), chromedp.Click(chromedp.CSS("#send")))
			c := w.Call(0)
			w.Progress(c, registry.Progress{State: registry.RunRunning, Stage: "Sampling", Fraction: 0.42, HasFraction: true})
			browsertest.Becomes(t, ctx, `document.getElementById("log").innerText.includes("42 %")`)
			shot("progress")

			picture := chattest.Picture(512, 384, color.NRGBA{R: 30, G: 110, B: 90, A: 255})
			output := registrytest.File("picture", "image", registry.MediaInfo{Name: "picture.png", MIMEType: "image/png", Width: 512, Height: 384}, picture)
			w.Succeed(c, output)
			browsertest.Becomes(t, ctx, `[...document.querySelectorAll("#log img")].some(i => i.complete && i.naturalWidth === 512)`)
			browsertest.Becomes(t, ctx, `[...document.querySelectorAll("#log article")].length === 2`)
			shot("result")

			press(t, ctx, "Settings")
			browsertest.Becomes(t, ctx, `document.getElementById("log").innerText.includes("Settings · Painter")`)
			press(t, ctx, "More settings")
			browsertest.Do(t, ctx, chromedp.WaitVisible(chromedp.CSS("dialog[open] input[name='field.steps']")))
			shot("dialog")
			browsertest.Do(t, ctx, chromedp.SetValue(chromedp.CSS("dialog[open] input[name='field.steps']"), "33"), chromedp.Click(chromedp.CSS("dialog[open] button.primary")))
			browsertest.Becomes(t, ctx, `document.getElementById("log").innerText.includes("33") && !document.querySelector("dialog[open]")`)
			shot("settings")

			file := filepath.Join(t.TempDir(), strings.Repeat("holiday_in_", 6)+"photo.png")
			if err := os.WriteFile(file, picture, 0o644); err != nil {
				t.Fatal(err)
			}
			browsertest.Do(t, ctx, chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{file}), chromedp.SetValue(chromedp.CSS("#say"), "/enlarge"))
			browsertest.Becomes(t, ctx, `document.getElementById("picked").innerText.includes("photo.png")`)
			shot("file")
			browsertest.Do(t, ctx, chromedp.EmulateViewport(320, 460), chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{file, file, file}),
				chromedp.SetValue(chromedp.CSS("#say"), "/"), chromedp.SendKeys(chromedp.CSS("#say"), "p"), chromedp.WaitVisible(chromedp.CSS("#offers [role=option]")))
			browsertest.Becomes(t, ctx, browsertest.Fits) // what one types stays in sight, whatever is offered and added above it
			browsertest.Becomes(t, ctx, `(() => { scrollTo(0, 0); const r = document.getElementById("say").getBoundingClientRect();
				return r.top >= 0 && document.elementFromPoint(r.x + 30, r.bottom - 10)?.id === "say"; })()`)
			browsertest.Do(t, ctx, chromedp.EmulateViewport(size.width, size.height), chromedp.SetUploadFiles(chromedp.CSS("#files"), []string{file}), chromedp.SetValue(chromedp.CSS("#say"), "/enlarge"))
			browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#send")))
			browsertest.Becomes(t, ctx, `document.querySelectorAll("#log .mine").length === 2`)
			if got := w.Call(1); got.Tool.ToolID != "enlarge" {
				t.Errorf("the file went to %+v", got)
			}
			press(t, ctx, "Cancel")
			browsertest.Becomes(t, ctx, `document.getElementById("log").innerText.includes("Canceled")`)
			shot("canceled")

			for n := range 4 { // a drawing: each change edits the message of the first one, and is looked at there
				browsertest.Do(t, ctx, chromedp.SetValue(chromedp.CSS("#say"), fmt.Sprintf("/painter change %d", n)), chromedp.Click(chromedp.CSS("#send")))
				output.Subject = registry.Subject{ID: "drawing", Version: int64(n + 1)}
				w.Succeed(w.Call(n+2), output)
				browsertest.Becomes(t, ctx, fmt.Sprintf(`(() => { const r = [...document.querySelectorAll("#log .files")].at(-1).getBoundingClientRect();
					return [...document.querySelectorAll("#log .said:not(.mine)")].at(-1).innerText.includes("change %d") && r.top >= 0 && r.bottom <= document.getElementById("composer").getBoundingClientRect().top; })()`, n))
			}
			shot("changed")
		})
	}
}

func TestConversationWithoutScript(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	w := chattest.NewWorld(t, h, chattest.Tools()...)
	anna := chattest.Person{ID: "1001", Name: "Anna", Language: "en"}
	room, b := h.Private(anna), h.browser(anna)
	send := func(path string, pairs ...string) (page string) {
		t.Helper()
		form := url.Values{"csrf__token": {b.csrf(t)}}
		for i := 0; i < len(pairs); i += 2 {
			form.Add(pairs[i], pairs[i+1])
		}
		req, err := http.NewRequest(http.MethodPost, h.server.URL+path, strings.NewReader(form.Encode()))
		check(err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Accept", "text/html")
		res, err := b.http.Do(req)
		check(err)
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK || res.Request.URL.Path != "/chat" && res.Request.Method == http.MethodGet {
			t.Fatalf("%s leads to %s %s", path, res.Status, res.Request.URL)
		}
		var text strings.Builder
		buffer := make([]byte, 32<<10)
		for n := 1; n > 0; {
			n, _ = res.Body.Read(buffer)
			text.Write(buffer[:n])
		}
		return text.String()
	}
	t.Run("what was said stands on the page", func(t *testing.T) {
		if page := send("/chat/say", "text", "/painter a <red> bicycle"); !strings.Contains(page, "/painter a &lt;red&gt; bicycle") {
			t.Errorf("the page is\n%s", page)
		}
		w.Succeed(w.Call(0), chattest.PictureOutput("picture"))
		w.AwaitMedia(room, "Painter")
		w.Idle()
	})
	t.Run("a button's answer is shown", func(t *testing.T) {
		m := w.AwaitMedia(room, "Painter")
		if page := send("/chat/press", "message__", m.ID, "data", "nonsense"); !strings.Contains(page, "too old") {
			t.Errorf("the page is\n%s", page)
		}
	})
	t.Run("a dialog is a page", func(t *testing.T) {
		send("/chat/say", "text", "/settings painter")
		m := w.AwaitText(room, "Settings · Painter")
		key := regexp.MustCompile(`value="([^"]+)">More settings<`).FindStringSubmatch(string(b.get(t, "/chat", "text/html")))
		if key == nil {
			t.Fatal("the page has no such button")
		}
		page := send("/chat/press", "message__", m.ID, "data", key[1])
		data := regexp.MustCompile(`name="data__" value="([^"]+)"`).FindStringSubmatch(page)
		if data == nil || !strings.Contains(page, `name="field.steps"`) {
			t.Fatalf("the page is\n%s", page)
		}
		send("/chat/form", "message__", m.ID, "data__", data[1], "field.steps", "33")
		w.AwaitText(room, "Settings · Painter", "33")
	})
}

func TestTypingAfterADialog(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	w := chattest.NewWorld(t, h, chattest.Tools()...)
	ctx := browsertest.Open(t, browsertest.Window{Width: 1280, Height: 900})
	browsertest.Do(t, ctx, chromedp.Navigate(h.server.URL+"/chat"), chromedp.WaitVisible(chromedp.CSS("#say")))
	say := func(text string) {
		t.Helper()
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#say")), chromedp.KeyEvent(text))
		browsertest.Becomes(t, ctx, fmt.Sprintf(`document.getElementById("say").value === %q`, text))
	}
	open := func() {
		t.Helper()
		press(t, ctx, "More settings")
		browsertest.Do(t, ctx, chromedp.WaitVisible(chromedp.CSS("dialog[open] input[name='field.steps']")))
	}
	send := func(text string) {
		t.Helper()
		say(text)
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#send")))
		browsertest.Becomes(t, ctx, `document.getElementById("say").value === ""`)
	}
	send("/settings painter")
	open()
	browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("dialog[open] input[name='field.steps']")), chromedp.KeyEvent("3"), chromedp.Click(chromedp.CSS("dialog[open] button.primary")))
	browsertest.Becomes(t, ctx, `!document.querySelector("dialog")`)
	send("/painter one")
	if got := w.Call(0); got.Inputs["prompt"] != "one" {
		t.Errorf("what was typed after a dialog became %+v", got.Inputs)
	}
	open()
	browsertest.Do(t, ctx, chromedp.KeyEvent("\u001b"))
	browsertest.Becomes(t, ctx, `!document.querySelector("dialog")`)
	browsertest.Becomes(t, ctx, `document.activeElement.matches("#log button, #say")`) // the focus is where the dialog was opened, or where one types
	send("/poem two")
	if got := w.Call(1); got.Inputs["topic"] != "two" {
		t.Errorf("what was typed after Escape became %+v", got.Inputs)
	}

	// On a slow network one goes on typing while a message is on its way, and on a bad one its answer is lost.
	network := func(how string) {
		t.Helper()
		browsertest.Becomes(t, ctx, `(() => { const real = window.real ??= fetch;
			window.fetch = (to, ...more) => String(to).includes("/chat/say") ? (`+how+`)(() => real(to, ...more)) : real(to, ...more); return true; })()`)
	}
	arrives := func(n int, words, left string) {
		t.Helper()
		if got := w.Call(n); got.Inputs["topic"] != words {
			t.Errorf("%q became %+v", words, got.Inputs)
		}
		browsertest.Becomes(t, ctx, fmt.Sprintf(`document.getElementById("say").value === %q`, left))
	}
	network(`(go) => new Promise((done) => { window.arrive = () => go().then(done); })`)
	say("/poem three")
	browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#send")))
	browsertest.Becomes(t, ctx, `!!window.arrive`)
	browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#say")), chromedp.KeyEvent(" and four"))
	browsertest.Becomes(t, ctx, `(arrive(), true)`)
	arrives(2, "three", "/poem three and four")
	network(`(go) => go().then(() => { window.lost = true; throw new TypeError("the answer is lost"); })`)
	browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#send")))
	browsertest.Becomes(t, ctx, `!!window.lost && !document.getElementById("told").hidden`)
	arrives(3, "three and four", "/poem three and four")
	network(`(go) => go()`)
	browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#say")), chromedp.KeyEvent(" five"), chromedp.Click(chromedp.CSS("#send")))
	arrives(4, "three and four five", "")
}
