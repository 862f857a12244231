package web

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Use says what an address does, which decides who may come there: see caller.may. docs/people.md shows it as a table.
type Use int

// The values of Use. The zero value is none of them: an address that does not say what it does is refused at the start.
const (
	Public         Use = iota + 1 // nothing of anybody's, or what a secret in the address or a signature opens
	Enter                         // the ways in: signing in, joining accounts, invitations
	Read                          // what is the caller's own
	Run                           // tools: prices, uploads, runs, canceling
	Approve                       // gives the owner's word to a run that waits for it: approval, or an answer
	Manage                        // keys and endpoints for programs
	Person                        // what is done there is taken for a person's own act, and all about their account
	OperatorRead                  // what is everybody's
	OperatorChange                // changes what is everybody's
	Watch                         // figures for the monitoring: what the house does and earns
)

// kind is by what a caller is known.
type kind int

const (
	nobody     kind = iota
	session         // a browser that is signed in, or the person at this machine
	fullKey         // a key without restrictions, or the operator's token
	limitedKey      // a key with a spending limit
	agentKey        // a key with which a model acts, with a spending limit or without
	watchToken      // the token of the monitoring; it is nobody's account
)

// may is the one rule of who may do what; what it does not name may not be done. Nobody is an operator by a key that is
// restricted: see byKey.
func (c caller) may(use Use) bool {
	switch use {
	case Public:
		return true
	case Enter:
		return c.kind == nobody || c.kind == session
	case Read, Run:
		return c.kind != nobody && c.kind != watchToken
	case Approve, Manage:
		return c.kind == session || c.kind == fullKey
	case Person:
		return c.kind == session
	case OperatorRead, OperatorChange:
		return c.account.Operator && (c.kind == session || c.kind == fullKey)
	case Watch:
		return c.kind == watchToken || c.may(OperatorRead)
	}
	return false
}

// errNoOperator keeps all but operators out; on pages there is nothing for them.
var errNoOperator = registry.Errorf(registry.CodeUnauthorized, "this is for operators; a key with a spending limit and an agent's key are never an operator's")

// refusal says why a caller may not do something.
func (c caller) refusal(use Use) error {
	switch {
	case c.kind == nobody:
		return errSignedOut
	case use == OperatorRead || use == OperatorChange || use == Watch:
		return errNoOperator
	case c.kind == watchToken:
		return registry.Errorf(registry.CodeUnauthorized, "METRICS_TOKEN opens GET /metrics and nothing else")
	case use == Approve && c.kind == limitedKey: // others may have begun the run, beyond its limit
		return registry.Errorf(registry.CodeUnauthorized, "a key with a spending limit approves nothing: its owner does, on the run's page or with another key")
	case use == Approve:
		return errAgentsKey
	case use == Manage && c.kind == limitedKey:
		return registry.Errorf(registry.CodeUnauthorized, "a key with a spending limit can't make or change keys and endpoints; use a key without limit, or the page")
	case use == Manage:
		return registry.Errorf(registry.CodeUnauthorized, "an agent's key can't make or change keys and endpoints; its owner can, on the page or with another key")
	}
	return registry.Errorf(registry.CodeUnauthorized, "this is for people who are signed in on the page; with a key, use the API")
}

// admit lets the sender of a request in by what the address does, or says why not. Whoever acts by a cookie has to
// send the page's token, too; so has who signs in.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, use Use) (users.Account, error) {
	c, err := visitOf(r.Context()).who()
	if err != nil && !errors.Is(err, errSignedOut) {
		return users.Account{}, err
	}
	if !c.may(use) {
		return users.Account{}, c.refusal(use)
	}
	if !safeMethod(r.Method) && (c.kind == session || use == Enter) {
		return c.account, s.unforged(w, r)
	}
	return c.account, nil
}

// handler answers whoever was let in. It returns errors instead of writing them. Where nobody may come, too, the account
// may be the zero one.
type handler func(w http.ResponseWriter, r *http.Request, a users.Account) error

// form lets callers in by what an address does and answers errors as its clients expect them: Server.page, Server.api,
// Server.visitor and Server.open.
type form func(use Use, h handler) http.HandlerFunc

// routes are the addresses of the page and the API: nothing is served that is not here, and each says what it does.
type routes struct {
	server *Server
	list   []route
}

type route struct {
	pattern string // of http.ServeMux, with its method
	use     Use
	form    form
	handler handler
}

// public adds an address for everybody.
func (t *routes) public(pattern string, h http.HandlerFunc) {
	t.list = append(t.list, route{pattern, Public, t.server.open, func(w http.ResponseWriter, r *http.Request, _ users.Account) error {
		h(w, r)
		return nil
	}})
}

// visitor adds a way in for people, signed in or not.
func (t *routes) visitor(pattern string, h func(w http.ResponseWriter, r *http.Request) error) {
	t.list = append(t.list, route{pattern, Enter, t.server.visitor, func(w http.ResponseWriter, r *http.Request, _ users.Account) error {
		return h(w, r)
	}})
}

// page adds an address for people: they get pages, and are led to the sign-in page.
func (t *routes) page(pattern string, use Use, h handler) {
	t.list = append(t.list, route{pattern, use, t.server.page, h})
}

// api adds an address for programs, and for scripts in pages.
func (t *routes) api(pattern string, use Use, h handler) {
	t.list = append(t.list, route{pattern, use, t.server.api, h})
}

// mount adds an address of another package.
func (t *routes) mount(m Mount) {
	answers := t.server.api
	switch {
	case m.Use == Public:
		answers = t.server.open
	case m.Page:
		answers = t.server.page
	}
	var open openCount
	t.list = append(t.list, route{m.Path, m.Use, answers, func(w http.ResponseWriter, r *http.Request, a users.Account) error {
		if m.AtOnce > 0 {
			done, ok := open.enter(a.ID, m.AtOnce)
			if !ok {
				return registry.Errorf(registry.CodeRateLimited, "%d such requests of this account are being answered, which is the limit: wait for an answer", m.AtOnce)
			}
			defer done()
		}
		if m.Streams != nil && m.Streams(r) {
			leave, err := t.server.enterStream(r.Context(), a)
			if err != nil {
				return err
			}
			defer leave()
		}
		m.Handler.ServeHTTP(w, r)
		return nil
	}})
}

// everywhere is the pattern of addresses where there is nothing.
const everywhere = "/"

// mux serves the addresses. One that does not say its method and what it does is an error.
func (t *routes) mux() (*http.ServeMux, error) {
	mux := http.NewServeMux()
	for _, a := range t.list {
		switch {
		case a.use < Public || a.use > Watch:
			return nil, fmt.Errorf("web: the address %q does not say what it does, which decides who may come: found the Use %d", a.pattern, a.use)
		case !strings.Contains(a.pattern, " /") && a.pattern != everywhere:
			return nil, fmt.Errorf("web: the address %q does not say its method, as in %q", a.pattern, "GET "+a.pattern)
		}
		mux.Handle(a.pattern, a.form(a.use, a.handler))
	}
	return mux, nil
}

// open lets everybody in.
func (s *Server) open(use Use, h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r, users.Account{}); err != nil {
			s.failAs(w, r, err)
		}
	}
}
