package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

const (
	claimSize   = 256
	gatherFor   = 20 * time.Millisecond
	claimFor    = 30 * time.Second // anyone who claims an event and dies leaves it to others after that
	askTimeout  = 10 * time.Second
	matchWithin = 15 * time.Minute // a callback may be faster than the answer that brings the run's id
	retryBase   = time.Second      // doubling, to
	retryMax    = 2 * time.Minute
	maxAttempts = 12 // that failed for another reason
)

// processAll works on what is stored, and throws away what is old, until ctx ends. What was stored here is handed over in
// memory; in the database it looks for what is due again and for what others left.
func (b *Inbox) processAll(ctx context.Context) {
	tick := time.NewTicker(b.cfg.Poll)
	defer tick.Stop()
	var pruned time.Time
	for ctx.Err() == nil {
		err := b.processDue(ctx)
		if now := b.cfg.Now(); err == nil && now.Sub(pruned) > pruneEvery {
			pruned, err = now, b.prune(ctx)
		}
		b.report(ctx, err)
		for ticked := false; !ticked && ctx.Err() == nil; {
			select {
			case <-ctx.Done():
			case <-tick.C:
				ticked = true
			case <-b.wake:
				b.gather(ctx)
				b.report(ctx, b.process(ctx, b.takeHanded()))
			}
		}
	}
}

func (b *Inbox) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		b.cfg.Logger.ErrorContext(ctx, "working on callbacks failed; it is tried again", "error", err)
	}
}

// gather waits a moment for more: working on many together costs hardly more than on one.
func (b *Inbox) gather(ctx context.Context) {
	timer := time.NewTimer(gatherFor)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (b *Inbox) takeHanded() []Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := b.handed
	b.handed = nil
	return events
}

// processDue claims what is due and works on it.
func (b *Inbox) processDue(ctx context.Context) error {
	for {
		now := b.cfg.Now()
		rows, _ := b.cfg.Pool.Query(ctx, `
			UPDATE webhook_events SET due_at = $2, attempts = attempts + 1
			WHERE id = ANY (ARRAY(SELECT id FROM webhook_events WHERE status = 'stored' AND due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED))
			RETURNING `+eventColumns, now, now.Add(claimFor), claimSize)
		events, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Event])
		if err != nil {
			return fmt.Errorf("claim callbacks: %w", err)
		}
		if err := b.process(ctx, events); err != nil || len(events) < claimSize {
			return err
		}
	}
}

