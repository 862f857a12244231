package questions

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/billing"
)

// ErrNotFound says that there is no such question, or that it is somebody else's.
var ErrNotFound = errors.New("no such question")

// Question is a question as it is kept.
type Question struct {
	ID, AccountID string
	Within        string // the question for which an agent was asked this one; empty: nobody's
	RunID         string // the run whose tool it answers, and which pays for it unless another question does; empty: none
	TraceID       string
	Platform      string
	Text, Answer  string
	Stop          agent.Stop // empty where an error ended it, or nothing yet
	Error         string
	House         bool // the house paid
	Room          billing.NanoUSD
	Cost          billing.NanoUSD // what the services charge
	Charged       billing.NanoUSD // what the asker paid
	Tokens        int64
	CreatedAt     time.Time
	EndedAt       *time.Time
	Turns         []Turn // from Get only, as are Steps
	Steps         []Step
}

// Turn is a turn of a model with what it cost.
type Turn struct {
	Model string // empty: nobody answered
	agent.Usage
	At time.Time
}

// Step is a call of a tool, with its run as it is now.
type Step struct {
	Round           int
	Tool, Arguments string
	OK              bool
	Error           string
	At              time.Time
	RunID           string // empty: there was none, or it was deleted
	Status          string // of the run
	Cost            billing.NanoUSD
	Quote           billing.NanoUSD // the most that it may cost
	ApprovedAt      *time.Time      // when the owner let it go ahead; nil: nobody was asked, or nobody has answered
}

const columns = `id::text, account_id::text, coalesce(within::text, ''), coalesce(run_id::text, ''), trace_id, platform, question, answer, stop, error, house, room, cost, charged, tokens, created_at, ended_at`

func scan(row pgx.CollectableRow) (q Question, err error) {
	err = row.Scan(&q.ID, &q.AccountID, &q.Within, &q.RunID, &q.TraceID, &q.Platform, &q.Text, &q.Answer, &q.Stop, &q.Error, &q.House, &q.Room, &q.Cost, &q.Charged, &q.Tokens, &q.CreatedAt, &q.EndedAt)
	return q, err
}

func (s *Store) query(ctx context.Context, where string, args ...any) ([]Question, error) {
	rows, _ := s.cfg.Pool.Query(ctx, `SELECT `+columns+` FROM agent_questions `+where, args...)
	list, err := pgx.CollectRows(rows, scan)
	return list, wrap(err, "read questions")
}

// Get gives a question of an account with all that was done for it; of no account: anybody's. ErrNotFound: there is none, or it was deleted.
func (s *Store) Get(ctx context.Context, id, accountID string) (Question, error) {
	if _, err := uuid.Parse(id); err != nil {
		return Question{}, ErrNotFound
	}
	found, err := s.query(ctx, `WHERE id = $1 AND ($2 = '' OR account_id::text = $2 AND NOT forgotten)`, id, accountID)
	if err != nil {
		return Question{}, err
	}
	if len(found) == 0 {
		return Question{}, ErrNotFound
	}
	q := found[0]
	rows, err := s.cfg.Pool.Query(ctx, `SELECT model, input, cache_read, cache_write, output, cost, created_at FROM agent_turns WHERE question_id = $1 ORDER BY place`, id)
	if err == nil {
		q.Turns, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Turn, err error) {
			err = row.Scan(&t.Model, &t.Input, &t.CacheRead, &t.CacheWrite, &t.Output, &t.Cost, &t.At)
			return t, err
		})
	}
	if err == nil {
		q.Steps, err = s.steps(ctx, id)
	}
	return q, wrap(err, "read a question")
}

func (s *Store) steps(ctx context.Context, id string) ([]Step, error) {
	rows, _ := s.cfg.Pool.Query(ctx, `
		SELECT s.round, s.tool, s.arguments, s.ok, s.error, s.created_at, coalesce(r.id::text, ''), coalesce(r.status, ''), coalesce(r.cost, 0), coalesce(r.promised, 0), r.confirmed_at
		FROM agent_steps s LEFT JOIN runs r ON r.id = s.run_id AND r.deleted_at IS NULL WHERE s.question_id = $1 ORDER BY s.place`, id)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Step, err error) {
		err = row.Scan(&t.Round, &t.Tool, &t.Arguments, &t.OK, &t.Error, &t.At, &t.RunID, &t.Status, &t.Cost, &t.Quote, &t.ApprovedAt)
		return t, err
	})
}

// listed bounds how many questions are listed.
const listed = 50

// List gives an account's questions, the newest first, at most fifty; before is the id of the last one that was listed, or "". Those
// that agents were asked are on the page of the question that they are within.
func (s *Store) List(ctx context.Context, accountID, before string) ([]Question, error) {
	if _, err := uuid.Parse(before); before != "" && err != nil {
		return nil, ErrNotFound
	}
	return s.query(ctx, `WHERE account_id = $1 AND within IS NULL AND NOT forgotten AND ($2 = '' OR id < nullif($2, '')::uuid) ORDER BY id DESC LIMIT $3`, accountID, before, listed)
}

// Within gives what agents were asked in the course of a question, in order.
func (s *Store) Within(ctx context.Context, id string) ([]Question, error) {
	return s.query(ctx, `WHERE within = $1 ORDER BY id LIMIT $2`, id, listed)
}

// Recent gives the newest questions of all accounts, those within others among them.
func (s *Store) Recent(ctx context.Context, limit int) ([]Question, error) {
	return s.query(ctx, `ORDER BY id DESC LIMIT $1`, limit)
}

// Day is what a model did on a day (UTC).
type Day struct {
	Day       time.Time
	Model     string // empty: turns that nobody answered
	Questions int64
	Accounts  int64
	Turns     int64
	agent.Usage
	House billing.NanoUSD // the part of the cost that the house pays
}

// Days gives what each model did on the last days, the newest first. What askers of a question paid less than it cost is in Cost, not in
// House.
func (s *Store) Days(ctx context.Context, days int) ([]Day, error) {
	rows, _ := s.cfg.Pool.Query(ctx, `
		SELECT date_trunc('day', t.created_at, 'UTC'), t.model, count(DISTINCT q.id), count(DISTINCT q.account_id), count(*),
			sum(t.input)::bigint, sum(t.cache_read)::bigint, sum(t.cache_write)::bigint, sum(t.output)::bigint, sum(t.cost)::bigint, coalesce(sum(t.cost) FILTER (WHERE q.house), 0)::bigint
		FROM agent_turns t JOIN agent_questions q ON q.id = t.question_id
		WHERE q.created_at >= date_trunc('day', now(), 'UTC') - make_interval(days => $1) AND t.created_at >= date_trunc('day', now(), 'UTC') - make_interval(days => $1 - 1)
		GROUP BY 1, 2 ORDER BY 1 DESC, sum(t.cost) DESC, 2`, days)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Day, err error) {
		err = row.Scan(&d.Day, &d.Model, &d.Questions, &d.Accounts, &d.Turns, &d.Input, &d.CacheRead, &d.CacheWrite, &d.Output, &d.Cost, &d.House)
		return d, err
	})
	return list, wrap(err, "add up the days of models")
}
