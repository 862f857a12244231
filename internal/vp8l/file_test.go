package vp8l_test

import (
	"bytes"
	"image"
	"image/color"
	"math/rand/v2"
	"testing"

	"golang.org/x/image/webp"

	"github.com/signalbox/signalbox/internal/vp8l"
)

func TestFilesComeBack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []image.Point{{1, 1}, {3, 200}, {512, 512}} {
		m := image.NewNRGBA(image.Rectangle{Max: size})
		for y := range size.Y {
			for x := range size.X {
				m.SetNRGBA(x, y, color.NRGBA{uint8(x/2 + r.IntN(8)), uint8(y / 2), uint8((x + y) / 4), uint8(x * y)})
			}
		}
		var file bytes.Buffer
		if err := vp8l.WriteFile(&file, m); err != nil {
			t.Fatal(err)
		}
		back, err := webp.Decode(&file)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := back.(*image.NRGBA); !ok || !bytes.Equal(got.Pix, m.Pix) {
			t.Errorf("%v: other pixels come back, as %T", size, back)
		}
	}
	if err := vp8l.WriteFile(&bytes.Buffer{}, image.NewGray(image.Rect(0, 0, vp8l.MaxSide+1, 1))); err == nil {
		t.Error("a picture that is too wide is written")
	}
}
