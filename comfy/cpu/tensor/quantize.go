package tensor

import (
	"errors"
	"fmt"
	"math/bits"
)

// Dither names a way of Quantize to spread rounding errors.
type Dither string

// The ways to dither.
const (
	NoDither       Dither = "none"
	FloydSteinberg Dither = "floyd-steinberg"
	Bayer2         Dither = "bayer-2"
	Bayer4         Dither = "bayer-4"
	Bayer8         Dither = "bayer-8"
	Bayer16        Dither = "bayer-16"
)

var bayerOrders = map[Dither]int{Bayer2: 2, Bayer4: 4, Bayer8: 8, Bayer16: 16}

// Quantize reduces each picture to at most colors colours, as Pillow does: a palette by median cut, then the nearest
// entry for each pixel with the chosen dithering. Alpha passes unchanged.
func Quantize(m *Image, colors int, dither Dither) (*Image, error) {
	order, ordered := bayerOrders[dither]
	if !ordered && dither != NoDither && dither != FloydSteinberg {
		return nil, fmt.Errorf("unknown dither %q", dither)
	}
	if m.W == 0 || m.H == 0 {
		return nil, errors.New("cannot quantize a picture without pixels")
	}
	if m.C < 3 {
		return nil, fmt.Errorf("cannot quantize a picture of %d channels: it takes 3 or 4", m.C)
	}
	out := m.Like()
	for b := range m.B {
		pixels := truncatedRGB(m.Frame(b), m.C)
		pal := medianCut(pixels, colors)
		// Pillow looks for colours in all 256 entries of a palette; those not set are black.
		pal = append(pal, make([]rgb, 256-len(pal))...)
		lookup := newNearest(pal)
		var indices []uint8
		switch {
		case dither == FloydSteinberg:
			indices = lookup.diffuse(pixels, m.W)
		case ordered:
			indices = lookup.all(bayer(pixels, m.W, order, len(pal)))
		default:
			indices = lookup.all(pixels)
		}
		dst, src := out.Frame(b), m.Frame(b)
		for i, index := range indices {
			for k, v := range pal[index] {
				dst[i*m.C+k] = FromByte(v)
			}
			copy(dst[i*m.C+3:(i+1)*m.C], src[i*m.C+3:(i+1)*m.C])
		}
	}
	return out, nil
}

type rgb [3]uint8

// truncatedRGB converts without clamping first, as a tensor's conversion to bytes does: values beyond 0..1 wrap.
func truncatedRGB(pix []float32, c int) []rgb {
	out := make([]rgb, len(pix)/c)
	for i := range out {
		for k := range 3 {
			out[i][k] = uint8(int32(pix[i*c+k] * 255))
		}
	}
	return out
}

// maxDistinct is the number of colours above which Pillow drops low bits before cutting.
const maxDistinct = 65536

// shade is a distinct colour and how many pixels have it.
type shade struct {
	color rgb
	count int
}

// colorBox is a set of shades, held as one list sorted by each channel from high to low.
type colorBox struct {
	sorted      [3][]shade
	pixels      int
	left, right *colorBox
}

// medianCut finds the palette: boxes of colours are split, the fullest first, at the median of their widest channel
// (weighted by its share in brightness) until there are enough, and each box gives the average of its pixels.
func medianCut(pixels []rgb, colors int) []rgb {
	shades, shift := distinct(pixels)
	root := &colorBox{pixels: len(pixels)}
	for axis := range 3 {
		root.sorted[axis] = descending(shades, axis)
	}
	heap := boxHeap{root}
	for n := colors - 1; n > 0; n-- {
		box := heap.pop()
		for box != nil && box.volume() == 1 {
			box = heap.pop()
		}
		if box == nil {
			break
		}
		box.split()
		heap.push(box.left)
		heap.push(box.right)
	}
	number := map[rgb]int{}
	boxes := root.label(number, 0)
	return averages(pixels, shift, number, boxes)
}

