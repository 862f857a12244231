package pages

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/gallery"
	"github.com/signalbox/signalbox/users"
)

// GalleryPath is where people find what they made.
const GalleryPath = "/gallery"

// Gallery finds and marks results: gallery.Gallery.
type Gallery interface {
	List(ctx context.Context, q gallery.Query) ([]gallery.Item, error)
	Get(ctx context.Context, accountID string, at gallery.ResultRef) (gallery.Item, error)
	Find(ctx context.Context, accountID string, refs []gallery.ResultRef) ([]gallery.Item, error)
	Beside(ctx context.Context, accountID string, at gallery.ResultRef) (newer, older *gallery.ResultRef, err error)
	SetFavorite(ctx context.Context, accountID string, at gallery.ResultRef, favorite bool) error
	Rate(ctx context.Context, accountID string, at gallery.ResultRef, rating int) error
}

// galleryPages are the wall of what an account made, and a page for each picture, video and sound.
type galleryPages struct {
	shared
	gallery Gallery
	runs    *runPages
	media   request.Media
	delete  func(ctx context.Context, a users.Account, runID string, output int) error
}

func (s *galleryPages) routes() []door.Route {
	return []door.Route{
		door.ForPeople("GET "+GalleryPath, door.View, s.wall),
		door.ForPeople("GET "+GalleryPath+"/{id}/{n}", door.View, s.item),
		door.ForPeople("POST "+GalleryPath+"/{id}/{n}/mark", door.Person, s.mark),
		door.ForPeople("POST "+GalleryPath+"/zip", door.Person, s.zip),
		door.ForPeople("POST "+GalleryPath+"/delete", door.Person, s.remove),
	}
}

// wallPage is the results that fit what the address says, newest first.
type wallPage struct {
	Filter   wallFilter
	Filtered bool
	Narrowed bool   // by more than a text
	Here     string // the address of this page
	Shots    []shot
	More     string           // the address of what comes after them
	Tools    []*registry.Tool // to choose from; none where there are too many
	Ratings  []int
	Most     int // how many can be chosen
}

// wallFilter is what the form above the wall holds.
type wallFilter struct {
	Text, Tool, Day, Rating string
	Favorites               bool
}

// shot is a result on the wall.
type shot struct {
	gallery.Item
	ToolName     string
	Page, File   string
	Small, Large string // thumbnails, for usual screens and for those of fine pixels
}

// wallLength is how many results one page of the wall has.
const wallLength = 60

func (s *galleryPages) wall(w http.ResponseWriter, r *http.Request, a users.Account) error {
	address := r.URL.Query()
	page := wallPage{
		Filter: wallFilter{
			Text: strings.TrimSpace(address.Get("q")), Tool: address.Get("tool"), Day: address.Get("day"), Rating: address.Get("rating"), Favorites: address.Get("favorites") != "",
		},
		Tools: s.tools.forPeople(a), Ratings: gallery.Ratings[:], Here: r.URL.RequestURI(), Most: gallery.MaxLimit,
	}
	if len(page.Tools) > manyChoices {
		page.Tools = nil // their names are found as words, too
	}
	language := s.render.Voice(r, a).Language()
	readIn(language, page.Tools)
	page.Filtered = page.Filter != wallFilter{}
	page.Narrowed = page.Filter != wallFilter{Text: page.Filter.Text, Favorites: page.Filter.Favorites}
	query, err := page.Filter.query(address.Get("before"))
	if err != nil {
		return err
	}
	query.AccountID = a.ID
	items, err := s.gallery.List(r.Context(), query)
	if err != nil {
		return err
	}
	for _, item := range items {
		page.Shots = append(page.Shots, s.shot(language, item))
	}
	if len(items) == query.Limit {
		page.More = page.Filter.Address(items[len(items)-1].String())
	}
	return s.pages.Show(w, r, a, "gallery", render.View{Title: s.render.Voice(r, a).Line("gallery.title"), Place: "gallery", Data: &page, Scripts: []string{"gallery.js"}})
}

// query is what the form asks for, from a place on.
func (f wallFilter) query(before string) (gallery.Query, error) {
	q := gallery.Query{Text: f.Text, ToolID: f.Tool, Favorites: f.Favorites, Limit: wallLength}
	var err error
	if q.Day, err = day(f.Day); err != nil {
		return q, err
	}
	if f.Rating != "" {
		if q.Rating, err = strconv.Atoi(f.Rating); err != nil || q.Rating < 0 || q.Rating > len(gallery.Ratings) {
			return q, registry.Errorf(registry.CodeInvalidInput, "rating: found %q, expected 1, 2 or 3", f.Rating)
		}
	}
	if before == "" {
		return q, nil
	}
	at, err := gallery.ParseResultRef(before)
	q.Before = &at
	return q, err
}

// Address is the wall narrowed like this, from a place on; empty: from the newest.
func (f wallFilter) Address(before string) string {
	q := url.Values{}
	for name, value := range map[string]string{"q": f.Text, "tool": f.Tool, "day": f.Day, "rating": f.Rating, "favorites": map[bool]string{true: "1"}[f.Favorites], "before": before} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return GalleryPath
	}
	return GalleryPath + "?" + q.Encode()
}

