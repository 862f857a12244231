package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// value puts a value into a field as a hand does.
func value(name, text string) string {
	return fmt.Sprintf(`(() => { const box = document.querySelector("#inputs [name=%s]"); box.value = %q; box.dispatchEvent(new Event("input", {bubbles: true})); return true; })()`, name, text)
}

// ctrlEnter begins a try as soon as the price is that of what the form holds.
const ctrlEnter = `document.getElementById("quote").ariaBusy !== "true" && !document.getElementById("start").disabled && dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", ctrlKey: true}))`

// costsMore is what a person reads whose try was not begun, since it costs more than they were shown.
const costsMore = `document.getElementById("problem")?.textContent.includes("costs more than the price shown")`

// tried begins a try, once more where a price was learned since it was shown and the page says so, and waits for what shows that it was made.
func tried(t *testing.T, ctx context.Context, made string) {
	t.Helper()
	until(t, ctx, ctrlEnter)
	until(t, ctx, made+" || "+costsMore+" && "+ctrlEnter)
	until(t, ctx, made)
}

func TestPlayground(t *testing.T) {
	t.Parallel()
	h := newHouse(t, withExamples(t))
	window := browsertest.Desktop
	window.Expected = func(text, _ string) bool {
		return strings.Contains(text, "status of 422") || strings.Contains(text, "status of 409")
	} // mistakes, on purpose
	ctx := browsertest.Open(t, window)
	tiles := func(n int) string {
		return fmt.Sprintf(`document.querySelectorAll("#strip [data-try]").length === %d && document.querySelector("#run .results img")?.complete && document.querySelector("#run").dataset.final === "true"`, n)
	}
	t.Run("what is made appears beside the form, and nothing is left", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/wallpaper"), chromedp.WaitVisible(chromedp.CSS("#run figure img")))
		browsertest.Accessible(t, ctx, "playground with an example")
		until(t, ctx, `(document.marked = "stayed") && `+value("width", "320"))
		until(t, ctx, value("height", "200"))
		tried(t, ctx, tiles(1))
		until(t, ctx, value("colors", "9"))
		tried(t, ctx, tiles(2))
		until(t, ctx, `document.marked === "stayed" && location.pathname === "/tool/wallpaper" && location.search === "?run=" + document.querySelector("#strip [aria-current]").dataset.try`)
		browsertest.Accessible(t, ctx, "playground")
	})
	t.Run("the try before is named as what this one came from", func(t *testing.T) {
		until(t, ctx, `document.querySelector("#run .compare.over") !== null`)
	})
	t.Run("the way back leads to the try before", func(t *testing.T) {
		browsertest.Leave(t, ctx, `history.back()`)
		browsertest.Becomes(t, ctx, `document.querySelector("#strip [data-try]:last-child").hasAttribute("aria-current")`)
		until(t, ctx, `document.marked === "stayed"`)
	})
	t.Run("any two results are compared by a slider", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#pairing")), chromedp.Click(chromedp.CSS("#strip [data-try]:first-child")), chromedp.WaitVisible(chromedp.CSS("#paired.over")))
		until(t, ctx, `(() => { const r = document.querySelector("#paired input"); r.value = 30; r.dispatchEvent(new Event("input")); return document.querySelector("#paired").style.getPropertyValue("--at") === "30%" && document.getElementById("pairing").ariaPressed === "false"; })()`)
		browsertest.Accessible(t, ctx, "comparing")
		browsertest.WindowShot(t, ctx, "compare-desktop")
	})
	t.Run("a locked seed is that of the try that is shown, and the next try has it too", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("[data-lock=f-seed]")))
		until(t, ctx, `(document.seed = JSON.parse(document.getElementById("run").dataset.seeds).seed) === document.getElementById("f-seed").value && document.seed !== ""`)
		tried(t, ctx, tiles(3))
		until(t, ctx, `JSON.parse(document.getElementById("run").dataset.seeds).seed === document.seed`)
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("[data-lock=f-seed]")))
		until(t, ctx, `document.getElementById("f-seed").value === ""`)
	})
	t.Run("a ratio sets both sides", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS(".shapes button:first-child")))
		until(t, ctx, `(() => { const w = Number(document.getElementById("f-width").value), h = Number(document.getElementById("f-height").value); return Math.abs(w / h - 16 / 9) < 0.05 && document.querySelector(".shapes button").ariaPressed === "true"; })()`)
	})
	t.Run("the code of the call follows the form", func(t *testing.T) {
		browsertest.Becomes(t, ctx, `document.getElementById("code-curl").textContent.includes('"colors": 9') && document.getElementById("code-python").textContent.includes("/api/run/wallpaper")`)
	})
	t.Run("a mistake is told in the form, which keeps what stands in it", func(t *testing.T) {
		until(t, ctx, value("colors", "100000"))
		until(t, ctx, ctrlEnter)
		browsertest.Becomes(t, ctx, `document.querySelector(".field.wrong .problem")?.textContent.includes("64") && document.activeElement.id === "problem"`)
		until(t, ctx, `document.marked === "stayed" && document.querySelectorAll("#strip [data-try]").length === 3 && !document.getElementById("start").disabled`)
		until(t, ctx, value("colors", "5"))
		tried(t, ctx, tiles(4))
		until(t, ctx, `document.querySelector(".field.wrong") === null && document.getElementById("problem") === null`)
	})
	t.Run("again, of the result that is shown, is one more try", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("#run form[action$='/again'] button")))
		browsertest.Becomes(t, ctx, tiles(5))
		until(t, ctx, `document.marked === "stayed"`)
	})
	t.Run("without scripts a form leads to the run, and its address shows where the run is", func(t *testing.T) {
		v := h.reader()
		run := h.started(v, "wallpaper", url.Values{"width": {"64"}, "height": {"64"}})
		has(t, v.page("/tool/wallpaper?run="+run.ID), `href="/run/`+run.ID+`"`, `value="64"`)
	})
}

