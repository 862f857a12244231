// Package drawings joins drawings with what does not know them: a service that makes pictures from words, and the API.
package drawings

import (
	"context"
	"io"

	"github.com/signalbox/signalbox/providers/canvas"
	"github.com/signalbox/signalbox/providers/imagegen"
	"github.com/signalbox/signalbox/registry"
)

// Painter lets an image service paint for drawings, at its price.
type Painter struct {
	provider *imagegen.Provider
	tool     registry.Tool
}

// NewPainter makes a painter of a service and that tool of it that makes a picture from words.
func NewPainter(service *imagegen.Provider, tool registry.Tool) Painter {
	return Painter{service, tool}
}

// Cost is that of the service's own tool.
func (p Painter) Cost() *registry.CostingModel { return p.tool.CostingModel }

// call is a call of the service's tool for a picture of about a size.
func (p Painter) call(c registry.Call, prompt string, width, height int) registry.Call {
	shape := "square"
	switch {
	case 4*width > 5*height:
		shape = "landscape"
	case 4*height > 5*width:
		shape = "portrait"
	}
	c.Tool = p.tool
	c.Inputs = map[string]any{"prompt": prompt, "aspectRatio": shape, "quality": "final", "background": "auto", "outputFormat": "png"}
	return c
}

// Price bounds what a picture costs.
func (p Painter) Price(ctx context.Context, c registry.Call, prompt string, width, height int) (registry.Price, error) {
	return p.provider.Price(ctx, p.call(c, prompt, width, height))
}

// maxPainted bounds a picture, in bytes.
const maxPainted = 64 << 20

// Paint has the picture made.
func (p Painter) Paint(ctx context.Context, c registry.Call, prompt string, width, height int) (canvas.Painting, error) {
	result, err := p.provider.Call(ctx, p.call(c, prompt, width, height))
	if err != nil {
		return canvas.Painting{}, err
	}
	for _, o := range result.Outputs {
		if o.Open == nil {
			continue
		}
		body, err := o.Open(ctx)
		if err != nil {
			return canvas.Painting{}, err
		}
		defer body.Close()
		content, err := io.ReadAll(io.LimitReader(body, maxPainted))
		return canvas.Painting{Content: content, Usage: result.Usage}, err
	}
	return canvas.Painting{}, registry.Errorf(registry.CodeBadOutput, "the image service gave no picture")
}
