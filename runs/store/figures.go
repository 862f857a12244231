package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/locks"
)

// Figures of a long time are added up from blocks that were counted before (table run_figures), so that nobody reads a whole history. A
// block is what its runs say and nothing else: it can be thrown away and counted anew at any time, so that none is lost or counted twice
// when processes die, and times without blocks are read from the runs.

// blockLevel is a length of blocks, with how far back they are kept: as far as somebody asks for steps of that length, or longer blocks are made of them.
type blockLevel struct{ width, keep time.Duration }

const (
	blockDay = 24 * time.Hour
	// longestFigures is how far back figures are found by blocks; what is older is read from the runs.
	longestFigures = 94 * blockDay
)

var blockLevels = []blockLevel{
	{time.Minute, 70 * time.Minute}, {5 * time.Minute, 2 * time.Hour}, {30 * time.Minute, 2 * blockDay}, {3 * time.Hour, 9 * blockDay}, {12 * time.Hour, 33 * blockDay},
	{blockDay, longestFigures}, {2 * blockDay, longestFigures}, {4 * blockDay, longestFigures}, {8 * blockDay, longestFigures}, {16 * blockDay, longestFigures}, {32 * blockDay, longestFigures},
}

const (
	// toldLate is how long after its end a run may be written, or change, and is not told of by the trigger of migration 0754.
	toldLate = 30 * time.Second
	// countAfter is how long after its end a block is counted at the latest, whatever may still write into it.
	countAfter = 5 * time.Minute
	// countAtOnce is the longest block that is counted from its runs; longer ones are made of shorter ones, so that a long history is taken in in pieces.
	countAtOnce = 3 * time.Hour
)

// block is a stretch of time whose figures may be there.
type block struct {
	width time.Duration
	at    int64 // Unix seconds
}

func (b block) from() time.Time  { return time.Unix(b.at, 0).UTC() }
func (b block) until() time.Time { return b.from().Add(b.width) }

// blocks are those whose figures are there.
type blocks map[block]bool

const blocksSQL = `SELECT minutes, at FROM run_figures f WHERE tool_id = '' AND at >= $1 AND at < $2
	AND NOT EXISTS (SELECT FROM run_figures_late l WHERE l.at >= f.at AND l.at < f.at + f.minutes * interval '1 minute')`

// blocksBetween finds the blocks that begin in a time and hold everything that ended in them.
func blocksBetween(ctx context.Context, tx pgx.Tx, from, to time.Time) (blocks, error) {
	there := blocks{}
	var minutes int
	var at time.Time
	rows, _ := tx.Query(ctx, blocksSQL, from, to)
	_, err := pgx.ForEachRow(rows, []any{&minutes, &at}, func() error {
		there[block{time.Duration(minutes) * time.Minute, at.Unix()}] = true
		return nil
	})
	return there, err
}

// sources is where figures come from: blocks, and stretches that are read from the runs. Each has the number of the sum it belongs to.
type sources struct {
	blockKeys, minutes []int32
	at                 []time.Time
	gapKeys            []int32
	since, until       []time.Time
}

// ofBlocks are the parameters of blocksPartSQL, ofGaps those of gapsPartSQL.
func (s *sources) ofBlocks() []any { return []any{s.blockKeys, s.minutes, s.at} }
func (s *sources) ofGaps() []any   { return []any{s.gapKeys, s.since, s.until} }

// planned puts parameters together, for a statement that is planned anew each time: a plan for any number of stretches is one for long ones.
func planned(params ...[]any) []any {
	return slices.Concat(append([][]any{{pgx.QueryExecModeExec}}, params...)...)
}

// cover adds what a stretch of time is made of: the longest blocks that are there, and what is between them.
func (s *sources) cover(key int32, there blocks, from, to time.Time) {
	open := false // the last gap ends here
	for at := from; at.Before(to); {
		if b, ok := there.longest(at, to); ok {
			s.blockKeys, s.minutes, s.at = append(s.blockKeys, key), append(s.minutes, int32(b.width/time.Minute)), append(s.at, at)
			at, open = b.until(), false
			continue
		}
		next := at.Truncate(blockLevels[0].width).Add(blockLevels[0].width)
		if next.After(to) {
			next = to
		}
		if open {
			s.until[len(s.until)-1] = next
		} else {
			s.gapKeys, s.since, s.until = append(s.gapKeys, key), append(s.since, at), append(s.until, next)
		}
		at, open = next, true
	}
}

// longest gives the longest block that is there, begins at a time and does not go beyond another.
func (there blocks) longest(at, to time.Time) (block, bool) {
	for _, l := range slices.Backward(blockLevels) {
		b := block{l.width, at.Unix()}
		if there[b] && b.from().Equal(at) && !b.until().After(to) {
			return b, true
		}
	}
	return block{}, false
}

