package registry

import (
	"slices"
	"strings"
)

// Nearest gives the candidate most like word, for "did you mean", or "" where none is within
// EditLimit. Case does not count.
func Nearest(word string, candidates []string) string {
	word = strings.ToLower(word)
	best, bestDistance := "", EditLimit(word)+1
	for _, c := range candidates {
		if d := EditDistance(word, strings.ToLower(c), bestDistance-1); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// EditLimit is how many edits away from word its neighbours are: one up to five letters, a third of
// the letters beyond. With two edits every short word is a neighbour of every other.
func EditLimit(word string) int { return max(1, len(word)/3) }

// EditDistance counts insertions, deletions, substitutions and swaps of neighbours between a and b
// (optimal string alignment, by bytes). Above limit it gives up and returns limit+1.
func EditDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	before, previous, current := rows[0], rows[1], rows[2]
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		if slices.Min(current) > limit {
			return limit + 1
		}
		before, previous, current = previous, current, before
	}
	return min(previous[len(b)], limit+1)
}

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
