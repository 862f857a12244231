package scene

import (
	"cmp"
	"slices"

	"github.com/signalbox/signalbox/providers/canvas/geom"
)

// Align moves shapes so that the edges or middles of their visible boxes lie on a line: that of the box of them all.
func (s *Scene) Align(ids []string, axis, direction string) ([]*Shape, error) {
	shapes, err := s.findAll("shapeIds", ids, 2)
	if err != nil {
		return nil, err
	}
	if err := oneOf("axis", axis, "horizontal", "vertical"); err != nil {
		return nil, err
	}
	directions := map[string][]string{"horizontal": {"left", "center", "right"}, "vertical": {"top", "center", "bottom"}}[axis]
	if err := oneOf("direction", direction, directions...); err != nil {
		return nil, err
	}
	var boxes []geom.Rect
	for _, sh := range shapes {
		boxes = append(boxes, s.Bounds(sh))
	}
	all, share := geom.Union(boxes...), float64(slices.Index(directions, direction))/2
	for i, sh := range shapes {
		b, by := boxes[i], geom.Point{}
		if axis == "horizontal" {
			by.X = all.X + share*(all.W-b.W) - b.X
		} else {
			by.Y = all.Y + share*(all.H-b.H) - b.Y
		}
		s.shift(sh, by)
	}
	s.fit(shapes...)
	return shapes, nil
}

// Distribute moves the shapes between the first and the last so that the gaps between their visible boxes are equal.
func (s *Scene) Distribute(ids []string, axis string) ([]*Shape, error) {
	shapes, err := s.findAll("shapeIds", ids, 2)
	if err != nil {
		return nil, err
	}
	if err := oneOf("axis", axis, "horizontal", "vertical"); err != nil {
		return nil, err
	}
	// low and length of a box along the axis
	along := func(sh *Shape) (low, length float64) {
		if b := s.Bounds(sh); axis == "horizontal" {
			return b.X, b.W
		} else {
			return b.Y, b.H
		}
	}
	sorted := slices.Clone(shapes)
	slices.SortStableFunc(sorted, func(a, b *Shape) int {
		la, na := along(a)
		lb, nb := along(b)
		return cmp.Or(cmp.Compare(la, lb), cmp.Compare(na, nb))
	})
	first, _ := along(sorted[0])
	end, taken := first, 0.0
	for _, sh := range sorted {
		low, length := along(sh)
		end, taken = max(end, low+length), taken+length
	}
	gap, at := (end-first-taken)/float64(len(sorted)-1), first
	for _, sh := range sorted {
		low, length := along(sh)
		by := geom.Point{X: at - low}
		if axis == "vertical" {
			by = geom.Point{Y: at - low}
		}
		s.shift(sh, by)
		at += length + gap
	}
	s.fit(shapes...)
	return shapes, nil
}

// Order is a new place among the siblings.
type Order int

// The places.
const (
	ToFront Order = iota
	Forward
	ToBack
	Backward
)

// Reorder moves a shape among its siblings.
func (s *Scene) Reorder(id string, to Order) (*Shape, error) {
	sh, err := s.find("shapeId", id)
	if err != nil {
		return nil, err
	}
	at := s.index(sh)
	switch to {
	case ToFront:
		at = len(s.kids[sh.Parent])
	case Forward:
		at++
	case ToBack:
		at = 0
	case Backward:
		at--
	}
	s.place(sh, sh.Parent, at)
	s.fit(sh)
	return sh, nil
}
