package tensor

import "fmt"

// apply gives a batch with f of each value.
func (m *Image) apply(f func(v float32) float32) *Image {
	out := m.Like()
	for i, v := range m.Pix {
		out.Pix[i] = f(v)
	}
	return out
}

// Invert gives 1-x for every channel, alpha included.
func Invert(m *Image) *Image {
	return m.apply(func(v float32) float32 { return 1 - v })
}

// Brightness multiplies and clamps.
func Brightness(m *Image, factor float64) *Image {
	f := float32(factor)
	return m.apply(func(v float32) float32 { return clamp01(v * f) })
}

// Contrast stretches around the middle grey and clamps.
func Contrast(m *Image, factor float64) *Image {
	f := float32(factor)
	return m.apply(func(v float32) float32 { return clamp01(float32((v-0.5)*f) + 0.5) })
}

// Normalize gives (x-mean)/std, not clamped.
func Normalize(m *Image, mean, std float64) *Image {
	a, b := float32(mean), float32(std)
	return m.apply(func(v float32) float32 { return (v - a) / b })
}

// AddNoise adds strength times normal noise and clamps. The noise is that of torch's generator on the CPU for the seed.
func AddNoise(m *Image, seed uint64, strength float64) *Image {
	s := float32(strength)
	out := m.Like()
	for i, n := range torchNormal(seed, len(m.Pix)) {
		out.Pix[i] = clamp01(m.Pix[i] + float32(s*n))
	}
	return out
}

// BlendMode names a formula of Blend.
type BlendMode string

// blendFunc gives the formula for a value of the first and one of the second picture.
func blendFunc(mode BlendMode) (func(a, b float32) float32, error) {
	switch mode {
	case "normal":
		return func(_, b float32) float32 { return b }, nil
	case "multiply":
		return func(a, b float32) float32 { return a * b }, nil
	case "screen":
		return screen, nil
	case "overlay":
		return func(a, b float32) float32 {
			if a <= 0.5 {
				return 2 * a * b
			}
			return 1 - float32(2*(1-a)*(1-b))
		}, nil
	case "soft_light":
		return softLight, nil
	case "difference":
		return func(a, b float32) float32 { return a - b }, nil
	}
	return nil, fmt.Errorf("unknown blend mode %q: use normal, multiply, screen, overlay, soft_light or difference", mode)
}

func screen(a, b float32) float32 { return 1 - float32((1-a)*(1-b)) }

func softLight(a, b float32) float32 {
	if b <= 0.5 {
		return a - float32((1-float32(2*b))*a*(1-a))
	}
	g := sqrt32(a)
	if a <= 0.25 {
		g = float32((float32((float32(16*a)-12)*a) + 4) * a)
	}
	return a + float32((float32(2*b)-1)*(g-a))
}

// Blend mixes b into a by factor after applying the mode, and clamps. b is scaled (bicubic, cropped) to the size of a
// and gets its number of channels; of two batches the shorter must be of one picture, which is then used for all.
func Blend(a, b *Image, factor float64, mode BlendMode) (*Image, error) {
	f, err := blendFunc(mode)
	if err != nil {
		return nil, err
	}
	if b, err = matchChannels(b, a); err != nil {
		return nil, err
	}
	if !a.sameShape(b) {
		if b, err = CropResize(b, a.W, a.H, Bicubic); err != nil {
			return nil, err
		}
	}
	if a, b, err = broadcast(a, b); err != nil {
		return nil, err
	}
	keep, mix := float32(1-factor), float32(factor)
	out := a.Like()
	for i, v := range a.Pix {
		out.Pix[i] = clamp01(float32(v*keep) + float32(f(v, b.Pix[i])*mix))
	}
	return out, nil
}

// broadcast repeats a batch of one to the length of the other one.
func broadcast(a, b *Image) (*Image, *Image, error) {
	if a.B == b.B {
		return a, b, nil
	}
	var err error
	switch {
	case a.B == 1:
		a, err = a.RepeatTo(b.B)
	case b.B == 1:
		b, err = b.RepeatTo(a.B)
	default:
		err = fmt.Errorf("batches of %d and %d pictures do not fit: they must be equally long or one of them a single picture", a.B, b.B)
	}
	return a, b, err
}

// YUV splits the colours into brightness and two colour differences (ITU-R BT.601, differences around 0.5), each as a
// grey picture of the source's channels.
func YUV(m *Image) (y, u, v *Image, err error) {
	if m.C != 3 {
		return nil, nil, nil, fmt.Errorf("converting colours takes pictures of 3 channels, got %d: split off the alpha channel first", m.C)
	}
	y, u, v = m.Like(), m.Like(), m.Like()
	for i := 0; i < len(m.Pix); i += 3 {
		r, g, b := m.Pix[i], m.Pix[i+1], m.Pix[i+2]
		luma := float32(0.299*r) + float32(0.587*g)
		luma += float32(0.114 * b)
		cb := float32((b-luma)*0.564) + 0.5
		cr := float32((r-luma)*0.713) + 0.5
		fill(y.Pix[i:i+3], luma)
		fill(u.Pix[i:i+3], cb)
		fill(v.Pix[i:i+3], cr)
	}
	return y, u, v, nil
}

// FromYUV is the way back from YUV; of each picture the mean of the channels counts. Nothing is clamped.
func FromYUV(y, u, v *Image) (*Image, error) {
	if y.B != u.B || y.B != v.B || y.W != u.W || y.W != v.W || y.H != u.H || y.H != v.H {
		return nil, fmt.Errorf("the three pictures must have equal sizes: Y is %d x %d x %d, U %d x %d x %d, V %d x %d x %d",
			y.B, y.W, y.H, u.B, u.W, u.H, v.B, v.W, v.H)
	}
	out, err := NewImage(y.B, y.H, y.W, 3)
	if err != nil {
		return nil, err
	}
	for i := range y.B * y.H * y.W {
		luma, cb, cr := y.mean(i), u.mean(i)-0.5, v.mean(i)-0.5
		out.Pix[3*i] = luma + float32(1.403*cr)
		out.Pix[3*i+1] = luma - float32(0.714*cr) - float32(0.344*cb)
		out.Pix[3*i+2] = luma + float32(1.773*cb)
	}
	return out, nil
}

// mean is the average of the channels of a pixel.
func (m *Image) mean(pixel int) float32 {
	sum := float32(0)
	for _, v := range m.Pix[pixel*m.C : (pixel+1)*m.C] {
		sum += v
	}
	return sum / float32(m.C)
}

// Histograms are counts of pixels by byte value, for the first picture of a batch.
type Histograms struct{ RGB, Luminance, Red, Green, Blue [256]int }

// CountValues counts bytes as they would be saved. RGB is the mean of the three channels' counts, Luminance follows
// ITU-R BT.709.
func CountValues(m *Image) (Histograms, error) {
	var h Histograms
	if m.B == 0 || m.C < 3 {
		return h, fmt.Errorf("cannot count the values of a batch of %d pictures with %d channels", m.B, m.C)
	}
	src := m.Frame(0)
	for i := 0; i < len(src); i += m.C {
		r, g, b := src[i], src[i+1], src[i+2]
		h.Red[Byte(r)]++
		h.Green[Byte(g)]++
		h.Blue[Byte(b)]++
		luma := float32(0.2126*r) + float32(0.7152*g)
		h.Luminance[Byte(luma+float32(0.0722*b))]++
	}
	for i := range h.RGB {
		h.RGB[i] = (h.Red[i] + h.Green[i] + h.Blue[i]) / 3
	}
	return h, nil
}
