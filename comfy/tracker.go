package comfy

import (
	"time"

	"github.com/signalbox/signalbox/registry"
)

// verdict is what one event means for whoever watches a prompt.
type verdict int

const (
	nothing   verdict = iota
	news              // there is progress to show
	maybeOver         // the prompt may be over: ask the server
)

// tracker turns the events of one prompt into progress. The fraction is real: nodes that are done, plus
// the part of the running node that it reports, over all nodes of the prompt. It never falls, in whatever order
// events come.
type tracker struct {
	promptID string
	titles   map[string]string // by node id, all nodes of the prompt
	now      func() time.Time

	done    map[string]bool
	waiting map[string]bool // left while it was running: a node that waits for lazy inputs
	current string
	since   time.Time
	part    float64                  // of the current node, 0..1
	best    float64                  // fraction reported so far
	timings map[string]time.Duration // by node id
}

func newTracker(promptID string, titles map[string]string, now func() time.Time) *tracker {
	return &tracker{promptID: promptID, titles: titles, now: now, done: map[string]bool{}, waiting: map[string]bool{}, timings: map[string]time.Duration{}}
}

// apply takes one event. Events of other prompts change nothing.
func (t *tracker) apply(e Event) verdict {
	if e.PromptID != "" && e.PromptID != t.promptID {
		return nothing
	}
	switch e.Type {
	case "execution_start", "preview":
	case "execution_cached":
		for _, id := range e.Nodes {
			t.finish(id)
		}
	case "executing":
		if e.Node == t.current && e.Node != "" {
			return nothing // repeated, as after a reconnection
		}
		t.leave()
		if e.Node == "" {
			return maybeOver
		}
		t.current, t.part, t.since = e.Node, 0, t.now()
	case "progress":
		t.setPart(e.Node, e.Value, e.Max)
	case "progress_state":
		t.applyStates(e.States)
	case "executed":
		t.finish(e.Node)
	case "execution_success", "execution_interrupted":
		t.leave()
		return maybeOver
	case "execution_error":
		return maybeOver // or a blocked branch only, while the run goes on
	default:
		return nothing
	}
	return news
}

func (t *tracker) applyStates(states map[string]NodeState) {
	for id, s := range states {
		delete(t.waiting, id)
		switch s.State {
		case "finished":
			t.finish(id)
		case "running":
			t.waiting[id] = true
			t.setPart(id, s.Value, s.Max)
		}
	}
}

func (t *tracker) setPart(node string, value, limit float64) {
	if node == t.current && limit > 0 {
		t.part = min(max(value/limit, 0), 1)
	}
}

// finish counts a node of the prompt. Nodes that others expand into at run time are not among them.
func (t *tracker) finish(node string) {
	if _, ours := t.titles[node]; ours {
		t.done[node] = true
	}
}

// leave closes the running node and keeps its time. A server that has not called it finished comes back to it.
func (t *tracker) leave() {
	if t.current == "" {
		return
	}
	if !t.waiting[t.current] {
		t.finish(t.current)
	}
	t.timings[t.current] += t.now().Sub(t.since)
	t.current, t.part = "", 0
}

func (t *tracker) progress() registry.Progress {
	p := registry.Progress{State: registry.RunRunning, Stage: t.titles[t.current]}
	if len(t.titles) == 0 {
		return p
	}
	f := float64(len(t.done))
	if _, ours := t.titles[t.current]; ours && !t.done[t.current] {
		f += t.part
	}
	t.best = max(t.best, min(f/float64(len(t.titles)), 1))
	p.Fraction, p.HasFraction = t.best, true
	return p
}
