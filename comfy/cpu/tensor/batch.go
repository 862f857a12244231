package tensor

import (
	"errors"
	"fmt"
	"math"
)

// concat joins batches whose pictures have equal sizes and channels.
func concat(parts []*Image) (*Image, error) {
	if len(parts) == 0 {
		return nil, errors.New("cannot make a batch of no pictures")
	}
	first, n := parts[0], 0
	for _, p := range parts {
		if p.H != first.H || p.W != first.W || p.C != first.C {
			return nil, fmt.Errorf("cannot put pictures of %d x %d x %d and %d x %d x %d into one batch: sizes and channels must be equal",
				first.W, first.H, first.C, p.W, p.H, p.C)
		}
		n += p.B
	}
	if _, err := Count(n, first.H, first.W, first.C); err != nil {
		return nil, err
	}
	out := &Image{B: n, H: first.H, W: first.W, C: first.C, Pix: make([]float32, 0, n*first.H*first.W*first.C)}
	for _, p := range parts {
		out.Pix = append(out.Pix, p.Pix...)
	}
	return out, nil
}

// Batch joins pictures of any size: all get the size of the first (bilinear, cropped to its aspect) and the largest
// number of channels.
func Batch(parts []*Image) (*Image, error) {
	c := 0
	for _, p := range parts {
		c = max(c, p.C)
	}
	fitted := make([]*Image, len(parts))
	for i, p := range parts {
		p, err := p.WithAlpha(c)
		if err == nil && (p.W != parts[0].W || p.H != parts[0].H) {
			p, err = CropResize(p, parts[0].W, parts[0].H, Bilinear)
		}
		if err != nil {
			return nil, err
		}
		fitted[i] = p
	}
	return concat(fitted)
}

// BatchMasks joins masks of any size: all get the size of the first.
func BatchMasks(parts []*Mask) (*Mask, error) {
	planes := make([]*Image, len(parts))
	for i, p := range parts {
		planes[i] = p.Plane()
	}
	out, err := Batch(planes)
	if err != nil {
		return nil, err
	}
	return planeMask(out), nil
}

// Rebatch cuts the pictures of all batches, in order, into batches of at most n. Pictures of one new batch must have
// equal shapes.
func Rebatch(parts []*Image, n int) ([]*Image, error) {
	var all []*Image
	for _, p := range parts {
		all = append(all, p.Split()...)
	}
	var out []*Image
	for from := 0; from < len(all); from += n {
		batch, err := concat(all[from:min(from+n, len(all))])
		if err != nil {
			return nil, err
		}
		out = append(out, batch)
	}
	return out, nil
}

// Box is a rectangle of pixels from X0, Y0 up to but not including X1, Y1.
type Box struct{ X0, Y0, X1, Y1 int }

// Tiles lays tiles of tw x th over w x h pixels, row by row. They overlap by at least overlap pixels where more than
// one is needed, and the last ones are moved back so that they end at the edge. A tile advances by at least a quarter
// of its size.
func Tiles(w, h, tw, th, overlap int) []Box {
	columns, rows := tileStarts(w, tw, overlap), tileStarts(h, th, overlap)
	boxes := make([]Box, 0, len(columns)*len(rows))
	for _, y := range rows {
		for _, x := range columns {
			boxes = append(boxes, Box{X0: x, Y0: y, X1: min(x+tw, w), Y1: min(y+th, h)})
		}
	}
	return boxes
}

func tileStarts(size, tile, overlap int) []int {
	stride := max(1, Round(max(float64(tile)*0.25, float64(tile-overlap))))
	var starts []int
	for at := 0; at < size; at += stride {
		end := min(at+tile, size)
		starts = append(starts, max(0, end-tile))
		if end >= size {
			break
		}
	}
	return starts
}

