package scene

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/providers/canvas/geom"
)

// What a shape's numbers are bounded by.
const (
	maxPlace = 1e6    // coordinates
	maxSize  = 50_000 // width and height
	maxText  = 20_000 // characters
	maxList  = 100    // fills, strokes, shadows of one shape
	maxName  = 200
)

// Props are what a tool says of a shape, in the words of both sets of tools: text and characters, textAlign and align, color and fills. What is
// nil was not said.
type Props struct {
	Name        *string  `json:"name"`
	X           *float64 `json:"x"`
	Y           *float64 `json:"y"`
	ParentX     *float64 `json:"parentX"`
	ParentY     *float64 `json:"parentY"`
	Width       *float64 `json:"width"`
	Height      *float64 `json:"height"`
	Rotation    *float64 `json:"rotation"`
	FlipX       *bool    `json:"flipX"`
	FlipY       *bool    `json:"flipY"`
	ParentID    *string  `json:"parentId"`
	ParentIndex *int     `json:"parentIndex"`
	Stacking    *string  `json:"stacking"`

	BorderRadius            *float64  `json:"borderRadius"`
	BorderRadiusTopLeft     *float64  `json:"borderRadiusTopLeft"`
	BorderRadiusTopRight    *float64  `json:"borderRadiusTopRight"`
	BorderRadiusBottomRight *float64  `json:"borderRadiusBottomRight"`
	BorderRadiusBottomLeft  *float64  `json:"borderRadiusBottomLeft"`
	Opacity                 *float64  `json:"opacity"`
	BlendMode               *string   `json:"blendMode"`
	Hidden                  *bool     `json:"hidden"`
	Blocked                 *bool     `json:"blocked"`
	ClipContent             *bool     `json:"clipContent"`
	Color                   *string   `json:"color"`
	Fills                   *[]Fill   `json:"fills"`
	BackgroundImage         *string   `json:"backgroundImage"`
	Strokes                 *[]Stroke `json:"strokes"`
	Shadows                 *[]Shadow `json:"shadows"`
	Blur                    *Blur     `json:"blur"`

	Text           *string    `json:"text"`
	Characters     *string    `json:"characters"`
	FontFamily     *string    `json:"fontFamily"`
	FontSize       *Figure    `json:"fontSize"`
	FontWeight     *Word      `json:"fontWeight"`
	FontStyle      *string    `json:"fontStyle"`
	TextAlign      *string    `json:"textAlign"`
	Align          *string    `json:"align"`
	VerticalAlign  *string    `json:"verticalAlign"`
	LineHeight     *Figure    `json:"lineHeight"`
	LetterSpacing  *Figure    `json:"letterSpacing"`
	TextTransform  *string    `json:"textTransform"`
	TextDecoration *string    `json:"textDecoration"`
	Direction      *string    `json:"direction"`
	GrowType       *string    `json:"growType"`
	TextColor      *string    `json:"textColor"`
	Content        *[]Command `json:"content"`

	Flex                  json.RawMessage   `json:"flex"`
	Grid                  json.RawMessage   `json:"grid"`
	LayoutChild           json.RawMessage   `json:"layoutChild"`
	LayoutCell            json.RawMessage   `json:"layoutCell"`
	ConstraintsHorizontal json.RawMessage   `json:"constraintsHorizontal"`
	ConstraintsVertical   json.RawMessage   `json:"constraintsVertical"`
	HorizontalSizing      json.RawMessage   `json:"horizontalSizing"`
	VerticalSizing        json.RawMessage   `json:"verticalSizing"`
	Tokens                map[string]string `json:"tokens"`
}

// Figure is a number that may also be written as a text, as Penpot has it: 16 or "16".
type Figure float64

// UnmarshalJSON reads both.
func (f *Figure) UnmarshalJSON(raw []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return &json.UnmarshalTypeError{Value: string(raw), Field: "number"}
	}
	*f = Figure(v)
	return nil
}

// Word is a text that may also be written as a number: "700" or 700.
type Word string

// UnmarshalJSON reads both.
func (w *Word) UnmarshalJSON(raw []byte) error {
	*w = Word(strings.Trim(string(raw), `"`))
	return nil
}

