package canvas

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/registry"
)

// memory are files by reference.
type memory map[string][]byte

func (m memory) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	content, ok := m[ref]
	if !ok {
		return nil, registry.MediaInfo{}, errors.New("there is no such file")
	}
	return io.NopCloser(bytes.NewReader(content)), registry.MediaInfo{}, nil
}

// ground is a scene for the tools of Penpot's plugin: a board with a rectangle, an ellipse, a text, a path.
func ground(t *testing.T) (b *bench, ids map[string]string) {
	t.Helper()
	b = newBench(t)
	ids = map[string]string{}
	ids["board"] = b.must(t, "create-board", in{"x": 0, "y": 0, "width": 300, "height": 200, "name": "board"}).id
	p := ids["board"]
	ids["rect"] = b.must(t, "create-rectangle", in{"x": 10, "y": 10, "width": 40, "height": 30, "name": "rect", "parentId": p}).id
	ids["ellipse"] = b.must(t, "create-ellipse", in{"x": 30, "y": 20, "width": 40, "height": 30, "name": "ellipse", "parentId": p}).id
	ids["text"] = b.must(t, "create-text", in{"x": 100, "y": 10, "characters": "Ten chars.", "name": "text", "parentId": p}).id
	ids["path"] = b.must(t, "create-path", in{"x": 200, "y": 10, "name": "path", "parentId": p, "content": []any{in{"command": "M", "params": in{"x": 0, "y": 0}}, in{"command": "L", "params": in{"x": 50, "y": 60}}}}).id
	return b, ids
}

