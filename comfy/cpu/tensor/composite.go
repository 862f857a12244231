package tensor

import (
	"errors"
	"fmt"
)

// Composite lays source over destination at x, y through mask (1 shows the source; nil: all of it). The mask is scaled
// to the source; with resize the source is scaled to the destination first. Batches are repeated or cut to the
// destination's.
func Composite(destination, source *Image, mask *Mask, x, y int, resize bool) (*Image, error) {
	source, err := matchChannels(source, destination)
	if err != nil {
		return nil, err
	}
	if resize {
		if source, err = Resize(source, destination.W, destination.H, Bilinear); err != nil {
			return nil, err
		}
	}
	if source, err = source.RepeatTo(destination.B); err != nil {
		return nil, err
	}
	if mask != nil {
		if mask, err = fitMask(mask, source); err != nil {
			return nil, err
		}
	}
	x, y = min(max(x, -source.W), destination.W), min(max(y, -source.H), destination.H)
	if x < 0 || y < 0 {
		return nil, fmt.Errorf("the place %d, %d lies before the start of the destination", x, y)
	}
	out := destination.Like()
	copy(out.Pix, destination.Pix)
	for b := range out.B {
		var weights []float32
		if mask != nil {
			weights = mask.Frame(b)
		}
		overlay(out, source, weights, b, x, y)
	}
	return out, nil
}

// overlay mixes one picture of the source into the batch; weights, one for each pixel of the source, may be nil for 1.
func overlay(out, source *Image, weights []float32, b, x, y int) {
	w, h, c := min(source.W, out.W-x), min(source.H, out.H-y), out.C
	src, dst := source.Frame(b), out.Frame(b)
	for row := range h {
		from, to := src[row*source.W*c:], dst[((y+row)*out.W+x)*c:]
		for i := range w * c {
			weight := float32(1)
			if weights != nil {
				weight = weights[row*source.W+i/c]
			}
			to[i] = float32(weight*from[i]) + float32((1-weight)*to[i])
		}
	}
}

// fitMask scales a mask to the pictures and gives it as many planes.
func fitMask(mask *Mask, m *Image) (*Mask, error) {
	mask, err := resizeMask(mask, m.W, m.H, Bilinear)
	if err != nil {
		return nil, err
	}
	return mask.RepeatTo(m.B)
}

// JoinAlpha makes pictures of four channels whose alpha is 1 minus the mask, scaled to the pictures. The shorter batch
// is repeated.
func JoinAlpha(m *Image, alpha *Mask) (*Image, error) {
	n := max(m.B, alpha.B)
	m, errImage := m.RepeatTo(n)
	alpha, errMask := alpha.RepeatTo(n)
	if err := errors.Join(errImage, errMask); err != nil {
		return nil, err
	}
	alpha, err := resizeMask(alpha, m.W, m.H, Bilinear)
	if err != nil {
		return nil, err
	}
	out, err := NewImage(n, m.H, m.W, 4)
	if err != nil {
		return nil, err
	}
	for i, v := range alpha.Pix {
		copy(out.Pix[4*i:4*i+3], m.Pix[i*m.C:])
		out.Pix[4*i+3] = 1 - v
	}
	return out, nil
}

// SplitAlpha gives the colours and the mask 1 minus alpha; without alpha the mask is 0.
func SplitAlpha(m *Image) (*Image, *Mask) {
	colors := m.Take(min(m.C, 3))
	if m.C > 3 {
		return colors, InvertMask(m.Channel(3))
	}
	return colors, &Mask{B: m.B, H: m.H, W: m.W, Pix: make([]float32, m.B*m.H*m.W)}
}

// porterDuff is the formula of one mode, on premultiplied values: alpha of the result, and a colour of it.
type porterDuff struct {
	alpha func(sa, da float32) float32
	color func(s, d, sa, da float32) float32
}

func unionAlpha(sa, da float32) float32 { return sa + da - float32(sa*da) }

func productAlpha(sa, da float32) float32 { return sa * da }

func sourceAlpha(sa, _ float32) float32 { return sa }

func destinationAlpha(_, da float32) float32 { return da }

// bothOutside is what is left of each where the other one is transparent.
func bothOutside(s, d, sa, da float32) float32 {
	return float32((1-da)*s) + float32((1-sa)*d)
}

