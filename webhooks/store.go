package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Status is the state of a callback.
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
	Copies     int    // how often it came, since it was taken up
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
	groupSize    = 256    // callbacks written together
	maxHanded    = 10_000 // callbacks; beyond it no more are taken into memory
	writeTimeout = 8 * time.Second
)

// arrival is an event that is being stored.
type arrival struct {
	event
	fresh bool // nobody had stored it before, or it was given up since: it is ours to work on
}

// store writes an event for good, together with whatever else comes at the time.
func (b *Inbox) store(ctx context.Context, e event) error {
	if !b.open() {
		return errStorage
	}
	defer b.posting.Done()
	a := &arrival{event: e}
	if err := b.writes.Do(ctx, a); err != nil {
		return err
	}
	if !a.fresh {
		b.metrics.duplicates.WithLabelValues(e.Service).Inc()
	}
	return nil
}

// write stores what has arrived at the same time: a commit is the dear part.
func (b *Inbox) write(ctx context.Context, arrivals []*arrival) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	// What there is no room for is due at once, for the first that looks.
	if err := b.insert(ctx, arrivals, b.hasRoom()); err != nil {
		return err
	}
	b.hand(arrivals)
	return nil
}

func (b *Inbox) hasRoom() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.handed) < b.room
}

// hand passes on what is ours to work on: what was stored with a claim, at this try or at an earlier one.
func (b *Inbox) hand(group []*arrival) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range group {
		if a.fresh && a.Attempts > 0 {
			b.handed = append(b.handed, a.Event)
		}
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// eventKey is what makes an event that event.
type eventKey struct{ service, id string }

func (e *event) key() eventKey { return eventKey{e.Service, e.EventID} }

// insertSQL stores events. Most are new; which are not, because they come again or came to another machine at the same time, it leaves
// alone and does not give back.
const insertSQL = insertInto + `
	ON CONFLICT (service, event_id) DO NOTHING ` + insertGives

// repeatSQL is insertSQL for those that are there: a repeat of what was given up is worked on again.
const repeatSQL = insertInto + `
	ON CONFLICT (service, event_id) DO UPDATE SET copies = CASE WHEN e.status IN ('orphan', 'dead') THEN 1 ELSE e.copies + 1 END,
		status = CASE WHEN e.status = 'done' THEN 'done' ELSE 'stored' END,
		ended_at = CASE WHEN e.status = 'done' THEN e.ended_at END,
		attempts = CASE WHEN e.status IN ('orphan', 'dead') THEN excluded.attempts ELSE e.attempts END,
		due_at = CASE WHEN e.status IN ('orphan', 'dead') THEN excluded.due_at ELSE e.due_at END,
		received_at = CASE WHEN e.status IN ('orphan', 'dead') THEN excluded.received_at ELSE e.received_at END ` + insertGives

const (
	insertInto = `
	INSERT INTO webhook_events AS e (service, event_id, run_id, provider_id, state, body, received_at, attempts, due_at)
	SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]), unnest($5::text[]), unnest($6::bytea[]),
		unnest($7::timestamptz[]), $9, $8`
	insertGives = `RETURNING service, event_id, id, copies = 1`
)

// insert stores events, claimed by us or for anybody; copies of one count as one.
func (b *Inbox) insert(ctx context.Context, group []*arrival, claimed bool) error {
	due, attempts := b.cfg.Now(), 0
	if claimed {
		due, attempts = due.Add(claimFor), 1
	}
	first := map[eventKey]*arrival{}
	for _, a := range group {
		if key := a.key(); first[key] == nil {
			first[key] = a
		}
	}
	for _, sql := range []string{insertSQL, repeatSQL} {
		// What has an id is stored: by the first statement, or by an earlier try that failed at the second.
		left := slices.DeleteFunc(slices.Collect(maps.Values(first)), func(a *arrival) bool { return a.ID != 0 })
		if len(left) == 0 {
			break
		}
		// In one order, so that two machines with the same events don't wait for each other.
		slices.SortFunc(left, func(a, b *arrival) int {
			return cmp.Or(strings.Compare(a.Service, b.Service), strings.Compare(a.EventID, b.EventID))
		})
		if err := b.insertBy(ctx, sql, left, first, due, attempts); err != nil {
			return fmt.Errorf("store callbacks: %w", err)
		}
	}
	return nil
}

// insertBy stores the arrivals, and notes with those that are among first what was given back.
func (b *Inbox) insertBy(ctx context.Context, sql string, arrivals []*arrival, first map[eventKey]*arrival, due time.Time, attempts int) error {
	var services, ids, runs, providers, states []string
	var bodies [][]byte
	var times []time.Time
	for _, a := range arrivals {
		services, ids, runs, providers = append(services, a.Service), append(ids, a.EventID), append(runs, a.RunID), append(providers, a.ProviderID)
		states, bodies, times = append(states, a.State), append(bodies, a.body), append(times, a.ReceivedAt)
	}
	rows, _ := b.cfg.Pool.Query(ctx, sql, services, ids, runs, providers, states, bodies, times, due, attempts)
	var key eventKey
	var id int64
	var fresh bool
	_, err := pgx.ForEachRow(rows, []any{&key.service, &key.id, &id, &fresh}, func() error {
		a := first[key]
		a.ID, a.Status, a.Attempts, a.fresh = id, StatusStored, attempts, fresh
		return nil
	})
	return err
}
