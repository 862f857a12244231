package comfy

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/placement"
	"github.com/signalbox/signalbox/registry"
)

const (
	// patience bounds how long runs wait for an engine that has their models loaded while another has a place: three times as long as loading takes, and
	// at most so long.
	patience = time.Minute
	// cheaperWithin is how much later a cheaper engine may be done.
	cheaperWithin = 1.1
	unloaded      = 256 << 20 // bytes: a server that has taken less has no model in memory
)

// place is an engine's place that is kept for a prompt.
type place struct {
	engine *Engine
	loads  bool                // the engine has to load models for it
	end    func(accepted bool) // says whether the engine took the prompt
}

// held is a prompt that an engine has, or is about to get.
type held struct {
	taken   bool
	since   time.Time
	seconds float64 // that it should take
}

// offer is what an engine with a place could do for a prompt.
type offer struct {
	*Engine
	load   float64 // seconds of loading models
	finish float64 // seconds until the prompt would be done
	price  float64 // US dollars
}

// reserve picks the engine for a prompt and counts the prompt there, so that a burst spreads over the fleet. The engine is up, has everything
// and a place, and is the one that would be done first: what it has already, loading models and the run itself are counted, by what runs took so
// far. Those that refused the prompt are not asked again. Where there is no place, or waiting for an engine with the models loaded is better, it is
// registry.ErrNoPlace.
func (f *Fleet) reserve(ctx context.Context, j placement.Job, promptID string, refused map[*Engine]error) (place, error) {
	able, err := f.able(j, refused)
	if errors.Is(err, errLacking) {
		f.askAgain(ctx)
		able, err = f.able(j, refused)
	}
	if err != nil {
		return place{}, f.orWake(j, err)
	}
	open := f.open(able)
	foreign := make(map[*Engine]int, len(open))
	if len(open) > 1 {
		taken := make([]int, len(open))
		for i, e := range open {
			taken[i] = len(e.taken())
		}
		for i, n := range queueLengths(ctx, open) {
			foreign[open[i]] = max(0, n-taken[i])
		}
	}
	f.placing.Lock()
	defer f.placing.Unlock()
	best, ok := f.choose(j, able, foreign)
	if !ok {
		f.waits.Refused(j, f.cfg.Now())
		return place{}, registry.ErrNoPlace
	}
	f.waits.Placed(j)
	return best.begin(j, promptID, f.cfg.Now(), f.paces.Seconds(j.Tool)*best.tempo()+best.load), nil
}

// hasPlaceFor tells whether reserve would find a place, from memory.
func (f *Fleet) hasPlaceFor(j placement.Job) bool {
	able, err := f.able(j, nil)
	if err != nil {
		return true // which reserve tells
	}
	f.placing.Lock()
	defer f.placing.Unlock()
	_, ok := f.choose(j, able, nil)
	return ok
}

// isKept tells whether the engines that could run a job are there for others.
func (f *Fleet) isKept(j placement.Job) bool {
	_, err := f.able(j, nil)
	return errors.Is(err, errKept)
}

// choose picks among engines that can do a job. foreign is how many prompts of others they have.
func (f *Fleet) choose(j placement.Job, able []*Engine, foreign map[*Engine]int) (offer, bool) {
	offers := f.offers(j, able, foreign)
	if len(offers) == 0 {
		return offer{}, false
	}
	best := bestOf(offers)
	if best.load == 0 || best.endpoint != nil || f.cfg.Waiting == nil || f.waits.Since(j, f.cfg.Now()) >= min(patience, seconds(3*f.paces.Loading())) {
		return best, true
	}
	return f.bestForAll(j, offers)
}

// bestForAll picks among offers so that what waits is done soonest: by an engine that has the models loaded, unless it is worth it that another one loads them.
func (f *Fleet) bestForAll(j placement.Job, offers []offer) (offer, bool) {
	demandFor := f.demands(j)
	wanted := demandFor(j.Set)
	var warm []offer
	var loading offer
	least := wanted.wait()
	for _, o := range offers {
		if o.load == 0 {
			warm = append(warm, o)
		} else if after := o.waitAfter(wanted, demandFor); after < least {
			loading, least = o, after
		}
	}
	switch {
	case loading.Engine != nil:
		return loading, true
	case len(warm) > 0:
		return bestOf(warm), true
	}
	return offer{}, false
}

