// Package recolour gives a whole drawing another colour, as a designer would: hues move together, so that what differed goes on differing; what was lighter stays
// lighter, or the whole drawing turns over from light to dark; words stay readable; pictures stay as they are.
package recolour

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// Bounds between kinds of colours.
const (
	plain  = 0.03  // chroma below which a colour counts as gray
	tint   = 0.025 // chroma that gray paper gets
	strong = 0.1   // chroma above which a ground, or a wish, counts as a colour of its own, not as tinted paper
	dark   = 0.3   // lightness below which a colour asks for a dark drawing
	light  = 0.78  // and above which for a light one
)

// mostKeys is how many of a drawing's colours may lead the others: each is another plan to look at, and there may be as many colours as shapes.
const mostKeys = 8

// drawing is what is to be recoloured.
type drawing struct {
	texts  []text
	colors []weighed // what is seen, the largest first
	ground tone
	photo  bool // pictures cover most of it
}

// text is one whose words have to be read.
type text struct {
	shape  *scene.Shape
	colors []string
	places [][]layer // beneath its letters
	was    []float64 // how light they are
}

// weighed is a colour and how much of the board it covers, 0 to 1.
type weighed struct {
	tone
	share float64
}

// Board gives a board and all that it holds a colour, as #RRGGBB.
func Board(s *scene.Scene, board *scene.Shape, color string) error {
	list := areas(s, board, 1)
	d := look(s, list)
	plan := d.best(toneOf(color), color)
	for _, a := range list {
		s.Repaint(a.shape, plan.color, plan.shadow)
		if mode := opposite(a.shape.Blend()); plan.turns() && mode != a.shape.Blend() {
			if _, err := s.Modify("", a.shape.ID, scene.Props{BlendMode: &mode}, nil); err != nil {
				return err
			}
		}
	}
	for _, t := range d.texts {
		mend(s, t, plan)
	}
	return nil
}

// look takes a drawing in.
func look(s *scene.Scene, list []*area) drawing {
	var d drawing
	shares := map[string]float64{}
	places := spread(list[0].shape.Box(), 32, 32, list[0].shape.Turn())
	pictures := 0
	for _, p := range places {
		layers := layersAt(list, p)
		left := 1 / float64(len(places))
		for _, l := range slices.Backward(layers) {
			if l.picture {
				pictures++
				break
			}
			shares[l.from] += left * l.opacity * (1 - l.share)
			shares[l.to] += left * l.opacity * l.share
			left *= 1 - l.opacity
		}
	}
	d.photo = pictures > len(places)/2
	for _, a := range list {
		for _, stroke := range a.shape.Strokes {
			shares[stroke.Color] += 0.01 // lines are seen, however little they cover
		}
	}
	delete(shares, "")
	for _, hex := range slices.Sorted(maps.Keys(shares)) {
		d.colors = append(d.colors, weighed{toneOf(hex), shares[hex]})
	}
	slices.SortStableFunc(d.colors, func(a, b weighed) int { return cmp.Compare(b.share, a.share) })
	d.ground = groundOf(list[0].shape, d.colors)
	for i, a := range list {
		if t := a.shape.Text; t != nil && len(a.shape.Strokes) == 0 { // an outline keeps letters apart from what is beneath
			places := beneath(list[:i], words(s, a))
			d.texts = append(d.texts, text{a.shape, inks(a.shape), places, lights(places, nil)})
		}
	}
	return d
}

// groundOf is the colour of a board where it is seen, of a gradient the one that is farther from the middle; else what covers most.
func groundOf(board *scene.Shape, colors []weighed) tone {
	if len(colors) == 0 {
		return tone{light: 1}
	}
	ground := colors[0].tone
	if len(board.Fills) > 0 && board.Fills[0].Gradient != nil {
		for i, stop := range board.Fills[0].Gradient.Stops {
			if t := toneOf(stop.Color); i == 0 || math.Abs(t.light-0.5) > math.Abs(ground.light-0.5) {
				ground = t
			}
		}
	}
	return ground
}

