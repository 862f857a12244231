package tensor

import (
	"fmt"
	"math"
)

// gaussLine is one axis of the blur kernel: the bell curve over -1..1 in 2*radius+1 steps, normalised. The two-dimensional
// kernel of the real node is its product with itself.
func gaussLine(radius int, sigma float64) []float64 {
	n := 2*radius + 1
	line := make([]float64, n)
	sum := 0.0
	for i, x := range linspace(-1, 1, n) {
		line[i] = math.Exp(-float64(x) * float64(x) / (2 * sigma * sigma))
		sum += line[i]
	}
	for i := range line {
		line[i] /= sum
	}
	return line
}

// Blur weighs each pixel with its neighbours up to radius away; sigma is relative to the radius. Pictures are continued
// by reflection, so they must be larger than the radius.
func Blur(m *Image, radius int, sigma float64) (*Image, error) {
	if radius == 0 {
		return m, nil
	}
	out := m.Like()
	err := blurred(m, radius, sigma, func(i int, v float64) { out.Pix[i] = float32(v) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Sharpen adds ten times alpha times the difference to the blurred picture, and clamps.
func Sharpen(m *Image, radius int, sigma, alpha float64) (*Image, error) {
	if radius == 0 {
		return m, nil
	}
	out := m.Like()
	gain := alpha * 10
	err := blurred(m, radius, sigma, func(i int, v float64) {
		x := float64(m.Pix[i])
		out.Pix[i] = clamp01(float32(x + gain*(x-v)))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// blurred calls put with each blurred value. The sums are float64: they stand for sums of up to 4000 float32 products
// whose order in the original depends on the processor.
func blurred(m *Image, radius int, sigma float64, put func(i int, v float64)) error {
	if radius >= m.W || radius >= m.H {
		return fmt.Errorf("padding size should be less than the corresponding input dimension, but got a radius of %d for a picture of %d x %d", radius, m.W, m.H)
	}
	kernel := gaussLine(radius, sigma)
	line := m.W * m.C
	rows := make([]float64, m.H*line)
	for b := range m.B {
		src := m.Frame(b)
		for y := range m.H {
			blurLine(rows[y*line:(y+1)*line], src[y*line:(y+1)*line], kernel, m.W, m.C)
		}
		sums := make([]float64, line)
		for y := range m.H {
			clear(sums)
			for k, weight := range kernel {
				for i, v := range rows[reflect(y+k-radius, m.H)*line:][:line] {
					sums[i] += v * weight
				}
			}
			for i, v := range sums {
				put((b*m.H+y)*line+i, v)
			}
		}
	}
	return nil
}

func blurLine(to []float64, from []float32, kernel []float64, w, c int) {
	radius := len(kernel) / 2
	for x := range w {
		out := to[x*c : (x+1)*c]
		clear(out)
		for k, weight := range kernel {
			in := from[reflect(x+k-radius, w)*c:]
			for ch := range out {
				out[ch] += float64(in[ch]) * weight
			}
		}
	}
}

// reflect mirrors an index at the edges without repeating them. i must be less than n outside.
func reflect(i, n int) int {
	if i < 0 {
		return -i
	}
	if i >= n {
		return 2*n - 2 - i
	}
	return i
}

// Operation names one of Morph's.
type Operation string

// Morph applies a morphological operation with a square of size x size to every channel: erode, dilate, open, close,
// gradient, top_hat, bottom_hat.
func Morph(m *Image, op Operation, size int) (*Image, error) {
	switch op {
	case "erode":
		return erode(m, size), nil
	case "dilate":
		return dilate(m, size), nil
	case "open":
		return dilate(erode(m, size), size), nil
	case "close":
		return erode(dilate(m, size), size), nil
	case "gradient":
		return minus(dilate(m, size), erode(m, size)), nil
	case "top_hat":
		return minus(m, dilate(erode(m, size), size)), nil
	case "bottom_hat":
		return minus(erode(dilate(m, size), size), m), nil
	}
	return nil, fmt.Errorf("unknown operation %q: use erode, dilate, open, close, gradient, top_hat or bottom_hat", op)
}

func minus(a, b *Image) *Image {
	out := a.Like()
	for i, v := range a.Pix {
		out.Pix[i] = v - b.Pix[i]
	}
	return out
}

func dilate(m *Image, size int) *Image { return window(m, size, 1) }

func erode(m *Image, size int) *Image { return window(m, size, -1) }

// window gives the largest value (sign 1) or the smallest (sign -1) in the square around each pixel; an even square
// reaches one pixel further to the left and top.
func window(m *Image, size int, sign float32) *Image {
	out := m.Like()
	line := m.W * m.C
	queue := make([]int, max(m.W, m.H))
	for b := range m.B {
		src, dst := m.Frame(b), out.Frame(b)
		for y := range m.H {
			for c := range m.C {
				slide(dst[y*line+c:], m.C, src[y*line+c:], m.C, m.W, size, sign, queue)
			}
		}
		column := make([]float32, m.H)
		for i := range line {
			for y := range m.H {
				column[y] = dst[y*line+i]
			}
			slide(dst[i:], line, column, 1, m.H, size, sign, queue)
		}
	}
	return out
}

// slide moves a window of size along n values in linear time: queue holds the indices that may still become the
// extreme, best first.
func slide(dst []float32, to int, src []float32, from, n, size int, sign float32, queue []int) {
	before := size / 2
	after := size - 1 - before
	head, tail, next := 0, 0, 0
	for i := range n {
		for ; next < n && next <= i+after; next++ {
			v := sign * src[next*from]
			for tail > head && sign*src[queue[tail-1]*from] <= v {
				tail--
			}
			queue[tail] = next
			tail++
		}
		for queue[head] < i-before {
			head++
		}
		dst[i*to] = src[queue[head]*from]
	}
}