// tookBase is the ratio between durations that are told apart, tookLeast the shortest: a percentile is off by less than 2.5 % for it.
const (
	tookBase  = 1.05
	tookLeast = time.Millisecond
)

var tookSQL = `floor(ln(greatest(extract(epoch FROM r.ended_at - r.created_at)::double precision / ` + sqlNumber(tookLeast.Seconds()) + `, 1)) / ln(` + sqlNumber(tookBase) + `::double precision))::smallint`

func sqlNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// blocksPartSQL gives the figures of blocks by key, service and tool: those that fit a condition. Its parameters are a key, a length in minutes and
// a beginning of each. OFFSET 0 has each block found by itself: a planner that thinks there are many reads the whole table instead.
func blocksPartSQL(condition string) string {
	return `SELECT b.key, f.* FROM unnest($1::int[], $2::int[], $3::timestamptz[]) b (key, minutes, at), LATERAL (
		SELECT f.tool_id, f.service, f.runs, f.succeeded, f.failed, f.revenue, f.cost, f.quoted_low, f.quoted_high, f.nano_seconds, f.took, f.took_runs
		FROM run_figures f WHERE f.minutes = b.minutes AND f.at = b.at AND ` + condition + ` OFFSET 0) f`
}

// gapsPartSQL gives the same of each run that ended in gaps. Its parameters, the first of that number, are a key, a beginning and an end of each.
func gapsPartSQL(first int) string {
	return fmt.Sprintf(`SELECT g.key, r.tool_id, r.service, 1::bigint AS runs, s.succeeded, (r.status IN ('failed', 'timed_out'))::int AS failed, r.cost AS revenue, greatest(r.full_cost, r.cost) AS cost,
		s.succeeded * coalesce((r.quote ->> 'low')::bigint, 0) AS quoted_low, s.succeeded * r.promised AS quoted_high, CASE r.receipt ->> 'unit' WHEN 'second' THEN r.nano_units ELSE 0 END AS nano_seconds,
		CASE s.succeeded WHEN 1 THEN ARRAY[%[4]s] END AS took, ARRAY[1::bigint] AS took_runs
		FROM unnest($%[1]d::int[], $%[2]d::timestamptz[], $%[3]d::timestamptz[]) g (key, since, until), LATERAL (SELECT * FROM runs r WHERE r.ended_at >= g.since AND r.ended_at < g.until OFFSET 0) r,
		LATERAL (SELECT (r.status = 'succeeded')::int AS succeeded) s`, first, first+1, first+2, tookSQL)
}

// Conditions of blocksPartSQL.
const (
	ofHouse      = `f.tool_id = ''`
	ofTools      = `f.tool_id <> ''`
	ofTheseTools = `f.tool_id = ANY ($4)`
)

const sumsSQL = `coalesce(sum(runs), 0)::bigint, coalesce(sum(succeeded), 0)::bigint, coalesce(sum(failed), 0)::bigint, coalesce(sum(revenue), 0)::bigint,
	coalesce(sum(cost), 0)::bigint, coalesce(sum(quoted_low), 0)::bigint, coalesce(sum(quoted_high), 0)::bigint, coalesce(sum(nano_seconds), 0)::bigint`

var countSQL = `WITH parts AS MATERIALIZED (` + blocksPartSQL(ofTools) + ` UNION ALL ` + gapsPartSQL(4) + `),
	took AS (SELECT tool_id, service, array_agg(took ORDER BY took) AS took, array_agg(n ORDER BY took) AS n
		FROM (SELECT coalesce(tool_id, '') AS tool_id, coalesce(service, '') AS service, t.took, sum(t.n)::bigint AS n
			FROM parts p, unnest(p.took, p.took_runs) t (took, n) WHERE t.took IS NOT NULL GROUP BY GROUPING SETS ((t.took), (tool_id, service, t.took))) t GROUP BY 1, 2)
	INSERT INTO run_figures SELECT $7, $8, s.*, coalesce(took.took, '{}'), coalesce(took.n, '{}')
	FROM (SELECT coalesce(tool_id, '') AS tool_id, coalesce(service, '') AS service, ` + sumsSQL + ` FROM parts GROUP BY GROUPING SETS ((), (tool_id, service))) s
	LEFT JOIN took USING (tool_id, service)`

// errLater ends a pass whose time is up.
var errLater = errors.New("the rest is for the next pass")

// written finds out until when all ends of runs are written. A run that a transaction ends gets an end that is at most toldLate before that is
// written, or is told of by the trigger: so once all transactions are over that had begun to write at some time, nothing is
// missing that ended toldLate before that time.
type written struct {
	mu           sync.Mutex
	marked, over time.Time // when the mark was set; the latest mark before it that is passed
	mark         int64     // the transaction that set it: those before it have lower numbers
}