// Decode reads inputs into what an operation takes. What it does not know is refused, and an error is an *Error with the member's name.
func Decode(inputs map[string]any, into any) error {
	for name, v := range inputs {
		if list, ok := v.([]any); ok && len(list) > maxCommands {
			return wrong(name, "has %d entries, at most %d are taken", len(list), maxCommands)
		}
	}
	raw, err := json.Marshal(inputs)
	if err != nil {
		return fmt.Errorf("read inputs: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err = d.Decode(into)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return wrong(kind.Field, "is %s, which can't be read as what is expected here", kind.Value)
	}
	if err == nil {
		return nil
	}
	if _, name, unknown := strings.Cut(err.Error(), "unknown field "); unknown {
		return wrong(strings.Trim(name, `"`), "is nothing that can be set here")
	}
	return wrong("", "the inputs can't be read: %v", err)
}

var hex = regexp.MustCompile(`^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$`)

// Color reads #RGB and #RRGGBB in any case and writes #RRGGBB in capitals.
func Color(field, v string) (string, error) {
	if !hex.MatchString(v) {
		return "", wrong(field, "is %q, expected a colour as #RRGGBB or #RGB", v)
	}
	v = strings.ToUpper(v)
	if len(v) == 4 {
		v = string([]byte{'#', v[1], v[1], v[2], v[2], v[3], v[3]})
	}
	return v, nil
}

// check is for numbers that have to be there and lie between bounds.
func check(field string, v, low, high float64) error {
	if !(v >= low && v <= high) { // also NaN
		return wrong(field, "is %g, expected %g to %g", v, low, high)
	}
	return nil
}

func oneOf(field, v string, allowed ...string) error {
	if slices.Contains(allowed, v) {
		return nil
	}
	return wrong(field, "is %q, expected one of %s", v, strings.Join(allowed, ", "))
}

// apply gives a shape what was said of it, apart from its place in the tree. Nothing is kept of a shape for which it fails.
func (s *Scene) apply(sh *Shape, p Props) error {
	for _, step := range []func(*Shape, Props) error{s.applyBox, s.applyLook, s.applyPaint, s.applyText, s.applyPath, s.applyLayout} {
		if err := step(sh, p); err != nil {
			return err
		}
	}
	return nil
}

// set takes a value that was said.
func set[T any](to *T, v *T) {
	if v != nil {
		*to = *v
	}
}

func (s *Scene) applyBox(sh *Shape, p Props) error {
	if p.Name != nil {
		if len([]rune(*p.Name)) > maxName {
			return wrong("name", "has %d characters, at most %d are taken", len([]rune(*p.Name)), maxName)
		}
		sh.Name = *p.Name
	}
	was := sh.Box()
	at := geom.Point{X: sh.X, Y: sh.Y}
	parent := geom.Point{}
	if up, ok := s.shapes[sh.Parent]; ok {
		parent = geom.Point{X: up.X, Y: up.Y}
	}
	for _, n := range []struct {
		field     string
		v         *float64
		to        *float64
		plus      float64
		low, high float64
	}{
		{"x", p.X, &at.X, 0, -maxPlace, maxPlace}, {"y", p.Y, &at.Y, 0, -maxPlace, maxPlace},
		{"parentX", p.ParentX, &at.X, parent.X, -maxPlace, maxPlace}, {"parentY", p.ParentY, &at.Y, parent.Y, -maxPlace, maxPlace},
		{"width", p.Width, &sh.Width, 0, 0, maxSize}, {"height", p.Height, &sh.Height, 0, 0, maxSize},
	} {
		if n.v == nil {
			continue
		}
		if err := check(n.field, *n.v, n.low, n.high); err != nil {
			return err
		}
		if n.low == 0 && *n.v == 0 {
			return wrong(n.field, "is 0, expected more")
		}
		*n.to = *n.v + n.plus
	}
	if sh.Type == Group && (sh.Width != was.W || sh.Height != was.H) {
		s.stretch(sh, was, geom.Rect{X: was.X, Y: was.Y, W: sh.Width, H: sh.Height})
	}
	s.shift(sh, at.Sub(geom.Point{X: sh.X, Y: sh.Y}))
	mirror(s, sh, p.FlipX != nil && *p.FlipX != sh.FlipX, p.FlipY != nil && *p.FlipY != sh.FlipY)
	if p.Rotation != nil {
		if err := check("rotation", *p.Rotation, -3600, 3600); err != nil {
			return err
		}
		turn(s, sh, *p.Rotation-sh.Rotation, sh.Box().Center())
	}
	return nil
}

// stretch fits what a group holds into another box.
func (s *Scene) stretch(g *Shape, from, to geom.Rect) {
	m := geom.Fit(from, to)
	for _, one := range s.below(g.ID) {
		s.edit(one)
		b := m.Bounds(one.Box())
		one.X, one.Y, one.Width, one.Height = tidy(b.X), tidy(b.Y), tidy(b.W), tidy(b.H)
	}
}

func (s *Scene) applyLook(sh *Shape, p Props) error {
	if p.BorderRadius != nil {
		p.BorderRadiusTopLeft, p.BorderRadiusTopRight = or2(p.BorderRadiusTopLeft, p.BorderRadius), or2(p.BorderRadiusTopRight, p.BorderRadius)
		p.BorderRadiusBottomRight, p.BorderRadiusBottomLeft = or2(p.BorderRadiusBottomRight, p.BorderRadius), or2(p.BorderRadiusBottomLeft, p.BorderRadius)
		if err := check("borderRadius", *p.BorderRadius, 0, maxSize); err != nil {
			return err
		}
	}
	for i, name := range []string{"TopLeft", "TopRight", "BottomRight", "BottomLeft"} {
		v := [4]*float64{p.BorderRadiusTopLeft, p.BorderRadiusTopRight, p.BorderRadiusBottomRight, p.BorderRadiusBottomLeft}[i]
		if v == nil {
			continue
		}
		if err := check("borderRadius"+name, *v, 0, maxSize); err != nil {
			return err
		}
		sh.Radii[i] = *v
	}
	if p.Opacity != nil {
		if err := check("opacity", *p.Opacity, 0, 1); err != nil {
			return err
		}
		sh.Opacity = *p.Opacity
	}
	if p.BlendMode != nil {
		if err := oneOf("blendMode", *p.BlendMode, BlendModes()...); err != nil {
			return err
		}
		sh.BlendMode = *p.BlendMode
	}
	set(&sh.Hidden, p.Hidden)
	set(&sh.Blocked, p.Blocked)
	set(&sh.ClipContent, p.ClipContent)
	return nil
}

func or2(first, second *float64) *float64 {
	if first != nil {
		return first
	}
	return second
}

func (s *Scene) applyPaint(sh *Shape, p Props) error {
	fills, err := p.fills()
	if err != nil {
		return err
	}
	if fills != nil {
		sh.Fills = *fills
	}
	if p.Strokes != nil {
		if sh.Strokes, err = readStrokes(*p.Strokes); err != nil {
			return err
		}
	}
	if p.Shadows != nil {
		if sh.Shadows, err = readShadows(*p.Shadows); err != nil {
			return err
		}
	}
	if p.Blur != nil {
		if err := check("blur.value", p.Blur.Value, 0, 500); err != nil {
			return err
		}
		sh.Blur = p.Blur
	}
	return nil
}

// fills are the fills that were said: fills win over a colour, and a background image lies over both. nil: nothing was said.
func (p Props) fills() (*[]Fill, error) {
	var fills *[]Fill
	for _, c := range []struct {
		field string
		v     *string
	}{{"color", p.Color}, {"textColor", p.TextColor}} {
		if c.v == nil {
			continue
		}
		color, err := Color(c.field, *c.v)
		if err != nil {
			return nil, err
		}
		fills = &[]Fill{{Color: color, Opacity: 1}}
	}
	if p.Fills != nil {
		read, err := readFills("fills", *p.Fills)
		if err != nil {
			return nil, err
		}
		fills = &read
	}
	if p.BackgroundImage != nil {
		all := []Fill{{Opacity: 1, Image: &Image{ID: *p.BackgroundImage, KeepAspectRatio: true}}}
		if fills != nil {
			all = append(all, *fills...)
		}
		fills = &all
	}
	return fills, nil
}

func tooMany(field string, n int) error {
	if n > maxList {
		return wrong(field, "has %d entries, at most %d are taken", n, maxList)
	}
	return nil
}

func readFills(field string, fills []Fill) ([]Fill, error) {
	if err := tooMany(field, len(fills)); err != nil {
		return nil, err
	}
	out := slices.Clone(fills)
	for i := range out {
		f, at := &out[i], fmt.Sprintf("%s[%d].", field, i)
		if err := check(at+"fillOpacity", f.Opacity, 0, 1); err != nil {
			return nil, err
		}
		var err error
		switch {
		case f.Image != nil:
			if f.Image.ID == "" {
				return nil, wrong(at+"fillImage.id", "is missing")
			}
		case f.Gradient != nil:
			f.Gradient, err = f.Gradient.read(at + "fillColorGradient.")
		default:
			f.Color, err = Color(at+"fillColor", f.Color)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (g *Gradient) read(at string) (*Gradient, error) {
	out := *g
	if err := oneOf(at+"type", g.Type, "linear", "radial"); err != nil {
		return nil, err
	}
	if len(g.Stops) < 1 || len(g.Stops) > maxList {
		return nil, wrong(at+"stops", "has %d entries, expected 1 to %d", len(g.Stops), maxList)
	}
	for _, v := range []float64{g.StartX, g.StartY, g.EndX, g.EndY, g.Width} {
		if err := check(at+"startX to width", v, -1000, 1000); err != nil {
			return nil, err
		}
	}
	out.Stops = slices.Clone(g.Stops)
	for i := range out.Stops {
		stop, field := &out.Stops[i], fmt.Sprintf("%sstops[%d].", at, i)
		var err error
		if stop.Color, err = Color(field+"color", stop.Color); err != nil {
			return nil, err
		}
		if err = errors.Join(check(field+"opacity", stop.Opacity, 0, 1), check(field+"offset", stop.Offset, 0, 1)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out.Stops, func(a, b Stop) int { return cmp.Compare(a.Offset, b.Offset) })
	return &out, nil
}

// Caps are the ends that a line can have.
func Caps() []string {
	return []string{"round", "square", "line-arrow", "triangle-arrow", "square-marker", "circle-marker", "diamond-marker"}
}

func readStrokes(strokes []Stroke) ([]Stroke, error) {
	if err := tooMany("strokes", len(strokes)); err != nil {
		return nil, err
	}
	out := slices.Clone(strokes)
	for i := range out {
		t, at := &out[i], fmt.Sprintf("strokes[%d].", i)
		if t.Width < 0 {
			return nil, wrong(at+"strokeWidth", "is missing or below 0, expected pixels")
		}
		err := firstOf(check(at+"strokeWidth", t.Width, 0, 5000), check(at+"strokeOpacity", t.Opacity, 0, 1),
			oneOf(at+"strokeStyle", t.Style, "solid", "dotted", "dashed", "mixed", "none", "svg"),
			oneOf(at+"strokeAlignment", t.Alignment, "", "center", "inner", "outer"),
			oneOf(at+"strokeCapStart", t.CapStart, append(Caps(), "")...), oneOf(at+"strokeCapEnd", t.CapEnd, append(Caps(), "")...))
		if err != nil {
			return nil, err
		}
		if t.Gradient != nil {
			t.Gradient, err = t.Gradient.read(at + "strokeColorGradient.")
		} else {
			t.Color, err = Color(at+"strokeColor", t.Color)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func readShadows(shadows []Shadow) ([]Shadow, error) {
	if err := tooMany("shadows", len(shadows)); err != nil {
		return nil, err
	}
	out := slices.Clone(shadows)
	for i := range out {
		w, at := &out[i], fmt.Sprintf("shadows[%d].", i)
		w.Style = cmp.Or(w.Style, "drop-shadow")
		err := firstOf(oneOf(at+"style", w.Style, "drop-shadow", "inner-shadow"), check(at+"blur", w.Blur, 0, 1000), check(at+"spread", w.Spread, -1000, 1000),
			check(at+"offsetX", w.OffsetX, -5000, 5000), check(at+"offsetY", w.OffsetY, -5000, 5000), check(at+"color.opacity", w.Color.Opacity, 0, 1))
		if err == nil {
			w.Color.Color, err = Color(at+"color.color", w.Color.Color)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Scene) applyPath(sh *Shape, p Props) error {
	if p.Content == nil {
		return nil
	}
	if sh.Type != PathShape {
		return wrong("content", "is for paths, and this is a %s", sh.Type)
	}
	content, err := readPath(*p.Content)
	if err != nil {
		return err
	}
	sh.Content = content
	return nil
}
