package account

import (
	"cmp"
	"embed"
	"html/template"
	"log/slog"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/webhooks"
)

//go:embed templates/*.html
var templateFiles embed.FS

// shared is what all pages of an account use.
type shared struct {
	door   *door.Door
	render *render.Renderer
	pages  *render.Pages
	log    *slog.Logger
	now    func() time.Time
}

// The ways to sign in, as sessions keep them. That of the operator's token is the door's, and that of a key carries its number:
// see users.Key.Way.
const (
	wayCode       = "code"
	wayTelegram   = "telegram"
	wayDiscord    = "discord"
	wayInvitation = "invitation"
)

// functions are what the templates call.
func functions(i18n.Voice) template.FuncMap {
	return template.FuncMap{
		"browser": browserName,
		"size":    assets.Words,
		"nano":    func(n int64) billing.NanoUSD { return billing.NanoUSD(n) },
		"paused":  func(e webhooks.Endpoint) bool { return e.DisabledReason == webhooks.DisabledByOwner },
	}
}

// browserName makes of what a browser says about itself a name that people know it by.
func browserName(agent string) string {
	for _, known := range [...][2]string{
		{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"},
	} {
		if strings.Contains(agent, known[0]) {
			return known[1] + systemName(agent)
		}
	}
	return cmp.Or(agent, "?")
}

// systemName is the system that a browser says it runs on, in brackets.
func systemName(agent string) string {
	for _, known := range [...][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"},
	} {
		if strings.Contains(agent, known[0]) {
			return " (" + known[1] + ")"
		}
	}
	return ""
}
