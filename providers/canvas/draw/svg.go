package draw

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// svgWriter writes a view as SVG 1.1 with the CSS of compositing. Texts are outlines, with what they say beside them: so they look the same
// everywhere, whatever fonts there are.
type svgWriter struct {
	*Drawer
	view
	ctx   context.Context
	notes *notes
	defs  strings.Builder
	body  strings.Builder
	ids   int
}

func (d *Drawer) svg(ctx context.Context, v view, n *notes) ([]byte, error) {
	w := &svgWriter{Drawer: d, view: v, ctx: ctx, notes: n}
	for _, sh := range v.shapes {
		if err := w.shape(sh); err != nil {
			return nil, err
		}
	}
	f := v.frame
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="%s %s %s %s">`, v.w, v.h,
		num(f.X), num(f.Y), num(float64(v.w)/v.scale), num(float64(v.h)/v.scale))
	defs := ""
	if w.defs.Len() > 0 {
		defs = "<defs>" + w.defs.String() + "</defs>\n"
	}
	return []byte(head + "\n" + defs + w.body.String() + "</svg>\n"), nil
}

// num writes a number with at most three digits after the point.
func num(v float64) string { return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64) }

// escape makes a text fit for an attribute.
func escape(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, text)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\n", "&#10;").Replace(text)
}

// define adds to the definitions and gives a reference. The format takes the id first.
func (w *svgWriter) define(format string, args ...any) string {
	w.ids++
	id := "d" + strconv.Itoa(w.ids)
	fmt.Fprintf(&w.defs, format, append([]any{id}, args...)...)
	return "url(#" + id + ")"
}

func transform(m geom.Matrix) string {
	if m == geom.Identity() {
		return ""
	}
	precise := func(v float64) string { return strconv.FormatFloat(math.Round(v*1e8)/1e8, 'f', -1, 64) }
	return ` transform="matrix(` + strings.Join([]string{precise(m.A), precise(m.B), precise(m.C), precise(m.D), precise(m.E), precise(m.F)}, " ") + `)"`
}

func (w *svgWriter) shape(sh *scene.Shape) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if sh.Hidden || sh.Opacity == 0 {
		return nil
	}
	attributes := ` data-id="` + sh.ID + `" data-name="` + escape(sh.Name) + `"`
	var style []string
	if sh.Blend() != "normal" {
		style = append(style, "mix-blend-mode:"+sh.Blend())
	}
	if sh.Type == scene.Board {
		style = append(style, "isolation:isolate")
	}
	if len(style) > 0 {
		attributes += ` style="` + strings.Join(style, ";") + `"`
	}
	if sh.Opacity != 1 {
		attributes += ` opacity="` + num(sh.Opacity) + `"`
	}
	if f := w.filter(sh); f != "" {
		attributes += ` filter="` + f + `"`
	}
	if sh.Type == scene.TextShape {
		attributes += ` role="img" aria-label="` + escape(sh.Text.Characters) + `"`
	}
	w.body.WriteString("<g" + attributes + ">")
	if err := w.content(sh); err != nil {
		return err
	}
	w.body.WriteString("</g>\n")
	return nil
}

func (w *svgWriter) content(sh *scene.Shape) error {
	switch sh.Type {
	case scene.Group:
		return w.children(sh)
	case scene.TextShape:
		return w.text(sh)
	case scene.Board:
		return w.board(sh)
	}
	e := element{sh: sh, tag: tagOf(sh), m: sh.Turn()}
	if err := w.fills(e, sh.Fills); err != nil {
		return err
	}
	w.strokes(e, sh.Outline())
	return nil
}

// board writes a board: its fills, its children within its outline, its strokes. What is clipped blends only with what is clipped together with it,
// which the fills are where something in the board blends.
func (w *svgWriter) board(sh *scene.Shape) error {
	e := element{sh: sh, tag: tagOf(sh), m: sh.Turn()}
	begin := "<g>\n"
	if sh.ClipContent {
		begin = `<g clip-path="` + w.define(`<clipPath id="%s">%s</clipPath>`, e.write("")) + "\">\n"
	}
	mixes := w.mixes(sh)
	if mixes {
		w.body.WriteString(begin)
	}
	if err := w.fills(e, sh.Fills); err != nil {
		return err
	}
	if !mixes {
		w.body.WriteString(begin)
	}
	if err := w.children(sh); err != nil {
		return err
	}
	w.body.WriteString("</g>")
	w.strokes(e, sh.Outline())
	return nil
}

func (w *svgWriter) children(sh *scene.Shape) error {
	for _, child := range w.Children(sh.ID) {
		if err := w.shape(child); err != nil {
			return err
		}
	}
	return nil
}

