package geom

import (
	"fmt"
	"math"
	"slices"
)

// Operation combines areas.
type Operation string

// The operations. The first area is the base.
const (
	UnionOf      Operation = "union"
	Difference   Operation = "difference"   // the base without the others
	Intersection Operation = "intersection" // what all share
	Exclude      Operation = "exclude"      // what lies in an odd number of them
)

// Operations is the list of them.
func Operations() []Operation { return []Operation{UnionOf, Difference, Intersection, Exclude} }

// inside tells whether a point belongs to the result, by the areas that it lies in.
func (o Operation) inside(in []bool) bool {
	count := 0
	for _, b := range in {
		if b {
			count++
		}
	}
	switch o {
	case Difference:
		return in[0] && count == 1
	case Intersection:
		return count == len(in)
	case Exclude:
		return count%2 == 1
	}
	return count > 0
}

const (
	fine     = 0.005   // how far the straight parts of a combined curve may be off
	grid     = 1 << 14 // corners of areas that are combined lie on multiples of 1/grid
	maxEdges = 6_000   // of all areas that are combined: the work grows with the square
)

// edge is a straight part of an area's outline.
type edge struct {
	a, b Point
	of   int // which area
}

// Combine gives the outline of what an operation makes of areas, which are filled by the nonzero rule. The result has straight parts only,
// off from the true curves by at most 1/200 pixel. It is empty where nothing is left.
//
// All outlines are cut where they meet, and a piece stays if the result is on one side of it only. So no order of edges has to be kept, and
// edges that lie on each other do no harm.
func (o Operation) Combine(areas ...Path) (Path, error) {
	var edges []edge
	for i, a := range areas {
		for _, l := range a.Flatten(fine) {
			for j, p := range l.Points {
				e := edge{snap(p), snap(l.Points[(j+1)%len(l.Points)]), i}
				if e.a != e.b {
					edges = append(edges, e)
				}
			}
		}
	}
	if len(edges) > maxEdges {
		return nil, fmt.Errorf("the outlines have %d straight parts together, at most %d can be combined", len(edges), maxEdges)
	}
	return chain(o.border(split(edges), edges, len(areas))), nil
}

func snap(p Point) Point {
	return Point{math.Round(p.X*grid) / grid, math.Round(p.Y*grid) / grid}
}

// split cuts edges where they cross or touch another.
func split(edges []edge) []edge {
	var pieces []edge
	for i, e := range edges {
		cuts := []float64{0, 1}
		box := Box(e.a, e.b)
		for j, f := range edges {
			if i != j && overlap(box, Box(f.a, f.b)) {
				cuts = append(cuts, meet(e, f)...)
			}
		}
		slices.Sort(cuts)
		from := e.a
		for _, t := range cuts[1:] {
			to := snap(e.a.lerp(e.b, t))
			if t == 1 {
				to = e.b
			}
			if to != from {
				pieces = append(pieces, edge{from, to, e.of})
				from = to
			}
		}
	}
	return pieces
}

func overlap(a, b Rect) bool {
	return a.X <= b.X+b.W && b.X <= a.X+a.W && a.Y <= b.Y+b.H && b.Y <= a.Y+a.H
}

// meet gives where on e, from 0 to 1, f crosses it or has an end on it.
func meet(e, f edge) []float64 {
	d, g := e.b.Sub(e.a), f.b.Sub(f.a)
	across := d.cross(g)
	if math.Abs(across) > 1e-12 {
		t := f.a.Sub(e.a).cross(g) / across
		u := f.a.Sub(e.a).cross(d) / across
		if t > 0 && t < 1 && u >= -1e-9 && u <= 1+1e-9 {
			return []float64{t}
		}
		return nil
	}
	var on []float64
	square := d.X*d.X + d.Y*d.Y
	for _, p := range [2]Point{f.a, f.b} {
		v := p.Sub(e.a)
		t := (v.X*d.X + v.Y*d.Y) / square
		if t > 0 && t < 1 && math.Abs(v.cross(d))/math.Sqrt(square) < 1.0/grid {
			on = append(on, t)
		}
	}
	return on
}

// border keeps the pieces that have the result on one side only, so that it is on their right.
func (o Operation) border(pieces, edges []edge, areas int) []edge {
	var kept []edge
	seen := map[[2]Point]bool{}
	for _, e := range pieces {
		if seen[[2]Point{e.a, e.b}] || seen[[2]Point{e.b, e.a}] {
			continue
		}
		seen[[2]Point{e.a, e.b}] = true
		aside := normal(e.a, e.b).Mul(0.5 / grid)
		middle := e.a.lerp(e.b, 0.5)
		right, left := o.inside(within(middle.Add(aside), edges, areas)), o.inside(within(middle.Sub(aside), edges, areas))
		switch {
		case right && !left:
			kept = append(kept, e)
		case left && !right:
			kept = append(kept, edge{e.b, e.a, e.of})
		}
	}
	return kept
}

// within tells of each area whether a point lies in it: whether its outline winds round the point.
func within(p Point, edges []edge, areas int) []bool {
	winding, in := make([]int, areas), make([]bool, areas)
	for _, e := range edges {
		up, down := e.a.Y > p.Y && e.b.Y <= p.Y, e.a.Y <= p.Y && e.b.Y > p.Y
		if !up && !down {
			continue
		}
		if e.a.X+(p.Y-e.a.Y)/(e.b.Y-e.a.Y)*(e.b.X-e.a.X) <= p.X {
			continue
		}
		if up {
			winding[e.of]++
		} else {
			winding[e.of]--
		}
	}
	for i, w := range winding {
		in[i] = w != 0
	}
	return in
}

// chain joins edges to closed figures. Points on a straight line are left out.
func chain(edges []edge) Path {
	from := map[Point][]int{}
	for i, e := range edges {
		from[e.a] = append(from[e.a], i)
	}
	used := make([]bool, len(edges))
	next := func(p Point) int {
		for _, i := range from[p] {
			if !used[i] {
				return i
			}
		}
		return -1
	}
	var out Path
	for i := range edges {
		if used[i] {
			continue
		}
		var figure []Point
		for j := i; j >= 0; j = next(edges[j].b) {
			used[j] = true
			figure = append(figure, edges[j].a)
		}
		out = appendFigure(out, figure)
	}
	return out
}

func appendFigure(out Path, figure []Point) Path {
	var corners []Point
	for i, p := range figure {
		before, after := figure[(i+len(figure)-1)%len(figure)], figure[(i+1)%len(figure)]
		if math.Abs(p.Sub(before).cross(after.Sub(p))) > 1e-9 {
			corners = append(corners, p)
		}
	}
	if len(corners) < 3 {
		return out
	}
	out.MoveTo(corners[0])
	for _, p := range corners[1:] {
		out.LineTo(p)
	}
	out.Close()
	return out
}
