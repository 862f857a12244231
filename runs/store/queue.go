package store

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/runs"
)

// OfferSQL tells every process that there are runs in the queue, once the transaction is committed, and OfferDeliverySQL that there are
// deliveries.
const (
	OfferSQL         = `SELECT pg_notify('` + Channel + `', ':')`
	OfferDeliverySQL = `SELECT pg_notify('` + Channel + `', ':` + Deliveries + `')`
)

// Deliveries are what OfferDeliverySQL offers.
const Deliveries = "deliveries"

// Serve notes that an account had its turn.
func (s *Store) Serve(service, accountID string) {
	s.turning.Lock()
	defer s.turning.Unlock()
	s.turns[service] = accountID
}

// Served is the account that had its turn last, or "".
func (s *Store) Served(service string) string {
	s.turning.Lock()
	defer s.turning.Unlock()
	return s.turns[service]
}

// lastServed lists whose turn it was last, by service.
func (s *Store) lastServed() (services, accounts []string) {
	s.turning.Lock()
	defer s.turning.Unlock()
	for service, account := range s.turns {
		services, accounts = append(services, service), append(accounts, account)
	}
	return services, accounts
}

// positionsFor is how long the positions in the queue are taken for true: looking at all of it costs milliseconds, and many ask.
const positionsFor = time.Second

// queuePositions are those of the runs in the queue.
type queuePositions struct {
	mu    sync.Mutex
	until time.Time
	byRun map[string]int // 1 is next of its service
}

// positionSQL counts as runs_claim takes: the first of each account, then the second of each, and so on, each time beginning after the
// account that was served last. With several processes, each with its own turn, it is nearly so.
const positionSQL = `
	SELECT q.id::text, row_number() OVER (PARTITION BY q.service ORDER BY q.round, q.account_id <= l.account, q.account_id)
	FROM (SELECT id, service, account_id, row_number() OVER (PARTITION BY service, account_id ORDER BY id) AS round FROM runs
		WHERE status = 'queued' AND claimed_by IS NULL AND claims = 0 AND NOT waiting) q
	LEFT JOIN (SELECT unnest($1::text[]) AS service, unnest($2::uuid[]) AS account) l ON l.service = q.service`

// tellPositions gives those of the runs that wait for a place their position in the queue, behind what their provider has already.
func (s *Store) tellPositions(ctx context.Context, records []Record) {
	waits := func(r Record) bool { return r.Status == runs.StatusQueued && !r.Waiting }
	if !slices.ContainsFunc(records, waits) {
		return
	}
	s.positions.mu.Lock()
	defer s.positions.mu.Unlock()
	if now := time.Now(); !now.Before(s.positions.until) {
		services, accounts := s.lastServed()
		rows, err := s.Config.Pool.Query(ctx, positionSQL, services, accounts)
		if err == nil {
			s.positions.byRun = make(map[string]int)
			var id string
			var n int
			_, err = pgx.ForEachRow(rows, []any{&id, &n}, func() error {
				s.positions.byRun[id] = n
				return nil
			})
		}
		if err != nil {
			s.Log.DebugContext(ctx, "looking up the positions in the queue failed", "error", err)
			return
		}
		s.positions.until = now.Add(positionsFor)
	}
	ahead := s.ahead()
	for i := range records {
		if n := s.positions.byRun[records[i].ID]; n > 0 && waits(records[i]) {
			records[i].QueuePosition = n + ahead[records[i].Tool.Service]
		}
	}
}

// Waiting counts the runs that wait for a place at a service, by tool.
func Waiting(ctx context.Context, pool *pgxpool.Pool, service string) (map[string]int, error) {
	rows, err := pool.Query(ctx, `
		SELECT tool_id, count(*) FROM runs WHERE status = 'queued' AND claimed_by IS NULL AND claims = 0 AND NOT waiting AND service = $1
		GROUP BY tool_id`, service)
	counts := make(map[string]int)
	if err == nil {
		var tool string
		var n int
		_, err = pgx.ForEachRow(rows, []any{&tool, &n}, func() error { counts[tool] = n; return nil })
	}
	if err != nil {
		return nil, fmt.Errorf("count the runs that wait for %s: %w", service, err)
	}
	return counts, nil
}

// Unbegun counts the runs of a service that nobody works on yet, wherever they wait.
func Unbegun(ctx context.Context, pool *pgxpool.Pool, service string) (n int, err error) {
	if err := pool.QueryRow(ctx, `SELECT count(*) FROM runs WHERE status = 'queued' AND service = $1`, service).Scan(&n); err != nil {
		return 0, fmt.Errorf("count the runs of %s that have not begun: %w", service, err)
	}
	return n, nil
}
