package canvas

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
)

// in is a tool's inputs.
type in = map[string]any

// must calls a tool that has to succeed.
func (b *bench) must(t *testing.T, tool string, inputs in) result {
	t.Helper()
	r, err := b.call(tool, inputs)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return r
}

// refuses calls a tool that has to name a field.
func (b *bench) refuses(t *testing.T, tool string, inputs in, field, begin string) {
	t.Helper()
	before := b.scene.Len()
	_, err := b.call(tool, inputs)
	var told *registry.Error
	if !errors.As(err, &told) || !strings.Contains(told.Field, field) || !strings.HasPrefix(told.Message, begin) {
		t.Errorf("%s: got %v, want an error about %q that begins with %q", tool, err, field, begin)
	}
	if b.scene.Len() != before {
		t.Errorf("%s: something was drawn", tool)
	}
}

func at4(x, y, w, h float64, more ...any) in {
	i := in{"x": x, "y": y, "width": w, "height": h}
	for n := 0; n < len(more); n += 2 {
		i[more[n].(string)] = more[n+1]
	}
	return i
}

func merge(a in, more ...any) in {
	b := in{}
	maps.Copy(b, a)
	for n := 0; n < len(more); n += 2 {
		b[more[n].(string)] = more[n+1]
	}
	return b
}

