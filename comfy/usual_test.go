package comfy

import (
	"log/slog"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

func TestUsualTimes(t *testing.T) {
	t.Parallel()
	pool, log := postgrestest.New(t), slog.New(slog.DiscardHandler)
	pl := plan{Tool: "paint", Titles: map[string]string{"1": "Load", "2": "Sample"}, Classes: map[string]string{"1": "Loader", "2": "KSampler"}}
	first := NewLearned(pool, log, nil)
	if usual := first.usual(t.Context(), pl); usual != nil {
		t.Errorf("before any run: %v", usual)
	}
	first.took(t.Context(), pl, map[string]time.Duration{"2": 10 * time.Second, "2:5": time.Second})
	first.took(t.Context(), pl, map[string]time.Duration{"1": time.Second, "2": 20 * time.Second})
	for name, l := range map[string]*Learned{"the same process": first, "the next one": NewLearned(pool, log, nil)} {
		if usual := l.usual(t.Context(), pl); len(usual) != 2 || usual["1"] != 1 || usual["2"] != 14 {
			t.Errorf("%s: %v", name, usual)
		}
	}
	other := pl
	other.Classes = map[string]string{"2": "SaveImage"}
	if usual := first.usual(t.Context(), other); usual != nil {
		t.Errorf("a node of another class has the times of its number: %v", usual)
	}
}
