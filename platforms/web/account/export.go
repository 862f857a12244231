package account

import (
	"errors"
	"net/http"

	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/users"
)

// ExportPath begins the addresses at which people fetch the archives of everything that they have.
const ExportPath = "/account/export/"

// exporting gives people everything that they have.
type exporting struct {
	shared
	exports *exports.Service
	page    *person
}

func (s *exporting) routes() []door.Route {
	return []door.Route{
		door.ForPeople("POST /account/export", door.Person, s.request),
		door.ForPeople("GET "+ExportPath+"{id}", door.Person, s.fetch),
	}
}

func (s *exporting) request(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if _, err := s.exports.Request(r.Context(), a.ID); err != nil {
		return s.page.showProblem(w, r, a, err)
	}
	return done(w, r, "export")
}

func (s *exporting) fetch(w http.ResponseWriter, r *http.Request, a users.Account) error {
	content, err := s.exports.Open(r.Context(), a.ID, r.PathValue("id"))
	if errors.Is(err, assets.ErrNotFound) {
		s.render.NotFound(w, r)
		return nil
	}
	if err != nil {
		return err
	}
	defer content.Close()
	files.SendArchive(w, r, content, exports.FileName)
	return nil
}
