package people

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/signalbox/signalbox/users"
)

// SetRule lets somebody use the tools or keeps them from it, and says so. A rule about a person is one about their account: it holds
// wherever they come from.
func SetRule(ctx context.Context, w io.Writer, store *users.Store, whom string, rule users.Rule) error {
	rule.By = byOperator
	if person, err := store.ByIdentity(ctx, rule.Platform, rule.Subject); err == nil && rule.Kind == users.RuleIdentity {
		rule.Kind, rule.Platform, rule.Subject = users.RuleAccount, "", person.ID
	}
	if err := store.SetRule(ctx, rule); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s %s use the tools.\n", whom, may(rule.Allow))
	return err
}

// byOperator is who changes rules from the command line, for the record.
const byOperator = "operator"

func may(allow bool) string {
	if allow {
		return "may"
	}
	return "may not"
}

// PrintRules prints all rules as a table.
func PrintRules(ctx context.Context, w io.Writer, store *users.Store) error {
	rules, err := store.Rules(ctx, users.Place{})
	if err != nil {
		return err
	}
	if len(rules) == 0 {
		_, err := fmt.Fprintln(w, "There are no rules: ACCESS alone decides who may use the tools.")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RULE\tWHOM\tNAME\t\tWHERE\tSET\tBY\tNOTE")
	for _, r := range rules {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Whom(), orDash(r.Name), may(r.Allow), whereOf(r), r.At.UTC().Format(time.DateOnly), orDash(r.By), r.Note)
	}
	return table.Flush()
}

func orDash(s string) string { return cmp.Or(strings.Join(strings.Fields(s), " "), "-") }

// whereOf says what place a rule is for.
func whereOf(r users.Rule) string {
	if r.Where == (users.Place{}) {
		return "everywhere"
	}
	return string(r.Where.Kind) + ":" + r.Where.Platform + ":" + r.Where.ID
}

// RemoveRules takes back the rule of a number, or the rules about somebody that hold everywhere, and says which.
func RemoveRules(ctx context.Context, w io.Writer, store *users.Store, whom string) error {
	matches, err := rulesMeant(ctx, store, whom)
	if err != nil {
		return err
	}
	rules, err := store.Rules(ctx, users.Place{})
	if err != nil {
		return err
	}
	removed := 0
	for _, r := range rules {
		if !matches(r) {
			continue
		}
		if err := store.DeleteRule(ctx, r.ID, byOperator); err != nil {
			return err
		}
		removed++
		fmt.Fprintf(w, "Rule %d is gone: %s %s use the tools, %s.\n", r.ID, r.Whom(), may(r.Allow), whereOf(r))
	}
	if removed == 0 {
		return fmt.Errorf("remove %s: there is no such rule; signalbox access list shows all", whom)
	}
	return nil
}

// rulesMeant reads which rules are to be taken back.
func rulesMeant(ctx context.Context, store *users.Store, whom string) (func(users.Rule) bool, error) {
	if id, err := strconv.ParseInt(whom, 10, 64); err == nil {
		return func(r users.Rule) bool { return r.ID == id }, nil
	}
	about, err := users.RuleAbout(whom)
	if err != nil {
		return nil, err
	}
	return rulesAbout(ctx, store, about), nil
}

// rulesAbout tells the rules about somebody that hold everywhere. A person's are those about the account, too.
func rulesAbout(ctx context.Context, store *users.Store, about users.Rule) func(users.Rule) bool {
	account := about
	switch about.Kind {
	case users.RuleIdentity:
		if person, err := store.ByIdentity(ctx, about.Platform, about.Subject); err == nil {
			account = users.Rule{Kind: users.RuleAccount, Subject: person.ID}
		}
	case users.RuleAccount:
		if person, err := store.ByID(ctx, about.Subject); err == nil {
			account.Subject = person.ID // of two that became one
		}
	}
	return func(r users.Rule) bool {
		return r.Where == (users.Place{}) && (r.Whom() == about.Whom() || r.Whom() == account.Whom())
	}
}
