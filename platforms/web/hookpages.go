package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
	"github.com/signalbox/signalbox/webhooks"
)

const (
	hooksPath  = "/account/webhooks"
	hookLog    = 20                  // deliveries on an endpoint's page
	hookMemory = 30 * 24 * time.Hour // how long the outbox keeps messages
)

// hookPages adds the pages on which people manage the endpoints of their programs.
func (s *Server) hookPages(t *routes) {
	t.page("GET "+hooksPath, Person, s.hooksPage)
	t.page("POST "+hooksPath, Person, s.addHook)
	t.page("GET "+hooksPath+"/{id}", Person, s.hookPage)
	t.page("POST "+hooksPath+"/{id}/rotate", Person, s.rotateHook)
	t.page("POST "+hooksPath+"/{id}/{deed}", Person, s.doHook)
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

func (s *Server) hooksPage(w http.ResponseWriter, r *http.Request, a users.Account) error {
	return s.showHooks(w, r, a, hooksView{Events: eventChoices(webhooks.EventStarted, webhooks.EventFinished)}, "")
}

func eventChoices(chosen ...string) []eventChoice {
	var list []eventChoice
	for _, name := range []string{webhooks.EventStarted, webhooks.EventProgress, webhooks.EventFinished} {
		list = append(list, eventChoice{name, slices.Contains(chosen, name)})
	}
	return list
}

func (s *Server) showHooks(w http.ResponseWriter, r *http.Request, a users.Account, page hooksView, problem string) error {
	var err error
	if page.List, err = s.cfg.Hooks.Endpoints(r.Context(), a.ID); err != nil {
		return err
	}
	status := http.StatusOK
	if problem != "" {
		status = http.StatusUnprocessableEntity
	}
	return s.showAs(w, r, a, status, "hooks", view{Title: s.voice(r, a).Line("hooks.title"), Place: "account", Hooks: &page, Problem: problem})
}

// addHook makes an endpoint and shows its secret, once.
func (s *Server) addHook(w http.ResponseWriter, r *http.Request, a users.Account) error {
	account, err := uuid.Parse(a.ID)
	if err != nil {
		return err
	}
	wanted := webhooks.Endpoint{AccountID: account, URL: strings.TrimSpace(r.PostFormValue("url")), Events: r.PostForm["event"], Ordered: r.PostFormValue("ordered") != ""}
	made, secret, err := s.cfg.Hooks.Create(r.Context(), wanted)
	var refused *registry.Error
	if errors.As(err, &refused) && refused.Code == registry.CodeInvalidInput {
		why := strings.TrimPrefix(refused.Message, refused.Field+": ")
		return s.showHooks(w, r, a, hooksView{URL: wanted.URL, Events: eventChoices(wanted.Events...), Ordered: wanted.Ordered}, s.voice(r, a).Line("hooks.refused", "why", why))
	}
	if err != nil {
		return err
	}
	return s.showHook(w, r, a, hookView{Endpoint: made, Secret: secret})
}

func (s *Server) hookPage(w http.ResponseWriter, r *http.Request, a users.Account) error {
	e, err := s.cfg.Hooks.Endpoint(r.Context(), a.ID, r.PathValue("id"))
	if err != nil {
		return hookError(err)
	}
	return s.showHook(w, r, a, hookView{Endpoint: e})
}

func (s *Server) showHook(w http.ResponseWriter, r *http.Request, a users.Account, page hookView) error {
	var err error
	if page.Log, err = s.cfg.Hooks.Deliveries(r.Context(), a.ID, page.ID.String(), hookLog); err != nil {
		return hookError(err)
	}
	page.Missed = slices.ContainsFunc(page.Log, func(d webhooks.Delivery) bool { return d.Status == "failed" })
	return s.show(w, r, a, "hook", view{Title: s.voice(r, a).Line("hooks.title"), Place: "account", Hook: &page})
}

// rotateHook replaces an endpoint's secret and shows the new one, once.
func (s *Server) rotateHook(w http.ResponseWriter, r *http.Request, a users.Account) error {
	secret, err := s.cfg.Hooks.Rotate(r.Context(), a.ID, r.PathValue("id"))
	if err != nil {
		return hookError(err)
	}
	e, err := s.cfg.Hooks.Endpoint(r.Context(), a.ID, r.PathValue("id"))
	if err != nil {
		return hookError(err)
	}
	return s.showHook(w, r, a, hookView{Endpoint: e, Secret: secret, Rotated: true})
}

// doHook does what a button of an endpoint's page says, and shows the page again.
func (s *Server) doHook(w http.ResponseWriter, r *http.Request, a users.Account) error {
	id, deed, hooks := r.PathValue("id"), r.PathValue("deed"), s.cfg.Hooks
	back := hooksPath + "/" + id
	var err error
	switch deed {
	case "test":
		_, err = hooks.Test(r.Context(), a.ID, id)
	case "pause":
		err = hooks.Disable(r.Context(), a.ID, id)
	case "resume":
		err = hooks.Enable(r.Context(), a.ID, id)
	case "resend":
		err = hooks.Resend(r.Context(), a.ID, id, r.PostFormValue("message"))
	case "recover":
		_, err = hooks.Recover(r.Context(), a.ID, id, s.cfg.Now().Add(-hookMemory))
	case "remove":
		back, err = hooksPath, hooks.Delete(r.Context(), a.ID, id)
	default:
		err = errNothingThere
	}
	if err != nil {
		return hookError(err)
	}
	http.Redirect(w, r, back+"?done=hook-"+deed, http.StatusSeeOther)
	return nil
}
