// Package draw makes pictures of scenes: SVG, PNG, JPEG, WebP and PDF.
//
// All of them follow the same conventions, which are those of package scene. Colours mix in sRGB values. Coverage comes from x/image/vector, which
// is exact; strokes, shadows, gradients, blending and clipping are done here.
package draw

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/vp8l"
	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
)

// Format is a kind of file.
type Format string

// The formats.
const (
	SVG  Format = "svg"
	PNG  Format = "png"
	JPEG Format = "jpg"
	WebP Format = "webp"
	PDF  Format = "pdf"
)

// MIMEType is the media type of a format's files.
func (f Format) MIMEType() string {
	return map[Format]string{SVG: "image/svg+xml", PNG: "image/png", JPEG: "image/jpeg", WebP: "image/webp", PDF: "application/pdf"}[f]
}

// maxPixels bounds a picture.
const maxPixels = 40_000_000

// Drawer makes pictures.
type Drawer struct {
	Fonts *typeset.Setter
	// Image opens the picture that a fill names. What can't be opened is left out of the drawing, and told in Picture.Notes.
	Image func(ctx context.Context, ref string) (image.Image, error)
	// File gives the bytes of such a picture and their media type, for formats that can hold them.
	File func(ctx context.Context, ref string) (content []byte, mime string, err error)
}

// Picture is a file, and what has to be said about it.
type Picture struct {
	Content       []byte
	Width, Height int
	Notes         []string // what could not be drawn, in words for people
	Missing       string   // characters that no font here has, each once
}

// Options choose what a picture shows. Board is the id of one; empty: the whole scene, see scene.Frame. Scale is in pixels for a pixel of the scene; 0: 1.
type Options struct {
	Board  string
	Format Format
	Scale  float64
}

// view is what is to be drawn: shapes, and the part of the page that is seen.
type view struct {
	*scene.Scene
	shapes []*scene.Shape
	frame  geom.Rect
	w, h   int // pixels
	scale  float64
	mixed  map[string]bool // see mixes
}

func newView(s *scene.Scene, o Options) (view, error) {
	frame, shapes, err := s.Frame(o.Board)
	if err != nil {
		return view{}, err
	}
	v := view{Scene: s, shapes: shapes, frame: frame, scale: o.Scale, mixed: map[string]bool{}}
	v.scale = cmp.Or(v.scale, 1)
	w, h := math.Ceil(frame.W*v.scale-1e-6), math.Ceil(frame.H*v.scale-1e-6)
	if !(w >= 1 && h >= 1 && w*h <= maxPixels) {
		return view{}, scene.Wrong("scale", "the picture would have %.0f by %.0f pixels, expected at least one and at most %d million", w, h, maxPixels/1_000_000)
	}
	v.w, v.h = int(w), int(h)
	return v, nil
}

// mixes tells whether something in a shape blends with what is below it. Only then a board has to be a layer.
func (v view) mixes(sh *scene.Shape) bool {
	known, ok := v.mixed[sh.ID]
	if ok {
		return known
	}
	found := false
	for _, child := range v.Children(sh.ID) {
		found = found || child.Blend() != "normal" || child.Type == scene.Group && v.mixes(child)
	}
	v.mixed[sh.ID] = found
	return found
}

// Draw makes a picture of a scene. An error that is a *scene.Error is about what was asked for.
func (d *Drawer) Draw(ctx context.Context, s *scene.Scene, o Options) (Picture, error) {
	if o.Format != SVG && o.Format != PDF {
		p, pixels, err := d.Paint(ctx, s, o)
		if err != nil {
			return Picture{}, err
		}
		if p.Content, err = encode(pixels, o.Format); err != nil {
			return Picture{}, fmt.Errorf("draw: %w", err)
		}
		return p, nil
	}
	v, err := newView(s, o)
	if err != nil {
		return Picture{}, err
	}
	write := d.svg
	if o.Format == PDF {
		write = d.pdf
	}
	notes := &notes{}
	content, err := write(ctx, v, notes)
	if err != nil {
		return Picture{}, fmt.Errorf("draw: %w", err)
	}
	return notes.picture(v, content), nil
}

// Paint is Draw up to the pixels, for those who look at them: the picture has no Content, whatever the Format.
func (d *Drawer) Paint(ctx context.Context, s *scene.Scene, o Options) (Picture, *image.RGBA, error) {
	v, err := newView(s, o)
	if err != nil {
		return Picture{}, nil, err
	}
	notes := &notes{}
	pixels, err := d.pixels(ctx, v, notes)
	if err != nil {
		return Picture{}, nil, fmt.Errorf("draw: %w", err)
	}
	return notes.picture(v, nil), pixels, nil
}

func (n *notes) picture(v view, content []byte) Picture {
	return Picture{Content: content, Width: v.w, Height: v.h, Notes: n.list, Missing: n.characters}
}

func encode(pixels *image.RGBA, format Format) ([]byte, error) {
	var b bytes.Buffer
	var err error
	switch format {
	case JPEG:
		err = jpeg.Encode(&b, onWhite(pixels), &jpeg.Options{Quality: 90})
	case WebP:
		err = vp8l.WriteFile(&b, pixels)
	case PNG:
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, pixels)
	default:
		err = scene.Wrong("format", "is %q, expected svg, png, jpg, webp or pdf", format)
	}
	return b.Bytes(), err
}

// onWhite is a picture without transparency.
func onWhite(pixels *image.RGBA) *image.RGBA {
	out := image.NewRGBA(pixels.Rect)
	for i := 0; i < len(out.Pix); i += 4 {
		rest := 255 - pixels.Pix[i+3]
		out.Pix[i], out.Pix[i+1], out.Pix[i+2], out.Pix[i+3] = pixels.Pix[i]+rest, pixels.Pix[i+1]+rest, pixels.Pix[i+2]+rest, 255
	}
	return out
}

// notes collects what could not be drawn, each once.
type notes struct {
	list       []string
	characters string
}

func (n *notes) add(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	if slices.Contains(n.list, note) {
		return
	}
	if len(n.list) < 20 {
		n.list = append(n.list, note)
	}
}

// missing notes characters without a picture.
func (n *notes) missing(characters string) {
	for _, r := range characters {
		if !strings.ContainsRune(n.characters, r) && len(n.characters) < 100 {
			n.characters += string(r)
		}
	}
}