// descending sorts shades by a channel, from high to low; equal ones stay in order. It counts, as there are only 256 values.
func descending(shades []shade, axis int) []shade {
	var next [256]int // where the next shade of a value goes
	for _, s := range shades {
		next[s.color[axis]]++
	}
	place := 0
	for v := len(next) - 1; v >= 0; v-- {
		next[v], place = place, place+next[v]
	}
	sorted := make([]shade, len(shades))
	for _, s := range shades {
		at := &next[s.color[axis]]
		sorted[*at] = s
		*at++
	}
	return sorted
}

// distinct counts the colours, with as many low bits dropped as it takes to have few enough.
func distinct(pixels []rgb) ([]shade, uint) {
	for shift := uint(0); ; shift++ {
		counts := make(map[rgb]int)
		for _, p := range pixels {
			counts[p.shifted(shift)]++
			if len(counts) > maxDistinct {
				break
			}
		}
		if len(counts) > maxDistinct {
			continue
		}
		shades := make([]shade, 0, len(counts))
		for color, n := range counts {
			shades = append(shades, shade{color, n})
		}
		return shades, shift
	}
}

func (c rgb) shifted(shift uint) rgb { return rgb{c[0] >> shift, c[1] >> shift, c[2] >> shift} }

func (b *colorBox) width(axis int) int {
	list := b.sorted[axis]
	return int(list[0].color[axis]) - int(list[len(list)-1].color[axis])
}

func (b *colorBox) volume() int { return (b.width(0) + 1) * (b.width(1) + 1) * (b.width(2) + 1) }

func (b *colorBox) split() {
	axis, best := 0, b.width(0)*77
	for i, weight := range []int{0, 150, 29} {
		if f := b.width(i) * weight; f > best {
			axis, best = i, f
		}
	}
	bound := b.median(axis)
	b.left, b.right = &colorBox{}, &colorBox{}
	for i, list := range b.sorted {
		for _, s := range list {
			half := b.left
			if s.color[axis] < bound {
				half = b.right
			}
			half.sorted[i] = append(half.sorted[i], s)
			if i == 0 {
				half.pixels += s.count
			}
		}
	}
	b.sorted = [3][]shade{}
}

// median is the lowest value on the axis that stays in the upper half. Each half gets at least one value.
func (b *colorBox) median(axis int) uint8 {
	list := b.sorted[axis]
	seen, at := 0, 0
	for i, s := range list {
		seen += s.count
		at = i
		if seen*2 > b.pixels {
			break
		}
	}
	bound := list[at].color[axis]
	lowest := list[len(list)-1].color[axis]
	if bound == lowest {
		bound++
	}
	return bound
}

// label numbers the boxes from left to right and notes the number of each shade.
func (b *colorBox) label(number map[rgb]int, n int) int {
	if b.left != nil {
		return b.right.label(number, b.left.label(number, n))
	}
	for _, s := range b.sorted[0] {
		number[s.color] = n
	}
	return n + 1
}

func averages(pixels []rgb, shift uint, number map[rgb]int, boxes int) []rgb {
	type total struct{ sum, n [3]int }
	totals := make([]total, boxes)
	for _, p := range pixels {
		t := &totals[number[p.shifted(shift)]]
		for k, v := range p {
			t.sum[k] += int(v)
			t.n[k]++
		}
	}
	pal := make([]rgb, boxes)
	for i, t := range totals {
		for k := range 3 {
			pal[i][k] = uint8(0.5 + float64(t.sum[k])/float64(t.n[k]))
		}
	}
	return pal
}

// boxHeap keeps the box with the most pixels on top; the order of equal ones follows Pillow's heap.
type boxHeap []*colorBox

func (h *boxHeap) push(b *colorBox) {
	*h = append(*h, b)
	k := len(*h)
	for k > 1 && b.pixels > (*h)[k/2-1].pixels {
		(*h)[k-1] = (*h)[k/2-1]
		k /= 2
	}
	(*h)[k-1] = b
}