func TestPlaygroundAsksAgain(t *testing.T) {
	t.Parallel()
	h := newMarket(t)
	window := browsertest.Desktop
	window.Expected = func(text, _ string) bool { return strings.Contains(text, "status of 409") }
	ctx := browsertest.Open(t, window)
	t.Run("what costs more than the price shown is asked again, and the new price stands there", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/market"), chromedp.WaitVisible(chromedp.CSS("#quote")))
		until(t, ctx, value("prompt", "a pier"))
		browsertest.Becomes(t, ctx, `document.getElementById("quote").textContent === "$0.02" && document.getElementById("quote").ariaBusy !== "true"`)
		h.fake.SetPrice(registry.Price{CostUSD: "0.3"})
		until(t, ctx, value("prompt", "a castle")+` && dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", ctrlKey: true}))`) // before the new price is there
		browsertest.Becomes(t, ctx, costsMore+` && document.getElementById("quote").textContent === "$0.30"`)
		if n := len(h.fake.Calls()); n != 0 {
			t.Errorf("%d calls at a price that nobody saw", n)
		}
		tried(t, ctx, `document.getElementById("run").dataset.run !== undefined && document.getElementById("problem") === null`)
	})
	t.Run("a price that comes late is none of what the form holds by then", func(t *testing.T) {
		until(t, ctx, `document.getElementById("quote").ariaBusy !== "true"`)
		until(t, ctx, `(document.ask = window.fetch) && (window.fetch = async (address, options) => {
			window.fetch = document.ask;
			const answer = await fetch(address, options);
			await new Promise((late) => { document.late = late; });
			return answer;
		})`)
		until(t, ctx, value("prompt", "a moat"))
		until(t, ctx, `document.late`)
		h.fake.SetPrice(registry.Price{CostUSD: "0.4"})
		until(t, ctx, value("prompt", "a drawbridge")+` && new MutationObserver((_, watcher) => {
			const quote = document.getElementById("quote");
			if (quote.ariaBusy === "true") return;
			document.first = quote.textContent; // that counts
			watcher.disconnect();
		}).observe(document.getElementById("quote"), {attributes: true}) === undefined && document.late() === undefined`)
		until(t, ctx, `document.first`)
		until(t, ctx, `document.first === "$0.40"`)
	})
}

