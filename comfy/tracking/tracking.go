// Package tracking turns the events of one prompt into progress.
package tracking

import (
	"time"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/registry"
)

// Verdict is what one event means for anyone who watches a prompt.
type Verdict int

// The verdicts.
const (
	Nothing   Verdict = iota
	News              // there is progress to show
	MaybeOver         // the prompt may be over: ask the server
)

// Tracker turns the events of one prompt into progress. The fraction is real: nodes that are done, plus the part of
// the running node, over all nodes that the engine has to work on, each with the weight of the time that it usually takes.
// Where no run has shown that, they weigh the same, but for one that reports steps, which is where the time goes. The
// fraction never falls, in whatever order events come.
type Tracker struct {
	promptID string
	titles   map[string]string // by node id, all nodes of the prompt
	now      func() time.Time

	done    map[string]bool
	waiting map[string]bool // left while it was running: a node that waits for lazy inputs
	current string
	since   time.Time
	part    float64                  // of the current node, 0..1, as it reports
	best    float64                  // fraction reported so far
	timings map[string]time.Duration // by node id

	usual  map[string]float64 // seconds by node id, from earlier runs; nil where there were none
	steps  map[string]bool    // nodes that report steps, of whose time nothing is known
	cached map[string]bool    // nodes that the engine need not work on

	// When a node turns out to weigh more, the fraction goes on from where it was: base was shown at rawBase.
	base, rawBase float64
}

// New makes the tracker of a prompt. titles are what people see of its nodes, and usual what these take, in seconds, in earlier runs; nil where there were
// none. Both are by node id.
func New(promptID string, titles map[string]string, usual map[string]float64, now func() time.Time) *Tracker {
	return &Tracker{promptID: promptID, titles: titles, usual: usual, now: now, done: map[string]bool{}, waiting: map[string]bool{}, timings: map[string]time.Duration{}, steps: map[string]bool{}, cached: map[string]bool{}}
}

// Apply takes one event. Events of other prompts change nothing.
func (t *Tracker) Apply(e api.Event) Verdict {
	if e.PromptID != "" && e.PromptID != t.promptID {
		return Nothing
	}
	switch e.Type {
	case "execution_start", "preview":
	case "execution_cached":
		for _, id := range e.Nodes {
			if !t.done[id] {
				t.cached[id] = true
			}
			t.finish(id)
		}
	case "executing":
		if e.Node == t.current && e.Node != "" {
			return Nothing // repeated, as after a reconnection
		}
		t.leave()
		if e.Node == "" {
			return MaybeOver
		}
		t.enter(e.Node)
	case "progress":
		t.setPart(e.Node, e.Value, e.Max)
	case "progress_state":
		t.applyStates(e.States)
	case "executed":
		t.finish(e.Node)
	case "execution_success", "execution_interrupted":
		t.leave()
		return MaybeOver
	case "execution_error":
		return MaybeOver // or a blocked branch only, while the run goes on
	default:
		return Nothing
	}
	return News
}

func (t *Tracker) applyStates(states map[string]api.NodeState) {
	for id, s := range states {
		delete(t.waiting, id)
		if s.State == "finished" {
			t.finish(id)
		}
	}
	for id, s := range states { // what is done counts before the steps of what runs are weighed against it
		if s.State == "running" {
			t.waiting[id] = true
			t.setPart(id, s.Value, s.Max)
		}
	}
}

func (t *Tracker) enter(node string) { t.current, t.part, t.since = node, 0, t.now() }

// setPart takes a report of steps. It also tells which node runs, where the event that said so was missed.
func (t *Tracker) setPart(node string, value, limit float64) {
	if _, ours := t.titles[node]; t.current == "" && ours && !t.done[node] {
		t.enter(node)
	}
	if node != t.current || limit <= 0 {
		return
	}
	if limit > 1 && t.usual[node] == 0 && !t.steps[node] {
		t.steps[node] = true
		t.base, t.rawBase = 0, 0
		if raw := t.raw(); raw < t.best {
			t.base, t.rawBase = t.best, raw
		}
	}
	t.part = min(max(value/limit, 0), 1)
}

// finish counts a node of the prompt. Nodes that others expand into at run time are not among them.
func (t *Tracker) finish(node string) {
	if _, ours := t.titles[node]; ours {
		t.done[node] = true
	}
}

// leave closes the running node and keeps its time. A server that has not called it finished comes back to it.
func (t *Tracker) leave() {
	if t.current == "" {
		return
	}
	if !t.waiting[t.current] {
		t.finish(t.current)
	}
	t.timings[t.current] += t.now().Sub(t.since)
	t.current, t.part = "", 0
}

// Progress is how far the prompt is.
func (t *Tracker) Progress() registry.Progress {
	p := registry.Progress{State: registry.RunRunning, Stage: t.titles[t.current], Rest: t.rest()}
	if len(t.titles) == 0 {
		return p
	}
	t.best = max(t.best, t.fraction())
	p.Fraction, p.HasFraction = t.best, true
	return p
}

// Timings tell how long nodes have run, by their ids.
func (t *Tracker) Timings() map[string]time.Duration { return t.timings }

func (t *Tracker) fraction() float64 {
	if t.rawBase >= 1 {
		return t.base
	}
	return min(max(t.base+(1-t.base)*(t.raw()-t.rawBase)/(1-t.rawBase), 0), 1)
}

// stepWeight is how much more a node that reports steps weighs than all others together, where nothing is known.
const stepWeight = 9

// briefly is the weight, in seconds, of a node that earlier runs had no time for: it was cached, or too quick.
const briefly = 0.05

func (t *Tracker) weight(node string) float64 {
	switch {
	case t.usual != nil:
		return max(t.usual[node], briefly)
	case t.steps[node]:
		return stepWeight * float64(len(t.titles))
	}
	return 1
}

// raw is the part of the work that is done.
func (t *Tracker) raw() float64 {
	var all, done float64
	for id := range t.titles {
		w := t.weight(id)
		switch {
		case t.cached[id]:
			continue
		case t.done[id]:
			done += w
		case id == t.current:
			done += w * t.currentPart()
		}
		all += w
	}
	if all == 0 {
		return 1
	}
	return done / all
}

// currentPart is what the running node reports, or else the part of its usual time that has passed.
func (t *Tracker) currentPart() float64 {
	if usual := t.usual[t.current]; t.part == 0 && usual > 0 {
		return min(t.now().Sub(t.since).Seconds()/usual, 0.95)
	}
	return t.part
}

// rest is how long the rest usually takes, zero where that is not known.
func (t *Tracker) rest() time.Duration {
	if t.usual == nil {
		return 0
	}
	var seconds float64
	for id := range t.titles {
		if !t.done[id] && id != t.current {
			seconds += t.usual[id]
		}
	}
	if _, ours := t.titles[t.current]; ours && !t.done[t.current] {
		elapsed := t.now().Sub(t.since).Seconds()
		left := max(t.usual[t.current]-elapsed, 0)
		if t.part >= 0.1 { // by now it tells better than its history
			left = elapsed * (1 - t.part) / t.part
		}
		seconds += left
	}
	return time.Duration(seconds * float64(time.Second))
}
