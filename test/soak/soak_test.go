//go:build unix

package main

import (
	"testing"
	"time"
)

// TestSoak is the short form: a house of three processes, each with another clock, and one harm after the other. The program is linked
// without the race detector, as .ci/run has compiled it before; most of the rest is waiting.
func TestSoak(t *testing.T) {
	t.Parallel()
	o := options{
		root: "../..", processes: 3, skew: 2 * time.Minute, pause: 700 * time.Millisecond, seed: uint64(time.Now().UnixNano()), length: 2 * time.Minute,
		plan: []string{
			"process killed", "database cut", "process killed", "engine restarts", "telegram cut", "processes killed", "database restarts", "files full", "engine cut", "process killed",
		},
	}
	if err := soak(t.Context(), t, o, t.Output()); err != nil {
		t.Error(err)
	}
}
