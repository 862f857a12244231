package penpot

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
)

// fake is a strict plugin API: widths and heights are read only, numbers of texts are strings, colours are in capitals, and a wrong value is
// an exception while throwValidationErrors is set. appendChild puts a shape below the others unless naturalChildOrdering is set.
const fake = `<!doctype html><link rel="icon" href="data:,"><script>
const log = [], answers = []; let listener, open = 0, blocks = 0, n = 0;
const flags = { naturalChildOrdering: false, throwValidationErrors: false };
function refuse(what) { if (flags.throwValidationErrors) throw new Error("value is not valid: " + what); }
// words is an object whose members take only these words, a number or a boolean, and has no others.
function words(o, kinds) {
  return new Proxy(o, { set(o, key, v) {
    const kind = kinds[key];
    if (!kind || (Array.isArray(kind) ? !kind.includes(v) : typeof v !== kind)) refuse(key);
    o[key] = v; return true;
  } });
}
const aligns = ["start", "end", "center", "stretch"], content = [...aligns, "space-between", "space-around", "space-evenly"], sizings = ["fix", "fill", "auto"];
const numbersOf = (...names) => Object.fromEntries(names.map((n) => [n, "number"]));
const layoutWords = { alignItems: aligns, alignContent: content, justifyItems: aligns, justifyContent: content, horizontalSizing: sizings, verticalSizing: sizings,
  ...numbersOf("rowGap", "columnGap", "topPadding", "rightPadding", "bottomPadding", "leftPadding", "verticalPadding", "horizontalPadding") };
const childWords = { absolute: "boolean", zIndex: "number", horizontalSizing: ["auto", "fill", "fix"], verticalSizing: ["auto", "fill", "fix"], alignSelf: ["auto", ...aligns],
  ...numbersOf("topMargin", "rightMargin", "bottomMargin", "leftMargin", "minWidth", "maxWidth", "minHeight", "maxHeight") };
const cellWords = { ...numbersOf("row", "column", "rowSpan", "columnSpan"), areaName: "string", position: ["auto", "manual", "area"] };
function shape(type) {
  const own = { id: "p" + ++n, type, children: [], parent: null, width: 100, height: 100 };
  const numbers = ["x", "y", "opacity", "borderRadius"], texts = ["fontSize", "fontWeight", "lineHeight", "letterSpacing"];
  const s = new Proxy(own, { set(o, key, v) {
    if (key === "width" || key === "height" || key === "id" || key === "parent") refuse(key + " is read only");
    if (numbers.includes(key) && !(typeof v === "number" && isFinite(v))) refuse(key);
    if (texts.includes(key) && typeof v !== "string") refuse(key);
    if (key === "fills" && v.some((f) => f.fillColor && !/^#[0-9A-F]{6}$/.test(f.fillColor))) refuse(key);
    if (key === "opacity" && (v < 0 || v > 1)) refuse(key);
    if (type !== "board" && ["clipContent", "horizontalSizing", "verticalSizing"].includes(key)) refuse(key);
    o[key] = v; return true;
  } });
  own.resize = (w, h) => { if (!(w > 0 && h > 0)) refuse("size"); own.width = w; own.height = h; };
  own.rotate = (a) => { own.rotation = a; };
  const put = (c, first) => { (first ? own.children.unshift(c) : own.children.push(c)); c.layoutChild = own.flex || own.grid ? words({}, childWords) : null; c.layoutCell = own.grid ? words({}, cellWords) : null; };
  if (type === "board") {
    own.addFlexLayout = () => own.flex = words({ appendChild: (c) => put(c, flags.naturalChildOrdering) }, { ...layoutWords, dir: ["row", "row-reverse", "column", "column-reverse"], wrap: ["wrap", "nowrap"] });
    own.addGridLayout = () => own.grid = words({ rows: [], columns: [], addRow(type, value) { this.rows.push({ type, value }); }, addColumn(type, value) { this.columns.push({ type, value }); },
      appendChild: (c, row, column) => { if (!(row > 0 && column > 0)) refuse("cell"); put(c, false); Object.assign(c.layoutCell, { row, column }); } }, { ...layoutWords, dir: ["row", "column"] });
  }
  own.appendChild = (c) => { if (type !== "board") refuse("children"); if (own.flex || own.grid) return put(c, true); flags.naturalChildOrdering ? own.children.push(c) : own.children.unshift(c); };
  log.push(s); return s;
}
const penpot = {
  ui: { open(name, url, size) { open++; }, onMessage(f) { listener = f; }, sendMessage(m) { answers.push(m); } },
  flags, history: { undoBlockBegin() { blocks++; return Symbol(); }, undoBlockFinish(b) { if (typeof b !== "symbol") throw new Error("no block"); blocks += 100; } },
  createRectangle: () => shape("rectangle"), createEllipse: () => shape("ellipse"), createBoard: () => shape("board"), createPath: () => shape("path"),
  createText: (t) => t ? Object.assign(shape("text"), { characters: t }) : null,
  fonts: { all: [{ name: "Inter" }], findByName: () => ({ applyToText() {} }) }, currentUser: { id: "u", name: "Ann" },
  currentFile: { id: "f", name: "File", pages: [{ id: "1", name: "Page" }] }, root: { children: [] }, selection: [{ id: "chosen" }],
};
</script><script src="/penpot/plugin.js"></script>`

