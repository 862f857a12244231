package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
	"github.com/signalbox/signalbox/webhooks"
)

// Hooks is what the web needs of webhooks.Outbox.
type Hooks interface {
	Create(ctx context.Context, e webhooks.Endpoint) (webhooks.Endpoint, string, error)
	Endpoints(ctx context.Context, accountID string) ([]webhooks.Endpoint, error)
	Endpoint(ctx context.Context, accountID, id string) (webhooks.Endpoint, error)
	Delete(ctx context.Context, accountID, id string) error
	Rotate(ctx context.Context, accountID, id string) (string, error)
	Enable(ctx context.Context, accountID, id string) error
	Disable(ctx context.Context, accountID, id string) error
	Messages(ctx context.Context, accountID, endpoint string) ([]webhooks.Message, error)
	Deliveries(ctx context.Context, accountID, endpoint string, limit int) ([]webhooks.Delivery, error)
	Attempts(ctx context.Context, accountID, endpoint, message string) ([]webhooks.Attempt, error)
	Test(ctx context.Context, accountID, endpoint string) (string, error)
	Resend(ctx context.Context, accountID, endpoint, message string) error
	Recover(ctx context.Context, accountID, endpoint string, since time.Time) (int64, error)
}

// hooks adds the API of the endpoints that programs are told of runs at, and their pages.
func (s *Server) hooks(t *routes) {
	s.hookPages(t)
	t.api("GET /api/webhooks", Manage, s.apiHooks)
	t.api("POST /api/webhooks", Manage, s.once(s.apiMakeHook))
	t.api("GET /api/webhooks/{id}", Manage, s.apiHook)
	t.api("DELETE /api/webhooks/{id}", Manage, s.apiDeleteHook)
	t.api("POST /api/webhooks/{id}/rotate", Manage, s.once(s.apiRotateHook))
	t.api("POST /api/webhooks/{id}/enable", Manage, s.apiEnableHook)
	t.api("POST /api/webhooks/{id}/disable", Manage, s.apiDisableHook)
	t.api("POST /api/webhooks/{id}/test", Manage, s.once(s.apiTestHook))
	t.api("POST /api/webhooks/{id}/recover", Manage, s.once(s.apiRecoverHook))
	t.api("GET /api/webhooks/{id}/messages", Manage, s.apiHookMessages)
	t.api("GET /api/webhooks/{id}/messages/{message}", Manage, s.apiHookAttempts)
	t.api("POST /api/webhooks/{id}/messages/{message}/resend", Manage, s.once(s.apiResend))
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
		return errNothingThere
	}
	return err
}

func (s *Server) apiHooks(w http.ResponseWriter, r *http.Request, a users.Account) error {
	list, err := s.cfg.Hooks.Endpoints(r.Context(), a.ID)
	if err != nil {
		return err
	}
	bodies := make([]hookBody, len(list))
	for i, e := range list {
		bodies[i] = newHookBody(e)
	}
	writeJSON(w, http.StatusOK, map[string]any{"webhooks": bodies})
	return nil
}

// apiMakeHook takes {"url": ..., "events": [...], "ordered": false}; its answer tells the secret, once.
func (s *Server) apiMakeHook(w http.ResponseWriter, r *http.Request, a users.Account) error {
	var body struct {
		URL     string   `json:"url"`
		Events  []string `json:"events"`
		Ordered bool     `json:"ordered"`
	}
	if err := readBody(w, r, &body); err != nil {
		return err
	}
	account, err := uuid.Parse(a.ID)
	if err != nil {
		return err
	}
	made, secret, err := s.cfg.Hooks.Create(r.Context(), webhooks.Endpoint{AccountID: account, URL: body.URL, Events: body.Events, Ordered: body.Ordered})
	if err != nil {
		return err
	}
	told := newHookBody(made)
	told.Secret = secret
	writeJSON(w, http.StatusCreated, told)
	return nil
}

func (s *Server) apiHook(w http.ResponseWriter, r *http.Request, a users.Account) error {
	e, err := s.cfg.Hooks.Endpoint(r.Context(), a.ID, r.PathValue("id"))
	if err != nil {
		return hookError(err)
	}
	writeJSON(w, http.StatusOK, newHookBody(e))
	return nil
}

