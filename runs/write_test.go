package runs

import (
	"testing"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/group"
)

func TestPlacesOfWrites(t *testing.T) {
	t.Parallel()
	for processors, want := range map[int]int{1: 2, 2: 2, 4: 4, 64: 4} {
		s := &Service{writes: group.New(groupSize, (*Service)(nil).flushWrites, writeLanes(processors)...)}
		if got := s.writes.Lanes(); got != want {
			t.Errorf("%d processors have %d lanes, want %d", processors, got, want)
		}
		used := make(map[int]bool)
		for range 200 {
			account := uuid.NewString()
			r := record{Run: Run{AccountID: account}}
			begins, key := s.placeOf(&write{accept: &acceptance{record: r}})
			ends, sameKey := s.placeOf(&write{finish: &finish{record: r}})
			if key != account || sameKey != account || begins%2 != 0 || ends != begins+1 {
				t.Errorf("runs of %s begin in lane %d as %s and end in lane %d as %s", account, begins, key, ends, sameKey)
			}
			used[begins], used[ends] = true, true
		}
		if len(used) != want {
			t.Errorf("of %d lanes %d are used", want, len(used))
		}
	}
}
