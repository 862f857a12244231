package runs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/group"
)

// Machines tell each other by NOTIFY which runs have changed: "instance:run,run,...", and that there are runs or deliveries
// in the queue: ":". It is a hint only: what counts is in the table, and is read from there.
const (
	channel     = "signalbox_runs"
	tellEvery   = 50 * time.Millisecond
	tellAtOnce  = 150 // run ids in one notification, which may have 8000 bytes
	rereadEvery = 2 * time.Second
)

// hear takes in a notification.
func (s *worker) hear(payload string) {
	sender, list, ok := strings.Cut(payload, ":")
	switch {
	case !ok || sender == s.instance:
	case sender == "":
		s.desk.look()
		s.closer.deliveries.Look()
	default:
		s.hub.refresh(s.hub.interesting(strings.Split(list, ",")))
	}
}

// refresh reads runs and publishes their states here.
func (s *hub) refresh(ids []string) {
	for page := range slices.Chunk(ids, 500) {
		ctx, cancel := context.WithTimeout(s.base, group.FlushTimeout)
		records, err := s.store.query(ctx, `WHERE r.id = ANY ($1::uuid[])`, page)
		s.store.tellPlaces(ctx, records)
		cancel()
		if err != nil {
			if s.base.Err() == nil {
				s.log.WarnContext(ctx, "reading the states of watched runs failed", "error", err)
			}
			return
		}
		for i := range records {
			s.heard(records[i].Run)
		}
	}
}

// tellOthers notifies the other machines of what changed here, gathered for a moment.
func (s *hub) tellOthers() {
	for {
		select {
		case <-s.base.Done():
			return
		case <-s.wake:
		}
		for page := range slices.Chunk(s.takeChanges(), tellAtOnce) {
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

func (s *env) isStopping() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}