// MergeTiles is the way back from tiles cut by Tiles to one picture of w x h; overlapping tiles fade into each other
// along sines when overlap is above 0. Tiles beyond the grid are ignored, missing ones leave black.
func MergeTiles(tiles []*Image, w, h, overlap int) (*Image, error) {
	if len(tiles) == 0 {
		return nil, errors.New("cannot merge an empty list of tiles")
	}
	first := tiles[0]
	if first.W == 0 || first.H == 0 {
		return nil, errors.New("cannot merge tiles without pixels")
	}
	out, err := NewImage(first.B, h, w, first.C)
	if err != nil {
		return nil, err
	}
	mask := tileMask(first.W, first.H, overlap > 0)
	weights := make([]float32, w*h)
	for i, box := range Tiles(w, h, first.W, first.H, overlap) {
		if i >= len(tiles) {
			break
		}
		if err := addTile(out, weights, tiles[i], mask, first.W, box); err != nil {
			return nil, fmt.Errorf("tile %d: %w", i, err)
		}
	}
	for i := range out.Pix {
		if weight := weights[i/out.C%(w*h)]; weight != 0 {
			out.Pix[i] /= weight
		}
	}
	return out, nil
}

// tileMask is the weight of each pixel of a tile.
func tileMask(w, h int, fade bool) []float32 {
	mask := make([]float32, w*h)
	if !fade {
		fill(mask, 1)
		return mask
	}
	across, down := fadeLine(w), fadeLine(h)
	for i := range mask {
		mask[i] = down[i/w] * across[i%w]
	}
	return mask
}

func fadeLine(n int) []float32 {
	line := linspace(0, 1, n)
	for i, v := range line {
		line[i] = max(float32(math.Sin(float64(float32(math.Pi*v)))), 1e-5)
	}
	return line
}

// linspace is torch's: counted from both ends in float32.
func linspace(from, to float32, n int) []float32 {
	line := make([]float32, n)
	if n == 1 {
		line[0] = from
		return line
	}
	step := (to - from) / float32(n-1)
	for i := range line {
		if i < n/2 {
			line[i] = from + float32(step*float32(i))
		} else {
			line[i] = to - float32(step*float32(n-1-i))
		}
	}
	return line
}

func addTile(out *Image, weights []float32, tile *Image, mask []float32, maskWidth int, box Box) error {
	if tile.B != out.B && tile.B != 1 || tile.C != out.C {
		return fmt.Errorf("has %d pictures of %d channels, the first tile has %d of %d", tile.B, tile.C, out.B, out.C)
	}
	h, w := min(box.Y1-box.Y0, tile.H), min(box.X1-box.X0, tile.W)
	for y := range h {
		for x := range w {
			weight := mask[y*maskWidth+x]
			at := (box.Y0+y)*out.W + box.X0 + x
			weights[at] += weight
			for b := range out.B {
				from := tile.Frame(b % tile.B)[(y*tile.W+x)*tile.C:]
				to := out.Frame(b)[at*out.C:]
				for k := range out.C {
					to[k] += float32(from[k] * weight)
				}
			}
		}
	}
	return nil
}

// Side says where the second picture of Stitch goes.
type Side string

// The sides.
const (
	Right Side = "right"
	Down  Side = "down"
	Left  Side = "left"
	Up    Side = "up"
)

// Gap is the strip between stitched pictures. Width is made even. Pictures that are narrower than the other one are
// padded with Pad.
type Gap struct {
	Width int
	Color [3]float32
	Pad   float32
}

// Stitch puts b beside a. With match, b is first scaled (Lanczos) to the height or width of a; else the smaller one is
// padded on both sides. The shorter batch repeats its last picture.
func Stitch(a, b *Image, side Side, match bool, gap Gap) (*Image, error) {
	across := side == Left || side == Right
	a, b, err := equalBatches(a, b)
	if err != nil {
		return nil, err
	}
	if match {
		b, err = matchEdge(a, b, across)
	} else {
		a, b, err = padEqual(a, b, across, gap.Pad)
	}
	if err != nil {
		return nil, err
	}
	c := max(a.C, b.C)
	if a, err = a.WithAlpha(c); err != nil {
		return nil, err
	}
	if b, err = b.WithAlpha(c); err != nil {
		return nil, err
	}
	if side == Left || side == Up {
		a, b = b, a
	}
	return join(a, b, across, gap)
}

