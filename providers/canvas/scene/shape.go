// Package scene is a drawing as data, and what can be done with it: one core of operations for all tools that draw. It knows no
// database, no fonts and no pixels.
//
// All coordinates are those of the page, whatever a shape's parent is. A shape's box is that before it is mirrored and turned about its centre.
// Groups and boards move, turn and are mirrored with all that they hold. Last drawn is on top.
package scene

import (
	"encoding/json"
	"slices"

	"github.com/signalbox/signalbox/providers/canvas/geom"
)

// Type is what a shape is.
type Type string

// The types, with Penpot's names for them.
const (
	Board     Type = "board"
	Rectangle Type = "rectangle"
	Ellipse   Type = "ellipse"
	TextShape Type = "text"
	PathShape Type = "path"
	Boolean   Type = "boolean" // the outline of what was combined; the operands are gone
	Group     Type = "group"
)

// holds tells whether shapes of the type have children.
func (t Type) holds() bool { return t == Board || t == Group }

// Shape is one thing in a scene.
type Shape struct {
	ID     string  `json:"id"`
	Type   Type    `json:"type"`
	Name   string  `json:"name"`
	Parent string  `json:"parent,omitempty"` // empty: it lies on the page
	Rank   float64 `json:"rank"`             // orders the children of a parent, the lowest first

	X        float64 `json:"x"`
	Y        float64 `json:"y"`
	Width    float64 `json:"width"`
	Height   float64 `json:"height"`
	Rotation float64 `json:"rotation,omitempty"` // 0 to less than 360
	FlipX    bool    `json:"flipX,omitempty"`
	FlipY    bool    `json:"flipY,omitempty"`

	Radii       [4]float64 `json:"radii,omitzero"` // of the corners, clockwise from the upper left one
	Opacity     float64    `json:"opacity"`
	BlendMode   string     `json:"blendMode,omitempty"` // empty: normal
	Hidden      bool       `json:"hidden,omitempty"`
	Blocked     bool       `json:"blocked,omitempty"`
	ClipContent bool       `json:"clipContent,omitempty"` // boards: children end at its edge
	Fills       []Fill     `json:"fills,omitempty"`       // the first is on top
	Strokes     []Stroke   `json:"strokes,omitempty"`     // the first is on top
	Shadows     []Shadow   `json:"shadows,omitempty"`
	Blur        *Blur      `json:"blur,omitempty"`

	Text      *Text          `json:"text,omitempty"`
	Content   []Command      `json:"content,omitempty"` // of paths, in coordinates of their own: its bounds are laid on the box
	Operation geom.Operation `json:"operation,omitempty"`
	Component bool           `json:"component,omitempty"` // it was made one

	Interactions []Interaction `json:"interactions,omitempty"`
	// Tokens are the names of design tokens by the attribute that each gives.
	Tokens map[string]string `json:"tokens,omitempty"`
	// Layout is how a board lays out what it holds (flex or grid, horizontalSizing, verticalSizing), and how a shape lies in such a board (layoutChild,
	// layoutCell); the constraints are for Penpot.
	Layout map[string]json.RawMessage `json:"layout,omitempty"`
}

// Box is the shape's box before it is turned.
func (s *Shape) Box() geom.Rect { return geom.Rect{X: s.X, Y: s.Y, W: s.Width, H: s.Height} }

// Turn maps the shape from its box to where it is seen.
func (s *Shape) Turn() geom.Matrix {
	c := s.Box().Center()
	return geom.Rotate(s.Rotation, c).Mul(geom.Mirror(s.FlipX, s.FlipY, c))
}

// Blend is the blend mode, also where it is the normal one.
func (s *Shape) Blend() string {
	if s.BlendMode == "" {
		return "normal"
	}
	return s.BlendMode
}

// clone copies what is changed in place. Slices are replaced whole, never written to.
func (s *Shape) clone() *Shape {
	if s == nil {
		return nil
	}
	c := *s
	if s.Text != nil {
		text := *s.Text
		c.Text = &text
	}
	return &c
}

// Fill is a colour, a gradient or a picture in an area.
type Fill struct {
	Color    string    `json:"fillColor,omitempty"` // #RRGGBB in capitals
	Opacity  float64   `json:"fillOpacity"`
	Gradient *Gradient `json:"fillColorGradient,omitempty"`
	Image    *Image    `json:"fillImage,omitempty"`
}

// UnmarshalJSON reads a fill, which is opaque where it does not say.
func (f *Fill) UnmarshalJSON(raw []byte) error {
	type plain Fill
	v := plain{Opacity: 1}
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	*f = Fill(v)
	return nil
}

// Gradient goes from one point to another, in fractions of the shape's box, and keeps its colour beyond them. A radial one has its
// centre at the start, and its radius leads to the end; Width is how wide it is against that.
type Gradient struct {
	Type   string  `json:"type"` // linear, radial
	StartX float64 `json:"startX"`
	StartY float64 `json:"startY"`
	EndX   float64 `json:"endX"`
	EndY   float64 `json:"endY"`
	Width  float64 `json:"width,omitempty"`
	Stops  []Stop  `json:"stops"`
}

