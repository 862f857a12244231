package templates

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// The sheet of a poster, and its margin.
const (
	posterW = 1080.0
	posterH = 1350.0
	margin  = 84.0
)

// poster draws one of three compositions.
func poster(s *scene.Scene, b Brief) (*scene.Shape, error) {
	if b.Picture != nil {
		return picturePoster(s, b)
	}
	switch b.Seed % 3 {
	case 0:
		return sunPoster(s, b)
	case 1:
		return blockPoster(s, b)
	}
	return ringPoster(s, b)
}

// sunPoster: discs over a pale sky, hills at the foot which carry the details.
func sunPoster(s *scene.Scene, b Brief) (*scene.Shape, error) {
	p := newSheet(s, b, "Poster", posterW, posterH)
	setFills(p, fade(p.Ground, p.Second))
	p.disc("sun behind", 930, 610, 210, p.Second, mixed("multiply"), faded(0.9))
	p.disc("sun", 760, 420, 330, p.Accent, faded(0.82)) // light enough for the title
	hill := func(name string, y, rise float64, color string, opacity float64) {
		x := []float64{0, 0, 300, 520, 820, posterW, posterW}
		start, c1, c2, mid := geom.Point{X: x[0], Y: y}, geom.Point{X: x[2], Y: y - rise}, geom.Point{X: x[3], Y: y + rise/2}, geom.Point{X: x[4], Y: y - rise/3}
		end, low, corner := geom.Point{X: posterW, Y: y - rise}, geom.Point{X: posterW, Y: posterH}, geom.Point{X: 0, Y: posterH}
		content := []scene.Command{
			{Command: "M", Params: &scene.PathParams{X: &start.X, Y: &start.Y}},
			{Command: "C", Params: &scene.PathParams{C1X: &c1.X, C1Y: &c1.Y, C2X: &c2.X, C2Y: &c2.Y, X: &mid.X, Y: &mid.Y}},
			{Command: "L", Params: &scene.PathParams{X: &end.X, Y: &end.Y}},
			{Command: "L", Params: &scene.PathParams{X: &low.X, Y: &low.Y}}, {Command: "L", Params: &scene.PathParams{X: &corner.X, Y: &corner.Y}}, {Command: "Z"},
		}
		p.path(name, content, filled(color), faded(opacity))
	}
	hill("hill behind", 1000, 120, p.Accent, 0.55)
	hill("hill", 1080, 70, p.Deep, 1)
	p.kicker(b, box{X: margin, Y: margin, W: 620, H: 46}, p.Ink)
	p.write("title", b.Title, box{X: margin, Y: 190, W: posterW - 2*margin, H: 640}, face{family: "Inter", weight: "900", color: p.Ink, line: 1, spacing: -0.03, most: 190, least: 44})
	p.details(b, box{X: margin, Y: 1145, W: posterW - 2*margin, H: 130}, p.Paper, p.Second)
	return p.board, p.err
}

// blockPoster: a dark ground with slanting bars, the title in narrow capitals.
func blockPoster(s *scene.Scene, b Brief) (*scene.Shape, error) {
	p := newSheet(s, b, "Poster", posterW, posterH)
	setFills(p, scene.Fill{Color: p.Deep, Opacity: 1})
	for i, c := range []string{p.Accent, p.Second, p.Accent, p.Paper} {
		x := 360.0 + float64(i)*210
		p.rect("bar", box{X: x, Y: -260, W: 92, H: 900 - float64(i)*120}, c, turned(24), faded([]float64{1, 0.95, 0.55, 0.9}[i]))
	}
	p.disc("dot", 205, 330, 120, p.Second)
	p.kicker(b, box{X: margin, Y: margin, W: 620, H: 46}, p.Paper)
	p.write("title", b.Title, box{X: margin, Y: 560, W: posterW - 2*margin, H: 530}, face{family: "Oswald", weight: "700", caps: true, color: p.Paper, line: 1.08, spacing: -0.005, most: 250, least: 48, bottom: true})
	if len(b.Details) > 0 {
		p.rect("rule", box{X: margin, Y: 1128, W: posterW - 2*margin, H: 6}, p.Accent)
	}
	p.details(b, box{X: margin, Y: 1165, W: posterW - 2*margin, H: 110}, p.Paper, p.Second)
	return p.board, p.err
}

