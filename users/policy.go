package users

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// policyLife is how long what is in memory is taken for true without asking the database whether it changed.
const policyLife = 2 * time.Second

// policy is all that decides about access and limits. It does not change once made.
type policy struct {
	version int64
	rules   map[ruleKey]bool // allow or deny
	tools   map[Place][]string
	limits  map[string]LimitSettings // by account, for those that have any
	mutes   map[string]time.Time     // until when accounts may run nothing
	merged  map[string]string        // today's ids of accounts with other ones
}

type ruleKey struct {
	kind     RuleKind
	platform string
	subject  string
	where    Place
}

// policyCache keeps the policy. When it is old one caller asks whether it changed, and the others go on with it.
type policyCache struct {
	mu       sync.Mutex
	current  *policy
	checked  time.Time
	stale    bool
	checking bool
}

// forget makes the next caller look, after a change by this process.
func (c *policyCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale = true
}

func (c *policyCache) get(ctx context.Context, s *Store) (*policy, error) {
	c.mu.Lock()
	now := s.config.Now()
	p, usable := c.current, c.current != nil && !c.stale
	if usable && (c.checking || now.Sub(c.checked) < policyLife) {
		c.mu.Unlock()
		return p, nil
	}
	c.checking, c.stale = true, false
	c.mu.Unlock()

	fresh, err := readPolicy(ctx, s.pool, p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checking = false
	if err != nil {
		c.stale = c.stale || !usable
		return nil, err
	}
	if c.current == nil || fresh.version >= c.current.version {
		c.current, c.checked = fresh, now
	}
	return c.current, nil
}

// readPolicy gives the present policy: the old one where nothing has changed.
func readPolicy(ctx context.Context, pool *pgxpool.Pool, old *policy) (*policy, error) {
	var version int64
	if err := pool.QueryRow(ctx, `SELECT version FROM access_version`).Scan(&version); err != nil {
		return nil, err
	}
	if old != nil && old.version == version {
		return old, nil
	}
	fresh := &policy{rules: map[ruleKey]bool{}, tools: map[Place][]string{}, limits: map[string]LimitSettings{}, mutes: map[string]time.Time{}, merged: map[string]string{}}
	err := pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(`SELECT version FROM access_version`).QueryRow(func(row pgx.Row) error { return row.Scan(&fresh.version) })
		batch.Queue(`SELECT ` + ruleColumns + ` FROM access_rules`).Query(fresh.readRules)
		batch.Queue(`SELECT platform, kind, place, tools FROM access_tools`).Query(fresh.readTools)
		batch.Queue(`SELECT user_id::text, own, at_once, per_day, streams, day_cap, month_cap, upload_bytes, result_bytes, confirm_percent FROM user_limits`).Query(fresh.readLimits)
		batch.Queue(`SELECT user_id::text, until FROM user_mutes`).Query(fresh.readMutes)
		// Only merges of people with rules, limits or mutes matter here.
		batch.Queue(`SELECT u.id::text, u.merged_into::text FROM users u WHERE u.merged_into IN (
			SELECT user_id FROM user_limits UNION SELECT user_id FROM user_mutes UNION SELECT subject::uuid FROM access_rules WHERE kind = 'account')`).Query(fresh.readMerged)
		return tx.SendBatch(ctx, batch).Close()
	})
	return fresh, err
}

func (p *policy) readRules(rows pgx.Rows) error {
	rules, err := pgx.CollectRows(rows, scanRule)
	for _, r := range rules {
		p.rules[ruleKey{r.Kind, r.Platform, r.Subject, r.Where}] = r.Allow
	}
	return err
}

func (p *policy) readTools(rows pgx.Rows) error {
	var place Place
	var tools []string
	_, err := pgx.ForEachRow(rows, []any{&place.Platform, &place.Kind, &place.ID, &tools}, func() error {
		p.tools[place] = append([]string{}, tools...)
		return nil
	})
	return err
}

func (p *policy) readLimits(rows pgx.Rows) error {
	var account string
	var own bool
	var l Limits
	_, err := pgx.ForEachRow(rows, []any{&account, &own, &l.AtOnce, &l.PerDay, &l.Streams, &l.DayCap, &l.MonthCap, &l.UploadBytes, &l.ResultBytes, &l.ConfirmPercent}, func() error {
		settings := p.limits[account]
		settings.put(own, l)
		p.limits[account] = settings
		return nil
	})
	return err
}

func (p *policy) readMutes(rows pgx.Rows) error {
	var account string
	var until time.Time
	_, err := pgx.ForEachRow(rows, []any{&account, &until}, func() error {
		p.mutes[account] = until
		return nil
	})
	return err
}

func (p *policy) readMerged(rows pgx.Rows) error {
	var id, now string
	_, err := pgx.ForEachRow(rows, []any{&id, &now}, func() error {
		p.merged[id] = now
		return nil
	})
	return err
}

// today gives the id by which an account with rules, limits or a mute goes.
func (p *policy) today(accountID string) string {
	if now, ok := p.merged[accountID]; ok {
		return now
	}
	return accountID
}

// Refresh has the next question about access be answered by what the database has now.
func (s *Store) Refresh() { s.policy.forget() }
