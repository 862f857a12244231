package canvas

import (
	"context"
	"hash/fnv"
	"math/rand/v2"

	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/providers/canvas/templates"
	"github.com/signalbox/signalbox/registry"
)

// Abstract is the painter of a house without an image service: it draws an abstract picture, in colours that the words name and in a composition that
// follows from them, and says so.
type Abstract struct{}

var _ Painter = Abstract{}

// Cost is nothing.
func (Abstract) Cost() *registry.CostingModel { return nil }

// Price is nothing.
func (Abstract) Price(context.Context, registry.Call, string, int, int) (registry.Price, error) {
	return registry.Price{}, nil
}

// Paint draws the picture.
func (Abstract) Paint(ctx context.Context, _ registry.Call, prompt string, width, height int) (Painting, error) {
	width, height = min(max(width, 0), 2048), min(max(height, 0), 2048)
	if width == 0 || height == 0 {
		width, height = 1024, 1024
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(prompt))
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	s := scene.New(nil, scene.Page{})
	w, hh := float64(width), float64(height)
	p := templates.PaletteFor(prompt, h.Sum64())
	board, err := s.Create(scene.Board, scene.Props{Width: &w, Height: &hh, Fills: &[]scene.Fill{gradient(p.Ground, p.Deep)}})
	if err != nil {
		return Painting{}, err
	}
	for i := range 14 {
		size := (0.1 + 0.55*r.Float64()*r.Float64()) * min(w, hh)
		x, y, turn, opacity := r.Float64()*w-size/2, r.Float64()*hh-size/2, r.Float64()*360, 0.25+0.6*r.Float64()
		colours := []string{p.Accent, p.Second, p.Ink, p.Deep}
		kind := scene.Ellipse
		if i%4 == 3 {
			kind = scene.Rectangle
		}
		if _, err := s.Create(kind, scene.Props{
			ParentID: &board.ID, X: &x, Y: &y, Width: &size, Height: &size, Rotation: &turn, Opacity: &opacity,
			Fills: &[]scene.Fill{gradient(colours[i%4], colours[(i+1)%4])},
		}); err != nil {
			return Painting{}, err
		}
	}
	drawn, err := (&draw.Drawer{}).Draw(ctx, s, draw.Options{Format: draw.PNG})
	return Painting{Content: drawn.Content, Note: "no image service is connected here, so it is an abstract picture"}, err
}

// gradient goes from one colour at the top to another at the bottom.
func gradient(from, to string) scene.Fill {
	return scene.Fill{Opacity: 1, Gradient: &scene.Gradient{Type: "linear", StartX: 0.2, EndX: 0.8, EndY: 1, Width: 1, Stops: []scene.Stop{{Color: from, Opacity: 1}, {Color: to, Opacity: 1, Offset: 1}}}}
}
