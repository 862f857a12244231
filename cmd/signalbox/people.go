package main

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/questions"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/payments"
	chatstore "github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/platforms/web/webchat"
	"github.com/signalbox/signalbox/providers/canvas"
	sitestore "github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/providers/knowledge/index"
	"github.com/signalbox/signalbox/runs/gallery"
	runstore "github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/users"
	"github.com/signalbox/signalbox/webhooks"
)

// newUsers makes the store of people, and tells it what belongs to an account in the other rooms: a new one gets a
// wallet, a new person the sign-up credit.
func newUsers(db *database, ledger *billing.Ledger, c Config, change ...func(*users.Config)) *users.Store {
	cfg := users.Config{
		OnCreate: func(ctx context.Context, tx pgx.Tx, account users.Account) error {
			return ledger.EnsureWallet(ctx, tx, account.ID)
		},
		OnWelcome: func(ctx context.Context, tx pgx.Tx, account users.Account) error {
			return ledger.Welcome(ctx, tx, account.ID, c.SignupCredit)
		},
		OnMerge: func(ctx context.Context, tx pgx.Tx, from, into string) error {
			return mergeRooms(ctx, tx, ledger, from, into)
		},
		OnErase: func(ctx context.Context, tx pgx.Tx, accountID string) error {
			if err := pages.Forget(ctx, tx, accountID); err != nil {
				return err
			}
			if err := webchat.Forget(ctx, tx, accountID); err != nil {
				return err
			}
			if err := runstore.Forget(ctx, tx, accountID); err != nil {
				return err
			}
			if err := canvas.Forget(ctx, tx, accountID); err != nil {
				return err
			}
			if err := missions.Forget(ctx, tx, accountID); err != nil {
				return err
			}
			if err := agent.Forget(ctx, tx, accountID); err != nil {
				return err
			}
			if err := payments.Forget(ctx, tx, accountID); err != nil {
				return err
			}
			if err := questions.Forget(ctx, tx, accountID); err != nil {
				return err
			}
			if err := webhooks.Forget(ctx, tx, accountID); err != nil {
				return err
			}
			if err := index.Forget(ctx, tx, accountID); err != nil {
				return err
			}
			if err := chatstore.Forget(ctx, tx, accountID); err != nil {
				return err
			}
			if err := sitestore.Forget(ctx, tx, accountID); err != nil {
				return err
			}
			return assets.Forget(ctx, tx, accountID)
		},
		Listed: c.Access == accessListed,
		Limits: c.Limits,
	}
	for _, f := range change {
		f(&cfg)
	}
	return users.New(db.pool, cfg)
}

// mergeRooms moves what the rooms above users keep by account. Runs are moved before the wallet is locked, as all
// writers do, and again after, when none can begin any more that the wallet pays for.
func mergeRooms(ctx context.Context, tx pgx.Tx, ledger *billing.Ledger, from, into string) error {
	if err := runstore.Adopt(ctx, tx, from, into); err != nil {
		return err
	}
	if err := ledger.Merge(ctx, tx, from, into); err != nil {
		return err
	}
	if err := runstore.Adopt(ctx, tx, from, into); err != nil {
		return err
	}
	if err := missions.Adopt(ctx, tx, from, into); err != nil {
		return err
	}
	if err := gallery.Adopt(ctx, tx, from, into); err != nil {
		return err
	}
	if err := agent.Adopt(ctx, tx, from, into); err != nil {
		return err
	}
	if err := questions.Adopt(ctx, tx, from, into); err != nil {
		return err
	}
	if err := webhooks.Adopt(ctx, tx, from, into); err != nil {
		return err
	}
	if err := canvas.Adopt(ctx, tx, from, into); err != nil {
		return err
	}
	if err := index.Adopt(ctx, tx, from, into); err != nil {
		return err
	}
	if err := chatstore.Adopt(ctx, tx, from, into); err != nil {
		return err
	}
	if err := sitestore.Adopt(ctx, tx, from, into); err != nil {
		return err
	}
	if err := assets.Adopt(ctx, tx, from, into); err != nil {
		return err
	}
	return webchat.Adopt(ctx, tx, from, into)
}
