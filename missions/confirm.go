package missions

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/runs"
)

// Plan makes a mission of a draft, for its owner to confirm: nothing is done and nothing costs anything yet. A request whose key, if it
// has one, was used before gives the first mission. Errors: a *registry.Error with the member that is wrong, those of runs.Bind.
func (s *Service) Plan(ctx context.Context, accountID, key string, d Draft) (Mission, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Mission{}, err
	}
	return s.create(ctx, Mission{ID: id.String(), AccountID: accountID, Status: AwaitingConfirmation, Origin: d.Origin, Budget: d.Budget}, key, d)
}

// create plans a mission and writes it.
func (s *Service) create(ctx context.Context, m Mission, key string, d Draft) (Mission, error) {
	var err error
	if m.Document, m.Promised, err = s.plan(ctx, m.AccountID, d); err != nil {
		return Mission{}, fmt.Errorf("plan a mission: %w", err)
	}
	return s.write(ctx, m, key)
}

// write keeps a mission that was planned, and has it worked on where it runs already.
func (s *Service) write(ctx context.Context, m Mission, key string) (Mission, error) {
	var err error
	if m.Hash, err = m.Document.Hash(); err != nil {
		return Mission{}, fmt.Errorf("plan a mission: %w", err)
	}
	m.CreatedAt = s.now()
	if m.Status == Running {
		m.ConfirmedAt = &m.CreatedAt
	}
	var id string
	err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) (err error) {
		if id, err = insert(ctx, tx, m, key); err == nil && id == m.ID && m.Status == Running {
			err = s.offer(ctx, tx, m.ID)
		}
		return err
	})
	if err != nil {
		return Mission{}, fmt.Errorf("plan a mission: %w", err)
	}
	return s.Get(ctx, id, m.AccountID)
}

// offer has a mission worked on by any process, once the transaction is committed.
func (s *Service) offer(ctx context.Context, tx pgx.Tx, missionID string) error {
	if err := s.worker.Add(ctx, tx, missionID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `SELECT pg_notify('`+channel+`', $1)`, missionID)
	return err
}

// Confirm lets a mission go ahead, by the word of its owner to what the hash stands for. It holds for all legs but those that ask for
// a word of their own. One that was confirmed before stays as it is. Errors: ErrNotFound, *runs.GateError (the hash is another one, or it
// was shown more than ten minutes ago), a *registry.Error where the owner may not use one of the tools, billing.ErrInsufficient where the wallet does not cover all legs.
func (s *Service) Confirm(ctx context.Context, missionID, accountID, hash string) (Mission, error) {
	m, err := s.Get(ctx, missionID, accountID)
	if err == nil && hash == m.Hash && m.Status == AwaitingConfirmation {
		if err = s.mayAll(ctx, m); err == nil {
			err = s.covers(ctx, m)
		}
	}
	if err != nil {
		return Mission{}, fmt.Errorf("confirm mission %s: %w", missionID, err)
	}
	err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) (err error) {
		if m, err = get(ctx, tx, missionID, accountID, "FOR UPDATE"); err != nil {
			return err
		}
		now := s.now()
		switch {
		case hash != m.Hash:
			return &runs.GateError{Reason: runs.SummaryHashMismatch}
		case m.ConfirmedAt != nil:
			return nil
		case m.Status != AwaitingConfirmation || now.After(m.ExpiresAt()):
			return &runs.GateError{Reason: runs.SummaryExpired}
		}
		if err := change(ctx, tx, m.ID, `, status = 'running', confirmed_at = $2`, now); err != nil {
			return err
		}
		return s.offer(ctx, tx, m.ID)
	})
	if err != nil {
		return Mission{}, fmt.Errorf("confirm mission %s: %w", missionID, err)
	}
	return s.Get(ctx, missionID, accountID)
}

// mayAll refuses a mission whose owner may not use one of its tools any more, such as one who has been muted since it was planned.
func (s *Service) mayAll(ctx context.Context, m Mission) error {
	for _, leg := range m.Legs {
		if _, err := s.cfg.May(ctx, m.AccountID, leg.Tool.ID, ""); err != nil {
			return err
		}
	}
	return nil
}

// covers refuses a mission that the wallet could not see to its end as things stand. What each leg costs is held when it begins.
func (s *Service) covers(ctx context.Context, m Mission) error {
	if m.Promised == 0 {
		return nil
	}
	balance, err := s.cfg.Ledger.Balance(ctx, m.AccountID)
	if err == nil && balance.Available < m.Promised {
		err = billing.ErrInsufficient{Have: balance.Available, Need: m.Promised, Held: balance.Held}
	}
	return err
}

// Cancel ends a mission by its owner's wish: no further leg begins, and what was done is taken back. One that is over, or is being taken
// back, stays as it is.
func (s *Service) Cancel(ctx context.Context, missionID, accountID string) (Mission, error) {
	err := postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		m, err := get(ctx, tx, missionID, accountID, "FOR UPDATE")
		switch {
		case err != nil:
			return err
		case m.Status == AwaitingConfirmation:
			return s.endUnconfirmed(ctx, tx, m.ID)
		case m.Status != Running || m.CanceledBy:
			return nil
		}
		if err := change(ctx, tx, m.ID, `, canceled = true`); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `SELECT pg_notify('`+channel+`', $1)`, m.ID)
		return err
	})
	if err != nil {
		return Mission{}, fmt.Errorf("cancel mission %s: %w", missionID, err)
	}
	return s.Get(ctx, missionID, accountID)
}

// endUnconfirmed ends a mission that nobody confirmed.
func (s *Service) endUnconfirmed(ctx context.Context, tx pgx.Tx, missionID string) error {
	_, err := tx.Exec(ctx, `UPDATE mission_legs SET status = 'skipped' WHERE mission_id = $1`, missionID)
	return errors.Join(err, change(ctx, tx, missionID, `, status = 'canceled', ended_at = $2`, s.now()))
}

// expire ends missions that nobody confirmed in time.
func (s *Service) expire(ctx context.Context) error {
	return postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `SELECT id::text FROM missions WHERE status = 'awaiting_confirmation' AND created_at < $1 LIMIT 100 FOR UPDATE SKIP LOCKED`, s.now().Add(-runs.SummaryLife))
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		for _, id := range ids {
			if err == nil {
				err = s.endUnconfirmed(ctx, tx, id)
			}
		}
		return err
	})
}
