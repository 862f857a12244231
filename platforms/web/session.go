package web

import (
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/users"
)

// The cookies. Over https their names begin with __Host-, so that no other host can set them.
const (
	sessionCookie = "signalbox"         // the session's secret
	visitorCookie = "signalbox-visitor" // what forms of a browser that is not signed in are bound to
	stateCookie   = "signalbox-signin"  // a sign-in that is under way elsewhere
)

// cookieAge is how long browsers are asked to keep the session; how long it holds, the database says.
const cookieAge = 365 * 24 * time.Hour

func (s *Server) secure() bool { return s.cfg.Public != nil && s.cfg.Public.Scheme == "https" }

func (s *Server) cookieName(name string) string {
	if s.secure() {
		return "__Host-" + name
	}
	return name
}

// setCookie gives the browser a cookie that no script and no other site can read; with an age of 0 it goes
// with the browser, with a negative one at once.
func (s *Server) setCookie(w http.ResponseWriter, name, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(name), Value: value, Path: "/", MaxAge: int(age / time.Second),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.secure(),
	})
}

// enter signs the browser in to an account. A session that it had ends, so that nobody who knew the old
// secret comes along.
func (s *Server) enter(w http.ResponseWriter, r *http.Request, a users.Account, way string) error {
	v := visitOf(r.Context())
	if old, err := v.who(); err == nil && old.session.ID != "" {
		if err := s.cfg.Users.EndSession(r.Context(), old.account.ID, old.session.ID); err != nil {
			return err
		}
		s.forgetCallers(old.account.ID)
	}
	secret, err := s.cfg.Users.NewSession(r.Context(), users.Session{AccountID: a.ID, Way: way, Agent: r.UserAgent(), Address: s.addressOf(r)})
	if err != nil {
		return err
	}
	kind, _, _ := strings.Cut(way, ":")
	s.cfg.Logger.Info("signed in", "account", a.ID, "way", kind, "address", s.addressOf(r))
	s.setCookie(w, sessionCookie, secret, cookieAge)
	v.asked, v.caller, v.err, v.secret = true, caller{kind: session, account: a}, nil, secret
	return nil
}

func (s *Server) signout(w http.ResponseWriter, r *http.Request, _ users.Account) error {
	if c, err := visitOf(r.Context()).who(); err == nil && c.session.ID != "" {
		if err := s.cfg.Users.EndSession(r.Context(), c.account.ID, c.session.ID); err != nil {
			return err
		}
		s.forgetCallers(c.account.ID)
	}
	s.setCookie(w, sessionCookie, "", -time.Second)
	http.Redirect(w, r, "/signin", http.StatusSeeOther)
	return nil
}

// endSession signs another browser of the account out.
func (s *Server) endSession(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if err := s.cfg.Users.EndSession(r.Context(), a.ID, r.PathValue("id")); err != nil {
		return err
	}
	s.forgetCallers(a.ID)
	http.Redirect(w, r, "/account", http.StatusSeeOther)
	return nil
}

// endOthers signs all other browsers of the account out.
func (s *Server) endOthers(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if _, err := s.cfg.Users.EndSessions(r.Context(), a.ID, SessionID(r.Context())); err != nil {
		return err
	}
	s.forgetCallers(a.ID)
	http.Redirect(w, r, "/account", http.StatusSeeOther)
	return nil
}
