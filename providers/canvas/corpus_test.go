package canvas

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	imagedraw "image/draw"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
	"github.com/signalbox/signalbox/registry"
)

// scenes is the folder of drawings that are judged. They lie beside the project.
func scenes(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "corpus", "scenes"))
	if err == nil {
		_, err = os.Stat(dir)
	}
	if err == nil {
		return dir
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("the corpus of scenes is not there: %v", err)
	}
	t.Skip("the corpus of scenes is not there")
	return ""
}

// files are pictures by reference, as a stored file is found.
type files map[string]string

func (f files) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	path, ok := f[ref]
	if !ok {
		return nil, registry.MediaInfo{}, fmt.Errorf("there is no file %s", ref)
	}
	content, err := os.Open(path)
	return content, registry.MediaInfo{}, err
}

// bench runs tools on a scene in memory.
type bench struct {
	*Provider
	scene *scene.Scene
	done  []result // of the calls so far
	names map[string]operation
}

type result struct {
	id      string
	payload map[string]any
}

// testFonts are read once: they are large.
var testFonts = sync.OnceValue(func() *typeset.Setter {
	fonts := typeset.New(typeset.Config{})
	return fonts
})

// described has the tools, whose schemas take longer to read than most drawings to be made.
var described = sync.OnceValues(func() (*Provider, error) {
	return New(Config{Fonts: testFonts(), Overlays: true, Painter: Abstract{}})
})

func newBench(t testing.TB) *bench {
	t.Helper()
	fonts := testFonts()
	all, err := described()
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{tools: all.tools, byID: all.byID, Config: all.Config}
	p.drawer = &draw.Drawer{Fonts: fonts, Image: p.image, File: p.file}
	p.Media, p.Say = files{}, func(_ context.Context, _, key string) string { return key }
	p.User = func(_ context.Context, id string) (Person, error) { return Person{ID: id, Name: "Ann"}, nil }
	p.Owned = func(context.Context, string, registry.Media) (bool, error) { return true, nil }
	p.Penpot = func(context.Context, string, string, any) (json.RawMessage, error) {
		return json.RawMessage(`{"shapeIds": []}`), nil
	}
	b := &bench{Provider: p, scene: scene.New(fonts, scene.Page{}), names: map[string]operation{}}
	for _, o := range operations() {
		b.names[o.id], b.names[o.name] = o, o
	}
	return b
}

// call runs a tool. A failed one leaves the scene as it was.
func (b *bench) call(tool string, inputs map[string]any) (result, error) {
	o, ok := b.names[tool]
	if !ok {
		return result{}, fmt.Errorf("there is no tool %s", tool)
	}
	var copies []*scene.Shape
	for _, sh := range b.scene.All() {
		c := *sh
		if sh.Text != nil {
			text := *sh.Text
			c.Text = &text
		}
		copies = append(copies, &c)
	}
	next := scene.New(b.Fonts, b.scene.Page, copies...)
	t := &turn{Provider: b.Provider, ctx: context.Background(), scene: next, inputs: inputs, account: "somebody"}
	r, err := o.do(t)
	if err != nil {
		return result{}, o.refusal(err)
	}
	b.scene = next
	e := r.envelope("")
	raw, _ := json.Marshal(e)
	var back Envelope
	_ = json.Unmarshal(raw, &back)
	return result{e.ShapeID + e.BoardID, back.Payload}, nil
}

// shape finds a shape by its id.
func (b *bench) shape(id string) (*scene.Shape, bool) {
	for _, sh := range b.scene.All() {
		if sh.ID == id {
			return sh, true
		}
	}
	return &scene.Shape{}, false
}

