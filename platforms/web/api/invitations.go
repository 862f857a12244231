package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Invitations are the operator's links that let people in: users.Invitations.
type Invitations interface {
	Create(ctx context.Context, v users.Invitation) (secret string, made users.Invitation, err error)
	List(ctx context.Context) ([]users.Invitation, error)
	Revoke(ctx context.Context, id string) error
}

// invitationsAPI is the part of the API about invitations, for operators.
type invitationsAPI struct {
	site        door.Site
	invitations Invitations
	now         func() time.Time
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

// make makes an invitation, for operators.
func (a *invitationsAPI) make(w http.ResponseWriter, r *http.Request, who users.Account) error {
	var body struct {
		Note    string `json:"note"`
		Credit  string `json:"creditUsd"`
		ForDays int    `json:"forDays"`
	}
	if err := door.ReadJSON(w, r, &body); err != nil {
		return err
	}
	i := users.Invitation{By: who.ID, Note: body.Note}
	if body.Credit != "" {
		credit, err := billing.ParseUSD(body.Credit)
		if err != nil || credit < 0 || credit > billing.MaxAmount {
			return registry.Errorf(registry.CodeInvalidInput, "creditUsd: found %q, expected a decimal number of US dollars such as \"2.50\"", body.Credit)
		}
		i.Credit = int64(credit)
	}
	body.ForDays = cmp.Or(body.ForDays, invitationDays)
	if body.ForDays < 1 || body.ForDays > maxInvitationDays {
		return registry.Errorf(registry.CodeInvalidInput, "forDays must be a number from 1 to %d", maxInvitationDays)
	}
	i.ExpiresAt = a.now().AddDate(0, 0, body.ForDays)
	token, made, err := a.invitations.Create(r.Context(), i)
	if err != nil {
		return err
	}
	answer := bodyOfInvitation(made)
	answer.URL = a.site.Absolute(r, "/invite/"+token)
	door.WriteJSON(w, http.StatusCreated, answer)
	return nil
}

func (a *invitationsAPI) list(w http.ResponseWriter, r *http.Request, _ users.Account) error {
	list, err := a.invitations.List(r.Context())
	if err != nil {
		return err
	}
	bodies := make([]invitationBody, len(list))
	for i, v := range list {
		bodies[i] = bodyOfInvitation(v)
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"invitations": bodies})
	return nil
}

func (a *invitationsAPI) revoke(w http.ResponseWriter, r *http.Request, _ users.Account) error {
	err := a.invitations.Revoke(r.Context(), r.PathValue("id"))
	if errors.Is(err, users.ErrNoInvitation) {
		return problem.ErrNothingThere
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
