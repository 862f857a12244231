package metadata_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/internal/metadata"
)

func TestUpright(t *testing.T) {
	t.Parallel()
	// A phone held upright writes the picture as its chip lies, and beside it that it is to be turned.
	lying := image.NewNRGBA(image.Rect(0, 0, 32, 16))
	for i := range lying.Pix {
		lying.Pix[i] = 255
	}
	for y := range 16 {
		for x := range 8 {
			lying.Set(x, y, color.NRGBA{200, 0, 0, 255})
		}
	}
	var asPNG, asJPEG bytes.Buffer
	if err := png.Encode(&asPNG, lying); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&asJPEG, lying, nil); err != nil {
		t.Fatal(err)
	}
	exif := tiff(6, "phone")
	whole, last := asPNG.Bytes(), asPNG.Len()-12
	files := map[string][]byte{
		"PNG, before the pixels":  slices.Concat(whole[:33], chunk("eXIf", exif), whole[33:]),
		"PNG, behind the pixels":  slices.Concat(whole[:last], chunk("eXIf", exif), whole[last:]),
		"JPEG":                    slices.Concat(asJPEG.Bytes()[:2], []byte{0xff, 0xe1, 0, byte(len(exif) + 8)}, []byte("Exif\x00\x00"+exif), asJPEG.Bytes()[2:]),
		"WebP":                    riff("WEBP", riffChunk("VP8X", "\x08\x00\x00\x00\x1f\x00\x00\x0f\x00\x00"), riffChunk("VP8L", "\x2fodd"), riffChunk("EXIF", exif)),
		"WebP as phones write it": riff("WEBP", riffChunk("EXIF", "Exif\x00\x00"+exif)),
	}
	for name, file := range files {
		for n := range file { // a file that was cut off is no reason to fall
			metadata.Orientation(file[:n])
		}
		img := metadata.Upright(lying, file)
		if got := img.Bounds().Size(); got != (image.Point{16, 32}) {
			t.Errorf("%s: %v", name, got)
			continue
		}
		if top, bottom := img.At(8, 2), img.At(8, 30); top != (color.NRGBA{200, 0, 0, 255}) || bottom != (color.NRGBA{255, 255, 255, 255}) {
			t.Errorf("%s: %v above, %v below", name, top, bottom)
		}
	}
	if img := metadata.Upright(lying, whole); img != image.Image(lying) {
		t.Error("a picture that says nothing was turned")
	}
	ycc, err := jpeg.Decode(bytes.NewReader(files["JPEG"]))
	if err != nil {
		t.Fatal(err)
	}
	if got := metadata.Upright(ycc, files["JPEG"]).Bounds().Size(); got != (image.Point{16, 32}) {
		t.Errorf("a photo of another kind of pixels: %v", got)
	}
}