// look gives the database's time and until when all ends are written. Each look sets the mark for the next ones.
func (w *written) look(ctx context.Context, pool *pgxpool.Pool) (now, until time.Time, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var oldest, own int64
	err = pool.QueryRow(ctx, `SELECT now(), pg_snapshot_xmin(pg_current_snapshot())::text::bigint, pg_current_xact_id()::text::bigint`).Scan(&now, &oldest, &own)
	if err != nil {
		return now, until, err
	}
	if oldest > w.mark {
		w.over, w.marked, w.mark = w.marked, now, own
	}
	until = now.Add(-countAfter)
	if over := w.over.Add(-toldLate); over.After(until) {
		until = over
	}
	return now, until, nil
}

// counting is a pass over the blocks that are to be there.
type counting struct {
	tx       pgx.Tx
	there    blocks
	first    time.Time // when the first run ended
	until    time.Time // blocks that end later may still be written into
	deadline time.Time
	counted  bool
}

// CountFigures counts the figures of times that are over, the latest first, for about that long, and tells whether all are there. One process at a
// time does it; for others there is nothing to do meanwhile. Each call is one transaction.
func (s *Store) CountFigures(ctx context.Context, atMost time.Duration) (done bool, err error) {
	now, until, err := s.written.look(ctx, s.Config.Pool)
	if err != nil {
		return false, fmt.Errorf("count figures: %w", err)
	}
	err = pgx.BeginFunc(ctx, s.Config.Pool, func(tx pgx.Tx) error {
		var mine bool
		if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1) FROM (SELECT set_config('jit', 'off', true)) jit`, locks.Figures).Scan(&mine); err != nil || !mine {
			return err
		}
		_, err := tx.Exec(ctx, `WITH late AS (DELETE FROM run_figures_late RETURNING at)
			DELETE FROM run_figures f USING late WHERE f.tool_id = '' AND f.at <= late.at AND late.at < f.at + f.minutes * interval '1 minute'`)
		if err != nil {
			return err
		}
		var first *time.Time
		if err := tx.QueryRow(ctx, `SELECT min(ended_at) FROM runs`).Scan(&first); err != nil || first == nil {
			return err
		}
		there, err := blocksBetween(ctx, tx, now.Add(-longestFigures-blockDay), now)
		if err != nil {
			return err
		}
		c := counting{tx: tx, there: there, first: *first, until: until, deadline: time.Now().Add(atMost)}
		switch err := c.all(ctx, now); {
		case errors.Is(err, errLater):
			return nil
		case err != nil || !c.counted:
			done = err == nil
			return err
		}
		done = true
		return c.drop(ctx, now)
	})
	if err != nil {
		return false, fmt.Errorf("count figures: %w", err)
	}
	return done, nil
}

// all counts the blocks that are not there yet, short ones first.
func (c *counting) all(ctx context.Context, now time.Time) error {
	for _, l := range blockLevels {
		oldest := now.Add(-l.keep)
		for at := c.until.Truncate(l.width).Add(-l.width); !at.Before(oldest) && at.Add(l.width).After(c.first); at = at.Add(-l.width) {
			if err := c.have(ctx, block{l.width, at.Unix()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// have counts a block that is not there, and before it those that it is made of.
func (c *counting) have(ctx context.Context, b block) error {
	if c.there[b] {
		return nil
	}
	if b.width > countAtOnce {
		part := blockLevels[slices.IndexFunc(blockLevels, func(l blockLevel) bool { return l.width == b.width })-1].width
		for at := b.until().Add(-part); !at.Before(b.from()) && at.Add(part).After(c.first); at = at.Add(-part) {
			if err := c.have(ctx, block{part, at.Unix()}); err != nil {
				return err
			}
		}
	}
	if c.counted && time.Now().After(c.deadline) {
		return errLater
	}
	minutes := int32(b.width / time.Minute)
	if _, err := c.tx.Exec(ctx, `DELETE FROM run_figures WHERE minutes = $1 AND at = $2`, minutes, b.from()); err != nil {
		return err
	}
	var from sources
	from.cover(0, c.there, b.from(), b.until())
	if _, err := c.tx.Exec(ctx, countSQL, planned(from.ofBlocks(), from.ofGaps(), []any{minutes, b.from()})...); err != nil {
		return fmt.Errorf("%s from %s: %w", b.width, b.from(), err)
	}
	c.there[b], c.counted = true, true
	return nil
}

// drop throws away the blocks that are too old for their length.
func (c *counting) drop(ctx context.Context, now time.Time) error {
	old := &pgx.Batch{}
	for _, l := range blockLevels {
		old.Queue(`DELETE FROM run_figures WHERE minutes = $1 AND at < $2`, int32(l.width/time.Minute), now.Add(-l.keep))
	}
	return c.tx.SendBatch(ctx, old).Close()
}
