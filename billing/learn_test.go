package billing

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
)

// job is a run on the simulated engine.
type job struct {
	machine string
	choice  int
	effort  []float64 // batch, width, height, steps
}

// engine is a simulated GPU server: what it takes to run a job, with noise, models that are loaded first, and runs that
// hang or come from a cache.
type engine struct {
	dice  *rand.Rand
	noise float64 // of the logarithm
	cold  float64 // the share of runs before which the model is loaded
	load  float64 // seconds that loading takes
	speed map[string]float64
	fixed float64 // seconds of each run
	per   float64 // seconds of a picture of a megapixel and a step
}

func (e *engine) run(j job) Sample {
	took := e.fixed
	work := e.per
	for i, n := range j.effort {
		if i == 1 || i == 2 {
			n /= 1024
		}
		work *= n
	}
	took = (took + work) * math.Exp(e.dice.NormFloat64()*e.noise)
	if speed := e.speed[j.machine]; speed > 0 {
		took /= speed
	}
	if j.choice == 1 {
		took *= 2.5 // a heavier model
	}
	if e.dice.Float64() < e.cold {
		took += e.load
	}
	return Sample{NanoUnits: int64(took * 1e9), Machine: j.machine, Effort: j.effort}
}

var knobs = []Effort{{Name: "batch_size", Grows: true, Usual: 1}, {Name: "width", Grows: true, Usual: 1024}, {Name: "height", Grows: true, Usual: 1024}, {Name: "steps", Grows: true, Usual: 20}}

// past is a record of runs, the latest first.
type past struct {
	jobs    []job
	samples []Sample
}

func (p *past) add(j job, s Sample) {
	p.jobs, p.samples = append([]job{j}, p.jobs...), append([]Sample{s}, p.samples...)
}

func (p *past) before(j job) History {
	h := History{Timeout: 30 * time.Minute, Efforts: knobs, Choices: 1, Next: j.effort}
	for i, s := range p.samples[:min(len(p.samples), 200)] {
		s.Kin = p.jobs[i].choice == j.choice
		s.Alike = s.Kin && slices.Equal(p.jobs[i].effort, j.effort)
		h.Samples = append(h.Samples, s)
	}
	return h
}

// replay quotes and runs jobs one after the other: how many of those after the first learning were within their quotes and at
// most at their high end, and how wide quotes were.
func replay(e *engine, learning, count int, next func(i int) job) (within, kept, widest, usual float64) {
	var p past
	model := &registry.CostingModel{Rate: json.Number("0.000337"), Unit: registry.UnitSecond, RateSource: registry.RateStatic}
	var widths []float64
	for i := range learning + count {
		j := next(i)
		q := Estimate(model, p.before(j), registry.Price{}, RateCard{})
		s := e.run(j)
		if cost := timesRate(s.NanoUnits, big.NewRat(337, 1_000_000)); i >= learning {
			if cost >= q.Low && cost <= q.High {
				within++
			}
			if cost <= q.High {
				kept++
			}
			widths = append(widths, float64(q.High)/float64(q.Low))
		}
		p.add(j, s)
	}
	return within / float64(count), kept / float64(count), slices.Max(widths), median(widths)
}

func TestLearnedPricesAreTight(t *testing.T) {
	t.Parallel()
	plain := job{effort: []float64{1, 1024, 1024, 20}}
	mixed := func(e *engine) func(int) job {
		return func(int) job {
			pick := func(of ...float64) float64 { return of[e.dice.IntN(len(of))] }
			return job{choice: e.dice.IntN(2), effort: []float64{pick(1, 2, 4), pick(512, 768, 1024), pick(512, 768, 1024), pick(10, 20, 30, 40)}}
		}
	}
	same := func(*engine) func(int) job { return func(int) job { return plain } }
	for _, c := range []struct {
		name     string
		engine   engine
		learning int
		next     func(*engine) func(int) job
		within   float64 // at least
		widest   float64 // at most
	}{
		{"20 like runs", engine{noise: 0.05, fixed: 0.5, per: 0.12}, 20, same, 0.95, 3},
		{"20 like runs on a busy machine", engine{noise: 0.15, fixed: 0.5, per: 0.12}, 20, same, 0.95, 3},
		{"20 like runs, now and then with a model to load", engine{noise: 0.12, cold: 0.02, load: 15, fixed: 0.5, per: 0.12}, 20, same, 0.95, 3},
		{"20 like runs of milliseconds", engine{noise: 0.2, fixed: 0.004, per: 0.0001}, 20, same, 0.95, 3},
		{"20 like runs on two kinds of GPU", engine{noise: 0.1, fixed: 0.5, per: 0.12, speed: map[string]float64{"L4": 1, "L40S": 1.5}}, 20, func(e *engine) func(int) job {
			return func(int) job {
				j := plain
				j.machine = []string{"L4", "L40S"}[e.dice.IntN(2)]
				return j
			}
		}, 0.95, 3},
		{"60 runs of all sizes, batches, steps and two models", engine{noise: 0.1, fixed: 0.5, per: 0.12}, 60, mixed, 0.95, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(3) {
				e := c.engine
				e.dice = rand.New(rand.NewPCG(seed, 14))
				within, kept, widest, usual := replay(&e, c.learning, 300, c.next(&e))
				t.Logf("seed %d: %.1f %% within, %.1f %% at most at the high end, %.2f times wide, %.2f at most", seed, 100*within, 100*kept, usual, widest)
				if within < c.within || widest > c.widest {
					t.Errorf("expected at least %.0f %% within, at most %.1f times wide", 100*c.within, c.widest)
				}
			}
		})
	}
}