// open lists the servers with a place; endpoints only where no server has one.
func (f *Fleet) open(able []*Engine) []*Engine {
	var servers, endpoints []*Engine
	for _, e := range able {
		switch {
		case !f.hasPlace(e):
		case e.endpoint != nil:
			endpoints = append(endpoints, e)
		default:
			servers = append(servers, e)
		}
	}
	if len(servers) > 0 {
		return servers
	}
	return endpoints
}

func (f *Fleet) offers(j placement.Job, able []*Engine, foreign map[*Engine]int) []offer {
	var offers []offer
	now, run, usual := f.cfg.Now(), f.paces.Seconds(j.Tool), f.paces.Average()
	for _, e := range f.open(able) {
		o := offer{Engine: e}
		if e.endpoint != nil {
			o.finish = float64(foreign[e])
			offers = append(offers, o)
			continue
		}
		o.load = f.loading(e, j)
		tempo := e.tempo()
		o.finish = e.backlog(now) + float64(foreign[e])*usual*tempo + o.load + run*tempo
		if f.cfg.Rate != nil {
			o.price = (o.load + run*tempo) * f.cfg.Rate(e.machine())
		}
		offers = append(offers, o)
	}
	return offers
}

// bestOf is the offer that is done first, or a cheaper one that is done soon after.
func bestOf(offers []offer) offer {
	first := slices.MinFunc(offers, func(a, b offer) int { return cmp.Compare(a.finish, b.finish) })
	near := slices.DeleteFunc(slices.Clone(offers), func(o offer) bool { return o.finish > first.finish*cheaperWithin })
	if cheapest := slices.MinFunc(near, func(a, b offer) int { return cmp.Compare(a.price, b.price) }); cheapest.price < first.price {
		return cheapest
	}
	return first
}

// demand is what waits in the house's queue for a set of models.
type demand struct {
	work  float64 // seconds on an average engine
	power float64 // of the engines that have the models loaded, in average engines
	soon  float64 // seconds until one of them is free; infinite where there is none
}

// wait is how many seconds it takes until all of it is done.
func (d demand) wait() float64 {
	if d.work == 0 {
		return d.soon
	}
	return d.soon + d.work/d.power
}

// waitAfter is how long the wait would be if the engine loaded the wanted models, for them or for those that it drives out, whichever is longer.
func (o offer) waitAfter(wanted demand, demandFor func(set string) demand) float64 {
	power := 1 / o.tempo()
	after := max(o.load, (wanted.work+power*o.load)/(wanted.power+power)) // the others work while it loads
	if own := demandFor(o.evicts()); own.work > 0 {
		rest := own.power - power
		if rest < power/1000 {
			return math.Inf(1) // its models are waited for and nobody else has them
		}
		after = max(after, o.load+own.work/rest)
	}
	return after
}

// demands gives what waits by sets of models, each counted once, and the engines that take the job.
func (f *Fleet) demands(j placement.Job) func(set string) demand {
	known := make(map[string]demand)
	return func(set string) demand {
		d, ok := known[set]
		if !ok && set != "" {
			d = f.demandFor(set, j)
			known[set] = d
		}
		return d
	}
}

func (f *Fleet) demandFor(set string, j placement.Job) demand {
	d := demand{work: f.waits.Work(set, f.paces.Seconds), soon: math.Inf(1)}
	for _, e := range f.engines {
		if e.endpoint == nil && e.tags.Serves(j.Tool, j.Group) && e.hasLoaded(set) && e.knowledge().up() && e.ordered() == OrderNone {
			d.power += 1 / e.tempo()
			d.soon = min(d.soon, e.backlog(f.cfg.Now()))
		}
	}
	return d
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// loading is how long an engine loads models for a job, in seconds.
func (f *Fleet) loading(e *Engine, j placement.Job) float64 {
	if j.Set == "" || e.hasLoaded(j.Set) {
		return 0
	}
	return f.paces.Loading()
}

// queueLengths asks the engines for their queues; one that does not answer in time counts as full.
func queueLengths(ctx context.Context, engines []*Engine) []int {
	ctx, cancel := context.WithTimeout(ctx, queueTimeout)
	defer cancel()
	lengths := make([]int, len(engines))
	var wg sync.WaitGroup
	for i, e := range engines {
		wg.Go(func() {
			var err error
			if lengths[i], err = e.queueLength(ctx); err != nil {
				lengths[i] = 1 << 20
			}
		})
	}
	wg.Wait()
	return lengths
}

// taken lists the prompts of this process that the engine has taken.
func (e *Engine) taken() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.takenLocked()
}

