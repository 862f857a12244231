package tracking

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/registry"
)

// testTracker follows a prompt of the nodes 1 to 4.
func testTracker() *Tracker {
	clock := time.Unix(0, 0)
	now := func() time.Time { clock = clock.Add(time.Second); return clock }
	return New("p", map[string]string{"1": "Load", "2": "Sample", "3": "Decode", "4": "Save"}, nil, now)
}

func executing(node string) api.Event {
	return api.Event{Type: "executing", PromptID: "p", Node: node}
}

func states(of map[string]string) api.Event {
	e := api.Event{Type: "progress_state", PromptID: "p", States: map[string]api.NodeState{}}
	for id, s := range of {
		e.States[id] = api.NodeState{State: s, Max: 1}
	}
	return e
}

func TestTracker(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, tr *Tracker, stage string, fraction float64) {
		t.Helper()
		if p := tr.Progress(); p.Stage != stage || p.Fraction < fraction-1e-9 || p.Fraction > fraction+1e-9 {
			t.Errorf("at %q %v, expected %q %v", p.Stage, p.Fraction, stage, fraction)
		}
	}
	t.Run("a lazy node that is come back to counts once, when it is done", func(t *testing.T) {
		t.Parallel()
		tr := testTracker()
		for _, e := range []api.Event{states(map[string]string{"3": "running"}), executing("3"), executing("1")} {
			tr.Apply(e)
		}
		check(t, tr, "Load", 0)
		for _, e := range []api.Event{states(map[string]string{"1": "finished", "3": "running"}), executing("3"), states(map[string]string{"3": "finished"}), executing("4")} {
			tr.Apply(e)
		}
		check(t, tr, "Save", 0.5)
		if tr.timings["3"] != 2*time.Second {
			t.Errorf("the lazy node took %s", tr.timings["3"])
		}
	})
	t.Run("a blocked branch does not stop it", func(t *testing.T) {
		t.Parallel()
		tr := testTracker()
		if v := tr.Apply(api.Event{Type: "execution_error", PromptID: "p", Node: "9"}); v != MaybeOver {
			t.Errorf("verdict %v", v)
		}
		if v := tr.Apply(executing("2")); v != News {
			t.Errorf("verdict %v", v)
		}
		tr.Apply(api.Event{Type: "progress", PromptID: "p", Node: "2", Value: 1, Max: 2})
		check(t, tr, "Sample", 18.0/39)
	})
	t.Run("other prompts, other nodes, nonsense and repetitions change nothing", func(t *testing.T) {
		t.Parallel()
		tr := testTracker()
		tr.Apply(executing("2"))
		for _, e := range []api.Event{
			{Type: "executing", PromptID: "q", Node: "4"}, {Type: "execution_success", PromptID: "q"}, executing("2"), {Type: "new_in_2031", PromptID: "p"}, {Type: "status"},
		} {
			if v := tr.Apply(e); v != Nothing {
				t.Errorf("%+v: verdict %v", e, v)
			}
		}
		tr.Apply(api.Event{Type: "progress", PromptID: "p", Node: "1", Value: 1, Max: 1})
		tr.Apply(api.Event{Type: "progress", PromptID: "p", Node: "2", Value: 1, Max: 0})
		tr.Apply(api.Event{Type: "progress", PromptID: "p", Node: "2", Value: -5, Max: 1})
		check(t, tr, "Sample", 0)
		tr.Apply(api.Event{Type: "progress", PromptID: "p", Node: "2", Value: 500, Max: 1})
		check(t, tr, "Sample", 0.25)
		tr.Apply(api.Event{Type: "progress", PromptID: "p", Node: "2", Value: 0, Max: 1})
		check(t, tr, "Sample", 0.25) // never back
	})
	t.Run("nodes made at run time do not fill the bar", func(t *testing.T) {
		t.Parallel()
		tr := testTracker()
		for _, id := range []string{"2:1", "2:2", "2:3", "2:4", "2:5"} {
			tr.Apply(executing(id))
			tr.Apply(api.Event{Type: "executed", PromptID: "p", Node: id})
		}
		check(t, tr, "", 0)
	})
	step := func(node string, value float64) api.Event {
		return api.Event{Type: "progress", PromptID: "p", Node: node, Value: value, Max: 100}
	}
	t.Run("steps of a node of which nothing is known move the figure over most of its way", func(t *testing.T) {
		t.Parallel()
		tr := testTracker()
		tr.Apply(executing("1"))
		tr.Apply(executing("2"))
		last := tr.Progress().Fraction
		for value := 5.0; value <= 95; value += 5 {
			tr.Apply(step("2", value))
			p := tr.Progress()
			if p.Fraction <= last {
				t.Fatalf("at %v of 100 steps: %v after %v", value, p.Fraction, last)
			}
			last = p.Fraction
		}
		if last < 0.85 || tr.Progress().Rest != 0 {
			t.Errorf("at the end of the steps %v, rest %s", last, tr.Progress().Rest)
		}
		tr.Apply(executing("3"))
		tr.Apply(step("3", 50)) // a second node that takes its time
		if p := tr.Progress(); p.Fraction <= last || p.Fraction >= 1 {
			t.Errorf("then %v after %v", p.Fraction, last)
		}
	})
	t.Run("steps that come without word of their node tell that it runs", func(t *testing.T) {
		t.Parallel()
		tr := testTracker()
		tr.Apply(step("2", 50))
		if p := tr.Progress(); p.Stage != "Sample" || p.Fraction < 0.4 {
			t.Errorf("%+v", p)
		}
	})
	t.Run("nodes weigh what they usually take, and the rest is told", func(t *testing.T) {
		t.Parallel()
		clock := time.Unix(0, 0)
		tr := New("p", map[string]string{"1": "Load", "2": "Sample", "3": "Decode", "4": "Save"}, map[string]float64{"1": 30, "2": 16, "3": 4}, func() time.Time { return clock })
		near := func(what string, p registry.Progress, fraction float64, rest time.Duration) {
			t.Helper()
			if math.Abs(p.Fraction-fraction) > 0.02 || (p.Rest-rest).Abs() > time.Second/2 {
				t.Errorf("%s: %v, rest %s; expected %v and %s", what, p.Fraction, p.Rest, fraction, rest)
			}
		}
		tr.Apply(api.Event{Type: "execution_cached", PromptID: "p", Nodes: []string{"1"}})
		near("at the start", tr.Progress(), 0, 20*time.Second)
		tr.Apply(executing("2"))
		clock = clock.Add(8 * time.Second)
		near("without steps, by the clock", tr.Progress(), 0.4, 12*time.Second)
		tr.Apply(step("2", 80)) // quicker than ever
		near("by its steps", tr.Progress(), 0.64, 6*time.Second)
		clock = clock.Add(2 * time.Second)
		tr.Apply(executing("3"))
		near("at the next", tr.Progress(), 0.8, 4*time.Second)
		clock = clock.Add(time.Hour)
		near("overdue", tr.Progress(), 0.99, 0)
	})
	t.Run("what is cached counts as done", func(t *testing.T) {
		t.Parallel()
		tr := testTracker()
		tr.Apply(api.Event{Type: "execution_cached", PromptID: "p", Nodes: []string{"1", "2", "3", "4"}})
		check(t, tr, "", 1)
	})
}

func TestARunWithinOneMillisecondTookSomeTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		start, end string
		want       time.Duration
	}{{"1000", "1000", time.Millisecond}, {"1000", "1250", 250 * time.Millisecond}, {"1000", "900", 0}, {"0", "0", 0}} {
		var e api.HistoryEntry
		raw := `{"status": {"status_str": "success", "messages": [["execution_start", {"timestamp": ` + c.start + `}], ["execution_success", {"timestamp": ` + c.end + `}]]}}`
		if err := json.Unmarshal([]byte(raw), &e); err != nil {
			t.Fatal(err)
		}
		if got := e.Outcome().RunTime; got != c.want {
			t.Errorf("%s to %s: %s, want %s", c.start, c.end, got, c.want)
		}
	}
}

// FuzzTracker feeds events of any content: the fraction stays one.
func FuzzTracker(f *testing.F) {
	f.Add([]byte(`{"type":"progress_state","data":{"nodes":{"1":{"value":1,"max":2,"state":"running"}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, ok := api.DecodeText(data)
		if !ok {
			return
		}
		tr := testTracker()
		e.PromptID = "p"
		tr.Apply(e)
		if p := tr.Progress(); p.Fraction < 0 || p.Fraction > 1 {
			t.Errorf("fraction %v", p.Fraction)
		}
	})
}