// beneath are the different fills at places.
func beneath(list []*area, places []geom.Point) [][]layer {
	box := geom.Box(places...)
	var near []*area
	for _, a := range list {
		if len(a.shape.Fills) > 0 && a.meets(box) {
			near = append(near, a)
		}
	}
	var all [][]layer
	for _, p := range places {
		layers := layersAt(near, p)
		if !slices.ContainsFunc(all, func(known []layer) bool { return slices.Equal(known, layers) }) {
			all = append(all, layers)
		}
	}
	return all
}

// inks are the colours of a text.
func inks(sh *scene.Shape) []string {
	var list []string
	fills := slices.Clone(sh.Fills)
	for _, r := range sh.Text.Ranges {
		fills = append(fills, r.Fills...)
	}
	for _, f := range fills {
		if f.Color != "" && f.Image == nil && f.Gradient == nil {
			list = append(list, f.Color)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// opposite does to light what a blend mode does to dark.
func opposite(mode string) string {
	for _, pair := range [][2]string{{"multiply", "screen"}, {"darken", "lighten"}, {"color-burn", "color-dodge"}} {
		if i := slices.Index(pair[:], mode); i >= 0 {
			return pair[1-i]
		}
	}
	return mode
}

// mend gives the words of a text that would not be read any more another lightness.
func mend(s *scene.Scene, t text, p *plan) {
	now, fixed := lights(t.places, p), map[string]string{}
	for _, ink := range t.colors {
		is, to, _ := t.mended(ink, p, now)
		if to != is.light {
			fixed[is.hex()] = tone{to, is.chroma, is.hue}.hex()
		}
	}
	if len(fixed) > 0 {
		s.Repaint(t.shape, func(color string) string { return cmp.Or(fixed[color], color) }, same)
	}
}

// mended is what becomes of an ink with a plan, the nearest lightness in which it is read on what is beneath now as well as it was, at least as WCAG wants, and what it
// lacks even so.
func (t *text) mended(ink string, p *plan, now []float64) (is tone, to, lacks float64) {
	is = toneOf(p.color(ink))
	need := readable
	if was := apart(toneOf(ink).light, t.was); was < ornament {
		need = was
	}
	if to = is.light; apart(to, now) < need-0.003 {
		to = nearest(to, now, need)
	}
	return is, to, max(0, need-0.003-apart(to, now))
}

func same(color string) string { return color }

// lights are the different lightnesses at places with a plan, without those where a picture is seen.
func lights(places [][]layer, p *plan) []float64 {
	var list []float64
	for _, layers := range places {
		if c, known := seen(layers, p); known {
			list = append(list, c.each(linear).lightness())
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// apart is how far a lightness is from the nearest of others; 1: there are none.
func apart(light float64, others []float64) float64 {
	least := 1.0
	for _, other := range others {
		least = min(least, math.Abs(light-other))
	}
	return least
}

// nearest is the lightness next to one that is so far from all others; the farthest where none is.
func nearest(light float64, others []float64, far float64) float64 {
	best, found := 0.0, false
	candidates := []float64{0, 1}
	for _, other := range others {
		candidates = append(candidates, other-far, other+far)
	}
	for _, c := range candidates {
		if c < 0 || c > 1 {
			continue
		}
		ok := apart(c, others) >= far-1e-9
		switch {
		case ok && (!found || math.Abs(c-light) < math.Abs(best-light)), !ok && !found && apart(c, others) > apart(best, others):
			best, found = c, found || ok
		}
	}
	return best
}

// seen is what layers look like on white with a plan; nil: as they are. known is false where a picture shines through.
func seen(layers []layer, p *plan) (c rgb, known bool) {
	change, mode := same, same
	if p != nil {
		change = p.color
	}
	if p != nil && p.turns() {
		mode = opposite
	}
	c, picture := rgb{1, 1, 1}, 0.0
	for _, l := range layers {
		picture *= 1 - l.opacity
		if l.picture {
			picture += l.opacity
			continue
		}
		over := parse(change(l.from)).mix(parse(change(l.to)), l.share)
		for i := range over {
			switch mode(l.blend) {
			case "multiply", "darken", "color-burn":
				over[i] *= c[i]
			case "screen", "lighten", "color-dodge":
				over[i] = 1 - (1-over[i])*(1-c[i])
			}
		}
		c = c.mix(over, l.opacity)
	}
	return c, picture < 0.1
}
