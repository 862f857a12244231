package canvas

import (
	"image"
	"math"
	"testing"

	"github.com/signalbox/signalbox/providers/canvas/draw"
)

// ink says what a text has to look like: pixels that are nearer to its colour than to any paper.
type ink struct {
	Of       string
	Box      [4]int
	FontSize float64
	Color    [3]int
	Papers   [][3]int
	Min, Max float64
	Lines    int
	MinLines int
	Align    string
	Pitch    float64
}

type compare struct {
	Kind, A, B string
	Factor     float64
	By, Tol    float64
	Value      float64
}

// band is a line of ink.
type band struct{ top, bottom, left, right int }

func (k ink) is(img *image.RGBA, x, y int) bool {
	if !(image.Point{X: x, Y: y}).In(img.Rect) {
		return false
	}
	square := func(c [3]int) (sum int) {
		p := at(img, x, y)
		for i := range p {
			sum += (p[i] - c[i]) * (p[i] - c[i])
		}
		return sum
	}
	d := square(k.Color)
	for _, paper := range k.Papers {
		if square(paper) <= d {
			return false
		}
	}
	return true
}

// measure finds the lines of ink in the box, and how much there is.
func (k ink) measure(img *image.RGBA) (bands []band, inked int) {
	inside := false
	for y := k.Box[1]; y < k.Box[1]+k.Box[3]; y++ {
		left, right := -1, -1
		for x := k.Box[0]; x < k.Box[0]+k.Box[2]; x++ {
			if k.is(img, x, y) {
				inked++
				if right = x; left < 0 {
					left = x
				}
			}
		}
		if left < 0 {
			inside = inside && len(bands) > 0 && float64(y-bands[len(bands)-1].bottom) < k.FontSize*0.15 // an accent is no line
			continue
		}
		if !inside {
			bands, inside = append(bands, band{y, y, left, right}), true
		}
		last := &bands[len(bands)-1]
		last.bottom, last.left, last.right = y, min(last.left, left), max(last.right, right)
	}
	return bands, inked
}

func judgeInk(t *testing.T, img *image.RGBA, c corpusScene) {
	t.Helper()
	measured := map[string][]band{}
	amounts := map[string]int{}
	for _, k := range c.Expect.Ink {
		bands, inked := k.measure(img)
		measured[k.Of], amounts[k.Of] = bands, inked
		if share := float64(inked) / float64(k.Box[2]*k.Box[3]); share < k.Min || share > k.Max {
			t.Errorf("%s: %.4f of its box is ink, want %g to %g", k.Of, share, k.Min, k.Max)
		}
		if k.Lines > 0 && len(bands) != k.Lines || len(bands) < k.MinLines {
			t.Errorf("%s has %d lines of ink, want %d (at least %d): %v", k.Of, len(bands), k.Lines, k.MinLines, bands)
		}
		for i, b := range bands {
			off := map[string]float64{
				"left": float64(b.left - k.Box[0]), "right": float64(k.Box[0] + k.Box[2] - 1 - b.right),
				"center": math.Abs(float64(b.left-k.Box[0])-float64(k.Box[0]+k.Box[2]-1-b.right)) / 2,
			}[k.Align]
			if off > k.FontSize/5 {
				t.Errorf("%s: a line is %g beside where %s has it", k.Of, off, k.Align)
			}
			if k.Pitch > 0 && i > 0 && math.Abs(float64(b.bottom-bands[i-1].bottom)-k.Pitch) > k.FontSize/5 {
				t.Errorf("%s: its lines are %d apart, want %g", k.Of, b.bottom-bands[i-1].bottom, k.Pitch)
			}
		}
	}
	for _, q := range c.Expect.Compare {
		a, b := measured[q.A], measured[q.B]
		if len(a) == 0 || len(b) == 0 {
			t.Errorf("%s and %s can't be compared", q.A, q.B)
			continue
		}
		switch q.Kind {
		case "more ink":
			if float64(amounts[q.A]) < float64(amounts[q.B])*q.Factor {
				t.Errorf("%s has %d pixels of ink, %s %d, want more by %g", q.A, amounts[q.A], q.B, amounts[q.B], q.Factor)
			}
		case "differs":
			if amounts[q.A] == amounts[q.B] && a[0] == b[0] {
				t.Errorf("%s looks like %s", q.A, q.B)
			}
		case "wider":
			if wider := float64(a[0].right-a[0].left) - float64(b[0].right-b[0].left); math.Abs(wider-q.By) > q.By*q.Tol {
				t.Errorf("%s is wider than %s by %g, want %g", q.A, q.B, wider, q.By)
			}
		case "ratio of heights":
			if ratio := float64(a[0].bottom-a[0].top+1) / float64(b[0].bottom-b[0].top+1); math.Abs(ratio-q.Value) > q.Value*q.Tol {
				t.Errorf("%s is %g times as high as %s, want %g", q.A, ratio, q.B, q.Value)
			}
		}
	}
}

// TestLinesBelowTheirBox: a text that is longer than its box hangs out of it, with its shadow.
func TestLinesBelowTheirBox(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	board := b.must(t, "create-board", in{"x": 0, "y": 0, "width": 200, "height": 200}).id
	b.must(t, "create-text", in{
		"parentId": board, "x": 10, "y": 10, "width": 180, "height": 20, "growType": "fixed", "characters": "ONE\nTWO\nTHREE\nFOUR", "fontSize": 30,
		"fills": []any{in{"fillColor": "#000000"}}, "shadows": []any{in{"offsetX": 2, "offsetY": 2, "color": in{"color": "#FF0000"}}},
	})
	k := ink{Box: [4]int{10, 10, 180, 180}, Color: [3]int{0, 0, 0}, Papers: [][3]int{{255, 255, 255}, {255, 0, 0}}, FontSize: 30}
	if lines, _ := k.measure(decode(t, b.picture(t, board, draw.PNG).Content)); len(lines) != 4 {
		t.Errorf("%d lines are drawn, want 4", len(lines))
	}
}
