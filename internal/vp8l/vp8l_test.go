package vp8l

import (
	"fmt"
	"testing"
)

func TestPrefixCodesKeepTheirLimit(t *testing.T) {
	t.Parallel()
	counts := make([]int, 40)
	a, b := 1, 1
	for i := range counts { // Fibonacci numbers make the deepest trees
		counts[i] = a
		a, b = b, a+b
	}
	for _, limit := range []uint8{7, 15} {
		lengths := codeLengths(counts, limit)
		room := 0
		for _, n := range lengths {
			if n == 0 || n > limit {
				t.Fatalf("limit %d: lengths %v", limit, lengths)
			}
			room += 1 << (limit - n)
		}
		if room != 1<<limit {
			t.Errorf("limit %d: the code is not complete: %s", limit, fmt.Sprint(lengths))
		}
	}
}