var porterDuffModes = map[string]porterDuff{
	"ADD": {
		func(sa, da float32) float32 { return clamp01(sa + da) },
		func(s, d, _, _ float32) float32 { return clamp01(s + d) },
	},
	"CLEAR": {
		func(_, _ float32) float32 { return 0 },
		func(_, _, _, _ float32) float32 { return 0 },
	},
	"DARKEN": {unionAlpha, func(s, d, sa, da float32) float32 { return bothOutside(s, d, sa, da) + min(s, d) }},
	"DST":    {destinationAlpha, func(_, d, _, _ float32) float32 { return d }},
	"DST_ATOP": {
		sourceAlpha,
		func(s, d, sa, da float32) float32 { return float32(sa*d) + float32((1-da)*s) },
	},
	"DST_IN": {productAlpha, func(_, d, sa, _ float32) float32 { return d * sa }},
	"DST_OUT": {
		func(sa, da float32) float32 { return (1 - sa) * da },
		func(_, d, sa, _ float32) float32 { return (1 - sa) * d },
	},
	"DST_OVER": {
		func(sa, da float32) float32 { return da + float32((1-da)*sa) },
		func(s, d, _, da float32) float32 { return d + float32((1-da)*s) },
	},
	"LIGHTEN":  {unionAlpha, func(s, d, sa, da float32) float32 { return bothOutside(s, d, sa, da) + max(s, d) }},
	"MULTIPLY": {productAlpha, func(s, d, _, _ float32) float32 { return s * d }},
	"OVERLAY": {unionAlpha, func(s, d, sa, da float32) float32 {
		if 2*d < da {
			return 2 * s * d
		}
		return float32(sa*da) - float32(2*(da-s)*(sa-d))
	}},
	"SCREEN": {unionAlpha, func(s, d, _, _ float32) float32 { return s + d - float32(s*d) }},
	"SRC":    {sourceAlpha, func(s, _, _, _ float32) float32 { return s }},
	"SRC_ATOP": {
		destinationAlpha,
		func(s, d, sa, da float32) float32 { return float32(da*s) + float32((1-sa)*d) },
	},
	"SRC_IN": {productAlpha, func(s, _, _, da float32) float32 { return s * da }},
	"SRC_OUT": {
		func(sa, da float32) float32 { return (1 - da) * sa },
		func(s, _, _, da float32) float32 { return (1 - da) * s },
	},
	"SRC_OVER": {
		func(sa, da float32) float32 { return sa + float32((1-sa)*da) },
		func(s, d, sa, _ float32) float32 { return s + float32((1-sa)*d) },
	},
	"XOR": {
		func(sa, da float32) float32 { return float32((1-da)*sa) + float32((1-sa)*da) },
		bothOutside,
	},
}

// Layer is a batch of pictures with the masks of what is transparent in them.
type Layer struct {
	Image *Image
	Mask  *Mask
}

// PorterDuff composes source and destination by mode (ADD, CLEAR, DARKEN, DST, ..., XOR). Everything is scaled
// (bicubic, cropped) to the destination's pictures; the result is as long as the shortest of the four batches.
func PorterDuff(source, destination Layer, mode string) (Layer, error) {
	f, ok := porterDuffModes[mode]
	if !ok {
		return Layer{}, fmt.Errorf("unknown Porter-Duff mode %q", mode)
	}
	n := min(source.Image.B, source.Mask.B, destination.Image.B, destination.Mask.B)
	if n == 0 {
		return Layer{}, errors.New("cannot compose empty batches")
	}
	if source.Image.C != destination.Image.C {
		return Layer{}, fmt.Errorf("source and destination must have the same number of channels, got %d and %d", source.Image.C, destination.Image.C)
	}
	source, err := source.fit(n, destination.Image.W, destination.Image.H)
	if err != nil {
		return Layer{}, err
	}
	if destination, err = destination.fit(n, destination.Image.W, destination.Image.H); err != nil {
		return Layer{}, err
	}
	out := Layer{Image: destination.Image.Like(), Mask: destination.Mask.Like()}
	c := out.Image.C
	for i := range out.Mask.Pix {
		sa, da := 1-source.Mask.Pix[i], 1-destination.Mask.Pix[i]
		alpha := f.alpha(sa, da)
		out.Mask.Pix[i] = 1 - alpha
		if !(alpha > 1e-5) {
			continue
		}
		for k := i * c; k < (i+1)*c; k++ {
			s, d := source.Image.Pix[k]*sa, destination.Image.Pix[k]*da
			out.Image.Pix[k] = clamp01(f.color(s, d, sa, da) / alpha)
		}
	}
	return out, nil
}

// fit cuts a layer to n pictures of w x h.
func (l Layer) fit(n, w, h int) (Layer, error) {
	picture, mask := l.Image.Frames(0, n), l.Mask.Frames(0, n).Plane()
	var err error
	if picture.W != w || picture.H != h {
		if picture, err = CropResize(picture, w, h, Bicubic); err != nil {
			return Layer{}, err
		}
	}
	if mask.W != w || mask.H != h {
		if mask, err = CropResize(mask, w, h, Bicubic); err != nil {
			return Layer{}, err
		}
	}
	return Layer{Image: picture, Mask: planeMask(mask)}, nil
}
