package pages

import (
	"log/slog"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
)

// shared is what all pages use.
type shared struct {
	door     *door.Door
	render   *render.Renderer
	pages    *render.Pages
	views    views
	tools    tools
	log      *slog.Logger
	examples *examples
}