// fill puts what a scene's placeholders stand for into inputs.
func (b *bench) fill(v any, assets map[string]string) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = b.fill(v[i], assets)
		}
		return out
	case map[string]any:
		if n, ok := v["$"].(json.Number); ok {
			i, _ := n.Int64()
			if get, ok := v["get"].(string); ok {
				return b.done[i].payload[get]
			}
			return b.done[i].id
		}
		if font, ok := v["$font"].(string); ok {
			exact, _ := b.Fonts.Family(font)
			return exact
		}
		if name, ok := v["$asset"].(string); ok {
			return assets[name]
		}
		if r, ok := v["$repeat"].(map[string]any); ok {
			n, _ := r["times"].(json.Number).Int64()
			list := append([]any{}, r["first"].([]any)...)
			for range n {
				list = append(list, r["items"].([]any)...)
			}
			return list
		}
		if r, ok := v["$text"].(map[string]any); ok {
			n, _ := r["times"].(json.Number).Int64()
			return strings.Repeat(r["unit"].(string), int(n))
		}
		out := map[string]any{}
		for k := range v {
			out[k] = b.fill(v[k], assets)
		}
		return out
	}
	return v
}

type toolCall struct {
	Tool   string         `json:"tool"`
	Inputs map[string]any `json:"inputs"`
}

// corpusScene is a file of the corpus; its README says what the members mean.
type corpusScene struct {
	Name    string   `json:"name"`
	Rows    []string `json:"rows"`
	Picture struct{ Call, Width, Height int }
	Assets  map[string]struct{ File string }
	Calls   []toolCall
	Expect  struct {
		Count  int
		Shapes []map[string]any
		Points []struct {
			X, Y   int
			RGB    [3]int
			Tol    int
			Covers string
		}
		Reference struct {
			PNG         string
			MaxMeanDiff float64
		}
		Lines []struct {
			From, To [2]float64
			Ink      [3]int
			Min, Max float64
			MinRuns  int
		}
		Darker []struct {
			Point, Than [2]int
			By          float64
		}
		Same    []struct{ A, B [4]int }
		Lint    []string
		Ink     []ink
		Compare []compare
	}
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// TestScenes draws the scenes of the corpus: E42-E74 and E86-E124 by what they name.
func TestScenes(t *testing.T) {
	t.Parallel()
	dir := scenes(t)
	paths, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, path := range paths {
		if name := filepath.Base(path); name == "bad.json" || name == "responsive.json" {
			continue
		}
		var c corpusScene
		readJSON(t, path, &c)
		t.Run(strings.Join(c.Rows, " ")+" "+c.Name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.drawScene(t, c, dir)
			judgeTree(t, b, c)
			judgePicture(t, b, c, dir)
		})
	}
}

// drawScene makes the calls of a scene.
func (b *bench) drawScene(t *testing.T, c corpusScene, dir string) {
	t.Helper()
	assets, media := map[string]string{}, files{}
	for name, a := range c.Assets {
		ref := assetScheme + fmt.Sprintf("%064x", len(media)+1)
		assets[name], media[ref] = ref, filepath.Join(dir, a.File)
	}
	b.Media = media
	for i, one := range c.Calls {
		inputs, _ := b.fill(one.Inputs, assets).(map[string]any)
		r, err := b.call(one.Tool, inputs)
		if err != nil {
			t.Fatalf("call %d, %s: %v", i, one.Tool, err)
		}
		b.done = append(b.done, r)
	}
}

