package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signalbox/signalbox/users"
)

// signinView is what the sign-in page and its sisters show.
type signinView struct {
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

// ways lists the ways to sign in elsewhere that are configured.
func (s *Server) ways() []way {
	var list []way
	if s.cfg.Telegram != nil {
		list = append(list, way{wayTelegram, "/signin/telegram"})
	}
	if s.cfg.Discord != nil {
		list = append(list, way{wayDiscord, "/signin/discord"})
	}
	return list
}

// visitor lets people in, signed in or not, bounds how often an address may try, and shows errors as pages.
func (s *Server) visitor(use Use, h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, err := s.admit(w, r, use)
		if err == nil && !safeMethod(r.Method) {
			err = s.attempts.allow(s.guesserOf(r))
		}
		if err == nil {
			err = h(w, r, a)
		}
		if err != nil {
			s.failPage(w, r, err)
		}
	}
}

func (s *Server) signinPage(w http.ResponseWriter, r *http.Request) error {
	return s.showSignin(w, r, http.StatusOK, "")
}

func (s *Server) showSignin(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	title := s.voice(r, users.Account{}).Line("signin.title")
	s.render(w, r, status, "signin", view{Title: title, Problem: problem, Signin: &signinView{Ways: s.ways(), Next: localPath(r.FormValue("next"))}})
	return nil
}

// signin takes what was typed into the page: a code from a chat, an API key, or the operator's token.
func (s *Server) signin(w http.ResponseWriter, r *http.Request) error {
	typed := strings.TrimSpace(r.PostFormValue("key"))
	a, way, err := s.typed(r, typed)
	if errors.Is(err, errSignedOut) {
		return s.showSignin(w, r, http.StatusUnprocessableEntity, s.voice(r, users.Account{}).Line("signin.unknown"))
	}
	if err != nil {
		return err
	}
	if err := s.enter(w, r, a, way); err != nil {
		return err
	}
	http.Redirect(w, r, localPath(r.PostFormValue("next")), http.StatusSeeOther)
	return nil
}

// typed finds the account that a typed secret opens, and how. What begins like none of the others is taken
// as a code.
func (s *Server) typed(r *http.Request, secret string) (users.Account, string, error) {
	if same(secret, s.cfg.AdminToken) {
		a, err := s.adminAccount(r.Context())
		return a, s.adminWay(), err
	}
	if users.IsKey(secret) {
		a, key, err := s.cfg.Users.KeyOf(r.Context(), secret)
		if err == nil && (key.SpendLimit > 0 || key.Agent) { // a session would know no limit, and could approve
			err = errSignedOut
		}
		return a, key.Way(), signedOutIf(err)
	}
	a, err := s.cfg.Users.TakeLinkCode(r.Context(), s.guesserOf(r), secret)
	if errors.Is(err, users.ErrNoCode) {
		err = errSignedOut
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

// toSignin leads somebody who is signed out to the sign-in page, and back afterwards.
func (s *Server) toSignin(w http.ResponseWriter, r *http.Request) {
	target := "/signin"
	if r.Method == http.MethodGet && r.URL.Path != "/" {
		target += "?next=" + url.QueryEscape(r.URL.RequestURI())
	} else if done := r.URL.Query().Get("done"); done != "" {
		target += "?done=" + url.QueryEscape(done)
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
}
