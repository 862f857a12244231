package clocktest

import (
	"testing"
	"time"
)

// Until waits for what no channel tells of, such as a row of the database that another goroutine writes: it looks again and again, and ends
// the test after two minutes. report says how things are then.
func Until(t testing.TB, what string, holds func() bool, report ...func() string) {
	t.Helper()
	again := time.NewTicker(3 * time.Millisecond)
	defer again.Stop()
	for late := time.After(2 * time.Minute); !holds(); {
		select {
		case <-again.C:
		case <-late:
			for _, r := range report {
				what += ":\n" + r()
			}
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