func TestPlaygroundFits(t *testing.T) {
	t.Parallel()
	h := newLived(t)
	ctx := open(t, browsertest.Desktop)
	for _, tool := range []string{"wallpaper", "studio"} {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/"+tool), chromedp.WaitVisible(chromedp.CSS("#strip [aria-current]")))
		atEveryWidth(t, ctx, "play-"+tool)
	}
}

// atEveryWidth holds that a page fits and is accessible on small and large windows.
func atEveryWidth(t *testing.T, ctx context.Context, page string) {
	t.Helper()
	for _, width := range []int64{320, 768, 1280} {
		browsertest.Do(t, ctx, chromedp.EmulateViewport(width, 860))
		if !browsertest.Is(t, ctx, browsertest.Fits) {
			t.Errorf("%s is wider than a window of %d", page, width)
		}
		browsertest.Accessible(t, ctx, page)
		browsertest.Shot(t, ctx, fmt.Sprintf("%s-%d", page, width))
	}
}

func TestEarlierTexts(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	v := h.reader()
	h.started(v, "studio", url.Values{"prompt": {"a lamp"}})
	h.started(v, "studio", url.Values{"prompt": {"a <pier>"}})
	h.started(v, "studio", url.Values{"prompt": {"a lamp"}})
	t.Run("what was said before can be said again, each text once", func(t *testing.T) {
		page := v.page("/tool/studio")
		has(t, page, ">a lamp</button>", "a &lt;pier&gt;</button>")
		if n := strings.Count(page, ">a lamp</button>"); n != 1 {
			t.Errorf("it is there %d times", n)
		}
		ctx := open(t, browsertest.Desktop)
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/studio"), chromedp.Click(chromedp.CSS(".earlier summary")), chromedp.Click(chromedp.CSS(".earlier li:last-child button")))
		until(t, ctx, `document.getElementById("f-prompt").value === "a <pier>" && !document.querySelector(".earlier").open`)
	})
	t.Run("the texts of others are not", func(t *testing.T) {
		other := newHouse(t, public(t, "https://127.0.0.1"))
		other.fakes.Set(studio())
		if _, err := other.reg.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		other.fake.Answer(func(registry.Call) (registry.Result, *registry.Error) { return studioResult(t), nil })
		ann, ben := other.visitor(), other.visitor()
		ann.form("/signin", url.Values{"key": {other.developer("ann").key}})
		ben.form("/signin", url.Values{"key": {other.developer("ben").key}})
		other.started(ann, "studio", url.Values{"prompt": {"a secret garden"}})
		has(t, ann.page("/tool/studio"), "a secret garden")
		if strings.Contains(ben.page("/tool/studio"), "a secret garden") {
			t.Error("ben reads what ann wrote")
		}
	})
}

func TestCodeOfACall(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	v := h.reader()
	t.Run("it has what differs from the tool's own values, and runs in a shell", func(t *testing.T) {
		form := url.Values{"prompt": {"it's a \"lamp\" & more"}, "steps": {"30"}, "style": {"photo"}, "seed": {"18446744073709551615"}}
		var price struct {
			Code []struct{ ID, Code string }
		}
		if err := json.NewDecoder(v.form("/tool/studio/price", form).Body).Decode(&price); err != nil {
			t.Fatal(err)
		}
		if len(price.Code) != 3 {
			t.Fatalf("%+v", price)
		}
		inputs := `{"prompt": "it's a \"lamp\" & more", "steps": 30, "seed": "18446744073709551615"}`
		has(t, price.Code[0].Code, h.url+"/api/run/studio", `-d '{"inputs": `+strings.ReplaceAll(inputs, "'", `'\''`)+`}'`)
		has(t, price.Code[2].Code, "const inputs = "+inputs)
		_, text, _ := strings.Cut(price.Code[1].Code, "json.loads(")
		text, _, _ = strings.Cut(text, ")\n")
		var python string
		if err := json.Unmarshal([]byte(text), &python); err != nil || python != inputs {
			t.Errorf("Python reads %q (%v)", python, err)
		}
		var run struct{ Status string }
		h.developer("ann").call("POST", "/api/run/studio", `{"inputs": `+inputs+`}`, &run)
		if run.Status == "" {
			t.Error("the call is refused")
		}
	})
	t.Run("what the form lacks is shown by an example", func(t *testing.T) {
		has(t, v.page("/tool/poster"), `{&#34;image&#34;: &#34;https://example.com/image&#34;}`)
	})
}

