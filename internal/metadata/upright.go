package metadata

import (
	"bytes"
	"encoding/binary"
	"image"

	"golang.org/x/image/draw"
)

// Orientation tells how a JPEG, PNG or WebP is to be turned before it is shown, from 1 (not at all) to 8, as EXIF has it; 1 for other files.
func Orientation(file []byte) int {
	switch {
	case bytes.HasPrefix(file, []byte("\xff\xd8")):
		for rest := file[2:]; len(rest) > 4 && rest[0] == 0xff && rest[1] != 0xda; {
			size := int(binary.BigEndian.Uint16(rest[2:]))
			if size < 2 || size+2 > len(rest) {
				break
			}
			if segment := rest[4 : 2+size]; rest[1] == 0xe1 && bytes.HasPrefix(segment, []byte("Exif\x00\x00")) {
				return EXIFOrientation(segment)
			}
			rest = rest[2+size:]
		}
	case bytes.HasPrefix(file, []byte(pngSignature)):
		for rest := file[len(pngSignature):]; len(rest) >= 12; {
			size := uint64(binary.BigEndian.Uint32(rest))
			if size+12 > uint64(len(rest)) {
				break
			}
			if string(rest[4:8]) == "eXIf" {
				return EXIFOrientation(rest[8 : 8+size])
			}
			rest = rest[12+size:]
		}
	case len(file) > 12 && string(file[:4]) == "RIFF" && string(file[8:12]) == "WEBP":
		for rest := file[12:]; len(rest) >= 8; {
			size := uint64(binary.LittleEndian.Uint32(rest[4:]))
			if size+8 > uint64(len(rest)) {
				break
			}
			if string(rest[:4]) == "EXIF" {
				return EXIFOrientation(rest[8 : 8+size])
			}
			rest = rest[min(8+size+size%2, uint64(len(rest))):]
		}
	}
	return 1
}

// Upright is a picture that was decoded from a file as the file wants it to be seen.
func Upright(img image.Image, file []byte) image.Image {
	orientation := Orientation(file)
	if orientation == 1 {
		return img
	}
	plain, isPlain := img.(*image.NRGBA)
	if !isPlain || plain.Rect.Min != (image.Point{}) {
		plain = image.NewNRGBA(image.Rectangle{Max: img.Bounds().Size()})
		draw.Draw(plain, plain.Rect, img, img.Bounds().Min, draw.Src)
	}
	return Turn(plain, orientation)
}

// Turn does what the orientation of a photo, from 1 to 8, asks for. The picture begins at 0, 0.
func Turn(img *image.NRGBA, orientation int) *image.NRGBA {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if orientation <= 1 || orientation > 8 {
		return img
	}
	from := [...]func(x, y int) (int, int){
		2: func(x, y int) (int, int) { return w - 1 - x, y },
		3: func(x, y int) (int, int) { return w - 1 - x, h - 1 - y },
		4: func(x, y int) (int, int) { return x, h - 1 - y },
		5: func(x, y int) (int, int) { return y, x },
		6: func(x, y int) (int, int) { return y, h - 1 - x },
		7: func(x, y int) (int, int) { return w - 1 - y, h - 1 - x },
		8: func(x, y int) (int, int) { return w - 1 - y, x },
	}[orientation]
	outW, outH := w, h
	if orientation >= 5 {
		outW, outH = h, w
	}
	out := image.NewNRGBA(image.Rect(0, 0, outW, outH))
	for y := range outH {
		for x := range outW {
			fx, fy := from(x, y)
			binary.NativeEndian.PutUint32(out.Pix[out.PixOffset(x, y):], binary.NativeEndian.Uint32(img.Pix[img.PixOffset(fx, fy):]))
		}
	}
	return out
}
