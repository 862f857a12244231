package tensor

import (
	"fmt"
	"math"
)

// Method names a way to resample, as the upscale_method inputs do.
type Method string

// The methods.
const (
	Nearest  Method = "nearest-exact"
	Bilinear Method = "bilinear"
	Area     Method = "area"
	Bicubic  Method = "bicubic"
	Lanczos  Method = "lanczos"
)

// Resize gives each picture the size w x h. Except Lanczos, which goes through 8 bits as Pillow does, the methods
// follow torch's interpolate with align_corners off and no antialiasing. Bicubic overshoots are kept.
func Resize(m *Image, w, h int, method Method) (*Image, error) {
	return resize(m, w, h, method, false)
}

// resize resamples; cut tells that the source is a part of rows of a larger picture, which decides in what order torch
// sums the terms of bilinear.
func resize(m *Image, w, h int, method Method, cut bool) (*Image, error) {
	if method == Area && w >= 0 && h >= 0 && w*h == 0 && m.W > 0 && m.H > 0 {
		return &Image{B: m.B, H: h, W: w, C: m.C}, nil // means of no pixels are an empty picture, no error
	}
	if w <= 0 || h <= 0 || m.W <= 0 || m.H <= 0 {
		return nil, fmt.Errorf("cannot resize a picture of %d x %d to %d x %d: both sizes must be at least 1", m.W, m.H, w, h)
	}
	out, err := NewImage(m.B, h, w, m.C)
	if err != nil {
		return nil, err
	}
	switch method {
	case Nearest:
		resizeNearest(out, m)
	case Bilinear:
		resizeBilinear(out, m, !cut)
	case Area:
		resizeArea(out, m)
	case Bicubic:
		resizeBicubic(out, m)
	case Lanczos:
		err = resizeLanczos(out, m)
	default:
		err = fmt.Errorf("unknown way to resize %q: use nearest-exact, bilinear, area, bicubic or lanczos", method)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// resizeMask is Resize for masks.
func resizeMask(m *Mask, w, h int, method Method) (*Mask, error) {
	out, err := Resize(m.Plane(), w, h, method)
	if err != nil {
		return nil, err
	}
	return planeMask(out), nil
}

// cropToAspect cuts equal strips from both sides so that the picture has the aspect of w x h, up to rounding.
func cropToAspect(m *Image, w, h int) (*Image, error) {
	if w <= 0 || h <= 0 || m.W <= 0 || m.H <= 0 {
		return nil, fmt.Errorf("cannot crop a picture of %d x %d to the shape of %d x %d: both sizes must be at least 1", m.W, m.H, w, h)
	}
	was, will := float64(m.W)/float64(m.H), float64(w)/float64(h)
	x, y := 0, 0
	if was > will {
		x = Round((float64(m.W) - float64(m.W)*(will/was)) / 2)
	} else if was < will {
		y = Round((float64(m.H) - float64(m.H)*(was/will)) / 2)
	}
	return Crop(m, x, y, m.W-2*x, m.H-2*y), nil
}

// CropResize is cropToAspect and then Resize.
func CropResize(m *Image, w, h int, method Method) (*Image, error) {
	cut, err := cropToAspect(m, w, h)
	if err != nil {
		return nil, err
	}
	return resize(cut, w, h, method, cut.W < m.W || cut.H < m.H && m.B > 1)
}

// sourceAt is where the centre of an output pixel lies in the input. The scale is a float32 and the rest is computed in
// double precision, as torch does.
func sourceAt(in, out, i int) float64 {
	scale := float64(float32(in) / float32(out))
	return scale*(float64(i)+0.5) - 0.5
}

func resizeNearest(out, in *Image) {
	columns := nearestIndex(in.W, out.W)
	rows := nearestIndex(in.H, out.H)
	c := in.C
	for b := range in.B {
		src, dst := in.Frame(b), out.Frame(b)
		for y, sy := range rows {
			line := src[sy*in.W*c : (sy+1)*in.W*c]
			to := dst[y*out.W*c : (y+1)*out.W*c]
			for x, sx := range columns {
				copy(to[x*c:(x+1)*c], line[sx*c:])
			}
		}
	}
}

func nearestIndex(in, out int) []int {
	index := make([]int, out)
	scale := float32(in) / float32(out)
	for i := range index {
		at := float32((float64(i) + 0.5) * float64(scale))
		index[i] = min(int(math.Floor(float64(at))), in-1)
	}
	return index
}

// blend2 weighs two neighbours on one axis.
type blend2 struct {
	i0, i1 int
	w0, w1 float32
}

func linearTaps(in, out int) []blend2 {
	taps := make([]blend2, out)
	for i := range taps {
		if in == out {
			taps[i] = blend2{i, i, 1, 0}
			continue
		}
		at := max(sourceAt(in, out, i), 0)
		i0 := min(int(at), in-1)
		w1 := clamp01(float32(at - float64(i0)))
		taps[i] = blend2{i0, min(i0+1, in-1), 1 - w1, w1}
	}
	return taps
}

func resizeBilinear(out, in *Image, flat bool) {
	columns, rows := linearTaps(in.W, out.W), linearTaps(in.H, out.H)
	mix := bilinearNested
	if flat {
		mix = bilinearFlat
	}
	c := in.C
	for b := range in.B {
		src, dst := in.Frame(b), out.Frame(b)
		for y, v := range rows {
			top, bottom := src[v.i0*in.W*c:], src[v.i1*in.W*c:]
			for x, u := range columns {
				to := dst[(y*out.W+x)*c:][:c]
				mix(to, top[u.i0*c:], top[u.i1*c:], bottom[u.i0*c:], bottom[u.i1*c:], u, v)
			}
		}
	}
}

// bilinearNested goes along the rows and then down: the order of torch's general loop.
func bilinearNested(to, p00, p01, p10, p11 []float32, u, v blend2) {
	for k := range to {
		t := fma(p00[k], u.w0, p01[k]*u.w1)
		d := fma(p10[k], u.w0, p11[k]*u.w1)
		to[k] = fma(t, v.w0, d*v.w1)
	}
}

// bilinearFlat multiplies the weights first and sums in double precision: what torch's loop for pictures that lie in
// memory as a whole comes to.
func bilinearFlat(to, p00, p01, p10, p11 []float32, u, v blend2) {
	w00, w01 := float64(v.w0*u.w0), float64(v.w0*u.w1)
	w10, w11 := float64(v.w1*u.w0), float64(v.w1*u.w1)
	for k := range to {
		to[k] = float32(w00*float64(p00[k]) + w01*float64(p01[k]) + w10*float64(p10[k]) + w11*float64(p11[k]))
	}
}

// fma is a*b+c rounded once, which is what torch's compiled loops do.
func fma(a, b, c float32) float32 { return float32(float64(a)*float64(b) + float64(c)) }

// resizeArea averages the input pixels that each output pixel touches, all with equal weight.
func resizeArea(out, in *Image) {
	c := in.C
	sum := make([]float32, c)
	for b := range in.B {
		src, dst := in.Frame(b), out.Frame(b)
		for y := range out.H {
			y0, y1 := areaSpan(in.H, out.H, y)
			for x := range out.W {
				x0, x1 := areaSpan(in.W, out.W, x)
				clear(sum)
				for sy := y0; sy < y1; sy++ {
					for at := (sy*in.W + x0) * c; at < (sy*in.W+x1)*c; at += c {
						for k := range sum {
							sum[k] += src[at+k]
						}
					}
				}
				to := dst[(y*out.W+x)*c:]
				for k, s := range sum {
					to[k] = s / float32(y1-y0) / float32(x1-x0)
				}
			}
		}
	}
}

func areaSpan(in, out, i int) (from, to int) {
	return i * in / out, ((i+1)*in + out - 1) / out
}

// cubicTap weighs four neighbours on one axis.
type cubicTap struct {
	i [4]int
	w [4]float32
}

func cubicTaps(in, out int) []cubicTap {
	taps := make([]cubicTap, out)
	for i := range taps {
		at := sourceAt(in, out, i)
		base := int(math.Floor(at))
		taps[i].w = cubicWeights(float32(at - float64(base)))
		for k := range 4 {
			taps[i].i[k] = min(max(base-1+k, 0), in-1)
		}
	}
	return taps
}

// cubicWeights are those of cubic convolution with a = -0.75 at the distance t from the second of four samples.
func cubicWeights(t float32) [4]float32 {
	const a = -0.75
	near := func(x float32) float32 { return fma(fma(a+2, x, -(a+3))*x, x, 1) }
	far := func(x float32) float32 { return fma(fma(fma(a, x, -5*a), x, 8*a), x, -4*a) }
	return [4]float32{far(t + 1), near(t), near(1 - t), far((1 - t) + 1)}
}

func resizeBicubic(out, in *Image) {
	columns, rows := cubicTaps(in.W, out.W), cubicTaps(in.H, out.H)
	line := out.W * in.C
	var lines [4][]float32
	for k := range lines {
		lines[k] = make([]float32, line)
	}
	for b := range in.B {
		src, dst := in.Frame(b), out.Frame(b)
		held := [4]int{-1, -1, -1, -1}
		for y, v := range rows {
			for _, sy := range v.i {
				// Four neighbouring rows always fall into four different slots.
				if held[sy%4] != sy {
					held[sy%4] = sy
					cubicLine(lines[sy%4], src[sy*in.W*in.C:], columns, in.C)
				}
			}
			l0, l1, l2, l3 := lines[v.i[0]%4], lines[v.i[1]%4], lines[v.i[2]%4], lines[v.i[3]%4]
			to := dst[y*line : (y+1)*line]
			for k := range to {
				s := fma(l0[k], v.w[0], l1[k]*v.w[1])
				s = fma(l2[k], v.w[2], s)
				to[k] = fma(l3[k], v.w[3], s)
			}
		}
	}
}

func cubicLine(to, from []float32, columns []cubicTap, c int) {
	for x, u := range columns {
		for k := range c {
			s := fma(from[u.i[0]*c+k], u.w[0], from[u.i[1]*c+k]*u.w[1])
			s = fma(from[u.i[2]*c+k], u.w[2], s)
			to[x*c+k] = fma(from[u.i[3]*c+k], u.w[3], s)
		}
	}
}

func resizeLanczos(out, in *Image) error {
	for b := range in.B {
		small, err := in.raster8(b).lanczos(out.W, out.H)
		if err != nil {
			return err
		}
		small.put(out.Frame(b))
	}
	return nil
}
