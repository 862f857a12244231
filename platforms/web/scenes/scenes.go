// Package scenes draws the pages of drawings: /scenes lists those of an account, and /scenes/{id} is one, to be looked at, changed by hand and
// downloaded. Changes go to the API of package sceneapi, and what others change is shown as its events tell.
package scenes

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

//go:embed templates/*.html
var templateFiles embed.FS

// Path is the list of drawings; one of them lies below, by its id.
const Path = "/scenes"

// Info is a drawing in a list.
type Info struct {
	ID        string
	Title     string
	Version   int64
	ChangedAt time.Time
}

// Drawings are an account's. One that is not there is a *registry.Error with CodeLost.
type Drawings interface {
	List(ctx context.Context, accountID string) ([]Info, error)
	Get(ctx context.Context, accountID, id string) (Info, error)
}

// Runs has the results from which pictures are chosen.
type Runs interface {
	List(ctx context.Context, f runs.Filter) ([]runs.Run, error)
}

// Config wires the pages; all is required.
type Config struct {
	Render   *render.Renderer
	Drawings Drawings
	Runs     Runs
	Links    files.Links
}

type server struct {
	Config
	pages *render.Pages
}

// Routes gives the addresses of the pages.
func Routes(cfg Config) []door.Route {
	drawn := cfg.Render.Pages(templateFiles, func(i18n.Voice) template.FuncMap {
		return template.FuncMap{"downloads": func() map[string]string { return map[string]string{"svg": "SVG", "png": "PNG", "pdf": "PDF"} }}
	})
	s := server{cfg, drawn}
	return []door.Route{
		door.ForPeople("GET "+Path, door.View, s.list),
		door.ForPeople("GET "+Path+"/{id}", door.View, s.one),
	}
}

func (s server) list(w http.ResponseWriter, r *http.Request, a users.Account) error {
	list, err := s.Drawings.List(r.Context(), a.ID)
	if err != nil {
		return err
	}
	return s.pages.Show(w, r, a, "scenes", render.View{Title: s.Render.Voice(r, a).Line("scene.list"), Place: "drawings", Scripts: []string{"scenes.js"}, Data: list})
}

// page is what the page of a drawing shows.
type page struct {
	Info
	Pictures []picture
}

// picture is a result that can be put into the drawing.
type picture struct{ Ref, Thumb, Alt string }

func (s server) one(w http.ResponseWriter, r *http.Request, a users.Account) error {
	info, err := s.Drawings.Get(r.Context(), a.ID, r.PathValue("id"))
	if err != nil {
		return err
	}
	pictures, err := s.pictures(r.Context(), a.ID)
	if err != nil {
		return err
	}
	title := info.Title
	if title == "" {
		title = s.Render.Voice(r, a).Line("scene.untitled")
	}
	return s.pages.Show(w, r, a, "scene", render.View{Title: title, Place: "drawings", Scripts: []string{"scene.js"}, Data: page{info, pictures}})
}

// manyPictures is how many results are offered.
const manyPictures = 24

// pictures are the latest pictures of an account, each once.
func (s server) pictures(ctx context.Context, accountID string) ([]picture, error) {
	latest, err := s.Runs.List(ctx, runs.Filter{AccountID: accountID, Status: runs.StatusSucceeded, Limit: 60})
	if err != nil {
		return nil, err
	}
	var list []picture
	seen := map[string]bool{}
	for _, run := range latest {
		for _, o := range run.Outputs {
			if o.Type != string(registry.TypeImage) || o.Deleted || !strings.HasPrefix(o.Media, files.Scheme) || seen[o.Media] || len(list) == manyPictures {
				continue
			}
			seen[o.Media] = true
			list = append(list, picture{o.Media, s.Links.Thumb(accountID, o.Media, files.TileSide), o.Alt})
		}
	}
	return list, nil
}
