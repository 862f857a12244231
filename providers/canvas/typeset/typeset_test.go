package typeset

import (
	"testing"

	"github.com/signalbox/signalbox/providers/canvas/scene"
)

func newSetter(t *testing.T) *Setter {
	t.Helper()
	s := New(Config{})
	return s
}

func text(words string) scene.Text {
	return scene.Text{Characters: words, FontFamily: "Inter", FontSize: 20, FontWeight: "400", LineHeight: 1.5, Align: "left", GrowType: "fixed"}
}

func TestSet(t *testing.T) {
	t.Parallel()
	s := newSetter(t)
	t.Run("lines are broken at the width of the box", func(t *testing.T) {
		w, h := s.Measure(text("WORDS GO ON TO THE NEXT LINE WHEN THE BOX IS NOT WIDE ENOUGH"), 200)
		if w > 200 || h < 4*30 || h != float64(int(h/30))*30 {
			t.Errorf("it is %g by %g", w, h)
		}
	})
	t.Run("bold is wider, italic is another outline, spacing adds between letters", func(t *testing.T) {
		plain, bold, italic, spaced := text("HAMBURG"), text("HAMBURG"), text("HAMBURG"), text("HAMBURG")
		bold.FontWeight, italic.FontStyle, spaced.LetterSpacing = "bold", "italic", 8
		a, b, c := s.Set(plain, 500, 50).Pieces[0].Outline.Bounds(), s.Set(bold, 500, 50).Pieces[0].Outline.Bounds(), s.Set(spaced, 500, 50).Pieces[0].Outline.Bounds()
		if b.W <= a.W {
			t.Errorf("bold is %g wide, plain %g", b.W, a.W)
		}
		if d := c.W - a.W - 48; d > 2 || d < -2 {
			t.Errorf("spacing adds %g, want 48", c.W-a.W)
		}
		if scene.SVGPath(s.Set(italic, 500, 50).Pieces[0].Outline) == scene.SVGPath(s.Set(plain, 500, 50).Pieces[0].Outline) {
			t.Error("italic looks like plain")
		}
	})
	t.Run("the ends of lines are where align says", func(t *testing.T) {
		for align, want := range map[string][2]float64{"left": {0, 60}, "right": {140, 200}, "justify": {0, 200}} {
			x := text("aaaa aaaa aaaa aaaa aaaa aaaa aaaa")
			x.Align = align
			b := s.Set(x, 200, 100).Pieces[0].Outline.Bounds()
			if align == "left" && b.X > 3 || align != "left" && b.X+b.W < want[1]-3 {
				t.Errorf("%s: from %g to %g", align, b.X, b.X+b.W)
			}
		}
	})
	t.Run("emoji that no font has as outlines leave nothing behind", func(t *testing.T) {
		with, without := s.Set(text("Hi🎉🥳"), 0, 0), s.Set(text("Hi"), 0, 0)
		if with.Missing != "🎉🥳" || with.Width != without.Width || with.Pieces[0].Outline.Bounds() != without.Pieces[0].Outline.Bounds() {
			t.Errorf("it misses %q, and is %g wide, without them %g", with.Missing, with.Width, without.Width)
		}
	})
	t.Run("Greek and Cyrillic are there, Chinese is missed by name", func(t *testing.T) {
		for _, family := range []string{"Inter", "Literata", "JetBrains Mono", "Oswald"} {
			x := text("ΑΒΓΔΕ БГДЖИ ÀÉŁŽ")
			x.FontFamily = family
			if b := s.Set(x, 0, 0); b.Missing != "" {
				t.Errorf("%s lacks %q", family, b.Missing)
			}
		}
		if b := s.Set(text("日本"), 0, 0); b.Missing != "日本" {
			t.Errorf("it misses %q", b.Missing)
		}
	})
	t.Run("a range has its own fills and size", func(t *testing.T) {
		x := text("one two")
		x.Ranges = []scene.Range{{Start: 4, End: 7, FontSize: 40, Fills: []scene.Fill{{Color: "#FF0000", Opacity: 1}}}}
		b := s.Set(x, 500, 100)
		if len(b.Pieces) != 2 || b.Pieces[1].Fills == nil || b.Height != 60 {
			t.Errorf("it has %d pieces and is %g high", len(b.Pieces), b.Height)
		}
	})
}