func (h *boxHeap) pop() *colorBox {
	n := len(*h)
	if n == 0 {
		return nil
	}
	top, last := (*h)[0], (*h)[n-1]
	list := (*h)[:n-1]
	*h = list
	k := 1
	for k*2 <= n-1 {
		l := k * 2
		if l < n-1 && list[l-1].pixels < list[l].pixels {
			l++
		}
		if last.pixels > list[l-1].pixels {
			break
		}
		list[k-1] = list[l-1]
		k = l
	}
	if n > 1 {
		list[k-1] = last
	}
	return top
}

// nearest finds palette entries for colours as Pillow does: in a cube of 64 x 64 x 64 cells, each answered by the entry
// nearest to the cell's lower corner.
type nearest struct {
	pal   []rgb
	cells []int16 // -1: not computed yet
}

func newNearest(pal []rgb) *nearest {
	n := &nearest{pal: pal, cells: make([]int16, 64*64*64)}
	for i := range n.cells {
		n.cells[i] = -1
	}
	return n
}

func (n *nearest) index(r, g, b uint8) uint8 {
	cell := &n.cells[int(r>>2)<<12|int(g>>2)<<6|int(b>>2)]
	if *cell < 0 {
		*cell = n.search(int(r&^3), int(g&^3), int(b&^3))
	}
	return uint8(*cell)
}

func (n *nearest) search(r, g, b int) int16 {
	best, found := int(^uint(0)>>1), 0
	for i, p := range n.pal {
		dr, dg, db := r-int(p[0]), g-int(p[1]), b-int(p[2])
		if d := dr*dr + dg*dg + db*db; d < best {
			best, found = d, i
		}
	}
	return int16(found)
}

func (n *nearest) all(pixels []rgb) []uint8 {
	out := make([]uint8, len(pixels))
	for i, p := range pixels {
		out[i] = n.index(p[0], p[1], p[2])
	}
	return out
}

// diffuse maps the pixels with Floyd-Steinberg dithering in Pillow's whole-number form, whose carry past the end of a
// row is the blue channel's for all three.
func (n *nearest) diffuse(pixels []rgb, w int) []uint8 {
	out := make([]uint8, len(pixels))
	errs := make([][3]int, w+1)
	for start := 0; start < len(pixels); start += w {
		var carry, below, ahead [3]int
		for x := range w {
			var c rgb
			for k, v := range pixels[start+x] {
				c[k] = clip8(int32(int(v) + (carry[k]+errs[x+1][k])/16))
			}
			index := n.index(c[0], c[1], c[2])
			out[start+x] = index
			for k := range 3 {
				e := int(c[k]) - int(n.pal[index][k])
				errs[x][k] = 3*e + below[k]
				below[k] = 5*e + ahead[k]
				ahead[k] = e
				carry[k] = 7 * e
			}
		}
		errs[w] = [3]int{below[2], ahead[2], ahead[2]}
	}
	return out
}

// bayer adds the ordered threshold pattern, scaled to the distance of palette entries.
func bayer(pixels []rgb, w, order, colors int) []rgb {
	n := bits.Len(uint(order)) - 1
	spread := float32(2 * 256 / float64(colors))
	out := make([]rgb, len(pixels))
	for i, p := range pixels {
		add := float32(spread*bayerValue(n, i%w, i/w)) + 0.5
		for k, v := range p {
			out[i][k] = uint8(clamp(float32(v)+add, 0, 255))
		}
	}
	return out
}

// bayerValue is the entry of the normalised matrix of size 2^n, centred on zero: each quarter repeats the matrix of
// half the size, shifted by its own step.
func bayerValue(n, x, y int) float32 {
	if n == 0 {
		return 0
	}
	half := 1 << (n - 1)
	step := [2][2]float32{{-1.5, 0.5}, {1.5, -0.5}}[y/half%2][x/half%2]
	q := float32(int(1) << (2 * n))
	return (q*bayerValue(n-1, x%half, y%half) + step) / q
}