// OnlyFavorites is the same with favorites alone, or with all.
func (f wallFilter) OnlyFavorites(only bool) wallFilter {
	f.Favorites = only
	return f
}

func (s *galleryPages) shot(language string, item gallery.Item) shot {
	o := item.Output
	shown := shot{Item: item, ToolName: item.ToolID, Page: pageOf(item.ResultRef), File: s.views.links.File(item.AccountID, o.Media, o.FileName)}
	if t, ok := s.tools.snapshot().Resolve(item.ToolID); ok {
		shown.ToolName = t.In(language).DisplayName
	}
	if o.Type == string(registry.TypeImage) {
		shown.Small = s.views.links.Thumb(item.AccountID, o.Media, files.WallSide)
		shown.Large = s.views.links.Thumb(item.AccountID, o.Media, files.CardSide)
	}
	return shown
}

// pageOf is the address of a result's own page.
func pageOf(at gallery.ResultRef) string {
	return GalleryPath + "/" + at.RunID + "/" + strconv.Itoa(at.N)
}

// resultIn is the result that the address of a request names.
func resultIn(r *http.Request) (gallery.ResultRef, error) {
	return gallery.ParseResultRef(r.PathValue("id") + "." + r.PathValue("n"))
}

// itemPage is a result with all that made it.
type itemPage struct {
	runPage
	Item         gallery.Item
	One          []result // the result alone
	Took         string   // seconds of the run, empty where that is not known
	Newer, Older string   // the pages beside this one
	Ratings      []int
	Remix        string // the tool's form with these inputs; empty: the tool is gone
}

func (s *galleryPages) item(w http.ResponseWriter, r *http.Request, a users.Account) error {
	at, err := resultIn(r)
	if err != nil {
		return err
	}
	item, err := s.gallery.Get(r.Context(), a.ID, at)
	if err != nil {
		return err
	}
	run, err := s.runs.callers.Own(r.Context(), a, at.RunID)
	if err != nil {
		return err
	}
	if at.N >= len(run.Outputs) {
		return runs.ErrNotFound
	}
	page := itemPage{Item: item, Ratings: gallery.Ratings[:], runPage: runPage{runView: s.views.run(s.render.Voice(r, a), run), Own: true, CanShare: s.runs.sharing.on()}}
	if page.Share, err = s.runs.sharing.link(r, run.ID); err != nil {
		return err
	}
	s.runs.addUses(s.render.Voice(r, a), a, &page.runPage)
	page.One = page.Results[at.N : at.N+1]
	if run.StartedAt != nil && run.EndedAt != nil {
		page.Took = strconv.FormatFloat(run.EndedAt.Sub(*run.StartedAt).Round(time.Millisecond).Seconds(), 'f', -1, 64)
	}
	if _, err := s.tools.visible(run.Tool.ToolID, a); err == nil {
		page.Remix = "/tool/" + run.Tool.ToolID + "?run=" + run.ID
	}
	newer, older, err := s.gallery.Beside(r.Context(), a.ID, at)
	if err != nil {
		return err
	}
	if newer != nil {
		page.Newer = pageOf(*newer)
	}
	if older != nil {
		page.Older = pageOf(*older)
	}
	return s.pages.Show(w, r, a, "galleryitem", render.View{Title: run.Tool.DisplayName, Place: "gallery", Data: &page, Scripts: []string{"run.js", "gallery.js"}})
}

// mark keeps what the reader thinks of a result: favorite is yes or no, rating a number. Scripts use the API.
func (s *galleryPages) mark(w http.ResponseWriter, r *http.Request, a users.Account) error {
	at, err := resultIn(r)
	if err != nil {
		return err
	}
	if favorite := r.PostFormValue("favorite"); favorite != "" {
		err = s.gallery.SetFavorite(r.Context(), a.ID, at, favorite == "yes")
	}
	if rating := r.PostFormValue("rating"); rating != "" && err == nil {
		n, bad := strconv.Atoi(rating)
		if bad != nil {
			return registry.Errorf(registry.CodeInvalidInput, "rating: found %q, expected 0, 1, 2 or 3", rating)
		}
		err = s.gallery.Rate(r.Context(), a.ID, at, n)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, backIn(r, pageOf(at)), http.StatusSeeOther)
	return nil
}

// backIn is the page of the gallery that a form says to go back to.
func backIn(r *http.Request, otherwise string) string {
	back := r.PostFormValue("back")
	if back == GalleryPath || strings.HasPrefix(back, GalleryPath+"?") || strings.HasPrefix(back, GalleryPath+"/") {
		return back
	}
	return otherwise
}

// briefWords is how much of a text stands for a picture that can't be seen.
const briefWords = 160

// brief is the beginning of a text.
func brief(text string) string {
	if letters := []rune(text); len(letters) > briefWords {
		return string(letters[:briefWords]) + "…"
	}
	return text
}
