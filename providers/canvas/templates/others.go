package templates

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/registry"
)

// Draw makes what a brief wants on a new board.
func Draw(s *scene.Scene, b Brief) (*scene.Shape, error) {
	switch b.Kind {
	case Card:
		return card(s, b)
	case Quote:
		return quote(s, b)
	case Chart:
		return chart(s, b)
	case Meme:
		return meme(s, b)
	case Lines:
		return lines(s, b.Words)
	}
	return poster(s, b)
}

func card(s *scene.Scene, b Brief) (*scene.Shape, error) {
	p := newSheet(s, b, "Card", 1200, 800)
	setFills(p, fade(p.Second, p.Accent))
	p.disc("disc", 1110, 90, 240, p.Paper, faded(0.25))
	p.disc("disc 2", 80, 760, 190, p.Deep, faded(0.22))
	p.rect("card", box{X: 110, Y: 95, W: 980, H: 610}, p.Paper, rounded(36), shadowed(24, 60, 0.28, p.Deep))
	p.rect("mark", box{X: 190, Y: 185, W: 84, H: 10}, p.Accent, rounded(5))
	y := 225.0
	if b.Kicker != "" {
		p.write("occasion", b.Kicker, box{X: 190, Y: 225, W: 820, H: 40}, face{family: "Inter", weight: "700", caps: true, color: p.Accent, line: 1.2, spacing: 0.14, most: 28, least: 14})
		y = 280
	}
	room := 380.0
	if len(b.Details) > 0 {
		room = 240
	}
	title := p.write("title", b.Title, box{X: 190, Y: y, W: 820, H: room}, face{family: "Literata", weight: "700", color: p.Ink, line: 1.1, spacing: -0.015, most: 104, least: 28})
	y += p.height(title) + 28
	p.write("detail", strings.Join(b.Details, "\n"), box{X: 190, Y: y, W: 820, H: 640 - y}, face{family: "Inter", weight: "400", color: p.Ink, line: 1.35, most: 38, least: 16})
	return p.board, p.err
}

func quote(s *scene.Scene, b Brief) (*scene.Shape, error) {
	p := newSheet(s, b, "Quote", 1080, 1080)
	if b.Picture != nil {
		p.add(scene.Rectangle, "picture", box{W: 1080, H: 1080}, scene.Props{BackgroundImage: &b.Picture.Ref})
		p.rect("shade", box{W: 1080, H: 1080}, p.Deep, faded(0.7))
	} else {
		setFills(p, fade(p.Deep, p.Deep))
		p.disc("disc", 960, 960, 420, p.Accent, faded(0.35))
		p.disc("disc 2", 1040, 760, 220, p.Second, faded(0.3))
	}
	p.write("mark", "“", box{X: 84, Y: 40, W: 400, H: 400}, face{family: "Literata", weight: "700", color: p.Accent, line: 1, most: 360, least: 300})
	p.write("title", b.Title, box{X: 96, Y: 300, W: 880, H: 520}, face{family: "Literata", weight: "400", italic: true, color: p.Paper, line: 1.22, spacing: -0.01, most: 92, least: 26, middle: true})
	if len(b.Details) > 0 {
		p.rect("rule", box{X: 100, Y: 905, W: 70, H: 6}, p.Second, rounded(3))
		p.write("detail", strings.Join(b.Details, ", "), box{X: 195, Y: 880, W: 780, H: 58}, face{family: "Inter", weight: "600", color: p.Paper, line: 1.2, spacing: 0.02, most: 36, least: 16, middle: true})
	}
	return p.board, p.err
}

