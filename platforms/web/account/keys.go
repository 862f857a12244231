package account

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/users"
)

// Keys are an account's API keys: users.Store.
type Keys interface {
	Keys(ctx context.Context, accountID string) ([]users.Key, error)
	CreateKey(ctx context.Context, accountID, label string) (string, error)
	RevokeKey(ctx context.Context, accountID string, id int64, exceptSession string) error
}

// Sessions are the browsers that are signed in to an account: users.Store.
type Sessions interface {
	Sessions(ctx context.Context, accountID string) ([]users.Session, error)
	EndSession(ctx context.Context, accountID, id string) error
	EndSessions(ctx context.Context, accountID, exceptID string) (int, error)
}

// makeKey makes a key of this account and shows it, once: only its hash is kept.
func (s *person) makeKey(w http.ResponseWriter, r *http.Request, a users.Account) error {
	label := strings.TrimSpace(r.PostFormValue("label"))
	if label == "" {
		label = s.render.Voice(r, a).Line("web.keys.label.default")
	}
	key, err := s.keys.CreateKey(r.Context(), a.ID, label)
	if err != nil {
		return s.showProblem(w, r, a, err)
	}
	return s.showWith(w, r, a, personView{NewKey: key}, render.View{})
}

func (s *person) revokeKey(w http.ResponseWriter, r *http.Request, a users.Account) error {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return users.ErrNotFound
	}
	if err := s.keys.RevokeKey(r.Context(), a.ID, id, door.SessionID(r.Context())); err != nil && !errors.Is(err, users.ErrNotFound) {
		return err
	}
	s.door.Forget(a.ID)
	return done(w, r, "revoked")
}

// endSession signs another browser of the account out.
func (s *person) endSession(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if err := s.sessions.EndSession(r.Context(), a.ID, r.PathValue("id")); err != nil {
		return err
	}
	s.door.Forget(a.ID)
	http.Redirect(w, r, "/account", http.StatusSeeOther)
	return nil
}

// endOthers signs all other browsers of the account out.
func (s *person) endOthers(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if _, err := s.sessions.EndSessions(r.Context(), a.ID, door.SessionID(r.Context())); err != nil {
		return err
	}
	s.door.Forget(a.ID)
	http.Redirect(w, r, "/account", http.StatusSeeOther)
	return nil
}
