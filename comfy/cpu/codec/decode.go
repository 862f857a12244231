// Package codec reads and writes the files of pictures as the real server does: PNG and APNG, JPEG, GIF, WebP, BMP, TIFF and OpenEXR, with
// the texts that it keeps in them.
package codec

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/signalbox/signalbox/comfy/cpu/tensor"
	"github.com/signalbox/signalbox/internal/metadata"
)

// maskless is the size of the empty mask that stands for "no alpha".
const maskless = 64

// Decode reads a picture file (PNG and APNG, JPEG, GIF, WebP, BMP, TIFF) with all its frames and up to 16 bits a
// channel, upright by its EXIF mark. The image has three channels. The mask is 1 minus alpha; for a kind of file that
// has no alpha it is 64 x 64 zeros. Files that unfold to more than MaxValues values are refused before they are.
func Decode(data []byte) (*tensor.Image, *tensor.Mask, error) {
	r, err := decodeFrames(data, false)
	if err != nil {
		return nil, nil, err
	}
	out, alpha := r.finish()
	if alpha == nil {
		mask, err := tensor.NewMask(out.B, maskless, maskless)
		return out, mask, err
	}
	return out, tensor.InvertMask(alpha), nil
}

// DecodeStill reads the first frame of a picture file with 8 bits a channel, as four channels; alpha is 1 for a kind of
// file that has none.
func DecodeStill(data []byte) (*tensor.Image, error) {
	r, err := decodeFrames(data, true)
	if err != nil {
		return nil, err
	}
	colors, alpha := r.finish()
	out, err := colors.WithAlpha(4)
	if err != nil || alpha == nil {
		return out, err
	}
	for i, a := range alpha.Pix {
		out.Pix[4*i+3] = a
	}
	return out, nil
}

// decodeFrames reads all frames, or only the first one in 8 bits when still.
func decodeFrames(data []byte, still bool) (*reel, error) {
	r := &reel{still: still, orientation: metadata.Orientation(data)}
	var err error
	switch {
	case bytes.HasPrefix(data, []byte(pngMagic)):
		err = r.png(data)
	case bytes.HasPrefix(data, []byte("GIF8")):
		err = r.gif(data)
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		err = r.webp(data)
	case bytes.HasPrefix(data, []byte{0xff, 0xd8}):
		err = r.plain(data, jpeg.DecodeConfig, jpeg.Decode)
	case bytes.HasPrefix(data, []byte("BM")):
		r.planes = true
		err = r.plain(data, bmp.DecodeConfig, bmp.Decode)
	case bytes.HasPrefix(data, []byte("II*\x00")), bytes.HasPrefix(data, []byte("MM\x00*")):
		err = r.plain(data, tiff.DecodeConfig, tiff.Decode)
	default:
		return nil, errors.New("cannot identify image file: it is none of PNG, JPEG, GIF, WebP, BMP, TIFF")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read image file: %w", err)
	}
	if r.frames == 0 {
		return nil, errors.New("cannot read image file: it has no frames")
	}
	return r, nil
}

type (
	configFunc func(io.Reader) (image.Config, error)
	decodeFunc func(io.Reader) (image.Image, error)
)

