// Package geom is the plane geometry of drawings: points, boxes, affine maps, paths with their exact bounds, strokes as areas and
// boolean operations on areas. Lengths are in pixels, angles in degrees clockwise, y grows downward.
package geom

import "math"

// Point is a place or a direction.
type Point struct{ X, Y float64 }

// Add gives p + q.
func (p Point) Add(q Point) Point { return Point{p.X + q.X, p.Y + q.Y} }

// Sub gives p - q.
func (p Point) Sub(q Point) Point { return Point{p.X - q.X, p.Y - q.Y} }

// Mul gives p scaled by f.
func (p Point) Mul(f float64) Point { return Point{p.X * f, p.Y * f} }

// Len is the distance from the origin.
func (p Point) Len() float64 { return math.Hypot(p.X, p.Y) }

// cross is the z of the cross product: positive where q is clockwise of p on the screen.
func (p Point) cross(q Point) float64 { return p.X*q.Y - p.Y*q.X }

// lerp is the point at t between p (0) and q (1).
func (p Point) lerp(q Point, t float64) Point { return p.Add(q.Sub(p).Mul(t)) }

// Rect is a box by its upper left corner and its size.
type Rect struct{ X, Y, W, H float64 }

// Box gives the box that holds all points; the zero Rect where there is none.
func Box(points ...Point) Rect {
	if len(points) == 0 {
		return Rect{}
	}
	low, high := points[0], points[0]
	for _, p := range points[1:] {
		low = Point{min(low.X, p.X), min(low.Y, p.Y)}
		high = Point{max(high.X, p.X), max(high.Y, p.Y)}
	}
	return Rect{low.X, low.Y, high.X - low.X, high.Y - low.Y}
}

// Union gives the box of several boxes.
func Union(boxes ...Rect) Rect {
	points := make([]Point, 0, 2*len(boxes))
	for _, b := range boxes {
		points = append(points, Point{b.X, b.Y}, Point{b.X + b.W, b.Y + b.H})
	}
	return Box(points...)
}

// Center is the middle of r.
func (r Rect) Center() Point { return Point{r.X + r.W/2, r.Y + r.H/2} }

// Corners are the four corners, clockwise from the upper left one.
func (r Rect) Corners() [4]Point {
	return [4]Point{{r.X, r.Y}, {r.X + r.W, r.Y}, {r.X + r.W, r.Y + r.H}, {r.X, r.Y + r.H}}
}

// Grow gives r with so much more on each side.
func (r Rect) Grow(by float64) Rect { return Rect{r.X - by, r.Y - by, r.W + 2*by, r.H + 2*by} }

// Covers tells whether all of q lies in r.
func (r Rect) Covers(q Rect) bool {
	return q.X >= r.X && q.Y >= r.Y && q.X+q.W <= r.X+r.W && q.Y+q.H <= r.Y+r.H
}

// Matrix is an affine map: x' = A x + C y + E, y' = B x + D y + F, as in SVG.
type Matrix struct{ A, B, C, D, E, F float64 }

// Identity maps everything to itself.
func Identity() Matrix { return Matrix{A: 1, D: 1} }

// Translate moves by x, y.
func Translate(x, y float64) Matrix { return Matrix{A: 1, D: 1, E: x, F: y} }

// Scale stretches from the origin.
func Scale(x, y float64) Matrix { return Matrix{A: x, D: y} }

// Rotate turns by degrees clockwise about a point. Quarter turns are exact.
func Rotate(degrees float64, about Point) Matrix {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	if math.Mod(degrees, 90) == 0 {
		sin, cos = math.Round(sin), math.Round(cos)
	}
	turn := Matrix{A: cos, B: sin, C: -sin, D: cos}
	return Translate(about.X, about.Y).Mul(turn).Mul(Translate(-about.X, -about.Y))
}

// Mirror turns over from left to right (x), from top to bottom (y), or both, about a point.
func Mirror(x, y bool, about Point) Matrix {
	over := Identity()
	if x {
		over.A = -1
	}
	if y {
		over.D = -1
	}
	return Translate(about.X, about.Y).Mul(over).Mul(Translate(-about.X, -about.Y))
}

// Fit maps the box from onto the box to. A side of no length is only moved.
func Fit(from, to Rect) Matrix {
	x, y := 1.0, 1.0
	if from.W > 0 {
		x = to.W / from.W
	}
	if from.H > 0 {
		y = to.H / from.H
	}
	return Translate(to.X, to.Y).Mul(Scale(x, y)).Mul(Translate(-from.X, -from.Y))
}

// Mul is the map that does n first, then m.
func (m Matrix) Mul(n Matrix) Matrix {
	return Matrix{
		A: m.A*n.A + m.C*n.B, B: m.B*n.A + m.D*n.B,
		C: m.A*n.C + m.C*n.D, D: m.B*n.C + m.D*n.D,
		E: m.A*n.E + m.C*n.F + m.E, F: m.B*n.E + m.D*n.F + m.F,
	}
}

// Apply maps a point.
func (m Matrix) Apply(p Point) Point {
	return Point{m.A*p.X + m.C*p.Y + m.E, m.B*p.X + m.D*p.Y + m.F}
}

// Invert gives the map back. ok is false for a map that flattens the plane.
func (m Matrix) Invert() (back Matrix, ok bool) {
	det := m.A*m.D - m.B*m.C
	if det == 0 || math.IsNaN(det) || math.IsInf(det, 0) {
		return Identity(), false
	}
	back = Matrix{A: m.D / det, B: -m.B / det, C: -m.C / det, D: m.A / det}
	back.E, back.F = -(back.A*m.E + back.C*m.F), -(back.B*m.E + back.D*m.F)
	return back, true
}

// Bounds is the box of r's image.
func (m Matrix) Bounds(r Rect) Rect {
	c := r.Corners()
	return Box(m.Apply(c[0]), m.Apply(c[1]), m.Apply(c[2]), m.Apply(c[3]))
}
