package pages

import (
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg" // examples are JPEG files
	"log/slog"
	"net/http"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/bundle"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/platforms/web/render"
)

// examples are pictures that tools made, by the tools' ids.
type examples struct {
	files  bundle.Bundle
	known  map[string]example
	render *render.Renderer
}

// example is a picture: whole, as large as on a wall of pictures, and as large as beside a name.
type example struct {
	address, wall, tile string
	size                image.Point
}

// newExamples takes JPEG files by the ids of their tools. They are made small when somebody first looks at them.
func newExamples(pictures map[string][]byte, r *render.Renderer, log *slog.Logger) (*examples, error) {
	named, e := map[string][]byte{}, &examples{known: map[string]example{}, render: r}
	for id, data := range pictures {
		c, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("web: the example of %s: %w", id, err)
		}
		named[id+".jpg"], e.known[id] = data, example{size: image.Pt(c.Width, c.Height)}
	}
	e.files = bundle.Of(named, "/examples/")
	for id, known := range e.known {
		small := func(name string, side int) (address string) {
			e.files.Add(name, func() []byte { return shrunk(id, pictures[id], side, log) })
			return e.files.Address(name)
		}
		known.address, known.wall, known.tile = e.files.Address(id+".jpg"), small(id+"-wall.jpg", files.WallSide), small(id+"-tile.jpg", files.TileSide)
		e.known[id] = known
	}
	return e, nil
}

// shrunk gives the whole picture where it can't be made small.
func shrunk(id string, data []byte, side int, log *slog.Logger) []byte {
	_, small, err := assets.Shrink(bytes.NewReader(data), side)
	if err != nil {
		log.Error("the example of a tool can't be made small", "tool", id, "error", err)
		return data
	}
	return small
}

func (e *examples) of(toolID string) (example, bool) {
	found, ok := e.known[toolID]
	return found, ok
}

// address is where a tool's example is, tile where it is small; "" where it has none.
func (e *examples) address(toolID string) string { return e.known[toolID].address }
func (e *examples) tile(toolID string) string    { return e.known[toolID].tile }

func (e *examples) route() door.Route {
	return door.ForAll("GET /examples/{hash}/{file}", func(w http.ResponseWriter, r *http.Request) {
		if !e.files.Serve(w, r, "public") {
			e.render.NotFound(w, r)
		}
	})
}
