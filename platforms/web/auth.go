package web

import (
	"context"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/users"
)

// sessionCookie carries an API key of the account, so that signing out or revoking the key ends the
// session. It is out of reach for scripts and for other sites.
const sessionCookie = "signalbox"

const sessionLife = 365 * 24 * time.Hour

// localIdentity is whoever sits at this machine, when no PUBLIC_URL is set.
var localIdentity = users.Identity{Platform: Platform, ExternalID: "local", Name: "Local user"}

var errSignedOut = errors.New("not signed in")

// account finds who is asking: by the API key in the Authorization header, or by the cookie.
func (s *Server) account(r *http.Request) (users.Account, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		key, ok := cutPrefixFold(header, "Bearer ")
		if !ok {
			return users.Account{}, errSignedOut
		}
		return s.byKey(r.Context(), key)
	}
	if c, err := r.Cookie(sessionCookie); err == nil {
		return s.byKey(r.Context(), c.Value)
	}
	return users.Account{}, errSignedOut
}

func (s *Server) byKey(ctx context.Context, key string) (users.Account, error) {
	a, err := s.cfg.Users.ByKey(ctx, strings.TrimSpace(key))
	if errors.Is(err, users.ErrNotFound) {
		return users.Account{}, errSignedOut
	}
	return a, err
}

// signInLocal gives the person at this machine a session. It is for pages only: the API asks for a
// key, or for the cookie that a page has set, also on loopback.
func (s *Server) signInLocal(w http.ResponseWriter, r *http.Request) (users.Account, error) {
	a, err := s.localAccount(r)
	if err != nil {
		return users.Account{}, err
	}
	key, err := s.cfg.Users.CreateKey(r.Context(), a.ID, "browser session")
	if err != nil {
		return users.Account{}, err
	}
	s.setSession(w, key)
	return a, nil
}

// localAccount is whoever sits at this machine, who operates the program that runs on it.
func (s *Server) localAccount(r *http.Request) (users.Account, error) {
	if s.cfg.Public != nil || !fromLoopback(r) {
		return users.Account{}, errSignedOut
	}
	a, err := s.cfg.Users.Identify(r.Context(), localIdentity)
	if err != nil || a.Operator {
		return a, err
	}
	a.Operator = true
	return a, s.cfg.Users.SetOperator(r.Context(), a.ID, true)
}

func fromLoopback(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func (s *Server) setSession(w http.ResponseWriter, key string) {
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: key, Path: "/", MaxAge: int(sessionLife.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.cfg.Public != nil && s.cfg.Public.Scheme == "https",
	})
}

func (s *Server) signinPage(w http.ResponseWriter, r *http.Request) {
	s.render(w, r, http.StatusOK, "signin", view{Title: "Sign in"})
}

// signin turns an API key, typed into the page, into a session.
func (s *Server) signin(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimSpace(r.PostFormValue("key"))
	if _, err := s.byKey(r.Context(), key); err != nil {
		s.render(w, r, http.StatusUnauthorized, "signin", view{Title: "Sign in", Problem: "That key is not known. Ask the operator for a new one."})
		return
	}
	s.setSession(w, key)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *Server) signout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Path: "/", MaxAge: -1})
	http.Redirect(w, r, "/signin", http.StatusSeeOther)
}

// isAdmin reports whether the request carries the operator's token.
func (s *Server) isAdmin(r *http.Request) bool {
	token, ok := cutPrefixFold(r.Header.Get("Authorization"), "Bearer ")
	return ok && s.cfg.AdminToken != "" && subtle.ConstantTimeCompare([]byte(token), []byte(s.cfg.AdminToken)) == 1
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}
