package runs

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
	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/registry"
)

const (
	claimEvery  = 500 * time.Millisecond // a look at the queue, should no news of it come
	claimPause  = 2 * time.Millisecond   // gathers news and free places
	claimAtOnce = 128
)

// worker claims runs and takes them to their ends.
type worker struct {
	*env
	store   *store
	hub     *hub
	pricer  *pricer
	writer  *writer
	stopper *stopper
	closer  *closer

	process    *claims.Process // the sign of life behind what is claimed here
	desk       *desk
	delivering chan struct{}   // closed when no delivery of the queue is under way any more
	strays     map[string]bool // runs claimed here that the last round of the reaper saw nobody work on
	round      int             // of whose turn it is, see claim

	full    map[string]map[string]registry.Tool // tools for which there was no place, by service and id
	filling sync.Mutex                          // guards full
}

func newWorker(e *env, c *closer) *worker {
	s := &worker{
		env: e, store: c.store, hub: c.hub, pricer: c.pricer, writer: c.writer, stopper: c.stopper, closer: c,
		desk: newDesk(e.config.Workers), delivering: make(chan struct{}), full: make(map[string]map[string]registry.Tool),
	}
	s.process = claims.NewProcess(claims.ProcessConfig{
		Pool: e.config.Pool, Log: e.log, ID: e.instance, Table: "run_workers", Lock: locks.Worker,
		Channel: channel, Heard: s.hear, Again: func() { s.hub.refresh(s.hub.watchedElsewhere()) }, Release: s.release,
	})
	return s
}

// A run's row is its job, and claimed_by says who works on it. claimBegunSQL takes what was begun and is nobody's, oldest first; of the
// rest claimSQL takes what a service has places for, by turns over the accounts.
const (
	claimBegunSQL = `
	WITH free AS MATERIALIZED (
		SELECT id FROM runs WHERE ended_at IS NULL AND claimed_by IS NULL AND claims > 0 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
	UPDATE runs r SET claimed_by = $1, claims = r.claims + 1 FROM free WHERE r.id = free.id RETURNING r.id::text, r.service, r.account_id::text, false`

	claimSQL = `SELECT run::text, $2::text, account::text, true FROM runs_claim($1, $2, $3, $4, $5)`

	// giveBackSQL puts a run back into the queue of which nothing was sent.
	giveBackSQL = `UPDATE runs SET claimed_by = NULL, claims = 0 WHERE id = $1 AND claimed_by = $2 AND ended_at IS NULL`
)

// offerSQL tells every process that there are runs or deliveries in the queue, once the transaction is committed.
const offerSQL = `SELECT pg_notify('` + channel + `', ':')`

// claimFree works on runs from the queue until the service stops.
func (s *worker) claimFree() {
	poll := time.NewTicker(claimEvery)
	defer poll.Stop()
	for {
		if err := s.claim(s.base); err != nil && s.base.Err() == nil {
			s.log.WarnContext(s.base, "taking runs from the queue failed", "error", err)
		}
		select {
		case <-s.stopping:
			return
		case <-poll.C:
		case <-s.desk.wake:
			if s.sleep(s.base, claimPause) != nil {
				return
			}
		}
	}
}

// claimed is a run taken from the queue.
type claimed struct {
	ID        string
	Service   string
	AccountID string
	First     bool // nobody has worked on it before
}

// claim takes as many runs from the queue as there are places: what was begun first, and then what each service has room for. The
// services take turns as the accounts do, so that none takes all the places that are left here.
func (s *worker) claim(ctx context.Context) error {
	places := s.desk.reserve(claimAtOnce)
	if places == 0 {
		return nil
	}
	queues := make(map[string]bool)
	found, services, err := s.claimBegun(ctx, places)
	more := len(found) == places
	for i, service := range services {
		share := (places - len(found) + len(services) - i - 1) / (len(services) - i)
		room := min(share, s.desk.room(service, s.room(service)))
		var next []claimed
		if room > 0 && err == nil {
			next, err = s.claimOf(ctx, service, room)
		}
		found = append(found, next...)
		queues[service] = room <= 0 || len(next) == room || len(s.fullTools(service)) > 0
		more = more || len(next) == share
	}
	s.desk.occupy(places, found, more, queues)
	for _, c := range found {
		go s.tend(c.ID, c.First, nil)
	}
	return err
}

// claimBegun takes what was begun, and lists the services that have runs in the queue, beginning with the one whose turn it is.
func (s *worker) claimBegun(ctx context.Context, limit int) (found []claimed, services []string, err error) {
	batch := &pgx.Batch{}
	batch.Queue(claimBegunSQL, s.instance, limit).Query(func(rows pgx.Rows) error {
		found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[claimed])
		return err
	})
	batch.Queue(`SELECT runs_services()`).Query(func(rows pgx.Rows) error {
		services, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err := s.config.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, nil, err
	}
	if len(services) > 1 {
		s.round++
		turn := s.round % len(services)
		services = append(services[turn:len(services):len(services)], services[:turn]...)
	}
	return found, services, nil
}

// claimOf takes runs of a service, from the accounts whose turn it is.
func (s *worker) claimOf(ctx context.Context, service string, limit int) ([]claimed, error) {
	after := cmp.Or(s.store.served(service), uuid.Nil.String())
	rows, err := s.config.Pool.Query(ctx, claimSQL, s.instance, service, after, s.fullTools(service), limit)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[claimed])
	if n := len(found); n > 0 {
		s.store.serve(service, found[n-1].AccountID)
	}
	return found, err
}

