package web

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// invitePage shows an invitation. It is used up by its button only, since previews of links open them, too.
func (s *Server) invitePage(w http.ResponseWriter, r *http.Request) error {
	return s.showInvitation(w, r, http.StatusOK, "")
}

func (s *Server) showInvitation(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	invitation, err := s.cfg.Invitations.Peek(r.Context(), r.PathValue("token"))
	if err != nil {
		return s.noInvitation(w, r, err)
	}
	a, _ := s.account(r)
	v := signinView{Note: invitation.Note, Token: r.PathValue("token")}
	if invitation.Credit > 0 {
		v.Gift = billing.NanoUSD(invitation.Credit).String()
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	s.render(w, r, status, "signin-invite", view{Title: s.voice(r, a).Line("signin.invite.title"), Problem: problem, Signin: &v})
	return nil
}

func (s *Server) noInvitation(w http.ResponseWriter, r *http.Request, err error) error {
	if !errors.Is(err, users.ErrNoInvitation) {
		return err
	}
	a, _ := s.account(r)
	s.render(w, r, http.StatusNotFound, "problem", view{Title: s.voice(r, a).Line("signin.invite.title"), Problem: s.voice(r, a).Line("signin.invite.gone")})
	return nil
}

// invite uses an invitation: for the account of who is signed in, else for a new one.
func (s *Server) invite(w http.ResponseWriter, r *http.Request) error {
	token := r.PathValue("token")
	invitation, err := s.cfg.Invitations.Peek(r.Context(), token)
	if err != nil {
		return s.noInvitation(w, r, err)
	}
	a, err := s.account(r)
	guest := errors.Is(err, errSignedOut)
	if guest {
		name := strings.TrimSpace(r.PostFormValue("name"))
		if name == "" {
			return s.showInvitation(w, r, http.StatusUnprocessableEntity, s.voice(r, a).Line("signin.invite.name"))
		}
		a, err = s.cfg.Users.Identify(r.Context(), users.Identity{Platform: Platform, ExternalID: "invitation:" + invitation.ID, Name: name})
	}
	if err == nil {
		_, err = s.cfg.Invitations.Use(r.Context(), token, a.ID)
	}
	if err != nil {
		return s.noInvitation(w, r, err)
	}
	if err := s.cfg.Users.Admit(r.Context(), a.ID, invitation.By, "invitation "+invitation.ID); err != nil {
		return err
	}
	if guest {
		if err := s.enter(w, r, a, wayInvitation); err != nil {
			return err
		}
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

// invitationBody is an invitation as the API tells it.
type invitationBody struct {
	ID        string          `json:"id"`
	Note      string          `json:"note"`
	Credit    billing.NanoUSD `json:"creditNanoUsd"`
	URL       string          `json:"url,omitempty"` // only in the answer that makes it
	CreatedAt time.Time       `json:"createdAt"`
	ExpiresAt time.Time       `json:"expiresAt"`
	UsedAt    *time.Time      `json:"usedAt,omitempty"`
	UsedBy    string          `json:"usedBy,omitempty"`
	RevokedAt *time.Time      `json:"revokedAt,omitempty"`
}

func bodyOfInvitation(i users.Invitation) invitationBody {
	return invitationBody{
		ID: i.ID, Note: i.Note, Credit: billing.NanoUSD(i.Credit), CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt,
		UsedAt: i.UsedAt, UsedBy: i.UsedBy, RevokedAt: i.RevokedAt,
	}
}

const (
	invitationDays    = 7  // how long an invitation holds when nothing else is said
	maxInvitationDays = 90 // how long it can hold
)

// apiInvite makes an invitation, for operators.
func (s *Server) apiInvite(w http.ResponseWriter, r *http.Request, a users.Account) error {
	var body struct {
		Note    string `json:"note"`
		Credit  string `json:"creditUsd"`
		ForDays int    `json:"forDays"`
	}
	if err := readBody(w, r, &body); err != nil {
		return err
	}
	i := users.Invitation{By: a.ID, Note: body.Note}
	if body.Credit != "" {
		credit, err := billing.ParseUSD(body.Credit)
		if err != nil || credit < 0 {
			return registry.Errorf(registry.CodeInvalidInput, "creditUsd: found %q, expected a decimal number of US dollars such as \"2.50\"", body.Credit)
		}
		i.Credit = int64(credit)
	}
	if body.ForDays == 0 {
		body.ForDays = invitationDays
	}
	if body.ForDays < 1 || body.ForDays > maxInvitationDays {
		return registry.Errorf(registry.CodeInvalidInput, "forDays must be a number from 1 to %d", maxInvitationDays)
	}
	i.ExpiresAt = s.cfg.Now().AddDate(0, 0, body.ForDays)
	token, made, err := s.cfg.Invitations.Create(r.Context(), i)
	if err != nil {
		return err
	}
	answer := bodyOfInvitation(made)
	answer.URL = s.absolute(r, "/invite/"+token)
	writeJSON(w, http.StatusCreated, answer)
	return nil
}

func (s *Server) apiInvitations(w http.ResponseWriter, r *http.Request, _ users.Account) error {
	list, err := s.cfg.Invitations.List(r.Context())
	if err != nil {
		return err
	}
	bodies := make([]invitationBody, len(list))
	for i, v := range list {
		bodies[i] = bodyOfInvitation(v)
	}
	writeJSON(w, http.StatusOK, map[string]any{"invitations": bodies})
	return nil
}

func (s *Server) apiRevokeInvitation(w http.ResponseWriter, r *http.Request, _ users.Account) error {
	err := s.cfg.Invitations.Revoke(r.Context(), r.PathValue("id"))
	if errors.Is(err, users.ErrNoInvitation) {
		return errNothingThere
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
