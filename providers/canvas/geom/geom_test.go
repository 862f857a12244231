package geom

import (
	"math"
	"testing"
)

// size is the area inside a path, by the signed areas of its figures.
func size(p Path) float64 {
	twice := 0.0
	for _, l := range p.Flatten(0.01) {
		for i, a := range l.Points {
			twice += a.cross(l.Points[(i+1)%len(l.Points)])
		}
	}
	return math.Abs(twice) / 2
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance || math.IsNaN(got) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

func TestCombine(t *testing.T) {
	t.Parallel()
	square := func(x, y float64) Path { return RoundedRect(Rect{x, y, 10, 10}, [4]float64{}) }
	disc := Ellipse(Rect{0, 0, 10, 10})
	for _, c := range []struct {
		name  string
		areas []Path
		want  map[Operation]float64
	}{
		{"overlapping", []Path{square(0, 0), square(5, 5)}, map[Operation]float64{UnionOf: 175, Difference: 75, Intersection: 25, Exclude: 150}},
		{"apart", []Path{square(0, 0), square(50, 0)}, map[Operation]float64{UnionOf: 200, Difference: 100, Intersection: 0, Exclude: 200}},
		{"the same", []Path{square(0, 0), square(0, 0)}, map[Operation]float64{UnionOf: 100, Difference: 0, Intersection: 100, Exclude: 0}},
		{"side by side", []Path{square(0, 0), square(10, 0)}, map[Operation]float64{UnionOf: 200, Difference: 100, Intersection: 0, Exclude: 200}},
		{"shared edge", []Path{square(0, 0), square(5, 0)}, map[Operation]float64{UnionOf: 150, Difference: 50, Intersection: 50, Exclude: 100}},
		{"a disc in a square", []Path{square(0, 0), disc}, map[Operation]float64{UnionOf: 100, Difference: 100 - 25*math.Pi, Intersection: 25 * math.Pi, Exclude: 100 - 25*math.Pi}},
		{"three", []Path{square(0, 0), square(5, 0), square(0, 5)}, map[Operation]float64{UnionOf: 200, Difference: 25, Intersection: 25, Exclude: 150}},
	} {
		for op, want := range c.want {
			got, err := op.Combine(c.areas...)
			if err != nil {
				t.Fatal(err)
			}
			near(t, c.name+", "+string(op), size(got), want, 0.3)
		}
	}
}

func TestBoundsAreExact(t *testing.T) {
	t.Parallel()
	var p Path
	p.MoveTo(Point{0, 0})
	p.CurveTo(Point{0, 40}, Point{100, 40}, Point{100, 0})
	b := p.Bounds()
	near(t, "the height of a curve whose control points reach to 40", b.H, 30, 1e-9)
	var arc Path
	arc.MoveTo(Point{0, 60})
	arc.ArcTo(Point{0, 60}, 60, 60, 0, true, true, Point{120, 60})
	near(t, "the top of a half circle", arc.Bounds().Y, 0, 0.02)
	near(t, "its bottom", arc.Bounds().Y+arc.Bounds().H, 60, 0.02)
}

func TestArcs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		large, sweep bool
		height       float64
	}{{false, false, 100 - 100*math.Sqrt(0.75)}, {false, true, 100 - 100*math.Sqrt(0.75)}, {true, true, 100 + 100*math.Sqrt(0.75)}, {true, false, 100 + 100*math.Sqrt(0.75)}} {
		var p Path
		p.MoveTo(Point{0, 0})
		p.ArcTo(Point{0, 0}, 100, 100, 0, c.large, c.sweep, Point{100, 0})
		b := p.Bounds()
		near(t, "the height of an arc", b.H, c.height, 0.1)
		if up := b.Y < -1; up != c.sweep {
			t.Errorf("large %v, sweep %v: it goes up: %v", c.large, c.sweep, up)
		}
	}
	var p Path
	p.MoveTo(Point{0, 0})
	p.ArcTo(Point{0, 0}, 1, 1, 0, false, true, Point{100, 0})
	near(t, "the height of an arc whose radii had to grow", p.Bounds().H, 50, 0.1)
}

func TestStroke(t *testing.T) {
	t.Parallel()
	sum := func(areas []Polyline) (total float64) {
		for _, a := range areas {
			twice := 0.0
			for i, p := range a.Points {
				twice += p.cross(a.Points[(i+1)%len(a.Points)])
			}
			if twice < 0 {
				t.Error("an area turns the other way")
			}
			total += twice / 2
		}
		return total
	}
	line := []Polyline{{Points: []Point{{0, 0}, {100, 0}}}}
	near(t, "a line", sum(Pen{Width: 4}.Stroke(line)), 400, 1e-9)
	near(t, "a dashed line", sum(Pen{Width: 4, Dash: []float64{10, 10}}.Stroke(line)), 200, 1e-9)
	near(t, "a line of dots", sum(Pen{Width: 4, Round: true, Dash: []float64{0, 10}}.Stroke(line)), 10*4*math.Pi, 5)
	square := RoundedRect(Rect{0, 0, 100, 100}, [4]float64{}).Flatten(0.1)
	near(t, "a square with its corners, where strips overlap in the inner corners", sum(Pen{Width: 4}.Stroke(square)), 4*400+4*4, 1e-6)
}
