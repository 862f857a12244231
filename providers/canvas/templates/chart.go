package templates

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/registry"
)

// series are the colours of slices and bars.
func (s *sheet) series(i int) string {
	return []string{s.Accent, s.Deep, s.Second, "#2A9D8F", "#7C5CFF", "#E9C46A", "#577590", "#C1121F"}[i%8]
}

func chart(s *scene.Scene, b Brief) (*scene.Shape, error) {
	if len(b.Values) == 0 {
		return nil, registry.Say(registry.CodeInvalidInput, said.DrawChart).At("text")
	}
	if len(b.Values) > maxValues {
		return nil, registry.Say(registry.CodeInvalidInput, said.DrawChartMany, "n", len(b.Values), "most", maxValues).At("text")
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
	labels := make([]string, len(b.Values))
	for i, v := range b.Values {
		low, high, labels[i] = min(low, v.N), max(high, v.N), v.Label
	}
	d := step(low, high)
	low, high = math.Floor(low/d)*d, math.Ceil(high/d)*d
	if high == low {
		high = low + 1
	}
	left := s.scaleWidth(low, high)
	slot := (area.W - left) / float64(len(b.Values))
	below := s.labels(labels, slot)
	plot := box{X: area.X + left, Y: area.Y + 10, W: area.W - left, H: area.H - 10 - below.room}
	y := func(n float64) float64 { return plot.Y + plot.H*(high-n)/(high-low) }
	s.scale(plot, low, high, d, y)
	var tops []geom.Point
	for i, v := range b.Values {
		x := plot.X + slot*(float64(i)+0.5)
		tops = append(tops, geom.Point{X: x, Y: y(v.N)})
		if b.Style != "line" {
			w := min(slot*0.66, 130)
			at := box{X: x - w/2, Y: min(y(v.N), y(0)), W: w, H: max(2, math.Abs(y(0)-y(v.N)))}
			s.rect("bar "+v.Label, at, s.Accent, rounded(min(10, at.H/2)))
		}
		if i%below.each == 0 {
			below.write("label "+v.Label, v.Label, x, plot.Y+plot.H)
		}
	}
	if b.Style == "line" {
		s.line(b.Values, tops)
	}
	s.values(b, tops, slot, plot.Y+plot.H)
}

// scaleFace is how the numbers beside a chart look.
func (s *sheet) scaleFace() face {
	return face{family: "Inter", weight: "500", color: s.Ink, align: "right", line: 1.2, most: 22, least: 12, middle: true}
}

// scaleWidth is the room that the numbers beside a chart take.
func (s *sheet) scaleWidth(low, high float64) float64 {
	f := s.scaleFace()
	from, _ := s.measured(figure(low), f.most, 0, f)
	to, _ := s.measured(figure(high), f.most, 0, f)
	return min(max(from, to, 66)+24, 240)
}

// scale writes the numbers beside a chart, with a rule for each.
func (s *sheet) scale(plot box, low, high, d float64, y func(float64) float64) {
	f := s.scaleFace()
	width := s.scaleWidth(low, high) - 16
	at := box{X: plot.X - width - 16, W: width, H: 32}
	for n := low; n <= high+d/2; n += d {
		s.rect("rule", box{X: plot.X, Y: y(n) - 1, W: plot.W, H: 2}, s.Ink, faded(map[bool]float64{true: 0.55, false: 0.12}[math.Abs(n) < d/2]))
		at.Y = y(n) - 16
		s.write("scale", figure(n), at, f)
	}
}

// figure is a number of a scale, its thousands apart by narrow blanks that don't break.
func figure(n float64) string {
	digits, rest, _ := strings.Cut(strconv.FormatFloat(math.Round(n*1e6)/1e6, 'f', -1, 64), ".")
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0 && len(digits) > 4; at -= 3 {
		digits = digits[:at] + "\u202F" + digits[at:]
	}
	if rest != "" {
		rest = "." + rest
	}
	return sign + digits + rest
}

// line joins the points of a line chart.
func (s *sheet) line(values []Value, tops []geom.Point) {
	if len(tops) > 1 {
		s.path("line", *points(tops...), stroked(s.Accent, 7))
	}
	for i, v := range values {
		s.disc("point "+v.Label, tops[i].X, tops[i].Y, 11, s.Deep)
	}
}

// values writes the numbers over bars and points, all in one size, where there is room for them: below a bar that hangs, and below the low points of a line.
func (s *sheet) values(b Brief, tops []geom.Point, slot, floor float64) {
	f := face{family: "Inter", weight: "800", color: s.Ink, align: "center", line: 1.1, most: 28, least: 11}
	var texts []string
	for _, v := range b.Values {
		texts = append(texts, v.Text)
	}
	if f.most = s.fitAll(texts, box{W: slot, H: 34}, f); f.most < 14 {
		return
	}
	away := 4.0
	if b.Style == "line" {
		away = 18
	}
	for i, v := range b.Values {
		under := v.N < 0
		if b.Style == "line" {
			under = lowest(b.Values, i) && tops[i].Y+away+f.most < floor+12
		}
		at := box{X: tops[i].X - slot/2, Y: tops[i].Y - away - 34, W: slot, H: 34}
		f.bottom = !under
		if under {
			at.Y = tops[i].Y + away + 2
		}
		s.write("value "+v.Label, v.Text, at, f)
	}
}

// lowest tells whether a value is below those beside it.
func lowest(values []Value, i int) bool {
	return (i == 0 || values[i-1].N > values[i].N) && (i == len(values)-1 || values[i+1].N > values[i].N)
}

// below is how labels stand under a chart.
type below struct {
	*sheet
	face  face
	room  float64 // that they take
	width float64 // of one
	slant bool    // they would be too small side by side
	each  int     // one in so many is written
}

// labels looks how labels find room, each in a slot: in one size, in two lines, or slanting.
func (s *sheet) labels(list []string, slot float64) below {
	f := face{family: "Inter", weight: "600", color: s.Ink, align: "center", line: 1.1, most: 26, least: 10}
	l := below{sheet: s, face: f, room: 76, width: slot - 4, each: 1}
	if size := s.fitAll(list, box{W: l.width, H: 60}, f); size >= 14 {
		l.face.most = size
		return l
	}
	l.slant, l.face.most, l.face.align, l.width = true, 22, "right", 0
	for _, label := range list {
		w, _ := s.measured(label, l.face.most, 0, f)
		l.width = max(l.width, min(w+2, 300))
	}
	l.face.most = max(s.fitAll(list, box{W: l.width, H: slantHeight}, l.face), 12)
	l.room = l.width*math.Sin(math.Pi/4) + 40
	l.each = int(math.Ceil(30 / slot))
	return l
}

// slantHeight is the height of a slanting label's place.
const slantHeight = 28

// write puts a label under a place of the chart.
func (l below) write(name, label string, x, floor float64) {
	if !l.slant {
		l.sheet.write(name, label, box{X: x - l.width/2, Y: floor + 12, W: l.width, H: 60}, l.face)
		return
	}
	reach := l.width / 2 * math.Sin(math.Pi/4) // from the end of a label to its middle
	l.sheet.write(name, label, box{X: x - reach - l.width/2 + 4, Y: floor + 18 + reach - 14, W: l.width, H: slantHeight}, l.face, turned(-45))
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
	f := face{family: "Inter", weight: "600", color: s.Ink, line: 1.1, most: 32, least: 12, middle: true}
	labels := make([]string, len(values))
	for i, v := range values {
		labels[i] = v.Label
	}
	f.most = max(s.fitAll(labels, box{W: area.W - 2*r - 296, H: row}, f), 18)
	for i, v := range values {
		share := max(v.N, 0) / sum
		s.slice("slice "+v.Label, c, r, r*0.56, angle, angle+2*math.Pi*share, s.series(i))
		angle += 2 * math.Pi * share
		y := area.Y + (area.H-row*float64(len(values)))/2 + row*float64(i)
		x := area.X + 2*r + 80
		s.rect("key "+v.Label, box{X: x, Y: y + row/2 - 13, W: 26, H: 26}, s.series(i), rounded(7))
		s.write("label "+v.Label, v.Label, box{X: x + 46, Y: y, W: area.X + area.W - x - 46 - 170, H: row}, f)
		value := f
		value.align, value.weight = "right", "800"
		s.write("value "+v.Label, fmt.Sprintf("%.0f %%", share*100), box{X: area.X + area.W - 150, Y: y, W: 150, H: row}, value)
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
