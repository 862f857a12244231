package pages

import (
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg" // examples are JPEG files
	"net/http"

	"github.com/signalbox/signalbox/internal/bundle"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
)

// examples are pictures that tools made, by the tools' ids.
type examples struct {
	files  bundle.Bundle
	known  map[string]example
	render *render.Renderer
}

type example struct {
	address string
	size    image.Point
}

// newExamples takes JPEG files by the ids of their tools.
func newExamples(pictures map[string][]byte, r *render.Renderer) (*examples, error) {
	named := map[string][]byte{}
	for id, data := range pictures {
		named[id+".jpg"] = data
	}
	e := &examples{files: bundle.Of(named, "/examples/"), known: map[string]example{}, render: r}
	for id, data := range pictures {
		c, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("web: the example of %s: %w", id, err)
		}
		e.known[id] = example{e.files.Address(id + ".jpg"), image.Pt(c.Width, c.Height)}
	}
	return e, nil
}

func (e *examples) of(toolID string) (example, bool) {
	found, ok := e.known[toolID]
	return found, ok
}

// address is where a tool's example is; "" where it has none.
func (e *examples) address(toolID string) string { return e.known[toolID].address }

func (e *examples) route() door.Route {
	return door.ForAll("GET /examples/{hash}/{file}", func(w http.ResponseWriter, r *http.Request) {
		if !e.files.Serve(w, r, "public") {
			e.render.NotFound(w, r)
		}
	})
}
