package canvas

import (
	"fmt"
	"image"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/providers/canvas/templates"
)

// wishes are colours that people ask for: of all hues, light and dark, and none.
var wishes = []string{"red", "orange", "yellow", "green", "light blue", "blue", "navy", "pink", "dark green", "gray", "black", "white"}

// TestColoursByWords asks for each colour for each template: it is there, words are read as well as before or as WCAG 2 wants, what differed from what it lies beside goes on differing, and
// the step can be taken back.
func TestColoursByWords(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]string{
		"poster": "poster for Monday: Open doors, 8 pm, school", "card": "card for Ann: Thank you, See you next year", "quote": "quote: The best way to predict it is to invent it. — Alan Kay",
		"bars": "chart of visits: Mon 12, Tue 18, Wed 9, Thu 24", "line": "line chart of visits: Mon 12, Tue 18, Wed 9, Thu 24", "pie": "pie chart of costs: Rent 40, Food 25, Travel 20, Fun 15", "meme": "meme: one does not simply / deploy",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			for seed := uint64(21); seed < 42; seed += map[bool]uint64{true: 1, false: 3}[name == "poster"] { // seven palettes, three posters
				b.scene = scene.New(b.Fonts, scene.Page{})
				board, err := templates.Draw(b.scene, templates.Read(words, nil, seed))
				if err != nil {
					t.Fatal(err)
				}
				was := b.looks(t, board)
				for id, contrast := range was.contrast {
					if text, _ := b.shape(id); contrast < 4.5 && text.Name != "mark" {
						t.Errorf("seed %d: %q has a contrast of %.2f", seed, text.Name, contrast)
					}
				}
				for _, wish := range wishes {
					now := b.judgeColour(t, board, was, wish, fmt.Sprintf("seed %d", seed), 0.05)
					colour, _ := templates.ColorNamed(wish)
					if off := now.near(inkOf(colour)); name != "meme" && off > 80 { // which is a picture
						t.Errorf("seed %d: %s is missed by %d; before by %d", seed, wish, off, was.near(inkOf(colour)))
					}
				}
			}
		})
	}
}

// TestColoursOfScenes asks for colours for the drawings of the corpus.
func TestColoursOfScenes(t *testing.T) {
	t.Parallel()
	dir := scenes(t)
	paths, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, path := range paths {
		if name := filepath.Base(path); name == "bad.json" || name == "responsive.json" {
			continue
		}
		var c corpusScene
		readJSON(t, path, &c)
		b := newBench(t)
		b.drawScene(t, c, dir)
		if board, ok := b.shape(b.done[c.Picture.Call].id); ok && board.Type == scene.Board {
			was := b.looks(t, board)
			for _, wish := range []string{"blue", "yellow"} {
				b.judgeColour(t, board, was, wish, c.Name, 0.1)
			}
		}
	}
}

