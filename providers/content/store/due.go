package store

import (
	"context"
	"fmt"
)

// PublishDue publishes what is due by the clock of the database, each once, and gives how many. Any number of processes may do so.
func (s *Store) PublishDue(ctx context.Context) (int64, error) {
	var n int64
	for _, sql := range []string{
		`UPDATE site_entries SET status = 'published', published_at = coalesce(published_at, publish_at), publish_at = NULL WHERE publish_at <= now()`,
		`UPDATE site_translations SET status = 'published', publish_at = NULL WHERE publish_at <= now()`,
	} {
		tag, err := s.pool.Exec(ctx, sql)
		if err != nil {
			return n, fmt.Errorf("publish what is due: %w", err)
		}
		n += tag.RowsAffected()
	}
	if n > 0 {
		s.changes.Add(1)
	}
	return n, nil
}
