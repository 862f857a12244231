package templates

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
)

// FuzzWords draws whatever is said, and then changes it as is said: a drawing comes of it, or an error that says what is wrong.
func FuzzWords(f *testing.F) {
	for _, words := range []string{
		"a poster for Friday: Summer party, 8 pm, garden", "Plakat für Samstag: Fest, 19:30 Uhr", "афиша на пятницу: Выставка", "海报：夏日派对，晚上八点", "chart of ölpreis: Ä 1, Ö -2, Ü 3,5", "pie chart: a 0, b 0",
		"quote: To be — or not — Hamlet", "meme: / ", ":", "board 1 1\nrect 0 0 0 0", "card", "title: ", "make it #12345", "line chart of x: a 1e9, b -1e9",
	} {
		f.Add(words, "make it blue")
	}
	f.Add("poster: A", "title: 日本 very long words that do not fit into anything")
	fonts := typeset.New(typeset.Config{})
	f.Fuzz(func(t *testing.T, words, change string) {
		if !utf8.ValidString(words) || !utf8.ValidString(change) || len(words)+len(change) > 500 {
			return
		}
		s := scene.New(fonts, scene.Page{})
		board, err := Draw(s, Read(words, nil, 0))
		var wrong *scene.Error
		if err != nil && !errors.As(err, &wrong) {
			t.Fatal(err)
		}
		if err != nil || board == nil || board.Type != scene.Board {
			return
		}
		if _, _, err := Edit(s, board, change); err != nil && !errors.As(err, &wrong) {
			t.Fatal(err)
		}
	})
}
