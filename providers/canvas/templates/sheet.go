package templates

import (
	"cmp"
	"math/rand/v2"
	"strings"

	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// sheet is a board that a template draws on. What goes wrong first is kept in err.
type sheet struct {
	*scene.Scene
	board *scene.Shape
	Palette
	rand *rand.Rand
	err  error
}

// newSheet makes a board with a ground.
func newSheet(s *scene.Scene, b Brief, name string, w, h float64, ground ...scene.Fill) *sheet {
	sh := &sheet{Scene: s, Palette: PaletteFor(b.Words, b.Seed), rand: rand.New(rand.NewPCG(b.Seed, 7))}
	x := 0.0
	for _, other := range s.Children("") { // beside what is there
		x = max(x, other.X+other.Width+80)
	}
	p := scene.Props{Name: &name, X: &x, Width: &w, Height: &h}
	if len(ground) > 0 {
		p.Fills = &ground
	} else {
		p.Color = &sh.Ground
	}
	sh.board, sh.err = s.Create(scene.Board, p)
	return sh
}

// box is a place on the sheet.
type box = geom.Rect

// add draws a shape on the sheet.
func (s *sheet) add(kind scene.Type, name string, b box, p scene.Props) *scene.Shape {
	if s.err != nil {
		return &scene.Shape{}
	}
	p.Name, p.ParentID = &name, &s.board.ID
	p.ParentX, p.ParentY = &b.X, &b.Y
	if b.W > 0 && b.H > 0 {
		p.Width, p.Height = &b.W, &b.H
	}
	var made *scene.Shape
	if made, s.err = s.Create(kind, p); s.err != nil {
		return &scene.Shape{}
	}
	return made
}

func (s *sheet) rect(name string, b box, color string, change ...func(*scene.Props)) *scene.Shape {
	return s.add(scene.Rectangle, name, b, with(scene.Props{Color: &color}, change))
}

func (s *sheet) disc(name string, cx, cy, r float64, color string, change ...func(*scene.Props)) *scene.Shape {
	return s.add(scene.Ellipse, name, box{X: cx - r, Y: cy - r, W: 2 * r, H: 2 * r}, with(scene.Props{Color: &color}, change))
}

func with(p scene.Props, change []func(*scene.Props)) scene.Props {
	for _, f := range change {
		f(&p)
	}
	return p
}

func faded(opacity float64) func(*scene.Props) {
	return func(p *scene.Props) { p.Opacity = &opacity }
}

func mixed(mode string) func(*scene.Props) {
	return func(p *scene.Props) { p.BlendMode = &mode }
}

func rounded(radius float64) func(*scene.Props) {
	return func(p *scene.Props) { p.BorderRadius = &radius }
}

func turned(degrees float64) func(*scene.Props) {
	return func(p *scene.Props) { p.Rotation = &degrees }
}

func shadowed(y, blur, opacity float64, color string) func(*scene.Props) {
	return func(p *scene.Props) {
		p.Shadows = &[]scene.Shadow{{Style: "drop-shadow", OffsetY: y, Blur: blur, Color: scene.ShadowColor{Color: color, Opacity: opacity}}}
	}
}

// fade is a gradient from top to bottom.
func fade(from, to string) scene.Fill {
	return scene.Fill{Opacity: 1, Gradient: &scene.Gradient{Type: "linear", StartX: 0.5, EndX: 0.5, EndY: 1, Width: 1, Stops: []scene.Stop{{Color: from, Opacity: 1}, {Color: to, Opacity: 1, Offset: 1}}}}
}

// face is how words look.
type face struct {
	family  string
	weight  string
	italic  bool
	caps    bool
	color   string
	align   string
	line    float64 // height of a line, by the size
	spacing float64 // by the size
	most    float64 // the largest size
	least   float64
	bottom  bool // it stands at the bottom of its box, not at the top
	middle  bool
}

// write sets words into a box, as large as they fit.
func (s *sheet) write(name, words string, b box, f face, change ...func(*scene.Props)) *scene.Shape {
	words = strings.TrimSpace(words)
	if words == "" || s.err != nil {
		return &scene.Shape{}
	}
	size := s.fit(words, b, f)
	align, style, transform, grow, vertical := f.align, "normal", "none", "fixed", "top"
	align = cmp.Or(align, "left")
	if f.italic {
		style = "italic"
	}
	if f.caps {
		transform = "uppercase"
	}
	if f.bottom {
		vertical = "bottom"
	} else if f.middle {
		vertical = "center"
	}
	fontSize, lineHeight, spacing, weight := scene.Figure(size), scene.Figure(f.line), scene.Figure(f.spacing*size), scene.Word(f.weight)
	return s.add(scene.TextShape, name, b, with(scene.Props{
		Characters: &words, FontFamily: &f.family, FontSize: &fontSize, FontWeight: &weight, FontStyle: &style, LineHeight: &lineHeight, LetterSpacing: &spacing,
		Align: &align, VerticalAlign: &vertical, TextTransform: &transform, GrowType: &grow, TextColor: &f.color,
	}, change))
}

// fit finds the largest size at which words fit into a box. They get a little smaller than they should rather than that a word is broken.
func (s *sheet) fit(words string, b box, f face) float64 {
	least := cmp.Or(f.least, 10)
	longest, widest := "", 0.0
	for w := range strings.FieldsSeq(words) {
		if width, _ := s.measured(w, 100, 0, f); width > widest {
			longest, widest = w, width
		}
	}
	size := f.most
	for ; size > least; size *= 0.96 {
		if w, _ := s.measured(longest, size, 0, f); w > b.W {
			continue
		}
		if _, h := s.measured(words, size, b.W, f); h <= b.H {
			break
		}
	}
	size = max(size, least)
	if w, _ := s.measured(longest, size, 0, f); w > b.W && w < b.W/0.7 {
		size *= b.W / w * 0.99
	}
	for size > smallest { // a text that is longer than any is meant to be
		if _, h := s.measured(words, size, b.W, f); h <= b.H {
			break
		}
		size *= 0.96
	}
	return float64(int(size))
}

// smallest is the size below which nothing is set.
const smallest = 10

// fitAll finds the largest size at which each of some words fits into a box, so that they look alike beside each other.
func (s *sheet) fitAll(words []string, b box, f face) float64 {
	size := f.most
	for _, w := range words {
		size = min(size, s.fit(w, b, f))
	}
	return size
}

// measured is how much room words take.
func (s *sheet) measured(words string, size, width float64, f face) (w, h float64) {
	t := scene.Text{Characters: words, FontFamily: f.family, FontSize: size, FontWeight: f.weight, LineHeight: f.line, LetterSpacing: f.spacing * size, Align: "left", GrowType: "auto-height"}
	if f.italic {
		t.FontStyle = "italic"
	}
	if f.caps {
		t.Transform = "uppercase"
	}
	return s.Fonts.Measure(t, width)
}

// height is how high words stand that were written.
func (s *sheet) height(sh *scene.Shape) float64 {
	if sh.Text == nil {
		return 0
	}
	t := *sh.Text
	t.GrowType = "auto-height"
	_, h := s.Fonts.Measure(t, sh.Width)
	return h
}

// points is a path of straight lines.
func points(list ...geom.Point) *[]scene.Command {
	var out []scene.Command
	for i, p := range list {
		c := "L"
		if i == 0 {
			c = "M"
		}
		out = append(out, scene.Command{Command: c, Params: &scene.PathParams{X: &p.X, Y: &p.Y}})
	}
	return &out
}

// path draws a path whose coordinates are those of the sheet.
func (s *sheet) path(name string, content []scene.Command, change ...func(*scene.Props)) *scene.Shape {
	if s.err != nil {
		return &scene.Shape{}
	}
	p := with(scene.Props{Content: &content}, change)
	p.Name, p.ParentID = &name, &s.board.ID
	var made *scene.Shape
	if made, s.err = s.Create(scene.PathShape, p); s.err != nil {
		return &scene.Shape{}
	}
	x, y := made.X+s.board.X, made.Y+s.board.Y // its own coordinates count from the sheet's corner
	made, s.err = s.Modify(scene.PathShape, made.ID, scene.Props{X: &x, Y: &y}, nil)
	return made
}

func filled(color string) func(*scene.Props) {
	return func(p *scene.Props) { p.Color = &color }
}

func stroked(color string, width float64) func(*scene.Props) {
	return func(p *scene.Props) {
		p.Strokes = &[]scene.Stroke{{Color: color, Opacity: 1, Style: "solid", Width: width, CapStart: "round", CapEnd: "round"}}
		if p.Color == nil {
			p.Fills = &[]scene.Fill{}
		}
	}
}
