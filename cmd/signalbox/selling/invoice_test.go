package selling

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
)

// TestNamesOnReceipts has customers whose names look like other lines of a receipt, or are long.
func TestNamesOnReceipts(t *testing.T) {
	t.Parallel()
	texts, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	fonts := typeset.New(typeset.Config{CacheDir: t.TempDir()})
	s := &Seller{cfg: Config{Texts: texts, Fonts: fonts, Seller: []string{"A shop"}}}
	for _, name := range []string{"Ann\nPaid  9999 EUR", "Ann\u2028\u202e0.01 diaP", strings.Repeat("Wide W ", 25)} {
		page, err := newSheet(fonts)
		if err == nil {
			err = s.write(page, payments.Payment{Title: "Ten dollars", Source: "stripe", Ref: "pi_1", Tax: "VAT 0 %"}, "en", name)
		}
		if err != nil {
			t.Fatal(err)
		}
		bottom := map[float64]float64{} // of the last text in each column
		shapes := slices.Collect(maps.Values(page.Changes().After))
		slices.SortFunc(shapes, func(a, b *scene.Shape) int { return cmp.Compare(a.Y, b.Y) })
		for _, shape := range shapes {
			if shape.Text == nil {
				continue
			}
			if shape.Y < bottom[shape.X] {
				t.Errorf("%.20q: the text at %v lies on the one before, which ends at %v", name, shape.Y, bottom[shape.X])
			}
			if text := shape.Text.Characters; strings.ContainsAny(text, "\n\u2028\u202e") {
				t.Errorf("a line is %q", text)
			}
			bottom[shape.X] = shape.Y + shape.Height
		}
		if len(bottom) != 2 {
			t.Errorf("%d columns", len(bottom))
		}
	}
}
