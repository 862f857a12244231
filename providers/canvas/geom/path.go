package geom

import "math"

// Op says how a path goes on.
type Op byte

// The steps of a path.
const (
	Move  Op = 'M' // to P[0], where a figure begins
	Line  Op = 'L' // to P[0]
	Curve Op = 'C' // a cubic Bézier by the control points P[0], P[1] to P[2]
	Close Op = 'Z' // back to where the figure began
)

// Step is a part of a path.
type Step struct {
	Op Op
	P  [3]Point
}

// end is where a step leads; start is where its figure began.
func (s Step) end(start Point) Point {
	switch s.Op {
	case Curve:
		return s.P[2]
	case Close:
		return start
	}
	return s.P[0]
}

// Path is a line of straight and curved parts, in one figure or several. An area made of a path is filled by the nonzero rule.
type Path []Step

// MoveTo begins a figure.
func (p *Path) MoveTo(to Point) { *p = append(*p, Step{Move, [3]Point{to}}) }

// LineTo goes straight on.
func (p *Path) LineTo(to Point) { *p = append(*p, Step{Line, [3]Point{to}}) }

// CurveTo goes on by a cubic Bézier.
func (p *Path) CurveTo(c1, c2, to Point) { *p = append(*p, Step{Curve, [3]Point{c1, c2, to}}) }

// QuadTo goes on by a quadratic Bézier, which begins at from.
func (p *Path) QuadTo(from, c, to Point) {
	p.CurveTo(from.lerp(c, 2.0/3), to.lerp(c, 2.0/3), to)
}

// Close ends a figure where it began.
func (p *Path) Close() { *p = append(*p, Step{Op: Close}) }

// Transform gives the path's image.
func (p Path) Transform(m Matrix) Path {
	out := make(Path, len(p))
	for i, s := range p {
		out[i] = Step{s.Op, [3]Point{m.Apply(s.P[0]), m.Apply(s.P[1]), m.Apply(s.P[2])}}
	}
	return out
}

// Bounds is the exact box of the path, not that of its control points.
func (p Path) Bounds() Rect {
	var points []Point
	var at, start Point
	for _, s := range p {
		switch s.Op {
		case Move:
			start = s.P[0]
			points = append(points, s.P[0])
		case Line:
			points = append(points, s.P[0])
		case Curve:
			points = append(points, s.P[2])
			points = append(points, extremes(at, s.P[0], s.P[1], s.P[2])...)
		}
		at = s.end(start)
	}
	return Box(points...)
}

// extremes are the points of a cubic where it turns back in x or y.
func extremes(p0, p1, p2, p3 Point) []Point {
	var found []Point
	for _, c := range [2][4]float64{{p0.X, p1.X, p2.X, p3.X}, {p0.Y, p1.Y, p2.Y, p3.Y}} {
		a := -c[0] + 3*c[1] - 3*c[2] + c[3]
		b := 2 * (c[0] - 2*c[1] + c[2])
		for _, t := range quadraticRoots(3*a, 3*b, 3*(c[1]-c[0])) {
			if t > 0 && t < 1 {
				found = append(found, cubicAt(p0, p1, p2, p3, t))
			}
		}
	}
	return found
}

// quadraticRoots solves a t² + b t + c = 0.
func quadraticRoots(a, b, c float64) []float64 {
	if math.Abs(a) < 1e-12 {
		if b == 0 {
			return nil
		}
		return []float64{-c / b}
	}
	d := b*b - 4*a*c
	if d < 0 {
		return nil
	}
	// The numerically stable form: no difference of nearly equal numbers.
	q := -(b + math.Copysign(math.Sqrt(d), b)) / 2
	if q == 0 {
		return []float64{0}
	}
	return []float64{q / a, c / q}
}

func cubicAt(p0, p1, p2, p3 Point, t float64) Point {
	a, b, c := p0.lerp(p1, t), p1.lerp(p2, t), p2.lerp(p3, t)
	return a.lerp(b, t).lerp(b.lerp(c, t), t)
}

// Polyline is a figure of straight parts.
type Polyline struct {
	Points []Point
	Closed bool
}

// Flatten gives the path's figures with curves as straight parts, which are off by at most tolerance.
func (p Path) Flatten(tolerance float64) []Polyline {
	var lines []Polyline
	var at, start Point
	for _, s := range p {
		if s.Op == Move || len(lines) == 0 || lines[len(lines)-1].Closed && s.Op != Close {
			begin := at
			if s.Op == Move {
				begin, start = s.P[0], s.P[0]
			}
			lines = append(lines, Polyline{Points: []Point{begin}})
		}
		current := &lines[len(lines)-1]
		switch s.Op {
		case Line:
			current.Points = append(current.Points, s.P[0])
		case Curve:
			current.Points = appendCurve(current.Points, at, s.P, tolerance)
		case Close:
			current.Closed = true
		}
		at = s.end(start)
	}
	return lines
}

