package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/users"
)

type accessCommand struct {
	Allow  accessAllow  `cmd:"" help:"Let somebody use the tools."`
	Deny   accessDeny   `cmd:"" help:"Keep somebody from using the tools."`
	List   accessList   `cmd:"" help:"Show all rules, newest first."`
	Remove accessRemove `cmd:"" help:"Take rules back."`
}

// accessTarget is whom a rule is about.
type accessTarget struct {
	Whom string `arg:"" help:"An account id (UUID), a person such as telegram:12345, or a chat, server or role: chat:telegram:-100, space:discord:77, role:discord:8."`
	Note string `help:"Why, for the record."`
}

type accessAllow struct{ accessTarget }

type accessDeny struct{ accessTarget }

// Run lets somebody use the tools. A running program follows within seconds.
func (c accessAllow) Run(e env) error { return c.set(e, true) }

// Run keeps somebody from using the tools. A running program follows within seconds.
func (c accessDeny) Run(e env) error { return c.set(e, false) }

func (c accessTarget) set(e env, allow bool) error {
	rule, err := users.RuleAbout(c.Whom)
	if err != nil {
		return err
	}
	rule.Allow, rule.Note, rule.By = allow, c.Note, byOperator
	return withUsers(e, func(ctx context.Context, store *users.Store) error {
		if person, err := store.ByIdentity(ctx, rule.Platform, rule.Subject); err == nil && rule.Kind == users.RuleIdentity {
			rule.Kind, rule.Platform, rule.Subject = users.RuleAccount, "", person.ID // then it holds wherever they come from
		}
		if err := store.SetRule(ctx, rule); err != nil {
			return err
		}
		_, err := fmt.Fprintf(e.stdout, "%s %s use the tools.\n", c.Whom, may(allow))
		return err
	})
}

// byOperator is who changes rules from the command line, for the record.
const byOperator = "operator"

func may(allow bool) string {
	if allow {
		return "may"
	}
	return "may not"
}

type accessList struct{}

// Run prints all rules as a table.
func (accessList) Run(e env) error {
	return withUsers(e, func(ctx context.Context, store *users.Store) error {
		rules, err := store.Rules(ctx, users.Place{})
		if err != nil {
			return err
		}
		if len(rules) == 0 {
			_, err := fmt.Fprintln(e.stdout, "There are no rules: ACCESS alone decides who may use the tools.")
			return err
		}
		table := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "RULE\tWHOM\tNAME\t\tWHERE\tSET\tBY\tNOTE")
		for _, r := range rules {
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Whom(), orDash(r.Name), may(r.Allow), whereOf(r), r.At.UTC().Format(time.DateOnly), orDash(r.By), r.Note)
		}
		return table.Flush()
	})
}

func orDash(s string) string { return cmp.Or(strings.Join(strings.Fields(s), " "), "-") }

// whereOf says what place a rule is for.
func whereOf(r users.Rule) string {
	if r.Where == (users.Place{}) {
		return "everywhere"
	}
	return string(r.Where.Kind) + ":" + r.Where.Platform + ":" + r.Where.ID
}

type accessRemove struct {
	Whom string `arg:"" help:"The number of a rule, as access list shows it, or whom the rules are about that hold everywhere."`
}

// Run takes rules back. A running program follows within seconds.
func (c accessRemove) Run(e env) error {
	about, matches := users.Rule{}, func(users.Rule) bool { return false }
	if id, err := strconv.ParseInt(c.Whom, 10, 64); err == nil {
		matches = func(r users.Rule) bool { return r.ID == id }
	} else if about, err = users.RuleAbout(c.Whom); err != nil {
		return err
	}
	return withUsers(e, func(ctx context.Context, store *users.Store) error {
		if about.Kind != "" {
			matches = rulesAbout(ctx, store, about)
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
			fmt.Fprintf(e.stdout, "Rule %d is gone: %s %s use the tools, %s.\n", r.ID, r.Whom(), may(r.Allow), whereOf(r))
		}
		if removed == 0 {
			return fmt.Errorf("remove %s: there is no such rule; signalbox access list shows all", c.Whom)
		}
		return nil
	})
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

// withUsers opens the store of people for one command.
func withUsers(e env, do func(ctx context.Context, store *users.Store) error) error {
	return withDatabase(e, func(ctx context.Context, cfg Config, db *database, log *slog.Logger) error {
		if _, err := migrations.Up(ctx, db.pool, quiet(log)); err != nil {
			return err
		}
		return do(ctx, newUsers(db, billing.NewLedger(db.pool), cfg))
	})
}
