package billing

import (
	"maps"
	"math"
	"math/bits"
	"slices"
)

// How the past is read. What a run consumes is taken to be
//
//	c · (r + work)
//
// where work is the product of those numbers of its inputs that matter (a batch, a size, steps, frames ...), r is what each run
// takes whatever its work, and c is how fast the machine is. Which numbers matter, r and c are found by trying: the
// combination whose predictions are nearest to the past wins, with a little in favour of the simpler one. Everything is in
// logarithms and by medians, so that a run that hung, or one that was answered from a cache, moves little. Where there
// are enough runs with the very same inputs, those alone count, and there is no work to be weighed.
//
// The range around the prediction is what the past predictions were off by: 2.8 robust standard deviations or the outer
// quantiles, whichever is wider. From certain runs on, one in twenty beyond it, such as a model that has to be loaded
// first, does not widen it: the house takes what is above. Where nearly all fit into a range three times wide, it is no wider.
const (
	enough      = 5   // samples that make quantiles worth believing
	alikeMost   = 20  // runs with the same inputs that are looked at, the latest
	weighedMost = 40  // runs with other inputs that are
	effortsMost = 4   // numbers that are tried in combination
	outlierFrom = 8   // samples from which on the outermost twentieth does not count
	settled     = 20  // samples from which on the range is at most maxWidth wide
	maxWidth    = 2.9 // how many times the low end the high end is then, where mostFit of the samples fit
	mostFit     = 0.85
	rareMachine = 0.1 // share of the latest runs below which a machine is not reckoned with
)

// least is how far the high end is above the middle at least, as a factor.
const least = 1.25

// Effort is a number among a tool's inputs that may bear on what a run consumes.
type Effort struct {
	Name  string
	Grows bool    // by its name it multiplies the work: a batch, a size, steps, a duration
	Usual float64 // the tool's default; zero: none
}

// law predicts what a run consumes: speed · (base + work).
type law struct {
	uses  []int   // the efforts whose product is the work; none: all runs are alike
	unit  float64 // the work is counted in, so that base compares with it
	base  float64
	speed float64
	off   []float64 // logarithms of what was, over what it would have predicted
	miss  float64   // their mean size, with what its complexity costs
}

// work is the product of the efforts that count.
func (l law) work(effort []float64) float64 {
	w := 1.0
	for _, i := range l.uses {
		w *= effort[i]
	}
	return w
}

func (l law) predict(effort []float64) float64 {
	if len(l.uses) == 0 {
		return l.speed
	}
	return l.speed * (l.base + l.work(effort)/l.unit)
}

// bases are the shares of a run that do not depend on its work that are tried, over that of a usual one.
var bases = [...]float64{0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4}

// constant is the law of runs that are alike.
func constant(values []float64) law {
	l := law{off: make([]float64, len(values))}
	l.speed = median(values)
	for i, v := range values {
		l.off[i] = math.Log(v / l.speed)
	}
	l.judge()
	return l
}

func (l *law) judge() {
	for _, o := range l.off {
		l.miss += math.Abs(o)
	}
	l.miss = l.miss/float64(len(l.off)) + 0.01*float64(len(l.uses))
}

// weigh finds the law that fits best. values and efforts belong together; varying are the efforts that differ.
func weigh(values []float64, efforts [][]float64, varying []int) law {
	best := constant(values)
	for set := uint(1); set < 1<<len(varying); set++ {
		var uses []int
		for rest := set; rest != 0; rest &= rest - 1 {
			uses = append(uses, varying[bits.TrailingZeros(rest)])
		}
		works := make([]float64, len(values))
		for i := range values {
			works[i] = law{uses: uses}.work(efforts[i])
		}
		unit := median(works)
		for _, base := range bases {
			l := law{uses: uses, unit: unit, base: base, off: make([]float64, len(values))}
			for i, v := range values {
				l.off[i] = math.Log(v / (base + works[i]/unit))
			}
			middle := median(l.off)
			l.speed = math.Exp(middle)
			for i := range l.off {
				l.off[i] -= middle
			}
			if l.judge(); l.miss < best.miss {
				best = l
			}
		}
	}
	return best
}

// expect gives the range in which the next value lies, around what the law predicts.
func (l law) expect(effort []float64) (low, high float64) {
	slices.Sort(l.off)
	down, up := reach(l.off)
	at := l.predict(effort)
	return at * math.Exp(-down), at * math.Exp(up)
}

