package edit

import "strings"

// Nearest gives the candidate most like word, for "did you mean", or "" where none is within
// Limit. Case does not count.
func Nearest(word string, candidates []string) string {
	word = strings.ToLower(word)
	best, bestDistance := "", Limit(word)+1
	for _, c := range candidates {
		if d := Distance(word, strings.ToLower(c), bestDistance-1); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// Limit is how many edits away from word its neighbours are: one up to five letters, a third of
// the letters beyond. With two edits every short word is a neighbour of every other.
func Limit(word string) int { return max(1, len(word)/3) }
