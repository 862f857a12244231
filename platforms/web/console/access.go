package console

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/users"
)

// accessRow is a rule about who may use the tools.
type accessRow struct {
	users.Rule
	Where string // the place that it is for; empty: everywhere
	By    string // who made it, by name
}

func (c *Console) access(w http.ResponseWriter, r *http.Request, who users.Account) error {
	rules, err := c.cfg.People.Rules(r.Context(), users.Place{})
	if err != nil {
		return err
	}
	rows := make([]accessRow, len(rules))
	for i, rule := range rules {
		rows[i] = accessRow{Rule: rule, Where: whereOf(rule), By: c.setBy(r.Context(), rule.By)}
	}
	return c.show(w, r, who, "access", view{Title: "Access", Place: "access", Data: rows})
}

// setBy names who made a rule: an account, or a part of the house.
func (c *Console) setBy(ctx context.Context, by string) string {
	if _, err := uuid.Parse(by); err != nil {
		return by
	}
	return c.nameOf(ctx, by)
}

func whereOf(r users.Rule) string {
	if r.Where == (users.Place{}) {
		return ""
	}
	return r.Where.Platform + " " + string(r.Where.Kind) + " " + r.Where.ID
}

func (c *Console) accessDeeds() []deed {
	return []deed{{path: "access/{id}/remove", place: "access", plan: c.planRemoveRule, do: c.removeRule}}
}

// rule finds one by its number.
func (c *Console) rule(ctx context.Context, id string) (users.Rule, error) {
	rules, err := c.cfg.People.Rules(ctx, users.Place{})
	if err != nil {
		return users.Rule{}, err
	}
	i := slices.IndexFunc(rules, func(r users.Rule) bool { return strconv.FormatInt(r.ID, 10) == id })
	if i < 0 {
		return users.Rule{}, users.ErrNotFound
	}
	return rules[i], nil
}

func (c *Console) planRemoveRule(ctx context.Context, id string) (plan, error) {
	r, err := c.rule(ctx, id)
	if err != nil {
		return plan{}, err
	}
	return plan{
		Title: "Remove the rule about " + calledIn(r), Button: "Remove the rule", Danger: true, Back: Root + "access",
		Says: []string{"What other rules and the setting ACCESS say counts from then on, within seconds."},
	}, nil
}

func (c *Console) removeRule(ctx context.Context, o order) (outcome, error) {
	r, err := c.rule(ctx, o.ID)
	if err == nil {
		err = c.cfg.People.DeleteRule(ctx, r.ID, o.Who.ID)
	}
	return outcome{Says: "The rule about " + calledIn(r) + " is gone.", To: Root + "access"}, err
}

// calledIn is how a rule's subject is called in a sentence.
func calledIn(r users.Rule) string {
	if r.Name != "" {
		return r.Name
	}
	return r.Whom()
}
