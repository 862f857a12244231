package tensor

import (
	"fmt"
	"math"
)

func (m *Mask) apply(f func(v float32) float32) *Mask {
	out := m.Like()
	for i, v := range m.Pix {
		out.Pix[i] = f(v)
	}
	return out
}

// SolidMask is one plane of one value.
func SolidMask(w, h int, value float64) (*Mask, error) {
	out, err := NewMask(1, h, w)
	if err != nil {
		return nil, err
	}
	fill(out.Pix, float32(value))
	return out, nil
}

// InvertMask gives 1-x.
func InvertMask(m *Mask) *Mask {
	return m.apply(func(v float32) float32 { return 1 - v })
}

// Threshold gives 1 where the mask is greater than value, else 0.
func Threshold(m *Mask, value float64) *Mask {
	t := float32(value)
	return m.apply(func(v float32) float32 {
		if v > t {
			return 1
		}
		return 0
	})
}

// ColorMask is 1 where the picture, rounded to bytes, has exactly the colour 0xRRGGBB.
func ColorMask(m *Image, color int) (*Mask, error) {
	if m.C < 3 {
		return nil, fmt.Errorf("cannot look for a colour in a picture of %d channels", m.C)
	}
	out := &Mask{B: m.B, H: m.H, W: m.W, Pix: make([]float32, m.B*m.H*m.W)}
	for i := range out.Pix {
		found := 0
		for _, v := range m.Pix[i*m.C : i*m.C+3] {
			found = found<<8 | Round(float64(clamp01(v)*255))
		}
		if found == color {
			out.Pix[i] = 1
		}
	}
	return out, nil
}

// Feather fades the mask linearly to its edges over the given widths.
func Feather(m *Mask, e Edges) *Mask {
	out := &Mask{B: m.B, H: m.H, W: m.W, Pix: append([]float32(nil), m.Pix...)}
	scale := func(x, y int, rate float32) {
		for b := range out.B {
			out.Pix[(b*out.H+y)*out.W+x] *= rate
		}
	}
	columns := func(n int, at func(i int) int) {
		for i := range min(n, out.W) {
			rate := float32(float64(i+1) / float64(min(n, out.W)))
			for y := range out.H {
				scale(at(i), y, rate)
			}
		}
	}
	rows := func(n int, at func(i int) int) {
		for i := range min(n, out.H) {
			rate := float32(float64(i+1) / float64(min(n, out.H)))
			for x := range out.W {
				scale(x, at(i), rate)
			}
		}
	}
	columns(e.Left, func(i int) int { return i })
	columns(e.Right, func(i int) int { return out.W - 1 - i })
	rows(e.Top, func(i int) int { return i })
	rows(e.Bottom, func(i int) int { return out.H - 1 - i })
	return out
}

// Grow spreads bright values by steps pixels, or dark ones when steps is negative; edges continue by reflection. With
// tapered corners a step goes along rows and columns only.
func Grow(m *Mask, steps int, tapered bool) *Mask {
	sign := float32(1)
	if steps < 0 {
		sign, steps = -1, -steps
	}
	if !tapered {
		// So many square steps are one large square.
		return planeMask(window(m.Plane(), 2*min(steps, m.W+m.H)+1, sign))
	}
	out := m
	// After so many steps no value can have further to go.
	for range min(steps, m.W+m.H) {
		next := growStep(out, sign)
		if equalValues(next.Pix, out.Pix) {
			break
		}
		out = next
	}
	return out
}

func equalValues(a, b []float32) bool {
	for i, v := range a {
		if v != b[i] {
			return false
		}
	}
	return true
}

// growStep takes the largest value (sign 1) or the smallest (sign -1) of each pixel and its four neighbours.
func growStep(m *Mask, sign float32) *Mask {
	out := m.Like()
	for b := range m.B {
		src, dst := m.Frame(b), out.Frame(b)
		for y := range m.H {
			up, down := max(y-1, 0)*m.W, min(y+1, m.H-1)*m.W
			row := y * m.W
			for x := range m.W {
				a, b, c, d, e := src[row+x], src[row+max(x-1, 0)], src[row+min(x+1, m.W-1)], src[up+x], src[down+x]
				if sign > 0 {
					dst[row+x] = max(a, b, c, d, e)
				} else {
					dst[row+x] = min(a, b, c, d, e)
				}
			}
		}
	}
	return out
}

