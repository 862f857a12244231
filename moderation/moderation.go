// Package moderation keeps what people report about results of others, and what is decided about it. Operators, and the admins of the
// chat, dismiss reports or take results down. A result that is taken down may be a strike against who made it; strikes mute by a rule
// of the house, and who has one may appeal. All of it is in the audit log.
package moderation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/users"
)

// Rule says when strikes mute.
type Rule struct {
	Strikes int           // so many; 0: they never do
	Within  time.Duration // that were given within this time
	Mute    time.Duration // for so long
}

// Notice is something to be told to an account: a text of internal/i18n, with what fills it.
type Notice struct {
	AccountID, Key string
	Pairs          []any
}

// Config is what a Service works with. All but Desk, Logger and Now is required.
type Config struct {
	Pool   *pgxpool.Pool
	People *users.Store
	Runs   interface {
		Get(ctx context.Context, runID string) (runs.Run, error)
	}
	Rule func() Rule // the one in force
	// Withdraw takes a result out of a chat, or with a zero Place out of all that show it.
	Withdraw func(ctx context.Context, run runs.Run, from Place) error
	// Unshare takes the link to a result back.
	Unshare func(ctx context.Context, tx pgx.Tx, runID string) error
	Tell    func(ctx context.Context, n Notice) error
	Desk    string           // the address at which operators decide
	Logger  *slog.Logger     // nil: nothing is logged
	Now     func() time.Time // nil: time.Now
}

// Service keeps reports, strikes and appeals. Make it with New; it is safe for concurrent use.
type Service struct{ cfg Config }

// New checks the configuration.
func New(c Config) (*Service, error) {
	if c.Pool == nil || c.People == nil || c.Runs == nil || c.Rule == nil || c.Withdraw == nil || c.Unshare == nil || c.Tell == nil {
		return nil, errors.New("moderation: Config needs Pool, People, Runs, Rule, Withdraw, Unshare and Tell")
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Service{c}, nil
}

// tell tells somebody what was done. It is done all the same where they can't be told.
func (s *Service) tell(ctx context.Context, n Notice) {
	if err := s.cfg.Tell(ctx, n); err != nil {
		s.cfg.Logger.WarnContext(ctx, "somebody was not told of a decision", "account", n.AccountID, "notice", n.Key, "error", err)
	}
}

// tellOperators tells all who operate the house.
func (s *Service) tellOperators(ctx context.Context, key string, pairs ...any) {
	operators, err := s.cfg.People.Operators(ctx)
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "the operators were not told", "notice", key, "error", err)
	}
	pairs = append(pairs, "link", s.cfg.Desk)
	for _, o := range operators {
		s.tell(ctx, Notice{o.ID, key, pairs})
	}
}

// maxWords bounds what people write, in letters.
const maxWords = 1000

// brief is a text as it is kept.
func brief(words string) string {
	words = store.Storable(strings.TrimSpace(words))
	if letters := []rune(words); len(letters) > maxWords {
		return string(letters[:maxWords])
	}
	return words
}

func wrapped(err error, what, id string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", what, id, err)
}