// reach is how far a next value may be below and above its prediction, as logarithms. off is sorted.
func reach(off []float64) (down, up float64) {
	n := len(off)
	floor := math.Log(least)
	if n < enough {
		few := math.Log(2)
		return max(few, -off[0]+floor), max(few, off[n-1]+floor)
	}
	outer := 0
	if n >= outlierFrom {
		outer = (n + 19) / 20
	}
	lowest, highest := off[outer], off[n-1-outer]
	if outer == 0 {
		highest += floor
	}
	sizes := make([]float64, n)
	for i, o := range off {
		sizes[i] = math.Abs(o)
	}
	usual := 2.8 * 1.4826 * median(sizes) * (1 + 2/float64(n))
	down, up = max(usual, -lowest), max(usual, highest)
	// What is usual may not go far beyond all that was: the past may have two humps.
	down, up = max(min(down, -off[0]+floor), 0), max(min(up, off[n-1]+floor), floor)
	if widest := math.Log(maxWidth); n >= settled && down+up > widest {
		return narrow(off, down, up, widest)
	}
	return down, up
}

// narrow makes a range no wider than widest where enough of the past fits into that: around the middle if that holds about as much
// as the best place does, else there.
func narrow(off []float64, down, up, widest float64) (float64, float64) {
	first, fits := window(off, widest)
	if float64(fits) < mostFit*float64(len(off)) {
		return down, up
	}
	part := widest / (down + up)
	if count(off, func(o float64) bool { return o >= -down*part && o <= up*part }) >= fits-1 {
		return down * part, up * part
	}
	last := off[first+fits-1]
	spare := (widest - (last - off[first])) / 2
	return spare - off[first], spare + last
}

func count(values []float64, counts func(float64) bool) (n int) {
	for _, v := range values {
		if counts(v) {
			n++
		}
	}
	return n
}

// window finds the place of that width that holds most of the sorted values.
func window(sorted []float64, width float64) (first, fits int) {
	end := 0
	for begin := range sorted {
		for end < len(sorted) && sorted[end]-sorted[begin] <= width {
			end++
		}
		if end-begin >= fits {
			first, fits = begin, end-begin
		}
	}
	return first, fits
}

// learned is what the samples of one machine say of the next run, in the values that of gives.
func (h History) learned(machine string, of func(Sample) int64) (low, high int64, n int) {
	samples, strange := h.on(machine)
	pool, alike := pick(samples)
	if !alike {
		pool = h.telling(pool)
	}
	values, efforts := make([]float64, 0, len(pool)), make([][]float64, 0, len(pool))
	whole := credible(pool, of)
	for _, s := range whole {
		values, efforts = append(values, max(float64(of(s)), 1)), append(efforts, s.Effort)
	}
	if alike && len(whole) < settled {
		values = append(values, h.elsewhere(machine, values, of)...)
	}
	var l law
	widen, shift := 0.0, 0.0
	if alike {
		l = constant(values)
	} else {
		varying, fixed := h.compare(efforts)
		l = weigh(values, efforts, varying)
		widen += h.beyond(l, efforts)
		for _, i := range fixed {
			change := math.Log(h.Next[i] / efforts[0][i])
			if !h.Efforts[i].Grows {
				widen += math.Log(1.5)
				continue
			}
			// Nobody knows how much of a run grows with it: from nothing to all of it.
			shift += change / 2
			widen += math.Abs(change) / 2
		}
		if !slices.ContainsFunc(whole, func(s Sample) bool { return s.Kin }) && len(h.Efforts)+h.Choices > 0 {
			widen += math.Log(2)
		}
	}
	if strange {
		widen += math.Log(2)
	}
	from, to := l.expect(h.Next)
	return whole64(from * math.Exp(shift-widen)), whole64(to * math.Exp(shift+widen)), len(whole)
}

