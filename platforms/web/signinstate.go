package web

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"time"
)

// signinState is a sign-in that is under way at another site. The browser keeps it in a cookie; the other
// site gives State back, so that nobody can be signed in by an answer that they did not ask for.
type signinState struct {
	Way      string
	State    string
	Verifier string // of PKCE
	Next     string
	Expires  time.Time
}

// signinTime is how long signing in elsewhere may take.
const signinTime = 10 * time.Minute

// beginSignin remembers in the browser that a sign-in began.
func (s *Server) beginSignin(w http.ResponseWriter, way, verifier, next string) (signinState, error) {
	state := signinState{Way: way, State: rand.Text(), Verifier: verifier, Next: localPath(next), Expires: s.cfg.Now().Add(signinTime)}
	sealed, err := s.seal("signin", state)
	if err == nil {
		s.setCookie(w, stateCookie, sealed, signinTime)
	}
	return state, err
}

// endSignin gives the sign-in that this browser began, when the other site's answer belongs to it.
func (s *Server) endSignin(w http.ResponseWriter, r *http.Request, way, given string) (signinState, error) {
	var state signinState
	c, err := r.Cookie(s.cookieName(stateCookie))
	if err != nil || !s.unseal("signin", c.Value, &state) || state.Way != way || s.cfg.Now().After(state.Expires) ||
		subtle.ConstantTimeCompare([]byte(state.State), []byte(given)) != 1 {
		return state, errStale
	}
	s.setCookie(w, stateCookie, "", -time.Second)
	return state, nil
}
