package account

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/users"
)

// Keys are an account's API keys: users.Store.
type Keys interface {
	Keys(ctx context.Context, accountID string) ([]users.Key, error)
	MakeKey(ctx context.Context, accountID string, k users.NewKey) (string, error)
	RevokeKey(ctx context.Context, accountID string, id int64, exceptSession string) error
}

// Sessions are the browsers that are signed in to an account: users.Store.
type Sessions interface {
	Sessions(ctx context.Context, accountID string) ([]users.Session, error)
	EndSession(ctx context.Context, accountID, id string) error
	EndSessions(ctx context.Context, accountID, exceptID string) (int, error)
}

// wantedView is a key that somebody asks for, as they typed it.
type wantedView struct {
	Label, Limit, Days, Tools string
	Agent, AllRuns            bool
}

// Restricts reports whether it asks for more than a key.
func (v wantedView) Restricts() bool {
	return v.Limit+v.Days+v.Tools != "" || v.Agent || v.AllRuns
}

func (v wantedView) wanted() request.WantedKey {
	k := request.WantedKey{Label: v.Label, Limit: request.KeyLimit(v.Limit), Agent: v.Agent, AllRuns: v.AllRuns}
	if strings.TrimSpace(v.Tools) != "" {
		k.Tools = strings.FieldsFunc(v.Tools, func(c rune) bool { return c == ',' || unicode.IsSpace(c) })
	}
	if v.Days != "" {
		days, _ := strconv.Atoi(v.Days) // what is no number is refused as 0 is
		k.Days = &days
	}
	return k
}

// makeKey makes a key of this account and shows it, once: only its hash is kept.
func (s *person) makeKey(w http.ResponseWriter, r *http.Request, a users.Account) error {
	typed := wantedView{
		Label: strings.TrimSpace(r.PostFormValue("label")), Limit: r.PostFormValue("limit"), Days: strings.TrimSpace(r.PostFormValue("days")),
		Tools: r.PostFormValue("tools"), Agent: r.PostFormValue("agent") != "", AllRuns: r.PostFormValue("allruns") != "",
	}
	made, err := typed.wanted().Key(s.registry.Snapshot(), a, s.now(), nil)
	var key string
	if err == nil {
		made.Label = cmp.Or(made.Label, s.render.Voice(r, a).Line("web.keys.label.default"))
		key, err = s.keys.MakeKey(r.Context(), a.ID, made)
	}
	if err != nil {
		p := s.render.Explain(r, a, err)
		if p.Ours() {
			return err
		}
		return s.showWith(w, r, a, personView{Wanted: typed}, render.View{Problem: p.Detail})
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