// elsewhere is what runs with the same inputs took on other machines, as if those were as fast as this one, whose values are here. How
// runs scatter shows on any machine.
func (h History) elsewhere(machine string, here []float64, of func(Sample) int64) (values []float64) {
	others := map[string][]float64{}
	for _, s := range h.Samples {
		if s.Alike && s.Machine != "" && s.Machine != machine && len(others[s.Machine]) < alikeMost {
			others[s.Machine] = append(others[s.Machine], max(float64(of(s)), 1))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if there := others[name]; len(there) >= enough && machine != "" {
			faster := median(here) / median(there)
			for _, v := range there {
				values = append(values, v*faster)
			}
		}
	}
	return values
}

// pick chooses the samples that say most of the next run: those with its very inputs, else with its choices, else all. The
// latest come first.
func pick(samples []Sample) (chosen []Sample, alike bool) {
	some := func(most int, counts func(Sample) bool) []Sample {
		some := make([]Sample, 0, min(most, len(samples)))
		for _, s := range samples {
			if len(some) < most && counts(s) {
				some = append(some, s)
			}
		}
		return some
	}
	if same := some(alikeMost, func(s Sample) bool { return s.Alike }); len(same) >= enough || len(same) == len(samples) {
		return same, true
	}
	if kin := some(weighedMost, func(s Sample) bool { return s.Kin }); len(kin) >= enough {
		return kin, false
	}
	return some(weighedMost, func(Sample) bool { return true }), false
}

// telling leaves out samples that do not tell each effort of the next run, such as those of people who had their inputs
// deleted, unless too few would be left.
func (h History) telling(samples []Sample) []Sample {
	told := slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool {
		for i, next := range h.Next {
			if next > 0 && (i >= len(s.Effort) || s.Effort[i] <= 0) {
				return true
			}
		}
		return false
	})
	if len(told) < enough {
		return samples
	}
	return told
}

// compare says which efforts differ among the samples, and which do not, but differ from the next run's. Samples that do
// not tell an effort leave it out.
func (h History) compare(efforts [][]float64) (varying, fixed []int) {
	for i := range h.Efforts {
		told, differs := i < len(h.Next) && h.Next[i] > 0, false
		for _, e := range efforts {
			told = told && i < len(e) && e[i] > 0
			differs = differs || told && e[i] != efforts[0][i]
		}
		switch {
		case !told:
		case differs:
			varying = append(varying, i)
		case h.Next[i] != efforts[0][i]:
			fixed = append(fixed, i)
		}
	}
	slices.SortStableFunc(varying, func(a, b int) int {
		switch {
		case h.Efforts[a].Grows == h.Efforts[b].Grows:
			return 0
		case h.Efforts[a].Grows:
			return -1
		}
		return 1
	})
	return varying[:min(len(varying), effortsMost)], fixed
}

// beyond is how much less sure a prediction is of more, or less, work than any that was seen.
func (h History) beyond(l law, efforts [][]float64) float64 {
	if len(l.uses) == 0 {
		return 0
	}
	next, least, most := l.work(h.Next), math.Inf(1), 0.0
	for _, e := range efforts {
		w := l.work(e)
		least, most = min(least, w), max(most, w)
	}
	return 0.3 * max(math.Log(next/most), math.Log(least/next), 0)
}

// firstTime is how many times the usual work of the tool the next run is.
func (h History) firstTime() float64 {
	times := 1.0
	for i, e := range h.Efforts {
		if e.Grows && e.Usual > 0 && i < len(h.Next) && h.Next[i] > 0 {
			times *= h.Next[i] / e.Usual
		}
	}
	return times
}

// machines are those that the next run may run on: the one that the provider names, and those of the latest runs.
func (h History) machines(named string) []string {
	seen := map[string]int{}
	latest := h.Samples[:min(len(h.Samples), alikeMost)]
	for _, s := range latest {
		seen[s.Machine]++
	}
	var list []string
	if named != "" {
		list = append(list, named)
	}
	for _, s := range latest { // in their order, so that a quote is always the same
		if s.Machine != "" && !slices.Contains(list, s.Machine) && float64(seen[s.Machine]) >= rareMachine*float64(len(latest)) {
			list = append(list, s.Machine)
		}
	}
	if list == nil {
		list = []string{""}
	}
	return list
}

// on gives the samples of a machine, or all where it has none; strange says so. A sample without machine may be of any.
func (h History) on(machine string) (samples []Sample, strange bool) {
	other := func(s Sample) bool { return machine != "" && s.Machine != "" && s.Machine != machine }
	if !slices.ContainsFunc(h.Samples, other) { // as a rule: each quote comes by here
		return h.Samples, false
	}
	samples = slices.DeleteFunc(slices.Clone(h.Samples), other)
	if len(samples) == 0 {
		return h.Samples, true
	}
	return samples, false
}

func median(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// whole64 rounds an estimate; one beyond counting is the most that can be counted.
func whole64(f float64) int64 {
	if f >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Round(f))
}