// ask gives the plugin a message and what it answered.
func ask(kind string, payload any) string {
	raw, _ := json.Marshal(map[string]any{"source": Client, "messageId": "m", "type": kind, "payload": payload})
	return fmt.Sprintf("(answers.length = 0, blocks = 0, listener(%s), answers.length === 1 && answers[0].source === %q && answers[0].messageId === 'm' && blocks === 101 && !flags.naturalChildOrdering)", raw, Plugin)
}

func TestPluginInChromium(t *testing.T) {
	t.Parallel()
	files := Handler(Config{Hub: NewHub()})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, fake)
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	tab := browsertest.Open(t, browsertest.Desktop)
	browsertest.Do(t, tab, chromedp.Navigate(server.URL))
	is := func(what, script string) {
		t.Helper()
		if !browsertest.Is(t, tab, script) {
			t.Errorf("not so: %s", what)
		}
	}
	fills := []any{map[string]any{"fillColor": "#FF0000", "fillOpacity": 1}}
	base := func(id, kind, parent string) map[string]any {
		return map[string]any{"id": id, "type": kind, "name": id, "parent": parent, "x": 1, "y": 2, "width": 30, "height": 20, "rotation": 0, "opacity": 1, "blendMode": "normal", "fills": fills, "clipContent": true,
			"characters": "Hello", "fontFamily": "Inter", "fontSize": 20, "fontWeight": "700", "lineHeight": 1.2, "letterSpacing": 0, "fontStyle": "normal", "align": "left", "d": "M0 0L9 9"}
	}
	t.Run("E4 E16 E69 it opens its window and answers each message once, as one step to undo", func(t *testing.T) {
		is("the window is open", "open === 1")
		is("it answers", ask("GET_USER_DATA", nil))
		is("with the user", "answers[0].payload.name === 'Ann'")
		is("it tells what is selected", ask("GET_SELECTED_SHAPES", nil)+" && answers[0].payload.shapeIds[0] === 'chosen'")
		is("it tells the project", ask("GET_PROJECT_DATA", nil)+" && answers[0].payload.pages.length === 1")
		is("it ignores strangers", "(answers.length = 0, listener({source: 'other', type: 'GET_USER_DATA'}), answers.length === 0)")
	})
	t.Run("E70 E72 a scene is drawn in its order, the last on top, with its looks", func(t *testing.T) {
		scene := map[string]any{"shapes": []any{base("b", "board", ""), base("r", "rectangle", "b"), base("g", "group", "b"), base("e", "ellipse", "g"), base("t", "text", "b"), base("p", "path", "b")}}
		is("it is drawn", "(log.length = 0, "+ask("DRAW_SCENE", scene)+" && answers[0].success)")
		is("in order", "log[0].children.map((c) => c.type).join() === 'rectangle,ellipse,text,path'")
		is("with its size, and texts' numbers as texts", "log[1].width === 30 && log[3].fontSize === '20' && log[3].lineHeight === '1.2' && log[4].d === 'M0 0L9 9'")
		is("one shape", ask("DRAW_SHAPE", map[string]any{"shapeType": "rectangle", "params": base("x", "rectangle", "")})+" && !!answers[0].payload.shapeId")
	})
	t.Run("E97 E93 flex and grid are laid out there, in the order of drawing, and read back", func(t *testing.T) {
		part := func(id, kind, parent string, layout map[string]any) map[string]any {
			s := base(id, kind, parent)
			s["layout"] = layout
			return s
		}
		flex := map[string]any{"dir": "column", "wrap": "wrap", "rowGap": 8, "leftPadding": 4, "alignItems": "center", "horizontalSizing": "auto"}
		grid := map[string]any{"columns": []any{map[string]any{"type": "flex", "value": 1}, map[string]any{"type": "fixed", "value": 40}}, "justifyContent": "stretch"}
		scene := map[string]any{"shapes": []any{
			part("b", "board", "", map[string]any{"flex": flex, "verticalSizing": "fix"}),
			part("one", "rectangle", "b", map[string]any{"layoutChild": map[string]any{"horizontalSizing": "fill", "topMargin": 3}}), part("two", "ellipse", "b", nil),
			part("g", "board", "", map[string]any{"grid": grid}), part("three", "rectangle", "g", map[string]any{"layoutCell": map[string]any{"row": 2, "column": 1, "columnSpan": 2}}),
		}}
		is("it is drawn", "(log.length = 0, "+ask("DRAW_SCENE", scene)+" && answers[0].success) || (() => { throw new Error(answers[0].message) })()")
		is("flex says how", "log[0].flex.dir === 'column' && log[0].flex.rowGap === 8 && log[0].flex.leftPadding === 4 && log[0].verticalSizing === 'fix'")
		is("what was drawn last comes first in the list, which is last in the flow", "log[0].children.map((c) => c.name).join() === 'two,one'")
		is("a child says how it lies", "log[1].layoutChild.horizontalSizing === 'fill' && log[1].layoutChild.topMargin === 3 && log[1].layoutCell === null")
		is("grid has its tracks and cells", "log[3].grid.columns.length === 2 && log[3].grid.columns[1].value === 40 && log[4].layoutCell.row === 2 && log[4].layoutCell.columnSpan === 2")
		is("all of it is read back", "(penpot.root.children = [log[0], log[3]], "+ask("GET_PROJECT_DATA", nil)+") && (() => { const s = answers[0].payload.shapes, of = (n) => s.find((x) => x.name === n).layout; "+
			"return of('b').flex.dir === 'column' && of('one').layoutChild.horizontalSizing === 'fill' && of('g').grid.columns[1].type === 'fixed' && of('three').layoutCell.row === 2; })()")
		wrong := part("x", "board", "", map[string]any{"flex": map[string]any{"dir": "diagonal"}})
		is("what is wrong is refused", ask("DRAW_SHAPE", map[string]any{"shapeType": "board", "params": wrong})+" && !answers[0].success && answers[0].message.includes('dir')")
	})
	t.Run("E68 what Penpot refuses is told, and the flags are as they were", func(t *testing.T) {
		bad := base("x", "rectangle", "")
		bad["opacity"] = 7
		is("it is refused", ask("DRAW_SHAPE", map[string]any{"shapeType": "rectangle", "params": bad})+" && !answers[0].success && answers[0].message.includes('not valid')")
		is("as is what it does not know", ask("MAKE_COFFEE", nil)+" && !answers[0].success && !flags.throwValidationErrors")
	})
}
