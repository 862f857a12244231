package example_test

import (
	"bytes"
	"image/png"
	"testing"

	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/providers/canvas/example"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/providers/canvas/templates"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
)

// TestPicturesAreOfTheirWords draws the words anew: an example shows what the tool makes today.
func TestPicturesAreOfTheirWords(t *testing.T) {
	t.Parallel()
	fonts := typeset.New(typeset.Config{})
	for _, language := range example.Languages() {
		s := scene.New(fonts, scene.Page{})
		board, err := templates.Draw(s, templates.Read(example.Words(language), nil, 0))
		if err != nil {
			t.Fatal(err)
		}
		d := &draw.Drawer{Fonts: fonts}
		p, err := d.Draw(t.Context(), s, draw.Options{Board: board.ID, Format: draw.PNG, Scale: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := example.Picture(language)
		if err != nil || !bytes.Equal(kept, p.Content) {
			t.Errorf("the example in %s is not what is drawn now: go generate ./providers/canvas/example (%v)", language, err)
		}
		if _, err := png.DecodeConfig(bytes.NewReader(kept)); err != nil || len(kept) > 60_000 {
			t.Errorf("the example in %s has %d bytes: %v", language, len(kept), err)
		}
	}
	if first, err := example.Picture("zh"); err != nil || len(first) == 0 || example.Words("zh") != example.Words("en") {
		t.Errorf("other languages get English: %v", err)
	}
}
