package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/claims"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/price"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/runs/write"
)

// Worker claims runs and takes them to their ends.
type Worker struct {
	*store.Env
	Store   *store.Store
	Hub     *store.Hub
	Pricer  *price.Pricer
	Writer  *write.Writer
	stopper *Stopper
	closer  *Closer

	process    *claims.Process // the sign of life behind what is claimed here
	Slots      *slots
	queuesIdle chan struct{}   // closed when nothing of the queues is under way any more
	strays     map[string]bool // runs claimed here that the last round of the reaper saw nobody work on
	round      int             // of whose turn it is, see claim

	full    map[string]map[string]registry.Tool // tools for which there was no place, by service and id
	filling sync.Mutex                          // guards full
}

// StopTimeout bounds each of the last things that Stop does, when its own time is over or nearly so.
const StopTimeout = time.Second

const (
	claimEvery  = 500 * time.Millisecond // a look at the queue, should no news of it come
	restEvery   = 2 * time.Second        // the same where the last look found nothing in it
	claimPause  = 2 * time.Millisecond   // gathers news and free slots
	claimAtOnce = 128
)

// A run's row is its job, and claimed_by says who works on it. claimBegunSQL takes what was begun and is nobody's, oldest first; of the
// rest ClaimSQL takes what a service has places for, by turns over the accounts.
const (
	claimBegunSQL = `
	WITH free AS MATERIALIZED (
		SELECT id FROM runs WHERE ended_at IS NULL AND claimed_by IS NULL AND claims > 0 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
	UPDATE runs r SET claimed_by = $1, claims = r.claims + 1 FROM free WHERE r.id = free.id RETURNING r.id::text, r.service, r.account_id::text, false`

	ClaimSQL = `SELECT run::text, $2::text, account::text, true FROM runs_claim($1, $2, $3, $4, $5, $6)`

	// giveBackSQL puts a run back into the queue of which nothing was sent.
	giveBackSQL = `UPDATE runs SET claimed_by = NULL, claims = 0 WHERE id = $1 AND claimed_by = $2 AND ended_at IS NULL`
)

// claimFree works on runs from the queue until the service stops.
func (s *Worker) claimFree() {
	poll := time.NewTicker(claimEvery)
	defer poll.Stop()
	for {
		err := s.claim(s.Base)
		if err != nil && s.Base.Err() == nil {
			s.Log.WarnContext(s.Base, "taking runs from the queue failed", "error", err)
		}
		if !s.awaitRuns(poll.C, err == nil) {
			return
		}
	}
}

// awaitRuns waits until the queue is worth a look; false: the service stops. looked says that the last look worked.
func (s *Worker) awaitRuns(poll <-chan time.Time, looked bool) bool {
	began := time.Now()
	for {
		select {
		case <-s.Stopping:
			return false
		case <-s.Slots.Wake:
			return s.Sleep(s.Base, claimPause) == nil
		case <-poll:
			if !looked || s.Slots.mayWait() || time.Since(began) >= restEvery {
				return true
			}
		}
	}
}

// claim takes as many runs from the queue as there are slots: what was begun first, and then what each service has room for. The
// services take turns as the accounts do, so that none takes all the slots that are left here.
func (s *Worker) claim(ctx context.Context) error {
	free := s.Slots.reserve(claimAtOnce)
	if free == 0 {
		return nil
	}
	queues := make(map[string]bool)
	found, services, err := s.ClaimBegun(ctx, free)
	more := len(found) == free
	for i, service := range services {
		share := (free - len(found) + len(services) - i - 1) / (len(services) - i)
		room := min(share, s.Slots.room(service, s.room(service)))
		var next []claimed
		if room > 0 && err == nil {
			next, err = s.ClaimOf(ctx, service, room)
		}
		found = append(found, next...)
		full, _ := s.fullTools(service)
		queues[service] = room <= 0 || len(next) == room || len(full) > 0
		more = more || len(next) == share
	}
	s.Slots.occupy(free, found, more, queues)
	for _, c := range found {
		go s.Tend(c.ID, c.First, nil)
	}
	return err
}

// ClaimBegun takes what was begun, and lists the services that have runs in the queue, beginning with the one whose turn it is.
func (s *Worker) ClaimBegun(ctx context.Context, limit int) (found []claimed, services []string, err error) {
	batch := &pgx.Batch{}
	batch.Queue(claimBegunSQL, s.Instance, limit).Query(func(rows pgx.Rows) error {
		found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[claimed])
		return err
	})
	batch.Queue(`SELECT runs_services()`).Query(func(rows pgx.Rows) error {
		services, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err := s.Config.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, nil, err
	}
	if len(services) > 1 {
		s.round++
		turn := s.round % len(services)
		services = append(services[turn:len(services):len(services)], services[:turn]...)
	}
	return found, services, nil
}

// ClaimOf takes runs of a service, from the accounts whose turn it is.
func (s *Worker) ClaimOf(ctx context.Context, service string, limit int) ([]claimed, error) {
	after := cmp.Or(s.Store.Served(service), uuid.Nil.String())
	full, kept := s.fullTools(service)
	rows, _ := s.Config.Pool.Query(ctx, ClaimSQL, s.Instance, service, after, full, kept, limit)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[claimed])
	if n := len(found); n > 0 {
		s.Store.Serve(service, found[n-1].AccountID)
	}
	return found, err
}

// room is how many runs a service would begin now.
func (s *Worker) room(service string) int {
	if placer, ok := runs.Extra[registry.Placer](s.Config.Providers[service]); ok {
		return placer.Places()
	}
	return math.MaxInt
}

