package runs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/group"
	"github.com/signalbox/signalbox/internal/locks"
)

// Machines tell each other by NOTIFY which runs have changed: "instance:run,run,...", and that there are runs
// in the queue: ":". It is a hint only: what counts is in the table, and is read from there.
const (
	channel     = "signalbox_runs"
	tellEvery   = 50 * time.Millisecond
	tellAtOnce  = 150 // run ids in one notification, which may have 8000 bytes
	rereadEvery = 2 * time.Second
)

// lifeLock is the advisory lock that a process holds as long as it lives: the database gives it up when
// the process is gone, however that happened, and others then take over what it had claimed.
const lifeLock = locks.Worker

// lifeSignal is the connection that holds our sign of life and hears the other machines.
type lifeSignal struct {
	s    *Service
	conn *pgx.Conn
}

func newSignal(s *Service) *lifeSignal { return &lifeSignal{s: s} }

// connect takes the sign of life and starts to listen.
func (l *lifeSignal) connect(ctx context.Context) error {
	pooled, err := l.s.config.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack() // made as the pool makes its own, and no longer counted among them
	for _, statement := range []struct {
		sql  string
		args []any
	}{
		{`SELECT pg_advisory_lock(` + lifeLock + `)`, []any{l.s.instance}},
		{`INSERT INTO run_workers (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET gone_at = NULL`, []any{l.s.instance}},
		{`LISTEN ` + channel, nil},
	} {
		if _, err := conn.Exec(ctx, statement.sql, statement.args...); err != nil {
			return fmt.Errorf("%w (close: %v)", err, conn.Close(ctx))
		}
	}
	l.conn = conn
	return nil
}

// listen hears the other machines until the service ends, and connects again when the connection breaks.
func (l *lifeSignal) listen() {
	ctx := l.s.base
	for ctx.Err() == nil {
		if l.conn != nil {
			err := l.hear(ctx)
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			_ = l.conn.Close(closing) // the connection is of no use either way
			cancel()
			l.conn = nil
			if ctx.Err() == nil {
				l.s.log.WarnContext(ctx, "the connection for news of other machines broke", "error", err)
			}
			continue
		}
		if err := l.connect(ctx); err != nil {
			_ = l.s.sleep(ctx, time.Second) // ends early only with ctx or the service, which the loop sees
			if l.s.isStopping() {
				return
			}
		}
	}
}

func (l *lifeSignal) hear(ctx context.Context) error {
	for looked := time.Now(); ; {
		waiting, cancel := context.WithTimeout(ctx, rereadEvery)
		notification, err := l.conn.WaitForNotification(waiting)
		cancel()
		switch {
		case err == nil:
			l.s.hear(notification.Payload)
		case ctx.Err() != nil:
			return ctx.Err()
		case waiting.Err() == nil || l.conn.IsClosed():
			return err
		}
		if time.Since(looked) >= rereadEvery { // a notification may have been missed, and places in the queue change without any
			l.s.refresh(l.s.hub.watchedElsewhere())
			looked = time.Now()
		}
	}
}

// hear takes in a notification.
func (s *Service) hear(payload string) {
	sender, list, ok := strings.Cut(payload, ":")
	switch {
	case !ok || sender == s.instance:
	case sender == "":
		s.desk.look()
	default:
		s.refresh(s.hub.interesting(strings.Split(list, ",")))
	}
}

// refresh reads runs and publishes their states here.
func (s *Service) refresh(ids []string) {
	for page := range slices.Chunk(ids, 500) {
		ctx, cancel := context.WithTimeout(s.base, group.FlushTimeout)
		records, err := s.query(ctx, `WHERE r.id = ANY ($1::uuid[])`, page)
		s.tellPlaces(ctx, records)
		cancel()
		if err != nil {
			if s.base.Err() == nil {
				s.log.WarnContext(ctx, "reading the states of watched runs failed", "error", err)
			}
			return
		}
		for i := range records {
			s.hub.heard(records[i].Run)
		}
	}
}

// tellOthers notifies the other machines of what changed here, gathered for a moment.
func (s *Service) tellOthers() {
	for {
		select {
		case <-s.base.Done():
			return
		case <-s.hub.wake:
		}
		for page := range slices.Chunk(s.hub.takeChanges(), tellAtOnce) {
			_, err := s.config.Pool.Exec(s.base, `SELECT pg_notify($1, $2)`, channel, s.instance+":"+strings.Join(page, ","))
			if err != nil && s.base.Err() == nil {
				s.log.WarnContext(s.base, "telling other machines of changed runs failed", "error", err)
			}
		}
		select {
		case <-s.base.Done():
			return
		case <-time.After(tellEvery):
		}
	}
}

func (s *Service) isStopping() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}
