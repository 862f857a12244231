package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/registry"
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
	name := c.names(r.Context())
	rows := make([]accessRow, len(rules))
	for i, rule := range rules {
		rows[i] = accessRow{Rule: rule, Where: whereOf(rule), By: name(rule.By)}
	}
	return c.show(w, r, who, "access", view{Title: "Access", Place: "access", Data: rows})
}

func whereOf(r users.Rule) string {
	if r.Where == (users.Place{}) {
		return ""
	}
	return r.Where.Platform + " " + string(r.Where.Kind) + " " + r.Where.ID
}

// accessDeeds are what operators can do with rules of access.
type accessDeeds struct{ console *Console }

func (d accessDeeds) list() []deed {
	return []deed{{path: "access/new", place: "access", plan: planRule, do: d.makeRule}, {path: "access/{id}/remove", place: "access", plan: d.planRemoveRule, do: d.removeRule}}
}

const (
	mayUse    = "may use the tools"
	mayNotUse = "may not use the tools"
)

func planRule(context.Context, string) (plan, error) {
	return plan{
		Title: "A rule about somebody", Button: "Set the rule", Back: Root + "access",
		Says: []string{"It holds everywhere, within seconds, and takes the place of the one about the same people."},
		Fields: []field{
			{Name: "whom", Label: "Whom", Required: true, Hint: "An account's id, a person such as telegram:12345, or a chat, server or role: chat:telegram:-100, space:discord:77, role:discord:8."},
			{Name: "may", Label: "They", Choices: []string{mayUse, mayNotUse}, Value: mayUse},
		},
	}, nil
}

func (d accessDeeds) makeRule(ctx context.Context, o order) (outcome, error) {
	r, err := users.RuleAbout(strings.TrimSpace(o.Form.Get("whom")))
	if err != nil {
		return outcome{}, registry.Errorf(registry.CodeInvalidInput, "%v", err)
	}
	may := o.Form.Get("may")
	if may != mayUse && may != mayNotUse {
		return outcome{}, registry.Errorf(registry.CodeInvalidInput, "Say whether they may use the tools.")
	}
	r.Allow, r.By, r.Note = may == mayUse, o.Who.ID, o.Why
	if person, err := d.console.cfg.People.ByIdentity(ctx, r.Platform, r.Subject); err == nil && r.Kind == users.RuleIdentity {
		r.Kind, r.Platform, r.Subject = users.RuleAccount, "", person.ID // then it holds wherever they come from
	}
	if r.Kind == users.RuleAccount && r.Subject == o.Who.ID && !r.Allow {
		return outcome{}, registry.Errorf(registry.CodeInvalidInput, "You can't keep yourself out: ask another operator.")
	}
	err = d.console.cfg.People.SetRule(ctx, r)
	if errors.Is(err, users.ErrNotFound) {
		err = registry.Errorf(registry.CodeInvalidInput, "Nobody has the account %.60s.", r.Subject)
	}
	return outcome{Says: calledIn(r) + " " + may + ".", To: Root + "access"}, err
}

// rule finds one by its number.
func (d accessDeeds) rule(ctx context.Context, id string) (users.Rule, error) {
	rules, err := d.console.cfg.People.Rules(ctx, users.Place{})
	if err != nil {
		return users.Rule{}, err
	}
	i := slices.IndexFunc(rules, func(r users.Rule) bool { return strconv.FormatInt(r.ID, 10) == id })
	if i < 0 {
		return users.Rule{}, users.ErrNotFound
	}
	return rules[i], nil
}

func (d accessDeeds) planRemoveRule(ctx context.Context, id string) (plan, error) {
	r, err := d.rule(ctx, id)
	if err != nil {
		return plan{}, err
	}
	return plan{
		Title: "Remove the rule about " + calledIn(r), Button: "Remove the rule", Danger: true, Back: Root + "access",
		Says: []string{"What other rules and the setting ACCESS say counts from then on, within seconds."},
	}, nil
}

func (d accessDeeds) removeRule(ctx context.Context, o order) (outcome, error) {
	r, err := d.rule(ctx, o.ID)
	if err == nil {
		err = d.console.cfg.People.DeleteRule(ctx, r.ID, o.Who.ID)
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
