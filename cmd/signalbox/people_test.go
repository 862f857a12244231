package main

import (
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/accounts"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/database"
	"github.com/signalbox/signalbox/cmd/signalbox/settings"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/payments"
	"github.com/signalbox/signalbox/payments/paymentstest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/users"
)

// accountColumns are all columns with an account's id, and whether a merge moves them. What stays is history: the id
// leads to the survivor.
var accountColumns = map[string]bool{
	"chat_deliveries.account_id": true, "chat_keyboards.account_id": true, "chat_prompts.account_id": true, "chat_marks.account_id": true, "chat_questions.account_id": true,
	"asset_owners.account_id": true, "asset_uses.account_id": false, "runs.account_id": true, "user_identities.user_id": true, "user_keys.user_id": true, "user_limits.user_id": true,
	"user_link_codes.user_id": true, "user_preferences.user_id": true, "user_presets.user_id": true, "user_sessions.user_id": true,
	"ledger_accounts.owner": false, "ledger_transfers.owner": false, "user_audit.account_id": false,
	"group_gifts.account_id": true, "site_chat_roles.account_id": true, "site_members.account_id": true, "site_shown.account_id": true,
	"gallery_items.account_id": true, "webhook_endpoints.account_id": true, "web_answers.account_id": false, // answers last a day
	// Whose payments and orders are is found by the survivor's id, and a count of wrong codes lasts an hour.
	"payments.account_id": false, "payment_orders.account_id": false, "payment_guesses.account_id": false,
	"canvas_scenes.account_id": true, "knowledge_sources.owner": true, "agent_conversations.account_id": true, "agent_usage.account_id": true, "agent_questions.account_id": true, "missions.account_id": true, "chains.account_id": true, "asset_uses_missions.account_id": false, "asset_uses_before_exports.account_id": false, "exports.account_id": true,
	"user_mutes.user_id": true, "moderation_reports.account_id": true, "moderation_takedowns.account_id": true, "moderation_strikes.account_id": true, "moderation_appeals.account_id": true,
}