// maskFunc gives the formula of an operation of CombineMasks.
func maskFunc(op string) (func(d, s float32) float32, error) {
	logic := func(f func(d, s bool) bool) func(d, s float32) float32 {
		return func(d, s float32) float32 {
			if f(math.RoundToEven(float64(d)) != 0, math.RoundToEven(float64(s)) != 0) {
				return 1
			}
			return 0
		}
	}
	switch op {
	case "multiply":
		return func(d, s float32) float32 { return d * s }, nil
	case "add":
		return func(d, s float32) float32 { return d + s }, nil
	case "subtract":
		return func(d, s float32) float32 { return d - s }, nil
	case "and":
		return logic(func(d, s bool) bool { return d && s }), nil
	case "or":
		return logic(func(d, s bool) bool { return d || s }), nil
	case "xor":
		return logic(func(d, s bool) bool { return d != s }), nil
	}
	return nil, fmt.Errorf("unknown mask operation %q: use multiply, add, subtract, and, or, xor", op)
}

// CombineMasks applies op to the part of the destination that the source covers when laid at x, y, and clamps all. A
// source a little beyond the destination is an error, because torch counts a negative width from the source's end; one far
// beyond, of which at most a line is left then, changes nothing. A source of one plane serves all planes of the destination.
func CombineMasks(destination, source *Mask, x, y int, op string) (*Mask, error) {
	f, err := maskFunc(op)
	if err != nil {
		return nil, err
	}
	w, h := min(source.W, destination.W-x), min(source.H, destination.H-y)
	if w < 0 && source.W+w > 1 || h < 0 && source.H+h > 1 {
		return nil, fmt.Errorf("the source at %d, %d lies outside the destination of %d x %d", x, y, destination.W, destination.H)
	}
	if source.B != destination.B && source.B != 1 {
		return nil, fmt.Errorf("a source of %d masks does not fit a destination of %d: it must have as many or one", source.B, destination.B)
	}
	out := &Mask{B: destination.B, H: destination.H, W: destination.W, Pix: append([]float32(nil), destination.Pix...)}
	for b := range out.B {
		src, dst := source.Frame(b%source.B), out.Frame(b)
		for row := range h {
			for i, s := range src[row*source.W:][:max(w, 0)] {
				d := &dst[(y+row)*out.W+x+i]
				*d = f(*d, s)
			}
		}
	}
	for i, v := range out.Pix {
		out.Pix[i] = clamp01(v)
	}
	return out, nil
}

// Quadmask sorts a mask into the four levels that the VOID models know (0, 63, 127, 255 of 255) after spreading its
// dark part by radius pixels, and inverts it.
func Quadmask(m *Mask, radius int) *Mask {
	scaled := m
	if !anyAbove(m.Pix, 1) {
		scaled = m.apply(func(v float32) float32 { return v * 255 })
	}
	if radius > 0 {
		dark := scaled.apply(func(v float32) float32 {
			if v < 128 {
				return 1
			}
			return 0
		})
		grown := dilate(dark.Plane(), 2*radius+1)
		spread := scaled.Like()
		for i, v := range scaled.Pix {
			if grown.Pix[i] <= 0.5 {
				spread.Pix[i] = v
			}
		}
		scaled = spread
	}
	return scaled.apply(func(v float32) float32 {
		level := float32(255)
		switch {
		case v <= 31:
			level = 0
		case v <= 95:
			level = 63
		case v <= 191:
			level = 127
		}
		return (255 - level) / 255
	})
}

func anyAbove(pix []float32, limit float32) bool {
	for _, v := range pix {
		if v > limit {
			return true
		}
	}
	return false
}
