// Package scaling tells a program of the operator's when the engines of a house have too much or too little to do, so that it starts and stops machines,
// and wakes engines that sleep while runs wait for them.
package scaling

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
)

// Level is how much the engines have to do.
type Level string

// The levels. Between busy and idle is a wide field in which nothing is told, so that no machine is started and stopped again and again.
const (
	Calm Level = ""
	Busy Level = "busy" // at least Config.BusyAt runs wait for each engine that takes runs, or runs wait and no engine takes any
	Idle Level = "idle" // nothing waits, and an engine has nothing to do
)

// Load is what the engines have to do.
type Load struct {
	Waiting int      `json:"waiting"` // runs that have not begun
	Engines int      `json:"engines"` // that take runs
	Working int      `json:"working"` // those of them that have something to do
	Down    []string `json:"down"`    // engines that do not answer, by name: those that may be asleep
}

// Signal is what the program is told, as JSON.
type Signal struct {
	ID   string    `json:"id"`
	Type string    `json:"type"` // fleet.busy or fleet.idle
	At   time.Time `json:"at"`
	Load
}

// Config wires a Scaler; all is required.
type Config struct {
	Load      func(ctx context.Context) (Load, error)
	Send      func(ctx context.Context, s Signal) error
	BusyAt    int           // runs that wait for each engine
	BusyAfter time.Duration // how long the engines are busy before it is told
	IdleAfter time.Duration // likewise
}

// again is after how long a signal is repeated while its reason lasts: programs forget.
const again = 5 * time.Minute

// Scaler looks at the load. What it knows stands in Postgres, so that any process of a house can look next.
type Scaler struct{ cfg Config }

// New makes a Scaler.
func New(cfg Config) *Scaler { return &Scaler{cfg} }

func (s *Scaler) levelOf(l Load) Level {
	switch {
	case l.Waiting > 0 && l.Waiting >= s.cfg.BusyAt*l.Engines:
		return Busy
	case l.Waiting == 0 && l.Working < l.Engines:
		return Idle
	}
	return Calm
}

// hold is how long a level lasts before it is told. Where nothing takes runs people wait for nothing.
func (s *Scaler) hold(level Level, l Load) time.Duration {
	switch {
	case level == Idle:
		return s.cfg.IdleAfter
	case l.Engines == 0:
		return 0
	}
	return s.cfg.BusyAfter
}

// Look sees how much there is to do and tells the program, where it is time. It is for one process of a house at a time; tx keeps what was seen
// and told, unless telling failed.
func (s *Scaler) Look(ctx context.Context, tx pgx.Tx, now time.Time) error {
	load, err := s.cfg.Load(ctx)
	if err != nil {
		return fmt.Errorf("see what the engines have to do: %w", err)
	}
	level := s.levelOf(load)
	since, told, toldAt, err := saw(ctx, tx, level, now)
	if err != nil {
		return fmt.Errorf("note what the engines have to do: %w", err)
	}
	if level == Calm || now.Sub(since) < s.hold(level, load) || told == level && now.Sub(toldAt) < again {
		return nil
	}
	if _, err := tx.Exec(ctx, `UPDATE fleet_signals SET told = $1, told_at = $2`, string(level), now); err != nil {
		return fmt.Errorf("note what was told: %w", err)
	}
	err = s.cfg.Send(ctx, Signal{ID: uuid.NewString(), Type: "fleet." + string(level), At: now.UTC(), Load: load})
	return errs.Wrap(err, "tell FLEET_HOOK that the engines are %s", level)
}

// saw notes the level, and gives since when it is so and what was told last.
func saw(ctx context.Context, tx pgx.Tx, level Level, now time.Time) (since time.Time, told Level, toldAt time.Time, err error) {
	var at *time.Time
	err = tx.QueryRow(ctx, `
		INSERT INTO fleet_signals AS f (level, since) VALUES ($1, $2)
		ON CONFLICT (house) DO UPDATE SET level = $1, since = CASE WHEN f.level = $1 THEN f.since ELSE $2 END
		RETURNING since, told, told_at`, string(level), now).Scan(&since, &told, &at)
	if at != nil {
		toldAt = *at
	}
	return since, told, toldAt, err
}

// ErrRefused is in the chain of an error of a program that did not take a signal.
var ErrRefused = errors.New("it was not taken")
