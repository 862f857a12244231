package account

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/users"
)

// formView is what the sign-in page and those for links and invitations show.
type formView struct {
	Ways  []way
	Next  string // where to go afterwards
	Code  string // a code that stands in the form already
	Proof string // that the visitor owns another account, for the form that joins
	Join  string // what the form that joins answers; empty: nothing is asked

	Others []string  // who the other account is
	Since  time.Time // when it came
	Money  string    // what the accounts have, where that is asked

	Note  string // an invitation's
	Gift  string // its credit
	Token string // its secret
}

// way is a way to sign in elsewhere.
type way struct {
	Name string // telegram, discord
	URL  string
}

// Secrets knows what can be typed into the sign-in page: users.Store.
type Secrets interface {
	KeyOf(ctx context.Context, plaintext string) (users.Account, users.Key, error)
	TakeLinkCode(ctx context.Context, guesser, code string) (users.Account, error)
}

// signin is the sign-in page.
type signin struct {
	shared
	secrets Secrets
	ways    []way
}

func (s *signin) routes() []door.Route {
	return []door.Route{
		door.ForVisitors("GET /signin", s.page),
		door.ForVisitors("POST /signin", s.enter),
		door.ForPeople("POST /signout", door.Enter, s.leave),
	}
}

func (s *signin) page(w http.ResponseWriter, r *http.Request) error {
	return s.show(w, r, http.StatusOK, "")
}

func (s *signin) show(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	title := s.render.Voice(r, users.Account{}).Line("signin.title")
	s.pages.Render(w, r, status, "signin", render.View{Title: title, Problem: problem, Data: &formView{Ways: s.ways, Next: localPath(r.FormValue("next"))}})
	return nil
}

// enter takes what was typed into the page: a code from a chat, an API key, or the operator's token.
func (s *signin) enter(w http.ResponseWriter, r *http.Request) error {
	typed := strings.TrimSpace(r.PostFormValue("key"))
	a, way, err := s.typed(r, typed)
	if errors.Is(err, door.ErrSignedOut) {
		return s.show(w, r, http.StatusUnprocessableEntity, s.render.Voice(r, users.Account{}).Line("signin.unknown"))
	}
	if err != nil {
		return err
	}
	if err := s.door.Enter(w, r, a, way); err != nil {
		return err
	}
	http.Redirect(w, r, localPath(r.PostFormValue("next")), http.StatusSeeOther)
	return nil
}

// typed finds the account that a typed secret opens, and how. What begins like none of the others is taken
// as a code.
func (s *signin) typed(r *http.Request, secret string) (users.Account, string, error) {
	a, way, err := s.door.Operator(r.Context(), secret)
	if !errors.Is(err, door.ErrSignedOut) {
		return a, way, err
	}
	if users.IsKey(secret) {
		a, key, err := s.secrets.KeyOf(r.Context(), secret)
		if errors.Is(err, users.ErrNotFound) || err == nil && (key.Restricted() || key.ExpiresAt != nil) { // a session would know no limit, could approve, and make what outlasts the key
			err = door.ErrSignedOut
		}
		return a, key.Way(), err
	}
	a, err = s.secrets.TakeLinkCode(r.Context(), s.door.Guesser(r), secret)
	if errors.Is(err, users.ErrNoCode) {
		err = door.ErrSignedOut
	}
	return a, wayCode, err
}

// localPath keeps a path on this site, and leads home in place of anything else.
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}

func (s *signin) leave(w http.ResponseWriter, r *http.Request, _ users.Account) error {
	if err := s.door.Leave(w, r); err != nil {
		return err
	}
	http.Redirect(w, r, "/signin", http.StatusSeeOther)
	return nil
}
