package comfy

import (
	"fmt"
	"time"

	"github.com/signalbox/signalbox/registry"
)

// tracker turns the events of one prompt into progress. The fraction is real: nodes that are done, plus
// the part of the running node that it reports, over all nodes of the prompt. It never falls.
type tracker struct {
	promptID string
	total    int               // nodes that will run
	titles   map[string]string // by node id
	now      func() time.Time

	done     map[string]bool
	current  string
	since    time.Time
	part     float64 // of the current node
	best     float64
	timings  map[string]time.Duration // by node id
	finished bool
}

func newTracker(promptID string, total int, titles map[string]string, now func() time.Time) *tracker {
	return &tracker{promptID: promptID, total: total, titles: titles, now: now, done: map[string]bool{}, timings: map[string]time.Duration{}}
}

// apply takes one event and reports whether there is news for people.
func (t *tracker) apply(e Event) (registry.Progress, bool) {
	if e.PromptID != "" && e.PromptID != t.promptID {
		return registry.Progress{}, false
	}
	switch e.Type {
	case "execution_start":
	case "execution_cached":
		for _, id := range e.Nodes {
			t.done[id] = true
		}
	case "executing":
		t.leave()
		if e.Node == "" {
			t.finished = true
			return registry.Progress{}, false
		}
		t.enter(e.Node)
	case "progress":
		if e.Max > 0 {
			t.part = e.Value / e.Max
		}
	case "progress_state":
		t.applyStates(e.States)
	case "executed":
		t.done[e.Node] = true
	case "execution_error", "execution_interrupted", "execution_success":
		t.leave()
		t.finished = true
		return registry.Progress{}, false
	case "preview":
		p := t.progress()
		p.Preview = e.Image
		return p, true
	default:
		return registry.Progress{}, false
	}
	return t.progress(), true
}

func (t *tracker) applyStates(states map[string]NodeState) {
	for id, s := range states {
		switch {
		case s.State == "finished":
			t.done[id] = true
		case s.State == "running" && id == t.current && s.Max > 0:
			t.part = s.Value / s.Max
		}
	}
}

func (t *tracker) enter(node string) {
	t.current, t.part, t.since = node, 0, t.now()
}

// leave closes the running node and keeps its time.
func (t *tracker) leave() {
	if t.current == "" {
		return
	}
	t.done[t.current] = true
	t.timings[t.current] += t.now().Sub(t.since)
	t.current, t.part = "", 0
}

func (t *tracker) progress() registry.Progress {
	p := registry.Progress{State: registry.RunRunning, Stage: t.stage()}
	if t.total > 0 {
		f := float64(len(t.done))
		if t.current != "" && !t.done[t.current] {
			f += min(t.part, 1)
		}
		t.best = max(t.best, min(f/float64(t.total), 1))
		p.Fraction, p.HasFraction = t.best, true
	}
	return p
}

func (t *tracker) stage() string {
	if t.current == "" {
		return ""
	}
	if title := t.titles[t.current]; title != "" {
		return title
	}
	return fmt.Sprintf("node %s", t.current)
}
