package account

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/users"
)

// Invitations are the operator's links that let people in: users.Invitations.
type Invitations interface {
	Peek(ctx context.Context, secret string) (users.Invitation, error)
	Use(ctx context.Context, secret, accountID string) (users.Invitation, error)
}

// Guests makes accounts for those who are invited: users.Store.
type Guests interface {
	Identify(ctx context.Context, id users.Identity) (users.Account, error)
	Admit(ctx context.Context, accountID, by, note string) error
}

// inviting is the page of an invitation.
type inviting struct {
	shared
	invitations Invitations
	guests      Guests
}

func (s *inviting) routes() []door.Route {
	return []door.Route{
		door.ForVisitors("GET /invite/{token}", s.page),
		door.ForVisitors("POST /invite/{token}", s.use),
	}
}

// page shows an invitation. It is used up by its button only, since previews of links open them, too.
func (s *inviting) page(w http.ResponseWriter, r *http.Request) error {
	return s.show(w, r, http.StatusOK, "")
}

func (s *inviting) show(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	invitation, err := s.invitations.Peek(r.Context(), r.PathValue("token"))
	if err != nil {
		return s.missing(w, r, err)
	}
	a, _ := door.Account(r.Context())
	voice := s.render.Voice(r, a)
	v := formView{Note: invitation.Note, Token: r.PathValue("token")}
	if invitation.Credit > 0 {
		v.Gift = voice.AtLeast(billing.NanoUSD(invitation.Credit))
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	s.pages.Render(w, r, status, "signin-invite", render.View{Title: voice.Line("signin.invite.title"), Problem: problem, Data: &v})
	return nil
}

func (s *inviting) missing(w http.ResponseWriter, r *http.Request, err error) error {
	if !errors.Is(err, users.ErrNoInvitation) {
		return err
	}
	a, _ := door.Account(r.Context())
	s.render.Problem(w, r, http.StatusNotFound, s.render.Voice(r, a).Line("signin.invite.title"), s.render.Voice(r, a).Line("signin.invite.gone"))
	return nil
}

// use uses an invitation: for the account that is signed in, else for a new one.
func (s *inviting) use(w http.ResponseWriter, r *http.Request) error {
	token := r.PathValue("token")
	invitation, err := s.invitations.Peek(r.Context(), token)
	if err != nil {
		return s.missing(w, r, err)
	}
	a, err := door.Account(r.Context())
	guest := errors.Is(err, door.ErrSignedOut)
	if guest {
		name := strings.TrimSpace(r.PostFormValue("name"))
		if name == "" {
			return s.show(w, r, http.StatusUnprocessableEntity, s.render.Voice(r, a).Line("signin.invite.name"))
		}
		a, err = s.guests.Identify(r.Context(), users.Identity{Platform: door.Platform, ExternalID: "invitation:" + invitation.ID, Name: name})
	}
	if err == nil {
		_, err = s.invitations.Use(r.Context(), token, a.ID)
	}
	if err != nil {
		return s.missing(w, r, err)
	}
	if err := s.guests.Admit(r.Context(), a.ID, invitation.By, "invitation "+invitation.ID); err != nil {
		return err
	}
	if guest {
		if err := s.door.Enter(w, r, a, wayInvitation); err != nil {
			return err
		}
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}
