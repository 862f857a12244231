package layout

import (
	"math"
	"slices"

	"github.com/signalbox/signalbox/providers/canvas/geom"
)

// Flex places items one after the other.
type Flex struct {
	Container
	Column  bool // from top to bottom
	Reverse bool // the last comes first
	Wrap    bool // what has no room begins a new line
}

// line is a row of items, or a column.
type line struct {
	items []int
	size  float64 // across the flow
}

// axes are that of the flow and the one across it.
func (f Flex) axes() (main, cross int) {
	if f.Column {
		return Y, X
	}
	return X, Y
}

// Place gives the items' boxes against the container's corner, and the size that the container has with them.
func (f Flex) Place(items []Item) ([]geom.Rect, Pair[float64]) {
	main, cross := f.axes()
	sizes := f.baseSizes(items)
	lines := f.lines(items, sizes)
	total := f.Size
	if f.Fit[main] {
		total[main] = f.Padding.both(main)
		for _, l := range lines {
			total[main] = max(total[main], f.taken(l.items, items, sizes)+f.Padding.both(main))
		}
	}
	for i := range lines {
		f.fill(&lines[i], items, sizes, total[main]-f.Padding.both(main))
	}
	crossed := f.Gap[cross] * float64(max(0, len(lines)-1))
	for _, l := range lines {
		crossed += l.size
	}
	if f.Fit[cross] {
		total[cross] = crossed + f.Padding.both(cross)
	}
	room := max(0, total[cross]-f.Padding.both(cross))
	at, between := f.stack(lines, room, room-crossed)
	boxes := make([]geom.Rect, len(items))
	for _, l := range lines {
		f.placeLine(l, at, items, sizes, total[main]-f.Padding.both(main), boxes)
		at += l.size + f.Gap[cross] + between
	}
	return boxes, total
}

// baseSizes are the items' sizes before there is room to fill. In a single column of known width the heights of texts follow from it.
func (f Flex) baseSizes(items []Item) []Pair[float64] {
	sizes := make([]Pair[float64], len(items))
	for n, i := range items {
		sizes[n] = Pair[float64]{i.base(X), i.base(Y)}
		if f.Column && !f.Wrap && !f.Fit[X] && i.Fill[X] && i.Height != nil {
			width := i.clamp(X, f.inner(X)-i.Margin.both(X))
			sizes[n][Y] = i.clamp(Y, i.Height(width))
		}
	}
	return sizes
}

// taken is the length of a line as it is.
func (f Flex) taken(line []int, items []Item, sizes []Pair[float64]) float64 {
	main, _ := f.axes()
	sum := f.Gap[main] * float64(max(0, len(line)-1))
	for _, n := range line {
		sum += sizes[n][main] + items[n].Margin.both(main)
	}
	return sum
}

// lines breaks the flow where there is no more room.
func (f Flex) lines(items []Item, sizes []Pair[float64]) []line {
	if len(items) == 0 {
		return nil
	}
	main, _ := f.axes()
	lines := []line{{}}
	for n := range items {
		last := &lines[len(lines)-1]
		last.items = append(last.items, n)
		if f.Wrap && !f.Fit[main] && len(last.items) > 1 && f.taken(last.items, items, sizes) > f.inner(main)+1e-6 {
			last.items = last.items[:len(last.items)-1]
			lines = append(lines, line{items: []int{n}})
		}
	}
	return lines
}

// fill gives the room that is left in a line to the items that fill, and finds the line's size across.
func (f Flex) fill(l *line, items []Item, sizes []Pair[float64], room float64) {
	main, cross := f.axes()
	growing := slices.DeleteFunc(slices.Clone(l.items), func(n int) bool { return !items[n].Fill[main] })
	for _, n := range growing {
		sizes[n][main] = 0
	}
	free := room - f.taken(l.items, items, sizes)
	for len(growing) > 0 {
		share, off := max(0, free)/float64(len(growing)), 0.0
		for _, n := range growing {
			off += items[n].clamp(main, share) - share
		}
		// Those that break their bounds in the direction that weighs more keep to them, and the others share anew.
		growing = slices.DeleteFunc(growing, func(n int) bool {
			size := items[n].clamp(main, share)
			broken := size - share
			if math.Abs(off) < 1e-9 || off*broken > 0 {
				sizes[n][main] = size
				free -= size
				return true
			}
			return false
		})
	}
	for _, n := range l.items {
		i := items[n]
		if main == X && i.Fill[X] && i.Height != nil {
			sizes[n][Y] = i.clamp(Y, i.Height(sizes[n][X]))
		}
		l.size = max(l.size, sizes[n][cross]+i.Margin.both(cross))
	}
	if !f.Wrap && !f.Fit[cross] {
		l.size = f.inner(cross)
	}
}

// stack gives where the first line begins and what is left between two; stretched lines share the free room.
func (f Flex) stack(lines []line, room, free float64) (at, between float64) {
	_, cross := f.axes()
	how := f.AlignContent
	if how == "" || how == "stretch" {
		for i := range lines {
			lines[i].size += max(0, free) / float64(len(lines))
		}
		return f.Padding.before(cross), 0
	}
	if !f.Wrap {
		return f.Padding.before(cross), 0
	}
	at, between, _ = spread(how, free, len(lines))
	return at + f.Padding.before(cross), between
}

// placeLine lays a line's items along it.
func (f Flex) placeLine(l line, across float64, items []Item, sizes []Pair[float64], room float64, boxes []geom.Rect) {
	main, cross := f.axes()
	free := room - f.taken(l.items, items, sizes)
	along, between, ok := spread(f.JustifyContent, free, len(l.items))
	order := l.items
	if f.Reverse {
		order = slices.Clone(order)
		slices.Reverse(order)
		if !ok { // the flow begins at the other end
			along = free
		}
	}
	along += f.Padding.before(main)
	for _, n := range order {
		i := items[n]
		size := sizes[n]
		var at Pair[float64]
		at[main] = along + i.Margin.before(main)
		at[cross], size[cross] = i.within(cross, i.align(f.AlignItems), l.size, size[cross])
		at[cross] += across
		boxes[n] = rect(at, size)
		along += size[main] + i.Margin.both(main) + f.Gap[main] + between
	}
}
