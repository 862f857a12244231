// Package knowledgeapi is adding sources of documents over HTTP: GET /api/knowledge/sources lists those that the caller may read, POST adds
// one, DELETE /api/knowledge/sources/{name} removes one. People add sources for themselves, operators for the house, too.
package knowledgeapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Source is a source as it is shown.
type Source struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	ToolID  string `json:"toolId"`
	Mine    bool   `json:"mine"`   // the caller's own; else it is the house's
	Access  string `json:"access"` // public, house or listed
	Origin  string `json:"origin"` // folder, file, site or upload
	Chunks  int    `json:"chunks"` // passages that are there now
	Problem string `json:"problem,omitempty"`
}

// Wanted is a source to add. One of URL and Upload is given.
type Wanted struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Upload      string `json:"upload"`   // the reference of an uploaded file
	Filename    string `json:"filename"` // its name, whose ending says what it is; empty: by its content
	Access      Access `json:"access"`
	House       bool   `json:"-"` // by Access: it is the house's, not the caller's
}

// Access is public, house, or a list of accounts, platform:id and groups; nothing or "me": it is the caller's own.
type Access struct {
	Level   string
	Readers []string
}

// UnmarshalJSON reads a word or a list.
func (a *Access) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &a.Level) == nil {
		if a.Level == "me" {
			a.Level = ""
		}
		if a.Level == "" || a.Level == "public" || a.Level == "house" {
			return nil
		}
	} else if json.Unmarshal(data, &a.Readers) == nil && len(a.Readers) > 0 {
		a.Level = "listed"
		return nil
	}
	return errors.New("access: expected me, public, house, or a list of accounts, platform:id and groups")
}

// Config wires a Handler; all but Logger are required.
type Config struct {
	// List gives the sources that an account may read. Add takes one of an account, or of the house; Remove forgets one. Their errors for people
	// are *registry.Error.
	List   func(ctx context.Context, account string) ([]Source, error)
	Add    func(ctx context.Context, account string, w Wanted) (Source, error)
	Remove func(ctx context.Context, account, name string, house bool) error
	// Caller is who sent the request of ctx.
	Caller func(ctx context.Context) (users.Account, bool)
	Logger *slog.Logger
}

type server struct{ Config }

// Handler serves the three routes. Who may use them at all is decided where it is mounted; that what is the house's is only for operators, here.
func Handler(cfg Config) http.Handler {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := server{cfg}
	mux := http.NewServeMux()
	answer := func(h door.Handler) http.HandlerFunc { return door.Answering(cfg.Caller, cfg.Logger, h) }
	mux.HandleFunc("GET /api/knowledge/sources", answer(s.list))
	mux.HandleFunc("POST /api/knowledge/sources", answer(s.add))
	mux.HandleFunc("DELETE /api/knowledge/sources/{name}", answer(s.remove))
	return mux
}

func (s server) list(w http.ResponseWriter, r *http.Request, account users.Account) error {
	list, err := s.List(r.Context(), account.ID)
	if err != nil {
		return err
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"sources": list})
	return nil
}

func (s server) add(w http.ResponseWriter, r *http.Request, account users.Account) error {
	var wanted Wanted
	if err := door.ReadLike(w, r, &wanted, `{"name":"handbook","url":"https://docs.example"}`); err != nil {
		return err
	}
	wanted.House = wanted.Access.Level != ""
	if wanted.House && !account.Operator {
		return &problem.Problem{Status: http.StatusForbidden, Code: string(registry.CodeUnauthorized), Detail: "Only operators add sources for others; leave access out, and the source is your own."}
	}
	source, err := s.Add(r.Context(), account.ID, wanted)
	if err != nil {
		return err
	}
	s.Logger.InfoContext(r.Context(), "a source of knowledge was added", "source", source.Name, "house", wanted.House, "by", account.ID)
	door.WriteJSON(w, http.StatusAccepted, source)
	return nil
}

// remove takes ?house=true for a source of the house.
func (s server) remove(w http.ResponseWriter, r *http.Request, account users.Account) error {
	house := r.URL.Query().Get("house") == "true"
	if house && !account.Operator {
		return &problem.Problem{Status: http.StatusForbidden, Code: string(registry.CodeUnauthorized), Detail: "Only operators remove sources of the house."}
	}
	if err := s.Remove(r.Context(), account.ID, r.PathValue("name"), house); err != nil {
		return err
	}
	s.Logger.InfoContext(r.Context(), "a source of knowledge was removed", "source", r.PathValue("name"), "house", house, "by", account.ID)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
