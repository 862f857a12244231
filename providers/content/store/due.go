package store

import (
	"context"
	"fmt"
)

// PublishDue publishes what is due by the clock of the database, each once, and gives how many. Any number of processes may do so.
func (s *Store) PublishDue(ctx context.Context) (int64, error) {
	tag, err := s.pool.Exec(ctx, `
		UPDATE site_entries SET status = 'published', published_at = coalesce(published_at, publish_at), publish_at = NULL WHERE publish_at <= now()`)
	if err != nil {
		return 0, fmt.Errorf("publish what is due: %w", err)
	}
	if tag.RowsAffected() > 0 {
		s.changes.Add(1)
	}
	return tag.RowsAffected(), nil
}
