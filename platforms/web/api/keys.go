package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/users"
)

// Keys makes and ends API keys: users.Store.
type Keys interface {
	Keys(ctx context.Context, accountID string) ([]users.Key, error)
	MakeKey(ctx context.Context, accountID string, k users.NewKey) (string, error)
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
	registry *catalog.Registry
	now      func() time.Time
}

// keyBody is an API key as the API tells it. The key itself is in the answer that makes it only.
type keyBody struct {
	ID         int64      `json:"id"`
	Label      string     `json:"label"`
	Hint       string     `json:"hint"` // its first letters
	CreatedAt  time.Time  `json:"createdAt"`
	LastUsedAt *time.Time `json:"lastUsedAt,omitempty"` // to the minute
	// SpendLimit is what its runs may cost in a calendar month; 0: no limit.
	SpendLimit int64      `json:"spendLimitNanoUsd,omitempty"`
	Agent      bool       `json:"agent,omitempty"` // see make, as for what follows
	Tools      []string   `json:"tools,omitempty"`
	ExpiresAt  *time.Time `json:"expiresAt,omitempty"`
	OwnRuns    bool       `json:"ownRuns,omitempty"` // it sees the runs alone that it made
}

func (a *keysAPI) list(w http.ResponseWriter, r *http.Request, who users.Account) error {
	keys, err := a.keys.Keys(r.Context(), who.ID)
	if err != nil {
		return err
	}
	bodies := make([]keyBody, len(keys))
	for i, k := range keys {
		bodies[i] = keyBody{k.ID, k.Label, k.Hint, k.CreatedAt, k.LastUsedAt, k.SpendLimit, k.Agent, k.Tools, k.ExpiresAt, k.OwnRuns}
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"keys": bodies})
	return nil
}

// make makes a key of the caller's account as request.WantedKey says. With the operator's token it makes an account
// with a key, named by {"name": "..."}.
func (a *keysAPI) make(w http.ResponseWriter, r *http.Request, who users.Account) error {
	var body struct {
		Name string `json:"name"`
		request.WantedKey
	}
	err := door.ReadJSON(w, r, &body)
	if err != nil {
		return err
	}
	if a.door.ByAdminToken(r) {
		if who, err = a.accountOf(r.Context(), who, body.Name); err != nil {
			return err
		}
		body.Label = who.DisplayName
	}
	wanted, err := body.Key(a.registry.Snapshot(), who, a.now(), door.KeyEnd(r.Context()))
	if err != nil {
		return err
	}
	key, err := a.keys.MakeKey(r.Context(), who.ID, wanted)
	if err != nil {
		return err
	}
	door.WriteJSON(w, http.StatusCreated, map[string]any{"key": key, "accountId": who.ID})
	return nil
}

// accountOf finds or makes the account of a program that the operator names.
func (a *keysAPI) accountOf(ctx context.Context, operator users.Account, name string) (users.Account, error) {
	name = cmp.Or(name, "api")
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
