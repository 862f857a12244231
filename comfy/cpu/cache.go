package cpu

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// cached is the result of one node.
type cached struct {
	outputs [][]any // by output, then by element of the list
	ui      *pyval.Dict
}

// cache keeps the results of the last prompt, by signature: class, fingerprint, constants, and the signatures of all
// that is linked. Two nodes of equal signature share their result, in one prompt or from one prompt to the next.
type cache struct {
	results map[string]*cached
	keys    map[string]string // node id -> signature, for the prompt that runs
}

func newCache() *cache { return &cache{results: map[string]*cached{}} }

// prepare computes the signatures for a prompt and drops what it cannot use.
func (c *cache) prepare(e *Engine, prompt *pyval.Dict) {
	s := signer{e: e, prompt: prompt, keys: map[string]string{}, busy: map[string]bool{}}
	keep := map[string]*cached{}
	for _, id := range prompt.Keys() {
		key := s.sign(id, 0)
		if r, ok := c.results[key]; ok && e.stillThere(r.ui) {
			keep[key] = r
		}
	}
	c.results, c.keys = keep, s.keys
}

func (c *cache) get(id string) *cached { return c.results[c.keys[id]] }

func (c *cache) set(id string, r *cached) { c.results[c.keys[id]] = r }

type signer struct {
	e      *Engine
	prompt *pyval.Dict
	keys   map[string]string
	busy   map[string]bool // being signed: meeting one again is a cycle
}

func (s *signer) sign(id string, depth int) string {
	if key, ok := s.keys[id]; ok {
		return key
	}
	n := s.e.classes[classOf(s.prompt, id)]
	if n == nil || s.busy[id] || depth > maxChain {
		return "unknown " + id
	}
	s.busy[id] = true
	defer delete(s.busy, id)
	inputs := inputsOf(s.prompt, id)
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q", n.Spec.Class, s.fingerprint(n, inputs))
	for _, h := range n.Spec.Hidden {
		if h.Type == "UNIQUE_ID" {
			fmt.Fprintf(&b, " id %q", id)
		}
	}
	names := slices.Clone(inputs.Keys())
	slices.Sort(names)
	for _, name := range names {
		if l, ok := asLink(inputs.At(name)); ok {
			fmt.Fprintf(&b, " %q<-%s %d", name, s.sign(l.from, depth+1), l.slot)
		} else {
			fmt.Fprintf(&b, " %q=%s", name, pyval.Repr(inputs.At(name)))
		}
	}
	key := fmt.Sprintf("%x", sha256.Sum256([]byte(b.String())))
	s.keys[id] = key
	return key
}

// fingerprint asks the node; a failure means that its result cannot be used again.
func (s *signer) fingerprint(n *node.Node, inputs *pyval.Dict) (mark string) {
	if n.Fingerprint == nil {
		return ""
	}
	defer func() {
		if recover() != nil {
			mark = uuid.NewString()
		}
	}()
	values := map[string]any{}
	for _, in := range resolve(&n.Spec, inputs) {
		if v, ok := inputs.Get(in.name); ok {
			if _, isLink := asLink(v); !isLink {
				values[in.name] = v
			}
		}
	}
	mark, err := n.Fingerprint(node.NewCall(&n.Spec, s.e.files, values))
	if err != nil {
		return uuid.NewString()
	}
	return mark
}
