package pages

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"log/slog"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/registry"
)

//go:embed templates/*.html
var templateFiles embed.FS

// shared is what all pages use.
type shared struct {
	door   *door.Door
	render *render.Renderer
	pages  *render.Pages
	views  views
	tools  tools
	log    *slog.Logger
}

// functions are what the templates call, in one language.
func functions(v i18n.Voice) template.FuncMap {
	return template.FuncMap{
		"price":   func(t registry.Tool) string { return priceOf(v, t) },
		"short":   func(n billing.NanoUSD) billing.NanoUSD { return digits(n, false) },
		"accept":  acceptOf,
		"answer":  answerOf,
		"host":    hostOf,
		"follows": followUpLinks,
		"emblem":  emblem,
	}
}

// plain is a JSON value as a person would type it.
func plain(x any) string {
	switch x := x.(type) {
	case nil:
		return ""
	case string:
		return x
	case json.Number:
		return x.String()
	case bool:
		return fmt.Sprint(x)
	}
	data, err := json.Marshal(x)
	if err != nil {
		return ""
	}
	return string(data)
}
