package penpot

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/internal/clocktest"
)

// runtime is the folder where npm puts Penpot's runtime of plugins and its types.
const runtime = "testdata/runtime"

// needsRuntime skips a test where npm has not put them there; on a build server it fails.
func needsRuntime(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(runtime, "node_modules")); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("Penpot's runtime is missing, run npm ci in %s: %v", runtime, err)
		}
		t.Skipf("Penpot's runtime is missing, run npm ci in %s: %v", runtime, err)
	}
}

// TestPluginTypes checks the plugin by the types of Penpot's plugin API.
func TestPluginTypes(t *testing.T) {
	t.Parallel()
	needsRuntime(t)
	check := exec.CommandContext(t.Context(), "node", "node_modules/typescript/bin/tsc", "--project", "tsconfig.json")
	check.Dir = runtime
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// there is a Penpot in a tab that has our plugin open, paired with the account ann.
type there struct {
	t   *testing.T
	tab context.Context
	hub *Hub
}

// openPenpot loads the plugin by its manifest into Penpot's runtime, and types a code into its window. House and Penpot are two origins.
func openPenpot(t *testing.T) there {
	t.Helper()
	needsRuntime(t)
	hub, house := newServer(t)
	hub.wait = answerWait
	files := http.FileServer(http.Dir(runtime))
	server := httptest.NewServer(files)
	t.Cleanup(server.Close)
	p := there{t, browsertest.Open(t, browsertest.Desktop), hub}
	browsertest.Do(t, p.tab, chromedp.Navigate(server.URL+"/penpot.html?plugin="+url.QueryEscape(house+"/penpot/manifest.json")))
	browsertest.Becomes(t, p.tab, `window.loaded`)
	const field = `(() => { const r = document.querySelector("plugin-modal").shadowRoot.querySelector("iframe").getBoundingClientRect(); return [r.x, r.y]; })()`
	at, err := chromedp.Run(p.tab, chromedp.Evaluate[[]float64](field))
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Do(t, p.tab, chromedp.MouseClickXY(at[0]+100, at[1]+65), chromedp.KeyEvent("good\r"))
	clocktest.Until(t, "the plugin is paired", func() bool { return hub.of("ann") != nil })
	return p
}

// ask gives the plugin a message, and what it answered.
func (p there) ask(kind string, payload any) (map[string]any, error) {
	p.t.Helper()
	raw, err := p.hub.Ask(p.t.Context(), "ann", kind, payload)
	if err != nil {
		return nil, err
	}
	var answer map[string]any
	if err := json.Unmarshal(raw, &answer); err != nil {
		p.t.Fatal(err)
	}
	return answer, nil
}

// must is ask where it has to succeed.
func (p there) must(kind string, payload any) map[string]any {
	p.t.Helper()
	answer, err := p.ask(kind, payload)
	if err != nil {
		p.t.Fatalf("%s: %v", kind, err)
	}
	return answer
}

// is looks at the Penpot of the tab.
func (p there) is(what, script string) {
	p.t.Helper()
	if !browsertest.Is(p.t, p.tab, script) {
		p.t.Errorf("not so: %s", what)
	}
}

type in = map[string]any

// part is a shape as the house sends it, with what is given over it.
func part(id, kind, parent string, over in) in {
	s := in{"id": id, "type": kind, "name": id, "parent": parent, "x": 1, "y": 2, "width": 30, "height": 20, "rotation": 0, "opacity": 1, "blendMode": "normal",
		"fills": []any{in{"fillColor": "#FF0000", "fillOpacity": 1}}, "clipContent": true, "characters": "Hello", "fontFamily": "Inter", "fontSize": 20, "fontWeight": "700",
		"lineHeight": 1.2, "letterSpacing": 0, "fontStyle": "normal", "align": "left", "d": "M0 0L9 9"}
	maps.Copy(s, over)
	return s
}

// shapesOf is what GET_PROJECT_DATA tells of shapes, by their names.
func shapesOf(project in) map[string]in {
	byName := map[string]in{}
	for _, s := range project["shapes"].([]any) {
		byName[s.(in)["name"].(string)] = s.(in)
	}
	return byName
}

// TestPluginInPenpotsRuntime drives the plugin as Penpot does: in its sandbox, from another origin, over the WebSocket that it opens.
func TestPluginInPenpotsRuntime(t *testing.T) {
	t.Parallel()
	p := openPenpot(t)
	t.Run("E4 E16 E69 it answers each message, as one step to undo", func(t *testing.T) {
		if user := p.must("GET_USER_DATA", nil); user["name"] != "Ann" {
			t.Errorf("the user is %v", user)
		}
		if chosen := p.must("GET_SELECTED_SHAPES", nil); chosen["shapeIds"].([]any)[0] != "chosen" {
			t.Errorf("selected is %v", chosen)
		}
		if project := p.must("GET_PROJECT_DATA", nil); len(project["pages"].([]any)) != 1 {
			t.Errorf("the project is %v", project)
		}
		p.is("each was one block of history", "seen.open === 0 && seen.finished === 3")
		p.is("a stranger asks", `(window.postMessage({source: "other", messageId: "x", type: "GET_USER_DATA"}, "*"), true)`)
		p.must("GET_USER_DATA", nil) // it comes behind the stranger's
		p.is("strangers are ignored", "seen.finished === 4")
	})
	t.Run("E70 E72 a scene is drawn in its order, the last on top, with its looks", func(t *testing.T) {
		p.is("begun", "(seen.shapes.length = 0, true)")
		ids := p.must("DRAW_SCENE", in{"shapes": []any{part("b", "board", "", nil), part("r", "rectangle", "b", nil), part("g", "group", "b", nil), part("e", "ellipse", "g", nil), part("t", "text", "b", nil), part("p", "path", "b", nil)}})["ids"].(in)
		if len(ids) != 5 || ids["g"] != nil {
			t.Errorf("drawn are %v", ids)
		}
		p.is("in order", "seen.shapes[0].children.map((c) => c.type).join() === 'rectangle,ellipse,text,path'")
		p.is("with its size, and texts' numbers as texts", "seen.shapes[1].width === 30 && seen.shapes[3].fontSize === '20' && seen.shapes[3].lineHeight === '1.2' && seen.shapes[4].d === 'M0 0L9 9'")
		if one := p.must("DRAW_SHAPE", in{"shapeType": "rectangle", "params": part("x", "rectangle", "", nil)}); one["shapeId"] == "" {
			t.Errorf("one shape is %v", one)
		}
	})
	t.Run("E97 E93 flex and grid are laid out there, in the order of drawing, and read back", func(t *testing.T) {
		flex := in{"dir": "column", "wrap": "wrap", "rowGap": 8, "leftPadding": 4, "alignItems": "center", "horizontalSizing": "auto"}
		grid := in{"columns": []any{in{"type": "flex", "value": 1}, in{"type": "fixed", "value": 40}}, "justifyContent": "stretch"}
		p.is("begun", "(seen.shapes.length = 0, true)")
		p.must("DRAW_SCENE", in{"shapes": []any{
			part("flexed", "board", "", in{"layout": in{"flex": flex, "verticalSizing": "fix"}}),
			part("one", "rectangle", "flexed", in{"layout": in{"layoutChild": in{"horizontalSizing": "fill", "topMargin": 3}}}), part("two", "ellipse", "flexed", nil),
			part("cells", "board", "", in{"layout": in{"grid": grid}}), part("three", "rectangle", "cells", in{"layout": in{"layoutCell": in{"row": 2, "column": 1, "columnSpan": 2}}}),
		}})
		p.is("flex says how", "(([b]) => b.flex.dir === 'column' && b.flex.rowGap === 8 && b.flex.leftPadding === 4 && b.verticalSizing === 'fix')(seen.shapes)")
		p.is("what was drawn last comes first in the list, which is last in the flow", "seen.shapes[0].children.map((c) => c.name).join() === 'two,one'")
		p.is("a child says how it lies", "seen.shapes[1].layoutChild.horizontalSizing === 'fill' && seen.shapes[1].layoutChild.topMargin === 3 && seen.shapes[1].layoutCell === null")
		p.is("grid has its tracks and cells", "seen.shapes[3].grid.columns.length === 2 && seen.shapes[3].grid.columns[1].value === 40 && seen.shapes[4].layoutCell.row === 2 && seen.shapes[4].layoutCell.columnSpan === 2")
		back := shapesOf(p.must("GET_PROJECT_DATA", nil))
		layout := func(name string, keys ...string) any {
			v := back[name]["layout"]
			for _, key := range keys {
				v = v.(in)[key]
			}
			return v
		}
		if layout("flexed", "flex", "dir") != "column" || layout("one", "layoutChild", "horizontalSizing") != "fill" || layout("three", "layoutCell", "row") != 2.0 ||
			layout("cells", "grid", "columns").([]any)[1].(in)["type"] != "fixed" {
			t.Errorf("read back is %v", back)
		}
		_, err := p.ask("DRAW_SHAPE", in{"shapeType": "board", "params": part("x", "board", "", in{"layout": in{"flex": in{"dir": "diagonal"}}})})
		if err == nil || !strings.Contains(err.Error(), "dir") {
			t.Errorf("what is wrong is not refused: %v", err)
		}
	})
	t.Run("E70 what is turned over and turned is so there, and is read back so", func(t *testing.T) {
		p.must("DRAW_SCENE", in{"shapes": []any{part("over", "rectangle", "", in{"flipX": true, "rotation": 30}), part("twice", "text", "", in{"flipX": true, "flipY": true}), part("as it was", "board", "", nil)}})
		back := shapesOf(p.must("GET_PROJECT_DATA", nil))
		for name, want := range map[string][3]any{"over": {true, false, 30.0}, "twice": {true, true, 0.0}, "as it was": {false, false, 0.0}} {
			if s := back[name]; [3]any{s["flipX"], s["flipY"], s["rotation"]} != want {
				t.Errorf("%s is %v, want flipX, flipY and rotation %v", name, s, want)
			}
		}
	})
	t.Run("E68 what Penpot refuses is told, and the flags are as they were", func(t *testing.T) {
		_, err := p.ask("DRAW_SHAPE", in{"shapeType": "rectangle", "params": part("x", "rectangle", "", in{"opacity": 7})})
		if err == nil || !strings.Contains(err.Error(), "value is not valid: opacity") {
			t.Errorf("got %v", err)
		}
		if _, err := p.ask("MAKE_COFFEE", nil); err == nil || !strings.Contains(err.Error(), "MAKE_COFFEE") {
			t.Errorf("got %v", err)
		}
		p.is("the flags are as they were", "!seen.flags.throwValidationErrors && !seen.flags.naturalChildOrdering && seen.open === 0")
	})
	t.Run("a picture comes in parts, fills shapes, and is read back", func(t *testing.T) {
		picture := pngOf(t, 5, 3)
		if file := p.must("GET_FILE", nil); file["id"] != "f" {
			t.Errorf("the file is %v", file)
		}
		part1 := in{"upload": "1", "name": "Photo", "mtype": "image/png", "data": picture[:20]}
		if got := p.must("UPLOAD_PICTURE", part1); len(got) != 0 {
			t.Errorf("a first part gives %v", got)
		}
		p.must("UPLOAD_PICTURE", in{"upload": "broken off", "name": "Photo", "mtype": "image/png", "data": picture[:9]})
		p.must("UPLOAD_PICTURE", part1)
		media := p.must("UPLOAD_PICTURE", in{"upload": "1", "last": true, "name": "Photo", "mtype": "image/png", "data": picture[20:]})
		fill := func(id string) in { return in{"fills": []any{in{"fillOpacity": 0.5, "fillImage": in{"id": id}}}} }
		drawn := in{"file": "f", "pictures": in{"asset:1": media}, "shapes": []any{part("first", "rectangle", "", fill("asset:1")), part("second", "ellipse", "", fill("asset:1")), part("without", "ellipse", "", fill("asset:2"))}}
		p.must("DRAW_SCENE", drawn)
		var kept []byte
		raw, err := chromedp.Run(p.tab, chromedp.Evaluate[[]int]("seen.media.length === 1 ? [...seen.media[0].data] : []"))
		for _, b := range raw {
			kept = append(kept, byte(b))
		}
		if err != nil || !bytes.Equal(kept, picture) {
			t.Errorf("Penpot has %d bytes of it, %d were sent: %v", len(kept), len(picture), err)
		}
		back := shapesOf(p.must("GET_PROJECT_DATA", nil))
		first, second := back["first"]["fills"].([]any)[0].(in), back["second"]["fills"].([]any)[0].(in)
		shown := first["fillImage"].(in)
		if shown["width"] != 5.0 || shown["height"] != 3.0 || shown["mtype"] != "image/png" || shown["name"] != "Photo" || shown["keepAspectRatio"] != true || first["fillOpacity"] != 0.5 {
			t.Errorf("the fill is %v", first)
		}
		if second["fillImage"].(in)["id"] != shown["id"] || len(back["without"]["fills"].([]any)) != 0 {
			t.Errorf("the others are %v, %v", second, back["without"])
		}
		drawn["file"] = "another"
		p.is("begun", "(seen.shapes.length = 0, true)")
		if _, err := p.ask("DRAW_SCENE", drawn); err == nil || !strings.Contains(err.Error(), "another file") {
			t.Errorf("pictures of another file: %v", err)
		}
		p.is("nothing is drawn", "seen.shapes.length === 0")
	})
	t.Run("a picture that Penpot does not take is told", func(t *testing.T) {
		_, err := p.ask("UPLOAD_PICTURE", in{"upload": "2", "last": true, "name": "Photo", "mtype": "image/tiff", "data": []byte("II*")})
		if err == nil || !strings.Contains(err.Error(), "media") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("E138 while Penpot takes a picture it is told that this goes on", func(t *testing.T) {
		p.hub.wait = 2 * time.Second
		defer func() { p.hub.wait = answerWait }()
		p.is("seconds are short, and Penpot waits for many signs", `(() => {
			const every = window.setInterval;
			seen.signs = 0;
			window.setInterval = (call, ms) => every(() => { seen.signs++; call(); }, ms / 20);
			seen.holds = new Promise((done) => { const look = every(() => { if (seen.signs >= 6) { clearInterval(look); done(); } }, 10); });
			return true;
		})()`)
		p.must("UPLOAD_PICTURE", in{"upload": "3", "last": true, "name": "Photo", "mtype": "image/png", "data": pngOf(t, 5, 3)})
		p.is("signs were given", "seen.signs >= 6")
	})
}

func pngOf(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
