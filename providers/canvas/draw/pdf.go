package draw

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"image"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

const (
	pointsPerPixel = 0.75 // a pixel of CSS is 1/96 inch, a point 1/72
	pdfDetail      = 2    // pixels of what is drawn as a picture, for a pixel of the scene
)

// pdfWriter writes a view as a page of PDF 1.7. Outlines, texts among them, stay outlines; what has shadows, blur, gradients, pictures or layers
// is drawn as a picture in twice the resolution.
type pdfWriter struct {
	*Drawer
	view
	ctx     context.Context
	notes   *notes
	objects [][]byte
	page    bytes.Buffer
	states  []string // graphics states: how opaque, and how it blends
	images  []int    // their objects
}

func (d *Drawer) pdf(ctx context.Context, v view, n *notes) ([]byte, error) {
	v.scale = 1
	w := &pdfWriter{Drawer: d, view: v, ctx: ctx, notes: n, objects: make([][]byte, 4)} // catalogue, pages, page, content
	fmt.Fprintf(&w.page, "%s 0 0 %s %s %s cm\n", num(pointsPerPixel), num(-pointsPerPixel), num(-v.frame.X*pointsPerPixel), num((v.frame.Y+v.frame.H)*pointsPerPixel))
	for _, sh := range v.shapes {
		if err := w.shape(sh); err != nil {
			return nil, err
		}
	}
	return w.file(), nil
}

// add keeps an object and gives its number.
func (w *pdfWriter) add(body []byte) int {
	w.objects = append(w.objects, body)
	return len(w.objects)
}

// stream is an object of compressed bytes.
func stream(dictionary string, content []byte) []byte {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(content) // a buffer takes everything
	_ = z.Close()
	return fmt.Appendf(nil, "<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", dictionary, packed.Len(), packed.Bytes())
}

// file puts the page and its objects together.
func (w *pdfWriter) file() []byte {
	var states, images strings.Builder
	for i, s := range w.states {
		fmt.Fprintf(&states, "/G%d << %s >> ", i, s)
	}
	for i, object := range w.images {
		fmt.Fprintf(&images, "/I%d %d 0 R ", i, object)
	}
	w.objects[0] = []byte("<< /Type /Catalog /Pages 2 0 R >>")
	w.objects[1] = []byte("<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	w.objects[2] = fmt.Appendf(nil, "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %s %s] /Contents 4 0 R /Group << /S /Transparency /CS /DeviceRGB >> /Resources << /ExtGState << %s>> /XObject << %s>> >> >>",
		num(w.frame.W*pointsPerPixel), num(w.frame.H*pointsPerPixel), states.String(), images.String())
	w.objects[3] = stream("", w.page.Bytes())
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	places := make([]int, len(w.objects))
	for i, body := range w.objects {
		places[i] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, body)
	}
	table := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(w.objects)+1)
	for _, at := range places {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(w.objects)+1, table)
	return out.Bytes()
}

// state switches to a graphics state.
func (w *pdfWriter) state(opacity float64, mode string) {
	words := strings.Split(mode, "-")
	for i := range words {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	s := fmt.Sprintf("/ca %s /CA %s /BM /%s", num(opacity), num(opacity), strings.Join(words, ""))
	at := slices.Index(w.states, s)
	if at < 0 {
		w.states, at = append(w.states, s), len(w.states)
	}
	w.page.WriteString("/G" + strconv.Itoa(at) + " gs\n")
}

// plain tells whether a shape can be written as outlines.
func plain(sh *scene.Shape) bool {
	solid := !slices.ContainsFunc(sh.Fills, func(f scene.Fill) bool { return f.Gradient != nil || f.Image != nil }) &&
		!slices.ContainsFunc(sh.Strokes, func(s scene.Stroke) bool {
			return s.Gradient != nil || s.Alignment == "inner" || s.Alignment == "outer"
		})
	if sh.Text != nil {
		solid = solid && !slices.ContainsFunc(sh.Text.Ranges, func(r scene.Range) bool {
			return slices.ContainsFunc(r.Fills, func(f scene.Fill) bool { return f.Gradient != nil || f.Image != nil })
		})
	}
	return solid && sh.Blend() == "normal" && len(sh.Shadows) == 0 && sh.Blur == nil && (sh.Opacity == 1 || len(sh.Fills)+len(sh.Strokes) == 1 && sh.Type != scene.Board && sh.Type != scene.Group)
}

func (w *pdfWriter) shape(sh *scene.Shape) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if sh.Hidden || sh.Opacity == 0 {
		return nil
	}
	board := sh.Type == scene.Board && sh.Blend() == "normal" && sh.Opacity == 1 && len(sh.Shadows) == 0 && sh.Blur == nil
	switch {
	case board && (w.opaque(sh) || !w.mixes(sh)):
		return w.board(sh)
	case sh.Type == scene.Board || !plain(sh):
		return w.picture(sh)
	case sh.Type == scene.Group:
		return w.children(sh)
	}
	w.page.WriteString("q\n")
	defer w.page.WriteString("Q\n")
	w.turn(sh.Turn())
	if sh.Text == nil {
		w.fills(sh, sh.Outline(), sh.Fills)
		w.strokes(sh, sh.Outline())
		return nil
	}
	block := w.Fonts.Set(*sh.Text, sh.Width, sh.Height)
	w.notes.missing(block.Missing)
	for _, piece := range block.Pieces {
		outline := piece.Outline.Transform(geom.Translate(sh.X, sh.Y))
		fills := piece.Fills
		if fills == nil {
			fills = sh.Fills
		}
		w.fills(sh, outline, fills)
		w.strokes(sh, outline)
	}
	return nil
}

