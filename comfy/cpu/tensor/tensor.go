// Package tensor holds the pixel arrays of the CPU engine and the arithmetic on them: plain functions that know nothing
// of nodes, prompts or servers.
//
// A real ComfyUI server computes in float32 and truncates 255*x when it saves. A value that lies on a whole number in
// exact arithmetic may therefore come out one step lower, so the functions here keep float32 and the order of
// operations of the originals (torch, Pillow, numpy, kornia) wherever that shows in the saved byte. Products that feed
// a sum are written float32(a*b)+c: the conversion keeps compilers from fusing them on processors where they would.
//
// No function changes its arguments: images travel between nodes and are cached.
package tensor

import (
	"fmt"
	"math"
)

// MaxValues bounds the float32 values of one batch (512 MB), so that one absurd size in a prompt cannot take the
// process down.
const MaxValues = 1 << 27

// Image is a batch of pictures: float32 [B,H,W,C] in row-major order, nominally in [0,1], C is 3 or 4.
type Image struct {
	B, H, W, C int
	Pix        []float32
}

// Mask is a batch of single-channel planes: float32 [B,H,W] in row-major order, nominally in [0,1].
type Mask struct {
	B, H, W int
	Pix     []float32
}

// NewImage makes a black batch. It refuses negative sizes and batches over MaxValues.
func NewImage(b, h, w, c int) (*Image, error) {
	n, err := Count(b, h, w, c)
	if err != nil {
		return nil, err
	}
	return &Image{B: b, H: h, W: w, C: c, Pix: make([]float32, n)}, nil
}

// NewMask makes a batch of zero planes. It refuses negative sizes and batches over MaxValues.
func NewMask(b, h, w int) (*Mask, error) {
	n, err := Count(b, h, w, 1)
	if err != nil {
		return nil, err
	}
	return &Mask{B: b, H: h, W: w, Pix: make([]float32, n)}, nil
}

// Count is how many values a batch has. Negative sizes, and more than MaxValues, are errors.
func Count(b, h, w, c int) (int, error) {
	n := 1
	for _, size := range []int{b, h, w, c} {
		if size < 0 {
			return 0, fmt.Errorf("a picture batch of %d x %d x %d x %d values cannot be made: sizes must not be negative", b, h, w, c)
		}
		if size > 0 && n > MaxValues/size {
			return 0, fmt.Errorf("a picture batch of %d x %d x %d x %d values is larger than this engine allows (%d values): make it smaller", b, h, w, c, MaxValues)
		}
		n *= size
	}
	return n, nil
}

// Like is a batch of the same shape with room for new values.
func (m *Image) Like() *Image {
	return &Image{B: m.B, H: m.H, W: m.W, C: m.C, Pix: make([]float32, len(m.Pix))}
}

func (m *Mask) Like() *Mask {
	return &Mask{B: m.B, H: m.H, W: m.W, Pix: make([]float32, len(m.Pix))}
}

// Frame is the pixels of one picture of the batch, shared with it.
func (m *Image) Frame(i int) []float32 {
	n := m.H * m.W * m.C
	return m.Pix[i*n : (i+1)*n]
}

func (m *Mask) Frame(i int) []float32 {
	n := m.H * m.W
	return m.Pix[i*n : (i+1)*n]
}

// Frames gives the pictures from..to-1 as a batch that shares the pixels.
func (m *Image) Frames(from, to int) *Image {
	n := m.H * m.W * m.C
	return &Image{B: to - from, H: m.H, W: m.W, C: m.C, Pix: m.Pix[from*n : to*n]}
}

// Frames gives the planes from..to-1 as a batch that shares the values.
func (m *Mask) Frames(from, to int) *Mask {
	n := m.H * m.W
	return &Mask{B: to - from, H: m.H, W: m.W, Pix: m.Pix[from*n : to*n]}
}

// Split gives each picture of the batch on its own, sharing the pixels.
func (m *Image) Split() []*Image {
	out := make([]*Image, m.B)
	for i := range out {
		out[i] = m.Frames(i, i+1)
	}
	return out
}

