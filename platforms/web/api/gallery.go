package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs/gallery"
	"github.com/signalbox/signalbox/users"
)

// galleryAPI is the part of the API about results and what their owners think of them.
type galleryAPI struct {
	gallery *gallery.Gallery
	tell    teller
}

func (a *galleryAPI) routes() []door.Route {
	return []door.Route{
		door.ForPrograms("GET /api/gallery", door.Read, a.list),
		door.ForPrograms("PUT /api/runs/{id}/outputs/{n}/favorite", door.Manage, a.favorite),
		door.ForPrograms("PUT /api/runs/{id}/outputs/{n}/rating", door.Manage, a.rate),
	}
}

// resultBody is a result as the API tells it.
type resultBody struct {
	RunID        string     `json:"runId"`
	N            int        `json:"n"` // its place in the run's outputs
	ToolID       string     `json:"toolId"`
	Output       outputBody `json:"output"`
	ThumbnailURL string     `json:"thumbnailUrl,omitempty"` // of pictures
	Prompt       string     `json:"prompt,omitempty"`
	Favorite     bool       `json:"favorite"`
	Rating       int        `json:"rating"`
	CreatedAt    time.Time  `json:"createdAt"`
}

func (a *galleryAPI) list(w http.ResponseWriter, r *http.Request, who users.Account) error {
	query, err := galleryQuery(r)
	if err != nil {
		return err
	}
	query.AccountID, query.Budget = who.ID, who.Runs
	items, err := a.gallery.List(r.Context(), query)
	if err != nil {
		return err
	}
	answer := struct {
		Results []resultBody `json:"results"`
		Next    string       `json:"next,omitempty"`
	}{Results: []resultBody{}}
	for _, item := range items {
		answer.Results = append(answer.Results, a.result(r, item))
	}
	if len(items) == query.Limit {
		answer.Next = items[len(items)-1].String()
	}
	door.WriteJSON(w, http.StatusOK, answer)
	return nil
}

func (a *galleryAPI) result(r *http.Request, item gallery.Item) resultBody {
	b := resultBody{
		RunID: item.RunID, N: item.N, ToolID: item.ToolID, Output: a.tell.output(r, item.AccountID, item.Output), Prompt: item.Prompt,
		Favorite: item.Favorite, Rating: item.Rating, CreatedAt: item.CreatedAt,
	}
	if item.Output.Type == string(registry.TypeImage) {
		b.ThumbnailURL = a.tell.site.Absolute(r, a.tell.links.Thumb(item.AccountID, item.Output.Media, files.CardSide))
	}
	return b
}

// galleryQuery reads what is asked for from an address.
func galleryQuery(r *http.Request) (gallery.Query, error) {
	address := r.URL.Query()
	q := gallery.Query{ToolID: address.Get("toolId"), Text: address.Get("q"), Favorites: address.Get("favorites") == "true", Limit: 50}
	var err error
	if day := address.Get("day"); day != "" {
		if q.Day, err = time.Parse(time.DateOnly, day); err != nil {
			return q, registry.Errorf(registry.CodeInvalidInput, "day: found %.40q, expected a day such as 2026-01-31", day)
		}
	}
	for name, number := range map[string]struct {
		into      *int
		low, high int
	}{"rating": {&q.Rating, 1, len(gallery.Ratings)}, "limit": {&q.Limit, 1, gallery.MaxLimit}} {
		text := address.Get(name)
		if text == "" {
			continue
		}
		if *number.into, err = strconv.Atoi(text); err != nil || *number.into < number.low || *number.into > number.high {
			return q, registry.Errorf(registry.CodeInvalidInput, "%s: found %.40q, expected a number from %d to %d", name, text, number.low, number.high)
		}
	}
	if before := address.Get("before"); before != "" {
		at, err := gallery.ParseResultRef(before)
		if err != nil {
			return q, registry.Errorf(registry.CodeInvalidInput, "before: found %.60q, expected what an answer gave as next", before)
		}
		q.Before = &at
	}
	return q, nil
}

// resultIn is the result that the address of a request names.
func resultIn(r *http.Request) (gallery.ResultRef, error) {
	return gallery.ParseResultRef(r.PathValue("id") + "." + r.PathValue("n"))
}

// favorite takes {"favorite": true} or false.
func (a *galleryAPI) favorite(w http.ResponseWriter, r *http.Request, who users.Account) error {
	var body struct {
		Favorite bool `json:"favorite"`
	}
	at, err := resultIn(r)
	if err == nil {
		err = door.ReadJSON(w, r, &body)
	}
	if err == nil {
		err = a.gallery.SetFavorite(r.Context(), who.ID, at, body.Favorite)
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// rate takes {"rating": 3}; 0 takes the rating back.
func (a *galleryAPI) rate(w http.ResponseWriter, r *http.Request, who users.Account) error {
	var body struct {
		Rating int `json:"rating"`
	}
	at, err := resultIn(r)
	if err == nil {
		err = door.ReadJSON(w, r, &body)
	}
	if err == nil {
		err = a.gallery.Rate(r.Context(), who.ID, at, body.Rating)
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
