package pages

import (
	"bytes"
	"image"
	_ "image/jpeg" // examples are JPEG files
	"log/slog"
	"net/http"
	"sync"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/bundle"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/platforms/web/render"
)

// examples are pictures that tools made, by the tools' ids. They are made small when somebody first sees a page with them.
type examples struct {
	made   func() madeExamples
	render *render.Renderer
}

type madeExamples struct {
	files bundle.Bundle
	known map[string]example
}

// example is a picture: whole, as large as on a wall of pictures, and as large as beside a name.
type example struct {
	address, wall, tile string
	size                image.Point
}

// newExamples takes JPEG files by the ids of their tools.
func newExamples(pictures map[string][]byte, r *render.Renderer, log *slog.Logger) *examples {
	return &examples{render: r, made: sync.OnceValue(func() madeExamples { return makeExamples(pictures, log) })}
}

// makeExamples leaves out a picture that can't be read, and says so.
func makeExamples(pictures map[string][]byte, log *slog.Logger) madeExamples {
	named, known := map[string][]byte{}, map[string]example{}
	for id, data := range pictures {
		c, _, err := image.DecodeConfig(bytes.NewReader(data))
		var wall, tile []byte
		if err == nil {
			_, wall, err = assets.Shrink(bytes.NewReader(data), files.WallSide)
		}
		if err == nil {
			_, tile, err = assets.Shrink(bytes.NewReader(data), files.TileSide)
		}
		if err != nil {
			log.Error("the example of a tool can't be shown", "tool", id, "error", err)
			continue
		}
		named[id+".jpg"], named[id+"-wall.jpg"], named[id+"-tile.jpg"] = data, wall, tile
		known[id] = example{size: image.Pt(c.Width, c.Height)}
	}
	made := madeExamples{bundle.Of(named, "/examples/"), known}
	for id, e := range known {
		e.address, e.wall, e.tile = made.files.Address(id+".jpg"), made.files.Address(id+"-wall.jpg"), made.files.Address(id+"-tile.jpg")
		known[id] = e
	}
	return made
}

func (e *examples) of(toolID string) (example, bool) {
	found, ok := e.made().known[toolID]
	return found, ok
}

// address is where a tool's example is, tile where it is small; "" where it has none.
func (e *examples) address(toolID string) string { return e.made().known[toolID].address }
func (e *examples) tile(toolID string) string    { return e.made().known[toolID].tile }

func (e *examples) route() door.Route {
	return door.ForAll("GET /examples/{hash}/{file}", func(w http.ResponseWriter, r *http.Request) {
		if !e.made().files.Serve(w, r, "public") {
			e.render.NotFound(w, r)
		}
	})
}
