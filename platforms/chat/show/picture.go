package show

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	_ "image/gif"
	"image/jpeg"
	_ "image/png"
	"io"
	"math"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp"

	"github.com/signalbox/signalbox/internal/metadata"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

// Bounds of the pictures we open ourselves.
const (
	maxPictureBytes  = 256 << 20
	maxPicturePixels = 100_000_000
	smallerSide      = 2048 // longest side of a smaller version
)

// opener opens a stored file.
type opener func(ctx context.Context) (io.ReadCloser, error)

// decodePicture reads a picture of bounded size, and turns it as the file says.
func decodePicture(ctx context.Context, open opener) (image.Image, error) {
	r, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, maxPictureBytes+1))
	if err != nil {
		return nil, err
	}
	header, _, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("not a picture we can read: %w", err)
	}
	if int64(header.Width)*int64(header.Height) > maxPicturePixels || len(raw) > maxPictureBytes {
		return nil, fmt.Errorf("a picture of %d × %d pixels is too large to be opened", header.Width, header.Height)
	}
	img, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return metadata.Upright(img, raw), nil
}

// transparent reports whether any pixel of a picture lets something shine through.
func transparent(img image.Image) bool {
	switch p := img.(type) {
	case *image.NRGBA:
		return anyBelow(p.Pix, 3, 4)
	case *image.RGBA:
		return anyBelow(p.Pix, 3, 4)
	case *image.YCbCr, *image.Gray, *image.Gray16, *image.CMYK:
		return false
	}
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if _, _, _, a := img.At(x, y).RGBA(); a < math.MaxUint16 {
				return true
			}
		}
	}
	return false
}

func anyBelow(pix []byte, first, step int) bool {
	for i := first; i < len(pix); i += step {
		if pix[i] < math.MaxUint8 {
			return true
		}
	}
	return false
}

// smaller makes a JPEG of a picture that is at most limit bytes long, on white where it is transparent.
func smaller(ctx context.Context, open opener, limit int64) ([]byte, error) {
	img, err := decodePicture(ctx, open)
	if err != nil {
		return nil, err
	}
	for side := smallerSide; side >= 128; side /= 2 {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, scaled(img, side), &jpeg.Options{Quality: 88}); err != nil {
			return nil, err
		}
		if int64(b.Len()) <= limit {
			return b.Bytes(), nil
		}
	}
	return nil, fmt.Errorf("no smaller version within %d bytes: %w", limit, chat.ErrTooLarge)
}

// scaled draws a picture on white with its longest side at most side.
func scaled(img image.Image, side int) image.Image {
	b := img.Bounds()
	factor := min(1, float64(side)/float64(max(b.Dx(), b.Dy())))
	size := image.Rect(0, 0, max(1, int(float64(b.Dx())*factor)), max(1, int(float64(b.Dy())*factor)))
	out := image.NewRGBA(size)
	draw.Draw(out, size, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.CatmullRom.Scale(out, size, img, b, draw.Over, nil)
	return out
}

// kindOf says how an output is shown: as the tool wishes, else by its type.
func kindOf(outputType, mimeType string, hint registry.DeliveryHint) chat.MediaKind {
	if hint.SendAs != "" {
		return chat.MediaKind(hint.SendAs)
	}
	switch {
	case mimeType == "image/gif":
		return chat.KindAnimation
	case mimeType == "image/svg+xml", mimeType == "image/tiff":
		return chat.KindDocument
	}
	switch outputType {
	case "image":
		return chat.KindPhoto
	case "video":
		return chat.KindVideo
	case "audio":
		return chat.KindAudio
	}
	return chat.KindDocument
}
