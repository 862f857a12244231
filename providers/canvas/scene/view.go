package scene

import (
	"encoding/json"

	"github.com/signalbox/signalbox/providers/canvas/geom"
)

// View is a shape as programs are told of it, with the members of Penpot's shapes.
type View struct {
	ID     string  `json:"id"`
	Type   Type    `json:"type"`
	Name   string  `json:"name"`
	Parent *string `json:"parent"` // null: it lies on the page
	Index  int     `json:"parentIndex"`

	X        float64 `json:"x"`
	Y        float64 `json:"y"`
	Width    float64 `json:"width"`
	Height   float64 `json:"height"`
	Bounds   Bounds  `json:"bounds"` // the visible box
	Rotation float64 `json:"rotation"`
	FlipX    bool    `json:"flipX,omitempty"`
	FlipY    bool    `json:"flipY,omitempty"`

	BorderRadius float64     `json:"borderRadius"`          // of the upper left corner
	BorderRadii  *[4]float64 `json:"borderRadii,omitempty"` // where the corners differ
	ClipContent  *bool       `json:"clipContent,omitempty"` // boards only
	Operation    string      `json:"boolType,omitempty"`    // booleans only
	Component    bool        `json:"component,omitempty"`
	Content      []Command   `json:"content,omitempty"`
	Opacity      float64     `json:"opacity"`
	BlendMode    string      `json:"blendMode"`
	Hidden       bool        `json:"hidden,omitempty"`
	Fills        []Fill      `json:"fills"`
	Strokes      []Stroke    `json:"strokes"`
	Shadows      []Shadow    `json:"shadows"`
	Blur         *Blur       `json:"blur,omitempty"`

	Said         string `json:"text,omitempty"` // what a text says; the members of Text tell how it is set
	*Text        `json:",omitempty"`
	Interactions []Interaction              `json:"interactions,omitempty"`
	Tokens       map[string]string          `json:"tokens,omitempty"`
	Layout       map[string]json.RawMessage `json:"layout,omitempty"`
}

// Bounds is a box as JSON has it.
type Bounds struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// View describes a shape.
func (t *tree) View(sh *Shape) View {
	b := t.Bounds(sh)
	v := View{
		ID: sh.ID, Type: sh.Type, Name: sh.Name, Index: t.index(sh), X: sh.X, Y: sh.Y, Width: sh.Width, Height: sh.Height, Rotation: sh.Rotation, FlipX: sh.FlipX, FlipY: sh.FlipY,
		Bounds: Bounds{tidy(b.X), tidy(b.Y), tidy(b.W), tidy(b.H)}, BorderRadius: sh.Radii[0], Operation: string(sh.Operation), Component: sh.Component, Content: sh.Content,
		Opacity: sh.Opacity, BlendMode: sh.Blend(), Hidden: sh.Hidden, Fills: orEmpty(sh.Fills), Strokes: orEmpty(sh.Strokes), Shadows: orEmpty(sh.Shadows), Blur: sh.Blur,
		Text: sh.Text, Interactions: sh.Interactions, Tokens: sh.Tokens, Layout: sh.Layout,
	}
	if sh.Parent != "" {
		v.Parent = &sh.Parent
	}
	if radii := sh.Radii; radii != [4]float64{radii[0], radii[0], radii[0], radii[0]} {
		v.BorderRadii = &radii
	}
	if sh.Type == Board {
		v.ClipContent = &sh.ClipContent
	}
	if sh.Text != nil {
		v.Said = sh.Text.Characters
	}
	return v
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Views describes all shapes, parents before their children, siblings from bottom to top.
func (t *tree) Views() []View {
	list := []View{}
	for _, sh := range t.All() {
		list = append(list, t.View(sh))
	}
	return list
}

// Frame is the part of the page that a picture of the scene shows: a board by its id, without one the only thing on the page, or the
// box round everything on it.
func (t *tree) Frame(board string) (frame geom.Rect, shapes []*Shape, err error) {
	if board != "" {
		sh, err := t.find("board", board)
		if err != nil {
			return geom.Rect{}, nil, err
		}
		return t.Bounds(sh), []*Shape{sh}, nil
	}
	shapes = t.Children("")
	if len(shapes) == 0 {
		return geom.Rect{}, nil, wrong("scene", "nothing is drawn yet")
	}
	var boxes []geom.Rect
	for _, sh := range shapes {
		boxes = append(boxes, t.Bounds(sh))
	}
	return geom.Union(boxes...), shapes, nil
}
