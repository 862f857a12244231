package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Status is what became of a callback.
type Status string

// The statuses. All but StatusStored are final, but a repeat of what was not done is worked on again.
const (
	StatusStored Status = "stored"
	StatusDone   Status = "done"
	StatusOrphan Status = "orphan" // there was no such run
	StatusDead   Status = "dead"   // working on it failed again and again
)

// Event is a callback as an operator sees it.
type Event struct {
	ID         int64
	Service    string
	EventID    string // unique for the service
	RunID      string // ours, or empty
	ProviderID string // the service's, or empty
	State      string // what it says of the run
	Copies     int    // how often it came
	Status     Status
	Attempts   int
	Error      string
	ReceivedAt time.Time
	DueAt      time.Time
	EndedAt    *time.Time // nil: it is worked on yet
}

// event is a callback on its way in.
type event struct {
	Event
	body []byte
}

const (
	writers      = 2   // at a time: while one waits for the disk the next gathers
	groupSize    = 256 // callbacks written together
	writeTimeout = 8 * time.Second
)

// arrival is one who waits for being stored.
type arrival struct {
	event
	done  chan error
	fresh bool // nobody had stored it before
}

// store writes an event for good, together with whatever else comes at the time.
func (b *Inbox) store(ctx context.Context, e event) error {
	if !b.open() {
		return errStorage
	}
	defer b.posting.Done()
	a := &arrival{event: e, done: make(chan error, 1)}
	select {
	case b.writes <- a:
	case <-ctx.Done():
		return fmt.Errorf("wait for others: %w", context.Cause(ctx))
	}
	if err := <-a.done; err != nil { // bounded by writeTimeout
		return err
	}
	if !a.fresh {
		b.metrics.duplicates.WithLabelValues(e.Service).Inc()
	}
	return nil
}

// write stores what arrives, many at a time under load: a commit is the dear part.
func (b *Inbox) write() {
	for a := range b.writes {
		group := []*arrival{a}
	gather:
		for len(group) < groupSize {
			select {
			case more, ok := <-b.writes:
				if !ok {
					break gather
				}
				group = append(group, more)
			default:
				break gather
			}
		}
		b.writeGroup(group)
	}
}

func (b *Inbox) writeGroup(group []*arrival) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	err := b.insert(ctx, group)
	for _, a := range group {
		if err != nil && len(group) > 1 { // a bad one spoils only itself
			a.done <- b.insert(ctx, []*arrival{a})
			continue
		}
		a.done <- err
	}
	b.look()
}

// look has the stored looked at.
func (b *Inbox) look() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// eventKey is what makes an event that event.
type eventKey struct{ service, id string }

// insert stores events; copies of one count as one. A repeat of what was given up is worked on again.
func (b *Inbox) insert(ctx context.Context, group []*arrival) error {
	first := map[eventKey]*arrival{}
	var services, ids, runs, providers, states []string
	var bodies [][]byte
	var times []time.Time
	for _, a := range group {
		key := eventKey{a.Service, a.EventID}
		if first[key] != nil {
			continue
		}
		first[key] = a
		services, ids, runs, providers = append(services, a.Service), append(ids, a.EventID), append(runs, a.RunID), append(providers, a.ProviderID)
		states, bodies, times = append(states, a.State), append(bodies, a.body), append(times, a.ReceivedAt)
	}
	rows, err := b.cfg.Pool.Query(ctx, `
		INSERT INTO webhook_events AS e (service, event_id, run_id, provider_id, state, body, received_at, due_at)
		SELECT service, event_id, run_id, provider_id, state, body, at, at
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::timestamptz[])
			AS s (service, event_id, run_id, provider_id, state, body, at)
		ORDER BY service, event_id -- so that two machines with the same events don't wait for each other
		ON CONFLICT (service, event_id) DO UPDATE SET copies = e.copies + 1,
			status = CASE WHEN e.status = 'done' THEN 'done' ELSE 'stored' END,
			ended_at = CASE WHEN e.status = 'done' THEN e.ended_at END,
			attempts = CASE WHEN e.status IN ('orphan', 'dead') THEN 0 ELSE e.attempts END,
			due_at = CASE WHEN e.status IN ('orphan', 'dead') THEN excluded.due_at ELSE e.due_at END,
			received_at = CASE WHEN e.status IN ('orphan', 'dead') THEN excluded.received_at ELSE e.received_at END
		RETURNING service, event_id, copies = 1`, services, ids, runs, providers, states, bodies, times)
	if err != nil {
		return fmt.Errorf("store callbacks: %w", err)
	}
	var key eventKey
	var fresh bool
	_, err = pgx.ForEachRow(rows, []any{&key.service, &key.id, &fresh}, func() error {
		first[key].fresh = fresh
		return nil
	})
	if err != nil {
		return fmt.Errorf("store callbacks: %w", err)
	}
	return nil
}