// retouch is a tool with a picture and a mask for it; cutout takes its mask within the picture.
func retouch() registry.Tool {
	return registrytest.Tool("retouch", func(t *registry.Tool) {
		t.InputSchema = registry.InputSchema{{Name: "photo", Type: registry.TypeImage, Required: true}, {Name: "mask", Type: registry.TypeImage, Required: true}}
	})
}

func cutout() registry.Tool {
	return registrytest.Tool("cutout", func(t *registry.Tool) {
		t.InputSchema = registry.InputSchema{{Name: "photo", Type: registry.TypeImage, Required: true, Mask: registry.MaskWithin}}
	})
}

func TestMaskEditor(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fakes.Set(retouch(), cutout())
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.fake.Answer(func(registry.Call) (registry.Result, *registry.Error) { return studioResult(t), nil })
	file := filepath.Join(t.TempDir(), "hills.png")
	if err := os.WriteFile(file, scene(t, 480, 320, 2), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx := open(t, browsertest.Desktop)
	t.Run("without a picture it says what to do first", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/retouch"), chromedp.Click(chromedp.CSS("[data-paint]")))
		until(t, ctx, `document.querySelector(".paint [role=status]").textContent.includes("Choose the picture first") && !document.getElementById("mask").open`)
	})
	t.Run("a stroke becomes white on black, of the picture's size", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.SetUploadFiles(chromedp.CSS(`[name=photo][type=file]`), []string{file}), chromedp.Click(chromedp.CSS("[data-paint]")), chromedp.WaitVisible(chromedp.CSS("#mask[open] canvas")))
		stroke(t, ctx, 0.25, 0.75)
		browsertest.Accessible(t, ctx, "mask editor")
		browsertest.WindowShot(t, ctx, "mask-desktop")
		img := h.sentMask(t, ctx, "retouch", "mask")
		expect(t, img, 240, 160, 255, 255) // under the stroke
		expect(t, img, 240, 20, 0, 255)
		expect(t, img, 10, 160, 0, 255)
	})
	t.Run("erased, inverted and undone", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("[data-paint]")), chromedp.WaitVisible(chromedp.CSS("#mask[open] canvas")), chromedp.Click(chromedp.CSS("[data-tool=erase]")))
		stroke(t, ctx, 0.6, 0.75)
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("[data-tool=invert]")), chromedp.Click(chromedp.CSS("[data-tool=clear]")), chromedp.Click(chromedp.CSS("[data-tool=undo]")))
		img := h.sentMask(t, ctx, "retouch", "mask")
		expect(t, img, 150, 160, 0, 255)   // the stroke of before, inverted
		expect(t, img, 330, 160, 255, 255) // erased, inverted
		expect(t, img, 240, 20, 255, 255)
	})
	t.Run("a soft edge is neither black nor white", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("[data-paint]")), chromedp.WaitVisible(chromedp.CSS("#mask[open] canvas")), chromedp.Click(chromedp.CSS("[data-tool=clear]")), chromedp.Click(chromedp.CSS("[data-tool=brush]")))
		until(t, ctx, `(() => { const f = document.getElementById("mask-feather"); f.value = 20; f.dispatchEvent(new Event("input")); return true; })()`)
		stroke(t, ctx, 0.25, 0.75)
		img := h.sentMask(t, ctx, "retouch", "mask")
		grey := 0
		for y := range 320 {
			if v := img.NRGBAAt(240, y).R; v > 20 && v < 235 {
				grey++
			}
		}
		if grey < 10 {
			t.Errorf("%d grey pixels across the stroke", grey)
		}
	})
	t.Run("a mask within the picture is its transparency, and keeps the colours below", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/cutout"), chromedp.SetUploadFiles(chromedp.CSS(`[name=photo][type=file]`), []string{file}),
			chromedp.Click(chromedp.CSS("[data-paint]")), chromedp.WaitVisible(chromedp.CSS("#mask[open] canvas")))
		stroke(t, ctx, 0.25, 0.75)
		img := h.sentMask(t, ctx, "cutout", "photo")
		original, err := png.Decode(strings.NewReader(string(scene(t, 480, 320, 2))))
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []struct {
			x, y  int
			alpha uint8
		}{{240, 160, 0}, {240, 20, 255}} {
			got := img.NRGBAAt(at.x, at.y)
			r, g, b, _ := original.At(at.x, at.y).RGBA()
			if got.A != at.alpha || got.R != uint8(r>>8) || got.G != uint8(g>>8) || got.B != uint8(b>>8) {
				t.Errorf("at %d, %d: found %v, expected the colours of the picture with alpha %d", at.x, at.y, got, at.alpha)
			}
		}
	})
	t.Run("the keyboard moves the brush, paints, changes its size and takes back, and says so", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/retouch"), chromedp.SetUploadFiles(chromedp.CSS(`[name=photo][type=file]`), []string{file}),
			chromedp.Click(chromedp.CSS("[data-paint]")), chromedp.WaitVisible(chromedp.CSS("#mask[open] canvas")), chromedp.Focus(chromedp.CSS("#mask-canvas")))
		press := func(says string, keys ...string) {
			t.Helper()
			for _, key := range keys {
				browsertest.Do(t, ctx, chromedp.KeyEvent(key))
			}
			until(t, ctx, fmt.Sprintf(`document.getElementById("mask-told").textContent.includes(%q)`, says))
		}
		press("40 % from the left, 50 % from the top", kb.ArrowLeft, kb.ArrowLeft, kb.ArrowLeft, kb.ArrowLeft, kb.ArrowLeft)
		press("Brush down. 40 %", " ")
		press("60 % from the left", slices.Repeat([]string{kb.ArrowRight}, 10)...)
		browsertest.WindowShot(t, ctx, "mask-keyboard")
		press("Brush up.", " ")
		press("65 % from the top", slices.Repeat([]string{kb.ArrowDown}, 5)...) // without a trace
		press("Size 28", "]")
		press("Size 20", "[", "[")
		press("Brush down. 60 %", " ", " ", " ") // down, up, down
		browsertest.Do(t, ctx, chromedp.KeyEvent("z", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
		press("Taken back.")
		browsertest.Accessible(t, ctx, "mask editor by keyboard")
		img := h.sentMask(t, ctx, "retouch", "mask")
		expect(t, img, 240, 160, 255, 255) // between the two ends
		expect(t, img, 100, 160, 0, 255)
		expect(t, img, 288, 208, 255, 255) // the one of two points that was not taken back
		expect(t, img, 288, 260, 0, 255)
	})
	t.Run("a pen paints as wide as it is pressed", func(t *testing.T) {
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/retouch"), chromedp.SetUploadFiles(chromedp.CSS(`[name=photo][type=file]`), []string{file}),
			chromedp.Click(chromedp.CSS("[data-paint]")), chromedp.WaitVisible(chromedp.CSS("#mask[open] canvas")))
		penPoint(t, ctx, 0.25, 0.1)
		penPoint(t, ctx, 0.75, 1)
		img := h.sentMask(t, ctx, "retouch", "mask")
		light, firm := widthAt(img, 120), widthAt(img, 360)
		if light < 10 || firm < 2*light {
			t.Errorf("pressed lightly it is %d pixels wide, firmly %d", light, firm)
		}
	})
	t.Run("it fits on a phone, and a finger paints", func(t *testing.T) {
		phone := open(t, browsertest.Window{Width: 320, Height: 640})
		browsertest.Do(t, phone, chromedp.EmulateViewport(320, 640, chromedp.EmulateMobile, chromedp.EmulateTouch), chromedp.Navigate(h.url+"/tool/cutout"),
			chromedp.SetUploadFiles(chromedp.CSS(`[name=photo][type=file]`), []string{file}), chromedp.Click(chromedp.CSS("[data-paint]")), chromedp.WaitVisible(chromedp.CSS("#mask[open] canvas")))
		if !browsertest.Is(t, phone, `document.getElementById("mask").scrollWidth <= innerWidth && document.querySelector("[data-tool=done]").getBoundingClientRect().bottom <= innerHeight`) {
			t.Error("the editor does not fit")
		}
		touch(t, phone)
		browsertest.WindowShot(t, phone, "mask-phone")
		until(t, phone, `(() => { const c = document.getElementById("mask-canvas"); return c.getContext("2d").getImageData(c.width / 2, c.height / 2, 1, 1).data[3] === 255; })()`)
	})
}

