package recolour

import (
	"cmp"
	"math"
	"slices"
)

// plan says what becomes of each colour: its hue is turned, its chroma scaled, and its lightness moved so that the order stays, or turns over.
type plan struct {
	hues   *[2]float64 // the hue that becomes another; nil: hues stay
	scale  float64
	lights [][2]float64 // lightness as it is and as it will be, in order; between them it goes straight
	exact  map[tone]string
	ground tone
	gray   tone // what grays of the ground get: chroma and hue
	known  map[string]string
}

// turns tells whether light becomes dark.
func (p *plan) turns() bool { return p.lights[0][1] > p.lights[len(p.lights)-1][1] }

// color is what a colour becomes.
func (p *plan) color(hex string) string {
	if hex == "" {
		return ""
	}
	if known, ok := p.known[hex]; ok {
		return known
	}
	is := toneOf(hex)
	to, exact := p.exact[is]
	if !exact {
		to = p.tone(is).hex()
	}
	p.known[hex] = to
	return to
}

// shadow is what the colour of a shadow becomes, which stays as dark as it is.
func (p *plan) shadow(hex string) string {
	is := toneOf(hex)
	return tone{is.light, min(is.chroma*p.scale, 0.3), p.hue(is.hue)}.hex()
}

func (p *plan) tone(is tone) tone {
	to := tone{p.light(is.light), min(is.chroma*p.scale, 0.3), p.hue(is.hue)}
	if is == p.ground && to.chroma < p.gray.chroma {
		to.chroma, to.hue = p.gray.chroma, p.gray.hue
	}
	return to
}

// hue turns all hues alike; those far from the one that leads come nearer to it, so that the whole has the colour that it was given.
func (p *plan) hue(is float64) float64 {
	if p.hues == nil {
		return is
	}
	const near = math.Pi / 3
	away := turned(is - p.hues[0])
	if far := math.Abs(away) - near; far > 0 {
		away = math.Copysign(near+far/3, away)
	}
	return p.hues[1] + away
}

func (p *plan) light(v float64) float64 {
	for i := 1; i < len(p.lights); i++ {
		a, b := p.lights[i-1], p.lights[i]
		if v <= b[0] || i == len(p.lights)-1 {
			return a[1] + (b[1]-a[1])*(v-a[0])/max(b[0]-a[0], 1e-9)
		}
	}
	return v
}

// best chooses the first of the plans for a colour with which all words are read as they were, else the one that harms the fewest.
func (d *drawing) best(want tone, hex string) *plan {
	var best *plan
	least := math.Inf(1)
	for _, p := range d.plans(want, hex) {
		if harm := d.harm(p); harm < least-1e-6 {
			best, least = p, harm
		}
	}
	return best
}

// harm is how much contrast words lose with a plan, and how many of them are light where they were dark.
func (d *drawing) harm(p *plan) float64 {
	sum := 0.0
	for _, t := range d.texts {
		now := lights(t.places, p)
		for _, ink := range t.colors {
			is, to, lacks := t.mended(ink, p, now)
			sum += 10*lacks + max(0, math.Abs(to-is.light)-0.3)
		}
	}
	return sum
}

// plans are ways to give the drawing a colour, the best first.
func (d *drawing) plans(want tone, hex string) []*plan {
	keys := d.keys()
	paper := d.ground.chroma < strong && d.ground.light > 0.5
	if !d.photo && (len(keys) == 0 || !paper || want.light < dark || want.light > light && want.chroma < strong) {
		return d.groundPlans(want, hex, keys)
	}
	var list []*plan
	for _, key := range keys {
		p := d.plan(want, key)
		p.lights = [][2]float64{{0, 0}, {d.ground.light, d.ground.light}, {1, 1}}
		if key.light < d.ground.light-0.1 && want.light < d.ground.light-0.1 {
			p.lights = slices.Insert(p.lights, 1, [2]float64{key.light, want.light})
			p.exact[key] = hex
			list = append(list, p)
		}
	}
	if len(keys) == 0 {
		keys = []tone{d.ground}
	}
	p := d.plan(want, keys[0])
	p.lights = [][2]float64{{0, 0}, {1, 1}}
	return append(list, p)
}

// keys are the colours that are no gray, by how much they are seen.
func (d *drawing) keys() []tone {
	var list []weighed
	for _, c := range d.colors {
		if c.chroma >= plain {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b weighed) int { return cmp.Compare(b.share*b.chroma, a.share*a.chroma) })
	var keys []tone
	for _, c := range list[:min(len(list), mostKeys)] {
		keys = append(keys, c.tone)
	}
	return keys
}

// plan begins one in which a key colour becomes the wanted one. White and black have no hue to give.
func (d *drawing) plan(want, key tone) *plan {
	p := &plan{scale: 1, exact: map[tone]string{}, ground: d.ground, gray: tone{chroma: min(tint, want.chroma), hue: want.hue}, known: map[string]string{}}
	if want.light > 0.1 && want.light < 0.9 || want.chroma > plain {
		p.hues, p.scale = &[2]float64{key.hue, want.hue}, want.chroma/max(key.chroma, 0.01)
		if want.light < light && want.chroma > plain { // a dark colour has little chroma, but what is light beside it may have its own
			p.scale = max(p.scale, 0.8)
		}
	}
	return p
}

// groundPlans give the ground the colour: in the order of lightness that there is where the wanted colour is on the same side, or near it; else turned over.
func (d *drawing) groundPlans(want tone, hex string, keys []tone) []*plan {
	key := d.ground
	if len(keys) > 0 && (key.chroma < plain || !slices.Contains(keys, key)) { // it is gray, or between the colours of a gradient
		key = keys[0]
	}
	with := func(light float64, turns bool) *plan {
		p := d.plan(want, key)
		low, high := 0.0, 1.0
		if turns {
			low, high = 1, 0
		}
		p.lights = [][2]float64{{0, low}, {d.ground.light, light}, {1, high}}
		if p.gray = (tone{chroma: want.chroma, hue: want.hue}); light == want.light {
			p.exact[d.ground] = hex
		}
		return p
	}
	near := min(want.light, 1-readable) // as light as white words allow
	if d.ground.light > 0.5 {
		near = max(want.light, readable)
	}
	over := []*plan{with(want.light, true)}
	if d.ground.light > light && want.light < dark { // colours on a dark ground shine
		over = []*plan{over[0].bent(d.ground.light-0.2, 0.48), over[0], over[0].bent(0.4, 0.47)}
	}
	list := []*plan{with(want.light, false)}
	if math.Abs(near-want.light) > 0.16 {
		if math.Abs(d.ground.light-0.5) > 0.15 { // what is beneath the ground's lightness, or above it, would lie too close together
			list = nil
		}
		return append(list, over...)
	}
	for _, less := range []float64{0, 0.1, 0.2, 0.3} {
		list = append(list, with(near*(1-less), false))
	}
	return append(list, over...)
}

// bent is a plan in which one more lightness becomes another.
func (p *plan) bent(light, to float64) *plan {
	bent := *p
	bent.known = map[string]string{}
	bent.lights = append(slices.Clone(p.lights), [2]float64{light, to})
	slices.SortFunc(bent.lights, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	return &bent
}