// meme lays words over the head and the foot of a picture, in its size.
func meme(s *scene.Scene, b Brief) (*scene.Shape, error) {
	w, h := 1000.0, 1000.0
	if b.Picture != nil && b.Picture.Width > 0 && b.Picture.Height > 0 {
		f := min(1200/float64(b.Picture.Width), 1200/float64(b.Picture.Height))
		w, h = math.Round(float64(b.Picture.Width)*f), math.Round(float64(b.Picture.Height)*f)
	}
	p := newSheet(s, b, "Meme", w, h)
	if b.Picture != nil {
		p.add(scene.Rectangle, "picture", box{W: w, H: h}, scene.Props{BackgroundImage: &b.Picture.Ref})
	} else {
		setFills(p, fade(p.Accent, p.Deep))
	}
	texts := b.Details
	if len(texts) == 1 && b.Picture == nil {
		texts = []string{texts[0], ""}
	} else if len(texts) == 1 {
		texts = []string{"", texts[0]}
	}
	for i, words := range texts[:min(len(texts), 2)] {
		f := face{family: "Oswald", weight: "700", caps: true, color: "#FFFFFF", align: "center", line: 1.12, most: w / 8, least: 18, bottom: i == 1}
		at := box{X: w * 0.04, Y: h * 0.03, W: w * 0.92, H: h * 0.28}
		if i == 1 {
			at.Y = h*0.97 - at.H
		}
		t := p.write([]string{"top", "bottom"}[i], words, at, f)
		if t.Text != nil && p.err == nil {
			outline := []scene.Stroke{{Color: "#000000", Opacity: 1, Style: "solid", Width: math.Round(t.Text.FontSize / 14), Alignment: "outer"}}
			_, p.err = p.Modify(scene.TextShape, t.ID, scene.Props{Strokes: &outline}, nil)
		}
	}
	return p.board, p.err
}

// series are the colours of slices and bars.
func (s *sheet) series(i int) string {
	return []string{s.Accent, s.Deep, s.Second, "#2A9D8F", "#7C5CFF", "#E9C46A", "#577590", "#C1121F"}[i%8]
}

func chart(s *scene.Scene, b Brief) (*scene.Shape, error) {
	if len(b.Values) == 0 {
		return nil, registry.Say(registry.CodeInvalidInput, said.DrawChart).At("text")
	}
	p := newSheet(s, b, "Chart", 1200, 800)
	setFills(p, scene.Fill{Color: p.Paper, Opacity: 1})
	top := 90.0
	if b.Title != "" {
		title := p.write("title", capital(b.Title), box{X: 80, Y: 64, W: 1040, H: 90}, face{family: "Inter", weight: "800", color: p.Ink, line: 1.1, spacing: -0.02, most: 54, least: 24})
		top = 64 + p.height(title) + 46
	}
	area := box{X: 80, Y: top, W: 1040, H: 740 - top}
	if b.Style == "pie" {
		p.pie(b.Values, area)
	} else {
		p.axes(b, area)
	}
	return p.board, p.err
}

// capital begins a text with a capital letter.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// step is a round distance of lines of a scale that goes from low to high.
func step(low, high float64) float64 {
	raw := (high - low) / 4
	if raw <= 0 {
		return 1
	}
	size := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, f := range []float64{1, 2, 2.5, 5, 10} {
		if f*size >= raw {
			return f * size
		}
	}
	return 10 * size
}

// axes draws bars or a line on a scale with rules.
func (s *sheet) axes(b Brief, area box) {
	low, high := 0.0, 0.0
	for _, v := range b.Values {
		low, high = min(low, v.N), max(high, v.N)
	}
	d := step(low, high)
	low, high = math.Floor(low/d)*d, math.Ceil(high/d)*d
	if high == low {
		high = low + 1
	}
	plot := box{X: area.X + 90, Y: area.Y + 10, W: area.W - 90, H: area.H - 66}
	y := func(n float64) float64 { return plot.Y + plot.H*(high-n)/(high-low) }
	for n := low; n <= high+d/2; n += d {
		s.rect("rule", box{X: plot.X, Y: y(n) - 1, W: plot.W, H: 2}, s.Ink, faded(map[bool]float64{true: 0.55, false: 0.12}[math.Abs(n) < d/2]))
		s.write("scale", fmt.Sprintf("%g", math.Round(n*1e6)/1e6), box{X: area.X, Y: y(n) - 16, W: 74, H: 32}, face{family: "Inter", weight: "500", color: s.Ink, align: "right", line: 1.2, most: 22, least: 12, middle: true})
	}
	slot := plot.W / float64(len(b.Values))
	var tops []geom.Point
	for i, v := range b.Values {
		x := plot.X + slot*float64(i)
		tops = append(tops, geom.Point{X: x + slot/2, Y: y(v.N)})
		if b.Style != "line" {
			w := min(slot*0.66, 130)
			at := box{X: x + (slot-w)/2, Y: min(y(v.N), y(0)), W: w, H: max(2, math.Abs(y(0)-y(v.N)))}
			s.rect("bar "+v.Label, at, s.Accent, rounded(min(10, at.H/2)))
		}
		s.write("label "+v.Label, v.Label, box{X: x + 3, Y: plot.Y + plot.H + 14, W: slot - 6, H: 44}, face{family: "Inter", weight: "600", color: s.Ink, align: "center", line: 1.1, most: 26, least: 10})
	}
	if b.Style == "line" && len(tops) > 1 {
		s.path("line", *points(tops...), stroked(s.Accent, 7))
	}
	for i, v := range b.Values {
		if b.Style == "line" {
			s.disc("point "+v.Label, tops[i].X, tops[i].Y, 11, s.Deep)
		}
		under := 38.0
		if v.N < 0 && b.Style != "line" {
			under = -6
		}
		s.write("value "+v.Label, v.Text, box{X: tops[i].X - slot/2, Y: tops[i].Y - under - map[bool]float64{true: 14, false: 0}[b.Style == "line"], W: slot, H: 34}, face{family: "Inter", weight: "800", color: s.Ink, align: "center", line: 1.1, most: 28, least: 11, bottom: true})
	}
}