// judgeTree compares the tree of shapes.
func judgeTree(t *testing.T, b *bench, c corpusScene) {
	t.Helper()
	views := b.scene.Views()
	if len(views) != c.Expect.Count {
		t.Errorf("there are %d shapes, want %d", len(views), c.Expect.Count)
	}
	names := map[string]string{}
	for _, v := range views {
		names[v.ID] = v.Name
	}
	for i, want := range c.Expect.Shapes {
		if i >= len(views) {
			break
		}
		raw, _ := json.Marshal(views[i])
		var got map[string]any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		_ = d.Decode(&got)
		parent, _ := got["parent"].(string)
		got["parent"] = nil
		if parent != "" {
			got["parent"] = names[parent]
		}
		got["order"] = got["parentIndex"]
		got["box"] = []any{got["x"], got["y"], got["width"], got["height"]}
		got["position"] = []any{got["x"], got["y"]}
		bounds, _ := got["bounds"].(map[string]any)
		got["bounds"] = []any{bounds["x"], bounds["y"], bounds["width"], bounds["height"]}
		if list, ok := got["shadows"].([]any); ok {
			got["shadows"] = json.Number(fmt.Sprint(len(list)))
		}
		for _, key := range []string{"fills", "strokes"} { // gradients and pictures are left out
			if list, ok := want[key].([]any); ok {
				mine, _ := got[key].([]any)
				if len(list) != len(mine) {
					t.Errorf("%v: %s are %v, want %v", want["name"], key, mine, list)
				}
			}
		}
		for key, w := range want {
			if !alike(got[key], w) {
				t.Errorf("%v: %s is %v, want %v", want["name"], key, got[key], w)
			}
		}
	}
}