func (s *Server) apiDeleteHook(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if err := s.cfg.Hooks.Delete(r.Context(), a.ID, r.PathValue("id")); err != nil {
		return hookError(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) apiRotateHook(w http.ResponseWriter, r *http.Request, a users.Account) error {
	secret, err := s.cfg.Hooks.Rotate(r.Context(), a.ID, r.PathValue("id"))
	if err != nil {
		return hookError(err)
	}
	writeJSON(w, http.StatusOK, map[string]any{"secret": secret})
	return nil
}

func (s *Server) apiEnableHook(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if err := s.cfg.Hooks.Enable(r.Context(), a.ID, r.PathValue("id")); err != nil {
		return hookError(err)
	}
	return s.apiHook(w, r, a)
}

func (s *Server) apiDisableHook(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if err := s.cfg.Hooks.Disable(r.Context(), a.ID, r.PathValue("id")); err != nil {
		return hookError(err)
	}
	return s.apiHook(w, r, a)
}

func (s *Server) apiTestHook(w http.ResponseWriter, r *http.Request, a users.Account) error {
	message, err := s.cfg.Hooks.Test(r.Context(), a.ID, r.PathValue("id"))
	if err != nil {
		return hookError(err)
	}
	writeJSON(w, http.StatusAccepted, map[string]any{"messageId": message})
	return nil
}

// apiRecoverHook takes {"since": time}.
func (s *Server) apiRecoverHook(w http.ResponseWriter, r *http.Request, a users.Account) error {
	var body struct {
		Since time.Time `json:"since"`
	}
	if err := readBody(w, r, &body); err != nil {
		return err
	}
	if body.Since.IsZero() {
		return registry.Errorf(registry.CodeInvalidInput, `since is missing: send {"since": "2026-01-31T12:00:00Z"}`)
	}
	n, err := s.cfg.Hooks.Recover(r.Context(), a.ID, r.PathValue("id"), body.Since)
	if err != nil {
		return hookError(err)
	}
	writeJSON(w, http.StatusAccepted, map[string]any{"messages": n})
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

func (s *Server) apiHookMessages(w http.ResponseWriter, r *http.Request, a users.Account) error {
	list, err := s.cfg.Hooks.Messages(r.Context(), a.ID, r.PathValue("id"))
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
	writeJSON(w, http.StatusOK, map[string]any{"messages": bodies})
	return nil
}

type hookAttemptBody struct {
	At     time.Time `json:"at"`
	Status int       `json:"status"` // 0: no answer
	TookMs int       `json:"tookMs"`
	Error  string    `json:"error,omitempty"`
	Answer string    `json:"answer,omitempty"` // its first kilobyte
}

func (s *Server) apiHookAttempts(w http.ResponseWriter, r *http.Request, a users.Account) error {
	list, err := s.cfg.Hooks.Attempts(r.Context(), a.ID, r.PathValue("id"), r.PathValue("message"))
	if err != nil {
		return hookError(err)
	}
	bodies := make([]hookAttemptBody, len(list))
	for i, t := range list {
		bodies[i] = hookAttemptBody(t)
	}
	writeJSON(w, http.StatusOK, map[string]any{"attempts": bodies})
	return nil
}

func (s *Server) apiResend(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if err := s.cfg.Hooks.Resend(r.Context(), a.ID, r.PathValue("id"), r.PathValue("message")); err != nil {
		return hookError(err)
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// TellRun gives a run as the API tells it. host is where we are reached when there is no public URL.
func (s *Server) TellRun(run runs.Run, host string) (json.RawMessage, error) {
	return json.Marshal(s.runBody(&http.Request{Host: host}, run))
}

// hookPaths are the operations of the API of endpoints.
func hookPaths() object {
	id := []object{parameter("id")}
	whole := []object{parameter("id"), {"name": "message", "in": "path", "required": true, "schema": object{"type": "string", "format": "uuid"}}}
	anything := object{"type": "object"}
	post := func(name, summary string, parameters []object, body object, answers object) object {
		return object{"post": operation{id: name, tag: "account", summary: summary, parameters: append(parameters[:len(parameters):len(parameters)], parameter("idempotencyKey")), body: body, answers: answers}.draw()}
	}
	return object{
		"/api/webhooks": object{
			"get": operation{id: "listWebhooks", tag: "account", summary: "Where your programs are told of runs", answers: ok("The endpoints", list("webhooks", anything))}.draw(),
			"post": operation{id: "createWebhook", tag: "account", summary: "Have a program told of your runs",
				about:      "Messages are signed by Standard Webhooks. They may come twice or out of order: go by webhook-id, and by sequence within a run.",
				parameters: []object{parameter("idempotencyKey")},
				body: jsonBody(object{"type": "object", "required": []string{"url"}, "properties": object{
					"url": object{"type": "string", "format": "uri"}, "ordered": object{"type": "boolean"},
					"events": object{"type": "array", "items": object{"enum": []string{webhooks.EventStarted, webhooks.EventProgress, webhooks.EventFinished}}},
				}}),
				answers: object{"201": answer("The endpoint; its secret is told only now", anything)}}.draw(),
		},
		"/api/webhooks/{id}": object{
			"get":    operation{id: "getWebhook", tag: "account", summary: "One endpoint", parameters: id, answers: ok("The endpoint", anything)}.draw(),
			"delete": operation{id: "deleteWebhook", tag: "account", summary: "Remove an endpoint", parameters: id, answers: object{"204": object{"description": "It is told nothing from now on"}}}.draw(),
		},
		"/api/webhooks/{id}/rotate":                    post("rotateWebhook", "Replace an endpoint's secret; for a day both sign", id, nil, ok("The secret; it is told only now", anything)),
		"/api/webhooks/{id}/enable":                    post("enableWebhook", "Tell an endpoint that was switched off again", id, nil, ok("The endpoint", anything)),
		"/api/webhooks/{id}/disable":                   post("disableWebhook", "Tell an endpoint nothing until it is enabled; what it misses is kept", id, nil, ok("The endpoint", anything)),
		"/api/webhooks/{id}/test":                      post("testWebhook", "Send a message to try an endpoint", id, nil, object{"202": answer("It is sent now", anything)}),
		"/api/webhooks/{id}/recover":                   post("recoverWebhook", "Send again what an endpoint missed since a time", id, jsonBody(record(object{"since": object{"type": "string", "format": "date-time"}}, "since")), object{"202": answer("How many", anything)}),
		"/api/webhooks/{id}/messages":                  object{"get": operation{id: "listWebhookMessages", tag: "account", summary: "What an endpoint was told in the last 30 days", parameters: id, answers: ok("The messages", list("messages", anything))}.draw()},
		"/api/webhooks/{id}/messages/{message}":        object{"get": operation{id: "getWebhookAttempts", tag: "account", summary: "Each try to tell a message", parameters: whole, answers: ok("The attempts", list("attempts", anything))}.draw()},
		"/api/webhooks/{id}/messages/{message}/resend": post("resendWebhookMessage", "Send a message again", whole, nil, object{"202": object{"description": "It is sent now"}}),
	}
}