// opaque tells whether nothing that a board holds can blend with what lies below the board.
func (w *pdfWriter) opaque(board *scene.Shape) bool {
	return board.ClipContent && slices.ContainsFunc(board.Fills, func(f scene.Fill) bool { return f.Opacity == 1 && f.Gradient == nil && f.Image == nil })
}

func (w *pdfWriter) children(sh *scene.Shape) error {
	for _, child := range w.Children(sh.ID) {
		if err := w.shape(child); err != nil {
			return err
		}
	}
	return nil
}

// board writes a board: its ground, its children within its outline, its strokes.
func (w *pdfWriter) board(sh *scene.Shape) error {
	ground := *sh
	ground.Type, ground.Strokes, ground.ID = scene.Rectangle, nil, ""
	if err := w.shape(&ground); err != nil {
		return err
	}
	w.page.WriteString("q\n")
	if sh.ClipContent {
		w.page.WriteString(pdfPath(sh.Outline().Transform(sh.Turn())) + "W n\n")
	}
	if err := w.children(sh); err != nil {
		return err
	}
	w.page.WriteString("Q\nq\n")
	w.turn(sh.Turn())
	w.strokes(sh, sh.Outline())
	w.page.WriteString("Q\n")
	return nil
}

func (w *pdfWriter) turn(m geom.Matrix) {
	if m != geom.Identity() {
		fmt.Fprintf(&w.page, "%.6f %.6f %.6f %.6f %.4f %.4f cm\n", m.A, m.B, m.C, m.D, m.E, m.F)
	}
}

func pdfPath(p geom.Path) string {
	var b strings.Builder
	for _, s := range p {
		points, operator := 1, "l"
		switch s.Op {
		case geom.Move:
			operator = "m"
		case geom.Curve:
			points, operator = 3, "c"
		case geom.Close:
			points, operator = 0, "h"
		}
		for _, q := range s.P[:points] {
			b.WriteString(num(q.X) + " " + num(q.Y) + " ")
		}
		b.WriteString(operator + "\n")
	}
	return b.String()
}

// colour is a colour as PDF has it.
func colour(hex string) string {
	c := rgba(hex, 1)
	return fmt.Sprintf("%s %s %s", num(float64(c[0])/255), num(float64(c[1])/255), num(float64(c[2])/255))
}

func (w *pdfWriter) fills(sh *scene.Shape, outline geom.Path, fills []scene.Fill) {
	for i := len(fills) - 1; i >= 0; i-- {
		w.state(fills[i].Opacity*sh.Opacity, "normal")
		w.page.WriteString(colour(fills[i].Color) + " rg\n" + pdfPath(outline) + "f\n")
	}
}

func (w *pdfWriter) strokes(sh *scene.Shape, outline geom.Path) {
	for i := len(sh.Strokes) - 1; i >= 0; i-- {
		s := sh.Strokes[i]
		if s.Style == "none" || s.Width == 0 {
			continue
		}
		p := pen(s)
		w.state(s.Opacity*sh.Opacity, "normal")
		dash := make([]string, len(p.Dash))
		for j, d := range p.Dash {
			dash[j] = num(d)
		}
		ends := 0
		if p.Round {
			ends = 1
		}
		fmt.Fprintf(&w.page, "%s RG %s w %d J 4 M [%s] 0 d\n%sS\n", colour(s.Color), num(p.Width), ends, strings.Join(dash, " "), pdfPath(outline))
		for _, m := range markers(s, outline.Flatten(flatness)) {
			w.page.WriteString(colour(s.Color) + " rg\n" + pdfPath(m) + "f\n")
		}
	}
}

// picture draws a shape with all that it holds as a picture.
func (w *pdfWriter) picture(sh *scene.Shape) error {
	probe := painter{Drawer: w.Drawer, view: w.view, toPixel: geom.Identity()}
	seen := pixelRect(w.frame).Intersect(probe.extent(sh))
	if seen.Empty() {
		return nil
	}
	v := w.view
	v.shapes, v.scale = []*scene.Shape{sh}, pdfDetail
	v.frame = geom.Rect{X: float64(seen.Min.X), Y: float64(seen.Min.Y), W: float64(seen.Dx()), H: float64(seen.Dy())}
	for v.scale > 0.1 && v.frame.W*v.scale*v.frame.H*v.scale > maxPixels/2 {
		v.scale /= 2
	}
	v.w, v.h = int(v.frame.W*v.scale), int(v.frame.H*v.scale)
	pixels, err := w.pixels(w.ctx, v, w.notes)
	if err != nil {
		return err
	}
	w.images = append(w.images, w.image(pixels))
	w.page.WriteString("q\n")
	w.state(1, sh.Blend())
	fmt.Fprintf(&w.page, "%s 0 0 %s %s %s cm\n/I%d Do\nQ\n", num(v.frame.W), num(-v.frame.H), num(v.frame.X), num(v.frame.Y+v.frame.H), len(w.images)-1)
	return nil
}

// image keeps pixels as an object, their opacity as another.
func (w *pdfWriter) image(pixels *image.RGBA) int {
	width, height := pixels.Rect.Dx(), pixels.Rect.Dy()
	colours, alpha := make([]byte, 0, 3*width*height), make([]byte, 0, width*height)
	for i := 0; i < len(pixels.Pix); i += 4 {
		a := int(pixels.Pix[i+3])
		for j := range 3 {
			c := 0
			if a > 0 {
				c = min(255, (int(pixels.Pix[i+j])*255+a/2)/a)
			}
			colours = append(colours, byte(c))
		}
		alpha = append(alpha, byte(a))
	}
	head := fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent 8", width, height)
	mask := w.add(stream(head+" /ColorSpace /DeviceGray", alpha))
	return w.add(stream(fmt.Sprintf("%s /ColorSpace /DeviceRGB /SMask %d 0 R", head, mask), colours))
}
