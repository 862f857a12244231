package tensor

import (
	"fmt"
	"math"
)

// neighbours are the eight directions in steps of 45 degrees, starting to the right and turning down.
var neighbours = [8][2]int{{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}}

// Canny finds edges as kornia does: grey, blurred (5x5, sigma 1), Sobel, thinned, then two thresholds joined by
// hysteresis. The result is white on black in three channels.
func Canny(m *Image, low, high float64) (*Image, error) {
	if low > high {
		return nil, fmt.Errorf("the low threshold %v must not be above the high threshold %v", low, high)
	}
	if m.C != 3 && m.C != 1 {
		return nil, fmt.Errorf("finding edges takes pictures of 3 channels, got %d: split off the alpha channel first", m.C)
	}
	if m.W < 3 || m.H < 3 {
		return nil, fmt.Errorf("finding edges takes pictures of at least 3 x 3 pixels, got %d x %d", m.W, m.H)
	}
	out, err := NewImage(m.B, m.H, m.W, 3)
	if err != nil {
		return nil, err
	}
	for b := range m.B {
		p := plane{w: m.W, h: m.H, pix: grey(m, b)}
		edges := p.blur5().thinEdges().hysteresis(float32(low), float32(high))
		for i, e := range edges {
			if e {
				fill(out.Frame(b)[3*i:3*i+3], 1)
			}
		}
	}
	return out, nil
}

// plane is one channel of one picture.
type plane struct {
	w, h int
	pix  []float32
}

func grey(m *Image, b int) []float32 {
	src := m.Frame(b)
	if m.C == 1 {
		return src
	}
	out := make([]float32, m.W*m.H)
	for i := range out {
		s := float32(0.299*src[3*i]) + float32(0.587*src[3*i+1])
		out[i] = s + float32(0.114*src[3*i+2])
	}
	return out
}

func (p plane) blur5() plane {
	var kernel [5]float32
	sum := float32(0)
	for i := range kernel {
		x := float64(i - 2)
		kernel[i] = float32(math.Exp(-x * x / 2))
		sum += kernel[i]
	}
	for i := range kernel {
		kernel[i] /= sum
	}
	across := plane{p.w, p.h, make([]float32, len(p.pix))}
	for i := range across.pix {
		y, x := i/p.w, i%p.w
		for k, weight := range kernel {
			across.pix[i] = fma(p.pix[y*p.w+reflect(x+k-2, p.w)], weight, across.pix[i])
		}
	}
	out := plane{p.w, p.h, make([]float32, len(p.pix))}
	for i := range out.pix {
		y, x := i/p.w, i%p.w
		for k, weight := range kernel {
			out.pix[i] = fma(across.pix[reflect(y+k-2, p.h)*p.w+x], weight, out.pix[i])
		}
	}
	return out
}

// at continues the plane beyond its edges with the nearest pixel.
func (p plane) at(x, y int) float32 {
	return p.pix[min(max(y, 0), p.h-1)*p.w+min(max(x, 0), p.w-1)]
}

// thinEdges gives the strength of the gradient where it is higher than at both neighbours along its direction, else 0.
func (p plane) thinEdges() plane {
	strength := plane{p.w, p.h, make([]float32, len(p.pix))}
	direction := make([]int, len(p.pix))
	for i := range p.pix {
		y, x := i/p.w, i%p.w
		gx := -p.at(x-1, y-1) + p.at(x+1, y-1) - 2*p.at(x-1, y) + 2*p.at(x+1, y) - p.at(x-1, y+1) + p.at(x+1, y+1)
		gy := -p.at(x-1, y-1) - 2*p.at(x, y-1) - p.at(x+1, y-1) + p.at(x-1, y+1) + 2*p.at(x, y+1) + p.at(x+1, y+1)
		strength.pix[i] = sqrt32(float32(gx*gx) + float32(gy*gy) + 1e-6)
		angle := math.Atan2(float64(gy), float64(gx)) * 180 / math.Pi
		direction[i] = Round(angle/45) & 7
	}
	thin := plane{p.w, p.h, make([]float32, len(p.pix))}
	for i, d := range direction {
		if strength.above(i, d) && strength.above(i, (d+4)&7) {
			thin.pix[i] = strength.pix[i]
		}
	}
	return thin
}

// above reports whether the pixel is greater than its neighbour in the direction; outside everything is 0.
func (p plane) above(i, direction int) bool {
	x, y := i%p.w+neighbours[direction][0], i/p.w+neighbours[direction][1]
	if x < 0 || y < 0 || x >= p.w || y >= p.h {
		return p.pix[i] > 0
	}
	return p.pix[i]-p.pix[y*p.w+x] > 0
}

// hysteresis marks what is above high, and what is above low and connected to it.
func (p plane) hysteresis(low, high float32) []bool {
	edges := make([]bool, len(p.pix))
	var open []int
	mark := func(i int) {
		if !edges[i] {
			edges[i] = true
			open = append(open, i)
		}
	}
	for i, v := range p.pix {
		if v > high && v > low {
			mark(i)
		}
	}
	for len(open) > 0 {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		for _, n := range neighbours {
			x, y := i%p.w+n[0], i/p.w+n[1]
			if x >= 0 && y >= 0 && x < p.w && y < p.h && p.pix[y*p.w+x] > low {
				mark(y*p.w + x)
			}
		}
	}
	return edges
}
