package learned

import (
	"log/slog"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

func TestUsualTimes(t *testing.T) {
	t.Parallel()
	pool, log := postgrestest.New(t), slog.New(slog.DiscardHandler)
	classes := map[string]string{"1": "Loader", "2": "KSampler"}
	first := New(pool, log, nil)
	if usual := first.Usual(t.Context(), "paint", classes); usual != nil {
		t.Errorf("before any run: %v", usual)
	}
	first.Took(t.Context(), "paint", classes, map[string]time.Duration{"2": 10 * time.Second, "2:5": time.Second})
	first.Took(t.Context(), "paint", classes, map[string]time.Duration{"1": time.Second, "2": 20 * time.Second})
	for name, l := range map[string]*Store{"the same process": first, "the next one": New(pool, log, nil)} {
		if usual := l.Usual(t.Context(), "paint", classes); len(usual) != 2 || usual["1"] != 1 || usual["2"] != 14 {
			t.Errorf("%s: %v", name, usual)
		}
	}
	other := map[string]string{"2": "SaveImage"}
	if usual := first.Usual(t.Context(), "paint", other); usual != nil {
		t.Errorf("a node of another class has the times of its number: %v", usual)
	}
}
