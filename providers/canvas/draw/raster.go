package draw

import (
	"context"
	"image"
	imagedraw "image/draw"
	"math"

	"golang.org/x/image/vector"

	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// flatness is how far straight parts may be off from a curve, in pixels.
const flatness = 0.1

// painter draws a view into pixels. A layer is an image whose bounds are a part of the picture.
type painter struct {
	*Drawer
	view
	ctx     context.Context
	notes   *notes
	toPixel geom.Matrix // of the page
	raster  vector.Rasterizer
}

func (d *Drawer) pixels(ctx context.Context, v view, n *notes) (*image.RGBA, error) {
	p := &painter{Drawer: d, view: v, ctx: ctx, notes: n}
	p.toPixel = geom.Scale(v.scale, v.scale).Mul(geom.Translate(-v.frame.X, -v.frame.Y))
	whole := image.NewRGBA(image.Rect(0, 0, v.w, v.h))
	for _, sh := range v.shapes {
		if err := p.shape(whole, sh); err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// shape draws a shape with all that it holds onto a layer.
func (p *painter) shape(to *image.RGBA, sh *scene.Shape) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if sh.Hidden || sh.Opacity == 0 {
		return nil
	}
	extent := p.extent(sh)
	visible := extent.Intersect(to.Rect)
	if visible.Empty() {
		return nil
	}
	if p.direct(sh) {
		return p.content(to, sh, sh.Opacity)
	}
	if len(sh.Shadows) > 0 || sh.Blur != nil { // they also show what is out of sight itself
		visible = pixelRect(p.reach(sh, visible)).Intersect(extent)
	}
	layer := image.NewRGBA(visible)
	if err := p.content(layer, sh, 1); err != nil {
		return err
	}
	p.effects(layer, sh)
	blend(to, layer, sh.Opacity, sh.Blend())
	return nil
}

// direct tells whether a shape can be drawn without a layer of its own.
func (p *painter) direct(sh *scene.Shape) bool {
	if sh.Blend() != "normal" || len(sh.Shadows) > 0 || sh.Blur != nil {
		return false
	}
	switch sh.Type {
	case scene.Group:
		return sh.Opacity == 1
	case scene.Board:
		_, plain := p.plainClip(sh)
		return sh.Opacity == 1 && (plain || !sh.ClipContent) && !p.mixes(sh)
	}
	return sh.Opacity == 1 || len(sh.Fills)+len(sh.Strokes) == 1
}

// plainClip is the part of the picture that a board leaves to its children, where it is made of whole pixels.
func (p *painter) plainClip(sh *scene.Shape) (image.Rectangle, bool) {
	b := p.toPixel.Bounds(sh.Box())
	r := image.Rect(round(b.X), round(b.Y), round(b.X+b.W), round(b.Y+b.H))
	near := func(v float64, n int) bool { return math.Abs(v-float64(n)) < 1e-3 }
	whole := near(b.X, r.Min.X) && near(b.Y, r.Min.Y) && near(b.X+b.W, r.Max.X) && near(b.Y+b.H, r.Max.Y)
	return r, whole && sh.Radii == [4]float64{} && sh.Rotation == 0
}

func round(v float64) int { return int(math.Round(v)) }

// extent is the part of the picture that a shape can reach, with strokes and shadows.
func (p *painter) extent(sh *scene.Shape) image.Rectangle {
	box := p.Bounds(sh)
	if sh.Type == scene.Board && !sh.ClipContent || sh.Type == scene.Group {
		var r image.Rectangle
		for _, child := range p.Children(sh.ID) {
			if !child.Hidden {
				r = r.Union(p.extent(child))
			}
		}
		if sh.Type == scene.Group {
			return pixelRect(p.reach(sh, r))
		}
		return r.Union(pixelRect(p.reach(sh, pixelRect(p.toPixel.Bounds(box)))))
	}
	if sh.Type == scene.TextShape { // glyphs may hang out of their box, and so may lines
		whole := sh.Box()
		if sh.Text.GrowType == "fixed" {
			_, h := p.Fonts.Measure(*sh.Text, sh.Width)
			whole.H = max(whole.H, h)
		}
		box = sh.Turn().Bounds(whole.Grow(sh.Text.FontSize))
	}
	grown := 0.0
	for _, s := range sh.Strokes {
		grown = max(grown, s.Width*(2+2*markerSize)) // corners reach further than half the width
	}
	return pixelRect(p.reach(sh, pixelRect(p.toPixel.Bounds(box.Grow(grown)))))
}

// reach is r grown by what a shape's shadows and blur need on each side, in pixels.
func (p *painter) reach(sh *scene.Shape, r image.Rectangle) geom.Rect {
	more := 0.0
	for _, s := range sh.Shadows {
		more = max(more, math.Abs(s.OffsetX)+math.Abs(s.OffsetY)+math.Abs(s.Spread)+1.5*s.Blur+1)
	}
	if sh.Blur != nil {
		more += 3 * sh.Blur.Value
	}
	return geom.Rect{X: float64(r.Min.X), Y: float64(r.Min.Y), W: float64(r.Dx()), H: float64(r.Dy())}.Grow(more * p.scale)
}

// farAway bounds the pixels that are thought of.
const farAway = 1 << 20

func pixelRect(r geom.Rect) image.Rectangle {
	at := func(v float64) int { return int(min(max(v, -farAway), farAway)) }
	return image.Rect(at(math.Floor(r.X)), at(math.Floor(r.Y)), at(math.Ceil(r.X+r.W)), at(math.Ceil(r.Y+r.H)))
}

// content draws what a shape is and holds, without its effects.
func (p *painter) content(to *image.RGBA, sh *scene.Shape, opacity float64) error {
	switch sh.Type {
	case scene.Group:
		return p.children(to, sh)
	case scene.Board:
		return p.board(to, sh)
	case scene.TextShape:
		return p.text(to, sh, opacity)
	}
	outline := sh.Outline()
	m := p.toPixel.Mul(sh.Turn())
	if len(sh.Fills) > 0 {
		if err := p.fill(to, sh, p.cover(to.Rect, outline.Transform(m).Flatten(flatness)), sh.Fills, opacity); err != nil {
			return err
		}
	}
	return p.strokes(to, sh, outline, m, opacity)
}

func (p *painter) children(to *image.RGBA, sh *scene.Shape) error {
	for _, child := range p.Children(sh.ID) {
		if err := p.shape(to, child); err != nil {
			return err
		}
	}
	return nil
}

// board draws a board: its fills, its children, and its strokes on top. A clip that is not made of whole pixels is applied to fills and children
// together, so that the edge is softened once.
func (p *painter) board(to *image.RGBA, sh *scene.Shape) error {
	outline, m := sh.Outline(), p.toPixel.Mul(sh.Turn())
	clip, plain := p.plainClip(sh)
	inside := to
	if sh.ClipContent && plain {
		inside = to.SubImage(clip).(*image.RGBA)
	}
	mask := p.cover(inside.Rect, outline.Transform(m).Flatten(flatness))
	if sh.ClipContent && !plain {
		if err := p.fill(to, sh, full(mask.Rect), sh.Fills, 1); err != nil {
			return err
		}
		if err := p.children(to, sh); err != nil {
			return err
		}
		clipTo(to, mask)
	} else {
		if err := p.fill(inside, sh, mask, sh.Fills, 1); err != nil {
			return err
		}
		if err := p.children(inside, sh); err != nil {
			return err
		}
	}
	return p.strokes(to, sh, outline, m, 1)
}

// cover gives how much of each pixel closed figures cover, by the nonzero rule.
func (p *painter) cover(within image.Rectangle, figures []geom.Polyline) *image.Alpha {
	var all []geom.Point
	for _, f := range figures {
		all = append(all, f.Points...)
	}
	r := pixelRect(geom.Box(all...)).Intersect(within)
	mask := image.NewAlpha(r)
	if len(all) == 0 || r.Empty() {
		return mask
	}
	p.raster.Reset(r.Dx(), r.Dy())
	p.raster.DrawOp = imagedraw.Src // the mask is new
	for _, f := range figures {
		for i, q := range f.Points {
			x, y := float32(q.X-float64(r.Min.X)), float32(q.Y-float64(r.Min.Y))
			if i == 0 {
				p.raster.MoveTo(x, y)
			} else {
				p.raster.LineTo(x, y)
			}
		}
		p.raster.ClosePath()
	}
	p.raster.Draw(mask, r, image.Opaque, image.Point{})
	return mask
}

// full covers all pixels.
func full(r image.Rectangle) *image.Alpha {
	mask := image.NewAlpha(r)
	for i := range mask.Pix {
		mask.Pix[i] = 255
	}
	return mask
}

// clipTo leaves of a layer what a mask covers.
func clipTo(layer *image.RGBA, mask *image.Alpha) {
	for y := layer.Rect.Min.Y; y < layer.Rect.Max.Y; y++ {
		for x := layer.Rect.Min.X; x < layer.Rect.Max.X; x++ {
			a := uint32(mask.AlphaAt(x, y).A)
			if a == 255 {
				continue
			}
			pix := layer.Pix[layer.PixOffset(x, y):]
			for i := range 4 {
				pix[i] = times(uint32(pix[i]), a)
			}
		}
	}
}

// times multiplies two shares of 255.
func times(a, b uint32) uint8 {
	t := a*b + 128
	return uint8((t + t>>8) >> 8)
}

func (p *painter) text(to *image.RGBA, sh *scene.Shape, opacity float64) error {
	block := p.Fonts.Set(*sh.Text, sh.Width, sh.Height)
	p.notes.missing(block.Missing)
	m := p.toPixel.Mul(sh.Turn()).Mul(geom.Translate(sh.X, sh.Y))
	for _, piece := range block.Pieces {
		fills := piece.Fills
		if fills == nil {
			fills = sh.Fills
		}
		if err := p.fill(to, sh, p.cover(to.Rect, piece.Outline.Transform(m).Flatten(flatness)), fills, opacity); err != nil {
			return err
		}
		if err := p.strokes(to, sh, piece.Outline, m, opacity); err != nil {
			return err
		}
	}
	return nil
}
