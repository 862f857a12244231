package web

import (
	"net/http"
	"strconv"

	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// deleteRun deletes a run, or one of its outputs, for its owner.
func (s *Server) deleteRun(r *http.Request, a users.Account) error {
	defer s.results.forget(func(told toldRun) bool { return told.owner == a.ID })
	text := r.PathValue("n")
	if text == "" {
		return s.cfg.Runs.Delete(r.Context(), r.PathValue("id"), a.ID)
	}
	output, err := strconv.Atoi(text)
	if err != nil {
		return runs.ErrNotFound
	}
	_, err = s.cfg.Runs.DeleteOutput(r.Context(), r.PathValue("id"), a.ID, output)
	return err
}

func (s *Server) apiDeleteRun(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if err := s.deleteRun(r, a); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) apiDeleteOutput(w http.ResponseWriter, r *http.Request, a users.Account) error {
	return s.apiDeleteRun(w, r, a)
}

func (s *Server) deleteFromPage(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if err := s.deleteRun(r, a); err != nil {
		return err
	}
	http.Redirect(w, r, "/history?done=deleted", http.StatusSeeOther)
	return nil
}

func (s *Server) deleteOutputFromPage(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if err := s.deleteRun(r, a); err != nil {
		return err
	}
	http.Redirect(w, r, "/run/"+r.PathValue("id")+"?done=removed", http.StatusSeeOther)
	return nil
}
