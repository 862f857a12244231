package main

import (
	"context"

	"github.com/signalbox/signalbox/cmd/signalbox/people"
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
	rule.Allow, rule.Note = allow, c.Note
	return withUsers(e, func(ctx context.Context, store *users.Store) error {
		return people.SetRule(ctx, e.stdout, store, c.Whom, rule)
	})
}

type accessList struct{}

// Run prints all rules as a table.
func (accessList) Run(e env) error {
	return withUsers(e, func(ctx context.Context, store *users.Store) error {
		return people.PrintRules(ctx, e.stdout, store)
	})
}

type accessRemove struct {
	Whom string `arg:"" help:"The number of a rule, as access list shows it, or whom the rules are about that hold everywhere."`
}

// Run takes rules back. A running program follows within seconds.
func (c accessRemove) Run(e env) error {
	return withUsers(e, func(ctx context.Context, store *users.Store) error {
		return people.RemoveRules(ctx, e.stdout, store, c.Whom)
	})
}
