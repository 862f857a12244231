package draw

import (
	"image"
	"math"

	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// effects adds a shape's shadows to its layer, and blurs it.
func (p *painter) effects(layer *image.RGBA, sh *scene.Shape) {
	if len(sh.Shadows) > 0 {
		shape := alphaOf(layer)
		below := image.NewRGBA(layer.Rect)
		for i := len(sh.Shadows) - 1; i >= 0; i-- {
			if s := sh.Shadows[i]; s.Style == "drop-shadow" && !s.Hidden {
				c := rgba(s.Color.Color, s.Color.Opacity)
				paint(below, p.shadow(shape, s), func(int, int) pixel { return c })
			}
		}
		blend(below, layer, 1, "normal")
		copy(layer.Pix, below.Pix)
		for i := len(sh.Shadows) - 1; i >= 0; i-- {
			if s := sh.Shadows[i]; s.Style == "inner-shadow" && !s.Hidden {
				c := rgba(s.Color.Color, s.Color.Opacity)
				paint(layer, p.innerShadow(shape, s), func(int, int) pixel { return c })
			}
		}
	}
	if sh.Blur != nil && !sh.Blur.Hidden && sh.Blur.Value > 0 {
		for channel := range 4 {
			plane{layer.Pix, layer.Stride, 4, channel, layer.Rect.Dx(), layer.Rect.Dy()}.blur(sh.Blur.Value * p.scale)
		}
	}
}

func alphaOf(layer *image.RGBA) *image.Alpha {
	a := image.NewAlpha(layer.Rect)
	for i := range a.Pix {
		a.Pix[i] = layer.Pix[4*i+3]
	}
	return a
}

// shadow is a silhouette that is spread, moved and blurred.
func (p *painter) shadow(shape *image.Alpha, s scene.Shadow) *image.Alpha {
	out := spread(shape, round(s.Spread*p.scale))
	out = moved(out, round(s.OffsetX*p.scale), round(s.OffsetY*p.scale))
	plane{out.Pix, out.Stride, 1, 0, out.Rect.Dx(), out.Rect.Dy()}.blur(s.Blur / 2 * p.scale)
	return out
}

// innerShadow is what the surroundings of a silhouette throw into it.
func (p *painter) innerShadow(shape *image.Alpha, s scene.Shadow) *image.Alpha {
	around := image.NewAlpha(shape.Rect)
	for i, a := range shape.Pix {
		around.Pix[i] = 255 - a
	}
	out := p.shadow(around, s)
	for i, a := range shape.Pix {
		out.Pix[i] = times(uint32(out.Pix[i]), uint32(a))
	}
	return out
}

// moved shifts a mask by whole pixels; what comes from beyond its edge is as its edge.
func moved(a *image.Alpha, dx, dy int) *image.Alpha {
	out := image.NewAlpha(a.Rect)
	w, h := a.Rect.Dx(), a.Rect.Dy()
	for y := range h {
		for x := range w {
			out.Pix[y*out.Stride+x] = a.Pix[min(max(y-dy, 0), h-1)*a.Stride+min(max(x-dx, 0), w-1)]
		}
	}
	return out
}

// spread grows a mask by so many pixels to each side, or shrinks it, as feMorphology of SVG does.
func spread(a *image.Alpha, by int) *image.Alpha {
	if by == 0 {
		return a
	}
	grow, n := by > 0, max(by, -by)
	better := func(x, y uint8) uint8 {
		if grow {
			return max(x, y)
		}
		return min(x, y)
	}
	w, h := a.Rect.Dx(), a.Rect.Dy()
	wide, out := image.NewAlpha(a.Rect), image.NewAlpha(a.Rect)
	for y := range h {
		for x := range w {
			best := a.Pix[y*a.Stride+x]
			for i := max(x-n, 0); i <= min(x+n, w-1); i++ {
				best = better(best, a.Pix[y*a.Stride+i])
			}
			wide.Pix[y*wide.Stride+x] = best
		}
	}
	for y := range h {
		for x := range w {
			best := wide.Pix[y*wide.Stride+x]
			for i := max(y-n, 0); i <= min(y+n, h-1); i++ {
				best = better(best, wide.Pix[i*wide.Stride+x])
			}
			out.Pix[y*out.Stride+x] = best
		}
	}
	return out
}

// plane is one channel of a picture.
type plane struct {
	pix          []uint8
	stride, step int
	offset       int
	w, h         int
}

// blur is a Gaussian of a deviation, by rows and by columns.
func (p plane) blur(deviation float64) {
	if deviation < 0.1 {
		return
	}
	filter := gaussian(deviation)
	line, out := make([]float32, max(p.w, p.h)), make([]float32, max(p.w, p.h))
	pass := func(start, step, n int) {
		for i := range n {
			line[i] = float32(p.pix[start+i*step])
		}
		filter(line[:n], out[:n])
		for i := range n {
			p.pix[start+i*step] = uint8(min(255, out[i]+0.5))
		}
	}
	for y := range p.h {
		pass(p.offset+y*p.stride, p.step, p.w)
	}
	for x := range p.w {
		pass(p.offset+x*p.step, p.stride, p.h)
	}
}

// gaussian makes a filter of one line; beyond its ends there is nothing. A wide one is three moving averages, as SVG proposes for feGaussianBlur.
func gaussian(deviation float64) func(line, out []float32) {
	if deviation < 2 {
		return kernel(deviation)
	}
	d := int(deviation*3*math.Sqrt(2*math.Pi)/4 + 0.5)
	half := d / 2
	return func(line, out []float32) {
		spare := make([]float32, len(line))
		if d%2 == 1 {
			average(line, out, half, half)
			average(out, spare, half, half)
			average(spare, out, half, half)
			return
		}
		average(line, out, half, half-1)
		average(out, spare, half-1, half)
		average(spare, out, half, half)
	}
}

// average is the mean of the pixels from so many before to so many after.
func average(in, out []float32, before, after int) {
	sum, n := float32(0), float32(before+after+1)
	for i := 0; i <= min(after-1, len(in)-1); i++ {
		sum += in[i]
	}
	for i := range in {
		if i+after < len(in) {
			sum += in[i+after]
		}
		if i-before-1 >= 0 {
			sum -= in[i-before-1]
		}
		out[i] = sum / n
	}
}

func kernel(deviation float64) func(line, out []float32) {
	n := int(math.Ceil(3 * deviation))
	weights, sum := make([]float32, 2*n+1), float32(0)
	for i := range weights {
		weights[i] = float32(math.Exp(-float64((i-n)*(i-n)) / (2 * deviation * deviation)))
		sum += weights[i]
	}
	return func(line, out []float32) {
		for i := range line {
			v := float32(0)
			for j := max(0, i-n); j <= min(len(line)-1, i+n); j++ {
				v += line[j] * weights[j-i+n]
			}
			out[i] = v / sum
		}
	}
}
