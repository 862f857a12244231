package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Keys makes and ends API keys: users.Store.
type Keys interface {
	Keys(ctx context.Context, accountID string) ([]users.Key, error)
	KeyOf(ctx context.Context, plaintext string) (users.Account, users.Key, error)
	CreateKey(ctx context.Context, accountID, label string) (string, error)
	LimitKey(ctx context.Context, accountID string, id, nanoUSD int64) error
	MarkAgentKey(ctx context.Context, accountID string, id int64) error
	RevokeKey(ctx context.Context, accountID string, id int64, exceptSession string) error
}

// Programs makes accounts for programs: users.Store.
type Programs interface {
	Identify(ctx context.Context, id users.Identity) (users.Account, error)
	Admit(ctx context.Context, accountID, by, note string) error
}

// keysAPI is the part of the API about API keys.
type keysAPI struct {
	door     *door.Door
	keys     Keys
	programs Programs
}

// keyBody is an API key as the API tells it. The key itself is in the answer that makes it only.
type keyBody struct {
	ID         int64      `json:"id"`
	Label      string     `json:"label"`
	Hint       string     `json:"hint"` // its first letters
	CreatedAt  time.Time  `json:"createdAt"`
	LastUsedAt *time.Time `json:"lastUsedAt,omitempty"` // to the minute
	// SpendLimit is what its runs may cost in a calendar month; 0: no limit.
	SpendLimit int64 `json:"spendLimitNanoUsd,omitempty"`
	Agent      bool  `json:"agent,omitempty"` // see make
}

func (a *keysAPI) list(w http.ResponseWriter, r *http.Request, who users.Account) error {
	keys, err := a.keys.Keys(r.Context(), who.ID)
	if err != nil {
		return err
	}
	bodies := make([]keyBody, len(keys))
	for i, k := range keys {
		bodies[i] = keyBody{k.ID, k.Label, k.Hint, k.CreatedAt, k.LastUsedAt, k.SpendLimit, k.Agent}
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"keys": bodies})
	return nil
}

// make makes a key of the caller's account, named by {"label": "..."}. With the operator's token it makes an account
// with a key, named by {"name": "..."}. {"spendLimitUsd": "5"} is what the key's runs may cost in a calendar month;
// {"agent": true} makes it the key of a model: what changes something waits for the owner's approval, see runs.Request.Approval.
func (a *keysAPI) make(w http.ResponseWriter, r *http.Request, who users.Account) error {
	var body struct {
		Name  string `json:"name"`
		Label string `json:"label"`
		Limit string `json:"spendLimitUsd"`
		Agent bool   `json:"agent"`
	}
	err := door.ReadJSON(w, r, &body)
	if err != nil {
		return err
	}
	limit, err := spendLimit(body.Limit)
	if err != nil {
		return err
	}
	if a.door.ByAdminToken(r) {
		if who, err = a.accountOf(r.Context(), who, body.Name); err != nil {
			return err
		}
		body.Label = who.DisplayName
	}
	key, err := a.restricted(r.Context(), who.ID, body.Label, limit, body.Agent)
	if err != nil {
		return err
	}
	door.WriteJSON(w, http.StatusCreated, map[string]any{"key": key, "accountId": who.ID})
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

// restricted makes a key; one whose restrictions can't be set is not given out.
func (a *keysAPI) restricted(ctx context.Context, accountID, label string, limit billing.NanoUSD, agent bool) (string, error) {
	plaintext, err := a.keys.CreateKey(ctx, accountID, label)
	if err != nil || limit == 0 && !agent {
		return plaintext, err
	}
	_, key, err := a.keys.KeyOf(ctx, plaintext)
	if err == nil && limit > 0 {
		err = a.keys.LimitKey(ctx, accountID, key.ID, int64(limit))
	}
	if err == nil && agent {
		err = a.keys.MarkAgentKey(ctx, accountID, key.ID)
	}
	return plaintext, err
}

// accountOf finds or makes the account of a program that the operator names.
func (a *keysAPI) accountOf(ctx context.Context, operator users.Account, name string) (users.Account, error) {
	if name == "" {
		name = "api"
	}
	program, err := a.programs.Identify(ctx, users.Identity{Platform: "api", ExternalID: name, Name: name})
	if err != nil {
		return program, err
	}
	return program, a.programs.Admit(ctx, program.ID, operator.ID, "key made by the operator")
}

// revoke ends a key; it is refused from now on.
func (a *keysAPI) revoke(w http.ResponseWriter, r *http.Request, who users.Account) error {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err == nil {
		err = a.keys.RevokeKey(r.Context(), who.ID, id, door.SessionID(r.Context()))
	} else {
		err = users.ErrNotFound
	}
	if errors.Is(err, users.ErrNotFound) {
		return problem.ErrNothingThere
	}
	if err != nil {
		return err
	}
	a.door.Forget(who.ID)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
