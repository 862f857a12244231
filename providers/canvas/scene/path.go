package scene

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/providers/canvas/geom"
)

// maxCommands bounds a path.
const maxCommands = 20_000

// Command is a step of a path, in absolute coordinates: a letter of SVG, and what it needs.
type Command struct {
	Command string      `json:"command"`
	Params  *PathParams `json:"params,omitempty"`
}

// PathParams are what commands need: M, L, T: x, y; H: x; V: y; C: c1, c2, x, y; S: c2, x, y; Q: c1, x, y; A: rx, ry, the flags, x, y; Z: nothing.
// A flag that is not given is not set, and xAxisRotation is 0.
type PathParams struct {
	X             *float64 `json:"x,omitempty"`
	Y             *float64 `json:"y,omitempty"`
	C1X           *float64 `json:"c1x,omitempty"`
	C1Y           *float64 `json:"c1y,omitempty"`
	C2X           *float64 `json:"c2x,omitempty"`
	C2Y           *float64 `json:"c2y,omitempty"`
	RX            *float64 `json:"rx,omitempty"`
	RY            *float64 `json:"ry,omitempty"`
	XAxisRotation *float64 `json:"xAxisRotation,omitempty"`
	LargeArcFlag  Flag     `json:"largeArcFlag,omitempty"`
	SweepFlag     Flag     `json:"sweepFlag,omitempty"`
}

// Flag is set or not; it may also be written as 1 or 0, as in SVG.
type Flag bool

// UnmarshalJSON reads true, false, 1 and 0.
func (f *Flag) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case "true", "1":
		*f = true
	case "false", "0", "null":
		*f = false
	default:
		return &json.UnmarshalTypeError{Value: string(raw), Field: "flag"}
	}
	return nil
}

// letters are the names of the commands in words.
var letters = map[string]string{
	"move-to": "M", "line-to": "L", "curve-to": "C", "quadratic-bezier-curve-to": "Q", "elliptical-arc": "A", "close-path": "Z",
	"line-to-horizontal": "H", "line-to-vertical": "V", "smooth-curve-to": "S", "smooth-quadratic-bezier-curve-to": "T",
}

// PathCommands are all names of commands: ten letters, and ten words for the same.
func PathCommands() []string {
	list := []string{"M", "L", "C", "Q", "A", "Z", "H", "V", "S", "T"}
	return append(list, "move-to", "line-to", "curve-to", "quadratic-bezier-curve-to", "elliptical-arc", "close-path",
		"line-to-horizontal", "line-to-vertical", "smooth-curve-to", "smooth-quadratic-bezier-curve-to")
}

// readPath checks the commands of a path and gives them by their letters.
func readPath(content []Command) ([]Command, error) {
	if len(content) < 2 {
		return nil, wrong("content", "has %d commands, expected at least two", len(content))
	}
	if len(content) > maxCommands {
		return nil, wrong("content", "has %d commands, at most %d are taken", len(content), maxCommands)
	}
	out := make([]Command, len(content))
	for i, c := range content {
		letter, word := letters[c.Command]
		if !word {
			letter = c.Command
		}
		field := fmt.Sprintf("content[%d].command", i)
		if !slices.Contains(PathCommands()[:10], letter) {
			return nil, wrong(field, "is %q, expected one of %s", c.Command, strings.Join(PathCommands(), ", "))
		}
		if i == 0 && letter != "M" {
			return nil, wrong(field, "is %q: a path begins with M", c.Command)
		}
		if err := c.Params.check(i, letter); err != nil {
			return nil, err
		}
		out[i] = Command{letter, c.Params}
		if letter == "Z" {
			out[i].Params = nil
		}
	}
	return out, nil
}

// needs are the members that a command has to have.
var needs = map[string]string{"M": "x y", "L": "x y", "T": "x y", "H": "x", "V": "y", "C": "c1x c1y c2x c2y x y", "S": "c2x c2y x y", "Q": "c1x c1y x y", "A": "rx ry x y", "Z": ""}