func equalBatches(a, b *Image) (*Image, *Image, error) {
	n := max(a.B, b.B)
	grow := func(m *Image) (*Image, error) {
		if m.B == n || m.B == 0 {
			return m, nil
		}
		last, err := m.Frames(m.B-1, m.B).RepeatTo(n - m.B)
		if err != nil {
			return nil, err
		}
		return concat([]*Image{m, last})
	}
	a, errA := grow(a)
	b, errB := grow(b)
	return a, b, errors.Join(errA, errB)
}

func matchEdge(a, b *Image, across bool) (*Image, error) {
	if b.W <= 0 || b.H <= 0 {
		return nil, fmt.Errorf("cannot scale an empty picture of %d x %d", b.W, b.H)
	}
	aspect := float64(b.W) / float64(b.H)
	if across {
		return Resize(b, int(float64(a.H)*aspect), a.H, Lanczos)
	}
	return Resize(b, a.W, int(float64(a.W)/aspect), Lanczos)
}

func padEqual(a, b *Image, across bool, value float32) (*Image, *Image, error) {
	grow := func(m, other *Image) (*Image, error) {
		if missing := other.H - m.H; across && missing > 0 {
			return pad(m, Edges{Top: missing / 2, Bottom: missing - missing/2}, value)
		}
		if missing := other.W - m.W; !across && missing > 0 {
			return pad(m, Edges{Left: missing / 2, Right: missing - missing/2}, value)
		}
		return m, nil
	}
	first, errA := grow(a, b)
	second, errB := grow(b, a)
	return first, second, errors.Join(errA, errB)
}

func join(a, b *Image, across bool, gap Gap) (*Image, error) {
	width := gap.Width + gap.Width%2
	w, h := a.W+width+b.W, a.H
	x, y := a.W+width, 0
	if !across {
		w, h = a.W, a.H+width+b.H
		x, y = 0, a.H+width
	}
	out, err := NewImage(a.B, h, w, a.C)
	if err != nil {
		return nil, err
	}
	if width > 0 {
		colorFill(out, gap.Color)
	}
	paste(out, a, 0, 0)
	paste(out, b, x, y)
	return out, nil
}

// colorFill paints all pixels in one opaque colour.
func colorFill(m *Image, color [3]float32) {
	for i := 0; i < len(m.Pix); i += m.C {
		for k := range m.C {
			m.Pix[i+k] = 1
			if k < 3 {
				m.Pix[i+k] = color[k]
			}
		}
	}
}

// Solid makes a batch of one colour.
func Solid(b, h, w int, color [3]float32) (*Image, error) {
	out, err := NewImage(b, h, w, 3)
	if err != nil {
		return nil, err
	}
	colorFill(out, color)
	return out, nil
}

// Grid lays the pictures out in columns, each scaled (Lanczos, 8 bits, without alpha) to a cell of w x h, with padding
// black pixels between the cells.
func Grid(pictures []*Image, columns, w, h, padding int) (*Image, error) {
	if len(pictures) == 0 {
		return nil, errors.New("cannot make a grid of no pictures")
	}
	rows := (len(pictures) + columns - 1) / columns
	out, err := NewImage(1, rows*h+(rows-1)*padding, columns*w+(columns-1)*padding, 3)
	if err != nil {
		return nil, err
	}
	for i, p := range pictures {
		cell, err := Resize(p.Frames(0, 1), w, h, Lanczos)
		if err != nil {
			return nil, err
		}
		paste(out, cell.Take(min(cell.C, 3)), i%columns*(w+padding), i/columns*(h+padding))
	}
	return out, nil
}
