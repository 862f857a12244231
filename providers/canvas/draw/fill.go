package draw

import (
	"image"
	"math"
	"strconv"

	xdraw "golang.org/x/image/draw"

	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// pixel is a colour multiplied by how opaque it is.
type pixel [4]uint8

// shader gives the colour at a pixel.
type shader func(x, y int) pixel

// fill lays fills over each other into what a mask covers; the first is on top.
func (p *painter) fill(to *image.RGBA, sh *scene.Shape, mask *image.Alpha, fills []scene.Fill, opacity float64) error {
	for i := len(fills) - 1; i >= 0; i-- {
		f := fills[i]
		share := f.Opacity * opacity
		switch {
		case f.Image != nil:
			shade, err := p.imageShader(sh, f.Image.ID, share)
			if err != nil {
				if p.ctx.Err() != nil {
					return p.ctx.Err()
				}
				p.notes.add("the picture of %s %q can't be opened", sh.Type, sh.Name)
				continue
			}
			paint(to, mask, shade)
		case f.Gradient != nil:
			paint(to, mask, p.gradientShader(sh, f.Gradient, share))
		default:
			c := rgba(f.Color, share)
			paint(to, mask, func(int, int) pixel { return c })
		}
	}
	return nil
}

// paint lays colours over what is there, as far as a mask covers it.
func paint(to *image.RGBA, mask *image.Alpha, shade shader) {
	r := mask.Rect.Intersect(to.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		pix, cover := to.Pix[to.PixOffset(r.Min.X, y):], mask.Pix[mask.PixOffset(r.Min.X, y):]
		for i := range r.Dx() {
			a := uint32(cover[i])
			if a == 0 {
				continue
			}
			c := shade(r.Min.X+i, y)
			under := pix[4*i : 4*i+4 : 4*i+4]
			if a == 255 && c[3] == 255 {
				copy(under, c[:])
				continue
			}
			rest := 255 - uint32(times(uint32(c[3]), a))
			for j := range under {
				under[j] = times(uint32(c[j]), a) + times(uint32(under[j]), rest)
			}
		}
	}
}

// rgba reads #RRGGBB.
func rgba(hex string, opacity float64) pixel {
	v, _ := strconv.ParseUint(hex[min(1, len(hex)):], 16, 32)
	a := uint32(math.Round(opacity * 255))
	return pixel{times(uint32(v>>16&255), a), times(uint32(v>>8&255), a), times(uint32(v&255), a), uint8(a)}
}

// gradientShader mixes the colours of stops, not multiplied by their opacity, as SVG does.
func (p *painter) gradientShader(sh *scene.Shape, g *scene.Gradient, opacity float64) shader {
	const steps = 1024
	var table [steps + 1]pixel
	for i := range table {
		table[i] = colourAt(g.Stops, float64(i)/steps, opacity)
	}
	m, ok := gradientSpace(sh, g)
	if !ok { // of no length: its last colour
		return func(int, int) pixel { return table[steps] }
	}
	back, _ := p.toPixel.Mul(sh.Turn()).Mul(m).Invert()
	return func(x, y int) pixel {
		q := back.Apply(geom.Point{X: float64(x) + 0.5, Y: float64(y) + 0.5})
		t := q.X
		if g.Type == "radial" {
			t = q.Len()
		}
		return table[int(min(max(t, 0), 1)*steps+0.5)]
	}
}

// thinnest is what counts as the side of a box that has none, as that of a straight line, so that a gradient can follow its other side.
const thinnest = 0.01

// gradientSpace maps a gradient of length 1 that begins at 0, 0 and goes to the right onto the page. ok is false for one of no length.
func gradientSpace(sh *scene.Shape, g *scene.Gradient) (m geom.Matrix, ok bool) {
	d := geom.Point{X: g.EndX - g.StartX, Y: g.EndY - g.StartY}
	width := 1.0
	if g.Type == "radial" && g.Width > 0 {
		width = g.Width
	}
	axes := geom.Matrix{A: d.X, B: d.Y, C: -d.Y * width, D: d.X * width, E: g.StartX, F: g.StartY}
	box := sh.Box()
	box.W, box.H = max(box.W, thinnest), max(box.H, thinnest)
	return geom.Fit(geom.Rect{W: 1, H: 1}, box).Mul(axes), d != geom.Point{}
}

func colourAt(stops []scene.Stop, t, opacity float64) pixel {
	after := 0
	for after < len(stops) && stops[after].Offset < t {
		after++
	}
	if after == 0 {
		return rgba(stops[0].Color, stops[0].Opacity*opacity)
	}
	if after == len(stops) {
		return rgba(stops[after-1].Color, stops[after-1].Opacity*opacity)
	}
	a, b := stops[after-1], stops[after]
	share := (t - a.Offset) / (b.Offset - a.Offset)
	from, to := rgba(a.Color, 1), rgba(b.Color, 1)
	alpha := (a.Opacity + (b.Opacity-a.Opacity)*share) * opacity
	var c pixel
	for i := range 3 {
		c[i] = uint8(math.Round((float64(from[i]) + (float64(to[i])-float64(from[i]))*share) * alpha))
	}
	c[3] = uint8(math.Round(alpha * 255))
	return c
}

// imageShader covers a shape's box with a picture in its own proportions. A picture that is larger is made smaller first, by the area of its pixels.
func (p *painter) imageShader(sh *scene.Shape, ref string, opacity float64) (shader, error) {
	source, err := p.Image(p.ctx, ref)
	if err != nil {
		return nil, err
	}
	b := source.Bounds()
	box := coverBox(sh.Box(), b.Dx(), b.Dy())
	w, h := min(b.Dx(), max(1, int(math.Ceil(box.W*p.scale)))), min(b.Dy(), max(1, int(math.Ceil(box.H*p.scale))))
	pixels := image.NewRGBA(image.Rect(0, 0, w, h))
	if w == b.Dx() && h == b.Dy() {
		xdraw.Draw(pixels, pixels.Rect, source, b.Min, xdraw.Src)
	} else {
		xdraw.BiLinear.Scale(pixels, pixels.Rect, source, b, xdraw.Src, nil)
	}
	m := p.toPixel.Mul(sh.Turn()).Mul(geom.Fit(geom.Rect{W: float64(w), H: float64(h)}, box))
	back, _ := m.Invert()
	a := uint32(math.Round(opacity * 255))
	return func(x, y int) pixel {
		q := back.Apply(geom.Point{X: float64(x) + 0.5, Y: float64(y) + 0.5})
		c := sample(pixels, q.X-0.5, q.Y-0.5)
		if a < 255 {
			for i := range c {
				c[i] = times(uint32(c[i]), a)
			}
		}
		return c
	}, nil
}

// coverBox is the box of a picture that covers r in its own proportions, in its middle.
func coverBox(r geom.Rect, w, h int) geom.Rect {
	f := max(r.W/float64(w), r.H/float64(h))
	c := r.Center()
	return geom.Rect{X: c.X - float64(w)*f/2, Y: c.Y - float64(h)*f/2, W: float64(w) * f, H: float64(h) * f}
}

// sample reads a picture between its pixels; beyond its edge it goes on as there.
func sample(img *image.RGBA, x, y float64) pixel {
	x0, y0 := math.Floor(x), math.Floor(y)
	fx, fy := x-x0, y-y0
	at := func(dx, dy int) []uint8 {
		cx, cy := min(max(int(x0)+dx, 0), img.Rect.Dx()-1), min(max(int(y0)+dy, 0), img.Rect.Dy()-1)
		return img.Pix[cy*img.Stride+4*cx:]
	}
	a, b, c, d := at(0, 0), at(1, 0), at(0, 1), at(1, 1)
	var out pixel
	for i := range out {
		top := float64(a[i]) + (float64(b[i])-float64(a[i]))*fx
		low := float64(c[i]) + (float64(d[i])-float64(c[i]))*fx
		out[i] = uint8(top + (low-top)*fy + 0.5)
	}
	return out
}