// TestPluginTools calls each tool of Penpot's plugin once as it should be, and once as it should not.
func TestPluginTools(t *testing.T) {
	t.Parallel()
	nobody := "00000000-0000-4000-8000-000000000000"
	for _, c := range []struct {
		name   string
		tool   string
		inputs func(ids map[string]string) in
		gives  string // members of the payload
		bad    in     // over the inputs
		field  string
	}{
		{"E87 get-current-page", "get-current-page", func(map[string]string) in { return in{} }, "id name shapes components flows", nil, ""},
		{"E88 get-fonts", "get-fonts", func(map[string]string) in { return in{"query": "int"} }, "fonts", in{"query": " "}, "query"},
		{"E89 get-selected-shapes", "get-selected-shapes", func(map[string]string) in { return in{} }, "shapeIds", nil, ""},
		{"E90 get-device-size-presets", "get-device-size-presets", func(map[string]string) in { return in{"category": "ReMarkable"} }, "categories count", in{"category": "PALM"}, "category"},
		{"E93 create-rectangle", "create-rectangle", func(map[string]string) in { return in{} }, "shapeId shape", in{"width": 0}, "width"},
		{"E94 create-ellipse", "create-ellipse", func(map[string]string) in { return in{"x": 4} }, "shapeId shape", in{"opacity": 2}, "opacity"},
		{"E95 create-text", "create-text", func(map[string]string) in { return in{"characters": `two\nlines`} }, "shapeId shape", in{"characters": ""}, "characters"},
		{"E96 create-path", "create-path", func(map[string]string) in {
			return in{"content": []any{in{"command": "M", "params": in{"x": 0, "y": 0}}, in{"command": "H", "params": in{"x": 9}}}}
		}, "shapeId shape", in{"content": []any{}}, "content"},
		{"E97 create-board", "create-board", func(map[string]string) in { return in{"clipContent": false, "flex": in{"dir": "row"}} }, "boardId shape", in{"parentId": nobody}, "parentId"},
		{"E98 modify-rectangle", "modify-rectangle", func(i map[string]string) in { return in{"shapeId": i["rect"], "propertiesToModify": in{"x": 50}} }, "shapeId shape", in{"shapeId": nobody}, "shapeId"},
		{"E99 modify-ellipse", "modify-ellipse", func(i map[string]string) in {
			return in{"shapeId": i["ellipse"], "propertiesToRemove": []any{"fills"}}
		}, "shapeId shape", in{"propertiesToRemove": []any{"soul"}}, "propertiesToRemove"},
		{"E100 modify-text", "modify-text", func(i map[string]string) in {
			return in{"shapeId": i["text"], "propertiesToModify": in{"characters": "New", "fontSize": "20"}}
		}, "shapeId shape", in{"propertiesToModify": in{"fontFamily": "Nonesuch"}}, "fontFamily"},
		{"E101 modify-path", "modify-path", func(i map[string]string) in {
			return in{"shapeId": i["path"], "propertiesToModify": in{"width": 10}}
		}, "shapeId shape", in{"propertiesToModify": in{"content": []any{in{"command": "L"}}}}, "content"},
		{"E103 modify-board", "modify-board", func(i map[string]string) in { return in{"shapeId": i["board"], "propertiesToModify": in{"x": 5}} }, "boardId shape", in{"propertiesToModify": in{"colour": "#FFF"}}, "colour"},
		{"E104 modify-text-range", "modify-text-range", func(i map[string]string) in {
			return in{"shapeId": i["text"], "start": 0, "end": 3, "props": in{"fontWeight": "700", "width": 4}}
		}, "shapeId rejected", in{"end": 11}, "end"},
		{"E105 rotate-shape", "rotate-shape", func(i map[string]string) in { return in{"shapeId": i["rect"], "angle": 45} }, "shapeId shape", in{"angle": 1e9}, "angle"},
		{"E106 clone-shape", "clone-shape", func(i map[string]string) in { return in{"shapeId": i["board"], "x": 400} }, "boardId shape", in{"shapeId": nobody}, "shapeId"},
		{"E107 delete-shape", "delete-shape", func(i map[string]string) in { return in{"shapeId": i["rect"]} }, "shapeId deleted", in{"shapeId": nobody}, "shapeId"},
		{"E108 create-boolean", "create-boolean", func(i map[string]string) in {
			return in{"boolType": "union", "shapeIds": []any{i["rect"], i["ellipse"]}}
		}, "shapeId shape", in{"boolType": "melt"}, "boolType"},
		{"E109 group-shapes", "group-shapes", func(i map[string]string) in { return in{"shapeIds": []any{i["rect"], i["ellipse"]}, "name": "both"} }, "groupId shape", in{"shapeIds": []any{nobody}}, "shapeIds"},
		{"E111 convert-to-board", "convert-to-board", func(i map[string]string) in { return in{"name": "frame", "shapeIds": []any{i["rect"]}} }, "boardId shape", in{"shapeIds": []any{}}, "shapeIds"},
		{"E112 convert-to-component", "convert-to-component", func(i map[string]string) in { return in{"name": "button", "shapeIds": []any{i["rect"], i["text"]}} }, "shapeId shape", in{"shapeIds": []any{nobody}}, "shapeIds"},
		{"E113 align-shapes", "align-shapes", func(i map[string]string) in {
			return in{"shapeIds": []any{i["rect"], i["text"]}, "axis": "vertical", "direction": "top"}
		}, "shapeIds shapes", in{"direction": "left"}, "direction"},
		{"E114 distribute-shapes", "distribute-shapes", func(i map[string]string) in {
			return in{"shapeIds": []any{i["rect"], i["text"], i["path"]}, "axis": "horizontal"}
		}, "shapeIds shapes", in{"axis": "deep"}, "axis"},
		{"E115 add-navigate-to-interaction", "add-navigate-to-interaction", func(i map[string]string) in {
			return in{"shapeId": i["rect"], "trigger": "click", "destinationBoardId": i["board"], "animation": in{"type": "slide", "duration": 300}}
		}, "shapeId shape", in{"destinationBoardId": nobody}, "destinationBoardId"},
		{"E116 add-close-overlay-interaction", "add-close-overlay-interaction", func(i map[string]string) in { return in{"shapeId": i["rect"], "trigger": "mouse-enter"} }, "shapeId shape", in{"trigger": "after-delay"}, "delay"},
		{"E117 add-previous-screen-interaction", "add-previous-screen-interaction", func(i map[string]string) in { return in{"shapeId": i["rect"], "trigger": "after-delay", "delay": 0} }, "shapeId shape", in{"delay": -1}, "delay"},
		{"E118 add-open-url-interaction", "add-open-url-interaction", func(i map[string]string) in {
			return in{"shapeId": i["rect"], "trigger": "click", "url": "https://example.com"}
		}, "shapeId shape", in{"url": "javascript:alert(1)"}, "url"},
		{"E119 create-flow", "create-flow", func(i map[string]string) in { return in{"name": "main", "boardId": i["board"]} }, "flow", in{"boardId": nobody}, "boardId"},
		{"E121 bring-to-front-shape", "bring-to-front-shape", func(i map[string]string) in { return in{"shapeId": i["rect"]} }, "shapeId shape", in{"shapeId": nobody}, "shapeId"},
		{"E122 bring-forward-shape", "bring-forward-shape", func(i map[string]string) in { return in{"shapeId": i["rect"]} }, "shapeId shape", in{"shapeId": nobody}, "shapeId"},
		{"E123 send-to-back-shape", "send-to-back-shape", func(i map[string]string) in { return in{"shapeId": i["path"]} }, "shapeId shape", in{"shapeId": nobody}, "shapeId"},
		{"E124 send-backward-shape", "send-backward-shape", func(i map[string]string) in { return in{"shapeId": i["path"]} }, "shapeId shape", in{"shapeId": nobody}, "shapeId"},
		{"E125 get-tokens-sets", "get-tokens-sets", func(map[string]string) in { return in{} }, "sets", nil, ""},
		{"E126 create-tokens-set", "create-tokens-set", func(map[string]string) in {
			return in{"name": "theme", "tokens": []any{in{"type": "color", "name": "brand", "value": "#FF0000"}}}
		}, "setId set", in{"tokens": []any{in{"type": "color", "name": "brand", "value": "red"}}}, "tokens[0].value"},
		{"E133 get-icon-list", "get-icon-list", func(map[string]string) in { return in{"libraryId": "lucide", "styleId": "outline"} }, "icons", in{"libraryId": "nothing"}, "libraryId"},
		{"E134 draw-icon", "draw-icon", func(i map[string]string) in {
			return in{"libraryId": "lucide", "styleId": "outline", "iconName": "heart", "parentId": i["board"], "parentX": 20, "parentY": 20, "width": 48}
		}, "shapeId shape", in{"iconName": "nothing"}, "iconName"},
		{"E135 add-open-overlay-interaction", "add-open-overlay-interaction", func(i map[string]string) in {
			return in{"shapeId": i["rect"], "trigger": "click", "destinationBoardId": i["board"]}
		}, "shapeId shape", in{"destinationBoardId": ""}, "destinationBoardId"},
		{"E136 add-toggle-overlay-interaction", "add-toggle-overlay-interaction", func(i map[string]string) in {
			return in{"shapeId": i["rect"], "trigger": "click", "destinationBoardId": i["board"]}
		}, "shapeId shape", in{"destinationBoardId": nobody}, "destinationBoardId"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, ids := ground(t)
			inputs := c.inputs(ids)
			r := b.must(t, c.tool, inputs)
			for member := range strings.FieldsSeq(c.gives) {
				if r.payload[member] == nil {
					t.Errorf("the payload lacks %s: %v", member, r.payload)
				}
			}
			if c.bad == nil {
				return
			}
			b, ids = ground(t)
			bad := c.inputs(ids)
			maps.Copy(bad, c.bad)
			b.refuses(t, c.tool, bad, c.field, b.names[c.tool].failure)
		})
	}
}

