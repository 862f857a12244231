package account

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
	"github.com/signalbox/signalbox/webhooks"
)

const (
	hooksPath   = "/account/webhooks"
	hookLog     = 20                  // deliveries on an endpoint's page
	messageLife = 30 * 24 * time.Hour // how long the outbox keeps messages
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
	Deliveries(ctx context.Context, accountID, endpoint string, limit int) ([]webhooks.Delivery, error)
	Test(ctx context.Context, accountID, endpoint string) (string, error)
	Resend(ctx context.Context, accountID, endpoint, message string) error
	Recover(ctx context.Context, accountID, endpoint string, since time.Time) (int64, error)
}

// hookPages are the pages on which people manage the endpoints of their programs.
type hookPages struct {
	shared
	hooks    Hooks
	messages HookMessages
}

func (s *hookPages) routes() []door.Route {
	return []door.Route{
		door.ForPeople("GET "+hooksPath, door.Person, s.list),
		door.ForPeople("POST "+hooksPath, door.Person, s.add),
		door.ForPeople("GET "+hooksPath+"/{id}", door.Person, s.page),
		door.ForPeople("POST "+hooksPath+"/{id}/rotate", door.Person, s.rotate),
		door.ForPeople("POST "+hooksPath+"/{id}/{deed}", door.Person, s.press),
	}
}

// hooksView is the list of an account's endpoints, with the form for another as it was filled.
type hooksView struct {
	List    []webhooks.Endpoint
	URL     string
	Events  []eventChoice
	Ordered bool
}

type eventChoice struct {
	Name   string
	Chosen bool
}

// hookView is one endpoint with what it was told lately.
type hookView struct {
	webhooks.Endpoint
	Secret  string // just made, shown once
	Rotated bool   // in place of another
	Log     []webhooks.Delivery
	Missed  bool // something in the log was given up
}

func (s *hookPages) list(w http.ResponseWriter, r *http.Request, a users.Account) error {
	return s.showList(w, r, a, hooksView{Events: eventChoices(webhooks.EventStarted, webhooks.EventFinished)}, "")
}

func eventChoices(chosen ...string) []eventChoice {
	var list []eventChoice
	for _, name := range []string{webhooks.EventStarted, webhooks.EventProgress, webhooks.EventFinished} {
		list = append(list, eventChoice{name, slices.Contains(chosen, name)})
	}
	return list
}

func (s *hookPages) showList(w http.ResponseWriter, r *http.Request, a users.Account, page hooksView, problem string) error {
	var err error
	if page.List, err = s.hooks.Endpoints(r.Context(), a.ID); err != nil {
		return err
	}
	status := http.StatusOK
	if problem != "" {
		status = http.StatusUnprocessableEntity
	}
	return s.pages.ShowAs(w, r, a, status, "hooks", render.View{Title: s.render.Voice(r, a).Line("hooks.title"), Place: "account", Data: &page, Problem: problem})
}

// add makes an endpoint and shows its secret, once.
func (s *hookPages) add(w http.ResponseWriter, r *http.Request, a users.Account) error {
	account, err := uuid.Parse(a.ID)
	if err != nil {
		return err
	}
	wanted := webhooks.Endpoint{AccountID: account, URL: strings.TrimSpace(r.PostFormValue("url")), Events: r.PostForm["event"], Ordered: r.PostFormValue("ordered") != ""}
	made, secret, err := s.hooks.Create(r.Context(), wanted)
	var refused *registry.Error
	if errors.As(err, &refused) && refused.Code == registry.CodeInvalidInput {
		why := strings.TrimPrefix(refused.Message, refused.Field+": ")
		return s.showList(w, r, a, hooksView{URL: wanted.URL, Events: eventChoices(wanted.Events...), Ordered: wanted.Ordered}, s.render.Voice(r, a).Line("hooks.refused", "why", why))
	}
	if err != nil {
		return err
	}
	return s.show(w, r, a, hookView{Endpoint: made, Secret: secret})
}

func (s *hookPages) page(w http.ResponseWriter, r *http.Request, a users.Account) error {
	e, err := s.hooks.Endpoint(r.Context(), a.ID, r.PathValue("id"))
	if err != nil {
		return hookError(err)
	}
	return s.show(w, r, a, hookView{Endpoint: e})
}

func (s *hookPages) show(w http.ResponseWriter, r *http.Request, a users.Account, page hookView) error {
	var err error
	if page.Log, err = s.messages.Deliveries(r.Context(), a.ID, page.ID.String(), hookLog); err != nil {
		return hookError(err)
	}
	page.Missed = slices.ContainsFunc(page.Log, func(d webhooks.Delivery) bool { return d.Status == "failed" })
	return s.pages.Show(w, r, a, "hook", render.View{Title: s.render.Voice(r, a).Line("hooks.title"), Place: "account", Data: &page})
}

// rotate replaces an endpoint's secret and shows the new one, once.
func (s *hookPages) rotate(w http.ResponseWriter, r *http.Request, a users.Account) error {
	secret, err := s.hooks.Rotate(r.Context(), a.ID, r.PathValue("id"))
	if err != nil {
		return hookError(err)
	}
	e, err := s.hooks.Endpoint(r.Context(), a.ID, r.PathValue("id"))
	if err != nil {
		return hookError(err)
	}
	return s.show(w, r, a, hookView{Endpoint: e, Secret: secret, Rotated: true})
}

// press does what a button of an endpoint's page says, and shows the page again.
func (s *hookPages) press(w http.ResponseWriter, r *http.Request, a users.Account) error {
	id, deed := r.PathValue("id"), r.PathValue("deed")
	back := hooksPath + "/" + id
	var err error
	switch deed {
	case "test":
		_, err = s.messages.Test(r.Context(), a.ID, id)
	case "pause":
		err = s.hooks.Disable(r.Context(), a.ID, id)
	case "resume":
		err = s.hooks.Enable(r.Context(), a.ID, id)
	case "resend":
		err = s.messages.Resend(r.Context(), a.ID, id, r.PostFormValue("message"))
	case "recover":
		_, err = s.messages.Recover(r.Context(), a.ID, id, s.now().Add(-messageLife))
	case "remove":
		back, err = hooksPath, s.hooks.Delete(r.Context(), a.ID, id)
	default:
		err = problem.ErrNothingThere
	}
	if err != nil {
		return hookError(err)
	}
	http.Redirect(w, r, back+"?done=hook-"+deed, http.StatusSeeOther)
	return nil
}

// hookError names what is not there as such.
func hookError(err error) error {
	if errors.Is(err, webhooks.ErrNoEndpoint) {
		return problem.ErrNothingThere
	}
	return err
}
