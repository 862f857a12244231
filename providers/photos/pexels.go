package photos

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/upstream"
)

// pexels speaks Pexels' API.
type pexels struct{ client *upstream.Client }

func newPexels(cfg Config) (*pexels, error) {
	client, err := upstream.New(upstream.Config{
		Name: "Pexels", BaseURL: cfg.PexelsURL, Secrets: []string{cfg.PexelsKey}, HTTP: cfg.HTTP,
		Authorize: func(r *http.Request) { r.Header.Set("Authorization", cfg.PexelsKey) },
	})
	return &pexels{client}, err
}

func (p *pexels) name() string  { return "pexels" }
func (p *pexels) label() string { return "Pexels" }
func (p *pexels) home() string  { return "https://www.pexels.com" }

var pexelsColors = map[string]string{"teal": "turquoise", "purple": "violet"}

type pexelsPhoto struct {
	ID        json.Number `json:"id"`
	Width     int         `json:"width"`
	Height    int         `json:"height"`
	URL       string      `json:"url"`
	Author    string      `json:"photographer"`
	AuthorURL string      `json:"photographer_url"`
	Alt       string      `json:"alt"`
	Sources   struct {
		Large  string `json:"large2x"`
		Medium string `json:"medium"`
	} `json:"src"`
}

func (p pexelsPhoto) item() Item {
	author := cmp.Or(strings.TrimSpace(p.Author), "Pexels")
	return Item{
		Untrusted: true,
		ID:        p.ID.String(), Provider: "pexels", ImageURL: p.Sources.Large, ThumbURL: p.Sources.Medium, Width: p.Width, Height: p.Height,
		Alt: cmp.Or(strings.TrimSpace(p.Alt), "Photo by "+author+" on Pexels"), Author: author, AuthorURL: cmp.Or(p.AuthorURL, "https://www.pexels.com"), SourceURL: p.URL,
	}
}

func (p *pexels) search(ctx context.Context, q query) ([]Item, error) {
	values := url.Values{"query": {q.text}, "per_page": {strconv.Itoa(q.limit)}}
	setWord(values, "orientation", q.orientation, nil)
	setWord(values, "color", q.color, pexelsColors)
	var answer struct {
		Photos []pexelsPhoto `json:"photos"`
	}
	if err := p.client.Get(ctx, "search", values, &answer); err != nil {
		return nil, err
	}
	items := make([]Item, 0, len(answer.Photos))
	for _, photo := range answer.Photos {
		items = append(items, photo.item())
	}
	return items, nil
}

func (p *pexels) photo(ctx context.Context, id string) (Item, error) {
	if _, err := strconv.ParseUint(id, 10, 63); err != nil {
		return Item{}, noPhoto("Pexels")
	}
	var photo pexelsPhoto
	if err := p.client.Get(ctx, "photos/"+id, nil, &photo); err != nil {
		return Item{}, missing(err, "Pexels")
	}
	return photo.item(), nil
}

// used: the service counts nothing.
func (p *pexels) used(context.Context, Item) error { return nil }
