package tensor

import "fmt"

// Crop cuts out the rectangle as far as it lies inside; nothing inside gives a picture without pixels.
func Crop(m *Image, x, y, w, h int) *Image {
	x0, x1 := span(x, w, m.W)
	y0, y1 := span(y, h, m.H)
	out := &Image{B: m.B, H: y1 - y0, W: x1 - x0, C: m.C}
	out.Pix = make([]float32, out.B*out.H*out.W*out.C)
	line := out.W * out.C
	for b := range m.B {
		src, dst := m.Frame(b), out.Frame(b)
		for row := range out.H {
			copy(dst[row*line:(row+1)*line], src[((y0+row)*m.W+x0)*m.C:])
		}
	}
	return out
}

// CropMask is Crop for masks.
func CropMask(m *Mask, x, y, w, h int) *Mask {
	return planeMask(Crop(m.Plane(), x, y, w, h))
}

// span clips from..from+n to 0..size.
func span(from, n, size int) (lo, hi int) {
	lo = min(max(from, 0), size)
	hi = size
	if n < size-from {
		hi = max(from+n, lo)
	}
	return lo, hi
}

// CropCenter cuts the middle w x h of the picture, as much of it as there is.
func CropCenter(m *Image, w, h int) *Image {
	return Crop(m, max(0, (m.W-w)/2), max(0, (m.H-h)/2), w, h)
}

// paste copies each picture of src to x, y in dst. The source must fit.
func paste(dst, src *Image, x, y int) {
	line := src.W * src.C
	for b := range src.B {
		from, to := src.Frame(b), dst.Frame(b)
		for row := range src.H {
			copy(to[((y+row)*dst.W+x)*dst.C:], from[row*line:(row+1)*line])
		}
	}
}

// Edges are widths in pixels of the four sides.
type Edges struct{ Left, Top, Right, Bottom int }

// pad adds pixels of one value on all channels around each picture.
func pad(m *Image, e Edges, value float32) (*Image, error) {
	if e.Left|e.Top|e.Right|e.Bottom < 0 {
		return nil, fmt.Errorf("cannot pad a picture by a negative width: %+v", e)
	}
	out, err := NewImage(m.B, m.H+e.Top+e.Bottom, m.W+e.Left+e.Right, m.C)
	if err != nil {
		return nil, err
	}
	if value != 0 {
		fill(out.Pix, value)
	}
	paste(out, m, e.Left, e.Top)
	return out, nil
}

func fill(pix []float32, value float32) {
	for i := range pix {
		pix[i] = value
	}
}

// PadForOutpaint adds grey pixels around each picture and gives the mask of what is to be painted: 1 on the new pixels,
// 0 on the old ones, with a quadratic slope of feather pixels inside the padded sides. A slope that would fill the
// picture is left out.
func PadForOutpaint(m *Image, e Edges, feather int) (*Image, *Mask, error) {
	out, err := pad(m, e, 0.5)
	if err != nil {
		return nil, nil, err
	}
	mask := &Mask{B: 1, H: out.H, W: out.W, Pix: make([]float32, out.H*out.W)}
	fill(mask.Pix, 1)
	slope := feather > 0 && feather*2 < m.H && feather*2 < m.W
	for y := range m.H {
		line := mask.Pix[(y+e.Top)*mask.W+e.Left:][:m.W]
		clear(line)
		if !slope {
			continue
		}
		for x := range line {
			if d := e.distance(m, x, y); d < feather {
				v := float64(feather-d) / float64(feather)
				line[x] = float32(v * v)
			}
		}
	}
	return out, mask, nil
}

// distance is how far a pixel is from the nearest padded side.
func (e Edges) distance(m *Image, x, y int) int {
	d := max(m.H, m.W)
	if e.Top != 0 {
		d = min(d, y)
	}
	if e.Bottom != 0 {
		d = min(d, m.H-y)
	}
	if e.Left != 0 {
		d = min(d, x)
	}
	if e.Right != 0 {
		d = min(d, m.W-x)
	}
	return min(d, m.H, m.W)
}

// FitPad shrinks or enlarges each picture to fit into w x h, truncating its sizes, and centres it on value.
func FitPad(m *Image, w, h int, value float32, method Method) (*Image, error) {
	if m.W <= 0 || m.H <= 0 {
		return nil, fmt.Errorf("cannot resize an empty picture of %d x %d", m.W, m.H)
	}
	scale := min(float64(w)/float64(m.W), float64(h)/float64(m.H))
	inner, err := Resize(m, int(float64(m.W)*scale), int(float64(m.H)*scale), method)
	if err != nil {
		return nil, err
	}
	x, y := (w-inner.W)/2, (h-inner.H)/2
	return pad(inner, Edges{Left: x, Top: y, Right: w - inner.W - x, Bottom: h - inner.H - y}, value)
}

// FlipVertical turns each picture upside down.
func FlipVertical(m *Image) *Image {
	return rearrange(m, m.W, m.H, func(x, y int) (int, int) { return x, m.H - 1 - y })
}

// FlipHorizontal mirrors each picture left to right.
func FlipHorizontal(m *Image) *Image {
	return rearrange(m, m.W, m.H, func(x, y int) (int, int) { return m.W - 1 - x, y })
}

// Rotate turns each picture clockwise by quarters of a full turn.
func Rotate(m *Image, quarters int) *Image {
	switch quarters & 3 {
	case 1:
		return rearrange(m, m.H, m.W, func(x, y int) (int, int) { return y, m.H - 1 - x })
	case 2:
		return rearrange(m, m.W, m.H, func(x, y int) (int, int) { return m.W - 1 - x, m.H - 1 - y })
	case 3:
		return rearrange(m, m.H, m.W, func(x, y int) (int, int) { return m.W - 1 - y, x })
	}
	return m
}

// rearrange makes a batch of w x h whose pixel x, y is the source's pixel at(x, y).
func rearrange(m *Image, w, h int, at func(x, y int) (int, int)) *Image {
	out := &Image{B: m.B, H: h, W: w, C: m.C, Pix: make([]float32, len(m.Pix))}
	for b := range m.B {
		src, dst := m.Frame(b), out.Frame(b)
		i := 0
		for y := range h {
			for x := range w {
				sx, sy := at(x, y)
				copy(dst[i:i+m.C], src[(sy*m.W+sx)*m.C:])
				i += m.C
			}
		}
	}
	return out
}
