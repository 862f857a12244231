package cpu

import (
	"slices"

	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// graph orders the nodes of one run: a node is ready when all it takes from is done.
type graph struct {
	e      *Engine
	prompt *pyval.Dict
	isDone func(id string) bool

	pending  []string            // in the order in which they were found
	known    map[string]bool     // pending or done in this run
	waits    map[string]int      // how many nodes this one waits for
	blocking map[string][]string // who waits for this one
}

func newGraph(e *Engine, prompt *pyval.Dict, isDone func(id string) bool) *graph {
	return &graph{e: e, prompt: prompt, isDone: isDone, known: map[string]bool{}, waits: map[string]int{}, blocking: map[string][]string{}}
}

// add takes in a node and everything it needs that is not done yet. Lazy inputs wait until they are asked for. The
// error names a link that leads nowhere.
func (g *graph) add(id string) error {
	stack := []string{id}
	type edge struct{ from, to string }
	var edges []edge
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if g.known[id] {
			continue
		}
		if _, ok := g.prompt.Get(id); !ok {
			return &pyval.Error{Type: "comfy_execution.graph.NodeNotFoundError", Message: "Node " + id + " not found"}
		}
		g.known[id] = true
		g.pending = append(g.pending, id)
		lazy := g.lazyInputs(id)
		inputs := inputsOf(g.prompt, id)
		for _, name := range inputs.Keys() {
			l, ok := asLink(inputs.At(name))
			if !ok || lazy[name] {
				continue
			}
			if !g.isDone(l.from) {
				stack = append(stack, l.from)
			}
			edges = append(edges, edge{l.from, id})
		}
	}
	for _, e := range edges {
		g.connect(e.from, e.to)
	}
	return nil
}

func (g *graph) lazyInputs(id string) map[string]bool {
	n := g.e.classes[classOf(g.prompt, id)]
	lazy := map[string]bool{}
	for _, in := range resolve(&n.Spec, inputsOf(g.prompt, id)) {
		if in.IsLazy() {
			lazy[in.name] = true
		}
	}
	return lazy
}

func (g *graph) connect(from, to string) {
	if g.isDone(from) || slices.Contains(g.blocking[from], to) {
		return
	}
	g.blocking[from] = append(g.blocking[from], to)
	g.waits[to]++
}

// need makes a node wait for a lazy input.
func (g *graph) need(id, input string) error {
	l, ok := asLink(inputsOf(g.prompt, id).At(input))
	if !ok || g.isDone(l.from) {
		return nil
	}
	if err := g.add(l.from); err != nil {
		return err
	}
	g.connect(l.from, id)
	return nil
}

// next gives a ready node; ok is false when none is ready, which means a cycle while some are pending. Output nodes go
// first, then what leads straight to them, so that a person sees results early.
func (g *graph) next() (id string, ok bool) {
	best := 4
	for _, candidate := range g.pending {
		if g.waits[candidate] > 0 {
			continue
		}
		if rank := g.rank(candidate); rank < best {
			id, ok, best = candidate, true, rank
		}
		if best == 0 {
			break
		}
	}
	return id, ok
}

func (g *graph) rank(id string) int {
	if g.isOutput(id) {
		return 0
	}
	rank := 3
	for _, next := range g.blocking[id] {
		if g.isOutput(next) {
			return 1
		}
		if slices.ContainsFunc(g.blocking[next], g.isOutput) {
			rank = 2
		}
	}
	return rank
}

func (g *graph) isOutput(id string) bool {
	return g.e.classes[classOf(g.prompt, id)].Spec.OutputNode
}

// finish takes a node off the list.
func (g *graph) finish(id string) {
	if i := slices.Index(g.pending, id); i >= 0 {
		g.pending = slices.Delete(g.pending, i, i+1)
	}
	for _, next := range g.blocking[id] {
		g.waits[next]--
	}
	delete(g.blocking, id)
}