func (w *svgWriter) text(sh *scene.Shape) error {
	block := w.Fonts.Set(*sh.Text, sh.Width, sh.Height)
	w.notes.missing(block.Missing)
	for _, piece := range block.Pieces {
		outline := piece.Outline.Transform(geom.Translate(sh.X, sh.Y))
		fills := piece.Fills
		if fills == nil {
			fills = sh.Fills
		}
		e := element{sh: sh, tag: `path d="` + scene.SVGPath(outline) + `"`, m: sh.Turn()}
		if err := w.fills(e, fills); err != nil {
			return err
		}
		w.strokes(e, outline)
	}
	return nil
}

// element is a figure that is written once for each fill and stroke.
type element struct {
	sh  *scene.Shape
	tag string // without its brackets
	m   geom.Matrix
}

func (e element) write(attributes string) string {
	return "<" + e.tag + attributes + transform(e.m) + "/>"
}

func tagOf(sh *scene.Shape) string {
	b := sh.Box()
	switch {
	case sh.Type == scene.Ellipse:
		c := b.Center()
		return fmt.Sprintf(`ellipse cx="%s" cy="%s" rx="%s" ry="%s"`, num(c.X), num(c.Y), num(b.W/2), num(b.H/2))
	case (sh.Type == scene.Rectangle || sh.Type == scene.Board) && sh.Radii == [4]float64{sh.Radii[0], sh.Radii[0], sh.Radii[0], sh.Radii[0]}:
		tag := fmt.Sprintf(`rect x="%s" y="%s" width="%s" height="%s"`, num(b.X), num(b.Y), num(b.W), num(b.H))
		if r := min(sh.Radii[0], min(b.W, b.H)/2); r > 0 {
			tag += ` rx="` + num(r) + `"`
		}
		return tag
	}
	return `path d="` + scene.SVGPath(sh.Outline()) + `"`
}

func (w *svgWriter) fills(e element, fills []scene.Fill) error {
	for i := len(fills) - 1; i >= 0; i-- {
		f := fills[i]
		switch {
		case f.Image != nil:
			if err := w.picture(e, f); err != nil {
				return err
			}
		case f.Gradient != nil:
			w.body.WriteString(e.write(paintOf("fill", w.gradient(e.sh, f.Gradient), f.Opacity)))
		default:
			w.body.WriteString(e.write(paintOf("fill", f.Color, f.Opacity)))
		}
	}
	return nil
}

// paintOf is the attribute of a paint, and how opaque it is.
func paintOf(what, paint string, opacity float64) string {
	s := " " + what + `="` + paint + `"`
	if opacity != 1 {
		s += " " + what + `-opacity="` + num(opacity) + `"`
	}
	return s
}

func (w *svgWriter) gradient(sh *scene.Shape, g *scene.Gradient) string {
	m, ok := gradientSpace(sh, g)
	colours := g.Stops
	if !ok { // of no length: its last colour
		m, colours = geom.Identity(), colours[len(colours)-1:]
	}
	var stops strings.Builder
	for _, s := range colours {
		fmt.Fprintf(&stops, `<stop offset="%s" stop-color="%s" stop-opacity="%s"/>`, num(s.Offset), s.Color, num(s.Opacity))
	}
	at := strings.Replace(transform(m), " transform", " gradientTransform", 1)
	if g.Type == "radial" {
		return w.define(`<radialGradient id="%s" gradientUnits="userSpaceOnUse" cx="0" cy="0" r="1"%s>%s</radialGradient>`, at, stops.String())
	}
	return w.define(`<linearGradient id="%s" gradientUnits="userSpaceOnUse" x1="0" y1="0" x2="1" y2="0"%s>%s</linearGradient>`, at, stops.String())
}

// picture writes the file itself, so that the drawing is one file.
func (w *svgWriter) picture(e element, f scene.Fill) error {
	content, mime, err := w.File(w.ctx, f.Image.ID)
	if err == nil && (f.Image.Width == 0 || f.Image.Height == 0) {
		err = fmt.Errorf("its size is not known")
	}
	if err != nil {
		if w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		w.notes.add("the picture of %s %q can't be opened", e.sh.Type, e.sh.Name)
		return nil
	}
	box := coverBox(e.sh.Box(), f.Image.Width, f.Image.Height)
	plain := element{e.sh, e.tag, geom.Identity()}
	clip := w.define(`<clipPath id="%s">%s</clipPath>`, plain.write(""))
	fmt.Fprintf(&w.body, `<g clip-path="%s"%s><image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" opacity="%s" href="data:%s;base64,%s"/></g>`,
		clip, transform(e.m), num(box.X), num(box.Y), num(box.W), num(box.H), num(f.Opacity), mime, base64.StdEncoding.EncodeToString(content))
	return nil
}

