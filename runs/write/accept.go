package write

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

// admission is what decides about requests: the runs that they repeat, how many runs of their accounts are
// under way, and what is used of their limits.
type admission struct {
	used  *usages
	first map[[2]string]string // by account and key
	under map[string]int       // by account
}

// queueAdmission adds the locks and questions that decide about requests to batch. With neither keys nor
// a limit there is nothing to ask.
func (s *Writer) queueAdmission(batch *pgx.Batch, c *changes) admission {
	asked := admission{first: make(map[[2]string]string), under: make(map[string]int)}
	var accounts, keyed, keys, groupIDs []string
	if s.Config.PerAccount > 0 {
		for _, f := range c.finishes {
			accounts = append(accounts, f.Record.AccountID)
		}
	}
	for _, a := range c.accepts {
		if a.Idem != "" {
			keyed, keys = append(keyed, a.Record.AccountID), append(keys, a.Idem)
		}
		if a.Idem != "" || s.Config.PerAccount > 0 || a.limited() {
			accounts = append(accounts, a.Record.AccountID)
		}
		groupIDs = append(groupIDs, groupsOf(&a.Record)...)
	}
	if len(accounts) == 0 {
		return asked
	}
	batch.Queue(store.LockAccounts, slices.Concat(accounts, groupIDs))
	if len(keys) > 0 {
		batch.Queue(`SELECT r.account_id::text, r.idempotency_key, r.id::text FROM runs r
			JOIN unnest($1::uuid[], $2::text[]) AS k (account, key) ON r.account_id = k.account AND r.idempotency_key = k.key`, keyed, keys).
			Query(asked.readFirst)
	}
	if s.Config.PerAccount > 0 {
		batch.Queue(`SELECT account_id::text, count(*) FROM runs WHERE account_id = ANY ($1::uuid[]) AND ended_at IS NULL
			AND NOT waiting AND status <> 'awaiting_confirmation' GROUP BY account_id`, accounts).
			Query(asked.readUnder)
	}
	asked.used = s.limiter.queueLimits(batch, c.accepts)
	return asked
}

func (d admission) readFirst(rows pgx.Rows) error {
	var account, key, id string
	_, err := pgx.ForEachRow(rows, []any{&account, &key, &id}, func() error {
		d.first[[2]string{account, key}] = id
		return nil
	})
	return err
}

func (d admission) readUnder(rows pgx.Rows) error {
	var account string
	var count int
	_, err := pgx.ForEachRow(rows, []any{&account, &count}, func() error {
		d.under[account] = count
		return nil
	})
	return err
}

// decide marks repeated requests, those that limits refuse, and the runs that must wait for others of their account.
func (d admission) decide(limit int, accepts []*Acceptance) {
	beside := make(map[[2]string]*Acceptance)
	for _, a := range accepts {
		account := a.Record.AccountID
		if key := [2]string{account, a.Idem}; a.Idem != "" {
			a.Repeats, a.Beside = d.first[key], beside[key]
			if a.Repeats != "" {
				continue
			}
			d.first[key], beside[key] = a.Record.ID, a
		}
		if d.used.admit(a); a.Refused != nil {
			continue
		}
		if limit > 0 && a.Record.Status == runs.StatusQueued {
			a.Record.Waiting = d.under[account] >= limit
			d.under[account]++
		}
	}
}

// acceptSQL inserts runs; with acceptMoreSQL some have a context, a preview or a group. Most have none, and pay for none.
const (
	acceptSQL     = acceptInto + ")\n" + acceptSelect + "\n" + acceptFrom + ") a"
	acceptMoreSQL = acceptInto + ", context, preview, group_id, payer)\n" + acceptSelect +
		", nullif(context, '')::json, nullif(preview, '')::json, nullif(group_id, '')::uuid, nullif(payer, '')::uuid\n" + acceptFrom +
		", unnest($22::text[]) AS context, unnest($23::text[]) AS preview, unnest($24::text[]) AS group_id, unnest($25::text[]) AS payer) a"

	acceptInto = `
	INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, waiting, claimed_by, claims, inputs, sources, shape, quote, promised,
		platform, target, deliverable, parent, idempotency_key, timeout_ms, created_at, budget`
	acceptSelect = `
	SELECT id::uuid, account::uuid, tool, version, service, status, waiting, nullif(worker, ''), (worker <> '')::int, inputs::json, sources::json, shape, quote::json, promised,
		platform, nullif(target, '')::json, deliverable, nullif(parent, '')::uuid, nullif(key, ''), timeout_ms, created, nullif(budget, '')`
	acceptFrom = `
	FROM (SELECT unnest($1::text[]) AS id, unnest($2::text[]) AS account, unnest($3::text[]) AS tool, unnest($4::text[]) AS version,
		unnest($5::text[]) AS service, unnest($6::text[]) AS status, unnest($7::boolean[]) AS waiting, unnest($8::text[]) AS inputs,
		unnest($9::text[]) AS sources, unnest($10::bigint[]) AS shape, unnest($11::text[]) AS quote, unnest($12::bigint[]) AS promised,
		unnest($13::text[]) AS platform, unnest($14::text[]) AS target, unnest($15::boolean[]) AS deliverable, unnest($16::text[]) AS parent,
		unnest($17::text[]) AS key, unnest($18::bigint[]) AS timeout_ms, unnest($19::timestamptz[]) AS created, unnest($20::text[]) AS worker,
		unnest($21::text[]) AS budget`
)

