package door

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/users"
)

// Handler answers anyone who was let in. It returns errors instead of writing them. Where nobody may come, too, the account
// may be the zero one.
type Handler func(w http.ResponseWriter, r *http.Request, a users.Account) error

// Answering makes of h what a mux takes, for an API that is mounted where its callers were let in already: caller is who sent the request
// of a context. An error of h is told, unless nobody listens any more.
func Answering(caller func(context.Context) (users.Account, bool), log *slog.Logger, h Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		account, ok := caller(r.Context())
		var err error = ErrSignedOut
		if ok {
			err = h(w, r, account)
		}
		if err != nil && r.Context().Err() == nil {
			problem.Fail(w, r, log, err)
		}
	}
}

// Form is how an address lets callers in and answers errors.
type Form int

// The values of Form.
const (
	Open    Form = iota + 1 // everybody comes in; errors are pages for browsers and problems for programs
	Visitor                 // the ways in for people, signed in or not: how often an address tries is bounded, errors are pages
	Page                    // for people: who is signed out is led to the sign-in page, and errors are pages
	API                     // for programs, and for scripts in pages: errors are problem+json
)

// Route is an address: who may come there follows from its Use.
type Route struct {
	Pattern string // of http.ServeMux, with its method
	Use     Use
	Form    Form
	Handler Handler
}

// ForAll is an address for everybody.
func ForAll(pattern string, h http.HandlerFunc) Route {
	return Route{pattern, Public, Open, func(w http.ResponseWriter, r *http.Request, _ users.Account) error {
		h(w, r)
		return nil
	}}
}

// ForVisitors is a way in for people, signed in or not.
func ForVisitors(pattern string, h func(w http.ResponseWriter, r *http.Request) error) Route {
	return Route{pattern, Enter, Visitor, func(w http.ResponseWriter, r *http.Request, _ users.Account) error { return h(w, r) }}
}

// ForPeople is an address of a page.
func ForPeople(pattern string, use Use, h Handler) Route { return Route{pattern, use, Page, h} }

// ForPrograms is an address of the API.
func ForPrograms(pattern string, use Use, h Handler) Route { return Route{pattern, use, API, h} }
