package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Invitations is what the console needs of users.Invitations.
type Invitations interface {
	Create(ctx context.Context, v users.Invitation) (secret string, made users.Invitation, err error)
	List(ctx context.Context) ([]users.Invitation, error)
	Revoke(ctx context.Context, id string) error
}

// invitationRow is an invitation in the list.
type invitationRow struct {
	users.Invitation
	Credit         billing.NanoUSD
	State          string // open, used, revoked, expired
	ByName, UsedBy string
}

func (c *Console) invitations(w http.ResponseWriter, r *http.Request, who users.Account) error {
	rows, err := c.invitationRows(r.Context())
	if err != nil {
		return err
	}
	return c.show(w, r, who, "invitations", view{Title: "Invitations", Place: "invitations", Data: rows})
}

func (c *Console) invitationRows(ctx context.Context) ([]invitationRow, error) {
	list, err := c.cfg.Invitations.List(ctx)
	name := c.names(ctx)
	rows := make([]invitationRow, len(list))
	for i, v := range list {
		rows[i] = invitationRow{Invitation: v, Credit: billing.NanoUSD(v.Credit), State: stateOf(v, c.cfg.Now()), ByName: name(v.By), UsedBy: name(v.UsedBy)}
	}
	return rows, err
}

func stateOf(v users.Invitation, now time.Time) string {
	switch {
	case v.UsedAt != nil:
		return "used"
	case v.RevokedAt != nil:
		return "revoked"
	case !v.ExpiresAt.After(now):
		return "expired"
	}
	return "open"
}

// invitationDeeds are what operators can do with invitations.
type invitationDeeds struct{ console *Console }

func (d invitationDeeds) list() []deed {
	if d.console.cfg.Invitations == nil {
		return nil
	}
	return []deed{
		{path: "invitations/new", place: "invitations", plan: planInvite, do: d.invite},
		{path: "invitations/{id}/revoke", place: "invitations", plan: d.planRevoke, do: d.revoke},
	}
}

const (
	invitationsPage = Root + "invitations"
	inviteDays      = 14
	maxInviteDays   = 365
	maxInviteCredit = 1000 * billing.Dollar
)

func planInvite(context.Context, string) (plan, error) {
	return plan{
		Title: "Invite somebody", Button: "Make the link", Back: invitationsPage,
		Says: []string{"The link lets one person in, once. It is shown once, on the next page: send it to them."},
		Fields: []field{
			{Name: "note", Label: "For whom", Hint: "They see it.", Required: true},
			{Name: "credit", Label: "Credit, US dollars", Value: "0", Hint: "Given when the link is used."},
			{Name: "days", Label: "Good for so many days", Value: strconv.Itoa(inviteDays), Required: true},
		},
	}, nil
}

func (d invitationDeeds) invite(ctx context.Context, o order) (outcome, error) {
	days, err := strconv.Atoi(strings.TrimSpace(o.Form.Get("days")))
	if err != nil || days < 1 || days > maxInviteDays {
		return outcome{}, registry.Errorf(registry.CodeInvalidInput, "Good for so many days: %.20q is no number from 1 to %d.", o.Form.Get("days"), maxInviteDays)
	}
	credit, err := billing.ParseUSD(strings.TrimSpace(o.Form.Get("credit")))
	if err != nil || credit < 0 || credit > maxInviteCredit {
		return outcome{}, registry.Errorf(registry.CodeInvalidInput, "Credit: %.20q is no amount from 0 to %s.", o.Form.Get("credit"), maxInviteCredit)
	}
	note := strings.TrimSpace(o.Form.Get("note"))
	if note == "" || len(note) > 200 {
		return outcome{}, registry.Errorf(registry.CodeInvalidInput, "For whom: say it in up to 200 bytes.")
	}
	secret, made, err := d.console.cfg.Invitations.Create(ctx, users.Invitation{By: o.Who.ID, Note: note, Credit: int64(credit), ExpiresAt: d.console.cfg.Now().AddDate(0, 0, days)})
	if err != nil {
		return outcome{}, err
	}
	return outcome{
		Action: "invite", Says: fmt.Sprintf("Invited %s with %s, until %s.", made.Note, credit, made.ExpiresAt.UTC().Format(time.DateOnly)),
		Shown: "The link, which can't be shown again: " + d.console.cfg.Address("/invite/"+secret), To: invitationsPage,
	}, nil
}

// invitation finds an open one.
func (d invitationDeeds) invitation(ctx context.Context, id string) (users.Invitation, error) {
	list, err := d.console.cfg.Invitations.List(ctx)
	for _, v := range list {
		if v.ID == id && stateOf(v, d.console.cfg.Now()) == "open" {
			return v, nil
		}
	}
	if err == nil {
		err = registry.Errorf(registry.CodeInvalidInput, "This invitation is not open.")
	}
	return users.Invitation{}, err
}

func (d invitationDeeds) planRevoke(ctx context.Context, id string) (plan, error) {
	v, err := d.invitation(ctx, id)
	return plan{Title: "Take back the invitation of " + v.Note, Button: "Take it back", Danger: true, Back: invitationsPage, Says: []string{"The link lets nobody in any more."}}, err
}

func (d invitationDeeds) revoke(ctx context.Context, o order) (outcome, error) {
	v, err := d.invitation(ctx, o.ID)
	if err == nil {
		err = d.console.cfg.Invitations.Revoke(ctx, o.ID)
	}
	if errors.Is(err, users.ErrNoInvitation) { // somebody was faster
		err = registry.Errorf(registry.CodeInvalidInput, "This invitation is not open any more.")
	}
	return outcome{Action: "revoke invitation", Says: "The invitation of " + v.Note + " is taken back.", To: invitationsPage}, err
}