// TestIcons draws every icon.
func TestIcons(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	board := b.must(t, "create-board", in{"width": 800, "height": 720}).id
	names, _ := b.must(t, "get-icon-list", in{"libraryId": "lucide", "styleId": "outline"}).payload["icons"].([]any)
	if len(names) < 200 {
		t.Errorf("there are %d icons", len(names))
	}
	work := &turn{Provider: b.Provider, ctx: t.Context(), scene: b.scene}
	for i, name := range names {
		work.inputs = in{"libraryId": "lucide", "styleId": "outline", "iconName": name, "parentId": board, "x": 10 + i%20*39, "y": 10 + i/20*60, "width": 28}
		if _, err := b.names["draw-icon"].do(work); err != nil {
			t.Errorf("%v: %v", name, err)
		}
	}
	b.picture(t, "", draw.PNG)
	if out := os.Getenv("CANVAS_OUT"); out != "" {
		_ = os.WriteFile(filepath.Join(out, "icons.png"), b.picture(t, "", draw.PNG).Content, 0o600)
	}
}

// TestWhatToolsDo looks at the results of tools.
func TestWhatToolsDo(t *testing.T) {
	t.Parallel()
	t.Run("E86 E16 E17 get-user-data tells who draws, and says so when it fails", func(t *testing.T) {
		b := newBench(t)
		if p := b.must(t, "get-user-data", in{}).payload; p["id"] != "somebody" || p["name"] != "Ann" {
			t.Errorf("got %v", p)
		}
		b.User = func(context.Context, string) (Person, error) {
			return Person{}, registry.Errorf(registry.CodeUnavailable, "the list of people is away")
		}
		if _, err := b.call("getUserData", in{}); err == nil || !strings.Contains(err.Error(), "Failed to get user data") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("E18 E19 E20 E21 E22 get-project-data has pages, shapes, fonts and colours", func(t *testing.T) {
		b, ids := ground(t)
		p := b.must(t, "getProjectData", in{}).payload
		text := fmt.Sprint(p)
		for _, want := range []string{"name", "pages", ids["rect"], "Literata", "#B1B2B5"} {
			if !strings.Contains(text, want) {
				t.Errorf("it lacks %s", want)
			}
		}
	})
	t.Run("E102 modify-boolean changes its look, and refuses other shapes", func(t *testing.T) {
		b, ids := ground(t)
		made := b.must(t, "create-boolean", in{"boolType": "difference", "shapeIds": []any{ids["rect"], ids["ellipse"]}})
		b.must(t, "modify-boolean", in{"shapeId": made.id, "propertiesToModify": in{"opacity": 0.5}})
		if sh, _ := b.shape(made.id); sh.Opacity != 0.5 {
			t.Error("its opacity was not changed")
		}
		b.refuses(t, "modify-boolean", in{"shapeId": ids["text"], "propertiesToModify": in{"opacity": 0.5}}, "shapeId", "Failed to modify boolean")
	})
	t.Run("E110 ungroup leaves the parts where they are", func(t *testing.T) {
		b, ids := ground(t)
		g := b.must(t, "group-shapes", in{"shapeIds": []any{ids["rect"], ids["ellipse"]}})
		b.must(t, "ungroup", in{"groupId": g.id})
		if sh, ok := b.shape(ids["rect"]); !ok || sh.X != 10 || sh.Parent != ids["board"] {
			t.Error("the rectangle is not where it was")
		}
		b.refuses(t, "ungroup", in{"groupId": ids["rect"]}, "groupId", "Failed to ungroup")
	})
	t.Run("E109 a group that is turned over looks as in a mirror, whatever it holds, and turned back as before", func(t *testing.T) {
		b := newBench(t)
		board := b.must(t, "boardMaker", in{"x": 0, "y": 0, "width": 200, "height": 160, "color": "#FFFFFF"}).id
		ground := b.must(t, "rectangleMaker", in{"parentId": board, "x": 0, "y": 0, "width": 200, "height": 160, "color": "#DDE5B6"}).id
		stops := []any{in{"color": "#D62828", "offset": 0, "opacity": 1}, in{"color": "#1D3557", "offset": 1, "opacity": 1}}
		shaded := b.must(t, "create-rectangle", at4(20, 60, 70, 40, "parentId", board, "rotation", 25, "borderRadiusTopLeft", 15,
			"fills", []any{in{"fillOpacity": 1, "fillColorGradient": in{"type": "linear", "startX": 0, "startY": 0, "endX": 1, "endY": 1, "stops": stops}}},
			"strokes", []any{in{"strokeColor": "#000000", "strokeWidth": 4, "strokeStyle": "dashed", "strokeAlignment": "outer"}})).id
		words := b.must(t, "create-text", in{"parentId": board, "x": 100, "y": 50, "characters": "Flag", "fontSize": "40", "flipY": true, "rotation": 300}).id
		inner := b.must(t, "group-shapes", in{"shapeIds": []any{shaded, words}, "opacity": 0.6, "rotation": 10}).id
		group := b.must(t, "group-shapes", in{"shapeIds": []any{ground, inner}}).id
		b.wantBox(t, "the group, which the picture is of,", group, 0, 0, 200, 160)
		look := func(p scene.Props) *image.RGBA {
			t.Helper()
			if _, err := b.scene.Modify(scene.Group, group, p, nil); err != nil {
				t.Fatal(err)
			}
			return decode(t, b.picture(t, board, draw.PNG).Content)
		}
		yes, no := true, false
		was := look(scene.Props{})
		turnedOver := func(img *image.RGBA, x, y bool) (off float64) {
			mirrored := image.NewRGBA(was.Rect)
			for at := range was.Rect.Dx() * was.Rect.Dy() {
				from := image.Pt(at%was.Rect.Dx(), at/was.Rect.Dx())
				to := from
				if x {
					to.X = was.Rect.Dx() - 1 - from.X
				}
				if y {
					to.Y = was.Rect.Dy() - 1 - from.Y
				}
				mirrored.Set(to.X, to.Y, was.At(from.X, from.Y))
			}
			return meanDifference(img, mirrored)
		}
		if off := turnedOver(look(scene.Props{FlipX: &yes}), true, false); off > 0.2 {
			t.Errorf("from left to right it is off by %.2f of 255", off)
		}
		if off := turnedOver(look(scene.Props{FlipX: &yes, FlipY: &yes}), true, true); off > 0.2 {
			t.Errorf("both ways it is off by %.2f of 255", off)
		}
		if off := turnedOver(look(scene.Props{FlipX: &no}), false, true); off > 0.2 {
			t.Errorf("from top to bottom it is off by %.2f of 255", off)
		}
		if off := turnedOver(was, true, false); off < 5 {
			t.Errorf("it looks the same in a mirror (%.2f), which proves nothing", off)
		}
		if off := meanDifference(look(scene.Props{FlipY: &no}), was); off != 0 {
			t.Errorf("turned back it is off by %.2f of 255", off)
		}
	})
	t.Run("E120 remove-flow takes one away, and refuses one that is not there", func(t *testing.T) {
		b, ids := ground(t)
		b.must(t, "create-flow", in{"name": "main", "boardId": ids["board"]})
		b.must(t, "remove-flow", in{"flowName": "main"})
		b.refuses(t, "remove-flow", in{"flowName": "main"}, "flowName", "Failed to remove flow")
	})
	t.Run("E127 E128 E129 E130 tokens are activated, changed, applied and removed", func(t *testing.T) {
		b, ids := ground(t)
		set := b.must(t, "create-tokens-set", in{"name": "theme", "activate": false, "tokens": []any{in{"type": "color", "name": "brand", "value": "#FF0000"}, in{"type": "sizing", "name": "wide", "value": "120px"}}}).payload["setId"]
		apply := in{"shapeIds": []any{ids["rect"]}, "assignments": []any{in{"tokenName": "brand", "attr": "fill"}, in{"tokenName": "wide", "attr": "width"}}}
		b.refuses(t, "apply-tokens", apply, "tokenName", "Failed to change tokens")
		b.must(t, "activate-tokens-set", in{"setId": set, "exclusive": true})
		b.must(t, "modify-tokens-set", in{"setId": set, "tokensToModify": []any{in{"name": "brand", "value": "#00FF00"}, in{"name": "round", "type": "borderRadius", "value": "4"}}})
		b.must(t, "apply-tokens", apply)
		if sh, _ := b.shape(ids["rect"]); sh.Fills[0].Color != "#00FF00" || sh.Width != 120 || sh.Tokens["fill"] != "brand" {
			t.Errorf("got %+v", sh)
		}
		for tool, bad := range map[string]in{"activate-tokens-set": {"setId": "x"}, "remove-tokens-set": {"setId": "x"}, "modify-tokens-set": {"setId": "x"}} {
			b.refuses(t, tool, bad, "setId", "Failed to change tokens")
		}
		b.must(t, "remove-tokens-set", in{"setId": set})
	})
	t.Run("E91 E92 a shape is filled with a picture", func(t *testing.T) {
		b, ids := ground(t)
		made, err := Abstract{}.Paint(t.Context(), registry.Call{}, "blue", 32, 32)
		if err != nil {
			t.Fatal(err)
		}
		b.Media = memory{"https://example.com/a.png": made.Content, "asset:1": made.Content}
		b.Keep = func(context.Context, string, io.Reader, string) (registry.Media, error) { return "asset:1", nil }
		for tool, inputs := range map[string]in{"generate-image": {"shapeId": ids["rect"], "imagePrompt": "blue"}, "set-image-from-url": {"shapeId": ids["ellipse"], "imageUrl": "https://example.com/a.png"}} {
			o := b.names[tool]
			work := &turn{Provider: b.Provider, ctx: t.Context(), scene: b.scene, inputs: inputs, account: "somebody"}
			if err := work.prepare(o); err != nil {
				t.Fatal(err)
			}
			r, err := o.do(work)
			if err != nil || r.payload["imageId"] != "asset:1" {
				t.Errorf("%s: %v, %v", tool, r.payload, err)
			}
			work.inputs = merge(inputs, "imagePrompt", nil, "imageUrl", nil)
			if err := work.prepare(o); err == nil {
				t.Errorf("%s: it takes no picture at all", tool)
			}
		}
	})
}

// penpotFile is an open file of Penpot that takes what it is asked to.
type penpotFile struct {
	id      string
	parts   map[string][]byte // of uploads
	uploads [][]byte
	drawn   struct {
		File     string
		Pictures map[string]struct{ ID, Name, Mtype string }
	}
}

func (f *penpotFile) ask(_ context.Context, _, kind string, payload any) (json.RawMessage, error) {
	raw, err := json.Marshal(payload)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "GET_FILE":
		return json.Marshal(in{"id": f.id})
	case "UPLOAD_PICTURE":
		var part picturePart
		if err := json.Unmarshal(raw, &part); err != nil {
			return nil, err
		}
		f.parts[part.Upload] = append(f.parts[part.Upload], part.Data...)
		if !part.Last {
			return json.RawMessage(`{}`), nil
		}
		f.uploads = append(f.uploads, f.parts[part.Upload])
		return json.Marshal(in{"id": fmt.Sprint("m", len(f.uploads)), "name": part.Name, "mtype": part.MIMEType})
	}
	f.drawn.Pictures = nil
	return json.RawMessage(`{}`), json.Unmarshal(raw, &f.drawn)
}

func TestAPhotoStandsUpright(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	if err := jpeg.Encode(&file, image.NewRGBA(image.Rect(0, 0, 60, 30)), nil); err != nil {
		t.Fatal(err)
	}
	exif := "\xff\xe1\x00\x22Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"
	turned := slices.Concat(file.Bytes()[:2], []byte(exif), file.Bytes()[2:])
	b, _ := ground(t)
	b.Media = memory{"asset:1": turned}
	img, err := b.image(t.Context(), "asset:1")
	if err != nil || img.Bounds().Size() != (image.Point{30, 60}) {
		t.Errorf("it is drawn with %v: %v", img.Bounds().Size(), err)
	}
	if info, _, err := checkImage(turned); err != nil || info.Width != 30 || info.Height != 60 {
		t.Errorf("it is said to have %d x %d: %v", info.Width, info.Height, err)
	}
}

// TestPicturesToPenpot looks at what the plugin is sent of the pictures in a drawing.
func TestPicturesToPenpot(t *testing.T) {
	t.Parallel()
	made, err := Abstract{}.Paint(t.Context(), registry.Call{}, "blue", 32, 32)
	if err != nil {
		t.Fatal(err)
	}
	pool := postgrestest.New(t)
	fitting := append(made.Content[:len(made.Content):len(made.Content)], make([]byte, 3*sentPart)...)
	large := append(made.Content[:len(made.Content):len(made.Content)], make([]byte, maxSentPicture)...)
	for _, c := range []struct {
		name, shape string
		files       memory
		fills       map[string]string // by shape
		uploads     int
		shown       []string
		left        string // what the message says of it
	}{
		{"one that two shapes show goes once", "", memory{"asset:1": fitting}, map[string]string{"rect": "asset:1", "ellipse": "asset:1"}, 1, []string{"asset:1"}, ""},
		{"one in two files goes once", "", memory{"asset:1": made.Content, "asset:2": made.Content}, map[string]string{"rect": "asset:1", "ellipse": "asset:2"}, 1, []string{"asset:1", "asset:2"}, ""},
		{"with one shape goes its own", "rect", memory{"asset:1": made.Content, "asset:2": fitting}, map[string]string{"rect": "asset:1", "ellipse": "asset:2"}, 1, []string{"asset:1"}, ""},
		{"one that is too large stays", "", memory{"asset:1": large, "asset:2": made.Content}, map[string]string{"rect": "asset:1", "ellipse": "asset:2"}, 1, []string{"asset:2"}, "1 picture left out"},
		{"one that is gone stays", "", memory{}, map[string]string{"rect": "asset:1"}, 0, nil, "1 picture left out"},
		{"none", "", memory{}, nil, 0, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, ids := ground(t)
			b.Media, b.store = c.files, store{pool}
			id := uuid.NewString()
			if _, err := pool.Exec(t.Context(), `INSERT INTO canvas_scenes (id, account_id, page) VALUES ($1, $2, '{}')`, id, uuid.NewString()); err != nil {
				t.Fatal(err)
			}
			for name, ref := range c.fills {
				if _, err := b.scene.Modify("", ids[name], scene.Props{Fills: &[]scene.Fill{{Opacity: 1, Image: &scene.Image{ID: ref}}}}, nil); err != nil {
					t.Fatal(err)
				}
			}
			file := penpotFile{id: "one", parts: map[string][]byte{}}
			b.Penpot = file.ask
			send := func() reply {
				t.Helper()
				work := &turn{Provider: b.Provider, ctx: t.Context(), scene: b.scene, id: id, inputs: in{"shapeId": ids[c.shape]}, account: "somebody"}
				if err := uploadPictures(work); err != nil {
					t.Fatal(err)
				}
				r, err := sendToPenpot(work)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			if r := send(); !strings.Contains(r.message, c.left) || c.left == "" && strings.Contains(r.message, "left out") {
				t.Errorf("it says %q", r.message)
			}
			if len(file.uploads) != c.uploads {
				t.Errorf("%d pictures were uploaded, expected %d", len(file.uploads), c.uploads)
			}
			for ref, shown := range file.drawn.Pictures {
				if shown.Name == "" || shown.Mtype != "image/png" || !slices.ContainsFunc(file.uploads, func(u []byte) bool { return bytes.Equal(u, c.files[ref]) }) {
					t.Errorf("%s is shown as %+v", ref, shown)
				}
			}
			if got := slices.Sorted(maps.Keys(file.drawn.Pictures)); !slices.Equal(got, c.shown) {
				t.Errorf("shown are %v, expected %v", got, c.shown)
			}
			send()
			if len(file.uploads) != c.uploads || len(file.drawn.Pictures) != len(c.shown) {
				t.Errorf("sent again, %d pictures are uploaded and %d shown", len(file.uploads)-c.uploads, len(file.drawn.Pictures))
			}
			if file.id = "another"; c.uploads > 0 {
				if send(); len(file.uploads) != 2*c.uploads || file.drawn.File != "another" {
					t.Errorf("in another file %d are uploaded", len(file.uploads)-c.uploads)
				}
			}
			file.id = "one"
			if _, err := pool.Exec(t.Context(), `UPDATE canvas_penpot_pictures SET sent_at = now() - interval '25 hours' WHERE scene_id = $1`, id); err != nil {
				t.Fatal(err)
			}
			if send(); len(file.uploads) != 3*c.uploads {
				t.Errorf("after a day %d uploads in all", len(file.uploads))
			}
		})
	}
}
