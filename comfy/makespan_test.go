package comfy

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/comfy/placement"
	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/registry"
)

// The simulated house: jobs of tools with models, and engines of three kinds. Times are seconds.
const (
	simEngines = 50
	simSets    = 12 // of models; the last three are on fast engines only
	simTools   = 24
	simLoad    = 20.0
	gigabyte   = 1 << 30
)

type simJob struct {
	id      string
	number  int // in the order of the queue
	tool    int
	seconds float64 // on an engine of speed 1
}

func (j simJob) set() int { return j.tool % simSets }

type simEngine struct {
	*Engine
	speed  float64
	sets   int   // it has the first ones of all sets
	room   int   // how many sets fit into its memory
	loaded []int // latest first
	queue  []simJob
	ends   float64
}

// simulation is a fleet whose engines are imitated down to what they say of themselves, on a clock of its own.
type simulation struct {
	t       *testing.T
	fleet   *Fleet
	engines []*simEngine
	jobs    []placement.Job    // by tool
	queue   [simTools][]simJob // each tool's, in order
	now     float64
	loads   int
	pending simEvents
}

type simEvents []*simEngine

func (h simEvents) Len() int           { return len(h) }
func (h simEvents) Less(i, j int) bool { return h[i].ends < h[j].ends }
func (h simEvents) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *simEvents) Push(x any)        { *h = append(*h, x.(*simEngine)) }
func (h *simEvents) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// RoundTrip answers for the length of an engine's queue, which is all that placing asks.
func (s *simulation) RoundTrip(r *http.Request) (*http.Response, error) {
	var i int
	if _, err := fmt.Sscanf(r.URL.Host, "engine%d", &i); err != nil || r.URL.Path != "/prompt" {
		return nil, fmt.Errorf("nobody answers %s", r.URL)
	}
	text := fmt.Sprintf(`{"exec_info": {"queue_remaining": %d}}`, len(s.engines[i].queue))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

func newSimulation(t *testing.T, queue []simJob) *simulation {
	s := &simulation{t: t}
	for _, j := range queue {
		s.queue[j.tool] = append(s.queue[j.tool], j)
	}
	var urls []*url.URL
	for i := range simEngines {
		urls = append(urls, &url.URL{Scheme: "http", Host: fmt.Sprintf("engine%d", i)})
	}
	s.fleet = NewFleet(urls, FleetConfig{
		HTTPClient: &http.Client{Transport: s},
		Now:        func() time.Time { return time.Unix(0, int64(s.now*1e9)) },
		Waiting:    s.waiting,
	})
	for i, e := range s.fleet.engines {
		sim := &simEngine{Engine: e, speed: 1, sets: simSets - 3, room: 1}
		switch {
		case i%5 == 0:
			sim.speed, sim.sets, sim.room = 2, simSets, 2
		case i%5 == 1:
			sim.speed, sim.sets = 1.5, simSets
		case i%5 == 2:
			sim.speed = 0.7
		}
		e.known = knowledge{info: simInfo(t, sim.sets), checked: s.fleet.cfg.Now()}
		s.engines = append(s.engines, sim)
	}
	for tool := range simTools {
		s.jobs = append(s.jobs, placement.JobOf(fmt.Sprint("tool", tool), "", workflow.Requirements{Classes: []string{"Load"}, Models: []workflow.Model{{Folder: "checkpoints", Name: simModel(tool % simSets)}}}))
	}
	return s
}

func simModel(set int) string { return fmt.Sprintf("model%02d.safetensors", set) }

func simInfo(t *testing.T, sets int) *objectinfo.Info {
	var names []string
	for set := range sets {
		names = append(names, fmt.Sprintf("%q", simModel(set)))
	}
	info, err := objectinfo.Parse([]byte(`{"Load": {"input": {"required": {"ckpt_name": [[` + strings.Join(names, ",") + `]]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// waiting counts the queue, as the house does for the fleet.
func (s *simulation) waiting(ctx context.Context) (map[string]int, error) {
	counts := make(map[string]int)
	for tool, jobs := range s.queue {
		counts[s.jobs[tool].Tool] = len(jobs)
	}
	return counts, nil
}

// chooser places a job; nil where it has to wait.
type chooser func(j simJob) *simEngine

// placed is placement as it is.
func (s *simulation) placed(j simJob) *simEngine {
	at, err := s.fleet.reserve(s.t.Context(), s.jobs[j.tool], j.id, nil)
	if errors.Is(err, registry.ErrNoPlace) {
		return nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	at.end(true)
	return s.engines[slices.Index(s.fleet.engines, at.engine)]
}

func (s *simulation) able(j simJob) []*simEngine {
	return slices.DeleteFunc(slices.Clone(s.engines), func(e *simEngine) bool { return j.set() >= e.sets || len(e.queue) >= ahead })
}

// leastQueue is what most people write.
func (s *simulation) leastQueue(j simJob) *simEngine {
	able := s.able(j)
	if len(able) == 0 {
		return nil
	}
	return slices.MinFunc(able, func(a, b *simEngine) int { return len(a.queue) - len(b.queue) })
}

func (s *simulation) roundRobin() chooser {
	last := -1
	return func(j simJob) *simEngine {
		for i := range s.engines {
			at := (last + 1 + i) % len(s.engines)
			if e := s.engines[at]; j.set() < e.sets && len(e.queue) < ahead {
				last = at
				return e
			}
		}
		return nil
	}
}

// run gives the makespan. Each process asks for room before it takes a job of a tool for which there was none, as runs do.
func (s *simulation) run(choose chooser, room func(tool int) bool) float64 {
	full := make(map[int]bool)
	probed := 0.0
	for {
		for tool := range full {
			if room(tool) {
				delete(full, tool)
			}
		}
		for tool := s.first(full); tool >= 0; tool = s.first(full) {
			j := s.queue[tool][0]
			e := choose(j)
			if e == nil {
				full[tool] = true
				continue
			}
			s.queue[tool] = s.queue[tool][1:]
			s.send(e, j)
		}
		switch {
		case len(s.pending) == 0 && s.first(nil) < 0:
			return s.now
		case len(s.pending) == 0 && s.now-probed > 600:
			s.t.Fatal("jobs wait for ever")
		case len(s.pending) == 0 || s.pending[0].ends > s.now+1:
			s.now++ // the house looks at its queue again each second
		default:
			s.end(heap.Pop(&s.pending).(*simEngine))
		}
		s.fleet.countWaiting(s.t.Context())
		if s.now-probed >= 10 {
			probed = s.now
			s.probe()
		}
	}
}

// first is the tool of the job that has waited longest, but for those of some tools; -1 where none waits.
func (s *simulation) first(full map[int]bool) int {
	first := -1
	for tool, jobs := range s.queue {
		if len(jobs) > 0 && !full[tool] && (first < 0 || jobs[0].number < s.queue[first][0].number) {
			first = tool
		}
	}
	return first
}

func (s *simulation) send(e *simEngine, j simJob) {
	if e.queue = append(e.queue, j); len(e.queue) == 1 {
		s.start(e)
	}
}

func (s *simulation) start(e *simEngine) {
	j := e.queue[0]
	e.ends = s.now + j.seconds/e.speed
	at := slices.Index(e.loaded, j.set())
	if at < 0 {
		s.loads++
		e.ends += simLoad
	} else {
		e.loaded = slices.Delete(e.loaded, at, at+1)
	}
	e.loaded = append([]int{j.set()}, e.loaded...)
	e.loaded = e.loaded[:min(len(e.loaded), e.room)]
	heap.Push(&s.pending, e)
}

func (s *simulation) end(e *simEngine) {
	s.now = max(s.now, e.ends)
	j := e.queue[0]
	e.queue = e.queue[1:]
	s.fleet.ended(e.Engine, j.id)
	s.fleet.took(e.Engine, s.jobs[j.tool].Tool, time.Duration(j.seconds/e.speed*1e9), false)
	if len(e.queue) > 0 {
		s.start(e)
	}
}

// probe has the engines tell their memory: half of a large card is taken by one set, most of a small one.
func (s *simulation) probe() {
	for _, e := range s.engines {
		m := api.Memory{Total: 24 * gigabyte, Free: 24 * gigabyte}
		if e.room > 1 {
			m.Total, m.Free = 48*gigabyte, 48*gigabyte
		}
		m.Torch = int64(len(e.loaded)) * 18 * gigabyte
		m.Free -= m.Torch
		e.mu.Lock()
		e.known.stats.Memory = m
		e.checkMemory(e.known.stats, len(e.ours) > 0)
		e.mu.Unlock()
	}
}

func simJobs(n int, seed uint64) []simJob {
	rnd := rand.New(rand.NewPCG(seed, seed))
	var weight []float64
	var sum float64
	for tool := range simTools {
		sum += 1 / float64(1+tool%simSets)
		weight = append(weight, sum)
	}
	jobs := make([]simJob, n)
	for i := range jobs {
		at := rnd.Float64() * sum
		tool := slices.IndexFunc(weight, func(w float64) bool { return at < w })
		jobs[i] = simJob{id: fmt.Sprint("job", i), number: i, tool: tool, seconds: (4 + float64(tool*7%17)) * (0.8 + 0.4*rnd.Float64())}
	}
	return jobs
}

// lowerBound is the time that the work takes where nothing is ever loaded or stands idle: of all jobs at all engines, or of those
// that only some engines can do at those.
func (s *simulation) lowerBound() float64 {
	bound := 0.0
	for _, from := range []int{0, simSets - 3} {
		var work, speed float64
		for _, jobs := range s.queue {
			for _, j := range jobs {
				if j.set() >= from {
					work += j.seconds
				}
			}
		}
		for _, e := range s.engines {
			if from < e.sets {
				speed += e.speed
			}
		}
		bound = math.Max(bound, work/speed)
	}
	return bound
}

func TestMakespanOfAFleet(t *testing.T) {
	t.Parallel()
	jobs := simJobs(5000, 1)
	bound := newSimulation(t, jobs).lowerBound()
	ours := newSimulation(t, jobs)
	span := ours.run(ours.placed, func(tool int) bool { return ours.fleet.hasPlaceFor(ours.jobs[tool]) })
	always := func(int) bool { return true }
	robin := newSimulation(t, jobs)
	turns := robin.run(robin.roundRobin(), always)
	least := newSimulation(t, jobs)
	shortest := least.run(least.leastQueue, always)
	t.Logf("makespan of %d jobs on %d engines: %.0f s, lower bound %.0f s (%.3f times), %d loads", len(jobs), simEngines, span, bound, span/bound, ours.loads)
	t.Logf("round robin %.0f s with %d loads (ours takes %.3f of it), least queue %.0f s with %d loads (%.3f)", turns, robin.loads, span/turns, shortest, least.loads, span/shortest)
	if span > 1.15*bound {
		t.Errorf("%.3f times the lower bound", span/bound)
	}
	if span > 0.8*turns || span > 0.8*shortest {
		t.Errorf("%.3f of round robin, %.3f of least queue", span/turns, span/shortest)
	}
}

func TestWaitingForLoadedModels(t *testing.T) {
	t.Parallel()
	s := newSimulation(t, nil)
	next := 0
	place := func() *simEngine {
		next++
		e := s.placed(simJob{id: fmt.Sprint("job", next)})
		if e != nil {
			e.queue = append(e.queue, simJob{})
		}
		return e
	}
	first, second := place(), place()
	if first == second {
		t.Fatal("the second run waits for the first one, with 49 engines idle")
	}
	s.now = 25 // of the 20 that loading takes and the 10 of a run
	if third, fourth := place(), place(); third == fourth || third != first && third != second || fourth != first && fourth != second {
		t.Error("runs do not go where their models are loaded")
	}
	if e := place(); e != nil {
		t.Error("models are loaded, which takes longer than an engine that has them")
	}
	if s.fleet.hasPlaceFor(s.jobs[0]) {
		t.Error("the run that waits is offered a place, and refused it, again and again")
	}
	s.now += patience.Seconds()
	if e := place(); e == nil || e == first || e == second {
		t.Error("a run waits for ever for engines that are late")
	}
}