// ringPoster: rings in the corner, the title in a serif.
func ringPoster(s *scene.Scene, b Brief) (*scene.Shape, error) {
	p := newSheet(s, b, "Poster", posterW, posterH)
	for i, c := range []string{p.Deep, p.Accent, p.Second, p.Ground, p.Accent, p.Deep} {
		p.disc("ring", 790, 985, 440-float64(i)*74, c)
	}
	p.kicker(b, box{X: margin, Y: margin, W: 620, H: 46}, p.Ink)
	p.write("title", b.Title, box{X: margin, Y: 176, W: posterW - 2*margin, H: 350}, face{family: "Literata", weight: "700", color: p.Ink, line: 1.04, spacing: -0.02, most: 160, least: 44})
	p.rect("foot", box{X: 0, Y: 1170, W: posterW, H: 180}, p.Deep)
	p.details(b, box{X: margin, Y: 1205, W: posterW - 2*margin, H: 110}, p.Paper, p.Second)
	return p.board, p.err
}

// picturePoster: the picture all over, words on a darkened foot.
func picturePoster(s *scene.Scene, b Brief) (*scene.Shape, error) {
	p := newSheet(s, b, "Poster", posterW, posterH)
	p.add(scene.Rectangle, "picture", box{W: posterW, H: posterH}, scene.Props{BackgroundImage: &b.Picture.Ref})
	p.add(scene.Rectangle, "shade", box{Y: posterH / 3, W: posterW, H: posterH * 2 / 3}, scene.Props{Fills: &[]scene.Fill{shade(0, 0.85)}})
	if b.Kicker != "" {
		p.add(scene.Rectangle, "shade 2", box{W: posterW, H: posterH / 4}, scene.Props{Fills: &[]scene.Fill{shade(0.8, 0)}})
	}
	p.kicker(b, box{X: margin, Y: margin, W: 620, H: 46}, "#FFFFFF")
	p.write("title", b.Title, box{X: margin, Y: 640, W: posterW - 2*margin, H: 460}, face{family: "Inter", weight: "900", color: "#FFFFFF", line: 1, spacing: -0.03, most: 170, least: 44, bottom: true})
	p.details(b, box{X: margin, Y: 1165, W: posterW - 2*margin, H: 110}, "#FFFFFF", p.Second)
	return p.board, p.err
}

// shade darkens a picture from top to bottom, so that words on it are read.
func shade(top, bottom float64) scene.Fill {
	return scene.Fill{Opacity: 1, Gradient: &scene.Gradient{Type: "linear", StartX: 0.5, EndX: 0.5, EndY: 1, Width: 1, Stops: []scene.Stop{{Color: "#000000", Opacity: top}, {Color: "#000000", Opacity: bottom, Offset: 1}}}}
}

func setFills(p *sheet, fills ...scene.Fill) {
	if p.err == nil {
		_, p.err = p.Modify(scene.Board, p.board.ID, scene.Props{Fills: &fills}, nil)
	}
}

// kicker is the line above the title, with a mark before it.
func (s *sheet) kicker(b Brief, at box, color string) {
	if b.Kicker == "" {
		return
	}
	s.rect("mark", box{X: at.X, Y: at.Y + at.H/2 - 4, W: 54, H: 8}, s.Accent, rounded(4))
	s.write("occasion", b.Kicker, box{X: at.X + 76, Y: at.Y, W: at.W, H: at.H}, face{family: "Inter", weight: "700", caps: true, color: color, line: 1.2, spacing: 0.14, most: 34, least: 16, middle: true})
}

// details are columns side by side, the last ones below each other where they are many.
func (s *sheet) details(b Brief, at box, color, label string) {
	list := b.Details
	if len(list) == 0 {
		return
	}
	n := min(len(list), 4)
	gap := 36.0
	w := (at.W - gap*float64(n-1)) / float64(n)
	columns := slices.Clone(list[:n])
	columns[n-1] = strings.Join(list[n-1:], "\n")
	f := face{family: "Inter", weight: "600", color: color, line: 1.15, spacing: -0.01, most: 58, least: 18, middle: true}
	f.most = max(s.fitAll(columns, box{W: w, H: at.H}, f), 30) // a long one gets smaller than the others
	for i, words := range columns {
		x := at.X + float64(i)*(w+gap)
		if i > 0 {
			s.rect("divider", box{X: x - gap/2 - 1.5, Y: at.Y + 6, W: 3, H: at.H - 12}, label, faded(0.6))
		}
		s.write(detailName(i), words, box{X: x, Y: at.Y, W: w, H: at.H}, f)
	}
}

func detailName(i int) string {
	return []string{"detail", "detail 2", "detail 3", "detail 4"}[i]
}
