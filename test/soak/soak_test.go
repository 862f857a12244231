//go:build unix

package main

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/postgres/cluster"
)

// TestSoak is the short form: three quarters of a minute of load and harm, with all clocks alike, since a program with other ones is long in building.
func TestSoak(t *testing.T) {
	t.Parallel()
	_, err := cluster.Find(t.Context(), 0)
	if errors.Is(err, cluster.ErrNoBinaries) && os.Getenv("CI") != "true" {
		t.Skipf("%v: %s", err, cluster.InstallHint(0))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Run("soak", func(t *testing.T) {
		o := options{root: "../..", length: 45 * time.Second, processes: 4, pause: 700 * time.Millisecond, seed: uint64(time.Now().UnixNano())}
		if err := soak(t.Context(), t, o, t.Output()); err != nil {
			t.Error(err)
		}
	})
}
