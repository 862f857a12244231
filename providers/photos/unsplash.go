package photos

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// appName is how links to the sources say where a visitor comes from, which Unsplash asks for.
const appName = "signalbox"

// unsplash speaks Unsplash's API.
type unsplash struct {
	client *upstream.Client
	root   string // path of the API's address
}

func newUnsplash(cfg Config) (*unsplash, error) {
	client, err := upstream.New(upstream.Config{
		Name: "Unsplash", BaseURL: cfg.UnsplashURL, Secrets: []string{cfg.UnsplashKey}, HTTP: cfg.HTTP, Failure: unsplashFailure,
		Authorize: func(r *http.Request) {
			r.Header.Set("Authorization", "Client-ID "+cfg.UnsplashKey)
			r.Header.Set("Accept-Version", "v1")
		},
	})
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(cfg.UnsplashURL)
	if err != nil {
		return nil, err
	}
	return &unsplash{client, strings.TrimSuffix(base.Path, "/")}, nil
}

func (u *unsplash) name() string  { return "unsplash" }
func (u *unsplash) label() string { return "Unsplash" }
func (u *unsplash) home() string  { return tagged("https://unsplash.com/") }

// The service's words where they differ from the tool's (D83).
var (
	unsplashOrientations = map[string]string{"square": "squarish"}
	unsplashColors       = map[string]string{"pink": "magenta", "gray": "black_and_white"}
)

// unsplashPhoto is a photo as the service describes it; most texts may be null.
type unsplashPhoto struct {
	ID          string `json:"id"`
	Width       int    `json:"width"`
	Height      int    `json:"height"`
	Description string `json:"description"`
	Alt         string `json:"alt_description"`
	URLs        struct {
		Regular string `json:"regular"`
		Small   string `json:"small"`
	} `json:"urls"`
	Links struct {
		HTML     string `json:"html"`
		Download string `json:"download_location"`
	} `json:"links"`
	User struct {
		Name  string `json:"name"`
		Links struct {
			HTML string `json:"html"`
		} `json:"links"`
	} `json:"user"`
}

func (p unsplashPhoto) item() Item {
	author := cmp.Or(strings.TrimSpace(p.User.Name), "Unsplash")
	return Item{
		Untrusted: true,
		ID:        p.ID, Provider: "unsplash", ImageURL: p.URLs.Regular, ThumbURL: p.URLs.Small, Width: p.Width, Height: p.Height,
		Alt:    cmp.Or(strings.TrimSpace(p.Alt), strings.TrimSpace(p.Description), "Photo by "+author+" on Unsplash"),
		Author: author, AuthorURL: tagged(cmp.Or(p.User.Links.HTML, "https://unsplash.com/")), SourceURL: tagged(p.Links.HTML),
	}
}

// tagged adds where a visitor comes from to an address.
func tagged(address string) string {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return address
	}
	q := u.Query()
	q.Set("utm_source", appName)
	q.Set("utm_medium", "referral")
	u.RawQuery = q.Encode()
	return u.String()
}

func (u *unsplash) search(ctx context.Context, q query) ([]Item, error) {
	values := url.Values{"query": {q.text}, "per_page": {strconv.Itoa(q.limit)}, "content_filter": {"high"}}
	setWord(values, "orientation", q.orientation, unsplashOrientations)
	setWord(values, "color", q.color, unsplashColors)
	var answer struct {
		Results []unsplashPhoto `json:"results"`
	}
	if err := u.client.Get(ctx, "search/photos", values, &answer); err != nil {
		return nil, err
	}
	items := make([]Item, 0, len(answer.Results))
	for _, photo := range answer.Results {
		items = append(items, photo.item())
	}
	return items, nil
}

// unsplashID is what the service's ids look like.
var unsplashID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (u *unsplash) photo(ctx context.Context, id string) (Item, error) {
	if !unsplashID.MatchString(id) {
		return Item{}, noPhoto("Unsplash")
	}
	var photo unsplashPhoto
	if err := u.client.Get(ctx, "photos/"+id, nil, &photo); err != nil {
		return Item{}, missing(err, "Unsplash")
	}
	item := photo.item()
	item.track = photo.Links.Download
	return item, nil
}

// used counts a download, as the service's rules ask for. Its address is the service's word, so only path and query of
// it are believed.
func (u *unsplash) used(ctx context.Context, item Item) error {
	address, err := url.Parse(item.track)
	if err != nil || item.track == "" {
		return registry.Say(registry.CodeProvider, said.PhotoCount, "service", "Unsplash")
	}
	return u.client.Get(ctx, strings.TrimPrefix(address.Path, u.root), address.Query(), nil)
}

// unsplashFailure reads the quota's refusal, which comes as a 403 in plain text.
func unsplashFailure(answer upstream.Response) *registry.Error {
	if answer.Status == http.StatusForbidden && strings.Contains(strings.ToLower(string(answer.Body)), "rate limit") {
		return registry.Say(registry.CodeRateLimited, said.PhotoEnough, "service", "Unsplash").Again()
	}
	return nil
}

// setWord sets a parameter in the service's word, where the tool's differs.
func setWord(values url.Values, name, word string, own map[string]string) {
	if word != "" {
		values.Set(name, cmp.Or(own[word], word))
	}
}
