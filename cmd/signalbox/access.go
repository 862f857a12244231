package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/migrations"
	"github.com/signalbox/signalbox/users"
)

type accessCommand struct {
	Do   string `arg:"" enum:"allow,deny" help:"allow or deny."`
	Whom string `arg:"" help:"An account id (UUID), a person such as telegram:12345, or a chat, server or role: chat:telegram:-100, space:discord:77, role:discord:8."`
	Note string `help:"Why, for the record."`
}

// Run lets somebody use the tools, or keeps them from it. A running program follows within seconds.
func (c accessCommand) Run(e env) error {
	rule, err := ruleFor(c.Whom)
	if err != nil {
		return err
	}
	rule.Allow, rule.Note, rule.By = c.Do == "allow", c.Note, "operator"
	return withDatabase(e, func(ctx context.Context, cfg Config, db *database, log *slog.Logger) error {
		if _, err := migrations.Up(ctx, db.pool, quiet(log)); err != nil {
			return err
		}
		store := newUsers(db, billing.NewLedger(db.pool), cfg)
		if person, err := store.ByIdentity(ctx, rule.Platform, rule.Subject); err == nil && rule.Kind == users.RuleIdentity {
			rule.Kind, rule.Platform, rule.Subject = users.RuleAccount, "", person.ID // then it holds wherever they come from
		}
		if err := store.SetRule(ctx, rule); err != nil {
			return err
		}
		may := "may"
		if !rule.Allow {
			may = "may not"
		}
		_, err := fmt.Fprintf(e.stdout, "%s %s use the tools.\n", c.Whom, may)
		return err
	})
}

// ruleFor reads whom a rule is about.
func ruleFor(whom string) (users.Rule, error) {
	if _, err := uuid.Parse(whom); err == nil {
		return users.Rule{Kind: users.RuleAccount, Subject: whom}, nil
	}
	parts := strings.SplitN(whom, ":", 3)
	if len(parts) == 2 && parts[0] != "" && parts[1] != "" {
		return users.Rule{Kind: users.RuleIdentity, Platform: parts[0], Subject: parts[1]}, nil
	}
	kinds := map[string]users.RuleKind{"chat": users.RuleChat, "space": users.RuleSpace, "role": users.RuleRole}
	if kind, known := kinds[parts[0]]; known && len(parts) == 3 && parts[1] != "" && parts[2] != "" {
		return users.Rule{Kind: kind, Platform: parts[1], Subject: parts[2]}, nil
	}
	return users.Rule{}, fmt.Errorf("whom: found %q, expected an account id, platform:id, or chat:, space: or role: before that, such as chat:telegram:-100", whom)
}