func TestMakers(t *testing.T) {
	t.Parallel()
	square := at4(10, 20, 100, 50, "color", "#369")
	words := merge(square, "text", "Hello", "fontFamily", "sans", "fontSize", 20)
	t.Run("E42 E66 a shape lies in its board, which cuts it off; an unknown parent is refused", func(t *testing.T) {
		b := newBench(t)
		board := b.must(t, "boardMaker", at4(0, 0, 40, 40, "color", "#FFFFFF"))
		b.must(t, "rectangleMaker", at4(20, 20, 100, 100, "color", "#FF0000", "parentId", board.id))
		if img := decode(t, b.picture(t, "", draw.PNG).Content); img.Rect.Dx() != 40 || at(img, 30, 30) != [3]int{255, 0, 0} {
			t.Errorf("the picture is %v with %v in the corner", img.Rect, at(img, 30, 30))
		}
		b.refuses(t, "rectangleMaker", merge(square, "parentId", "nobody"), "parentId", "Failed to create rectangle: parentId: there is no shape")
	})
	t.Run("E43 E44 E45 place, size and name are kept; a size of 0 or less is refused, as is a missing place", func(t *testing.T) {
		b := newBench(t)
		r := b.must(t, "rectangleMaker", merge(square, "name", "button"))
		if sh, _ := b.shape(r.id); sh.X != 10 || sh.Y != 20 || sh.Width != 100 || sh.Height != 50 || sh.Name != "button" {
			t.Errorf("got %+v", sh)
		}
		for _, field := range []string{"x", "y", "width", "height"} {
			b.refuses(t, "rectangleMaker", merge(square, field, nil), field, "Failed to create rectangle")
		}
		b.refuses(t, "rectangleMaker", merge(square, "width", -1), "width", "Failed to create rectangle")
	})
	t.Run("E46 E47 E48 E49 E50 E51 E52 E55 all of the look is kept, and what is out of range is refused", func(t *testing.T) {
		b := newBench(t)
		r := b.must(t, "rectangleMaker", merge(square, "borderRadius", 8, "rotation", 370, "opacity", 0.5, "strokes", []any{in{"strokeColor": "#abc", "strokeWidth": 2, "strokeStyle": "dotted"}},
			"shadows", []any{in{"color": in{"color": "#000000", "opacity": 0.5}, "offsetX": 4, "offsetY": 4, "blur": 2, "spread": 0}}))
		sh, _ := b.shape(r.id)
		if sh.Radii[3] != 8 || sh.Rotation != 10 || sh.Opacity != 0.5 || sh.Fills[0].Color != "#336699" || sh.Strokes[0].Color != "#AABBCC" || sh.Strokes[0].Opacity != 1 || len(sh.Shadows) != 1 {
			t.Errorf("got %+v", sh)
		}
		r = b.must(t, "rectangleMaker", merge(square, "fills", []any{in{"fillColor": "#112233", "fillOpacity": 0.5}, in{"fillColor": "#445566"}}))
		if sh, _ := b.shape(r.id); len(sh.Fills) != 2 || sh.Fills[0].Color != "#112233" || sh.Fills[1].Opacity != 1 {
			t.Errorf("fills do not win over the colour: %+v", sh.Fills)
		}
		for _, mode := range scene.BlendModes() {
			b.must(t, "ellipseMaker", merge(square, "blendMode", mode))
		}
		if n := len(scene.BlendModes()); n != 16 {
			t.Errorf("there are %d blend modes", n)
		}
		b.refuses(t, "rectangleMaker", merge(square, "opacity", 1.1), "opacity", "Failed to create rectangle")
		b.refuses(t, "rectangleMaker", merge(square, "blendMode", "plus-lighter"), "blendMode", "Failed to create rectangle")
		b.refuses(t, "rectangleMaker", merge(square, "color", "red"), "color", "Failed to create rectangle")
	})
	t.Run("E53 E54 a picture of imageGenerator is taken as a background image, and shown", func(t *testing.T) {
		b := newBench(t)
		made, err := Abstract{}.Paint(t.Context(), registry.Call{}, "a red sunset", 64, 64)
		if err != nil || !strings.Contains(made.Note, "no image service") {
			t.Fatalf("%v, note %q", err, made.Note)
		}
		b.Media = memory{"asset:1": made.Content}
		for _, tool := range []string{"rectangleMaker", "ellipseMaker", "boardMaker", "create-rectangle"} {
			i := merge(square, "color", nil)
			if delete(i, "color"); tool == "create-rectangle" {
				i["fills"] = []any{in{"fillImage": in{"id": "asset:1"}}}
			} else {
				i["backgroundImage"] = "asset:1"
			}
			r := b.must(t, tool, i)
			if sh, _ := b.shape(r.id); sh.Fills[0].Image == nil || sh.Fills[0].Image.Width != 64 {
				t.Errorf("%s: the fills are %+v", tool, sh.Fills)
			}
		}
		img := decode(t, b.picture(t, "", draw.PNG).Content)
		if at(img, 50, 25) == [3]int{255, 255, 255} {
			t.Error("the picture is not seen")
		}
		b.refuses(t, "rectangleMaker", merge(square, "backgroundImage", "https://example.com/a.png"), "fillImage", "Failed to create rectangle")
	})
	t.Run("E56 E57 rectangleMaker gives the id and says where", func(t *testing.T) {
		b := newBench(t)
		o := b.names["rectangleMaker"]
		r, err := o.do(&turn{Provider: b.Provider, ctx: t.Context(), scene: b.scene, inputs: square})
		if e := r.envelope(""); err != nil || !e.Success || e.ShapeID == "" || e.Message != "Rectangle created at (10, 20)" {
			t.Errorf("got %+v, %v", e, err)
		}
		for _, use := range []string{"backgrounds", "buttons", "cards", "containers", "input"} {
			if !strings.Contains(o.description, use) {
				t.Errorf("the description does not name %s", use)
			}
		}
	})
	t.Run("E58 E59 E60 textMaker needs a text, a font and a size, and takes the rest", func(t *testing.T) {
		b := newBench(t)
		r := b.must(t, "textMaker", merge(words, "fontWeight", "700", "fontStyle", "italic", "textAlign", "justify", "lineHeight", 1.5, "letterSpacing", 2, "textColor", "#F00"))
		sh, _ := b.shape(r.id)
		if x := sh.Text; x.FontWeight != "700" || x.FontStyle != "italic" || x.Align != "justify" || x.LineHeight != 1.5 || x.LetterSpacing != 2 || sh.Fills[0].Color != "#FF0000" || x.FontFamily != "Inter" {
			t.Errorf("got %+v, %+v", sh.Text, sh.Fills)
		}
		for _, field := range []string{"text", "fontFamily", "fontSize"} {
			b.refuses(t, "textMaker", merge(words, field, nil), field, "Failed to create text")
		}
		_, err := b.call("textMaker", merge(words, "fontFamily", "Nonesuch"))
		if err == nil || !strings.Contains(err.Error(), "Inter, Literata") {
			t.Errorf("the error names no fonts: %v", err)
		}
		if fonts := b.must(t, "getAvailableFonts", in{}).payload["fonts"].([]any); len(fonts) < 4 {
			t.Errorf("there are %d fonts", len(fonts))
		}
	})
	t.Run("E61 E62 E63 a triangle has three sides; words and letters give the same, and what a command lacks is refused", func(t *testing.T) {
		b := newBench(t)
		step := func(c string, p in) any { return in{"command": c, "params": p} }
		for _, names := range [][]string{{"M", "L", "Z"}, {"move-to", "line-to", "close-path"}} {
			r := b.must(t, "pathMaker", at4(0, 0, 100, 80, "color", "#FF0000", "content", []any{step(names[0], in{"x": 0, "y": 0}), step(names[1], in{"x": 100, "y": 0}), step(names[1], in{"x": 50, "y": 80}), in{"command": names[2]}}))
			sh, _ := b.shape(r.id)
			if got := scene.SVGPath(sh.Outline()); got != "M0 0L100 0L50 80Z" {
				t.Errorf("%v give %s", names, got)
			}
		}
		if n := len(scene.PathCommands()); n != 20 {
			t.Errorf("there are %d commands", n)
		}
		b.refuses(t, "pathMaker", at4(0, 0, 10, 10, "content", []any{step("M", in{"x": 0, "y": 0}), step("Q", in{"x": 5, "y": 5})}), "c1x", "Failed to create path")
	})
	t.Run("E64 E65 boardMaker gives a boardId and the name; usual sizes are told", func(t *testing.T) {
		b := newBench(t)
		r, err := b.names["boardMaker"].do(&turn{Provider: b.Provider, ctx: t.Context(), scene: b.scene, inputs: at4(0, 0, 390, 844, "name", "Home")})
		if e := r.envelope(""); err != nil || e.BoardID == "" || e.ShapeID != "" || !strings.Contains(e.Message, "Home") {
			t.Errorf("got %+v, %v", e, err)
		}
		b.must(t, "boardMaker", at4(0, 0, 10, 10))
		sizes := fmt.Sprint(b.must(t, "getBoardSizes", in{}).payload)
		for _, one := range []string{"390", "844", "428", "926", "360", "800", "768", "1024", "1920", "1080"} {
			if !strings.Contains(sizes, one) {
				t.Errorf("the sizes lack %s: %s", one, sizes)
			}
		}
	})
	t.Run("E67 ellipseMaker draws in the same manner", func(t *testing.T) {
		b := newBench(t)
		b.must(t, "ellipseMaker", at4(0, 0, 40, 40, "color", "#00FF00"))
		img := decode(t, b.picture(t, "", draw.PNG).Content)
		if at(img, 20, 20) != [3]int{0, 255, 0} || img.Pix[3] != 0 {
			t.Error("it is no disc")
		}
	})
	t.Run("E71 E72 E73 E84 last drawn is on top, and with stacking below it is under all others", func(t *testing.T) {
		b := newBench(t)
		board := b.must(t, "boardMaker", at4(0, 0, 40, 40, "color", "#FFFFFF"))
		b.must(t, "rectangleMaker", at4(0, 0, 30, 40, "color", "#FF0000", "parentId", board.id))
		b.must(t, "rectangleMaker", at4(10, 0, 20, 40, "color", "#00FF00", "parentId", board.id))
		b.must(t, "rectangleMaker", at4(0, 0, 40, 40, "color", "#0000FF", "parentId", board.id, "stacking", "below"))
		img := decode(t, b.picture(t, "", draw.PNG).Content)
		if at(img, 5, 5) != [3]int{255, 0, 0} || at(img, 20, 20) != [3]int{0, 255, 0} || at(img, 35, 35) != [3]int{0, 0, 255} {
			t.Errorf("there is %v, %v, %v", at(img, 5, 5), at(img, 20, 20), at(img, 35, 35))
		}
	})
	t.Run("E74 a background that covers what was drawn before is warned of", func(t *testing.T) {
		b := newBench(t)
		b.must(t, "rectangleMaker", at4(10, 10, 20, 20, "color", "#FF0000", "name", "button"))
		r := b.must(t, "rectangleMaker", at4(0, 0, 100, 100, "color", "#FFFFFF", "name", "background"))
		if w := fmt.Sprint(r.payload["warnings"]); !strings.Contains(w, "button") || !strings.Contains(w, "background") {
			t.Errorf("the warnings are %s", w)
		}
	})
	t.Run("E68 errors say which shape could not be made", func(t *testing.T) {
		b := newBench(t)
		for tool, begin := range map[string]string{"rectangleMaker": "Failed to create rectangle", "textMaker": "Failed to create text", "pathMaker": "Failed to create path", "boardMaker": "Failed to create board"} {
			b.refuses(t, tool, in{}, "", begin)
		}
	})
}