// alike compares JSON values: numbers by value within 0.02, objects by the members that are wanted.
func alike(got, want any) bool {
	switch w := want.(type) {
	case json.Number:
		g, ok := got.(json.Number)
		a, _ := w.Float64()
		b, _ := g.Float64()
		return ok && math.Abs(a-b) <= 0.02
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !alike(g[i], w[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		g, ok := got.(map[string]any)
		for k := range w {
			if !ok || !alike(g[k], w[k]) {
				return false
			}
		}
		return ok
	}
	return got == want
}

func (b *bench) picture(t *testing.T, board string, format draw.Format) draw.Picture {
	t.Helper()
	p, err := b.drawer.Draw(t.Context(), b.scene, draw.Options{Board: board, Format: format})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func decode(t *testing.T, content []byte) *image.RGBA {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	out := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	imagedraw.Draw(out, out.Rect, img, img.Bounds().Min, imagedraw.Src)
	return out
}

func at(img *image.RGBA, x, y int) [3]int {
	p := img.Pix[img.PixOffset(x, y):]
	return [3]int{int(p[0]), int(p[1]), int(p[2])}
}

func distance(a, b [3]int) (most int) {
	for i := range a {
		most = max(most, a[i]-b[i], b[i]-a[i])
	}
	return most
}

// judgePicture compares the pixels.
func judgePicture(t *testing.T, b *bench, c corpusScene, dir string) {
	t.Helper()
	p := b.picture(t, b.done[c.Picture.Call].id, draw.PNG)
	if out := os.Getenv("CANVAS_OUT"); out != "" { // to look at
		_ = os.WriteFile(filepath.Join(out, c.Name+".png"), p.Content, 0o600)
	}
	if p.Width != c.Picture.Width || p.Height != c.Picture.Height {
		t.Fatalf("the picture has %d by %d pixels, want %d by %d", p.Width, p.Height, c.Picture.Width, c.Picture.Height)
	}
	img := decode(t, p.Content)
	judgePixels(t, img, c)
	for _, s := range c.Expect.Same {
		for y := range s.A[3] {
			for x := range s.A[2] {
				if distance(at(img, s.A[0]+x, s.A[1]+y), at(img, s.B[0]+x, s.B[1]+y)) > 2 {
					t.Fatalf("the parts differ at %d, %d", x, y)
				}
			}
		}
	}
	if c.Expect.Reference.PNG != "" {
		raw, err := os.ReadFile(filepath.Join(dir, c.Expect.Reference.PNG))
		if err != nil {
			t.Fatal(err)
		}
		if d := meanDifference(img, decode(t, raw)); d > c.Expect.Reference.MaxMeanDiff {
			t.Errorf("the mean difference to the reference is %.2f, at most %.2f is allowed", d, c.Expect.Reference.MaxMeanDiff)
		}
	}
}

// judgePixels looks at the points, lines and parts that a scene names.
func judgePixels(t *testing.T, img *image.RGBA, c corpusScene) {
	t.Helper()
	for _, q := range c.Expect.Points {
		if got := at(img, q.X, q.Y); distance(got, q.RGB) > q.Tol {
			t.Errorf("at %d, %d (%s) there is %v, want %v", q.X, q.Y, q.Covers, got, q.RGB)
		}
	}
	for _, l := range c.Expect.Lines {
		n, inked, runs, before := 400, 0, 0, false
		for i := range n {
			f := float64(i) / float64(n-1)
			x, y := l.From[0]+(l.To[0]-l.From[0])*f, l.From[1]+(l.To[1]-l.From[1])*f
			is := distance(at(img, int(x), int(y)), l.Ink) < 60
			if is {
				inked++
			}
			if is && !before {
				runs++
			}
			before = is
		}
		if share := float64(inked) / float64(n); share < l.Min || share > l.Max || runs < l.MinRuns {
			t.Errorf("of the line from %v %.2f is inked in %d pieces", l.From, share, runs)
		}
	}
	for _, d := range c.Expect.Darker {
		a, b := at(img, d.Point[0], d.Point[1]), at(img, d.Than[0], d.Than[1])
		if float64(b[0]+b[1]+b[2]-a[0]-a[1]-a[2])/3 < d.By {
			t.Errorf("%v at %v is not darker by %g than %v at %v", a, d.Point, d.By, b, d.Than)
		}
	}
	judgeInk(t, img, c)
}

func meanDifference(a, b *image.RGBA) float64 {
	sum := 0
	for y := range a.Rect.Dy() {
		for x := range a.Rect.Dx() {
			p, q := at(a, x, y), at(b, x, y)
			for i := range p {
				sum += max(p[i]-q[i], q[i]-p[i])
			}
		}
	}
	return float64(sum) / float64(3*a.Rect.Dx()*a.Rect.Dy())
}

func TestBadInputs(t *testing.T) {
	t.Parallel()
	var bad struct {
		Before []toolCall
		Cases  []struct {
			Name   string
			Rows   []string
			Tool   string
			Inputs map[string]any
			Field  []string
		}
	}
	readJSON(t, filepath.Join(scenes(t), "bad.json"), &bad)
	b := newBench(t)
	for _, c := range bad.Before {
		inputs, _ := b.fill(c.Inputs, nil).(map[string]any)
		r, err := b.call(c.Tool, inputs)
		if err != nil {
			t.Fatal(err)
		}
		b.done = append(b.done, r)
	}
	before, _ := json.Marshal(b.scene.Views())
	for _, c := range bad.Cases {
		t.Run(strings.Join(c.Rows, " ")+" "+c.Name, func(t *testing.T) {
			inputs, _ := b.fill(c.Inputs, nil).(map[string]any)
			if _, raw := c.Inputs["x"].(map[string]any); raw {
				inputs["x"] = "NaN"
			}
			_, err := b.call(c.Tool, inputs)
			var told *registry.Error
			if !errors.As(err, &told) || told.Code != registry.CodeInvalidInput {
				t.Fatalf("got %v, want a refusal", err)
			}
			named := len(c.Field) == 0
			for _, f := range c.Field {
				named = named || strings.Contains(told.Field, f) || strings.Contains(told.Message, f)
			}
			if !named {
				t.Errorf("the error %q names none of %v", told, c.Field)
			}
			if after, err := json.Marshal(b.scene.Views()); err != nil || !bytes.Equal(before, after) {
				t.Errorf("something was drawn (%v)", err)
			}
		})
	}
}

func TestResponsiveSizes(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Inputs map[string]any
		Expect map[string]float64
	}
	readJSON(t, filepath.Join(scenes(t), "responsive.json"), &cases)
	for _, c := range cases {
		t.Run(fmt.Sprintf("E23 E25 %v", c.Inputs), func(t *testing.T) {
			r, err := newBench(t).call("calculate-responsive-sizes", c.Inputs)
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range c.Expect {
				if r.payload[name] != want {
					t.Errorf("%s is %v, want %v", name, r.payload[name], want)
				}
			}
		})
	}
}
