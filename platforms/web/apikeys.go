package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/billing"
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
	// SpendLimit is what its runs may cost in a calendar month; 0: no limit.
	SpendLimit int64 `json:"spendLimitNanoUsd,omitempty"`
	Agent      bool  `json:"agent,omitempty"` // see apiMakeKey
}

func (s *Server) apiKeys(w http.ResponseWriter, r *http.Request, a users.Account) error {
	keys, err := s.cfg.Users.Keys(r.Context(), a.ID)
	if err != nil {
		return err
	}
	bodies := make([]keyBody, len(keys))
	for i, k := range keys {
		bodies[i] = keyBody{k.ID, k.Label, k.Hint, k.CreatedAt, k.LastUsedAt, k.SpendLimit, k.Agent}
	}
	writeJSON(w, http.StatusOK, map[string]any{"keys": bodies})
	return nil
}

// apiMakeKey makes a key of the caller's account, named by {"label": "..."}. With the operator's token it makes an account
// with a key, named by {"name": "..."}. {"spendLimitUsd": "5"} is what the key's runs may cost in a calendar month;
// {"agent": true} makes it the key of a model: what changes something waits for the owner's approval, see context.go.
func (s *Server) apiMakeKey(w http.ResponseWriter, r *http.Request, a users.Account) error {
	var body struct {
		Name  string `json:"name"`
		Label string `json:"label"`
		Limit string `json:"spendLimitUsd"`
		Agent bool   `json:"agent"`
	}
	err := readBody(w, r, &body)
	if err != nil {
		return err
	}
	limit, err := spendLimit(body.Limit)
	if err != nil {
		return err
	}
	if s.isAdmin(r) {
		if a, err = s.apiAccount(r.Context(), a, body.Name); err != nil {
			return err
		}
		body.Label = a.DisplayName
	}
	key, err := s.restrictedKey(r.Context(), a.ID, body.Label, limit, body.Agent)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, map[string]any{"key": key, "accountId": a.ID})
	return nil
}

// spendLimit reads an amount in dollars; empty is none.
func spendLimit(text string) (billing.NanoUSD, error) {
	if text == "" {
		return 0, nil
	}
	limit, err := billing.ParseUSD(text)
	if err != nil || limit <= 0 {
		return 0, &registry.Error{Code: registry.CodeInvalidInput, Field: "spendLimitUsd", Message: "expected US dollars as text, like \"5\" or \"0.50\""}
	}
	return limit, nil
}

// restrictedKey makes a key; one whose restrictions can't be set is not given out.
func (s *Server) restrictedKey(ctx context.Context, accountID, label string, limit billing.NanoUSD, agent bool) (string, error) {
	plaintext, err := s.cfg.Users.CreateKey(ctx, accountID, label)
	if err != nil || limit == 0 && !agent {
		return plaintext, err
	}
	_, key, err := s.cfg.Users.KeyOf(ctx, plaintext)
	if err == nil && limit > 0 {
		err = s.cfg.Users.LimitKey(ctx, accountID, key.ID, int64(limit))
	}
	if err == nil && agent {
		err = s.cfg.Users.MarkAgentKey(ctx, accountID, key.ID)
	}
	return plaintext, err
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
		err = s.cfg.Users.RevokeKey(r.Context(), a.ID, id, SessionID(r.Context()))
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
	decoder := json.NewDecoder(r.Body)
	decoder.UseNumber()
	if err := decoder.Decode(v); err != nil {
		e := registry.Errorf(registry.CodeInvalidInput, "the body is not the JSON object that this takes: %s", jsonFault(err))
		e.Cause = err
		return e
	}
	return nil
}
