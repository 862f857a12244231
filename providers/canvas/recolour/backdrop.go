package recolour

import (
	"math"
	"slices"

	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// layer is what one fill is at one place: a colour, between two of a gradient, or a picture.
type layer struct {
	from, to string
	share    float64 // of to
	opacity  float64
	blend    string
	picture  bool
}

// area is a shape with its place on the page.
type area struct {
	shape   *scene.Shape
	back    geom.Matrix // from the page into the shape before it is turned
	bounds  geom.Rect
	lines   []geom.Polyline
	opacity float64 // with that of all that hold it
}

// areas are all shapes of a board that are seen, from bottom to top, the board first.
func areas(s *scene.Scene, sh *scene.Shape, opacity float64) []*area {
	if sh.Hidden {
		return nil
	}
	opacity *= sh.Opacity
	turn := sh.Turn()
	back, _ := turn.Invert()
	list := []*area{{shape: sh, back: back, bounds: turn.Bounds(sh.Box()), lines: sh.Outline().Flatten(1), opacity: opacity}}
	for _, child := range s.Children(sh.ID) {
		list = append(list, areas(s, child, opacity)...)
	}
	return list
}

// meets tells whether something of a box on the page may be inside.
func (a *area) meets(box geom.Rect) bool {
	b := a.bounds
	return b.X <= box.X+box.W && b.X+b.W >= box.X && b.Y <= box.Y+box.H && b.Y+b.H >= box.Y
}

// covers tells whether a place on the page is inside.
func (a *area) covers(p geom.Point) bool {
	if !a.meets(geom.Rect{X: p.X, Y: p.Y}) {
		return false
	}
	p = a.back.Apply(p)
	turns := 0
	for _, line := range a.lines {
		for i, from := range line.Points {
			to := line.Points[(i+1)%len(line.Points)]
			side := (to.X-from.X)*(p.Y-from.Y) - (p.X-from.X)*(to.Y-from.Y)
			switch {
			case from.Y <= p.Y && to.Y > p.Y && side > 0:
				turns++
			case from.Y > p.Y && to.Y <= p.Y && side < 0:
				turns--
			}
		}
	}
	return turns != 0
}

// mostLayers is how many fills are looked at in one place, since thousands may lie over each other. What is deeper is hardly seen.
const mostLayers = 32

// layersAt are the fills that are seen at a place, from bottom to top.
func layersAt(list []*area, p geom.Point) []layer {
	var layers []layer
	for _, a := range slices.Backward(list) {
		if a.shape.Type == scene.TextShape || len(a.shape.Fills) == 0 || !a.covers(p) {
			continue
		}
		for _, f := range a.shape.Fills {
			l := layerOf(a.shape, f, a.back.Apply(p))
			l.opacity *= a.opacity
			if l.blend = a.shape.Blend(); l.opacity > 0 {
				layers = append(layers, l)
			}
			if l.opacity == 1 && l.blend == "normal" || len(layers) == mostLayers {
				slices.Reverse(layers)
				return layers
			}
		}
	}
	slices.Reverse(layers)
	return layers
}

// layerOf is a fill at a place of its shape.
func layerOf(sh *scene.Shape, f scene.Fill, p geom.Point) layer {
	if f.Image != nil {
		return layer{picture: true, opacity: f.Opacity}
	}
	if f.Gradient == nil || len(f.Gradient.Stops) == 0 {
		return layer{from: f.Color, to: f.Color, opacity: f.Opacity}
	}
	stops, at := f.Gradient.Stops, along(f.Gradient, sh.Box(), p)
	last := stops[len(stops)-1]
	for i, stop := range stops {
		if at > stop.Offset {
			continue
		}
		before := stops[max(i-1, 0)]
		share := 1.0
		if stop.Offset > before.Offset {
			share = (at - before.Offset) / (stop.Offset - before.Offset)
		}
		return layer{from: before.Color, to: stop.Color, share: share, opacity: f.Opacity * (before.Opacity + (stop.Opacity-before.Opacity)*share)}
	}
	return layer{from: last.Color, to: last.Color, opacity: f.Opacity * last.Opacity}
}

// along is how far a place is on the way of a gradient, 0 to 1.
func along(g *scene.Gradient, box geom.Rect, p geom.Point) float64 {
	start := geom.Point{X: box.X + g.StartX*box.W, Y: box.Y + g.StartY*box.H}
	way := geom.Point{X: box.X + g.EndX*box.W, Y: box.Y + g.EndY*box.H}.Sub(start)
	p = p.Sub(start)
	at := (p.X*way.X + p.Y*way.Y) / max(way.X*way.X+way.Y*way.Y, 1e-9)
	if g.Type == "radial" {
		at = p.Len() / max(way.Len(), 1e-9)
	}
	return min(max(at, 0), 1)
}

// words is where the letters of a text stand, as places spread over them.
func words(s *scene.Scene, a *area) []geom.Point {
	sh, t := a.shape, *a.shape.Text
	t.GrowType = "auto-height"
	box := sh.Box()
	_, h := s.Fonts.Measure(t, box.W)
	w, _ := s.Fonts.Measure(t, 0)
	w, h = min(w, box.W), min(h, box.H)
	switch t.Align {
	case "center":
		box.X += (box.W - w) / 2
	case "right":
		box.X += box.W - w
	}
	switch t.VerticalAlign {
	case "center":
		box.Y += (box.H - h) / 2
	case "bottom":
		box.Y += box.H - h
	}
	return spread(geom.Rect{X: box.X, Y: box.Y, W: w, H: h}, 16, 8, sh.Turn())
}

// spread are places all over a box.
func spread(box geom.Rect, columns, rows int, turn geom.Matrix) []geom.Point {
	var list []geom.Point
	for y := range rows {
		for x := range columns {
			list = append(list, turn.Apply(geom.Point{X: box.X + box.W*(float64(x)+0.5)/float64(columns), Y: box.Y + box.H*(float64(y)+0.5)/float64(rows)}))
		}
	}
	return list
}

// turned is an angle between -π and π.
func turned(angle float64) float64 { return math.Remainder(angle, 2*math.Pi) }