// Stop is a colour at a place of a gradient, 0 to 1.
type Stop struct {
	Color   string  `json:"color"`
	Opacity float64 `json:"opacity"`
	Offset  float64 `json:"offset"`
}

// UnmarshalJSON reads a stop, which is opaque where it does not say.
func (s *Stop) UnmarshalJSON(raw []byte) error {
	type plain Stop
	v := plain{Opacity: 1}
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	*s = Stop(v)
	return nil
}

// Image is a picture that covers the box in its own proportions. ID is a reference to a stored file.
type Image struct {
	ID              string `json:"id"`
	Width           int    `json:"width,omitempty"`
	Height          int    `json:"height,omitempty"`
	Name            string `json:"name,omitempty"`
	MIMEType        string `json:"mtype,omitempty"`
	KeepAspectRatio bool   `json:"keepAspectRatio,omitempty"`
}

// Stroke is a line along a shape's outline.
type Stroke struct {
	Color     string    `json:"strokeColor,omitempty"`
	Opacity   float64   `json:"strokeOpacity"`
	Style     string    `json:"strokeStyle"` // solid, dotted, dashed, mixed, none
	Width     float64   `json:"strokeWidth"`
	Alignment string    `json:"strokeAlignment,omitempty"` // empty: center
	CapStart  string    `json:"strokeCapStart,omitempty"`
	CapEnd    string    `json:"strokeCapEnd,omitempty"`
	Gradient  *Gradient `json:"strokeColorGradient,omitempty"`
}

// UnmarshalJSON reads a stroke, which is solid and opaque where it does not say.
func (s *Stroke) UnmarshalJSON(raw []byte) error {
	type plain Stroke
	v := plain{Opacity: 1, Style: "solid", Width: -1}
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	*s = Stroke(v)
	return nil
}

// Shadow is the shape's silhouette, moved, spread and blurred, below it or within it. Blur is twice the deviation of the Gaussian.
type Shadow struct {
	Style   string      `json:"style"` // drop-shadow, inner-shadow
	OffsetX float64     `json:"offsetX"`
	OffsetY float64     `json:"offsetY"`
	Blur    float64     `json:"blur"`
	Spread  float64     `json:"spread"`
	Hidden  bool        `json:"hidden,omitempty"`
	Color   ShadowColor `json:"color"`
}

// ShadowColor is a colour and how opaque it is.
type ShadowColor struct {
	Color   string  `json:"color"`
	Opacity float64 `json:"opacity"`
}

// UnmarshalJSON reads a shadow's colour, which is opaque where it does not say.
func (c *ShadowColor) UnmarshalJSON(raw []byte) error {
	type plain ShadowColor
	v := plain{Opacity: 1}
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	*c = ShadowColor(v)
	return nil
}

// Blur makes a shape unsharp, by a Gaussian of the deviation Value.
type Blur struct {
	Value  float64 `json:"value"`
	Hidden bool    `json:"hidden,omitempty"`
}

// Text is what a text shape says, and how it is set.
type Text struct {
	Characters    string  `json:"characters"`
	FontFamily    string  `json:"fontFamily"`
	FontSize      float64 `json:"fontSize"`
	FontWeight    string  `json:"fontWeight"` // a number of CSS, or bold, ...
	FontStyle     string  `json:"fontStyle"`  // normal, italic
	LineHeight    float64 `json:"lineHeight"` // by the font size
	LetterSpacing float64 `json:"letterSpacing,omitempty"`
	Align         string  `json:"align"`
	VerticalAlign string  `json:"verticalAlign,omitempty"` // empty: top
	Transform     string  `json:"textTransform,omitempty"`
	Decoration    string  `json:"textDecoration,omitempty"`
	Direction     string  `json:"direction,omitempty"`
	GrowType      string  `json:"growType"`
	Ranges        []Range `json:"ranges,omitempty"` // later ones win
}

// Range gives a part of a text, by characters from Start to before End, another look. Empty members leave it as it is.
type Range struct {
	Start         int     `json:"start"`
	End           int     `json:"end"`
	FontFamily    string  `json:"fontFamily,omitempty"`
	FontSize      float64 `json:"fontSize,omitempty"`
	FontWeight    string  `json:"fontWeight,omitempty"`
	FontStyle     string  `json:"fontStyle,omitempty"`
	LetterSpacing float64 `json:"letterSpacing,omitempty"`
	Transform     string  `json:"textTransform,omitempty"`
	Decoration    string  `json:"textDecoration,omitempty"`
	Fills         []Fill  `json:"fills,omitempty"`
}

// BlendModes are the sixteen, with the names of CSS (W3C Compositing and Blending).
func BlendModes() []string {
	return []string{"normal", "darken", "multiply", "color-burn", "lighten", "screen", "color-dodge", "overlay", "soft-light", "hard-light",
		"difference", "exclusion", "hue", "saturation", "color", "luminosity"}
}

// Images are the references of all pictures that a shape is filled with.
func (s *Shape) Images() []string {
	var refs []string
	for _, f := range s.Fills {
		if f.Image != nil {
			refs = append(refs, f.Image.ID)
		}
	}
	return slices.Compact(refs)
}