// RoomFor is room for runs of one tool.
func (s *Worker) RoomFor(tool registry.Tool) int {
	if placer, ok := runs.Extra[registry.Placer](s.Config.Providers[tool.Service]); ok && !placer.HasPlace(tool) {
		return 0
	}
	return s.room(tool.Service)
}

// fullTools lists the tools of a service for which there was no place and is none, and with them the groups that have one all the same, as tool and
// group.
func (s *Worker) fullTools(service string) (full, kept []string) {
	s.filling.Lock()
	defer s.filling.Unlock()
	full, kept = []string{}, []string{}
	placer, _ := runs.Extra[registry.Placer](s.Config.Providers[service])
	for id, tool := range s.full[service] {
		if s.RoomFor(tool) > 0 {
			delete(s.full[service], id)
			continue
		}
		full = append(full, id)
		if placer != nil {
			for _, group := range placer.PlacesKept(tool) {
				kept = append(kept, id+" "+group)
			}
		}
	}
	return full, kept
}

// giveBack puts a run back into the queue for which its provider had no place. It is the first again when there is one; until then
// runs of this tool stay where they are.
func (s *Worker) giveBack(ctx context.Context, r *store.Record) error {
	s.filling.Lock()
	if s.full[r.Tool.Service] == nil {
		s.full[r.Tool.Service] = make(map[string]registry.Tool)
	}
	s.full[r.Tool.Service][r.Tool.ToolID] = r.Tool
	s.filling.Unlock()
	s.Slots.wait(r.Tool.Service)
	if _, err := s.Config.Pool.Exec(ctx, giveBackSQL, r.ID, s.Instance); err != nil {
		return &ownError{fmt.Errorf("put run %s back into the queue: %w", r.ID, err)}
	}
	return nil
}

// Tend works on a run that has a slot until it is over or the service stops. Troubles of our own, such as a
// database that is away, are waited out. known is the run as it was accepted just now, if it was.
func (s *Worker) Tend(runID string, first bool, known *store.Record) {
	defer s.Slots.Leave(runID)
	runtime.Gosched() // anyone who waits for an answer, or is about to ask for the next run, goes before the work
	for try := 1; !s.IsStopping(); try++ {
		err := s.advanceGuarded(s.Working, runID, first, known)
		if err == nil || errors.Is(err, store.ErrStopping) || s.Working.Err() != nil {
			return
		}
		s.Log.WarnContext(s.Working, "the work on a run was interrupted, another try follows", "run", runID, "try", try, "error", err)
		first, known = false, nil
		if s.Sleep(s.Working, store.Backoff(s.Config.RetryBase, try, time.Minute)) != nil {
			return
		}
	}
}

// advanceGuarded is advance, with a panic as an error.
func (s *Worker) advanceGuarded(ctx context.Context, runID string, first bool, known *store.Record) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the work on the run panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return s.advance(ctx, runID, first, known)
}

// endWork ends the work on runs and queues: what waits for a provider ends at once, steps get the time of Config.SoftStop.
func (s *Worker) endWork(ctx context.Context) error {
	s.Slots.close()
	soft, cancel := context.WithTimeout(ctx, s.Config.SoftStop)
	defer cancel()
	if s.idleWithin(soft) {
		return nil
	}
	s.Hurry(store.ErrStopping)
	hard, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopTimeout)
	defer cancel()
	if s.idleWithin(hard) {
		return nil
	}
	return errors.New("the work on some runs did not end in time")
}

// idleWithin waits until nobody works here any more; false: ctx ended before.
func (s *Worker) idleWithin(ctx context.Context) bool {
	for _, idle := range []<-chan struct{}{s.Slots.idle, s.queuesIdle} {
		select {
		case <-idle:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// queues are what waits beside the runs.
func (s *Worker) queues() []*claims.Queue {
	return []*claims.Queue{s.closer.deliveries, s.stopper.stops, s.stopper.copies}
}

// longestLife is more than any run takes from its acceptance to its delivery.
const longestLife = runs.SummaryLife + startWithin + store.MaxTimeout + deliverWithin

// release gives up all that a process had claimed, which began then: open runs go back to the queue, and results that it may not have
// brought to that of the deliveries.
func (s *Worker) release(ctx context.Context, tx pgx.Tx, worker string, since time.Time) (freed int64, err error) {
	open, err := tx.Exec(ctx, `UPDATE runs SET claimed_by = NULL WHERE id IN (
		SELECT id FROM runs WHERE ended_at IS NULL AND claimed_by = $1 ORDER BY id FOR UPDATE)`, worker)
	if err != nil {
		return 0, err
	}
	rows, _ := tx.Query(ctx, `UPDATE runs SET claimed_by = NULL WHERE id IN (
		SELECT id FROM runs WHERE id >= $2 AND claimed_by = $1 AND deliverable AND ended_at IS NOT NULL AND delivered_at IS NULL ORDER BY id FOR UPDATE)
		RETURNING id::text`, worker, store.FirstID(since.Add(-longestLife)))
	unsure, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, err
	}
	if err := s.closer.deliveries.Add(ctx, tx, unsure...); err != nil {
		return 0, err
	}
	waiting := int64(len(unsure))
	for _, q := range s.queues() {
		n, err := q.Release(ctx, tx, worker)
		if err != nil {
			return 0, err
		}
		waiting += n
	}
	if open.RowsAffected() > 0 {
		_, err = tx.Exec(ctx, store.OfferSQL)
	}
	if err == nil && waiting > 0 {
		_, err = tx.Exec(ctx, store.OfferDeliverySQL)
	}
	return open.RowsAffected() + waiting, err
}