// serve notes that an account had its turn.
func (s *store) serve(service, accountID string) {
	s.turning.Lock()
	defer s.turning.Unlock()
	s.turns[service] = accountID
}

// served is the account that had its turn last, or "".
func (s *store) served(service string) string {
	s.turning.Lock()
	defer s.turning.Unlock()
	return s.turns[service]
}

// lastServed lists whose turn it was last, by service.
func (s *store) lastServed() (services, accounts []string) {
	s.turning.Lock()
	defer s.turning.Unlock()
	for service, account := range s.turns {
		services, accounts = append(services, service), append(accounts, account)
	}
	return services, accounts
}

// room is how many runs a service would begin now.
func (s *worker) room(service string) int {
	if placer, ok := Extra[registry.Placer](s.config.Providers[service]); ok {
		return placer.Places()
	}
	return math.MaxInt
}

// roomFor is room for runs of one tool.
func (s *worker) roomFor(tool registry.Tool) int {
	if placer, ok := Extra[registry.Placer](s.config.Providers[tool.Service]); ok && !placer.HasPlace(tool) {
		return 0
	}
	return s.room(tool.Service)
}

// fullTools lists the tools of a service for which there was no place and is none.
func (s *worker) fullTools(service string) []string {
	s.filling.Lock()
	defer s.filling.Unlock()
	full := []string{}
	for id, tool := range s.full[service] {
		if s.roomFor(tool) > 0 {
			delete(s.full[service], id)
		} else {
			full = append(full, id)
		}
	}
	return full
}

// giveBack puts a run back into the queue for which its provider had no place. It is the first again when there is one; until then
// runs of this tool stay where they are.
func (s *worker) giveBack(ctx context.Context, r *record) error {
	s.filling.Lock()
	if s.full[r.Tool.Service] == nil {
		s.full[r.Tool.Service] = make(map[string]registry.Tool)
	}
	s.full[r.Tool.Service][r.Tool.ToolID] = r.Tool
	s.filling.Unlock()
	s.desk.wait(r.Tool.Service)
	if _, err := s.config.Pool.Exec(ctx, giveBackSQL, r.ID, s.instance); err != nil {
		return &ownError{fmt.Errorf("put run %s back into the queue: %w", r.ID, err)}
	}
	return nil
}

// tend works on a run that has a place until it is over or the service stops. Troubles of our own, such as a
// database that is away, are waited out. known is the run as it was accepted just now, if it was.
func (s *worker) tend(runID string, first bool, known *record) {
	defer s.desk.leave(runID)
	runtime.Gosched() // whoever waits for an answer, or is about to ask for the next run, goes before the work
	for try := 1; !s.isStopping(); try++ {
		err := s.advanceGuarded(s.working, runID, first, known)
		if err == nil || errors.Is(err, errStopping) || s.working.Err() != nil {
			return
		}
		s.log.WarnContext(s.working, "the work on a run was interrupted, another try follows", "run", runID, "try", try, "error", err)
		first, known = false, nil
		if s.sleep(s.working, backoff(s.config.RetryBase, try, time.Minute)) != nil {
			return
		}
	}
}

// advanceGuarded is advance, with a panic as an error.
func (s *worker) advanceGuarded(ctx context.Context, runID string, first bool, known *record) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the work on the run panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return s.advance(ctx, runID, first, known)
}

// endWork ends the work on runs and deliveries: what waits for a provider ends at once, steps get the time of Config.SoftStop.
func (s *worker) endWork(ctx context.Context) error {
	s.desk.close()
	soft, cancel := context.WithTimeout(ctx, s.config.SoftStop)
	defer cancel()
	if s.idleWithin(soft) {
		return nil
	}
	s.hurry(errStopping)
	hard, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if s.idleWithin(hard) {
		return nil
	}
	return errors.New("the work on some runs did not end in time")
}

// idleWithin waits until nobody works here any more; false: ctx ended before.
func (s *worker) idleWithin(ctx context.Context) bool {
	for _, idle := range []<-chan struct{}{s.desk.idle, s.delivering} {
		select {
		case <-idle:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// longestLife is more than any run takes from its acceptance to its delivery.
const longestLife = SummaryLife + startWithin + maxTimeout + deliverWithin

// release gives up all that a process had claimed, which began then: open runs go back to the queue, and results that it may not have
// brought to that of the deliveries.
func (s *worker) release(ctx context.Context, tx pgx.Tx, worker string, since time.Time) (freed int64, err error) {
	open, err := tx.Exec(ctx, `UPDATE runs SET claimed_by = NULL WHERE id IN (
		SELECT id FROM runs WHERE ended_at IS NULL AND claimed_by = $1 ORDER BY id FOR UPDATE)`, worker)
	if err != nil {
		return 0, err
	}
	rows, err := tx.Query(ctx, `UPDATE runs SET claimed_by = NULL WHERE id IN (
		SELECT id FROM runs WHERE id >= $2 AND claimed_by = $1 AND deliverable AND ended_at IS NOT NULL AND delivered_at IS NULL ORDER BY id FOR UPDATE)
		RETURNING id::text`, worker, firstID(since.Add(-longestLife)))
	if err != nil {
		return 0, err
	}
	unsure, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, err
	}
	if err := s.closer.deliveries.Add(ctx, tx, unsure...); err != nil {
		return 0, err
	}
	waiting, err := s.closer.deliveries.Release(ctx, tx, worker)
	if freed = open.RowsAffected() + int64(len(unsure)) + waiting; err == nil && freed > 0 {
		_, err = tx.Exec(ctx, offerSQL)
	}
	return freed, err
}
