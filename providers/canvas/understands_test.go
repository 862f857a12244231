package canvas_test

import (
	"testing"

	"github.com/signalbox/signalbox/providers/canvas"
)

func TestUnderstands(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]bool{
		"a poster for Friday: Summer party, 8 pm, garden": true,
		"chart of visits: Mon 12, Tue 18":                 true,
		"board 400 300 white\ncircle 200 150 80 red":      true,
		"make it blue":        true,
		"title: Winter party": true,
		"bigger title":        true,
		"undo":                true,
		"PDF":                 true,
		"nochmal":             true,
		"a floor plan of a small flat with two doors": false,
		"something that my grandmother would like":    false,
	} {
		if got := canvas.Understands(words); got != want {
			t.Errorf("%q: understood %v, want %v", words, got, want)
		}
	}
}
