// Package accounts tells the store of people what belongs to an account in the rooms above it.
package accounts

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/questions"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/moderation"
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

// New makes the store of people, and tells it what belongs to an account in the other rooms: a new one gets a
// wallet, a new person the sign-up credit.
func New(db *pgxpool.Pool, ledger *billing.Ledger, c config.Config, change ...func(*users.Config)) *users.Store {
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
		OnLeave: webhooks.Leave,
		OnErase: func(ctx context.Context, tx pgx.Tx, accountID string) error {
			for _, forget := range []func(context.Context, pgx.Tx, string) error{
				pages.Forget, webchat.Forget, runstore.Forget, canvas.Forget, missions.Forget, agent.Forget, payments.Forget, groups.Forget, questions.Forget,
				webhooks.Forget, index.Forget, chatstore.Forget, sitestore.Forget, exports.Forget, moderation.Forget, assets.Forget,
			} {
				if err := forget(ctx, tx, accountID); err != nil {
					return err
				}
			}
			return nil
		},
		Listed: c.Access == config.AccessListed,
		Limits: c.Limits,
	}
	for _, f := range change {
		f(&cfg)
	}
	return users.New(db, cfg)
}

// mergeRooms moves what the rooms above users keep by account. Runs are moved before the wallet is locked, as all
// writers do, and again after, when none can begin any more that the wallet pays for.
func mergeRooms(ctx context.Context, tx pgx.Tx, ledger *billing.Ledger, from, into string) error {
	for _, adopt := range []func(ctx context.Context, tx pgx.Tx, from, into string) error{
		runstore.Adopt, ledger.Merge, runstore.Adopt, missions.Adopt, gallery.Adopt, agent.Adopt, questions.Adopt, webhooks.Adopt, canvas.Adopt,
		index.Adopt, chatstore.Adopt, sitestore.Adopt, exports.Adopt, assets.Adopt, webchat.Adopt, groups.Adopt, moderation.Adopt,
	} {
		if err := adopt(ctx, tx, from, into); err != nil {
			return err
		}
	}
	return nil
}

// Parts are what the rooms give to the archive of everything that an account has. Its files are added to them.
func Parts() []archive.Part {
	return []archive.Part{
		users.Export, runstore.Export, gallery.Export, pages.Export, billing.Export, payments.Export, webchat.Export, agent.Export, questions.Export, missions.Export,
		canvas.Export, groups.Export, sitestore.Export, index.Export, webhooks.Export, moderation.Export,
	}
}
