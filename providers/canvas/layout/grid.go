package layout

import (
	"maps"
	"slices"

	"github.com/signalbox/signalbox/providers/canvas/geom"
)

// Grid places items in the cells of rows and columns.
type Grid struct {
	Container
	Rows, Columns []Track
	ByColumn      bool // items without a cell fill columns first
}

// Track is the size of a row or column.
type Track struct {
	Type  string  // fixed, percent, flex, auto
	Value float64 // pixels, percent of the room within the padding, or shares of what is left
}

// Cell is where an item lies, counted from 1; 0: anywhere. Spans below 1 are 1.
type Cell struct{ Row, Column, RowSpan, ColumnSpan int }

// area is the tracks that an item takes on an axis: from, and how many.
type area struct{ from, span int }

// tracks are the columns or the rows.
func (g Grid) tracks(axis int) []Track { return Pair[[]Track]{g.Columns, g.Rows}[axis] }

// content is how an axis' tracks lie in the container.
func (g Grid) content(axis int) string { return Pair[string]{g.JustifyContent, g.AlignContent}[axis] }

// MaxTracks bounds the rows, the columns and how many of them an item may take: what asks for more gets so many.
const MaxTracks = 100

// Place gives the items' boxes against the container's corner, and the size that the container has with them.
func (g Grid) Place(items []Item) ([]geom.Rect, Pair[float64]) {
	items = slices.Clone(items)
	areas := g.cells(items)
	boxes := make([]geom.Rect, len(items))
	total := g.Size
	places, sizes := make([]Pair[float64], len(items)), make([]Pair[float64], len(items))
	for axis := range 2 {
		tracks := slices.Clone(g.tracks(axis))
		for n := range items {
			for len(tracks) < areas[n][axis].from+areas[n][axis].span {
				tracks = append(tracks, Track{Type: "auto"})
			}
		}
		if axis == Y { // widths are known by now
			for n, i := range items {
				if i.Fill[X] && i.Height != nil {
					items[n].Size[Y] = i.Height(sizes[n][X])
				}
			}
		}
		lengths := g.lengths(axis, tracks, items, areas)
		taken := g.Gap[axis] * float64(max(0, len(lengths)-1))
		for _, length := range lengths {
			taken += length
		}
		if g.Fit[axis] {
			total[axis] = taken + g.Padding.both(axis)
		}
		starts, gap := g.starts(axis, lengths, max(0, total[axis]-g.Padding.both(axis))-taken)
		for n, i := range items {
			a := areas[n][axis]
			room := gap * float64(a.span-1)
			for _, length := range lengths[a.from : a.from+a.span] {
				room += length
			}
			how := g.JustifyItems
			if axis == Y {
				how = i.align(g.AlignItems)
			}
			places[n][axis], sizes[n][axis] = i.within(axis, how, room, i.base(axis))
			places[n][axis] += starts[a.from]
		}
	}
	for n := range items {
		boxes[n] = rect(places[n], sizes[n])
	}
	return boxes, total
}

// lengths are the sizes of an axis' tracks.
func (g Grid) lengths(axis int, tracks []Track, items []Item, areas []Pair[area]) []float64 {
	out := make([]float64, len(tracks))
	for n, t := range tracks {
		switch {
		case t.Type == "fixed":
			out[n] = t.Value
		case t.Type == "percent" && !g.Fit[axis]:
			out[n] = g.inner(axis) * t.Value / 100
		}
	}
	// First those in one track, then those in two and so on; last those in tracks that share the free room.
	groups := map[int][]int{}
	for n := range items {
		groups[g.turn(axis, tracks, areas[n][axis])] = append(groups[g.turn(axis, tracks, areas[n][axis])], n)
	}
	used := make([]bool, len(tracks))
	for _, turn := range slices.Sorted(maps.Keys(groups)) {
		more := make([]float64, len(tracks))
		for _, n := range groups[turn] {
			a := areas[n][axis]
			g.widen(a, g.weights(axis, tracks, a, used), items[n].base(axis)+items[n].Margin.both(axis)-g.Gap[axis]*float64(a.span-1), out, more)
		}
		for _, n := range groups[turn] {
			for k := range areas[n][axis].span {
				used[areas[n][axis].from+k] = true
			}
		}
		for n := range out {
			out[n] += more[n]
		}
	}
	g.share(axis, tracks, out)
	return out
}

