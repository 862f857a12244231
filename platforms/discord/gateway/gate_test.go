package gateway

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/clocktest"
)

func TestIdentifyGate(t *testing.T) {
	t.Parallel()
	clock := clocktest.NewManual(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	var known Starts
	gate := &identifyGate{clock: clock, places: 16, total: 1000}
	known.Left, known.Resets = 1, clock.Now().Add(3*time.Hour)
	take := func(id int) time.Duration { return gate.take(&known, id) }
	if d := take(0); d != 0 {
		t.Errorf("the last session that is left waits %v", d)
	}
	if d := take(1); d != 3*time.Hour {
		t.Errorf("with none left a session waits %v, want until the reset", d)
	}
	clock.Advance(3 * time.Hour)
	if d := take(1); d != 0 {
		t.Errorf("after the reset a session waits %v", d)
	}
	known.Last[2] = clock.Now().Add(2 * time.Minute) // by a process whose clock is ahead
	if d := take(2); d != identifyEvery {
		t.Errorf("after a start in the future a session waits %v", d)
	}
	unlimited := &identifyGate{clock: clock, places: 1}
	if unlimited.take(&Starts{}, 0) != 0 {
		t.Error("a server that tells no limit has none")
	}
}

func TestShardsSetting(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]Shards{
		"": {}, "auto": {}, "none": {Off: true}, "4": {Count: 4}, "0,1/4": {Count: 4, IDs: []int{0, 1}}, "2-4/16": {Count: 16, IDs: []int{2, 3, 4}},
	} {
		if got, err := ParseShards(setting); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: %v, %v", setting, got, err)
		}
	}
	for _, setting := range []string{"0", "-1", "x", "4/4", "1-0/4", "1/x", "99999"} {
		if got, err := ParseShards(setting); err == nil {
			t.Errorf("%q gives %v", setting, got)
		}
	}
}
