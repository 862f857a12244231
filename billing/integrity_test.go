package billing

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

func TestKeysStandForOneThing(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	ctx := t.Context()
	captured := func(t *testing.T, user string) (run string) {
		t.Helper()
		run = uuid.NewString()
		b.must(t, func(tx pgx.Tx) error { return b.Hold(ctx, tx, user, run, 50) })
		b.must(t, func(tx pgx.Tx) error { return b.Capture(ctx, tx, run, 50) })
		return run
	}
	t.Run("a refund's key that was used for another run is refused, not passed over", func(t *testing.T) {
		t.Parallel()
		user := b.user(t, 100)
		first, second := captured(t, user), captured(t, user)
		b.must(t, func(tx pgx.Tx) error { return b.Refund(ctx, tx, first, "ticket 7", "") })
		err := b.do(ctx, func(tx pgx.Tx) error { return b.Refund(ctx, tx, second, "ticket 7", "") })
		if !errors.Is(err, ErrKeyReused) {
			t.Errorf("got %v", err)
		}
		b.wants(t, user, 50, 0)
	})
	t.Run("two grants that race with one key for different people: one gets it, the other hears of it", func(t *testing.T) {
		t.Parallel()
		for range 10 {
			key, users := uuid.NewString(), []string{b.user(t, 0), b.user(t, 0)}
			var wait sync.WaitGroup
			errs := make([]error, 2)
			for i, user := range users {
				wait.Go(func() {
					errs[i] = b.do(ctx, func(tx pgx.Tx) error { return b.Grant(ctx, tx, user, 7, key, "gift") })
				})
			}
			wait.Wait()
			for i, user := range users {
				got, err := b.Balance(ctx, user)
				if err != nil || (got.Available == 7) != (errs[i] == nil) {
					t.Errorf("%d: balance %+v, %v, grant's error %v", i, got, err, errs[i])
				}
			}
		}
	})
}

func TestNoAmountBreaksTheBooks(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	ctx := t.Context()
	const most = NanoUSD(1<<63 - 1)
	for range 3 {
		user, run := b.user(t, 100), uuid.NewString()
		b.must(t, func(tx pgx.Tx) error { return b.Hold(ctx, tx, user, run, 30) })
		b.must(t, func(tx pgx.Tx) error { return b.Capture(ctx, tx, run, most) })
		b.wants(t, user, 70, 0)
		if err := b.do(ctx, func(tx pgx.Tx) error { return b.Grant(ctx, tx, user, MaxAmount+1, run, "") }); err == nil {
			t.Error("more was granted than can be")
		}
	}
	if err := b.RollUp(ctx); err != nil {
		t.Error(err)
	}
	b.balances(t)
}

func TestParseUSDOddities(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1$2", "5$", "$$5", "--5", "$-5", "+5", "", "$", "1,000", "0x10", "1_000", "NaN", "Inf", "٣"} {
		if n, err := ParseUSD(text); err == nil {
			t.Errorf("%q: %v", text, n)
		}
	}
	for text, want := range map[string]NanoUSD{"$5": 5 * Dollar, "-$5": -5 * Dollar, "1e3": 1000 * Dollar} {
		if n, err := ParseUSD(text); err != nil || n != want {
			t.Errorf("%q: %v %v", text, n, err)
		}
	}
}

func TestShortOfMoneyBecauseOfWhatIsHeld(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	user := b.user(t, 100)
	b.must(t, func(tx pgx.Tx) error { return b.Hold(t.Context(), tx, user, uuid.NewString(), 80) })
	err := b.do(t.Context(), func(tx pgx.Tx) error { return b.Hold(t.Context(), tx, user, uuid.NewString(), 30) })
	var short ErrInsufficient
	if !errors.As(err, &short) || short.Held != 80 || !strings.Contains(err.Error(), "set aside") {
		t.Errorf("got %v", err)
	}
}