// lastTurn is that of items in tracks that share the free room.
const lastTurn = MaxTracks + 1

// turn orders items by when they widen their tracks.
func (g Grid) turn(axis int, tracks []Track, a area) int {
	for _, t := range tracks[a.from : a.from+a.span] {
		if t.Type == "flex" {
			return lastTurn
		}
	}
	return a.span
}

// weights are how much each of an item's tracks takes of what the item lacks: those that share the free room by their shares; else those of no
// size of their own alike, and of them only those that nothing has used so far, where there are such.
func (g Grid) weights(axis int, tracks []Track, a area, used []bool) []float64 {
	flexible := g.turn(axis, tracks, a) == lastTurn
	weights, unused := make([]float64, a.span), make([]float64, a.span)
	fresh := false
	for k, t := range tracks[a.from : a.from+a.span] {
		switch {
		case flexible && t.Type == "flex":
			weights[k] = t.Value
		case !flexible && (t.Type == "auto" || t.Type == "percent" && g.Fit[axis]):
			weights[k] = 1
			if !used[a.from+k] {
				unused[k], fresh = 1, true
			}
		}
	}
	if fresh {
		return unused
	}
	return weights
}

// widen notes in more by how much an item's tracks have to be larger than they are for what it needs.
func (g Grid) widen(a area, weights []float64, need float64, out, more []float64) {
	sum := 0.0
	for k, weight := range weights {
		need -= out[a.from+k]
		sum += weight
	}
	if need <= 0 || sum == 0 {
		return
	}
	for k, weight := range weights {
		more[a.from+k] = max(more[a.from+k], need*weight/sum)
	}
}

// share gives free room to the tracks that take shares of it, else to those that are as large as they need where content stretches.
func (g Grid) share(axis int, tracks []Track, out []float64) {
	free := g.inner(axis) - g.Gap[axis]*float64(max(0, len(out)-1))
	var flexible, automatic []int
	for n, t := range tracks {
		switch t.Type {
		case "flex":
			flexible = append(flexible, n)
		case "auto":
			automatic = append(automatic, n)
			free -= out[n]
		default:
			free -= out[n]
		}
	}
	if len(flexible) > 0 {
		size := g.fraction(axis, tracks, flexible, out, free)
		for _, n := range flexible {
			out[n] = max(out[n], size*tracks[n].Value)
		}
		return
	}
	how := g.content(axis)
	if g.Fit[axis] || how != "" && how != "stretch" {
		return
	}
	for _, n := range automatic {
		out[n] += max(0, free) / float64(len(automatic))
	}
}

// fraction is the size of one share: of the free room, less what tracks need that are larger than their shares.
func (g Grid) fraction(axis int, tracks []Track, flexible []int, out []float64, free float64) float64 {
	if g.Fit[axis] {
		size := 0.0
		for _, n := range flexible {
			size = max(size, out[n]/max(1, tracks[n].Value))
		}
		return size
	}
	for {
		shares := 0.0
		for _, n := range flexible {
			shares += tracks[n].Value
		}
		size := max(0, free) / max(1, shares)
		fitting := slices.DeleteFunc(slices.Clone(flexible), func(n int) bool { return out[n] > size*tracks[n].Value+1e-9 })
		if len(fitting) == len(flexible) || len(fitting) == 0 {
			return size
		}
		for _, n := range flexible {
			if !slices.Contains(fitting, n) {
				free -= out[n]
			}
		}
		flexible = fitting
	}
}

// starts are where an axis' tracks begin, and what lies between two.
func (g Grid) starts(axis int, lengths []float64, free float64) (starts []float64, gap float64) {
	at, between, _ := spread(g.content(axis), free, len(lengths))
	at += g.Padding.before(axis)
	for _, length := range lengths {
		starts = append(starts, at)
		at += length + g.Gap[axis] + between
	}
	return starts, g.Gap[axis] + between
}
