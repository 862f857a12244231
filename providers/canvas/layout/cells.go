package layout

// board is which cells are taken while items are given theirs.
type board struct {
	across, along int // a row is filled across, and rows follow along; in columns it is the other way round
	limit         int // cells across
	taken         map[Pair[int]]bool
	areas         []Pair[area]
}

// cells gives each item its area, in the order of CSS: first those that say both row and column, then those that say which row, then the others
// where there is room after the one before.
func (g Grid) cells(items []Item) []Pair[area] {
	b := board{across: X, along: Y, taken: map[Pair[int]]bool{}, areas: make([]Pair[area], len(items))}
	if g.ByColumn {
		b.across, b.along = Y, X
	}
	b.limit = len(g.tracks(b.across))
	next, cursor := map[int]int{}, Pair[int]{}
	steps := []func(n int, said Pair[bool], p Pair[area]){
		func(n int, said Pair[bool], p Pair[area]) {
			if said[X] && said[Y] {
				b.take(n, p)
			}
			b.limit = max(b.limit, p[b.across].from+p[b.across].span)
		},
		func(n int, said Pair[bool], p Pair[area]) {
			if !said[b.along] || said[b.across] {
				return
			}
			row := p[b.along].from
			p[b.across].from = next[row]
			for !b.free(p) {
				p[b.across].from++
			}
			b.take(n, p)
			next[row] = p[b.across].from + p[b.across].span
			b.limit = max(b.limit, next[row])
		},
		func(n int, said Pair[bool], p Pair[area]) {
			if !said[b.along] {
				cursor = b.after(cursor, said[b.across], n, p)
			}
		},
	}
	for _, step := range steps {
		for n, i := range items {
			said, p := i.Cell.areas()
			step(n, said, p)
		}
	}
	return b.areas
}

// areas are what a cell says on both axes; said tells where that is a place.
func (c Cell) areas() (said Pair[bool], p Pair[area]) {
	said = Pair[bool]{c.Column > 0, c.Row > 0}
	return said, Pair[area]{axisArea(c.Column, c.ColumnSpan), axisArea(c.Row, c.RowSpan)}
}

func axisArea(at, span int) area {
	return area{min(max(at-1, 0), MaxTracks), min(max(span, 1), MaxTracks)}
}

// after places an item at or behind a place, and gives where that is.
func (b *board) after(cursor Pair[int], fixed bool, n int, p Pair[area]) Pair[int] {
	across, along := &p[b.across], &p[b.along]
	along.from = cursor[b.along]
	switch {
	case fixed:
		if across.from < cursor[b.across] {
			along.from++
		}
		for !b.free(p) {
			along.from++
		}
	default:
		across.from = cursor[b.across]
		for !b.free(p) || across.from+across.span > b.limit {
			if across.from++; across.from+across.span > b.limit {
				across.from, along.from = 0, along.from+1
			}
		}
	}
	b.take(n, p)
	return Pair[int]{p[X].from, p[Y].from}
}

func (b *board) free(p Pair[area]) bool {
	for x := range p[X].span {
		for y := range p[Y].span {
			if b.taken[Pair[int]{p[X].from + x, p[Y].from + y}] {
				return false
			}
		}
	}
	return true
}

func (b *board) take(n int, p Pair[area]) {
	b.areas[n] = p
	for x := range p[X].span {
		for y := range p[Y].span {
			b.taken[Pair[int]{p[X].from + x, p[Y].from + y}] = true
		}
	}
}