func (p *PathParams) check(at int, letter string) error {
	if p == nil {
		p = &PathParams{}
	}
	values := map[string]*float64{"x": p.X, "y": p.Y, "c1x": p.C1X, "c1y": p.C1Y, "c2x": p.C2X, "c2y": p.C2Y, "rx": p.RX, "ry": p.RY}
	for name := range strings.FieldsSeq(needs[letter]) {
		field := fmt.Sprintf("content[%d].params.%s", at, name)
		v := values[name]
		switch {
		case v == nil:
			return wrong(field, "is missing: %s needs %s", letter, strings.ReplaceAll(needs[letter], " ", ", "))
		case math.Abs(*v) > maxPlace:
			return wrong(field, "is %g, expected at most %g", *v, float64(maxPlace))
		case name[0] == 'r' && *v < 0:
			return wrong(field, "is %g, expected 0 or more", *v)
		}
	}
	return nil
}

// pathOf makes the commands of a path, which were checked, a path in their own coordinates.
func pathOf(content []Command) geom.Path {
	var out geom.Path
	var at, start, control geom.Point // control: the last control point, for smooth curves
	last := byte(0)
	for _, c := range content {
		p := c.Params
		letter := c.Command[0]
		mirror := at
		if strings.IndexByte("CS", last) >= 0 && letter == 'S' || strings.IndexByte("QT", last) >= 0 && letter == 'T' {
			mirror = at.Mul(2).Sub(control)
		}
		to := at
		if p != nil {
			to = geom.Point{X: or(p.X, at.X), Y: or(p.Y, at.Y)}
		}
		switch letter {
		case 'M':
			out.MoveTo(to)
			start = to
		case 'L', 'H', 'V':
			out.LineTo(to)
		case 'C':
			control = geom.Point{X: *p.C2X, Y: *p.C2Y}
			out.CurveTo(geom.Point{X: *p.C1X, Y: *p.C1Y}, control, to)
		case 'S':
			control = geom.Point{X: *p.C2X, Y: *p.C2Y}
			out.CurveTo(mirror, control, to)
		case 'Q':
			control = geom.Point{X: *p.C1X, Y: *p.C1Y}
			out.QuadTo(at, control, to)
		case 'T':
			control = mirror
			out.QuadTo(at, control, to)
		case 'A':
			out.ArcTo(at, *p.RX, *p.RY, or(p.XAxisRotation, 0), bool(p.LargeArcFlag), bool(p.SweepFlag), to)
		case 'Z':
			out.Close()
			to = start
		}
		at, last = to, letter
	}
	return out
}

func or(p *float64, fallback float64) float64 {
	if p == nil {
		return fallback
	}
	return *p
}

// contentOf writes a path as commands.
func contentOf(p geom.Path) []Command {
	out := make([]Command, len(p))
	for i, s := range p {
		end := s.P[0]
		params := &PathParams{}
		if s.Op == geom.Curve {
			end = s.P[2]
			params.C1X, params.C1Y, params.C2X, params.C2Y = &s.P[0].X, &s.P[0].Y, &s.P[1].X, &s.P[1].Y
		}
		params.X, params.Y = &end.X, &end.Y
		if s.Op == geom.Close {
			params = nil
		}
		out[i] = Command{string(s.Op), params}
	}
	return out
}

// Outline is a shape's outline on the page before it is turned. Text and groups have none.
func (s *Shape) Outline() geom.Path {
	switch s.Type {
	case Rectangle, Board:
		return geom.RoundedRect(s.Box(), s.Radii)
	case Ellipse:
		return geom.Ellipse(s.Box())
	case PathShape, Boolean:
		p := pathOf(s.Content)
		return p.Transform(geom.Fit(p.Bounds(), s.Box()))
	}
	return nil
}

// SVGPath writes a path as SVG has it.
func SVGPath(p geom.Path) string {
	var b strings.Builder
	number := func(v float64) {
		b.WriteString(strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64))
	}
	for _, s := range p {
		b.WriteByte(byte(s.Op))
		points := map[geom.Op]int{geom.Move: 1, geom.Line: 1, geom.Curve: 3}[s.Op]
		for i := range points {
			if i > 0 {
				b.WriteByte(' ')
			}
			number(s.P[i].X)
			b.WriteByte(' ')
			number(s.P[i].Y)
		}
	}
	return b.String()
}
