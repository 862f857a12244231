package draw

import (
	"image"

	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// markerSize is how large arrows and other ends of lines are, by the line's width.
const markerSize = 3

// pen is how a stroke is drawn, with the lengths of dashes that Penpot has.
func pen(s scene.Stroke) geom.Pen {
	w := s.Width
	p := geom.Pen{Width: w, Round: s.CapStart == "round" || s.CapEnd == "round"}
	switch s.Style {
	case "dashed":
		p.Dash = []float64{w + 10, w + 10}
	case "dotted":
		p.Dash, p.Round = []float64{0, w + 5}, true
	case "mixed":
		p.Dash = []float64{w + 5, w + 5, w + 1, w + 5}
	}
	return p
}

// strokes draws a shape's strokes along an outline that m maps to pixels.
func (p *painter) strokes(to *image.RGBA, sh *scene.Shape, outline geom.Path, m geom.Matrix, opacity float64) error {
	for i := len(sh.Strokes) - 1; i >= 0; i-- {
		s := sh.Strokes[i]
		if s.Style == "none" || s.Width == 0 {
			continue
		}
		mask := p.strokeCover(to.Rect, s, outline, m)
		fill := scene.Fill{Color: s.Color, Opacity: s.Opacity, Gradient: s.Gradient}
		if err := p.fill(to, sh, mask, []scene.Fill{fill}, opacity); err != nil {
			return err
		}
	}
	return nil
}

func (p *painter) strokeCover(within image.Rectangle, s scene.Stroke, outline geom.Path, m geom.Matrix) *image.Alpha {
	aligned := s.Alignment == "inner" || s.Alignment == "outer"
	if aligned {
		s.Width *= 2 // half of it is cut off again
	}
	lines := outline.Flatten(flatness / p.scale)
	areas := pen(s).Stroke(lines)
	for _, marker := range markers(s, lines) {
		areas = append(areas, marker.Flatten(flatness/p.scale)...)
	}
	for i, a := range areas {
		points := make([]geom.Point, len(a.Points))
		for j, q := range a.Points {
			points[j] = m.Apply(q)
		}
		areas[i].Points = points
	}
	mask := p.cover(within, areas)
	if !aligned {
		return mask
	}
	inside := p.cover(within, outline.Transform(m).Flatten(flatness))
	for y := mask.Rect.Min.Y; y < mask.Rect.Max.Y; y++ {
		for x := mask.Rect.Min.X; x < mask.Rect.Max.X; x++ {
			share := uint32(inside.AlphaAt(x, y).A)
			if s.Alignment == "outer" {
				share = 255 - share
			}
			at := mask.PixOffset(x, y)
			mask.Pix[at] = times(uint32(mask.Pix[at]), share)
		}
	}
	return mask
}

// markers are the figures at the ends of open lines.
func markers(s scene.Stroke, lines []geom.Polyline) []geom.Path {
	var list []geom.Path
	for _, l := range lines {
		n := len(l.Points)
		if l.Closed || n < 2 {
			continue
		}
		for _, end := range []struct {
			kind     string
			at, from geom.Point
		}{{s.CapStart, l.Points[0], l.Points[1]}, {s.CapEnd, l.Points[n-1], l.Points[n-2]}} {
			if m := marker(end.kind, s.Width); m != nil && end.at != end.from {
				d := end.at.Sub(end.from)
				d = d.Mul(1 / d.Len())
				list = append(list, m.Transform(geom.Matrix{A: d.X, B: d.Y, C: -d.Y, D: d.X, E: end.at.X, F: end.at.Y}))
			}
		}
	}
	return list
}

// marker is a figure at the end of a line that goes to the right and ends at 0, 0.
func marker(kind string, width float64) geom.Path {
	r := width * markerSize / 2
	polygon := func(points ...geom.Point) geom.Path {
		var p geom.Path
		p.MoveTo(points[0])
		for _, q := range points[1:] {
			p.LineTo(q)
		}
		p.Close()
		return p
	}
	switch kind {
	case "square":
		return polygon(geom.Point{X: 0, Y: -width / 2}, geom.Point{X: width / 2, Y: -width / 2}, geom.Point{X: width / 2, Y: width / 2}, geom.Point{X: 0, Y: width / 2})
	case "triangle-arrow":
		return polygon(geom.Point{X: -r, Y: -r}, geom.Point{X: r, Y: 0}, geom.Point{X: -r, Y: r})
	case "line-arrow":
		return polygon(geom.Point{X: -r, Y: -r - width/2}, geom.Point{X: width, Y: 0}, geom.Point{X: -r, Y: r + width/2}, geom.Point{X: -r - width/2, Y: r}, geom.Point{X: -width / 2, Y: 0}, geom.Point{X: -r - width/2, Y: -r})
	case "square-marker":
		return polygon(geom.Point{X: -r, Y: -r}, geom.Point{X: r, Y: -r}, geom.Point{X: r, Y: r}, geom.Point{X: -r, Y: r})
	case "diamond-marker":
		return polygon(geom.Point{X: -r, Y: 0}, geom.Point{X: 0, Y: -r}, geom.Point{X: r, Y: 0}, geom.Point{X: 0, Y: r})
	case "circle-marker":
		return geom.Ellipse(geom.Rect{X: -r, Y: -r, W: 2 * r, H: 2 * r})
	}
	return nil
}
