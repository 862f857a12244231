package webtools

import (
	"net/http"

	"github.com/signalbox/signalbox/internal/clock"
)

// Config names the accounts. Of several search services the first one here is asked; with none searchWeb is unavailable.
type Config struct {
	TavilyKey, TavilyURL string       // https://api.tavily.com
	BraveKey, BraveURL   string       // with its version: https://api.search.brave.com/res/v1
	SearxngURL           string       // an instance that answers as JSON
	HTTP                 *http.Client // to the search service; nil: one of its own
	Guard                *http.Client // of internal/outbound, for addresses of others
	Clock                clock.Clock  // nil: the real one
}

// Provider is the loader and the caller of the tools.
type Provider struct {
	cfg    Config
	search searcher // nil: none is connected
	robots *clock.Recent[string, rules]
}