// sameShape reports equal sizes in all four dimensions.
func (m *Image) sameShape(o *Image) bool {
	return m.B == o.B && m.H == o.H && m.W == o.W && m.C == o.C
}

// Plane is the mask seen as an image of one channel, sharing the values.
func (m *Mask) Plane() *Image {
	return &Image{B: m.B, H: m.H, W: m.W, C: 1, Pix: m.Pix}
}

// planeMask is the way back from Plane.
func planeMask(m *Image) *Mask {
	return &Mask{B: m.B, H: m.H, W: m.W, Pix: m.Pix}
}

// Gray is the mask as a picture of three equal channels.
func (m *Mask) Gray() (*Image, error) {
	out, err := NewImage(m.B, m.H, m.W, 3)
	if err != nil {
		return nil, err
	}
	for i, v := range m.Pix {
		out.Pix[3*i], out.Pix[3*i+1], out.Pix[3*i+2] = v, v, v
	}
	return out, nil
}

// Channel copies one channel into a mask. c must be below m.C.
func (m *Image) Channel(c int) *Mask {
	out := &Mask{B: m.B, H: m.H, W: m.W, Pix: make([]float32, m.B*m.H*m.W)}
	for i := range out.Pix {
		out.Pix[i] = m.Pix[i*m.C+c]
	}
	return out
}

// Take copies the first c channels; c must not be above m.C.
func (m *Image) Take(c int) *Image {
	if c == m.C {
		return m
	}
	out := &Image{B: m.B, H: m.H, W: m.W, C: c, Pix: make([]float32, m.B*m.H*m.W*c)}
	for i := range m.B * m.H * m.W {
		copy(out.Pix[i*c:(i+1)*c], m.Pix[i*m.C:])
	}
	return out
}

// WithAlpha adds channels of ones until there are c of them.
func (m *Image) WithAlpha(c int) (*Image, error) {
	if c <= m.C {
		return m, nil
	}
	out, err := NewImage(m.B, m.H, m.W, c)
	if err != nil {
		return nil, err
	}
	for i := range m.B * m.H * m.W {
		copy(out.Pix[i*c:], m.Pix[i*m.C:(i+1)*m.C])
		for k := m.C; k < c; k++ {
			out.Pix[i*c+k] = 1
		}
	}
	return out, nil
}

// matchChannels gives the source as many channels as the destination: surplus ones are dropped, a missing alpha is 1.
func matchChannels(source, destination *Image) (*Image, error) {
	if source.C > destination.C {
		return source.Take(destination.C), nil
	}
	return source.WithAlpha(destination.C)
}

// RepeatTo gives a batch of n pictures by repeating from the start or cutting off.
func (m *Image) RepeatTo(n int) (*Image, error) {
	if n <= m.B {
		return m.Frames(0, n), nil
	}
	out, err := NewImage(n, m.H, m.W, m.C)
	if err != nil {
		return nil, err
	}
	for done := 0; done < len(out.Pix) && len(m.Pix) > 0; {
		done += copy(out.Pix[done:], m.Pix)
	}
	return out, nil
}

// RepeatTo gives a batch of n planes by repeating from the start or cutting off.
func (m *Mask) RepeatTo(n int) (*Mask, error) {
	out, err := m.Plane().RepeatTo(n)
	if err != nil {
		return nil, err
	}
	return planeMask(out), nil
}

// clamp bounds v; NaN stays NaN.
func clamp(v, lo, hi float32) float32 {
	if v < lo {
		return lo
	}
	if v > hi {
		return hi
	}
	return v
}

func clamp01(v float32) float32 { return clamp(v, 0, 1) }

func sqrt32(v float32) float32 { return float32(math.Sqrt(float64(v))) }

// Round rounds to the nearest whole number and halves to even, as Python's round does.
func Round(v float64) int { return int(math.RoundToEven(v)) }
