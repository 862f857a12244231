// Package layout places boxes in a container as CSS does (W3C Flexible Box Layout, Grid Layout, Box Alignment): one after the other in rows or
// columns, or in the cells of a grid. It knows no shapes. Words are those of Penpot's API.
//
// Boxes never shrink: what has no room goes beyond the container's edge, as in Penpot.
package layout

import "github.com/signalbox/signalbox/providers/canvas/geom"

// The axes, which index sizes and gaps.
const (
	X = iota
	Y
)

// Pair is a value for each axis.
type Pair[T any] [2]T

// Edges are widths along the sides of a box, in pixels.
type Edges struct{ Top, Right, Bottom, Left float64 }

// before and after are the widths at both ends of an axis.
func (e Edges) before(axis int) float64 { return [2]float64{e.Left, e.Top}[axis] }
func (e Edges) both(axis int) float64 {
	return [2]float64{e.Left + e.Right, e.Top + e.Bottom}[axis]
}

// Container is what both layouts have. Words that are empty are those of CSS that Penpot begins with: start, for content stretch.
type Container struct {
	Size           Pair[float64]
	Fit            Pair[bool] // as large as what it holds, instead
	Padding        Edges
	Gap            Pair[float64] // between neighbours on an axis
	AlignItems     string        // start, center, end, stretch
	AlignContent   string        // these and space-between, space-around, space-evenly
	JustifyItems   string
	JustifyContent string
}

// inner is the room within the padding.
func (c Container) inner(axis int) float64 { return max(0, c.Size[axis]-c.Padding.both(axis)) }

// Item is a box to place.
type Item struct {
	Size     Pair[float64]
	Fill     Pair[bool]    // as large as there is room, instead
	Min, Max Pair[float64] // a Max of 0 is none
	Margin   Edges
	Align    string // as AlignItems, for this one; empty or auto: as the container says
	Cell     Cell   // in grids
	// Height gives the height at a width, of what grows with it; nil: it does not depend on it.
	Height func(width float64) float64
}

// clamp keeps a size within the item's bounds.
func (i Item) clamp(axis int, size float64) float64 {
	if i.Max[axis] > 0 {
		size = min(size, i.Max[axis])
	}
	return max(size, i.Min[axis], 0)
}

// base is the size that an item has before there is room to fill.
func (i Item) base(axis int) float64 {
	if i.Fill[axis] {
		return i.clamp(axis, 0)
	}
	return i.clamp(axis, i.Size[axis])
}

// align is how the item lies across the flow, or in its cell from top to bottom.
func (i Item) align(usual string) string {
	if i.Align == "" || i.Align == "auto" {
		return usual
	}
	return i.Align
}

// within places an item of a size in some room on an axis. One that fills begins where the room does, also where its bounds keep it smaller.
func (i Item) within(axis int, how string, room, size float64) (at, filled float64) {
	room -= i.Margin.both(axis)
	if i.Fill[axis] {
		how, size = "start", i.clamp(axis, room)
	}
	return i.Margin.before(axis) + aligned(how, room-size), size
}

// aligned gives where something begins that leaves some room free.
func aligned(how string, free float64) float64 {
	switch how {
	case "center":
		return free / 2
	case "end":
		return free
	}
	return 0
}

// spread gives where the first of n things begins and what is left between two of them, of free room, which is negative where they are too large.
// ok is false where the words have no meaning for them, and they begin where the flow does.
func spread(how string, free float64, n int) (start, between float64, ok bool) {
	switch how {
	case "start", "":
		return 0, 0, true
	case "center", "end":
		return aligned(how, free), 0, true
	}
	if free <= 0 || n == 0 {
		return 0, 0, how == "space-around" || how == "space-evenly"
	}
	count := float64(n)
	switch {
	case how == "space-around":
		return free / count / 2, free / count, true
	case how == "space-evenly":
		return free / (count + 1), free / (count + 1), true
	case how == "space-between" && n > 1:
		return 0, free / (count - 1), true
	}
	return 0, 0, false
}

// rect makes a box of places and sizes on both axes.
func rect(at, size Pair[float64]) geom.Rect {
	return geom.Rect{X: at[X], Y: at[Y], W: size[X], H: size[Y]}
}