// takenLocked is taken for who holds the mutex.
func (e *Engine) takenLocked() (ids []string) {
	for id, h := range e.ours {
		if h.taken {
			ids = append(ids, id)
		}
	}
	return ids
}

// tempo is how long runs take here against the average.
func (e *Engine) tempo() float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return cmp.Or(e.pace, 1)
}

// backlog is how many seconds the prompts of this process that the engine has should still take.
func (e *Engine) backlog(now time.Time) float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all float64
	var first *held
	for _, h := range e.ours {
		all += h.seconds
		if first == nil || h.since.Before(first.since) {
			first = h
		}
	}
	if first == nil {
		return 0
	}
	began := first.since
	if e.turned.After(began) {
		began = e.turned
	}
	return all - min(first.seconds, max(0, now.Sub(began).Seconds()))
}

func (e *Engine) hasLoaded(set string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Contains(e.loaded, set)
}

// evicts names the set of models that loading another one drives out, empty where there is none or memory for both.
func (e *Engine) evicts() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.loaded) == 0 || roomy(e.known.stats.Memory) {
		return ""
	}
	return e.loaded[0]
}

// roomy tells whether there is memory for one more set of models.
func roomy(m api.Memory) bool { return m.Total > 0 && m.Free > m.Total/2 }

// checkMemory forgets models that the server has let go of.
func (e *Engine) checkMemory(stats api.SystemStats, busy bool) {
	if m := stats.Memory; m.Total > 0 && m.Torch < unloaded && !busy {
		e.loaded = nil
	}
}

// begin counts a prompt at an engine, and its models as loaded there.
func (e *Engine) begin(j placement.Job, promptID string, now time.Time, seconds float64) place {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ours[promptID] = &held{since: now, seconds: seconds}
	before := e.loaded
	loads := j.Set != "" && !slices.Contains(before, j.Set)
	if j.Set != "" { // a prompt without models leaves those in place that are loaded
		e.loaded = []string{j.Set}
		if roomy(e.known.stats.Memory) || !loads {
			e.loaded = append(e.loaded, slices.DeleteFunc(slices.Clone(before), func(set string) bool { return set == j.Set })...)
		}
	}
	if loads {
		e.known.stats.Memory.Free = 0 // until it is asked again
	}
	after := e.loaded
	return place{engine: e, loads: loads, end: func(accepted bool) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if accepted {
			e.has(promptID)
			return
		}
		e.drop(promptID)
		if slices.Equal(e.loaded, after) { // whatever another prompt has loaded since, stays
			e.loaded = before
		}
	}}
}

// has counts a prompt that the engine took. The caller holds the mutex.
func (e *Engine) has(promptID string) {
	if e.ours[promptID] == nil {
		e.ours[promptID] = &held{seconds: placement.UsualRun}
	}
	e.ours[promptID].taken = true
}

// drop no longer counts prompts. The caller holds the mutex.
func (e *Engine) drop(promptIDs ...string) {
	for _, id := range promptIDs {
		delete(e.ours, id)
	}
}

// hold counts a prompt that the engine has, and free no longer does.
func (e *Engine) hold(promptID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.has(promptID)
}

func (e *Engine) free(promptID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop(promptID)
}

// ended no longer counts a prompt: the engine has gone on to the next.
func (f *Fleet) ended(e *Engine, promptID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop(promptID)
	e.turned = f.cfg.Now()
}

// took learns from a run how long its tool takes, how fast the engine is and how long models load.
func (f *Fleet) took(e *Engine, tool string, d time.Duration, loaded bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d <= 0 || tool == "" {
		return
	}
	e.pace = f.paces.Took(tool, d.Seconds(), cmp.Or(e.pace, 1), loaded)
}

// countWaiting counts what waits, while something does.
func (f *Fleet) countWaiting(ctx context.Context) {
	if f.cfg.Waiting == nil || !f.waits.Any() {
		return
	}
	counts, err := f.cfg.Waiting(ctx)
	if err != nil {
		f.cfg.Logger.Debug("what waits can't be counted", "error", err)
		return
	}
	f.waits.Count(counts)
}
