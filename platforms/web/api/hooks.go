package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
	"github.com/signalbox/signalbox/webhooks"
)

// Hooks keeps the endpoints of programs: webhooks.Outbox.
type Hooks interface {
	Create(ctx context.Context, e webhooks.Endpoint) (webhooks.Endpoint, string, error)
	Endpoints(ctx context.Context, accountID string) ([]webhooks.Endpoint, error)
	Endpoint(ctx context.Context, accountID, id string) (webhooks.Endpoint, error)
	Delete(ctx context.Context, accountID, id string) error
	Rotate(ctx context.Context, accountID, id string) (string, error)
	Enable(ctx context.Context, accountID, id string) error
	Disable(ctx context.Context, accountID, id string) error
}

// HookMessages is what endpoints are told: webhooks.Outbox.
type HookMessages interface {
	Messages(ctx context.Context, accountID, endpoint string) ([]webhooks.Message, error)
	Attempts(ctx context.Context, accountID, endpoint, message string) ([]webhooks.Attempt, error)
	Test(ctx context.Context, accountID, endpoint string) (string, error)
	Resend(ctx context.Context, accountID, endpoint, message string) error
	Recover(ctx context.Context, accountID, endpoint string, since time.Time) (int64, error)
}

// hooksAPI is the part of the API about the endpoints at which programs are told of runs.
type hooksAPI struct {
	hooks    Hooks
	messages HookMessages
	once     onceOnly
}

func (a *hooksAPI) routes() []door.Route {
	return []door.Route{
		door.ForPrograms("GET /api/webhooks", door.Manage, a.list),
		door.ForPrograms("POST /api/webhooks", door.Manage, a.once.of(a.make)),
		door.ForPrograms("GET /api/webhooks/{id}", door.Manage, a.get),
		door.ForPrograms("DELETE /api/webhooks/{id}", door.Manage, a.delete),
		door.ForPrograms("POST /api/webhooks/{id}/rotate", door.Manage, a.once.of(a.rotate)),
		door.ForPrograms("POST /api/webhooks/{id}/enable", door.Manage, a.enable),
		door.ForPrograms("POST /api/webhooks/{id}/disable", door.Manage, a.disable),
		door.ForPrograms("POST /api/webhooks/{id}/test", door.Manage, a.once.of(a.test)),
		door.ForPrograms("POST /api/webhooks/{id}/recover", door.Manage, a.once.of(a.recover)),
		door.ForPrograms("GET /api/webhooks/{id}/messages", door.Manage, a.told),
		door.ForPrograms("GET /api/webhooks/{id}/messages/{message}", door.Manage, a.attempts),
		door.ForPrograms("POST /api/webhooks/{id}/messages/{message}/resend", door.Manage, a.once.of(a.resend)),
	}
}

// hookBody is an endpoint as the API tells it. Secret is in the answers that make one only.
type hookBody struct {
	ID             uuid.UUID  `json:"id"`
	URL            string     `json:"url"`
	Events         []string   `json:"events"`
	Ordered        bool       `json:"ordered"`
	Secret         string     `json:"secret,omitempty"`
	CreatedAt      time.Time  `json:"createdAt"`
	DisabledAt     *time.Time `json:"disabledAt,omitempty"`
	DisabledReason string     `json:"disabledReason,omitempty"`
	FailingSince   *time.Time `json:"failingSince,omitempty"`
}

func newHookBody(e webhooks.Endpoint) hookBody {
	return hookBody{
		ID: e.ID, URL: e.URL, Events: e.Events, Ordered: e.Ordered, CreatedAt: e.CreatedAt,
		DisabledAt: e.DisabledAt, DisabledReason: e.DisabledReason, FailingSince: e.FailingSince,
	}
}

// hookError names what is not there as such.
func hookError(err error) error {
	if errors.Is(err, webhooks.ErrNoEndpoint) {
		return problem.ErrNothingThere
	}
	return err
}

func (a *hooksAPI) list(w http.ResponseWriter, r *http.Request, who users.Account) error {
	list, err := a.hooks.Endpoints(r.Context(), who.ID)
	if err != nil {
		return err
	}
	bodies := make([]hookBody, len(list))
	for i, e := range list {
		bodies[i] = newHookBody(e)
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"webhooks": bodies})
	return nil
}

// make takes {"url": ..., "events": [...], "ordered": false}; its answer tells the secret, once.
func (a *hooksAPI) make(w http.ResponseWriter, r *http.Request, who users.Account) error {
	var body struct {
		URL     string   `json:"url"`
		Events  []string `json:"events"`
		Ordered bool     `json:"ordered"`
	}
	if err := door.ReadJSON(w, r, &body); err != nil {
		return err
	}
	if end := door.KeyEnd(r.Context()); end != nil { // it would be told of runs when the key is none any more
		return registry.Errorf(registry.CodeUnauthorized, "this key ends on %s, and an endpoint would outlast it; use a key that does not end, or the page", end.UTC().Format(time.RFC3339))
	}
	account, err := uuid.Parse(who.ID)
	if err != nil {
		return err
	}
	made, secret, err := a.hooks.Create(r.Context(), webhooks.Endpoint{AccountID: account, URL: body.URL, Events: body.Events, Ordered: body.Ordered})
	if err != nil {
		return err
	}
	told := newHookBody(made)
	told.Secret = secret
	door.WriteJSON(w, http.StatusCreated, told)
	return nil
}