// stroke draws a level line through the middle of the canvas, from one share of its width to another.
func stroke(t *testing.T, ctx context.Context, from, to float64) {
	t.Helper()
	box := canvasBox(t, ctx)
	y := box.Y + box.Height/2
	browsertest.Do(t, ctx,
		chromedp.MouseEvent(chromedp.MousePressed, box.X+from*box.Width, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, box.X+(from+to)/2*box.Width, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, box.X+to*box.Width, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, box.X+to*box.Width, y, chromedp.ButtonLeft))
}

// touch puts a finger on the middle of the canvas and takes it away.
func touch(t *testing.T, ctx context.Context) {
	t.Helper()
	box := canvasBox(t, ctx)
	for _, event := range []input.DispatchTouchEventParams{
		{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: box.X + box.Width/2, Y: box.Y + box.Height/2}}},
		{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}},
	} {
		browsertest.Do(t, ctx, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
			_, err := cdp.Call(ctx, tab, input.DispatchTouchEvent, event)
			return err
		}))
	}
}

// penPoint touches the canvas with a pen, pressed by a share of what it can, and lifts it.
func penPoint(t *testing.T, ctx context.Context, at, force float64) {
	t.Helper()
	box := canvasBox(t, ctx)
	for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
		event := input.DispatchMouseEventParams{Type: kind, X: box.X + at*box.Width, Y: box.Y + box.Height/2, Button: input.MouseButtonLeft, ClickCount: 1, PointerType: input.DispatchMouseEventPointerTypePen, Force: force}
		browsertest.Do(t, ctx, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
			_, err := cdp.Call(ctx, tab, input.DispatchMouseEvent, event)
			return err
		}))
	}
}

