package billing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// book is a ledger in a database of its own.
type book struct {
	*Ledger
	pool *pgxpool.Pool
}

func newBook(t *testing.T) book {
	t.Helper()
	pool := postgrestest.New(t)
	return book{NewLedger(pool), pool}
}

func (b book) do(ctx context.Context, f func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, b.pool, f)
}

func (b book) must(t *testing.T, f func(tx pgx.Tx) error) {
	t.Helper()
	if err := b.do(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

// Capture ends the run at a cost, as the program does with many at once; without a hold it does nothing.
func (b book) Capture(ctx context.Context, tx pgx.Tx, run string, cost NanoUSD) error {
	return settle(ctx, tx, Settlement{RunID: run, Cost: cost})
}

// Release ends the run without a cost.
func (b book) Release(ctx context.Context, tx pgx.Tx, run, why string) error {
	return settle(ctx, tx, Settlement{RunID: run, Note: why})
}

func settle(ctx context.Context, tx pgx.Tx, s Settlement) error {
	err := tx.QueryRow(ctx, `SELECT owner::text FROM ledger_transfers WHERE key = $1`, holdKey(s.RunID)).Scan(&s.AccountID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	moves, lock, post := Moves{Settlements: []Settlement{s}}, &pgx.Batch{}, &pgx.Batch{}
	moves.Lock(lock)
	if err := tx.SendBatch(ctx, lock).Close(); err != nil {
		return err
	}
	if _, err := moves.Post(post); err != nil {
		return err
	}
	return tx.SendBatch(ctx, post).Close()
}

// user makes an account with some money.
func (b book) user(t *testing.T, amount NanoUSD) string {
	t.Helper()
	id := uuid.NewString()
	b.must(t, func(tx pgx.Tx) error {
		if err := b.EnsureWallet(t.Context(), tx, id); err != nil || amount == 0 {
			return err
		}
		return b.Grant(t.Context(), tx, id, amount, id, "sign-up")
	})
	return id
}

func (b book) wants(t *testing.T, user string, available, held NanoUSD) {
	t.Helper()
	got, err := b.Balance(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Balance{Available: available, Held: held}); got != want {
		t.Errorf("balance is %+v, want %+v", got, want)
	}
}

func (b book) balances(t *testing.T) CheckReport {
	t.Helper()
	report, err := b.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK() {
		t.Error(report)
	}
	return report
}

func TestLedger(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	ctx := t.Context()

	t.Run("A30 a hold is captured once and the rest comes back", func(t *testing.T) {
		t.Parallel()
		user, run := b.user(t, 100), uuid.NewString()
		for range 2 {
			b.must(t, func(tx pgx.Tx) error { return b.Hold(ctx, tx, user, run, 60) })
			b.wants(t, user, 40, 60)
		}
		for range 2 {
			b.must(t, func(tx pgx.Tx) error { return b.Capture(ctx, tx, run, 25) })
			b.must(t, func(tx pgx.Tx) error { return b.Release(ctx, tx, run, "late") })
			b.wants(t, user, 75, 0)
		}
		b.must(t, func(tx pgx.Tx) error { return b.Hold(ctx, tx, user, run, 60) })
		b.wants(t, user, 75, 0)
	})
	t.Run("a released hold cannot be captured", func(t *testing.T) {
		t.Parallel()
		user, run := b.user(t, 100), uuid.NewString()
		b.must(t, func(tx pgx.Tx) error { return b.Hold(ctx, tx, user, run, 100) })
		b.must(t, func(tx pgx.Tx) error { return b.Release(ctx, tx, run, "canceled") })
		b.must(t, func(tx pgx.Tx) error { return b.Capture(ctx, tx, run, 100) })
		b.wants(t, user, 100, 0)
	})
	t.Run("never more than was promised; the rest is the operator's loss", func(t *testing.T) {
		t.Parallel()
		user, run := b.user(t, 100), uuid.NewString()
		b.must(t, func(tx pgx.Tx) error { return b.Hold(ctx, tx, user, run, 30) })
		b.must(t, func(tx pgx.Tx) error { return b.Capture(ctx, tx, run, 50) })
		b.wants(t, user, 70, 0)
		var revenue, loss NanoUSD
		err := b.pool.QueryRow(ctx, `
			SELECT sum(e.amount) FILTER (WHERE account_id = 2)::bigint, sum(e.amount) FILTER (WHERE account_id = 3)::bigint
			FROM ledger_entries e JOIN ledger_transfers t ON t.id = e.transfer_id WHERE t.run_id = $1`, run).Scan(&revenue, &loss)
		if err != nil || revenue != 50 || loss != -20 {
			t.Errorf("revenue %d, loss %d, %v", revenue, loss, err)
		}
	})
	t.Run("a wallet that does not cover it", func(t *testing.T) {
		t.Parallel()
		user, run := b.user(t, 10), uuid.NewString()
		err := b.do(ctx, func(tx pgx.Tx) error { return b.Hold(ctx, tx, user, run, 11) })
		var short ErrInsufficient
		if !errors.As(err, &short) || short.Have != 10 || short.Need != 11 {
			t.Errorf("got %v", err)
		}
		b.wants(t, user, 10, 0)
	})
	t.Run("a user without a wallet", func(t *testing.T) {
		t.Parallel()
		err := b.do(ctx, func(tx pgx.Tx) error { return b.Hold(ctx, tx, uuid.NewString(), uuid.NewString(), 1) })
		if !errors.Is(err, ErrNoWallet) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a grant happens once", func(t *testing.T) {
		t.Parallel()
		user, key := b.user(t, 0), uuid.NewString()
		for range 2 {
			b.must(t, func(tx pgx.Tx) error { return b.Grant(ctx, tx, user, 7, key, "gift") })
		}
		b.wants(t, user, 7, 0)
		other := b.user(t, 0)
		for _, err := range []error{
			b.do(ctx, func(tx pgx.Tx) error { return b.Grant(ctx, tx, user, 8, key, "gift") }),
			b.do(ctx, func(tx pgx.Tx) error { return b.Grant(ctx, tx, other, 7, key, "gift") }),
		} {
			if !errors.Is(err, ErrKeyReused) {
				t.Errorf("got %v", err)
			}
		}
		if err := b.do(ctx, func(tx pgx.Tx) error { return b.Grant(ctx, tx, user, 0, "zero", "") }); err == nil {
			t.Error("a grant of nothing was taken")
		}
	})
	t.Run("a refund happens once whatever the key", func(t *testing.T) {
		t.Parallel()
		user, run := b.user(t, 100), uuid.NewString()
		b.must(t, func(tx pgx.Tx) error { return b.Hold(ctx, tx, user, run, 50) })
		refund := func(key string) error {
			return b.do(ctx, func(tx pgx.Tx) error { return b.Refund(ctx, tx, run, key, "sorry") })
		}
		if err := refund("early"); !errors.Is(err, ErrNothingCaptured) {
			t.Errorf("got %v", err)
		}
		b.must(t, func(tx pgx.Tx) error { return b.Capture(ctx, tx, run, 50) })
		for _, key := range []string{run, run, run + "again"} {
			if err := refund(key); err != nil {
				t.Fatal(err)
			}
		}
		b.wants(t, user, 100, 0)
	})
	t.Run("the transfers tell what happened, newest first", func(t *testing.T) {
		t.Parallel()
		user, run := b.user(t, 100), uuid.NewString()
		b.must(t, func(tx pgx.Tx) error { return b.Hold(ctx, tx, user, run, 60) })
		b.must(t, func(tx pgx.Tx) error { return b.Capture(ctx, tx, run, 25) })
		transfers, err := b.Transfers(ctx, TransfersQuery{AccountID: user, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, e := range transfers {
			change := map[string]NanoUSD{}
			for _, l := range e.Legs {
				change[l.Account] += l.Amount
			}
			told = append(told, fmt.Sprintf("%s %d %d %t", e.Kind, change["wallet"], change["hold"], e.RunID == run))
		}
		if got := strings.Join(told, ", "); got != "capture 35 -60 true, hold -60 60 true, grant 100 0 false" {
			t.Errorf("got %s", got)
		}
		page, err := b.Transfers(ctx, TransfersQuery{AccountID: user, Before: transfers[1].ID, Limit: 1})
		if err != nil || len(page) != 1 || page[0].Kind != "grant" {
			t.Errorf("the next page is %v, %v", page, err)
		}
	})
	t.Run("nothing posted can be changed", func(t *testing.T) {
		t.Parallel()
		b.user(t, 5)
		for _, statement := range []string{
			`UPDATE ledger_transfers SET amounts = '{6,-6}' WHERE amount = 5`, `UPDATE ledger_transfers SET amount = 0`,
			`DELETE FROM ledger_transfers`, `TRUNCATE ledger_transfers`,
		} {
			if _, err := b.pool.Exec(ctx, statement); err == nil || !strings.Contains(err.Error(), "append-only") {
				t.Errorf("%s: %v", statement, err)
			}
		}
		if _, err := b.pool.Exec(ctx, `UPDATE ledger_accounts SET balance = -1 WHERE kind = 'wallet'`); err == nil {
			t.Error("a wallet went below zero")
		}
	})
}

func TestUnsoundRowsAreRefused(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	const run, key = `'0198f000-0000-7000-8000-000000000001'`, `0198f000-0000-7000-8000-000000000001`
	for values, sound := range map[string]bool{ // key, kind, owner, run, amount, accounts, amounts
		`'grant:a', 'grant', gen_random_uuid(), NULL, 1, '{100,1}', '{1,-1}'`:                                true,
		`'merge_in:a', 'merge_in', gen_random_uuid(), NULL, 1, '{100,4}', '{1,-1}'`:                          true,
		`'hold:` + key + `', 'hold', gen_random_uuid(), ` + run + `, 1, '{100,101}', '{-1,1}'`:               true,
		`'settle:` + key + `', 'capture', gen_random_uuid(), ` + run + `, 3, '{100,101,2,3}', '{2,-5,4,-1}'`: true,
		`'refund:a', 'refund', gen_random_uuid(), ` + run + `, 0, '{100,2,1}', '{1,-2,1}'`:                   true,
		`'a', 'gift', gen_random_uuid(), NULL, 1, '{100,1}', '{1,-1}'`:                                       false,
		`'grant:b', 'grant', gen_random_uuid(), NULL, -1, '{100,1}', '{1,-1}'`:                               false,
		`'hold:b', 'hold', gen_random_uuid(), ` + run + `, 1, '{100,101}', '{-1,1}'`:                         false,
		`'hold:', 'hold', gen_random_uuid(), NULL, 1, '{100,101}', '{-1,1}'`:                                 false,
		`'release:` + key + `', 'release', gen_random_uuid(), ` + run + `, 1, '{100,101}', '{1,-1}'`:         false,
		`'capture:` + key + `', 'capture', gen_random_uuid(), ` + run + `, 1, '{100,101}', '{1,-1}'`:         false,
		`'settle:', 'capture', gen_random_uuid(), NULL, 1, '{100,101}', '{1,-1}'`:                            false,
		`'refund:b', 'refund', gen_random_uuid(), NULL, 1, '{100,2}', '{1,-1}'`:                              false,
		`'grant:c', 'grant', gen_random_uuid(), NULL, 1, '{100}', '{1}'`:                                     false,
		`'grant:c', 'grant', gen_random_uuid(), NULL, 1, '{100}', '{0}'`:                                     false,
		`'grant:c', 'grant', gen_random_uuid(), NULL, 1, '{}', '{}'`:                                         false,
		`'grant:d', 'grant', gen_random_uuid(), NULL, 1, '{100,1}', '{1,1}'`:                                 false,
		`'grant:e', 'grant', gen_random_uuid(), NULL, 1, '{100,1}', '{1,NULL}'`:                              false,
		`'grant:f', 'grant', gen_random_uuid(), NULL, 1, '{100,1,2}', '{1,-1}'`:                              false,
		`'grant:g', 'grant', gen_random_uuid(), NULL, 1, '{100,1,2,3}', '{1,-1,1,1}'`:                        false,
		`'grant:h', 'grant', gen_random_uuid(), NULL, 1, '{100,1,2,3,4}', '{1,1,1,1,-4}'`:                    false,
	} {
		_, err := b.pool.Exec(t.Context(), `INSERT INTO ledger_transfers (key, kind, owner, run_id, amount, accounts, amounts) VALUES (`+values+`)`)
		wantSound(t, values, sound, err, "ledger_transfer_is_sound")
	}
	const someone, other = `'0198f000-0000-7000-8000-00000000000a'`, `'0198f000-0000-7000-8000-00000000000b'`
	for values, sound := range map[string]bool{ // kind, owner, merged_into, merged_root
		`'wallet', ` + someone + `, NULL, NULL`: true, `'hold', ` + someone + `, ` + other + `, ` + other: true,
		`'revenue', ` + other + `, NULL, NULL`: false, `'wallet', NULL, NULL, NULL`: false, `'savings', ` + other + `, NULL, NULL`: false,
		`'wallet', ` + other + `, ` + someone + `, NULL`: false, `'wallet', ` + other + `, NULL, ` + someone: false, `'wallet', ` + other + `, ` + other + `, ` + other: false,
		`'credit', NULL, ` + someone + `, ` + someone: false,
	} {
		_, err := b.pool.Exec(t.Context(), `INSERT INTO ledger_accounts (kind, owner, merged_into, merged_root) VALUES (`+values+`)`)
		wantSound(t, values, sound, err, "ledger_account_is_sound")
	}
	b.user(t, 5)
	for change, sound := range map[string]bool{
		`balance = balance + 1`: true, `merged_into = gen_random_uuid(), merged_root = gen_random_uuid()`: true,
		`kind = 'savings'`: false, `owner = NULL`: false, `merged_into = owner, merged_root = owner`: false, `merged_into = gen_random_uuid(), merged_root = NULL`: false,
	} {
		_, err := b.pool.Exec(t.Context(), `UPDATE ledger_accounts SET `+change+` WHERE kind = 'hold' AND owner IS NOT NULL`)
		wantSound(t, change, sound, err, "ledger_account_is_sound")
	}
}

// wantSound makes sure that a row was refused by the constraint, unless it is sound.
func wantSound(t *testing.T, values string, sound bool, err error, constraint string) {
	t.Helper()
	var refused *pgconn.PgError
	if sound != (err == nil) || !sound && (!errors.As(err, &refused) || refused.ConstraintName != constraint) {
		t.Errorf("a row of %s: %v, want it refused by %s: %t", values, err, constraint, !sound)
	}
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	user := b.user(t, 100)
	b.must(t, func(tx pgx.Tx) error { return b.Hold(t.Context(), tx, user, uuid.NewString(), 40) })
	if err := b.RollUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if report := b.balances(t); report.OpenHolds != 1 || report.Held != 40 {
		t.Errorf("got %+v", report)
	}
	if _, err := b.pool.Exec(t.Context(), `UPDATE ledger_accounts SET balance = balance + 1 WHERE owner = $1`, user); err != nil {
		t.Fatal(err)
	}
	report, err := b.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Problems) != 3 { // two accounts off their entries, and the holds
		t.Errorf("got %s", report)
	}
}

// TestCheckIsQuickWhateverPostgresBelieves checks the books of many people with open holds as Postgres sees them right after a burst: its
// statistics are of a house without people.
func TestCheckIsQuickWhateverPostgresBelieves(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	exec := func(sql string) {
		t.Helper()
		if _, err := b.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	check := func() time.Duration {
		t.Helper()
		began := time.Now()
		if report := b.balances(t); report.OpenHolds != 5000 {
			t.Error(report)
		}
		return time.Since(began)
	}
	exec(`ALTER TABLE ledger_accounts SET (autovacuum_enabled = off)`)
	exec(`ALTER TABLE ledger_transfers SET (autovacuum_enabled = off)`)
	exec(`ANALYZE ledger_accounts`)
	exec(`WITH people AS (SELECT gen_random_uuid() AS id FROM generate_series(1, 5000)),
		a AS (INSERT INTO ledger_accounts (kind, owner) SELECT unnest(ARRAY['wallet', 'hold']), id FROM people RETURNING id, kind, owner)
		INSERT INTO ledger_transfers (key, kind, owner, amount, note, accounts, amounts)
			SELECT 'grant:' || owner, 'grant', owner, 1, '', ARRAY[1, id], ARRAY[-1, 1] FROM a WHERE kind = 'wallet'`)
	exec(`ANALYZE ledger_transfers`)
	exec(`INSERT INTO ledger_transfers (key, kind, owner, run_id, amount, note, accounts, amounts)
		SELECT 'hold:' || w.owner, 'hold', w.owner, w.owner, 1, '', ARRAY[w.id, h.id], ARRAY[-1, 1]
		FROM ledger_accounts w JOIN ledger_accounts h ON h.owner = w.owner AND h.kind = 'hold' WHERE w.kind = 'wallet'`)
	exec(`UPDATE ledger_accounts SET balance = CASE kind WHEN 'hold' THEN 1 WHEN 'credit' THEN -5000 ELSE 0 END`)
	misled := check()
	exec(`ANALYZE`)
	if informed := check(); misled > 10*informed {
		t.Errorf("%v, with statistics %v", misled, informed)
	}
}

// TestLedgerRaces lets many race for few wallets and looks at the books afterwards.
func TestLedgerRaces(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	rapid.Check(t, func(rt *rapid.T) {
		users := []string{b.user(t, 500), b.user(t, 100), b.user(t, 0)}
		runs := make([]string, rapid.IntRange(1, 6).Draw(rt, "runs"))
		for i := range runs {
			runs[i] = uuid.NewString()
		}
		type step struct {
			op, user, run int
			amount        NanoUSD
		}
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				op: rapid.IntRange(0, 4).Draw(rt, "op"), user: rapid.IntRange(0, len(users)-1).Draw(rt, "user"),
				run: rapid.IntRange(0, len(runs)-1).Draw(rt, "run"), amount: NanoUSD(rapid.Int64Range(0, 200).Draw(rt, "amount")),
			}
		}), 1, 24).Draw(rt, "steps")
		var wait sync.WaitGroup
		for _, s := range steps {
			wait.Go(func() {
				ctx, run := t.Context(), runs[s.run]
				err := b.do(ctx, func(tx pgx.Tx) error {
					switch s.op {
					case 0, 1:
						return b.Hold(ctx, tx, users[s.user], run, s.amount)
					case 2:
						return b.Capture(ctx, tx, run, s.amount)
					case 3:
						return b.Release(ctx, tx, run, "")
					}
					return b.Refund(ctx, tx, run, run, "")
				})
				var short ErrInsufficient
				if err != nil && !errors.As(err, &short) && !errors.Is(err, ErrNothingCaptured) {
					t.Error(err)
				}
			})
		}
		wait.Go(func() {
			if err := b.RollUp(t.Context()); err != nil {
				t.Error(err)
			}
		})
		wait.Wait()
		b.balances(t)
		for _, user := range users {
			if got, err := b.Balance(t.Context(), user); err != nil || got.Available < 0 || got.Held < 0 {
				t.Errorf("balance %+v, %v", got, err)
			}
		}
	})
}
