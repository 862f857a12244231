// Package edit measures how far one word is from another, and tells in which words two texts differ.
package edit

import "slices"

// Distance counts the letters that must be inserted, deleted, replaced or swapped with their neighbour to make b of
// a (optimal string alignment). Above limit it gives up and returns limit+1.
func Distance(a, b string, limit int) int {
	ra, rb := []rune(a), []rune(b)
	if len(ra)-len(rb) > limit || len(rb)-len(ra) > limit {
		return limit + 1
	}
	rows := [3][]int{make([]int, len(rb)+1), make([]int, len(rb)+1), make([]int, len(rb)+1)}
	before, previous, current := rows[0], rows[1], rows[2]
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(ra); i++ {
		current[0] = i
		for j := 1; j <= len(rb); j++ {
			cost := 1
			if ra[i-1] == rb[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && ra[i-1] == rb[j-2] && ra[i-2] == rb[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		if slices.Min(current) > limit {
			return limit + 1
		}
		before, previous, current = previous, current, before
	}
	return min(previous[len(rb)], limit+1)
}
