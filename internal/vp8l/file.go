package vp8l

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/draw"
	"io"
)

// WriteFile writes a picture of at most MaxSide on each side as a WebP file, with its alpha.
func WriteFile(w io.Writer, m image.Image) error {
	size := m.Bounds().Size()
	if size.X <= 0 || size.Y <= 0 || size.X > MaxSide || size.Y > MaxSide {
		return fmt.Errorf("WebP holds pictures of 1 x 1 to %d x %d pixels, got %d x %d", MaxSide, MaxSide, size.X, size.Y)
	}
	plain := image.NewNRGBA(image.Rectangle{Max: size})
	draw.Draw(plain, plain.Rect, m, m.Bounds().Min, draw.Src)
	data := Encode(plain.Pix, size.X, size.Y, 4)
	padded := len(data) + len(data)%2
	file := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+8+padded))
	file = binary.LittleEndian.AppendUint32(append(file, "WEBPVP8L"...), uint32(len(data)))
	file = append(append(file, data...), make([]byte, padded-len(data))...)
	_, err := w.Write(file)
	return err
}