// pie draws a ring of slices with their shares, and what they are beside it.
func (s *sheet) pie(values []Value, area box) {
	sum := 0.0
	for _, v := range values {
		sum += max(v.N, 0)
	}
	if sum == 0 {
		s.err = &scene.Error{Field: "text", Message: "a pie chart needs numbers above 0"}
		return
	}
	r := min(area.H, area.W/2) / 2
	c := geom.Point{X: area.X + r, Y: area.Y + r}
	angle := -math.Pi / 2
	row := min(64, area.H/float64(len(values)))
	for i, v := range values {
		share := max(v.N, 0) / sum
		s.slice("slice "+v.Label, c, r, r*0.56, angle, angle+2*math.Pi*share, s.series(i))
		angle += 2 * math.Pi * share
		y := area.Y + (area.H-row*float64(len(values)))/2 + row*float64(i)
		x := area.X + 2*r + 80
		s.rect("key "+v.Label, box{X: x, Y: y + row/2 - 13, W: 26, H: 26}, s.series(i), rounded(7))
		f := face{family: "Inter", weight: "600", color: s.Ink, line: 1.1, most: 32, least: 12, middle: true}
		s.write("label "+v.Label, v.Label, box{X: x + 46, Y: y, W: area.X + area.W - x - 46 - 170, H: row}, f)
		f.align, f.weight = "right", "800"
		s.write("value "+v.Label, fmt.Sprintf("%.0f %%", share*100), box{X: area.X + area.W - 150, Y: y, W: 150, H: row}, f)
	}
}

// slice is a part of a ring.
func (s *sheet) slice(name string, c geom.Point, outer, inner, from, to float64, color string) {
	if to-from < 1e-4 {
		return
	}
	if to-from > 2*math.Pi-1e-3 {
		to = from + 2*math.Pi - 1e-3
	}
	at := func(r, a float64) geom.Point { return geom.Point{X: c.X + r*math.Cos(a), Y: c.Y + r*math.Sin(a)} }
	a, b, d, e := at(outer, from), at(outer, to), at(inner, to), at(inner, from)
	large := scene.Flag(to-from > math.Pi)
	s.path(name, []scene.Command{
		{Command: "M", Params: &scene.PathParams{X: &a.X, Y: &a.Y}},
		{Command: "A", Params: &scene.PathParams{RX: &outer, RY: &outer, LargeArcFlag: large, SweepFlag: true, X: &b.X, Y: &b.Y}},
		{Command: "L", Params: &scene.PathParams{X: &d.X, Y: &d.Y}},
		{Command: "A", Params: &scene.PathParams{RX: &inner, RY: &inner, LargeArcFlag: large, X: &e.X, Y: &e.Y}}, {Command: "Z"},
	}, filled(color), func(p *scene.Props) {
		p.Strokes = &[]scene.Stroke{{Color: s.Paper, Opacity: 1, Style: "solid", Width: 4}}
	})
}
