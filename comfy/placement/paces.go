package placement

import (
	"cmp"
	"sync"
)

// What is taken for true until runs have shown it.
const (
	UsualRun  = 10.0 // seconds
	usualLoad = 20.0 // seconds, of loading a workflow's models
)

const (
	maxTools = 1000 // whose runs are remembered
	recent   = 0.2  // how much the latest run counts
)

// Paces are how long runs take, as far as they have shown it. They are safe for concurrent use; the zero value works.
type Paces struct {
	mu    sync.Mutex
	tools map[string]float64 // seconds of a run on an average engine, by tool
	load  float64            // seconds of loading models; zero: not known
}

// Took takes a run at an engine with this pace, and gives the pace after it.
func (p *Paces) Took(tool string, seconds, pace float64, loaded bool) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, known := p.tools[tool]
	if loaded {
		if known {
			p.load = nearer(p.load, max(1, seconds-before*pace))
		}
		return pace
	}
	if p.tools == nil || !known && len(p.tools) >= maxTools {
		p.tools = make(map[string]float64)
	}
	p.tools[tool] = nearer(before, seconds/pace)
	if !known {
		return pace
	}
	return min(max(nearer(pace, seconds/before), 0.05), 20)
}

// nearer moves what is known towards what was seen.
func nearer(before, seen float64) float64 {
	if before == 0 {
		return seen
	}
	return before + recent*(seen-before)
}

// Seconds are how many a run of a tool takes on an average engine.
func (p *Paces) Seconds(tool string) float64 {
	p.mu.Lock()
	seconds, known := p.tools[tool]
	p.mu.Unlock()
	if known {
		return seconds
	}
	return p.Average()
}

// Average is that of all tools.
func (p *Paces) Average() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.tools) == 0 {
		return UsualRun
	}
	var all float64
	for _, seconds := range p.tools {
		all += seconds
	}
	return all / float64(len(p.tools))
}

// Loading is how many seconds loading models takes.
func (p *Paces) Loading() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return cmp.Or(p.load, usualLoad)
}