func TestOnePerson(t *testing.T) {
	t.Parallel()
	db := &database.DB{Pool: postgrestest.New(t)}
	ledger := billing.NewLedger(db.Pool)
	people := accounts.New(db.Pool, ledger, config.Config{SignupCredit: billing.Dollar})
	ctx := t.Context()
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := db.Pool.Exec(ctx, sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	comes := func(platform string) users.Account {
		t.Helper()
		account, err := people.Identify(ctx, users.Identity{Platform: platform, ExternalID: uuid.NewString(), Name: platform})
		if err != nil {
			t.Fatal(err)
		}
		return account
	}
	balance := func(account string, want billing.NanoUSD) {
		t.Helper()
		got, err := ledger.Balance(ctx, account)
		if err != nil || got.Available != want {
			t.Errorf("the balance is %s, %v; want %s", got.Available, err, want)
		}
	}
	t.Run("every table with accounts is known here", func(t *testing.T) {
		rows, err := db.Pool.Query(ctx, `
			SELECT table_name || '.' || column_name FROM information_schema.columns
			WHERE table_schema = 'public' AND data_type = 'uuid' AND column_name IN ('account_id', 'user_id', 'owner')`)
		if err != nil {
			t.Fatal(err)
		}
		there, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		for _, column := range there {
			if _, known := accountColumns[column]; !known {
				t.Errorf("%s: say here whether merging two accounts moves it, and do so in users or in accounts.MergeRooms", column)
			}
		}
		for column := range accountColumns {
			if !slices.Contains(there, column) {
				t.Errorf("there is no %s", column)
			}
		}
	})
	t.Run("two accounts become one with everything that is theirs", func(t *testing.T) {
		ann, bob := comes("telegram"), comes("discord")
		exec(`INSERT INTO chat_keyboards (id, platform, account_id, state) VALUES ('keyboard', 'discord', $1, '{}')`, bob.ID)
		exec(`INSERT INTO chat_prompts (platform, chat, account_id, id, state, expires_at)
			VALUES ('discord', '1', $1, 'a', '{}', now()), ('discord', '1', $2, 'b', '{}', now()), ('discord', '2', $2, 'c', '{}', now())`, ann.ID, bob.ID)
		exec(`INSERT INTO webhook_endpoints (id, account_id, url, events, secret, created_at) VALUES (gen_random_uuid(), $1, 'https://example.com', '{}', '', now())`, bob.ID)
		exec(`INSERT INTO chat_marks (platform, chat, message_id, account_id, kind) VALUES ('discord', '1', '2', $1, 'asked')`, bob.ID)
		exec(`INSERT INTO chat_questions (run_id, id, platform, chat, account_id, state, expires_at) VALUES (gen_random_uuid(), 'q', 'discord', '1', $1, '{}', now())`, bob.ID)
		exec(`INSERT INTO chat_deliveries (run_id, platform, account_id) VALUES (gen_random_uuid(), 'discord', $1)`, bob.ID)
		exec(`INSERT INTO group_gifts (key, fund, account_id, amount) VALUES ('gift', gen_random_uuid(), $1, 1)`, bob.ID)
		exec(`INSERT INTO site_members (site_id, account_id, role) SELECT id, $1, 'editor' FROM sites`, bob.ID)
		exec(`INSERT INTO site_chat_roles (site_id, account_id, admin) SELECT id, $1, true FROM sites`, bob.ID)
		exec(`INSERT INTO site_shown (account_id, site_id, tool, subject, touches) SELECT $1, id, 'deletePage', '', '[]' FROM sites`, bob.ID)
		if _, err := people.NewSession(ctx, users.Session{AccountID: bob.ID}); err != nil {
			t.Fatal(err)
		}
		err := pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
			return ledger.Grant(ctx, tx, bob.ID, 5*billing.Dollar, "bought", "")
		})
		if err != nil {
			t.Fatal(err)
		}
		code, err := people.NewLinkCode(ctx, ann.ID)
		if err != nil {
			t.Fatal(err)
		}
		merged, err := people.RedeemLinkCode(ctx, bob.ID, code.Code)
		if err != nil || merged.Account.ID != ann.ID {
			t.Fatalf("got %+v, %v", merged, err)
		}
		balance(ann.ID, 6*billing.Dollar) // with one sign-up credit
		for column, moves := range accountColumns {
			table, name, _ := strings.Cut(column, ".")
			var left int
			err := db.Pool.QueryRow(ctx, `SELECT count(*) FROM `+table+` WHERE `+name+` = $1`, bob.ID).Scan(&left)
			if err != nil || moves && left != 0 {
				t.Errorf("%s still has %d rows of the old account, %v", column, left, err)
			}
		}
		report, err := ledger.Check(ctx)
		if err != nil || !report.OK() {
			t.Error(report, err)
		}
		linked, err := people.Identities(ctx, ann.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range linked {
			if one.Platform == "discord" {
				_, err = people.Unlink(ctx, ann.ID, one.Platform, one.ExternalID)
			}
		}
		var endpoints int
		if err = errors.Join(err, db.Pool.QueryRow(ctx, `SELECT count(*) FROM webhook_endpoints`).Scan(&endpoints)); err != nil || endpoints != 0 {
			t.Errorf("who left is still told of the runs by %d endpoints, %v", endpoints, err)
		}
	})
	t.Run("leaving gives an account with an empty wallet", func(t *testing.T) {
		ann := comes("telegram")
		if err := people.Link(ctx, ann.ID, users.Identity{Platform: "discord", ExternalID: "9"}); err != nil {
			t.Fatal(err)
		}
		apart, err := people.Unlink(ctx, ann.ID, "discord", "9")
		if err != nil {
			t.Fatal(err)
		}
		balance(apart.ID, 0)
		balance(ann.ID, billing.Dollar)
		code, err := people.NewLinkCode(ctx, ann.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := people.RedeemLinkCode(ctx, apart.ID, code.Code); err != nil {
			t.Fatal(err)
		}
		balance(ann.ID, billing.Dollar)
	})
	t.Run("who erases all and comes back gets no second credit", func(t *testing.T) {
		who := users.Identity{Platform: "telegram", ExternalID: "back"}
		for _, want := range []billing.NanoUSD{billing.Dollar, 0} {
			account, err := people.Identify(ctx, who)
			if err != nil {
				t.Fatal(err)
			}
			balance(account.ID, want)
			if err := people.Erase(ctx, account.ID, account.ID); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("A88 stored settings follow a tool that is renamed", func(t *testing.T) {
		ann := comes("telegram")
		if err := people.SetPreference(ctx, ann.ID, "old", "steps", 9); err != nil {
			t.Fatal(err)
		}
		catalogue, err := catalog.New(catalog.Config{Loaders: []registry.Loader{registrytest.NewLoader("tools", registry.Tool{
			ToolID: "new", Listing: registry.Listing{Aliases: []string{"old"}}, Service: "choir", DisplayName: "New", CommandName: "/new", InputSchema: registry.InputSchema{},
			OutputSchema: registry.OutputSchema{{Name: "result", Type: "text"}},
		})}})
		if err != nil {
			t.Fatal(err)
		}
		a := &house{users: people, log: slog.New(slog.DiscardHandler)}
		catalogue.OnSwap(a.followRenames)
		if _, err := catalogue.Reload(ctx); err != nil {
			t.Fatal(err)
		}
		if got, err := people.PreferencesFor(ctx, ann.ID, registry.Tool{ToolID: "new"}); err != nil || got["steps"] != json.Number("9") {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("A88 stored settings follow an input that is renamed", func(t *testing.T) {
		ann := comes("telegram")
		if err := people.SetPreference(ctx, ann.ID, "ink", "colors", 9); err != nil {
			t.Fatal(err)
		}
		loader := registrytest.NewLoader("tools")
		catalogue, err := catalog.New(catalog.Config{Loaders: []registry.Loader{loader}})
		if err != nil {
			t.Fatal(err)
		}
		a := &house{users: people, log: slog.New(slog.DiscardHandler)}
		catalogue.OnSwap(a.followRenames)
		for _, name := range []string{"colors", "inks"} {
			loader.Set(registry.Tool{
				ToolID: "ink", Service: "choir", DisplayName: "Ink", CommandName: "/ink", OutputSchema: registry.OutputSchema{{Name: "result", Type: "text"}},
				InputSchema: registry.InputSchema{{Name: name, DisplayName: name, Type: registry.TypeNumber, Default: json.Number("6"), Description: "How many."}},
			})
			if _, err := catalogue.Reload(ctx); err != nil {
				t.Fatal(err)
			}
			if got, err := people.PreferencesFor(ctx, ann.ID, registry.Tool{ToolID: "ink"}); err != nil || got[name] != json.Number("9") || len(got) != 1 {
				t.Errorf("%s: got %v, %v", name, got, err)
			}
		}
	})
}

func TestRunsAtOnceByDefault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, public, setting string
		want                  int
	}{
		{"a local program has no limit", "", "", 0},
		{"a public one has", "https://bot.example", "", 8},
		{"the operator may lift it", "https://bot.example", "0", 0},
		{"and set another", "", "3", 3},
	} {
		given := settings.Settings{HouseSettings: settings.HouseSettings{PublicURL: c.public}, PeopleSettings: settings.PeopleSettings{RunsAtOnce: c.setting}}
		if got, _ := config.Check(given); got.Limits.AtOnce != c.want {
			t.Errorf("%s: %d, expected %d", c.name, got.Limits.AtOnce, c.want)
		}
	}
}

// TestMoneyOverALife has people buy, spend, become one, delete everything and come back, and what they paid be given back and disputed afterwards.
func TestMoneyOverALife(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), postgrestest.New(t)
	ledger := billing.NewLedger(pool)
	people := accounts.New(pool, ledger, config.Config{SignupCredit: billing.Dollar})
	products, err := payments.ParseProducts([]byte(paymentstest.Sold))
	if err != nil {
		t.Fatal(err)
	}
	till := &paymentstest.Till{Store: payments.New(payments.Config{Pool: pool, Ledger: ledger, Products: products}), Ledger: ledger, Pool: pool}
	comes := func(id string) string {
		t.Helper()
		account, err := people.Identify(ctx, users.Identity{Platform: "telegram", ExternalID: id})
		if err != nil {
			t.Fatal(err)
		}
		return account.ID
	}
	buys := func(account string, source billing.Source, currency string) payments.Paid {
		t.Helper()
		paid := till.Ordered(t, account, source, "small", currency)
		if _, _, err := till.Pay(ctx, paid); err != nil {
			t.Fatal(err)
		}
		return paid
	}
	takenBack := func(paid payments.Paid, kind payments.ChangeKind, state payments.State) {
		t.Helper()
		if _, err := till.Change(ctx, payments.Change{Source: paid.Source, Ref: string(kind) + paid.Ref, Payment: paid.Ref, Kind: kind, Amount: paid.Amount, State: state}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("what one of two that became one had bought is given back by who they are now; what was spent is the house's loss", func(t *testing.T) {
		ann, ben := comes("ann"), comes("ben")
		buys(ann, billing.Stripe, "USD")
		his := buys(ben, billing.Stars, "XTR")
		code, err := people.NewLinkCode(ctx, ann)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := people.RedeemLinkCode(ctx, ben, code.Code); err != nil {
			t.Fatal(err)
		}
		till.Wants(t, ann, 11*billing.Dollar, 0)
		till.Spend(t, ann, 8*billing.Dollar)
		takenBack(his, payments.Refund, payments.Done)
		till.Wants(t, ann, 0, 0)
		buys(ann, billing.Stripe, "USD")
		till.Wants(t, ann, 5*billing.Dollar, 0)
	})
	t.Run("who deletes everything and comes back has neither the credit nor the debts of before", func(t *testing.T) {
		before, run := comes("carl"), uuid.NewString()
		refunded, disputed := buys(before, billing.Stripe, "USD"), buys(before, billing.Stripe, "USD")
		till.Spend(t, before, 2*billing.Dollar)
		if err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return ledger.Hold(ctx, tx, before, run, 3*billing.Dollar) }); err != nil {
			t.Fatal(err)
		}
		if err := people.Erase(ctx, before, before); err != nil {
			t.Fatal(err)
		}
		now := comes("carl")
		if now == before {
			t.Fatal("it is the account of before")
		}
		m, lock, post := billing.Moves{Settlements: []billing.Settlement{{AccountID: before, RunID: run, Cost: billing.Dollar}}}, &pgx.Batch{}, &pgx.Batch{}
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { // the run that was under way ends
			m.Lock(lock)
			if err := tx.SendBatch(ctx, lock).Close(); err != nil {
				return err
			}
			if _, err := m.Post(post); err != nil {
				return err
			}
			return tx.SendBatch(ctx, post).Close()
		})
		if err != nil {
			t.Fatal(err)
		}
		till.Wants(t, before, 8*billing.Dollar, 0)
		till.Wants(t, now, 0, 0)
		takenBack(refunded, payments.Refund, payments.Done)
		takenBack(disputed, payments.Dispute, payments.Done)
		till.Wants(t, before, 0, 2*billing.Dollar)
		till.Wants(t, now, 0, 0)
		buys(now, billing.Stripe, "USD")
		till.Wants(t, now, 5*billing.Dollar, 0)
		takenBack(disputed, payments.Dispute, payments.Undone)
		till.Wants(t, before, 3*billing.Dollar, 0)
		till.Wants(t, now, 5*billing.Dollar, 0)
	})
	till.Balances(t)
}
