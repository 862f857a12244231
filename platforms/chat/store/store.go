package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/postgres"
)

// Store keeps in Postgres what chats must not forget in a restart.
type Store struct {
	Keyboards  Keyboards
	Prompts    Prompts
	Questions  Questions
	Marks      Marks
	Deliveries Deliveries
	Uses       Uses
	Writer     *postgres.Writer // groups short writes
}

// New makes a Store on a database.
func New(pool *pgxpool.Pool) *Store {
	writer := postgres.NewWriter(pool)
	return &Store{
		Keyboards: Keyboards{pool, writer}, Prompts: Prompts{pool}, Questions: Questions{pool}, Marks: Marks{pool},
		Deliveries: Deliveries{pool}, Uses: newUses(pool), Writer: writer,
	}
}

// Prune forgets what is too old to be of use.
func (s *Store) Prune(ctx context.Context) error {
	return errors.Join(s.Prompts.prune(ctx), s.Questions.prune(ctx), s.Marks.prune(ctx), s.Keyboards.prune(ctx))
}