// plain reads a format of one frame.
func (r *reel) plain(data []byte, config configFunc, decode decodeFunc) error {
	conf, err := config(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if err := r.open(conf.Width, conf.Height, 1); err != nil {
		return err
	}
	m, err := decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	switch m.(type) {
	case *image.NRGBA, *image.NRGBA64, *image.Paletted:
		r.hasAlpha = true
	case *image.Gray:
		r.planes = true
	}
	return r.add(m)
}

// finish gives the frames, turned upright, and their alpha or nil.
func (r *reel) finish() (*tensor.Image, *tensor.Mask) {
	colors := upright(&tensor.Image{B: r.frames, H: r.h, W: r.w, C: 3, Pix: r.colors}, r.orientation)
	if !r.hasAlpha {
		return colors, nil
	}
	alpha := upright(&tensor.Image{B: r.frames, H: r.h, W: r.w, C: 1, Pix: r.alpha}, r.orientation)
	return colors, &tensor.Mask{B: alpha.B, H: alpha.H, W: alpha.W, Pix: alpha.Pix}
}

// pixel is red, green, blue, alpha, not premultiplied.
type pixel [4]float32

// planes is what a pixel of 8 bits becomes where a real server reads through FFmpeg's float planes: colours are widened
// with a zero byte there, n*256/65535, so that 255 is a little less than 1. Grey passes through 14-bit studio range on
// its way, and alpha is widened to 14 bits first.
func (p pixel) planes() pixel {
	var n [4]int
	for k, v := range p {
		n[k] = int(float32(v*255) + 0.5)
		p[k] = float32(n[k]*256) / 65535
	}
	if n[0] == n[1] && n[1] == n[2] {
		const black, scale = 16 << 6, 8 * 9539 // 255/219 in 13 bits
		luma := (28141*n[0]+32<<14+256)>>9 - black
		v := float32((luma*scale+1<<13)>>14) / 65535
		p[0], p[1], p[2] = v, v, v
	}
	p[3] = float32((n[3]<<6|n[3]>>2)<<2) / 65535
	return p
}

// readPixels calls put for each pixel in order. eight cuts deeper channels to 8 bits.
func readPixels(m image.Image, eight bool, put func(i int, p pixel)) {
	switch m := m.(type) {
	case *image.Gray:
		read8(m, func(x, y int) color.NRGBA { v := m.GrayAt(x, y).Y; return color.NRGBA{v, v, v, 255} }, put)
	case *image.NRGBA:
		read8(m, m.NRGBAAt, put)
	case *image.Paletted:
		read8(m, paletteReader(m), put)
	case *image.YCbCr:
		read8(m, func(x, y int) color.NRGBA {
			c := m.YCbCrAt(x, y)
			red, green, blue := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
			return color.NRGBA{red, green, blue, 255}
		}, put)
	case *image.Gray16, *image.NRGBA64, *image.RGBA64:
		_, gray := m.(*image.Gray16)
		read16(m, eight, gray, put)
	default:
		read8(m, func(x, y int) color.NRGBA { return color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA) }, put)
	}
}

func paletteReader(m *image.Paletted) func(x, y int) color.NRGBA {
	var table [256]color.NRGBA
	for i, c := range m.Palette {
		table[i] = color.NRGBAModel.Convert(c).(color.NRGBA)
	}
	return func(x, y int) color.NRGBA { return table[m.ColorIndexAt(x, y)] }
}

func read8(m image.Image, at func(x, y int) color.NRGBA, put func(i int, p pixel)) {
	bounds := m.Bounds()
	i := 0
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := at(x, y)
			put(i, pixel{tensor.FromByte(c.R), tensor.FromByte(c.G), tensor.FromByte(c.B), tensor.FromByte(c.A)})
			i++
		}
	}
}

// read16 reads deep pictures. In 8 bits, colours keep their high byte, while grey is divided by 255 and clipped: that
// is how Pillow brings its integer pictures down.
func read16(m image.Image, eight, gray bool, put func(i int, p pixel)) {
	value := func(v uint16) float32 { return float32(v) / 65535 }
	switch {
	case eight && gray:
		value = func(v uint16) float32 { return tensor.FromByte(uint8(min(v/255, 255))) }
	case eight:
		value = func(v uint16) float32 { return tensor.FromByte(uint8(v >> 8)) }
	}
	bounds := m.Bounds()
	i := 0
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := color.NRGBA64Model.Convert(m.At(x, y)).(color.NRGBA64)
			p := pixel{value(c.R), value(c.G), value(c.B), value(c.A)}
			if gray {
				p[3] = 1
			}
			put(i, p)
			i++
		}
	}
}

// upright undoes the rotation and mirroring that an EXIF orientation of 1..8 tells of.
func upright(m *tensor.Image, orientation int) *tensor.Image {
	switch orientation {
	case 2:
		return tensor.FlipHorizontal(m)
	case 3:
		return tensor.Rotate(m, 2)
	case 4:
		return tensor.FlipVertical(m)
	case 5:
		return tensor.FlipHorizontal(tensor.Rotate(m, 1))
	case 6:
		return tensor.Rotate(m, 1)
	case 7:
		return tensor.FlipHorizontal(tensor.Rotate(m, 3))
	case 8:
		return tensor.Rotate(m, 3)
	}
	return m
}
