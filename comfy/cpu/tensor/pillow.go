package tensor

import (
	"fmt"
	"math"
)

// lanczosReach is the half width of the Lanczos window in source pixels at scale 1.
const lanczosReach = 3

// weightBits is the number of fraction bits of Pillow's 8-bit resampling weights.
const weightBits = 32 - 8 - 2

// filterSpan is the weights of one output pixel on one axis, starting at the source pixel from.
type filterSpan struct {
	from    int
	weights []int32
}

func lanczosKernel(x float64) float64 {
	if x < -lanczosReach || x >= lanczosReach {
		return 0
	}
	return sinc(x) * sinc(x/lanczosReach)
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	x *= math.Pi
	return math.Sin(x) / x
}

// lanczosSpans computes Pillow's fixed-point weights from in to out pixels.
func lanczosSpans(in, out int) []filterSpan {
	scale := float64(in) / float64(out)
	wide := max(scale, 1)
	reach := lanczosReach * wide
	spans := make([]filterSpan, out)
	for i := range spans {
		center := (float64(i) + 0.5) * scale
		from := max(int(center-reach+0.5), 0)
		to := min(int(center+reach+0.5), in)
		exact := make([]float64, to-from)
		sum := 0.0
		for k := range exact {
			exact[k] = lanczosKernel((float64(k+from) - center + 0.5) / wide)
			sum += exact[k]
		}
		spans[i] = filterSpan{from: from, weights: fixedWeights(exact, sum)}
	}
	return spans
}

func fixedWeights(exact []float64, sum float64) []int32 {
	fixed := make([]int32, len(exact))
	for k, w := range exact {
		if sum != 0 {
			w /= sum
		}
		fixed[k] = int32(math.Trunc(math.Copysign(0.5, w) + w*(1<<weightBits)))
	}
	return fixed
}

// lanczos resizes as Pillow's Image.resize does with LANCZOS: across and then down, rounded to 8 bits after each pass;
// RGBA is weighted by its alpha.
func (r *raster) lanczos(w, h int) (*raster, error) {
	if w <= 0 || h <= 0 {
		return nil, fmt.Errorf("height and width must be > 0, got %d x %d", w, h)
	}
	if w == r.w && h == r.h {
		return r, nil
	}
	if _, err := Count(1, h, max(w, r.w), r.c); err != nil {
		return nil, err
	}
	out := r
	if r.c == 4 {
		out = r.premultiplied()
	}
	if w != r.w {
		out = out.across(w)
	}
	if h != r.h {
		out = out.down(h)
	}
	if r.c == 4 {
		out = out.straight()
	}
	return out, nil
}

func (r *raster) across(w int) *raster {
	out := newRaster(w, r.h, r.c)
	spans := lanczosSpans(r.w, w)
	for y := range r.h {
		line := r.pix[y*r.w*r.c : (y+1)*r.w*r.c]
		to := out.pix[y*w*r.c:]
		for x, span := range spans {
			for k := range r.c {
				sum := int32(1 << (weightBits - 1))
				at := span.from*r.c + k
				for _, weight := range span.weights {
					sum += int32(line[at]) * weight
					at += r.c
				}
				to[x*r.c+k] = clip8(sum >> weightBits)
			}
		}
	}
	return out
}

func (r *raster) down(h int) *raster {
	out := newRaster(r.w, h, r.c)
	line := r.w * r.c
	sums := make([]int32, line)
	for y, span := range lanczosSpans(r.h, h) {
		for i := range sums {
			sums[i] = 1 << (weightBits - 1)
		}
		for k, weight := range span.weights {
			for i, v := range r.pix[(span.from+k)*line : (span.from+k+1)*line] {
				sums[i] += int32(v) * weight
			}
		}
		to := out.pix[y*line:]
		for i, sum := range sums {
			to[i] = clip8(sum >> weightBits)
		}
	}
	return out
}

func clip8(v int32) uint8 {
	return uint8(min(max(v, 0), 255))
}

// premultiplied multiplies the colours by alpha, with Pillow's rounding.
func (r *raster) premultiplied() *raster {
	out := newRaster(r.w, r.h, 4)
	for i := 0; i < len(r.pix); i += 4 {
		a := uint32(r.pix[i+3])
		for k := range 3 {
			t := uint32(r.pix[i+k])*a + 128
			out.pix[i+k] = uint8((t>>8 + t) >> 8)
		}
		out.pix[i+3] = r.pix[i+3]
	}
	return out
}

// straight divides the colours by alpha again.
func (r *raster) straight() *raster {
	out := newRaster(r.w, r.h, 4)
	for i := 0; i < len(r.pix); i += 4 {
		a := int32(r.pix[i+3])
		copy(out.pix[i:i+4], r.pix[i:])
		if a == 0 || a == 255 {
			continue
		}
		for k := range 3 {
			out.pix[i+k] = clip8(255 * int32(r.pix[i+k]) / a)
		}
	}
	return out
}

// luma is Pillow's conversion to grey of the first three channels.
func (r *raster) luma() []uint8 {
	out := make([]uint8, r.w*r.h)
	for i := range out {
		p := r.pix[i*r.c:]
		if r.c < 3 {
			out[i] = p[0]
			continue
		}
		out[i] = uint8((uint32(p[0])*19595 + uint32(p[1])*38470 + uint32(p[2])*7471 + 0x8000) >> 16)
	}
	return out
}

// EdgeSize gives the width and height at which the shorter or longer edge of pictures has the given length, in
// pixels; the other one follows, truncated.
func EdgeSize(m *Image, edge int, longer bool) (w, h int, err error) {
	if m.W <= 0 || m.H <= 0 {
		return 0, 0, fmt.Errorf("cannot resize an empty picture of %d x %d", m.W, m.H)
	}
	byWidth := m.W < m.H
	if longer {
		byWidth = m.W > m.H
	}
	if byWidth {
		return edge, int(float64(m.H) * (float64(edge) / float64(m.W))), nil
	}
	return int(float64(m.W) * (float64(edge) / float64(m.H))), edge, nil
}