func (w *svgWriter) strokes(e element, outline geom.Path) {
	for i := len(e.sh.Strokes) - 1; i >= 0; i-- {
		s := e.sh.Strokes[i]
		if s.Style == "none" || s.Width == 0 {
			continue
		}
		if s.Style != "solid" { // of a path it is certain where dashes begin
			e.tag = `path d="` + scene.SVGPath(outline) + `"`
		}
		paint, around := s.Color, ""
		if s.Gradient != nil {
			paint = w.gradient(e.sh, s.Gradient)
		}
		switch s.Alignment {
		case "inner":
			s.Width *= 2
			around = ` clip-path="` + w.define(`<clipPath id="%s">%s</clipPath>`, e.write("")) + `"`
		case "outer":
			s.Width *= 2
			r := e.sh.Turn().Bounds(e.sh.Box()).Grow(2 * s.Width)
			around = ` mask="` + w.define(`<mask id="%s" maskUnits="userSpaceOnUse" x="%s" y="%s" width="%s" height="%s"><rect x="%[2]s" y="%[3]s" width="%[4]s" height="%[5]s" fill="#fff"/>%[6]s</mask>`,
				num(r.X), num(r.Y), num(r.W), num(r.H), e.write(` fill="#000"`)) + `"`
		}
		if around != "" {
			w.body.WriteString("<g" + around + ">")
		}
		w.body.WriteString(e.write(` fill="none"` + paintOf("stroke", paint, s.Opacity) + penOf(s)))
		for _, m := range markers(s, outline.Flatten(flatness)) {
			w.body.WriteString(element{e.sh, `path d="` + scene.SVGPath(m) + `"`, e.m}.write(paintOf("fill", paint, s.Opacity)))
		}
		if around != "" {
			w.body.WriteString("</g>")
		}
	}
}

func penOf(s scene.Stroke) string {
	p := pen(s)
	out := ` stroke-width="` + num(p.Width) + `"`
	if p.Round {
		out += ` stroke-linecap="round"`
	}
	if len(p.Dash) > 0 {
		parts := make([]string, len(p.Dash))
		for i, d := range p.Dash {
			parts[i] = num(d)
		}
		out += ` stroke-dasharray="` + strings.Join(parts, " ") + `"`
	}
	return out
}

// filter makes a shape's shadows and blur, as effects does with pixels.
func (w *svgWriter) filter(sh *scene.Shape) string {
	blurred := sh.Blur != nil && !sh.Blur.Hidden && sh.Blur.Value > 0
	if len(sh.Shadows) == 0 && !blurred {
		return ""
	}
	var steps, merge strings.Builder
	node := func(name string) { merge.WriteString(`<feMergeNode in="` + name + `"/>`) }
	one := func(i int, style string) {
		s := sh.Shadows[i]
		if s.Style != style || s.Hidden {
			return
		}
		name := "s" + strconv.Itoa(i)
		steps.WriteString(shadowSteps(s, name))
		node(name)
	}
	for i := len(sh.Shadows) - 1; i >= 0; i-- {
		one(i, "drop-shadow")
	}
	node("SourceGraphic")
	for i := len(sh.Shadows) - 1; i >= 0; i-- {
		one(i, "inner-shadow")
	}
	end := ""
	if blurred {
		end = `<feGaussianBlur stdDeviation="` + num(sh.Blur.Value) + `"/>`
	}
	p := painter{Drawer: w.Drawer, view: w.view, toPixel: geom.Identity()}
	p.scale = 1
	r := p.extent(sh)
	return w.define(`<filter id="%s" filterUnits="userSpaceOnUse" x="%d" y="%d" width="%d" height="%d" color-interpolation-filters="sRGB">%s<feMerge>%s</feMerge>%s</filter>`,
		r.Min.X, r.Min.Y, r.Dx(), r.Dy(), steps.String(), merge.String(), end)
}

func shadowSteps(s scene.Shadow, name string) string {
	var b strings.Builder
	in := "SourceAlpha"
	if s.Style == "inner-shadow" {
		in = name + "i"
		fmt.Fprintf(&b, `<feComponentTransfer in="SourceAlpha" result="%s"><feFuncA type="linear" slope="-1" intercept="1"/></feComponentTransfer>`, in)
	}
	if s.Spread != 0 {
		operator := "dilate"
		if s.Spread < 0 {
			operator = "erode"
		}
		fmt.Fprintf(&b, `<feMorphology in="%s" operator="%s" radius="%s" result="%sm"/>`, in, operator, num(math.Abs(s.Spread)), name)
		in = name + "m"
	}
	fmt.Fprintf(&b, `<feOffset in="%s" dx="%s" dy="%s"/><feGaussianBlur stdDeviation="%s" result="%sb"/><feFlood flood-color="%s" flood-opacity="%s"/>`,
		in, num(s.OffsetX), num(s.OffsetY), num(s.Blur/2), name, s.Color.Color, num(s.Color.Opacity))
	if s.Style == "inner-shadow" {
		fmt.Fprintf(&b, `<feComposite in2="%sb" operator="in"/><feComposite in2="SourceAlpha" operator="in" result="%s"/>`, name, name)
	} else {
		fmt.Fprintf(&b, `<feComposite in2="%sb" operator="in" result="%s"/>`, name, name)
	}
	return b.String()
}