func TestCheckFindsEachCorruption(t *testing.T) {
	t.Parallel()
	disable := `ALTER TABLE ledger_transfers DISABLE TRIGGER ALL; ALTER TABLE ledger_transfers DROP CONSTRAINT ledger_transfer_is_sound;`
	leg := func(n, change string) string { // of the captures
		return disable + `UPDATE ledger_transfers SET amounts[` + n + `] = amounts[` + n + `] + ` + change + ` WHERE kind = 'capture'`
	}
	for name, sql := range map[string]string{
		"a wallet's balance":                   `UPDATE ledger_accounts SET balance = balance + 1 WHERE kind = 'wallet'`,
		"a hold account's balance":             `UPDATE ledger_accounts SET balance = balance + 1 WHERE kind = 'hold'`,
		"a system account's balance":           `UPDATE ledger_accounts SET balance = balance + 1 WHERE kind = 'revenue'`,
		"what is pending":                      `INSERT INTO ledger_pending VALUES (2, 5)`,
		"pending lost":                         `DELETE FROM ledger_pending`,
		"an account is gone":                   `DELETE FROM ledger_accounts WHERE kind = 'wallet'`,
		"an entry is changed":                  leg("3", "1"),
		"an entry is gone":                     disable + `UPDATE ledger_transfers SET accounts = accounts[:2], amounts = amounts[:2] WHERE kind = 'capture'`,
		"an entry has no amount":               disable + `UPDATE ledger_transfers SET amounts = amounts[:2] WHERE kind = 'capture'`,
		"a transfer is gone":                   disable + `DELETE FROM ledger_transfers WHERE kind = 'grant'`,
		"a settlement is gone":                 disable + `DELETE FROM ledger_transfers WHERE kind = 'capture'`,
		"a transfer's entries are gone":        disable + `UPDATE ledger_transfers SET accounts = '{}', amounts = '{}' WHERE id = (SELECT min(id) FROM ledger_transfers)`,
		"a grant's amount":                     disable + `UPDATE ledger_transfers SET amount = amount + 1 WHERE kind = 'grant'`,
		"a capture's amount":                   disable + `UPDATE ledger_transfers SET amount = amount + 1 WHERE kind = 'capture'`,
		"a release's amount":                   disable + `UPDATE ledger_transfers SET amount = amount + 1 WHERE kind = 'release'`,
		"a settled hold's amount":              disable + `UPDATE ledger_transfers SET amount = amount + 1 WHERE id = (SELECT min(id) FROM ledger_transfers WHERE kind = 'hold')`,
		"a transfer's owner":                   disable + `UPDATE ledger_transfers SET owner = gen_random_uuid() WHERE kind = 'capture'`,
		"a share is gone":                      disable + `DELETE FROM ledger_transfers WHERE kind = 'share'`,
		"a share's amount":                     disable + `UPDATE ledger_transfers SET amount = 4, amounts = '{4,-4}' WHERE kind = 'share'; UPDATE ledger_accounts SET balance = 4 WHERE balance = 3; INSERT INTO ledger_pending VALUES (4,-1), (1,1)`,
		"extra balanced entries":               disable + `UPDATE ledger_transfers SET accounts = accounts || '{1,3}', amounts = amounts || '{1,-1}' WHERE id = (SELECT max(id) FROM ledger_transfers)`,
		"extra balanced entries with balances": disable + `UPDATE ledger_transfers SET accounts = accounts || '{1,3}', amounts = amounts || '{1,-1}' WHERE id = (SELECT min(id) FROM ledger_transfers WHERE kind = 'hold'); INSERT INTO ledger_pending VALUES (1,1),(3,-1)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBook(t)
			ctx := t.Context()
			user, author, one, two, three := b.user(t, 100), b.user(t, 0), uuid.NewString(), uuid.NewString(), uuid.NewString()
			b.must(t, func(tx pgx.Tx) error {
				return errors.Join(b.Hold(ctx, tx, user, one, 40),
					settle(ctx, tx, Settlement{RunID: one, Cost: 30, Share: 3, Author: author}), b.Hold(ctx, tx, user, two, 20), b.Release(ctx, tx, two, "failed"), b.Hold(ctx, tx, user, three, 10))
			})
			b.balances(t)
			if _, err := b.pool.Exec(ctx, sql); err != nil {
				t.Fatal(err)
			}
			report, err := b.Check(ctx)
			if err != nil || report.OK() {
				t.Errorf("not found: %s, %v", report, err)
			}
		})
	}
}
