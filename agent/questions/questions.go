// Package questions keeps what was asked of models in Postgres: the question, its turns and steps, and what they cost, which is paid
// through the ledger. A question that costs its asker is held for before the model is asked, every turn is noted as it comes, and the end
// takes what was noted, never more than was held. Where a process dies in between, another one ends its questions the same way: no turn is
// charged twice, and one that was not noted is the house's loss.
package questions

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Config wires a Store. Pool and Ledger are required.
type Config struct {
	Pool   *pgxpool.Pool
	Ledger *billing.Ledger
	// Room is how much of most an account may spend by its limits and a budget; an error where it is less than least. nil: all of it.
	Room func(ctx context.Context, tx pgx.Tx, accountID string, b runs.Budget, least, most billing.NanoUSD) (billing.NanoUSD, error)
	// House says that the house pays for all models, not who asks.
	House bool
	// PerDay is what the questions of one account may cost in a day (UTC), no matter who pays; zero: no limit.
	PerDay billing.NanoUSD
	// Lease is how long a question is left alone whose process is not heard of; zero: two minutes.
	Lease  time.Duration
	Logger *slog.Logger
}

// Store is an agent.Journal. It is safe for concurrent use.
type Store struct {
	cfg Config

	mu   sync.Mutex
	open map[string]bool // questions of this process
}

var _ agent.Journal = (*Store)(nil)

// New makes a Store. What other processes left is settled by Run.
func New(cfg Config) *Store {
	cfg.Lease = cmp.Or(cfg.Lease, 2*time.Minute)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Store{cfg: cfg, open: map[string]bool{}}
}

// entry is an open question.
type entry struct {
	store *Store
	id    string
	root  string // the question that pays: this one, or the one that it is within
	steps int
}

// Open holds what the question may cost, and notes it. Errors: billing.ErrInsufficient, a *runs.LimitError, an *agent.BoundError.
func (s *Store) Open(ctx context.Context, o agent.Opening) (agent.Entry, error) {
	e := &entry{store: s, id: o.ID, root: o.ID}
	err := pgx.BeginFunc(ctx, s.cfg.Pool, func(tx pgx.Tx) error { return s.begin(ctx, tx, e, o) })
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[o.ID] = true
	return e, nil
}