// maxParts bounds the straight parts of one curve.
const maxParts = 500

// appendCurve adds a cubic's straight parts. Their number follows from the greatest second difference of the control points, which
// bounds how far the curve is from its chords.
func appendCurve(points []Point, from Point, c [3]Point, tolerance float64) []Point {
	d1 := from.Sub(c[0].Mul(2)).Add(c[1]).Len()
	d2 := c[0].Sub(c[1].Mul(2)).Add(c[2]).Len()
	n := int(min(max(math.Ceil(math.Sqrt(0.75*max(d1, d2)/tolerance)), 1), maxParts))
	for i := 1; i < n; i++ {
		points = append(points, cubicAt(from, c[0], c[1], c[2], float64(i)/float64(n)))
	}
	return append(points, c[2])
}

// kappa is how far the control points of a quarter circle are from its ends, by its radius.
const kappa = 0.5522847498307936

// RoundedRect is the outline of r with the radii of its corners, clockwise from the upper left one, each at most half the shorter side.
func RoundedRect(r Rect, radii [4]float64) Path {
	var p Path
	limit := min(r.W, r.H) / 2
	corners, along := r.Corners(), [4]Point{{1, 0}, {0, 1}, {-1, 0}, {0, -1}} // the direction in which each corner is left
	for i, c := range corners {
		radius := min(max(radii[i], 0), limit)
		in, out := c.Add(along[(i+3)%4].Mul(-radius)), c.Add(along[i].Mul(radius))
		if i == 0 {
			p.MoveTo(in)
		} else {
			p.LineTo(in)
		}
		if radius > 0 {
			p.CurveTo(in.lerp(c, kappa), out.lerp(c, kappa), out)
		}
	}
	p.Close()
	return p
}

// Ellipse is the outline of the ellipse that fills r.
func Ellipse(r Rect) Path {
	var p Path
	c, rx, ry := r.Center(), r.W/2, r.H/2
	at := func(x, y float64) Point { return Point{c.X + x*rx, c.Y + y*ry} }
	p.MoveTo(at(1, 0))
	p.CurveTo(at(1, kappa), at(kappa, 1), at(0, 1))
	p.CurveTo(at(-kappa, 1), at(-1, kappa), at(-1, 0))
	p.CurveTo(at(-1, -kappa), at(-kappa, -1), at(0, -1))
	p.CurveTo(at(kappa, -1), at(1, -kappa), at(1, 0))
	p.Close()
	return p
}

// ArcTo goes on by an elliptical arc from the point from, by the parameters and the rules of SVG 2 (appendix B.2): radii that are too small
// grow until the arc reaches its end.
func (p *Path) ArcTo(from Point, rx, ry, rotation float64, large, sweep bool, to Point) {
	rx, ry = math.Abs(rx), math.Abs(ry)
	if from == to {
		return
	}
	if rx == 0 || ry == 0 {
		p.LineTo(to)
		return
	}
	turn := Rotate(rotation, Point{})
	back, _ := turn.Invert()
	half := back.Apply(from.Sub(to).Mul(0.5))
	if l := half.X*half.X/(rx*rx) + half.Y*half.Y/(ry*ry); l > 1 {
		rx, ry = rx*math.Sqrt(l), ry*math.Sqrt(l)
	}
	u := Point{half.X / rx, half.Y / ry} // in the circle of radius 1
	square := u.X*u.X + u.Y*u.Y
	f := math.Sqrt(max(0, 1/square-1))
	if large == sweep {
		f = -f
	}
	center := Point{f * u.Y, -f * u.X}
	first := math.Atan2(u.Y-center.Y, u.X-center.X)
	span := math.Atan2(-u.Y-center.Y, -u.X-center.X) - first
	if sweep && span < 0 {
		span += 2 * math.Pi
	} else if !sweep && span > 0 {
		span -= 2 * math.Pi
	}
	middle := from.lerp(to, 0.5)
	m := Translate(middle.X, middle.Y).Mul(turn).Mul(Scale(rx, ry)).Mul(Translate(center.X, center.Y))
	p.unitArc(m, first, span, to)
}

// unitArc adds the image under m of an arc of the circle of radius 1, in parts of at most a quarter turn. It ends exactly at to.
func (p *Path) unitArc(m Matrix, first, span float64, to Point) {
	n := int(math.Ceil(math.Abs(span)/(math.Pi/2) - 1e-9))
	n = max(n, 1)
	step := span / float64(n)
	reach := 4.0 / 3 * math.Tan(step/4)
	for i := range n {
		a, b := first+float64(i)*step, first+float64(i+1)*step
		sa, ca := math.Sincos(a)
		sb, cb := math.Sincos(b)
		end := m.Apply(Point{cb, sb})
		if i == n-1 {
			end = to
		}
		p.CurveTo(m.Apply(Point{ca - reach*sa, sa + reach*ca}), m.Apply(Point{cb + reach*sb, sb - reach*cb}), end)
	}
}