// widthAt counts the white pixels of a mask in the column x.
func widthAt(img *image.NRGBA, x int) (n int) {
	for y := range img.Rect.Dy() {
		if img.NRGBAAt(x, y).R > 128 {
			n++
		}
	}
	return n
}

type box struct{ X, Y, Width, Height float64 }

func canvasBox(t *testing.T, ctx context.Context) box {
	t.Helper()
	b, err := chromedp.Run(ctx, chromedp.Evaluate[box](`document.getElementById("mask-canvas").getBoundingClientRect().toJSON()`))
	if err != nil || b.Width < 100 {
		t.Fatalf("the canvas is at %+v (%v)", b, err)
	}
	return b
}

// sentMask takes the mask, runs the tool and gives the picture that its service got.
func (h *house) sentMask(t *testing.T, ctx context.Context, tool, name string) *image.NRGBA {
	t.Helper()
	before := len(h.fake.Calls())
	browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS("[data-tool=done]")))
	browsertest.Becomes(t, ctx, `!document.getElementById("mask").open`)
	until(t, ctx, ctrlEnter)
	if err := h.fake.WaitFor(t.Context(), func() bool { return len(h.fake.Calls()) > before }); err != nil {
		t.Fatal(err)
	}
	call := h.fake.Calls()[before]
	if call.Tool.ToolID != tool {
		t.Fatalf("%s was called", call.Tool.ToolID)
	}
	ref, _ := call.Inputs[name].(string)
	content, _, err := h.runs.OpenMedia(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	img, err := png.Decode(content)
	if err != nil {
		t.Fatal(err)
	}
	straight, ok := img.(*image.NRGBA)
	if !ok || straight.Bounds() != image.Rect(0, 0, 480, 320) {
		t.Fatalf("found %T of %v, expected 480 by 320 with alpha", img, img.Bounds())
	}
	return straight
}

// expect holds a pixel against a grey and an alpha.
func expect(t *testing.T, img *image.NRGBA, x, y int, grey, alpha uint8) {
	t.Helper()
	if got := img.NRGBAAt(x, y); got.R != grey || got.G != grey || got.B != grey || got.A != alpha {
		t.Errorf("at %d, %d: found %v, expected grey %d with alpha %d", x, y, got, grey, alpha)
	}
}
