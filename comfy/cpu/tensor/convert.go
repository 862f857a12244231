package tensor

import "image"

// Byte is the saved byte of a value: 255*x bounded to 0..255 and truncated. NaN gives 0.
func Byte(v float32) uint8 {
	v *= 255
	if !(v > 0) {
		return 0
	}
	if v >= 255 {
		return 255
	}
	return uint8(v)
}

// Word is the same for 16 bits.
func Word(v float32) uint16 {
	v *= 65535
	if !(v > 0) {
		return 0
	}
	if v >= 65535 {
		return 65535
	}
	return uint16(v)
}

// FromByte is the value of a stored byte.
func FromByte(b uint8) float32 { return float32(b) / 255 }

// raster is a picture of 8-bit channels, the form in which Pillow works.
type raster struct {
	w, h, c int
	pix     []uint8
}

func newRaster(w, h, c int) *raster {
	return &raster{w: w, h: h, c: c, pix: make([]uint8, w*h*c)}
}

// raster8 converts one picture of the batch as if it were saved.
func (m *Image) raster8(i int) *raster {
	out := newRaster(m.W, m.H, m.C)
	for k, v := range m.Frame(i) {
		out.pix[k] = Byte(v)
	}
	return out
}

// Bytes is one picture of the batch as it is saved: a byte for each channel, line by line.
func (m *Image) Bytes(i int) []uint8 { return m.raster8(i).pix }

// put writes the raster into a picture of a batch of equal size.
func (r *raster) put(dst []float32) {
	for k, b := range r.pix {
		dst[k] = FromByte(b)
	}
}

// Picture converts one picture of the batch to a standard image of 8 bits a channel, as SaveImage stores it: RGB
// without alpha, RGBA with, one channel as grey.
func (m *Image) Picture(i int) image.Image {
	r := m.raster8(i)
	if r.c == 1 {
		return &image.Gray{Pix: r.pix, Stride: r.w, Rect: image.Rect(0, 0, r.w, r.h)}
	}
	out := image.NewNRGBA(image.Rect(0, 0, r.w, r.h))
	for p := range r.w * r.h {
		copy(out.Pix[4*p:4*p+3], r.pix[p*r.c:])
		out.Pix[4*p+3] = 255
		if r.c > 3 {
			out.Pix[4*p+3] = r.pix[p*r.c+3]
		}
	}
	return out
}

// EightBit rounds all values down to what a saved file holds.
func EightBit(m *Image) *Image {
	return m.apply(func(v float32) float32 { return FromByte(Byte(v)) })
}
