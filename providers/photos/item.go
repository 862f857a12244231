package photos

import (
	"context"
	"fmt"
	"html"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Item is a photo at a source, as tools give it.
type Item struct {
	ID        string `json:"id"`
	Provider  string `json:"provider"`
	ImageURL  string `json:"imageUrl"` // at the source, which is where it is to be shown from
	ThumbURL  string `json:"thumbUrl"`
	Alt       string `json:"alt"` // never empty
	Author    string `json:"author"`
	AuthorURL string `json:"authorUrl"`
	SourceURL string `json:"sourceUrl"` // the photo's page
	Width     int    `json:"width"`     // pixels of the original
	Height    int    `json:"height"`
	Untrusted bool   `json:"untrusted"` // its texts are somebody else's

	track string // where a use is counted
}

// Attribution is what has to be shown wherever a photo is used.
type Attribution struct {
	Provider    string `json:"provider"`
	PhotoID     string `json:"photoId"`
	Author      string `json:"author"`
	AuthorURL   string `json:"authorUrl"`
	ProviderURL string `json:"providerUrl"`
	SourceURL   string `json:"sourceUrl"`
	Text        string `json:"text"`
	HTML        string `json:"html"` // both names linked
}

// source is a service that has photos.
type source interface {
	name() string  // value of the input provider
	label() string // for people
	home() string  // its address in credits
	search(ctx context.Context, q query) ([]Item, error)
	photo(ctx context.Context, id string) (Item, error)
	// used tells the source that a photo is used.
	used(ctx context.Context, item Item) error
}

func attribution(i Item, s source) Attribution {
	return Attribution{
		Provider: i.Provider, PhotoID: i.ID, Author: i.Author, AuthorURL: i.AuthorURL, ProviderURL: s.home(), SourceURL: i.SourceURL,
		Text: fmt.Sprintf("Photo by %s (%s) on %s (%s)", i.Author, i.AuthorURL, s.label(), s.home()),
		HTML: fmt.Sprintf(`Photo by <a href="%s">%s</a> on <a href="%s">%s</a>`,
			html.EscapeString(i.AuthorURL), html.EscapeString(i.Author), html.EscapeString(s.home()), s.label()),
	}
}

func noPhoto(name string) *registry.Error {
	return registry.Say(registry.CodeInvalidInput, said.PhotoNone, "service", name).At("photoId")
}

// missing tells a photo that is not there from other troubles.
func missing(err error, name string) error {
	if registry.AsError(err).Code == registry.CodeLost {
		return noPhoto(name)
	}
	return err
}