// process works on events that are claimed. What is cut off, or could not be marked, is due again when the claim is over.
func (b *Inbox) process(ctx context.Context, events []Event) (err error) {
	for page := range slices.Chunk(events, claimSize) {
		for i := range page {
			b.settle(ctx, &page[i])
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err = cmp.Or(err, b.mark(ctx, page)) // the first error is enough; the runs of the other pages are to hear of their callbacks all the same
	}
	return err
}

// settle has the event's run look at its provider, and decides what becomes of the event.
func (b *Inbox) settle(ctx context.Context, e *Event) {
	known, err := b.ask(ctx, e)
	now := b.cfg.Now()
	pause := min(retryBase<<min(e.Attempts-1, 20), retryMax)
	switch {
	case err == nil && known:
		e.Status, e.Error = StatusDone, ""
	case err == nil && now.Sub(e.ReceivedAt)+pause <= matchWithin:
		e.DueAt, e.Error = now.Add(pause), "there is no such run yet"
	case err == nil:
		e.Status, e.Error = StatusOrphan, "there is no such run"
	case e.Attempts < maxAttempts:
		e.DueAt, e.Error = now.Add(pause), clean(err.Error())
	default:
		e.Status, e.Error = StatusDead, clean(err.Error())
		b.cfg.Logger.ErrorContext(ctx, "a callback was given up; signalbox webhooks replay tries it again", "service", e.Service, "event", e.ID, "run", e.RunID, "error", err)
	}
	if e.Status != StatusStored {
		e.EndedAt = &now
	}
}

// ask is Config.Callback with a time limit and with a panic as an error.
func (b *Inbox) ask(ctx context.Context, e *Event) (known bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			b.cfg.Logger.ErrorContext(ctx, "working on a callback panicked", "service", e.Service, "event", e.ID, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return b.cfg.Callback(ctx, e.Service, e.RunID, e.ProviderID)
}

// markSQL finds each event by its key and changes it at the place where it was found: any join of the two is one of all
// with all where the planner, which knows nothing of what has just come, expects a single event to be open.
//
// Its commit does not wait for the disk, so that the events which come meanwhile don't wait for it either: a mark that is lost
// when the database itself crashes leaves its event claimed, and when that is over the run looks at its provider once more.
const markSQL = `
	UPDATE webhook_events e SET status = m.status, error = m.error, due_at = m.due, ended_at = m.ended
	FROM (SELECT set_config('synchronous_commit', 'off', true) AS off) quick
		CROSS JOIN unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[]) AS m (id, status, error, due, ended)
		CROSS JOIN LATERAL (SELECT ctid AS place FROM webhook_events WHERE id = m.id LIMIT 1) f
	WHERE quick.off IS NOT NULL AND e.ctid = f.place AND CASE WHEN f.place IS NOT NULL THEN e.status = 'stored' END
	RETURNING e.id`

// marksTried is how often mark looks for an event, which a repeat of it may have moved in between.
const marksTried = 2

// mark stores the state of events.
func (b *Inbox) mark(ctx context.Context, events []Event) error {
	left := slices.Clone(events)
	for try := 0; try < marksTried && len(left) > 0; try++ {
		marked, err := b.markOnce(ctx, left)
		if err != nil {
			return fmt.Errorf("mark callbacks: %w", err)
		}
		left = slices.DeleteFunc(left, func(e Event) bool {
			if marked[e.ID] {
				b.count(e)
			}
			return marked[e.ID]
		})
	}
	return nil
}

// markOnce gives the events that it marked. What somebody else has ended meanwhile, since our claim was over, stays as it is.
func (b *Inbox) markOnce(ctx context.Context, events []Event) (map[int64]bool, error) {
	ids, statuses, reasons := make([]int64, len(events)), make([]string, len(events)), make([]string, len(events))
	due, ended := make([]time.Time, len(events)), make([]*time.Time, len(events))
	for i, e := range events {
		ids[i], statuses[i], reasons[i], due[i], ended[i] = e.ID, string(e.Status), e.Error, e.DueAt, e.EndedAt
	}
	// Planned anew each time: a plan made for an empty table reads the whole of a large one.
	rows, _ := b.cfg.Pool.Query(ctx, markSQL, pgx.QueryExecModeCacheDescribe, ids, statuses, reasons, due, ended)
	marked := make(map[int64]bool, len(events))
	var id int64
	_, err := pgx.ForEachRow(rows, []any{&id}, func() error {
		marked[id] = true
		return nil
	})
	return marked, err
}

// count tells the metrics of an event that was ended and marked so.
func (b *Inbox) count(e Event) {
	if e.Status != StatusStored {
		b.metrics.ended.WithLabelValues(e.Service, string(e.Status)).Inc()
		b.metrics.lag.WithLabelValues(e.Service).Observe(e.EndedAt.Sub(e.ReceivedAt).Seconds())
	}
}

// prune forgets what is old: what was done after eight days, which is longer than any sender repeats it, the rest
// after thirty.
func (b *Inbox) prune(ctx context.Context) error {
	now := b.cfg.Now()
	_, err := b.cfg.Pool.Exec(ctx, `
		DELETE FROM webhook_events WHERE received_at < $1 AND (status = 'done' OR received_at < $2)`, now.Add(-keepEvents), now.Add(-keepLeft))
	return errs.Wrap(err, "prune callbacks")
}
