// Package peers divides work among the processes that share a database, and carries news from one of them to all.
//
// A platform's connections are numbered, and each is kept by one process. So are the shares of the rate at which all of them together
// may send. Divide gives every process its part; when a process is gone, others have its part within seconds (see claims.Process).
// News are notifications of the database, sent by triggers on the tables that processes cache.
package peers

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/claims"
	"github.com/signalbox/signalbox/internal/locks"
)

const (
	channel   = "house"
	shares    = "shares" // the news that a part became free, or that somebody wants one
	lookEvery = 2 * time.Second
	leaveTime = 3 * time.Second
)

// Process is this process among others.
type Process struct {
	pool *pgxpool.Pool
	log  *slog.Logger
	id   string
	life *claims.Process

	mu   sync.Mutex
	news map[string][]chan struct{} // by topic; each has room for one
}

// New makes a Process that nobody knows of yet.
func New(pool *pgxpool.Pool, log *slog.Logger) *Process {
	p := &Process{pool: pool, log: log, id: uuid.NewString(), news: make(map[string][]chan struct{})}
	p.life = claims.NewProcess(claims.ProcessConfig{
		Pool: pool, Log: log, ID: p.id, Table: "house_processes", Lock: locks.Peer, Channel: channel,
		Heard: p.tell, Again: func(context.Context) { p.tell(shares) }, Missed: p.tellAll, Release: release,
	})
	return p
}

// Run is alive until ctx ends, and takes over what is needed from those that are gone. It fails only where the database does not answer at
// the beginning.
func (p *Process) Run(ctx context.Context, ready func()) error {
	if err := p.life.Begin(ctx); err != nil {
		return err
	}
	var keeping sync.WaitGroup
	keeping.Go(func() { p.life.Keep(ctx) })
	defer keeping.Wait()
	ready()
	for begun := false; ; begun = true {
		died, err := p.life.TakeOver(ctx)
		for _, d := range died {
			p.log.InfoContext(ctx, "another process is gone, and others do its part", "process", d.ID, "connections", d.Freed)
		}
		if err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "looking for processes that are gone failed", "error", err)
		}
		if !begun {
			p.checkRoom(ctx)
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
			defer cancel()
			return p.life.End(ending, true)
		}
	}
}

// Follow calls changed after each news of a topic, until ctx ends, and also when some may have been missed. Several in short order are one.
func (p *Process) Follow(ctx context.Context, topic string, changed func(context.Context)) {
	heard := p.hear(topic)
	for {
		select {
		case <-heard:
			changed(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func (p *Process) hear(topic string) <-chan struct{} {
	heard := make(chan struct{}, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.news[topic] = append(p.news[topic], heard)
	return heard
}

func (p *Process) tell(topic string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, heard := range p.news[topic] {
		select {
		case heard <- struct{}{}:
		default:
		}
	}
}

func (p *Process) tellAll() {
	p.mu.Lock()
	topics := slices.Collect(maps.Keys(p.news))
	p.mu.Unlock()
	for _, topic := range topics {
		p.tell(topic)
	}
}

// release gives up the parts of a process.
func release(ctx context.Context, tx pgx.Tx, id string, _ time.Time) (int64, error) {
	freed, err := tx.Exec(ctx, `DELETE FROM house_shares WHERE process = $1`, id)
	if err == nil {
		_, err = tx.Exec(ctx, `DELETE FROM house_members WHERE process = $1`, id)
	}
	if err == nil {
		_, err = tx.Exec(ctx, `SELECT pg_notify($1, $2)`, channel, shares)
	}
	if err != nil {
		return 0, fmt.Errorf("free what process %s did: %w", id, err)
	}
	return freed.RowsAffected(), nil
}