// queueAccepts adds to batch the insertion of the runs' rows, all in one statement.
func (s *Writer) queueAccepts(batch *pgx.Batch, accepts []*Acceptance) {
	if len(accepts) == 0 {
		return
	}
	worker := func(a *Acceptance) string {
		if a.Kept && !a.Record.Waiting {
			return s.Instance
		}
		return ""
	}
	args := []any{
		column(accepts, func(a *Acceptance) string { return a.Record.ID }),
		column(accepts, func(a *Acceptance) string { return a.Record.AccountID }),
		column(accepts, func(a *Acceptance) string { return a.Key.ID }),
		column(accepts, func(a *Acceptance) string { return a.Key.Version }),
		column(accepts, func(a *Acceptance) string { return a.Record.Tool.Service }),
		column(accepts, func(a *Acceptance) string { return string(a.Record.Status) }),
		column(accepts, func(a *Acceptance) bool { return a.Record.Waiting }),
		column(accepts, func(a *Acceptance) string { return string(a.Raw.Inputs) }),
		column(accepts, func(a *Acceptance) string { return string(a.Raw.Sources) }),
		column(accepts, func(a *Acceptance) int64 { return a.Shape }),
		column(accepts, func(a *Acceptance) string { return string(a.Raw.Quote) }),
		column(accepts, func(a *Acceptance) int64 { return int64(a.Record.Quote.Held()) }),
		column(accepts, func(a *Acceptance) string { return a.Record.Origin.Platform }),
		column(accepts, func(a *Acceptance) string { return string(a.Record.Origin.Target) }),
		column(accepts, func(a *Acceptance) bool { return a.Record.Deliverable }),
		column(accepts, func(a *Acceptance) string { return a.Record.Parent }),
		column(accepts, func(a *Acceptance) string { return a.Idem }),
		column(accepts, func(a *Acceptance) int64 { return a.Record.Timeout.Milliseconds() }),
		column(accepts, func(a *Acceptance) time.Time { return a.Record.CreatedAt }),
		column(accepts, worker),
		column(accepts, func(a *Acceptance) string { return a.Budget.Name }),
	}
	if slices.ContainsFunc(accepts, func(a *Acceptance) bool {
		return a.Raw.Context != nil || a.Raw.Preview != nil || a.Record.Group != ""
	}) {
		batch.Queue(acceptMoreSQL, append(args, column(accepts, func(a *Acceptance) string { return string(a.Raw.Context) }),
			column(accepts, func(a *Acceptance) string { return string(a.Raw.Preview) }),
			column(accepts, func(a *Acceptance) string { return a.Record.Group }),
			column(accepts, func(a *Acceptance) string { return a.Record.Payer }))...)
	} else {
		batch.Queue(acceptSQL, args...)
	}
	queueLent(batch, accepts)
	offer := slices.ContainsFunc(accepts, func(a *Acceptance) bool {
		return worker(a) == "" && a.Record.Status == runs.StatusQueued && !a.Record.Waiting
	})
	if offer {
		batch.Queue(store.OfferSQL)
	}
}

// lentSQL makes files that runs take their accounts', too, and keeps them for now: a sweep may be under way. What a text names is only kept for who
// has it.
const lentSQL = `
	INSERT INTO asset_owners (account_id, hash, kind, size)
	SELECT l.account::uuid, a.hash, 'lent', a.size FROM unnest($1::text[], $2::text[], $3::boolean[]) AS l (account, hash, taken) JOIN assets a ON a.hash = l.hash
	WHERE l.taken OR EXISTS (SELECT FROM asset_owners o WHERE o.account_id = l.account::uuid AND o.hash = l.hash) FOR KEY SHARE OF a
	ON CONFLICT (account_id, hash) DO UPDATE SET put_at = now()`

// lent is a file that an account's run names.
type lent struct{ account, hash string }

// queueLent adds to batch that the accounts of new runs have the files which these take.
func queueLent(batch *pgx.Batch, accepts []*Acceptance) {
	taken := map[lent]bool{} // false: only a text names it
	for _, a := range accepts {
		if !bytes.Contains(a.Raw.Inputs, []byte(`"asset:`)) {
			continue
		}
		for _, hash := range runs.Hashes.FindAll(a.Raw.Inputs, -1) {
			of := lent{a.Record.AccountID, string(hash)}
			if _, known := taken[of]; !known {
				taken[of] = false
			}
		}
		for _, f := range a.Record.Tool.InputSchema {
			if !f.Type.IsMedia() {
				continue
			}
			for _, hash := range runs.FilesIn(a.Record.Inputs[f.Name]) {
				taken[lent{a.Record.AccountID, hash}] = true
			}
		}
	}
	if len(taken) == 0 {
		return
	}
	files := slices.SortedFunc(maps.Keys(taken), func(a, b lent) int {
		return cmp.Or(strings.Compare(a.account, b.account), strings.Compare(a.hash, b.hash))
	})
	batch.Queue(lentSQL, column(files, func(l lent) string { return l.account }), column(files, func(l lent) string { return l.hash }),
		column(files, func(l lent) bool { return taken[l] }))
}
