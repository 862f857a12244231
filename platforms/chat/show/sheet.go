package show

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"strconv"
	"sync"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/registry"
)

// Measures of a sheet of small pictures, in pixels.
const (
	sheetCell   = 240
	sheetGap    = 8
	sheetAcross = 4
	sheetMark   = 44 // the field with a picture's number
)

// Sheet draws pictures small, side by side, each with its number, as one picture to ask about. A picture that can't be opened is an
// empty field with its number; ok is false where none can.
func (d *Deliverer) Sheet(ctx context.Context, s *Platform, v Voice, pictures []input.Picture) (m chat.Media, ok bool) {
	across := min(sheetAcross, max(1, len(pictures)))
	down := (len(pictures) + across - 1) / across
	sheet := image.NewRGBA(image.Rect(0, 0, across*(sheetCell+sheetGap)+sheetGap, down*(sheetCell+sheetGap)+sheetGap))
	draw.Draw(sheet, sheet.Bounds(), image.White, image.Point{}, draw.Src)
	face, name := numberFace(), sha256.New()
	for i, p := range pictures {
		corner := image.Pt(sheetGap+i%across*(sheetCell+sheetGap), sheetGap+i/across*(sheetCell+sheetGap))
		if err := d.drawSmall(ctx, sheet, image.Rectangle{Min: corner, Max: corner.Add(image.Pt(sheetCell, sheetCell))}, p.Ref); err != nil {
			d.log.WarnContext(ctx, "a picture that is asked about is not shown", "media", p.Ref, "error", err)
		} else {
			ok = true
		}
		drawNumber(sheet, face, corner, p.Number)
		fmt.Fprintln(name, p.Number, p.Ref)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, sheet, &jpeg.Options{Quality: 85}); err != nil || int64(b.Len()) > s.Caps.Uploads[chat.KindPhoto] {
		return m, false
	}
	return chat.Media{
		Kind: chat.KindPhoto, Ref: "sheet:" + registry.Media(hex.EncodeToString(name.Sum(nil))), FileName: "pictures.jpg", MIMEType: "image/jpeg", Bytes: int64(b.Len()),
		Width: sheet.Rect.Dx(), Height: sheet.Rect.Dy(), Alt: chat.Brief(v.Line("ask.sheet"), s.Caps.AltLimit),
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
	}, ok
}

// drawSmall draws a stored picture into the middle of a field, whole.
func (d *Deliverer) drawSmall(ctx context.Context, sheet draw.Image, field image.Rectangle, ref registry.Media) error {
	draw.Draw(sheet, field, image.NewUniform(color.Gray{Y: 236}), image.Point{}, draw.Src)
	img, err := decodePicture(ctx, func(ctx context.Context) (io.ReadCloser, error) {
		content, _, err := d.media.OpenMedia(ctx, ref)
		return content, err
	})
	if err != nil {
		return err
	}
	small := scaled(img, sheetCell)
	at := field.Min.Add(field.Size().Sub(small.Bounds().Size()).Div(2))
	draw.Draw(sheet, small.Bounds().Add(at), small, image.Point{}, draw.Src)
	return nil
}

var numberFont = sync.OnceValues(func() (*opentype.Font, error) { return opentype.Parse(gobold.TTF) })

// numberFace is what the numbers of one sheet are written in.
func numberFace() font.Face {
	parsed, err := numberFont()
	if err != nil {
		panic(err) // the font comes with the program
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 32, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		panic(err)
	}
	return face
}

// drawNumber writes a number on a dark field in the upper left of a picture.
func drawNumber(sheet draw.Image, face font.Face, corner image.Point, n int) {
	text := strconv.Itoa(n)
	width := font.MeasureString(face, text).Ceil()
	mark := image.Rect(0, 0, max(sheetMark, width+16), sheetMark).Add(corner)
	draw.Draw(sheet, mark, image.NewUniform(color.NRGBA{A: 210}), image.Point{}, draw.Over)
	writer := font.Drawer{Dst: sheet, Src: image.White, Face: face, Dot: fixed.P(mark.Min.X+(mark.Dx()-width)/2, mark.Min.Y+34)}
	writer.DrawString(text)
}
