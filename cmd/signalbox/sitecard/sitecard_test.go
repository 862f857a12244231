package sitecard_test

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/cmd/signalbox/sitecard"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
)

func TestDraw(t *testing.T) {
	t.Parallel()
	fonts := typeset.New(typeset.Config{})
	drawn := map[string]bool{}
	for _, title := range []string{"New mugs", "Neue Becher", strings.Repeat("A title that is far too long for a card ", 20), "Сад и огонь", ""} {
		card, err := sitecard.Draw(t.Context(), fonts, title, "The pottery")
		if err != nil {
			t.Fatalf("%q: %v", title, err)
		}
		img, err := png.Decode(bytes.NewReader(card))
		if err != nil || img.Bounds().Dx() != 1200 || img.Bounds().Dy() != 630 {
			t.Fatalf("%q: %v", title, err)
		}
		if drawn[string(card)] {
			t.Errorf("the card of %q is that of another", title)
		}
		drawn[string(card)] = true
	}
}