func (s *Store) begin(ctx context.Context, tx pgx.Tx, e *entry, o agent.Opening) error {
	q := o.Question
	paid := q.Promise != nil && *q.Promise > 0 // by its run, whatever it is within
	if q.Within && !paid {
		root, err := rootOf(ctx, tx, q)
		if err != nil {
			return err
		}
		e.root = cmp.Or(root, e.root)
	}
	if err := houseMay(ctx, tx, q); err != nil {
		return err
	}
	room, held := o.Quote, billing.NanoUSD(0)
	var within *string
	if e.root != e.id {
		within = &e.root
	} else if o.Quote > 0 {
		var err error
		if room, held, err = s.reserve(ctx, tx, o); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO agent_questions (id, account_id, within, trace_id, platform, conversation, provider, question, house, budget, room, held, token_room, run_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif($10, ''), $11, $12, $13, nullif($14, '')::uuid)`,
		o.ID, q.AccountID, within, q.Context.TraceID, q.Origin.Platform, q.Conversation, o.Provider, text(q.Text), s.cfg.House || q.House, q.Key.Name, room, held, o.Tokens, q.RunID)
	return wrap(err, "note a question")
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// rootOf is the open question in whose course q is asked; empty: there is none. One that draws on another budget is none of it: a key
// spends nothing that was set aside for its owner.
func rootOf(ctx context.Context, db querier, q agent.Question) (id string, err error) {
	err = db.QueryRow(ctx, `SELECT id::text FROM agent_questions WHERE account_id = $1 AND trace_id = $2 AND coalesce(budget, '') = $3
		AND within IS NULL AND ended_at IS NULL ORDER BY id DESC LIMIT 1`, q.AccountID, q.Context.TraceID, q.Key.Name).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return id, wrap(err, "find the question that an agent was asked for")
}

// Covers reports whether an open question pays for q, in whose course it is asked.
func (s *Store) Covers(ctx context.Context, q agent.Question) (bool, error) {
	if !q.Within {
		return false, nil
	}
	root, err := rootOf(ctx, s.cfg.Pool, q)
	return root != "", err
}

// reserve sets aside what there is room for, between what the first turn needs and the quote.
func (s *Store) reserve(ctx context.Context, tx pgx.Tx, o agent.Opening) (room, held billing.NanoUSD, err error) {
	q := o.Question
	if q.House {
		return o.Quote, 0, nil
	}
	if room, err = s.leftToday(ctx, tx, q.AccountID, o); err != nil || s.cfg.House {
		return room, 0, err
	}
	if q.Promise != nil {
		if room = min(room, *q.Promise); room < o.Least {
			return 0, 0, registry.Say(registry.CodeUnavailable, said.ModelUnpaid)
		}
		return room, 0, nil
	}
	if s.cfg.Room != nil {
		if room, err = s.cfg.Room(ctx, tx, q.AccountID, q.Key, o.Least, room); err != nil {
			return 0, 0, err
		}
	}
	err = s.cfg.Ledger.Hold(ctx, tx, q.AccountID, o.ID, room)
	var poor billing.ErrInsufficient
	if errors.As(err, &poor) && poor.Have >= o.Least {
		room = poor.Have
		err = s.cfg.Ledger.Hold(ctx, tx, q.AccountID, o.ID, room)
	} else if errors.As(err, &poor) {
		poor.Need = o.Least
		return 0, 0, poor
	}
	return room, room, err
}

// Room is how much of a quote Open would set aside for a question; 0: less than it needs.
func (s *Store) Room(ctx context.Context, o agent.Opening) (billing.NanoUSD, error) {
	tx, err := s.cfg.Pool.Begin(ctx)
	if err != nil {
		return 0, wrap(err, "see what there is for a question")
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) // nothing is set aside
	o.ID = uuid.NewString()
	room, _, err := s.reserve(ctx, tx, o)
	var poor billing.ErrInsufficient
	var limit *runs.LimitError
	var bound *agent.BoundError
	if errors.As(err, &poor) || errors.As(err, &limit) || errors.As(err, &bound) {
		return 0, nil
	}
	return room, wrap(err, "see what there is for a question")
}

// houseMay refuses a question of the house's own beyond those of a day. Those that begin at once, in any process, are counted one after the other.
func houseMay(ctx context.Context, tx pgx.Tx, q agent.Question) error {
	if !q.House || q.HouseDay == 0 {
		return nil
	}
	var today int
	batch := &pgx.Batch{}
	batch.Queue(`SELECT runs_lock($1)`, q.AccountID)
	batch.Queue(`SELECT count(*) FROM agent_questions WHERE house AND platform = $1 AND created_at >= date_trunc('day', now(), 'UTC')`, q.Origin.Platform).
		QueryRow(func(row pgx.Row) error { return row.Scan(&today) })
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return wrap(err, "count questions of the house today")
	}
	if today >= q.HouseDay {
		return &agent.BoundError{Stop: agent.StopDay}
	}
	return nil
}

// leftToday is how much of the quote the account's day has room for. Questions of one account that begin at once are counted one after
// the other.
func (s *Store) leftToday(ctx context.Context, tx pgx.Tx, accountID string, o agent.Opening) (billing.NanoUSD, error) {
	if s.cfg.PerDay == 0 {
		return o.Quote, nil
	}
	var used billing.NanoUSD
	batch := &pgx.Batch{}
	batch.Queue(`SELECT runs_lock($1)`, accountID)
	batch.Queue(`SELECT coalesce(sum(CASE WHEN ended_at IS NULL THEN greatest(room, cost) ELSE cost END), 0)::bigint FROM agent_questions
		WHERE account_id = $1 AND within IS NULL AND created_at >= date_trunc('day', now(), 'UTC')`, accountID).QueryRow(func(row pgx.Row) error { return row.Scan(&used) })
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return 0, wrap(err, "count what questions cost today")
	}
	left := s.cfg.PerDay - used
	if left < o.Least {
		return 0, &agent.BoundError{Stop: agent.StopDayMoney}
	}
	return min(o.Quote, left), nil
}

// Left is what is left of the question's own room, and of that of the question that pays.
func (e *entry) Left(ctx context.Context) (money billing.NanoUSD, tokens int64, err error) {
	var open bool
	err = e.store.cfg.Pool.QueryRow(ctx, `SELECT min(room - cost), min(token_room - tokens), bool_and(ended_at IS NULL) FROM agent_questions WHERE id IN ($1, $2)`,
		e.id, e.root).Scan(&money, &tokens, &open)
	if err == nil && !open {
		err = errors.New("it has been ended")
	}
	return money, tokens, wrap(err, "read what is left of a question")
}

// Used notes turns, of the question and of the one that pays for it.
func (e *entry) Used(ctx context.Context, turns []agent.Spent) error {
	batch := &pgx.Batch{}
	for _, t := range turns {
		u := t.Usage
		batch.Queue(`
			WITH noted AS (
				INSERT INTO agent_turns (question_id, place, model, input, cache_read, cache_write, output, cost) VALUES ($1, $3, $4, $5, $6, $7, $8, $9)
				ON CONFLICT DO NOTHING RETURNING cost, input + cache_read + cache_write + output AS tokens)
			UPDATE agent_questions q SET cost = q.cost + n.cost, tokens = q.tokens + n.tokens, alive_at = now() FROM noted n WHERE q.id IN ($1, $2)`,
			e.id, e.root, t.Place, t.Model, u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Cost)
	}
	return wrap(e.store.cfg.Pool.SendBatch(ctx, batch).Close(), "note turns of a model")
}

// Did notes steps.
func (e *entry) Did(ctx context.Context, steps []agent.Step) error {
	batch := &pgx.Batch{}
	for _, step := range steps {
		e.steps++
		failed := ""
		if step.Result.Error != nil {
			failed = step.Result.Error.Message
		}
		batch.Queue(`INSERT INTO agent_steps (question_id, place, round, tool, arguments, run_id, ok, error)
			SELECT $1, $2, $3, $4, $5, nullif($6, '')::uuid, $7, $8 WHERE EXISTS (SELECT FROM agent_questions WHERE id = $1 AND NOT forgotten) ON CONFLICT DO NOTHING`,
			e.id, e.steps, step.Round, step.Tool, text(step.Arguments), step.RunID, step.Result.OK, text(failed))
	}
	return wrap(e.store.cfg.Pool.SendBatch(ctx, batch).Close(), "note steps of a question")
}

// Close settles the question.
func (e *entry) Close(ctx context.Context, a agent.Answer, failed error) (cost billing.NanoUSD, err error) {
	end := ending{stop: string(a.Stop), answer: text(a.Text)}
	if failed != nil {
		end.failed = text(failed.Error())
	}
	if cost, err = e.store.settle(ctx, e.id, end); err != nil {
		return 0, err // Run tries again when the lease is over
	}
	e.store.forgetOpen(e.id)
	return cost, nil
}

func (s *Store) forgetOpen(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}

// ending is how a question ended.
type ending struct{ stop, answer, failed string }

// settle ends a question once, and tells what it cost: what was noted is taken from what was held, the rest goes back.
func (s *Store) settle(ctx context.Context, id string, end ending) (cost billing.NanoUSD, err error) {
	err = pgx.BeginFunc(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		var account string
		var held billing.NanoUSD
		var over bool
		err := tx.QueryRow(ctx, `SELECT account_id::text, cost, held, ended_at IS NOT NULL FROM agent_questions WHERE id = $1 FOR UPDATE`, id).Scan(&account, &cost, &held, &over)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil || over {
			return err
		}
		if held > 0 {
			if err := s.pay(ctx, tx, billing.Settlement{AccountID: account, RunID: id, Cost: cost, Held: held, Note: "a question to a model"}); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `UPDATE agent_questions SET ended_at = now(), charged = least(cost, held), stop = $2,
			answer = CASE WHEN forgotten THEN '' ELSE $3 END, error = CASE WHEN forgotten THEN '' ELSE $4 END WHERE id = $1`, id, end.stop, end.answer, end.failed)
		return err
	})
	return cost, wrap(err, "settle question "+id)
}

func (s *Store) pay(ctx context.Context, tx pgx.Tx, settlement billing.Settlement) error {
	m := billing.Moves{Settlements: []billing.Settlement{settlement}}
	locks, writes := &pgx.Batch{}, &pgx.Batch{}
	m.Lock(locks)
	if err := tx.SendBatch(ctx, locks).Close(); err != nil {
		return err
	}
	if _, err := m.Post(writes); err != nil {
		return err
	}
	return tx.SendBatch(ctx, writes).Close()
}

// interrupted is why a question ended whose process is gone.
const interrupted = "the program was interrupted"

// Run keeps this process's questions alive and settles those that processes left which are gone, until ctx ends.
func (s *Store) Run(ctx context.Context) {
	tick := time.NewTicker(s.cfg.Lease / 6)
	defer tick.Stop()
	for {
		if err := s.Tend(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Logger.ErrorContext(ctx, "questions that were left could not be settled", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Tend does once what Run does.
func (s *Store) Tend(ctx context.Context) error {
	s.mu.Lock()
	own := slices.Collect(maps.Keys(s.open))
	s.mu.Unlock()
	if len(own) > 0 {
		if _, err := s.cfg.Pool.Exec(ctx, `UPDATE agent_questions SET alive_at = now() WHERE id = ANY ($1::uuid[]) AND ended_at IS NULL`, own); err != nil {
			return wrap(err, "keep questions alive")
		}
	}
	rows, _ := s.cfg.Pool.Query(ctx, `SELECT id::text FROM agent_questions WHERE ended_at IS NULL AND alive_at < now() - make_interval(secs => $1) ORDER BY alive_at LIMIT 1000`, s.cfg.Lease.Seconds())
	left, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return wrap(err, "find questions that were left")
	}
	var problems error
	for _, id := range left {
		_, err := s.settle(ctx, id, ending{failed: interrupted})
		problems = errors.Join(problems, err)
	}
	return problems
}

// Forget deletes what an account asked and was answered. What it cost stays for the books.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM agent_steps s USING agent_questions q WHERE q.id = s.question_id AND q.account_id = $1`, accountID)
	batch.Queue(`UPDATE agent_questions SET question = '', answer = '', error = '', conversation = '', forgotten = true WHERE account_id = $1`, accountID)
	return wrap(tx.SendBatch(ctx, batch).Close(), "forget questions")
}

// Adopt gives the questions of an account to the one that it is merged into.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	_, err := tx.Exec(ctx, `UPDATE agent_questions SET account_id = $2 WHERE account_id = $1`, from, into)
	return wrap(err, "adopt questions")
}

// text is what Postgres can keep of a text: no zero bytes, and valid UTF-8.
func text(s string) string { return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "") }

func wrap(err error, what string) error {
	return errs.Wrap(err, "questions: %s", what)
}

// Export writes what an account asked of models, with the steps that they took.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	return to.JSON(ctx, tx, "conversations/questions.json", `
		SELECT q.id, q.platform, q.conversation, q.provider, q.question, q.answer, q.error <> '' AS failed, q.tokens, q.charged, q.created_at, q.ended_at,
			(SELECT json_agg(s ORDER BY s.place) FROM (SELECT place, tool, arguments, run_id, ok, error, created_at FROM agent_steps WHERE question_id = q.id) s) AS steps
		FROM agent_questions q WHERE q.account_id = $1 AND NOT q.forgotten ORDER BY q.id`, accountID)
}
