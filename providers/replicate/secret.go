package replicate

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	fetchTimeout = 10 * time.Second
	refetchAfter = time.Minute // at the earliest
)

// secret is the account's key of webhooks. It is fetched when it is first needed, and again, at most once a minute, when a
// signature does not fit: the account may have a new one.
type secret struct {
	fetch func(ctx context.Context) ([]byte, error)

	mu      sync.Mutex
	key     []byte
	fetched time.Time
}

// verify calls check with the secret, and once more with a fresh one where that could help.
func (s *secret) verify(ctx context.Context, now time.Time, check func(key []byte) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var wrong error
	if s.key != nil {
		if wrong = check(s.key); wrong == nil || now.Sub(s.fetched) < refetchAfter {
			return wrong
		}
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	key, err := s.fetch(ctx)
	if err != nil {
		return fmt.Errorf("the secret of webhooks: %w", err)
	}
	s.key, s.fetched = key, now
	return check(key)
}
