package webtools

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// query is a search in the tool's own words.
type query struct {
	text, topic string
	results     int
	deep        bool
}

// hit is a result. All of it is somebody else's words.
type hit struct {
	Title     string `json:"title"`
	URL       string `json:"url"`
	Text      string `json:"text"`
	Published string `json:"published,omitempty"`
	Error     string `json:"error,omitempty"`
	Untrusted bool   `json:"untrusted"`
}

// searcher is a search service. answer is empty where it gives none.
type searcher interface {
	name() string
	find(ctx context.Context, q query) (answer string, hits []hit, err error)
}

// newSearcher is the search service that the configuration names first; nil: none.
func newSearcher(cfg Config) (searcher, error) {
	switch {
	case cfg.TavilyKey != "":
		client, err := upstream.New(upstream.Config{Name: "Tavily", BaseURL: cfg.TavilyURL, Secrets: []string{cfg.TavilyKey}, HTTP: cfg.HTTP,
			Authorize: func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+cfg.TavilyKey) }})
		return tavily{client}, err
	case cfg.BraveKey != "":
		client, err := upstream.New(upstream.Config{Name: "Brave Search", BaseURL: cfg.BraveURL, Secrets: []string{cfg.BraveKey}, HTTP: cfg.HTTP,
			Authorize: func(r *http.Request) { r.Header.Set("X-Subscription-Token", cfg.BraveKey) }})
		return brave{client}, err
	case cfg.SearxngURL != "":
		client, err := upstream.New(upstream.Config{Name: "SearXNG", BaseURL: cfg.SearxngURL, HTTP: cfg.HTTP})
		return searxng{client}, err
	}
	return nil, nil
}

// tavily speaks Tavily's API (POST /search).
type tavily struct{ client *upstream.Client }

func (tavily) name() string { return "tavily" }

func (s tavily) find(ctx context.Context, q query) (string, []hit, error) {
	request := map[string]any{"query": q.text, "max_results": q.results, "search_depth": "basic"}
	if q.topic != "" {
		request["topic"] = q.topic
	}
	if q.deep {
		request["search_depth"], request["include_answer"] = "advanced", "advanced"
	}
	var found struct {
		Answer  string `json:"answer"`
		Results []struct {
			Title     string `json:"title"`
			URL       string `json:"url"`
			Content   string `json:"content"`
			Published string `json:"published_date"`
		} `json:"results"`
	}
	if err := s.client.Post(ctx, "search", request, &found); err != nil {
		return "", nil, err
	}
	var hits []hit
	for _, r := range found.Results {
		hits = append(hits, hit{Title: r.Title, URL: r.URL, Text: r.Content, Published: r.Published})
	}
	return found.Answer, hits, nil
}

// brave speaks Brave's Search API (GET /web/search, /news/search).
type brave struct{ client *upstream.Client }

func (brave) name() string { return "brave" }

// braveResult is a result as both searches give it.
type braveResult struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	Description string `json:"description"`
	PageAge     string `json:"page_age"`
}

func (s brave) find(ctx context.Context, q query) (string, []hit, error) {
	values := url.Values{"q": {q.text}, "count": {strconv.Itoa(q.results)}, "text_decorations": {"false"}}
	path := "web/search"
	if q.topic == "news" {
		path = "news/search"
		values.Del("text_decorations")
	}
	var found struct {
		Web struct {
			Results []braveResult `json:"results"`
		} `json:"web"`
		Results []braveResult `json:"results"` // of news
	}
	if err := s.client.Get(ctx, path, values, &found); err != nil {
		return "", nil, err
	}
	var hits []hit
	for _, r := range append(found.Web.Results, found.Results...) {
		hits = append(hits, hit{Title: r.Title, URL: r.URL, Text: r.Description, Published: r.PageAge})
	}
	return "", hits, nil
}

// searxng speaks the search API of SearXNG, where the instance allows the format json.
type searxng struct{ client *upstream.Client }

func (searxng) name() string { return "searxng" }

func (s searxng) find(ctx context.Context, q query) (string, []hit, error) {
	values := url.Values{"q": {q.text}, "format": {"json"}}
	if q.topic == "news" {
		values.Set("categories", "news")
	}
	var found struct {
		Results []struct {
			Title     string `json:"title"`
			URL       string `json:"url"`
			Content   string `json:"content"`
			Published string `json:"publishedDate"`
		} `json:"results"`
	}
	if err := s.client.Get(ctx, "search", values, &found); err != nil {
		return "", nil, err
	}
	var hits []hit
	for _, r := range found.Results {
		hits = append(hits, hit{Title: r.Title, URL: r.URL, Text: r.Content, Published: r.Published})
	}
	return "", hits, nil
}

// searched is what searchWeb answers.
type searched struct {
	Success   bool   `json:"success"`
	Count     int    `json:"count"`
	Mode      string `json:"mode"`
	Provider  string `json:"provider"`
	Answer    string `json:"answer,omitempty"` // the service's own, by a model of its own
	Note      string `json:"note,omitempty"`
	Items     []hit  `json:"items"`
	Untrusted bool   `json:"untrusted"`
}

// Bounds of a deep search.
const (
	deepPages = 3     // whose texts are read
	deepText  = 8_000 // bytes of each
)

func noSearch() *registry.Status {
	return registry.SayStatus(registry.StateUnavailable, said.WebNoSearch.With())
}

func (p *Provider) searchWeb(ctx context.Context, inputs map[string]any) (any, error) {
	if p.search == nil {
		return nil, registry.Errorf(registry.CodeUnavailable, "%s", noSearch().Reason)
	}
	q := query{text: textOf(inputs, "query"), topic: textOf(inputs, "topic"), results: 5, deep: textOf(inputs, "mode") == deep}
	if n, err := strconv.Atoi(numberText(inputs["numResults"])); err == nil {
		q.results = min(max(n, 1), 20)
	}
	read := p.read(ctx, textsOf(inputs, "urls"), "text", deepText)
	answer, hits, err := p.search.find(ctx, q)
	if err != nil {
		return nil, err
	}
	hits = hits[:min(len(hits), q.results)]
	told := searched{Success: true, Mode: quick, Provider: p.search.name(), Answer: answer, Items: []hit{}, Untrusted: true}
	for _, page := range read {
		told.Items = append(told.Items, hit{Title: page.Title, URL: page.URL, Text: page.Content, Error: page.Error, Untrusted: true})
	}
	if q.deep {
		told.Mode = deep
		p.deepen(ctx, hits)
		if answer == "" {
			told.Note = "this search service has no answers of its own: answer from the texts of the items"
		}
	}
	for _, h := range hits {
		h.Untrusted = true
		told.Items = append(told.Items, h)
	}
	told.Count = len(told.Items)
	return told, nil
}

// deepen gives the best results the texts of their pages. A page that can't be read keeps what the service said.
func (p *Provider) deepen(ctx context.Context, hits []hit) {
	var addresses []string
	for _, h := range hits[:min(len(hits), deepPages)] {
		addresses = append(addresses, h.URL)
	}
	for i, page := range p.read(ctx, addresses, "text", deepText) {
		if page.Error == "" && page.Content != "" {
			hits[i].Text = page.Content
		}
	}
}
