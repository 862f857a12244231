package account

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/registry"
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

// stateCookie keeps a sign-in that is under way elsewhere.
const stateCookie = "signalbox-signin"

// signinTime is how long signing in elsewhere may take.
const signinTime = 10 * time.Minute

// beginSignin notes in the browser that a sign-in began.
func (s shared) beginSignin(w http.ResponseWriter, way, verifier, next string) (signinState, error) {
	state := signinState{Way: way, State: rand.Text(), Verifier: verifier, Next: localPath(next), Expires: s.now().Add(signinTime)}
	sealed, err := s.door.Seal("signin", state)
	if err == nil {
		s.door.SetCookie(w, stateCookie, sealed, signinTime)
	}
	return state, err
}

// endSignin gives the sign-in that this browser began, when the other site's answer belongs to it.
func (s shared) endSignin(w http.ResponseWriter, r *http.Request, way, answer string) (signinState, error) {
	var state signinState
	sealed, given := s.door.Cookie(r, stateCookie)
	if !given || !s.door.Unseal("signin", sealed, &state) || state.Way != way || s.now().After(state.Expires) ||
		subtle.ConstantTimeCompare([]byte(state.State), []byte(answer)) != 1 {
		return state, errStale
	}
	s.door.SetCookie(w, stateCookie, "", -time.Second)
	return state, nil
}

// errStale is the answer to sign-ins that took too long, or did not begin in this browser.
var errStale = registry.Errorf(registry.CodeInvalidInput, "this sign-in is too old, or began in another browser; start it again")
