package draw

import (
	"image"
	"math"
)

// blend lays a layer over what is there, by the formulas of W3C Compositing and Blending Level 1 (sections 5 and 10).
func blend(to, layer *image.RGBA, opacity float64, mode string) {
	share := uint32(math.Round(opacity * 255))
	mix := blendFunction(mode)
	r := layer.Rect.Intersect(to.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		under, over := to.Pix[to.PixOffset(r.Min.X, y):], layer.Pix[layer.PixOffset(r.Min.X, y):]
		for i := 0; i < 4*r.Dx(); i += 4 {
			b, s := under[i:i+4:i+4], over[i:i+4:i+4]
			switch {
			case s[3] == 0:
			case mix == nil || b[3] == 0:
				rest := 255 - uint32(times(uint32(s[3]), share))
				for j := range b {
					b[j] = times(uint32(s[j]), share) + times(uint32(b[j]), rest)
				}
			default:
				mixPixel(b, s, float64(share)/255, mix)
			}
		}
	}
}

// rgb is a colour, each 0 to 1.
type rgb [3]float64

// mixPixel blends one pixel: cs = (1 - ab) cs + ab B(cb, cs), then source over.
func mixPixel(b, s []uint8, share float64, mix func(b, s rgb) rgb) {
	ab, as := float64(b[3])/255, float64(s[3])/255
	var cb, cs rgb
	for i := range 3 {
		cb[i], cs[i] = min(1, float64(b[i])/255/ab), min(1, float64(s[i])/255/as)
	}
	mixed := mix(cb, cs)
	as *= share
	for i := range 3 {
		c := (1-ab)*cs[i] + ab*mixed[i]
		b[i] = uint8(min(255, math.Round(255*(as*c+(1-as)*ab*cb[i]))))
	}
	b[3] = uint8(math.Round(255 * (as + ab*(1-as))))
}

// blendFunction is B of a mode; nil is that of normal.
func blendFunction(mode string) func(b, s rgb) rgb {
	switch mode {
	case "normal":
		return nil
	case "hue":
		return func(b, s rgb) rgb { return s.withSaturation(b.saturation()).withLuminosity(b.luminosity()) }
	case "saturation":
		return func(b, s rgb) rgb { return b.withSaturation(s.saturation()).withLuminosity(b.luminosity()) }
	case "color":
		return func(b, s rgb) rgb { return s.withLuminosity(b.luminosity()) }
	case "luminosity":
		return func(b, s rgb) rgb { return b.withLuminosity(s.luminosity()) }
	}
	one := separable[mode]
	return func(b, s rgb) rgb { return rgb{one(b[0], s[0]), one(b[1], s[1]), one(b[2], s[2])} }
}

// separable are the modes that treat each colour by itself.
var separable = map[string]func(b, s float64) float64{
	"darken":      func(b, s float64) float64 { return min(b, s) },
	"lighten":     func(b, s float64) float64 { return max(b, s) },
	"multiply":    func(b, s float64) float64 { return b * s },
	"screen":      screen,
	"overlay":     func(b, s float64) float64 { return hardLight(s, b) },
	"hard-light":  hardLight,
	"soft-light":  softLight,
	"difference":  func(b, s float64) float64 { return math.Abs(b - s) },
	"exclusion":   func(b, s float64) float64 { return b + s - 2*b*s },
	"color-dodge": colorDodge,
	"color-burn":  func(b, s float64) float64 { return 1 - colorDodge(1-b, 1-s) },
}

func screen(b, s float64) float64 { return b + s - b*s }

func hardLight(b, s float64) float64 {
	if s <= 0.5 {
		return b * 2 * s
	}
	return screen(b, 2*s-1)
}

func softLight(b, s float64) float64 {
	if s <= 0.5 {
		return b - (1-2*s)*b*(1-b)
	}
	d := math.Sqrt(b)
	if b <= 0.25 {
		d = ((16*b-12)*b + 4) * b
	}
	return b + (2*s-1)*(d-b)
}

func colorDodge(b, s float64) float64 {
	switch {
	case b == 0:
		return 0
	case s >= 1:
		return 1
	}
	return min(1, b/(1-s))
}

func (c rgb) luminosity() float64 { return 0.3*c[0] + 0.59*c[1] + 0.11*c[2] }

func (c rgb) saturation() float64 { return max(c[0], c[1], c[2]) - min(c[0], c[1], c[2]) }

func (c rgb) withLuminosity(l float64) rgb {
	d := l - c.luminosity()
	for i := range c {
		c[i] += d
	}
	l = c.luminosity()
	low, high := min(c[0], c[1], c[2]), max(c[0], c[1], c[2])
	for i := range c {
		if low < 0 {
			c[i] = l + (c[i]-l)*l/(l-low)
		}
		if high > 1 {
			c[i] = l + (c[i]-l)*(1-l)/(high-l)
		}
	}
	return c
}

func (c rgb) withSaturation(s float64) rgb {
	low, high := min(c[0], c[1], c[2]), max(c[0], c[1], c[2])
	if high == low {
		return rgb{}
	}
	for i := range c {
		c[i] = (c[i] - low) * s / (high - low)
	}
	return c
}
