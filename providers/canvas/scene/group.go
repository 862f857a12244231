package scene

import (
	"slices"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/providers/canvas/geom"
)

// order sorts shapes from bottom to top, whatever holds them.
func (s *Scene) sorted(shapes []*Shape) []*Shape {
	var list []*Shape
	for _, sh := range s.All() {
		if slices.Contains(shapes, sh) {
			list = append(list, sh)
		}
	}
	return list
}

// gather makes a shape that holds others, in the place of the topmost one.
func (s *Scene) gather(kind Type, shapes []*Shape, name string) (*Shape, error) {
	members := s.sorted(shapes)
	top := members[len(members)-1]
	g := &Shape{ID: uuid.NewString(), Type: kind, Name: name, Parent: top.Parent, Opacity: 1}
	at := s.index(top) + 1
	var boxes []geom.Rect
	for _, m := range members {
		if m.Parent == top.Parent && m != top {
			at-- // it leaves its place below
		}
		boxes = append(boxes, s.Bounds(m))
	}
	box := geom.Union(boxes...)
	g.X, g.Y, g.Width, g.Height = box.X, box.Y, box.W, box.H
	if err := s.add(g); err != nil {
		return nil, err
	}
	left := make([]*Shape, len(members))
	for i, m := range members {
		left[i] = s.shapes[m.Parent]
		s.place(m, g.ID, len(s.kids[g.ID]))
	}
	s.place(g, g.Parent, at-1)
	s.fit(left...)
	return g, nil
}

// Group puts shapes into a group, which takes the place of the topmost one.
func (s *Scene) Group(ids []string, p Props) (*Shape, error) {
	shapes, err := s.findAll("shapeIds", ids, 1)
	if err != nil {
		return nil, err
	}
	g, err := s.gather(Group, shapes, cases[Group])
	if err != nil {
		return nil, err
	}
	return s.Modify(Group, g.ID, p, nil)
}

// Ungroup dissolves a group; what it held takes its place.
func (s *Scene) Ungroup(id string) ([]*Shape, error) {
	g, err := s.find("groupId", id)
	if err != nil {
		return nil, err
	}
	if g.Type != Group {
		return nil, wrong("groupId", "%q is a %s, expected a group", g.Name, g.Type)
	}
	at, children := s.index(g), s.Children(id)
	for i, child := range children {
		s.place(child, g.Parent, at+1+i)
	}
	s.remove(g)
	s.fit(s.shapes[g.Parent])
	return children, nil
}

// Combine makes one shape of several by an operation, in the place of the topmost one. The first is the base, and gives its looks where p has none.
func (s *Scene) Combine(op geom.Operation, ids []string, p Props) (*Shape, error) {
	if !slices.Contains(geom.Operations(), op) {
		return nil, wrong("boolType", "is %q, expected one of union, difference, intersection, exclude", op)
	}
	shapes, err := s.findAll("shapeIds", ids, 2)
	if err != nil {
		return nil, err
	}
	areas := make([]geom.Path, len(shapes))
	for i, sh := range shapes {
		outline := sh.Outline()
		if outline == nil {
			return nil, wrong("shapeIds", "names %s %q, which has no outline to combine", sh.Type, sh.Name)
		}
		areas[i] = outline.Transform(sh.Turn())
	}
	outline, err := op.Combine(areas...)
	if err != nil {
		return nil, wrong("shapeIds", "%v", err)
	}
	if len(outline) == 0 {
		return nil, wrong("shapeIds", "nothing is left of these shapes by %s", op)
	}
	b := outline.Bounds()
	base := shapes[0]
	made := &Shape{
		Type: Boolean, Name: cases[Boolean], X: b.X, Y: b.Y, Width: b.W, Height: b.H, Opacity: 1, Operation: op, Content: contentOf(outline),
		Fills: base.Fills, Strokes: base.Strokes,
	}
	g, err := s.gather(Group, shapes, "")
	if err != nil {
		return nil, err
	}
	made.Parent = g.Parent
	at := s.index(g)
	s.remove(g)
	if err := s.add(made); err != nil {
		return nil, err
	}
	s.place(made, made.Parent, at)
	return s.Modify(Boolean, made.ID, p, nil)
}

// ConvertToBoard puts shapes into a new board of their size.
func (s *Scene) ConvertToBoard(name string, ids []string) (*Shape, error) {
	shapes, err := s.findAll("shapeIds", ids, 1)
	if err != nil {
		return nil, err
	}
	b, err := s.gather(Board, shapes, name)
	if err != nil {
		return nil, err
	}
	b.ClipContent = true
	s.fit(b)
	return b, nil
}

// ConvertToComponent makes shapes a component of a name: a single board or group itself, others as a group.
func (s *Scene) ConvertToComponent(name string, ids []string) (*Shape, error) {
	shapes, err := s.findAll("shapeIds", ids, 1)
	if err != nil {
		return nil, err
	}
	c := shapes[0]
	if len(shapes) > 1 || !c.Type.holds() {
		if c, err = s.gather(Group, shapes, name); err != nil {
			return nil, err
		}
	}
	s.edit(c)
	c.Component, c.Name = true, name
	s.fit(c)
	return c, nil
}