func (a *hooksAPI) get(w http.ResponseWriter, r *http.Request, who users.Account) error {
	e, err := a.hooks.Endpoint(r.Context(), who.ID, r.PathValue("id"))
	if err != nil {
		return hookError(err)
	}
	door.WriteJSON(w, http.StatusOK, newHookBody(e))
	return nil
}

func (a *hooksAPI) delete(w http.ResponseWriter, r *http.Request, who users.Account) error {
	if err := a.hooks.Delete(r.Context(), who.ID, r.PathValue("id")); err != nil {
		return hookError(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *hooksAPI) rotate(w http.ResponseWriter, r *http.Request, who users.Account) error {
	secret, err := a.hooks.Rotate(r.Context(), who.ID, r.PathValue("id"))
	if err != nil {
		return hookError(err)
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"secret": secret})
	return nil
}

func (a *hooksAPI) enable(w http.ResponseWriter, r *http.Request, who users.Account) error {
	if err := a.hooks.Enable(r.Context(), who.ID, r.PathValue("id")); err != nil {
		return hookError(err)
	}
	return a.get(w, r, who)
}

func (a *hooksAPI) disable(w http.ResponseWriter, r *http.Request, who users.Account) error {
	if err := a.hooks.Disable(r.Context(), who.ID, r.PathValue("id")); err != nil {
		return hookError(err)
	}
	return a.get(w, r, who)
}

func (a *hooksAPI) test(w http.ResponseWriter, r *http.Request, who users.Account) error {
	message, err := a.messages.Test(r.Context(), who.ID, r.PathValue("id"))
	if err != nil {
		return hookError(err)
	}
	door.WriteJSON(w, http.StatusAccepted, map[string]any{"messageId": message})
	return nil
}

// recover takes {"since": time}.
func (a *hooksAPI) recover(w http.ResponseWriter, r *http.Request, who users.Account) error {
	var body struct {
		Since time.Time `json:"since"`
	}
	if err := door.ReadJSON(w, r, &body); err != nil {
		return err
	}
	if body.Since.IsZero() {
		return registry.Errorf(registry.CodeInvalidInput, `since is missing: send {"since": "2026-01-31T12:00:00Z"}`)
	}
	n, err := a.messages.Recover(r.Context(), who.ID, r.PathValue("id"), body.Since)
	if err != nil {
		return hookError(err)
	}
	door.WriteJSON(w, http.StatusAccepted, map[string]any{"messages": n})
	return nil
}

type hookMessageBody struct {
	ID        uuid.UUID  `json:"id"`
	Type      string     `json:"type"`
	Subject   string     `json:"subject"`
	Sequence  int64      `json:"sequence"`
	Status    string     `json:"status"`
	Attempts  int        `json:"attempts"`
	CreatedAt time.Time  `json:"createdAt"`
	NextAt    *time.Time `json:"nextAt,omitempty"`
	EndedAt   *time.Time `json:"endedAt,omitempty"`
}

func (a *hooksAPI) told(w http.ResponseWriter, r *http.Request, who users.Account) error {
	list, err := a.messages.Messages(r.Context(), who.ID, r.PathValue("id"))
	if err != nil {
		return hookError(err)
	}
	bodies := make([]hookMessageBody, len(list))
	for i, m := range list {
		bodies[i] = hookMessageBody{m.ID, m.Type, m.Subject, m.Sequence, m.Status, m.Attempts, m.CreatedAt, nil, m.EndedAt}
		if m.EndedAt == nil {
			bodies[i].NextAt = &m.NextAt
		}
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"messages": bodies})
	return nil
}

type hookAttemptBody struct {
	At     time.Time `json:"at"`
	Status int       `json:"status"` // 0: no answer
	TookMs int       `json:"tookMs"`
	Error  string    `json:"error,omitempty"`
	Answer string    `json:"answer,omitempty"` // its first kilobyte
}

func (a *hooksAPI) attempts(w http.ResponseWriter, r *http.Request, who users.Account) error {
	list, err := a.messages.Attempts(r.Context(), who.ID, r.PathValue("id"), r.PathValue("message"))
	if err != nil {
		return hookError(err)
	}
	bodies := make([]hookAttemptBody, len(list))
	for i, t := range list {
		bodies[i] = hookAttemptBody(t)
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"attempts": bodies})
	return nil
}

func (a *hooksAPI) resend(w http.ResponseWriter, r *http.Request, who users.Account) error {
	if err := a.messages.Resend(r.Context(), who.ID, r.PathValue("id"), r.PathValue("message")); err != nil {
		return hookError(err)
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}
