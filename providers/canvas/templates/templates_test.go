package templates

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
	"github.com/signalbox/signalbox/registry"
)

func look(t *testing.T, s *scene.Scene, board *scene.Shape, name string) {
	t.Helper()
	d := &draw.Drawer{Fonts: s.Fonts.(*typeset.Setter)}
	p, err := d.Draw(t.Context(), s, draw.Options{Board: board.ID, Format: draw.PNG})
	if err != nil {
		t.Fatal(err)
	}
	if out := os.Getenv("CANVAS_OUT"); out != "" { // to look at
		_ = os.WriteFile(filepath.Join(out, "t_"+name+".png"), p.Content, 0o600)
	}
}

func newScene(t *testing.T) *scene.Scene {
	t.Helper()
	fonts := typeset.New(typeset.Config{})
	return scene.New(fonts, scene.Page{})
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		words string
		seed  uint64
	}{
		"poster0": {"a poster for Friday: Summer party, 8 pm, garden", 3}, "poster1": {"a poster for Friday: Summer party, 8 pm, garden", 4}, "poster2": {"a poster for Friday: Summer party, 8 pm, garden", 5},
		"poster_de": {"Plakat für Samstag: Nachtkonzert im Stadtpark, 21 Uhr, Eintritt frei", 4}, "poster_ru": {"афиша на пятницу: Выставка современной фотографии, 19:00, Музей города", 5},
		"card": {"card: Thank you for everything, See you next year in the mountains", 2}, "quote": {"quote: The best way to predict the future is to invent it. — Alan Kay", 9},
		"chart": {"chart of visits: Mon 12, Tue 18, Wed 9, Thu 24, Fri 31", 6}, "line": {"line chart of revenue: Jan 1.2k, Feb 1.8k, Mar 1.4k, Apr 2.6k", 3}, "pie": {"pie chart of budget: Rent 40%, Food 25%, Travel 20%, Fun 15%", 5},
		"meme": {"meme: one does not simply / deploy on a Friday", 1}, "plain": {"Garage sale on Saturday, 10 to 4, Maple Street 12", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			board, err := Draw(s, Read(c.words, nil, c.seed))
			if err != nil {
				t.Fatal(err)
			}
			look(t, s, board, name)
		})
	}
}

func TestLongTextsStayInTheirPlaces(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 400)
	for _, kind := range []string{"poster", "card", "quote", "meme"} {
		for seed := range uint64(3) {
			s := newScene(t)
			board, err := Draw(s, Read(kind+": "+long, nil, seed+3))
			if err != nil {
				t.Fatal(err)
			}
			for _, sh := range s.Children(board.ID) {
				if sh.Text == nil || sh.Name == "mark" {
					continue
				}
				text := *sh.Text
				text.GrowType = "auto-height"
				if _, h := s.Fonts.Measure(text, sh.Width); h > sh.Height {
					t.Errorf("%s %d: %q is %.0f high, its place %.0f", kind, seed, sh.Name, h, sh.Height)
				}
			}
		}
	}
}

// TestBiggerBreaksNoWord: a title that is made bigger and bigger has its words in one piece.
func TestBiggerBreaksNoWord(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	board, err := Draw(s, Read("poster for Friday: Sun on winter roofs, 8 pm", nil, 3))
	if err != nil {
		t.Fatal(err)
	}
	title := part(s, board, "title")[0]
	was := title.Text.FontSize
	for range 8 {
		if _, done, err := Edit(s, board, "bigger title"); !done || err != nil {
			t.Fatal(done, err)
		}
	}
	title = part(s, board, "title")[0]
	widest := *title.Text
	widest.Characters = "winter"
	if width, _ := s.Fonts.Measure(widest, 0); width > title.Width+0.5 || widest.FontSize <= was {
		t.Errorf("the longest word is %.0f wide in a box of %.0f, and the title went from %.0f to %.0f", width, title.Width, was, widest.FontSize)
	}
}

func TestRefusalsAreSentences(t *testing.T) {
	t.Parallel()
	texts, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	for words, says := range map[string]string{
		"chart of visits":             "ein Diagramm braucht Namen und Zahlen",
		"rect 1 2":                    `Zeile 1, "rect 1 2": rect braucht 4 Zahlen`,
		"board 9 9\ncircle 1 2 three": `Zeile 2, "circle 1 2 three": "three" ist keine Zahl`,
		"rect 1 2 3 4 bleu":           `"bleu" ist keine Farbe`,
		"rect 1 2 3 4 tilt=3":         `eine Angabe "tilt" gibt es nicht`,
	} {
		_, err := Draw(newScene(t), Read(words, nil, 0))
		known := registry.AsError(err)
		if told, _ := texts.Voice("de").Text(known.Said); known.Code != registry.CodeInvalidInput || known.Field != "text" || !strings.Contains(told, says) {
			t.Errorf("%q: %q, %v", words, told, err)
		}
	}
}