// TestDefinitions judges the definitions of all tools.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tools, err := b.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, tool := range tools {
		t.Run("E6 E9 E10 E11 E12 E77 E78 E79 E80 "+tool.ToolID, func(t *testing.T) {
			if err := validate.Tool(tool); err != nil {
				t.Fatal(err)
			}
			for _, name := range append(slices.Clone(tool.Aliases), tool.ToolID) {
				if seen[name] {
					t.Errorf("%s is there twice", name)
				}
				seen[name] = true
			}
			if len(tool.Description) < 40 || !strings.Contains(tool.Description, "Use it") {
				t.Errorf("the description does not say when to use it: %q", tool.Description)
			}
			for _, f := range tool.InputSchema {
				if f.Description == "" {
					t.Errorf("the input %s is not described", f.Name)
				}
				if strings.HasSuffix(strings.ToLower(f.Name), "color") && !strings.Contains(string(f.Schema), "pattern") {
					t.Errorf("the colour %s has no pattern", f.Name)
				}
			}
		})
	}
	t.Run("E1 E2 each says its kind; functions read, and what draws says so", func(t *testing.T) {
		kinds := map[string]string{"calculateResponsiveSizes": "function", "getUserData": "function", "rectangleMaker": "drawing", "create-rectangle": "drawing"}
		for _, tool := range tools {
			if want := kinds[tool.ToolID]; want != "" && tool.Kind != want {
				t.Errorf("%s is of kind %s", tool.ToolID, tool.Kind)
			}
			if tool.Kind == "function" && tool.Capability != registry.CapabilityRead {
				t.Errorf("%s is a function that %ss", tool.ToolID, tool.Capability)
			}
			if strings.HasPrefix(tool.ToolID, "delete") && tool.Capability != registry.CapabilityWrite {
				t.Errorf("%s says that it reads", tool.ToolID)
			}
		}
	})
	t.Run("E84 E85 the order of drawing, the commands of paths and the plugin's messages are explained", func(t *testing.T) {
		if d := b.names["rectangleMaker"].description; !strings.Contains(d, "board, background, cards, text, buttons") {
			t.Errorf("the order is not in %q", d)
		}
		guide, err := os.ReadFile("../../docs/canvas.md")
		if err != nil {
			t.Fatal(err)
		}
		readme, err := os.ReadFile("../../README.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range append(scene.PathCommands(), "DRAW_SHAPE", "DRAW_SCENE", "GET_PROJECT_DATA", "messageId") {
			if !strings.Contains(string(guide), "`"+words+"`") && !strings.Contains(string(guide), words+"`") && !strings.Contains(string(guide), `"`+words) {
				t.Errorf("docs/canvas.md does not tell of %s", words)
			}
		}
		if !strings.Contains(string(readme), "docs/canvas.md") {
			t.Error("README.md does not lead to docs/canvas.md")
		}
	})
	t.Run("E24 the widths are in the description of calculateResponsiveSizes", func(t *testing.T) {
		for _, width := range []string{"320-480", "481-768", "769-1024", "1025"} {
			if !strings.Contains(b.names["calculateResponsiveSizes"].description, width) {
				t.Errorf("%s is not there", width)
			}
		}
	})
}
