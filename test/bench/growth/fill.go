package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/users"
)

// failed tells which runs of the history failed: a fiftieth, for nothing.
const failed = "c.n % 50 = 7"

// chunk is how many runs are written in one transaction.
const chunk = 50_000

// credit is what everybody is given: more than anybody spends, and for a hundred thousand people less than an int64 holds.
const credit = 1000 * billing.Dollar

// fill copies one complete run and its owner, as the program itself made them, until the house has its people and its history:
// so the rows are what they are today. A fiftieth of the runs belongs to one person, as the cube of a random number has it.
func (h *house) fill(ctx context.Context, o options, history int) error {
	first := uuid.NewString()
	err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO users (id, display_name) VALUES ($1, 'Person')`, first); err != nil {
			return err
		}
		if err := h.ledger.EnsureWallet(ctx, tx, first); err != nil {
			return err
		}
		return h.ledger.Grant(ctx, tx, first, credit, "growth:"+first, "growth")
	})
	if err != nil {
		return err
	}
	sample, err := h.sample(ctx, first)
	if err != nil {
		return err
	}
	steps := []string{
		peopleSQL(first, o.people), toolsSQL(o.tools),
		`CREATE TABLE growth.run AS SELECT * FROM runs WHERE id = '` + sample + `'`,
		`CREATE TABLE growth.transfers AS SELECT * FROM ledger_transfers WHERE run_id = '` + sample + `'`,
	}
	if err := h.exec(ctx, append([]string{`CREATE SCHEMA growth`}, steps...)...); err != nil {
		return err
	}
	columns, err := h.runColumns(ctx)
	if err != nil {
		return err
	}
	indexes, err := h.dropIndexes(ctx)
	if err != nil {
		return err
	}
	var parts [][]string
	for from := 1; from <= history; from += chunk {
		parts = append(parts, historySQL(columns, from, min(from+chunk-1, history), history, o))
	}
	if err := h.sideBySide(ctx, parts); err != nil {
		return err
	}
	if err := h.sideBySide(ctx, indexes); err != nil {
		return err
	}
	err = h.exec(ctx, `UPDATE ledger_accounts a SET balance = s.sum FROM (SELECT account_id, sum(amount) AS sum FROM ledger_entries GROUP BY 1) s WHERE s.account_id = a.id AND a.balance <> s.sum`,
		`DELETE FROM ledger_pending`, `VACUUM (ANALYZE)`, `SELECT pg_stat_reset()`)
	if err != nil {
		return err
	}
	return h.meet(ctx, o)
}

// fast are settings of a server of our own while it is filled, and no longer: what a crash would lose then is thrown away anyhow.
var fast = []string{"fsync = off", "full_page_writes = off", "max_wal_size = '16GB'", "checkpoint_timeout = '1h'", "autovacuum = off"}

// hurry has a server be fast instead of durable; done has it be durable again, with all of it on disk.
func hurry(ctx context.Context, dsn string) (done func() error, err error) {
	set := func(statements ...string) error {
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return err
		}
		for _, s := range statements {
			if _, failed := conn.Exec(ctx, s, pgx.QueryExecModeSimpleProtocol); failed != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", s, failed))
			}
		}
		return errors.Join(err, conn.Close(ctx))
	}
	var statements []string
	for _, s := range fast {
		statements = append(statements, `ALTER SYSTEM SET `+s)
	}
	const follow = `SELECT pg_reload_conf()`
	return func() error { return set(`ALTER SYSTEM RESET ALL`, follow, `CHECKPOINT`) }, set(append(statements, follow)...)
}

// sideBySide executes lists of statements, as many at once as there are processors.
func (h *house) sideBySide(ctx context.Context, lists [][]string) error {
	var all errgroup.Group
	all.SetLimit(runtime.NumCPU())
	for _, list := range lists {
		all.Go(func() error { return h.exec(ctx, list...) })
	}
	return all.Wait()
}

// meet chooses the people who are measured.
func (h *house) meet(ctx context.Context, o options) (err error) {
	rows, _ := h.pool.Query(ctx, `SELECT id::text FROM growth.people WHERE rank % $1 = 0 ORDER BY rank LIMIT 100`, max(o.people/100, 1))
	h.people, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return err
}

// filled tells whether the house has its history from an earlier measurement.
func (h *house) filled(ctx context.Context) (yes bool, err error) {
	err = h.pool.QueryRow(ctx, `SELECT to_regclass('growth.people') IS NOT NULL`).Scan(&yes)
	return yes, err
}

// dropIndexes drops the indexes of what the history is made of, but those that hold a rule, and gives the statements that make them again:
// made at once at the end they take less.
func (h *house) dropIndexes(ctx context.Context) ([][]string, error) {
	rows, _ := h.pool.Query(ctx, `SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
		WHERE indrelid IN ('runs'::regclass, 'ledger_transfers'::regclass, 'gallery_items'::regclass) AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`)
	var name, made string
	var drop []string
	var again [][]string
	_, err := pgx.ForEachRow(rows, []any{&name, &made}, func() error {
		drop, again = append(drop, `DROP INDEX `+name), append(again, []string{made})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return again, h.exec(ctx, drop...)
}

// sample gives a complete run, and keeps all tools as the house does.
func (h *house) sample(ctx context.Context, account string) (string, error) {
	if err := h.open(ctx); err != nil {
		return "", err
	}
	run, err := h.accept(ctx, account, toolID(0))
	for left := true; left && err == nil; {
		err = h.pool.QueryRow(ctx, `SELECT delivered_at IS NULL FROM runs WHERE id = $1`, run.ID).Scan(&left)
	}
	if err != nil {
		return "", err
	}
	for t := range h.registry.Snapshot().Each() {
		if _, err := h.KeepTool(ctx, *t); err != nil {
			return "", err
		}
	}
	return run.ID, h.Stop(ctx)
}

// exec executes statements by the simple protocol, with commits that may be lost: nothing of this is kept.
func (h *house) exec(ctx context.Context, statements ...string) error {
	return h.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		for _, s := range append([]string{`SET synchronous_commit = off`, `SET work_mem = '64MB'`, `SET maintenance_work_mem = '1GB'`,
			`SET max_parallel_maintenance_workers = 0`, `SET session_replication_role = replica`}, statements...) {
			if _, err := c.Exec(ctx, s, pgx.QueryExecModeSimpleProtocol); err != nil {
				return fmt.Errorf("%.80q: %w", s, err)
			}
		}
		_, err := c.Exec(ctx, `RESET ALL`)
		return err
	})
}

// peopleSQL makes people as the first one is, with wallets, credit, and what one platform knows of them.
func peopleSQL(first string, n int) string {
	return fmt.Sprintf(`
		CREATE TABLE growth.people AS SELECT rank, CASE rank WHEN 0 THEN '%[1]s'::uuid ELSE gen_random_uuid() END AS id FROM generate_series(0, %[2]d - 1) rank;
		INSERT INTO users (id, display_name) SELECT id, 'Person ' || rank FROM growth.people WHERE rank > 0;
		INSERT INTO user_identities (platform, external_id, user_id, name) SELECT 'bench', rank::text, id, 'Person ' || rank FROM growth.people;
		INSERT INTO ledger_accounts (kind, owner) SELECT a.kind, p.id FROM growth.people p, ledger_accounts a WHERE a.owner = '%[1]s' AND p.rank > 0;
		ALTER TABLE growth.people ADD wallet bigint, ADD hold bigint;
		UPDATE growth.people p SET wallet = w.id, hold = o.id FROM ledger_accounts w, ledger_accounts o WHERE w.owner = p.id AND w.kind = 'wallet' AND o.owner = p.id AND o.kind = 'hold';
		INSERT INTO ledger_transfers (key, kind, owner, amount, note, accounts, amounts)
			SELECT replace(t.key, '%[1]s', p.id::text), t.kind, p.id, t.amount, t.note, array_replace(t.accounts, f.wallet, p.wallet), t.amounts
			FROM growth.people p, growth.people f, ledger_transfers t WHERE p.rank > 0 AND f.rank = 0 AND t.owner = f.id AND t.kind = 'grant';
		CREATE UNIQUE INDEX ON growth.people (rank);
		ANALYZE growth.people`, first, n)
}

// toolsSQL numbers the tools.
func toolsSQL(n int) string {
	return fmt.Sprintf(`CREATE TABLE growth.tools AS SELECT right(tool_id, 5)::int AS rank, tool_id, version FROM run_tools; CREATE UNIQUE INDEX ON growth.tools (rank); ANALYZE growth.tools;
		SELECT 1 / (count(*) = %d)::int FROM growth.tools`, n)
}

// runColumns are the columns of runs, each with what it is in a copy.
func (h *house) runColumns(ctx context.Context) (map[string]string, error) {
	rows, err := h.pool.Query(ctx, `SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'runs'`)
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	columns := make(map[string]string, len(names))
	for _, name := range names {
		switch {
		case strings.HasSuffix(name, "_at"):
			columns[name] = "c.at + (r." + name + " - r.created_at)"
		default:
			columns[name] = "r." + name
		}
	}
	columns["id"], columns["account_id"], columns["tool_id"], columns["tool_version"] = "c.id", "c.owner", "c.tool_id", "c.version"
	columns["inputs"] = `json_build_object('prompt', c.prompt, 'seed', c.n, 'steps', 20)`
	for name, value := range map[string]string{
		"status": `'failed'`, "cost": "0", "outputs": "NULL",
		"error": `json_build_object('code', 'PROVIDER_ERROR', 'message', 'The engine has no model ' || c.prompt)`,
	} {
		columns[name] = "CASE WHEN " + failed + " THEN " + value + " ELSE " + columns[name] + " END"
	}
	return columns, err
}

// historySQL makes a part of the history: runs over a year, their transfers, their places in the gallery. Prompts are four of a thousand words.
func historySQL(columns map[string]string, from, to, history int, o options) []string {
	var names, values []string
	for name, value := range columns {
		names, values = append(names, name), append(values, value)
	}
	return []string{
		`DROP TABLE IF EXISTS part`,
		fmt.Sprintf(`CREATE TEMPORARY TABLE part AS
			SELECT c.n, c.at, c.prompt, p.id AS owner, p.wallet, p.hold, t.tool_id, t.version,
				(lpad(to_hex((extract(epoch FROM c.at) * 1000)::bigint), 12, '0') || '7' || substr(md5(c.n::text), 1, 3) || '8' || substr(md5(c.n::text), 4, 15))::uuid AS id
			FROM (SELECT n, now() - interval '1 day' - interval '365 days' * (1 - n / %[3]d.0) AS at, floor(%[4]d * random() ^ 3)::int AS rank, floor(%[5]d * random() ^ 3)::int AS tool, concat_ws(' '`+strings.Repeat(`, 'word' || floor(1000 * random() ^ 2)`, 4)+`) AS prompt
				FROM generate_series(%[1]d, %[2]d) n OFFSET 0) c
			JOIN growth.people p ON p.rank = c.rank JOIN growth.tools t ON t.rank = c.tool`, from, to, history, o.people, o.tools),
		`INSERT INTO runs (` + strings.Join(names, ", ") + `) SELECT ` + strings.Join(values, ", ") + ` FROM part c, growth.run r ORDER BY c.n`,
		`INSERT INTO ledger_transfers (key, kind, owner, run_id, amount, note, created_at, accounts, amounts)
			SELECT replace(t.key, t.run_id::text, c.id::text), t.kind, c.owner, c.id, t.amount, t.note, c.at, array_replace(array_replace(t.accounts, f.wallet, c.wallet), f.hold, c.hold), t.amounts
			FROM part c, growth.transfers t, growth.people f WHERE f.rank = 0 AND NOT ` + failed + ` ORDER BY c.n, t.id`,
		// A part of each piece as the program does it, and the rest, which has to be the same, without a call for each run.
		`SELECT count(gallery_add(r)) FROM part c JOIN runs r ON r.id = c.id WHERE r.outputs IS NOT NULL AND c.n % 100 = 0`,
		`INSERT INTO gallery_items (run_id, n, account_id, tool_id, words)
			SELECT c.id, 0, c.owner, c.tool_id, array_to_tsvector(string_to_array(c.tool_id || ' ' || c.prompt, ' ')) FROM part c WHERE NOT ` + failed + ` AND c.n % 100 <> 0 ORDER BY c.n`,
		`SELECT 1 / (bool_and(g.words = array_to_tsvector(string_to_array(c.tool_id || ' ' || c.prompt, ' '))))::int FROM part c JOIN gallery_items g ON g.run_id = c.id WHERE c.n % 100 = 0`,
	}
}

// session signs somebody in and gives the secret of the cookie.
func (h *house) session(ctx context.Context, account string) (string, error) {
	return users.New(h.pool, users.Config{}).NewSession(ctx, users.Session{AccountID: account, Way: "token"})
}