func TestLearnedPricesFollowTheWork(t *testing.T) {
	t.Parallel()
	model := &registry.CostingModel{Rate: json.Number("0.000337"), Unit: registry.UnitSecond, RateSource: registry.RateStatic}
	quote := func(p *past, effort ...float64) Quote {
		return Estimate(model, p.before(job{effort: effort}), registry.Price{}, RateCard{})
	}
	newEngine := func() *engine {
		return &engine{dice: rand.New(rand.NewPCG(7, 14)), noise: 0.1, fixed: 0.5, per: 0.12}
	}
	t.Run("a batch of 64 costs more than one of 1 before anything is learned", func(t *testing.T) {
		t.Parallel()
		if one, many := quote(&past{}, 1, 1024, 1024, 20), quote(&past{}, 64, 1024, 1024, 20); many.High <= one.High {
			t.Errorf("1: %s, 64: %s", one, many)
		}
	})
	t.Run("and where only batches of 1 were seen: from as much to 64 times as much", func(t *testing.T) {
		t.Parallel()
		var p past
		for e := newEngine(); len(p.jobs) < 20; {
			j := job{effort: []float64{1, 1024, 1024, 20}}
			p.add(j, e.run(j))
		}
		one, many := quote(&p, 1, 1024, 1024, 20), quote(&p, 64, 1024, 1024, 20)
		if many.High < 32*one.High || many.Low < one.Low/2 {
			t.Errorf("1: %s, 64: %s", one, many)
		}
	})
	t.Run("and where small batches were seen: what it comes to", func(t *testing.T) {
		t.Parallel()
		var p past
		e := newEngine()
		for i := range 40 {
			j := job{effort: []float64{float64(1 + i%4), 1024, 1024, 20}}
			p.add(j, e.run(j))
		}
		one, many := quote(&p, 1, 1024, 1024, 20), quote(&p, 64, 1024, 1024, 20)
		cost := timesRate(e.run(job{effort: []float64{64, 1024, 1024, 20}}).NanoUnits, big.NewRat(337, 1_000_000))
		if many.Low < 10*one.High || cost < many.Low || cost > many.High || many.High > 10*many.Low {
			t.Errorf("1: %s, 64: %s, it came to %s", one, many, cost)
		}
	})
	t.Run("a picture of a twentieth of a cent does not show four cents after its first run", func(t *testing.T) {
		t.Parallel()
		var p past
		j := job{effort: []float64{1, 1024, 1024, 10}}
		p.add(j, newEngine().run(j))
		if q := quote(&p, j.effort...); q.High > Dollar/500 {
			t.Errorf("it shows %s", q)
		}
	})
	t.Run("a run that hung and one from a cache move nothing", func(t *testing.T) {
		t.Parallel()
		var p past
		e := newEngine()
		for range 20 {
			j := job{effort: []float64{1, 1024, 1024, 20}}
			p.add(j, e.run(j))
		}
		before := quote(&p, 1, 1024, 1024, 20)
		p.samples[3].NanoUnits *= 50
		p.samples[9].NanoUnits /= 500
		if after := quote(&p, 1, 1024, 1024, 20); after.High > 2*before.High || after.Low < before.Low/2 {
			t.Errorf("%s became %s", before, after)
		}
	})
}
