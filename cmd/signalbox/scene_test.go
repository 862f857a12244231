package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/signalbox/signalbox/internal/browsertest"
)

// drawn has the browser draw something by the API, and gives the drawing's id.
func drawn(t *testing.T, tab context.Context, words string) string {
	t.Helper()
	id, err := chromedp.Run(tab, chromedp.Evaluate[string](fmt.Sprintf(`(async () => {
		const headers = {"Content-Type": "application/json", "X-CSRF-Token": document.querySelector('meta[name="csrf-token"]').content, "Prefer": "wait=60"};
		const run = await fetch("/api/run/draw", {method: "POST", headers, body: JSON.stringify({inputs: {text: %q}})});
		if (!run.ok) return run.text();
		for (let i = 0; i < 200; i++) {
			const list = (await (await fetch("/api/scenes")).json()).scenes;
			if (list.length > 0) return list[0].id;
			await new Promise((done) => setTimeout(done, 100));
		}
		return "nothing was drawn";
	})()`, words), chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	if len(id) != 36 {
		t.Fatalf("draw: %s", id)
	}
	return id
}

// at is where a script's point of the drawing is in the window, as "x,y".
func at(t *testing.T, tab context.Context, selector string, dx, dy float64) (x, y float64) {
	t.Helper()
	said, err := chromedp.Run(tab, chromedp.Evaluate[string](fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center"}); const b = e.getBoundingClientRect(); return (b.x + b.width * %g) + "," + (b.y + b.height * %g); })()`, selector, dx, dy)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(strings.ReplaceAll(said, ",", " "), "%g %g", &x, &y); err != nil {
		t.Fatalf("%s: %v", selector, err)
	}
	return x, y
}

// dragged pulls what a selector finds by some pixels.
func dragged(t *testing.T, tab context.Context, selector string, byX, byY float64) {
	t.Helper()
	x, y := at(t, tab, selector, 0.5, 0.5)
	browsertest.Do(t, tab, chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent(chromedp.MouseMoved, x+byX/2, y+byY/2, chromedp.ButtonLeft), chromedp.MouseEvent(chromedp.MouseMoved, x+byX, y+byY, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, x+byX, y+byY, chromedp.ButtonLeft, chromedp.ClickCount(1)))
}

// touch is a finger on the glass.
func touch(kind input.DispatchTouchEventType, at ...float64) browsertest.Step {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		points := []*input.TouchPoint{}
		if len(at) == 2 {
			points = append(points, &input.TouchPoint{X: at[0], Y: at[1]})
		}
		_, err := cdp.Call(ctx, target, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
		return err
	})
}

// Shapes of the poster.
const (
	firstText = `.hit.text`
	garden    = `.hit[aria-label$='garden']`
)

// Value is a script for a number of the form beside the drawing.
func value(name string) string {
	return fmt.Sprintf(`Number(document.querySelector("#props [name=%s]").value)`, name)
}

func TestSceneOnThePage(t *testing.T) {
	t.Parallel()
	page := start(t)
	tab, stop := context.WithTimeout(browsertest.Open(t, browsertest.Window{Width: 1280, Height: 900}), 60*time.Second)
	defer stop()
	browsertest.Do(t, tab, chromedp.Navigate(page))
	id := drawn(t, tab, "poster for Friday: Summer party, 8 pm, garden")
	browsertest.Do(t, tab, chromedp.Navigate(page), chromedp.Click(chromedp.CSS(`nav a[href="/scenes"]`)), chromedp.WaitVisible(chromedp.CSS(".scenes a")))
	if !browsertest.Is(t, tab, `document.querySelector("nav a[aria-current]").getAttribute("href") === "/scenes"`) {
		t.Error("the navigation does not say that these are the drawings")
	}
	browsertest.Becomes(t, tab, `[...document.querySelectorAll(".scenes img")].every((i) => i.naturalWidth > 0)`)
	browsertest.Accessible(t, tab, "the list of drawings")
	browsertest.Shot(t, tab, "scenes")
	browsertest.Do(t, tab, chromedp.Click(chromedp.CSS(".scenes a")), chromedp.WaitVisible(chromedp.CSS(firstText)))
	ready := func() {
		t.Helper()
		browsertest.Becomes(t, tab, `document.querySelectorAll(".hit").length > 3`)
	}
	ready()
	remember := func(name string) float64 {
		t.Helper()
		v, err := chromedp.Run(tab, chromedp.Evaluate[float64](value(name)))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	key := func(keys string, m ...chromedp.Modifier) {
		t.Helper()
		browsertest.Do(t, tab, chromedp.KeyEvent(keys, chromedp.KeyModifiers(m...)))
	}

	t.Run("a click chooses, pulling moves, and undo takes it back", func(t *testing.T) {
		x, y := at(t, tab, firstText, 0.5, 0.5)
		browsertest.Do(t, tab, chromedp.MouseClickXY(x, y))
		browsertest.Becomes(t, tab, `document.querySelectorAll(".hit.on").length === 1`)
		browsertest.Accessible(t, tab, "a drawing with a chosen shape")
		browsertest.Shot(t, tab, "scene-1280")
		was := remember("x")
		dragged(t, tab, firstText, 40, 0)
		browsertest.Becomes(t, tab, fmt.Sprintf(`%s > %g`, value("x"), was+20))
		key("z", chromedp.ModifierCtrl)
		browsertest.Becomes(t, tab, fmt.Sprintf(`%s === %g`, value("x"), was))
		key("y", chromedp.ModifierCtrl)
		browsertest.Becomes(t, tab, fmt.Sprintf(`%s > %g`, value("x"), was+20))
	})
	t.Run("handles change the size and turn", func(t *testing.T) {
		was := remember("width")
		dragged(t, tab, `.handle[data-x="1"][data-y="1"]`, 30, 0)
		browsertest.Becomes(t, tab, fmt.Sprintf(`%s > %g`, value("width"), was+10))
		dragged(t, tab, `.handle.turn`, 60, 20)
		browsertest.Becomes(t, tab, value("rotation")+` > 5`)
	})
	t.Run("arrows move, Tab goes to the next shape, Escape lets go", func(t *testing.T) {
		was := remember("y")
		browsertest.Do(t, tab, chromedp.Focus(chromedp.CSS(".hit.on")))
		key(kb.ArrowDown)
		key(kb.ArrowDown, chromedp.ModifierShift)
		browsertest.Becomes(t, tab, fmt.Sprintf(`Math.abs(%s - %g) < 0.02`, value("y"), was+11))
		key(kb.Escape)
		browsertest.Becomes(t, tab, `document.querySelectorAll(".hit.on").length === 0`)
		key(kb.Tab)
		browsertest.Becomes(t, tab, `document.querySelectorAll(".hit.on").length === 1`)
	})
	t.Run("a frame pulled round shapes chooses them, a click with Shift lets one go", func(t *testing.T) {
		x, y := at(t, tab, "#stage", 0.03, 0.03)
		toX, toY := at(t, tab, "#stage", 0.97, 0.97)
		browsertest.Do(t, tab, chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)), chromedp.MouseEvent(chromedp.MouseMoved, (x+toX)/2, toY, chromedp.ButtonLeft),
			chromedp.MouseEvent(chromedp.MouseMoved, toX, toY, chromedp.ButtonLeft), chromedp.MouseEvent(chromedp.MouseReleased, toX, toY, chromedp.ButtonLeft, chromedp.ClickCount(1)))
		browsertest.Becomes(t, tab, `document.querySelectorAll(".hit.text.on").length >= 3`)
		x, y = at(t, tab, garden, 0.5, 0.5)
		browsertest.Do(t, tab, chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft, chromedp.ButtonModifiers(chromedp.ModifierShift), chromedp.ClickCount(1)),
			chromedp.MouseEvent(chromedp.MouseReleased, x, y, chromedp.ButtonLeft, chromedp.ButtonModifiers(chromedp.ModifierShift), chromedp.ClickCount(1)))
		browsertest.Becomes(t, tab, `document.querySelector(".hit[aria-label$='garden']").getAttribute("aria-pressed") === "false" && document.querySelectorAll(".hit.on").length > 1`)
	})
	t.Run("a text is edited in its place", func(t *testing.T) {
		x, y := at(t, tab, firstText, 0.5, 0.5)
		browsertest.Do(t, tab, chromedp.MouseClickXY(x, y), chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)), chromedp.WaitVisible(chromedp.CSS(".sheet textarea")))
		key("Winter ball")
		key(kb.Enter, chromedp.ModifierCtrl)
		browsertest.Becomes(t, tab, `document.querySelector("[aria-label='Winter ball']") !== null`)
	})
	t.Run("what is added is chosen, coloured, copied and deleted", func(t *testing.T) {
		count := `document.querySelectorAll(".hit").length`
		n, err := chromedp.Run(tab, chromedp.Evaluate[int](count))
		if err != nil {
			t.Fatal(err)
		}
		browsertest.Do(t, tab, chromedp.Click(chromedp.CSS(`[data-add="ellipse"]`)))
		browsertest.Becomes(t, tab, fmt.Sprintf(`%s === %d && document.querySelector(".hit.ellipse.on") !== null`, count, n+1))
		browsertest.Is(t, tab, `(() => { const c = document.querySelector("#props [name=color]"); c.value = "#ff0000"; c.dispatchEvent(new Event("change", {bubbles: true})); return true; })()`)
		browsertest.Becomes(t, tab, `document.querySelector(".sheet svg").innerHTML.includes("#FF0000")`)
		browsertest.Do(t, tab, chromedp.Click(chromedp.CSS(`[data-do="copy"]`)))
		browsertest.Becomes(t, tab, fmt.Sprintf(`%s === %d`, count, n+2))
		browsertest.Do(t, tab, chromedp.Focus(chromedp.CSS(".hit.on")))
		key(kb.Delete)
		browsertest.Becomes(t, tab, fmt.Sprintf(`%s === %d`, count, n+1))
	})
	t.Run("a board is laid out as a column with a gap, and not any more", func(t *testing.T) {
		tops := `[...document.querySelectorAll(".hit.text")].map((h) => h.getBoundingClientRect().x)`
		set := func(name, value string) {
			t.Helper()
			browsertest.Becomes(t, tab, fmt.Sprintf(`(() => { const e = document.querySelector("#props [name=%s]"); if (e.closest("label").hidden) return false; e.value = %q; e.dispatchEvent(new Event("change", {bubbles: true})); return true; })()`, name, value))
		}
		board := `document.querySelector(".hit.board")`
		browsertest.Becomes(t, tab, board+` !== null && (`+board+`.focus(), document.querySelectorAll(".hit.on").length === 1)`)
		set("layout", "column")
		set("gap", "12")
		browsertest.Becomes(t, tab, `(() => { const x = `+tops+`; return x.length > 2 && Math.max(...x) - Math.min(...x) < 2; })()`)
		key("z", chromedp.ModifierCtrl)
		key("z", chromedp.ModifierCtrl)
		browsertest.Becomes(t, tab, `document.querySelector("#props [name=layout]").value === "none"`)
	})
	t.Run("a picture among the results is put in", func(t *testing.T) {
		browsertest.Do(t, tab, chromedp.Navigate(page+"/scenes/"+id))
		ready()
		browsertest.Do(t, tab, chromedp.Click(chromedp.CSS(`[data-add="image"]`)), chromedp.WaitVisible(chromedp.CSS("#pictures [data-ref]")))
		browsertest.Becomes(t, tab, `document.querySelector("#pictures [data-ref] img").naturalWidth > 0`)
		browsertest.Do(t, tab, chromedp.Click(chromedp.CSS("#pictures [data-ref]")))
		browsertest.Becomes(t, tab, `document.querySelector(".sheet image") !== null`)
	})
	t.Run("what the chat changes is shown by itself", func(t *testing.T) {
		drawn(t, tab, "title: Autumn fair")
		browsertest.Becomes(t, tab, `document.querySelector("[aria-label$='Autumn fair']") !== null`)
	})
	t.Run("without a connection nothing looks changed, and what others did is shown when it is back", func(t *testing.T) {
		browsertest.Is(t, tab, `(window.connected = window.fetch, window.fetch = () => Promise.reject(new TypeError("no network")), true)`)
		dragged(t, tab, garden, 40, 0)
		browsertest.Becomes(t, tab, `document.getElementById("told").textContent === document.getElementById("scene").dataset.offline && !document.querySelector(".hit.on").getAttribute("transform")`)
		browsertest.Is(t, tab, `(window.fetch = window.connected, true)`)
		browsertest.Becomes(t, tab, `document.getElementById("told").textContent === ""`)
	})
	t.Run("it fits a narrow window and a dark one, and is there without script", func(t *testing.T) {
		browsertest.Do(t, tab, chromedp.EmulateViewport(browsertest.Phone.Width, browsertest.Phone.Height, chromedp.EmulateTouch), chromedp.Navigate(page+"/scenes"))
		browsertest.WindowShot(t, tab, "scenes-phone")
		if !browsertest.Is(t, tab, `[...document.querySelectorAll(".bar nav a")].every((a) => a.getBoundingClientRect().left >= 0 && a.getBoundingClientRect().right <= innerWidth)`) {
			t.Error("the navigation does not fit a phone")
		}
		browsertest.Do(t, tab, chromedp.EmulateViewport(320, 700, chromedp.EmulateTouch), browsertest.Dark(), chromedp.Navigate(page+"/scenes/"+id))
		ready()
		if !browsertest.Is(t, tab, browsertest.Fits) {
			t.Error("the page of a drawing is wider than a phone")
		}
		was, err := chromedp.Run(tab, chromedp.Evaluate[string](`document.querySelector(".hit[aria-label$='garden']").getAttribute("points")`))
		if err != nil {
			t.Fatal(err)
		}
		x, y := at(t, tab, garden, 0.5, 0.5)
		browsertest.Do(t, tab, touch(input.DispatchTouchEventTypeTouchStart, x, y), touch(input.DispatchTouchEventTypeTouchMove, x-20, y+10), touch(input.DispatchTouchEventTypeTouchMove, x-30, y+20), touch(input.DispatchTouchEventTypeTouchEnd))
		browsertest.Becomes(t, tab, fmt.Sprintf(` document.querySelector(".hit[aria-label$='garden']").getAttribute("points") !== %q`, was))
		browsertest.Accessible(t, tab, "a drawing on a dark phone")
		browsertest.Shot(t, tab, "scene-320-dark")
		browsertest.Do(t, tab, browsertest.WithoutScript(), chromedp.Navigate(page+"/scenes/"+id), chromedp.WaitVisible(chromedp.CSS("noscript img")))
	})
	t.Run("another's drawing is not there", func(t *testing.T) {
		r, err := http.Get(page + "/scenes/11111111-1111-4111-8111-111111111111")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusNotFound && r.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s", r.Status)
		}
	})
}
