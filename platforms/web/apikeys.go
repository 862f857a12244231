package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// keyBody is an API key as the API tells it. The key itself is in the answer that makes it only.
type keyBody struct {
	ID         int64      `json:"id"`
	Label      string     `json:"label"`
	Hint       string     `json:"hint"` // its first letters
	CreatedAt  time.Time  `json:"createdAt"`
	LastUsedAt *time.Time `json:"lastUsedAt,omitempty"` // to the minute
}

func (s *Server) apiKeys(w http.ResponseWriter, r *http.Request, a users.Account) error {
	keys, err := s.cfg.Users.Keys(r.Context(), a.ID)
	if err != nil {
		return err
	}
	bodies := make([]keyBody, len(keys))
	for i, k := range keys {
		bodies[i] = keyBody{k.ID, k.Label, k.Hint, k.CreatedAt, k.LastUsedAt}
	}
	writeJSON(w, http.StatusOK, map[string]any{"keys": bodies})
	return nil
}

// apiMakeKey makes a key of the caller's account, named by {"label": "..."}. With the operator's token it makes an account
// with a key, named by {"name": "..."}.
func (s *Server) apiMakeKey(w http.ResponseWriter, r *http.Request, a users.Account) error {
	var body struct {
		Name  string `json:"name"`
		Label string `json:"label"`
	}
	err := readBody(w, r, &body)
	if err != nil {
		return err
	}
	if s.isAdmin(r) {
		if a, err = s.apiAccount(r.Context(), a, body.Name); err != nil {
			return err
		}
		body.Label = a.DisplayName
	}
	key, err := s.cfg.Users.CreateKey(r.Context(), a.ID, body.Label)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, map[string]any{"key": key, "accountId": a.ID})
	return nil
}

// apiAccount finds or makes the account of a program that the operator names.
func (s *Server) apiAccount(ctx context.Context, operator users.Account, name string) (users.Account, error) {
	if name == "" {
		name = "api"
	}
	a, err := s.cfg.Users.Identify(ctx, users.Identity{Platform: "api", ExternalID: name, Name: name})
	if err != nil {
		return a, err
	}
	return a, s.cfg.Users.Admit(ctx, a.ID, operator.ID, "key made by the operator")
}

// apiRevokeKey ends a key; it is refused from now on.
func (s *Server) apiRevokeKey(w http.ResponseWriter, r *http.Request, a users.Account) error {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err == nil {
		err = s.cfg.Users.RevokeKey(r.Context(), a.ID, id)
	} else {
		err = users.ErrNotFound
	}
	if errors.Is(err, users.ErrNotFound) {
		return errNothingThere
	}
	if err != nil {
		return err
	}
	s.forgetCallers(a.ID)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// readBody reads a small JSON object; none at all leaves v as it is.
func readBody(w http.ResponseWriter, r *http.Request, v any) error {
	if r.ContentLength == 0 {
		return nil
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxFormText)
	if err := json.NewDecoder(r.Body).Decode(v); err != nil {
		e := registry.Errorf(registry.CodeInvalidInput, "the body is not the JSON object that this takes: %s", jsonFault(err))
		e.Cause = err
		return e
	}
	return nil
}
