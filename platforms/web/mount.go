package web

import (
	"errors"
	"net/http"

	"github.com/signalbox/signalbox/users"
)

// Who may reach a mounted handler.
type Who int

// The values of Who.
const (
	SignedIn  Who = iota // whoever is signed in; others are led to the sign-in page
	Operators            // for others there is nothing at the address
	Keys                 // programs with an API key, and pages by their session; errors are problem+json
)

// Mount is a handler of another package under a path of ours. Caller names its account.
type Mount struct {
	Path    string // a pattern of http.ServeMux, e.g. "/operator/"
	Who     Who
	Handler http.Handler
	// Describe holds the paths that the handler adds to the API's OpenAPI document; its operations may name our
	// components.
	Describe map[string]any
}

func (s *Server) mount(m Mount) http.Handler {
	if m.Who == Keys {
		return s.api(func(w http.ResponseWriter, r *http.Request, _ users.Account) error {
			m.Handler.ServeHTTP(w, r)
			return nil
		})
	}
	return s.page(func(w http.ResponseWriter, r *http.Request, a users.Account) error {
		if m.Who == Operators && !a.Operator {
			s.notFound(w, r)
			return nil
		}
		m.Handler.ServeHTTP(w, r)
		return nil
	})
}

// failAs answers an error as the client expects it: people get a page.
func (s *Server) failAs(w http.ResponseWriter, r *http.Request, err error) {
	if wantsPage(r) && !errors.Is(err, errSignedOut) {
		s.failPage(w, r, err)
		return
	}
	s.fail(w, r, err)
}