// TestColoursOfAPile recolours shapes that all lie over each other, each in a colour of its own, which takes 0.1 s of processor time.
func TestColoursOfAPile(t *testing.T) {
	t.Parallel()
	s := scene.New(testFonts(), scene.Page{})
	w, h, words := 1600.0, 1000.0, "Label"
	board, err := s.Create(scene.Board, scene.Props{Width: &w, Height: &h})
	for i := 0; i < 2000 && err == nil; i++ {
		p := scene.Props{ParentID: &board.ID, Width: &w, Height: &h, Fills: &[]scene.Fill{{Color: fmt.Sprintf("#%06X", 0xFFFFFF-(1999-i)*7919), Opacity: 0.5}}}
		kind := scene.Rectangle
		if i%40 == 0 {
			kind, p.Characters = scene.TextShape, &words
		}
		_, err = s.Create(kind, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, done, err := templates.Edit(s, board, "make it blue"); !done || err != nil {
		t.Fatal(done, err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

// judgeColour makes a drawing of one colour, looks, and takes it back.
func (b *bench) judgeColour(t *testing.T, board *scene.Shape, was looks, wish, what string, gone float64) looks {
	t.Helper()
	var copies []*scene.Shape
	for _, sh := range b.scene.All() {
		c := *sh
		copies = append(copies, &c)
	}
	next := scene.New(b.Fonts, b.scene.Page, copies...)
	changed := &bench{Provider: b.Provider, scene: next}
	ground, _ := changed.shape(board.ID)
	if _, done, err := templates.Edit(next, ground, "make it "+wish); !done || err != nil {
		t.Fatalf("%s, %s: %v, %v", what, wish, done, err)
	}
	now := changed.recoloured(t, ground, was)
	for id, before := range was.contrast {
		if after := now.contrast[id]; after < min(4.5, before)-0.15 {
			text, _ := b.shape(id)
			t.Errorf("%s, %s: %q had a contrast of %.2f and has %.2f", what, wish, text.Name, before, after)
		}
	}
	if lost := was.edges(now); lost > gone && wish != "gray" { // which takes hues away
		t.Errorf("%s, %s: %.1f %% of the edges are gone", what, wish, 100*lost)
	}
	changes := next.Changes()
	next.Undo(changes)
	for _, sh := range b.scene.All() {
		if same, _ := changed.shape(sh.ID); fmt.Sprintf("%+v", same.Fills) != fmt.Sprintf("%+v", sh.Fills) || same.BlendMode != sh.BlendMode {
			t.Errorf("%s, %s: %s is not as it was", what, wish, sh.Name)
		}
	}
	return now
}

// looks is what a drawing looks like.
type looks struct {
	bare     *image.RGBA              // without its words
	letters  map[string][]image.Point // of each text, where its letters cover what is beneath
	contrast map[string]float64       // of each text with what is beneath its letters: the least but for 3 % of them
}

func (b *bench) looks(t *testing.T, board *scene.Shape) looks {
	t.Helper()
	l := looks{bare: b.bare(t, board), letters: map[string][]image.Point{}}
	full := b.small(t, b.scene, board)
	for _, text := range b.scene.All() {
		if text.Type != scene.TextShape || len(text.Strokes) > 0 || len(text.Fills) != 1 || text.Fills[0].Color == "" || text.Opacity < 1 {
			continue // an outline keeps letters apart from what is beneath
		}
		box := b.scene.Bounds(text)
		for y := int((box.Y - board.Y) * 0.2); y < int((box.Y+box.H-board.Y)*0.2); y++ {
			for x := int((box.X - board.X) * 0.2); x < int((box.X+box.W-board.X)*0.2); x++ {
				if p := (image.Point{X: x, Y: y}); p.In(full.Rect) && at(full, x, y) != at(l.bare, x, y) {
					l.letters[text.ID] = append(l.letters[text.ID], p)
				}
			}
		}
	}
	l.contrast = b.contrasts(l.bare, l.letters)
	return l
}

// recoloured is what a drawing looks like in other colours: its letters stand where they stood.
func (b *bench) recoloured(t *testing.T, board *scene.Shape, was looks) looks {
	t.Helper()
	bare := b.bare(t, board)
	return looks{bare, was.letters, b.contrasts(bare, was.letters)}
}

func (b *bench) contrasts(bare *image.RGBA, letters map[string][]image.Point) map[string]float64 {
	contrasts := map[string]float64{}
	for id, places := range letters {
		text, _ := b.shape(id)
		ink, seen := inkOf(text.Fills[0].Color), make([]float64, len(places))
		for i, p := range places {
			seen[i] = contrastOf(at(bare, p.X, p.Y), ink)
		}
		slices.Sort(seen)
		contrasts[id] = seen[len(seen)*3/100]
	}
	return contrasts
}

// bare is a small picture of a drawing without its words.
func (b *bench) bare(t *testing.T, board *scene.Shape) *image.RGBA {
	t.Helper()
	rest := slices.DeleteFunc(b.scene.All(), func(sh *scene.Shape) bool { return sh.Type == scene.TextShape })
	return b.small(t, scene.New(b.Fonts, b.scene.Page, rest...), board)
}

func (b *bench) small(t *testing.T, s *scene.Scene, board *scene.Shape) *image.RGBA {
	t.Helper()
	_, pixels, err := b.drawer.Paint(t.Context(), s, draw.Options{Board: board.ID, Scale: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	return onWhite(pixels)
}

func inkOf(hex string) (c [3]int) {
	_, _ = fmt.Sscanf(strings.ToUpper(hex), "#%02X%02X%02X", &c[0], &c[1], &c[2])
	return c
}

// contrastOf is that of WCAG 2.
func contrastOf(a, b [3]int) float64 {
	luminance := func(c [3]int) float64 {
		sum := 0.05
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v := float64(c[i]) / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			sum += weight * v
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return max(x, y) / min(x, y)
}

// near is how near a colour the nearest places come, one in 500, such as a thin line: the most that one part of it differs, 0 to 255.
func (l looks) near(want [3]int) int {
	var places [256]int
	for y := range l.bare.Rect.Dy() {
		for x := range l.bare.Rect.Dx() {
			places[distance(at(l.bare, x, y), want)]++
		}
	}
	off, seen := 0, places[0]
	for seen <= len(l.bare.Pix)/4/500 {
		off++
		seen += places[off]
	}
	return off
}

// edges is the share of the places where two areas met that can't be told any more.
func (l looks) edges(now looks) float64 {
	apart := func(img *image.RGBA, x, y int) int {
		a, b, sum := at(img, x, y), at(img, x+2, y), 0
		for i := range a {
			sum += max(a[i]-b[i], b[i]-a[i])
		}
		return sum
	}
	all, gone := 0, 0
	for y := range l.bare.Rect.Dy() {
		for x := range l.bare.Rect.Dx() - 2 {
			if apart(l.bare, x, y) > 60 {
				all++
				if apart(now.bare, x, y) < 12 {
					gone++
				}
			}
		}
	}
	return float64(gone) / float64(max(all, 20))
}
