package scene

import (
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/providers/canvas/geom"
)

// tidy takes the noise of arithmetic off a coordinate.
func tidy(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// turned is an angle from 0 to less than 360.
func turned(degrees float64) float64 {
	degrees = tidy(math.Mod(degrees, 360))
	if degrees < 0 {
		degrees += 360
	}
	return math.Mod(degrees, 360)
}

// Create draws a new shape. Without a place it lies in its parent's corner; without a size it is 100 by 100, a text as large as it gets, and a path as its content.
func (s *Scene) Create(kind Type, p Props) (*Shape, error) {
	sh := &Shape{ID: uuid.NewString(), Type: kind, Name: cases[kind], Width: 100, Height: 100, Opacity: 1, ClipContent: kind == Board}
	parent, err := s.parent(p)
	if err != nil {
		return nil, err
	}
	if parent != nil {
		sh.Parent, sh.X, sh.Y = parent.ID, parent.X, parent.Y
	}
	if kind == TextShape {
		sh.Text = s.defaultText()
	}
	if err := s.apply(sh, p); err != nil {
		return nil, err
	}
	switch {
	case kind == TextShape && sh.Text.Characters == "":
		return nil, wrong("characters", "is missing")
	case kind == PathShape && sh.Content == nil:
		return nil, wrong("content", "is missing")
	case kind == PathShape:
		sh.spread(p)
	}
	sh.defaults(p)
	if err := s.add(sh); err != nil {
		return nil, err
	}
	s.stack(sh, p)
	s.fit(sh)
	return sh, nil
}

// cases are the names of shapes that were given none.
var cases = map[Type]string{Board: "Board", Rectangle: "Rectangle", Ellipse: "Ellipse", TextShape: "Text", PathShape: "Path", Boolean: "Boolean", Group: "Group"}

// spread gives a path the box of its content, as far as nobody said another.
func (s *Shape) spread(p Props) {
	b := pathOf(s.Content).Bounds()
	if p.Width == nil {
		s.Width = max(b.W, 0.01)
	}
	if p.Height == nil {
		s.Height = max(b.H, 0.01)
	}
	if p.X == nil && p.ParentX == nil {
		s.X = b.X
	}
	if p.Y == nil && p.ParentY == nil {
		s.Y = b.Y
	}
}

// defaults are the colours of what was given none, as Penpot has them: a board is white, a text black, a path a black line.
func (s *Shape) defaults(p Props) {
	if p.Fills != nil || p.Color != nil || p.TextColor != nil || p.BackgroundImage != nil {
		return
	}
	switch s.Type {
	case Board:
		s.Fills = []Fill{{Color: "#FFFFFF", Opacity: 1}}
	case TextShape:
		s.Fills = []Fill{{Color: "#000000", Opacity: 1}}
	case Rectangle, Ellipse:
		if p.Strokes == nil {
			s.Fills = []Fill{{Color: "#B1B2B5", Opacity: 1}}
		}
	case PathShape:
		if p.Strokes == nil {
			s.Strokes = []Stroke{{Color: "#000000", Opacity: 1, Style: "solid", Width: 2}}
		}
	}
}

// parent finds what is to hold a new shape; nil: the page.
func (s *Scene) parent(p Props) (*Shape, error) {
	if p.Stacking != nil {
		if err := oneOf("stacking", *p.Stacking, "above", "below"); err != nil {
			return nil, err
		}
	}
	if p.ParentIndex != nil && *p.ParentIndex < 0 {
		return nil, wrong("parentIndex", "is %d, expected 0 or more", *p.ParentIndex)
	}
	if p.ParentID == nil || *p.ParentID == "" {
		return nil, nil
	}
	parent, err := s.find("parentId", *p.ParentID)
	if err == nil && !parent.Type.holds() {
		err = wrong("parentId", "%q is a %s, expected a board or a group", parent.Name, parent.Type)
	}
	return parent, err
}

// stack moves a shape to where it was said to be among its siblings.
func (s *Scene) stack(sh *Shape, p Props) {
	switch {
	case p.ParentIndex != nil:
		s.place(sh, sh.Parent, *p.ParentIndex)
	case p.Stacking != nil && *p.Stacking == "below":
		s.place(sh, sh.Parent, 0)
	}
}

// Modify changes a shape of a type, and takes away from it: fills, strokes, shadows, blur, grid, flex, interactions. An empty type is any.
func (s *Scene) Modify(kind Type, id string, p Props, remove []string) (*Shape, error) {
	sh, err := s.find("shapeId", id)
	if err != nil {
		return nil, err
	}
	if kind != "" && sh.Type != kind {
		return nil, wrong("shapeId", "%q is a %s, expected a %s", sh.Name, sh.Type, kind)
	}
	s.edit(sh)
	if err := s.reparent(sh, p); err != nil {
		return nil, err
	}
	for _, what := range remove {
		if err := sh.take(what); err != nil {
			return nil, err
		}
	}
	if err := s.apply(sh, p); err != nil {
		return nil, err
	}
	s.fit(sh)
	return sh, nil
}

// reparent moves a shape into another parent, on top, or to a place among its siblings.
func (s *Scene) reparent(sh *Shape, p Props) error {
	parent, err := s.parent(p)
	if err != nil {
		return err
	}
	if parent != nil && parent.ID != sh.Parent {
		if slices.Contains(s.withAll(sh), parent) {
			return wrong("parentId", "%q lies in the shape itself", parent.Name)
		}
		old := s.shapes[sh.Parent]
		s.place(sh, parent.ID, len(s.kids[parent.ID]))
		s.fit(old)
	}
	s.stack(sh, p)
	return nil
}

func (s *Shape) take(what string) error {
	switch what {
	case "fills":
		s.Fills = nil
	case "strokes":
		s.Strokes = nil
	case "shadows":
		s.Shadows = nil
	case "blur":
		s.Blur = nil
	case "interactions":
		s.Interactions = nil
	case "grid", "flex":
		layout := map[string]jsonValue{}
		for name, v := range s.Layout {
			if name != what {
				layout[name] = v
			}
		}
		s.Layout = layout
	default:
		return oneOf("propertiesToRemove", what, "fills", "strokes", "shadows", "blur", "grid", "flex", "interactions")
	}
	return nil
}

// carry moves the centres of a shape and of all that it holds, and changes each.
func (s *Scene) carry(sh *Shape, by geom.Matrix, change func(*Shape)) {
	for _, one := range s.withAll(sh) {
		s.edit(one)
		c := by.Apply(one.Box().Center())
		one.X, one.Y = tidy(c.X-one.Width/2), tidy(c.Y-one.Height/2)
		change(one)
	}
}

// turn turns a shape with all that it holds about a point.
func turn(s *Scene, sh *Shape, by float64, about geom.Point) {
	if turned(by) != 0 {
		s.carry(sh, geom.Rotate(by, about), func(one *Shape) { one.Rotation = turned(one.Rotation + by) })
	}
}

// mirror turns a shape over with all that it holds, along its own sides, which may be turned.
func mirror(s *Scene, sh *Shape, x, y bool) {
	if !x && !y {
		return
	}
	angle, c := sh.Rotation, sh.Box().Center()
	s.carry(sh, geom.Rotate(angle, c).Mul(geom.Mirror(x, y, c)).Mul(geom.Rotate(-angle, c)), func(one *Shape) {
		one.FlipX, one.FlipY = one.FlipX != x, one.FlipY != y
		if x != y { // a mirror turns the other way, two make a half turn
			one.Rotation = turned(2*angle - one.Rotation)
		}
	})
}

// Rotate turns a shape further, about its own centre or another point.
func (s *Scene) Rotate(id string, angle float64, center *geom.Point) (*Shape, error) {
	sh, err := s.find("shapeId", id)
	if err != nil {
		return nil, err
	}
	if err := check("angle", angle, -3600, 3600); err != nil {
		return nil, err
	}
	about := sh.Box().Center()
	if center != nil {
		about = *center
		if err := firstOf(check("center.x", about.X, -maxPlace, maxPlace), check("center.y", about.Y, -maxPlace, maxPlace)); err != nil {
			return nil, err
		}
	}
	turn(s, sh, angle, about)
	s.fit(sh)
	return sh, nil
}

// Clone copies a shape with all that it holds, on top of its parent's children or where p says.
func (s *Scene) Clone(id string, p Props) (*Shape, error) {
	sh, err := s.find("shapeId", id)
	if err != nil {
		return nil, err
	}
	all := s.withAll(sh)
	if len(s.shapes)+len(all) > maxShapes {
		return nil, wrong("shapeId", "the copy has %d shapes, and the scene has room for %d more", len(all), maxShapes-len(s.shapes))
	}
	ids := map[string]string{}
	for _, one := range all {
		c := one.clone()
		c.ID, ids[one.ID] = uuid.NewString(), ""
		ids[one.ID] = c.ID
		if one != sh {
			c.Parent = ids[one.Parent]
		}
		if err := s.add(c); err != nil {
			return nil, err
		}
	}
	copied := s.shapes[ids[sh.ID]]
	if err := s.reparent(copied, p); err != nil {
		return nil, err
	}
	if err := s.applyBox(copied, p); err != nil {
		return nil, err
	}
	s.fit(copied)
	return copied, nil
}

// Delete takes a shape out, with all that it holds, and tells how many shapes that were.
func (s *Scene) Delete(id string) (sh *Shape, count int, err error) {
	if sh, err = s.find("shapeId", id); err != nil {
		return nil, 0, err
	}
	count = len(s.withAll(sh))
	parent := s.shapes[sh.Parent]
	s.remove(sh)
	for ; parent != nil && parent.Type == Group && len(s.kids[parent.ID]) == 0; parent = s.shapes[parent.Parent] {
		s.remove(parent) // a group of nothing is nothing
	}
	s.fit(parent)
	return sh, count, nil
}

// Warnings tell what a shape covers that was drawn before it: a background has to be drawn first. It names at most ten.
func (t *tree) Warnings(sh *Shape) []string {
	if sh.Type == TextShape || sh.Type == Group || sh.Opacity < 1 || sh.Rotation != 0 || !slices.ContainsFunc(sh.Fills, func(f Fill) bool { return f.Opacity == 1 }) {
		return nil
	}
	var list []string
	area := t.Bounds(sh)
	for _, other := range t.Children(sh.Parent)[:t.index(sh)] {
		if !other.Hidden && area.Covers(t.Bounds(other)) {
			list = append(list, fmt.Sprintf("%s %q covers %s %q, which was drawn before: draw backgrounds first, or with stacking below", sh.Type, sh.Name, other.Type, other.Name))
		}
	}
	return list[:min(len(list), 10)]
}
