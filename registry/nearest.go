package registry

import (
	"strings"

	"github.com/signalbox/signalbox/internal/edit"
)

// Nearest gives the candidate most like word, for "did you mean", or "" where none is within
// EditLimit. Case does not count.
func Nearest(word string, candidates []string) string {
	word = strings.ToLower(word)
	best, bestDistance := "", EditLimit(word)+1
	for _, c := range candidates {
		if d := edit.Distance(word, strings.ToLower(c), bestDistance-1); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// EditLimit is how many edits away from word its neighbours are: one up to five letters, a third of
// the letters beyond. With two edits every short word is a neighbour of every other.
func EditLimit(word string) int { return max(1, len(word)/3) }

// didYouMean is an ending for an error message, empty where nothing is near.
func didYouMean(word string, candidates []string) string {
	if near := Nearest(word, candidates); near != "" {
		return `; did you mean "` + near + `"?`
	}
	return "; known are " + listed(candidates, 12)
}

// listed joins up to limit words.
func listed(words []string, limit int) string {
	if len(words) <= limit {
		return strings.Join(words, ", ")
	}
	return strings.Join(words[:limit], ", ") + ", ..."
}
