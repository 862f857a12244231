package api

import (
	"errors"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/users"
)

// exportAPI gives the caller everything that they have.
type exportAPI struct{ exports *exports.Service }

func (s *exportAPI) routes() []door.Route {
	return []door.Route{
		door.ForPrograms("POST /api/me/export", door.Manage, s.request),
		door.ForPrograms("GET /api/me/export", door.Manage, s.latest),
		door.ForPrograms("GET /api/me/export/{id}", door.Manage, s.fetch),
	}
}

// exportBody is an archive as the API tells it.
type exportBody struct {
	ID          string        `json:"exportId"`
	State       exports.State `json:"state"`
	RequestedAt time.Time     `json:"requestedAt"`
	Bytes       int64         `json:"bytes,omitempty"`
	ExpiresAt   *time.Time    `json:"expiresAt,omitempty"`
	Path        string        `json:"path,omitempty"` // where it is fetched, once it is ready
}

func told(e exports.Export) exportBody {
	body := exportBody{ID: e.ID, State: e.State, RequestedAt: e.RequestedAt, Bytes: e.Bytes, ExpiresAt: e.ExpiresAt}
	if e.State == exports.Ready {
		body.Path = "/api/me/export/" + e.ID
	}
	return body
}

func (s *exportAPI) request(w http.ResponseWriter, r *http.Request, who users.Account) error {
	e, err := s.exports.Request(r.Context(), who.ID)
	if err != nil {
		return err
	}
	door.WriteJSON(w, http.StatusAccepted, told(e))
	return nil
}

var errNoExport = &problem.Problem{Status: http.StatusNotFound, Code: "not_found", Detail: "There is no such archive of yours: ask for one with POST /api/me/export."}

func (s *exportAPI) latest(w http.ResponseWriter, r *http.Request, who users.Account) error {
	e, err := s.exports.Latest(r.Context(), who.ID)
	if err != nil {
		return err
	}
	if e.ID == "" {
		return errNoExport
	}
	door.WriteJSON(w, http.StatusOK, told(e))
	return nil
}

func (s *exportAPI) fetch(w http.ResponseWriter, r *http.Request, who users.Account) error {
	content, err := s.exports.Open(r.Context(), who.ID, r.PathValue("id"))
	if errors.Is(err, assets.ErrNotFound) {
		return errNoExport
	}
	if err != nil {
		return err
	}
	defer content.Close()
	files.SendArchive(w, r, content, exports.FileName)
	return nil
}
