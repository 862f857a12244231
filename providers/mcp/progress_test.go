package mcp_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

// What a server says of how far a call is reaches that call, without the house's secrets.
func TestProgress(t *testing.T) {
	t.Parallel()
	for name, stateless := range map[string]bool{"2026-07-28": true, "2025-11-25": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, map[string]string{"library": newLibrary(t, stateless).config("")})
			tools, err := h.tools(t)
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			var heard []registry.Progress
			told := make(chan struct{})
			counted.Store(name, told)
			report := func(p registry.Progress) {
				mu.Lock()
				defer mu.Unlock()
				if heard = append(heard, p); len(heard) == 2 {
					close(told)
				}
			}
			if _, err := h.Call(t.Context(), registry.Call{RunID: "r", Tool: tools["library.find"], Inputs: map[string]any{"text": name}, Report: report}); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			slices.SortFunc(heard, func(a, b registry.Progress) int { return len(b.Stage) - len(a.Stage) })
			if len(heard) != 2 || heard[0].Stage != "shelf one" || !heard[0].HasFraction || heard[0].Fraction != 0.25 || heard[1].Stage != "said ***" || heard[1].HasFraction {
				t.Errorf("heard %+v", heard)
			}
		})
	}
}
