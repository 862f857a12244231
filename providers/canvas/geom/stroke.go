package geom

import "math"

// Pen says how a line is drawn.
type Pen struct {
	Width float64
	Round bool      // round ends; else they are cut off
	Dash  []float64 // lengths of dash and gap in turn; none: unbroken
}

// miterLimit is that of SVG: a sharper corner is cut off.
const miterLimit = 4

// Stroke gives the areas that a pen covers which follows the lines. The areas overlap and all turn the same way: filled together by the
// nonzero rule they are the stroke.
func (pen Pen) Stroke(lines []Polyline) []Polyline {
	var areas []Polyline
	for _, l := range lines {
		for _, part := range pen.dashes(clean(l)) {
			areas = pen.outline(areas, part)
		}
	}
	return areas
}

// clean leaves out points that don't lead on, and the last one of a closed figure that is its first.
func clean(l Polyline) Polyline {
	points := make([]Point, 0, len(l.Points))
	for _, p := range l.Points {
		if len(points) == 0 || p.Sub(points[len(points)-1]).Len() > 1e-9 {
			points = append(points, p)
		}
	}
	for l.Closed && len(points) > 1 && points[0].Sub(points[len(points)-1]).Len() <= 1e-9 {
		points = points[:len(points)-1]
	}
	return Polyline{points, l.Closed && len(points) > 1}
}

// maxDashes bounds the dashes of a line.
const maxDashes = 20_000

// dashes breaks a line up.
func (pen Pen) dashes(l Polyline) []Polyline {
	period := 0.0
	for _, d := range pen.Dash {
		period += d
	}
	points := l.Points
	if l.Closed {
		points = append(points[:len(points):len(points)], points[0])
	}
	length := 0.0
	for i := 1; i < len(points); i++ {
		length += points[i].Sub(points[i-1]).Len()
	}
	if period <= 0 || length == 0 || length/period > maxDashes {
		return []Polyline{l}
	}
	var parts []Polyline
	part, index, rest := []Point{points[0]}, 0, pen.Dash[0]
	for i := 1; i < len(points); i++ {
		from, to := points[i-1], points[i]
		for to.Sub(from).Len() > rest {
			from = from.lerp(to, rest/to.Sub(from).Len())
			if index%2 == 0 {
				parts = append(parts, Polyline{Points: append(part, from)})
			}
			part, index = []Point{from}, (index+1)%len(pen.Dash)
			rest = pen.Dash[index]
		}
		rest -= to.Sub(from).Len()
		part = append(part, to)
	}
	if index%2 == 0 {
		parts = append(parts, Polyline{Points: part})
	}
	return parts
}

// outline adds the areas of one line: a strip for each part, what fills the corners, and the ends.
func (pen Pen) outline(areas []Polyline, l Polyline) []Polyline {
	l = clean(l)
	half, points := pen.Width/2, l.Points
	if len(points) == 0 {
		return areas
	}
	if len(points) == 1 {
		if pen.Round {
			areas = append(areas, disc(points[0], half))
		}
		return areas
	}
	n := len(points)
	strips := n - 1
	if l.Closed {
		strips = n
	}
	for i := range strips {
		a, b := points[i], points[(i+1)%n]
		side := normal(a, b).Mul(half)
		areas = append(areas, area(a.Add(side), b.Add(side), b.Sub(side), a.Sub(side)))
		if l.Closed || i+1 < strips {
			areas = append(areas, corner(a, b, points[(i+2)%n], half)...)
		}
	}
	if pen.Round && !l.Closed {
		areas = append(areas, disc(points[0], half), disc(points[n-1], half))
	}
	return areas
}

// normal is the direction of length 1 across a line from a to b.
func normal(a, b Point) Point {
	d := b.Sub(a)
	d = d.Mul(1 / d.Len())
	return Point{-d.Y, d.X}
}

// corner fills the outer side of the corner at b: to a point, or cut off where that were too far away.
func corner(a, b, c Point, half float64) []Polyline {
	n1, n2 := normal(a, b), normal(b, c)
	turn := n1.cross(n2)
	if math.Abs(turn) < 1e-9 {
		return nil
	}
	if turn > 0 { // the outer side is the other one
		n1, n2 = n1.Mul(-1), n2.Mul(-1)
	}
	p1, p2 := b.Add(n1.Mul(half)), b.Add(n2.Mul(half))
	middle := n1.Add(n2)
	square := middle.X*middle.X + middle.Y*middle.Y
	if square > 4.0/(miterLimit*miterLimit) {
		return []Polyline{area(b, p1, b.Add(middle.Mul(2*half/square)), p2)}
	}
	return []Polyline{area(b, p1, p2)}
}

// area is a closed figure that turns clockwise.
func area(points ...Point) Polyline {
	twice := 0.0
	for i, p := range points {
		twice += p.cross(points[(i+1)%len(points)])
	}
	if twice < 0 {
		for i, j := 0, len(points)-1; i < j; i, j = i+1, j-1 {
			points[i], points[j] = points[j], points[i]
		}
	}
	return Polyline{points, true}
}

func disc(c Point, r float64) Polyline {
	outline := Ellipse(Rect{c.X - r, c.Y - r, 2 * r, 2 * r}).Flatten(0.05)
	return area(outline[0].Points...)
}
