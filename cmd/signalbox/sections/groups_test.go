package sections_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/sections"
	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

func TestOperatorsCloseWalletsOfGroups(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	ledger := billing.NewLedger(pool)
	wallets, ann := groups.New(groups.Config{Pool: pool, Ledger: ledger}), uuid.NewString()
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		if err := ledger.EnsureWallet(t.Context(), tx, ann); err != nil {
			return err
		}
		return ledger.Grant(t.Context(), tx, ann, 3*billing.Dollar, "ann", "")
	})
	if err != nil {
		t.Fatal(err)
	}
	balance := func(want billing.NanoUSD) {
		t.Helper()
		if b, err := ledger.Balance(context.WithoutCancel(t.Context()), ann); err != nil || b.Available != want {
			t.Errorf("she has %s, %v; want %s", b.Available, err, want)
		}
	}
	place := users.Place{Platform: "discord", Kind: users.PlaceSpace, ID: "7"}
	err = wallets.Sponsor(t.Context(), groups.Contribution{Place: place, Chat: json.RawMessage(`{}`), AccountID: ann, Amount: 2 * billing.Dollar, Key: "gift"})
	if err != nil {
		t.Fatal(err)
	}
	balance(billing.Dollar)
	section := sections.Groups(wallets)
	table, err := section.Table(t.Context(), "")
	if err != nil || len(table.Rows) != 1 || len(table.Rows[0].Cells) != len(table.Columns) || table.Rows[0].Cells[1].Text != "space 7" {
		t.Fatalf("%+v, %v", table, err)
	}
	if said, err := section.Deed.Do(t.Context(), uuid.NewString()); registry.AsError(err).Code != registry.CodeInvalidInput {
		t.Errorf("closing what is not there: %q, %v", said, err)
	}
	if said, err := section.Deed.Do(t.Context(), table.Rows[0].ID); err != nil || said != "The wallet is closed, and $2.00 went back." {
		t.Errorf("%q, %v", said, err)
	}
	balance(3 * billing.Dollar)
	if table, err := section.Table(t.Context(), ""); err != nil || len(table.Rows) != 0 {
		t.Errorf("%+v, %v", table, err)
	}
}
