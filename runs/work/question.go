package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/runs/write"
)

const (
	MaxQuestions = 20              // of one call: a service that asks without end hears no more
	answerLeft   = 5 * time.Second // of the call's time, at most, for what follows after nobody answered
)

// Answer gives the owner's answer to the open question of a run, of which only one counts. What does not fit the question is a
// *registry.Error with the field, and it stays open. Other errors: ErrNotFound, ErrNoQuestion.
func (s *Worker) Answer(ctx context.Context, runID, accountID, questionID string, reply registry.Reply) (runs.Run, error) {
	r, err := s.Store.Load(ctx, runID)
	switch {
	case err != nil:
		return runs.Run{}, err
	case r.AccountID != accountID || r.DeletedAt != nil:
		return runs.Run{}, fmt.Errorf("run %s: %w", runID, runs.ErrNotFound)
	case r.Question == nil || r.Question.ID != questionID:
		return runs.Run{}, runs.ErrNoQuestion
	}
	switch reply.Action {
	case registry.ActionAccept:
		var bad *registry.Error
		if reply.Values, bad = r.Question.Check(reply.Values); bad != nil {
			return runs.Run{}, bad
		}
	case registry.ActionDecline, registry.ActionCancel:
		reply.Values = nil
	default:
		bad := registry.Errorf(registry.CodeInvalidInput, "%s: found %q, expected accept, decline or cancel", "action", reply.Action)
		bad.Field = "action"
		return runs.Run{}, bad
	}
	raw, err := json.Marshal(reply)
	if err != nil {
		return runs.Run{}, fmt.Errorf("answer the question of run %s: %w", runID, err)
	}
	tag, err := s.Config.Pool.Exec(ctx, `UPDATE run_questions SET reply = $3 WHERE run_id = $1 AND id = $2 AND reply IS NULL AND until > $4`, r.ID, questionID, raw, s.Now())
	switch {
	case err != nil:
		return runs.Run{}, fmt.Errorf("answer the question of run %s: %w", runID, err)
	case tag.RowsAffected() == 0:
		return runs.Run{}, runs.ErrNoQuestion
	}
	if !s.Hub.Nudge(r.ID) {
		s.Hub.Tell(r.ID)
	}
	r.Question = nil
	return r.Run, nil
}

// asking is the questions of one call.
type asking struct {
	*step
	ctx   context.Context // of the call, which ends all its questions
	end   context.CancelCauseFunc
	turn  chan struct{} // held by the question that is open, and by who changes the run
	count int
}

// callAsking is a call whose provider may ask the run's owner, and tell how far it is. When it is over no question is open any more.
func (w *step) callAsking(ctx context.Context, provider registry.Caller) (registry.Result, error) {
	ctx, end := context.WithCancelCause(ctx)
	a := &asking{step: w, ctx: ctx, end: end, turn: make(chan struct{}, 1)}
	call := w.call()
	call.Ask, call.Report = a.ask, a.report
	defer func() {
		end(nil)
		a.turn <- struct{}{} // the one who asks writes the run
		a.dirty = false      // what follows writes anew
	}()
	result, err := provider.Call(ctx, call)
	if err != nil && errors.Is(context.Cause(ctx), store.ErrStopping) {
		return registry.Result{}, store.ErrStopping
	}
	return result, err
}

// ask is the call's registry.Asker.
func (a *asking) ask(ctx context.Context, q registry.Question) registry.Reply {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.ctx, cancel)()
	canceled := registry.Reply{Action: registry.ActionCancel}
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return canceled
	}
	if a.count++; a.count > MaxQuestions {
		a.log().WarnContext(ctx, "a service asks without end and hears no more", "questions", MaxQuestions)
		return canceled
	}
	wait := a.s.Config.AnswerWait
	for _, limited := range []context.Context{ctx, a.ctx} {
		if deadline, ok := limited.Deadline(); ok {
			left := time.Until(deadline)
			wait = min(wait, left-min(left/10, answerLeft))
		}
	}
	open := runs.OpenQuestion{Question: q, ID: uuid.NewString(), Until: a.s.Now().Add(wait)}
	if err := a.keep(ctx, &open); err != nil {
		if ctx.Err() == nil && !errors.Is(err, store.ErrGone) {
			a.log().WarnContext(ctx, "a question could not be asked", "error", err)
		}
		return canceled
	}
	asked := a.announce()
	a.await(ctx, wait, open.ID)
	reply, err := a.take(ctx, open.ID)
	a.retract(open.ID, asked)
	if err != nil {
		a.log().WarnContext(ctx, "the answer to a question could not be read", "error", err)
	}
	if err != nil || reply == nil || ctx.Err() != nil {
		return canceled
	}
	return *reply
}

// report shows how far the call is; it is written down a little later, by flush.
func (a *asking) report(p registry.Progress) {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	default: // a question is open, another report is just told, or the call is over
		return
	}
	before := a.r.Run
	p.State = registry.RunRunning
	if a.progress(p); a.ctx.Err() != nil || sameProgress(before, a.r.Run) {
		a.r.Run = before
		return
	}
	a.s.Hub.SetLive(a.live, a.r.Run, nil)
	if !a.dirty {
		a.dirty = true
		time.AfterFunc(max(0, writeEvery-a.s.Config.Now().Sub(a.wrote)), a.flush)
	}
}

// flush writes down how far the call is, unless it is over or that was done.
func (a *asking) flush() {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-a.ctx.Done():
		return
	}
	if !a.dirty {
		return
	}
	ctx, cancel := context.WithTimeout(a.ctx, writeEvery)
	defer cancel()
	if err := a.write(ctx); err != nil {
		a.dirty = false // the next report has another try
		if a.ctx.Err() == nil && !errors.Is(err, store.ErrGone) {
			a.log().WarnContext(ctx, "how far a call is could not be written", "error", err)
		}
	}
}

// keep stores a question with the run, and shows it.
func (a *asking) keep(ctx context.Context, q *runs.OpenQuestion) error {
	raw, err := json.Marshal(q.Question)
	if err != nil {
		return err
	}
	_, err = a.s.Config.Pool.Exec(ctx, `
		INSERT INTO run_questions (run_id, id, asked_by, question, until) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (run_id) DO UPDATE SET id = EXCLUDED.id, asked_by = EXCLUDED.asked_by, question = EXCLUDED.question, until = EXCLUDED.until, reply = NULL`,
		a.r.ID, q.ID, a.s.Instance, raw, q.Until)
	if err != nil {
		return err
	}
	a.r.Status, a.r.Question = runs.StatusRunning, q
	if err = a.write(ctx); err != nil {
		a.r.Question = nil
	}
	return err
}

// await waits until there is a reply, or nobody waits for it any more. A program that stops does not wait: the call ends, too.
func (a *asking) await(ctx context.Context, limit time.Duration, questionID string) {
	over, look := time.NewTimer(limit), time.NewTicker(rereadEvery) // news of an answer elsewhere can be missed
	defer over.Stop()
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-over.C:
			return
		case <-a.s.Stopping:
			a.end(store.ErrStopping)
			return
		case <-a.live.Nudge:
		case <-look.C:
		}
		var answered bool
		err := a.s.Config.Pool.QueryRow(ctx, `SELECT reply IS NOT NULL FROM run_questions WHERE run_id = $1 AND id = $2`, a.r.ID, questionID).Scan(&answered)
		if answered || errors.Is(err, pgx.ErrNoRows) {
			return
		}
	}
}

// take ends a question and gives the reply; nil: there is none.
func (a *asking) take(ctx context.Context, questionID string) (*registry.Reply, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerLeft)
	defer cancel()
	a.r.Question = nil
	a.s.Hub.SetLive(a.live, a.r.Run, nil)
	var raw []byte
	err := a.s.Config.Pool.QueryRow(ctx, `DELETE FROM run_questions WHERE run_id = $1 AND id = $2 RETURNING convert_to(reply::text, 'UTF8')`, a.r.ID, questionID).Scan(&raw)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && raw == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	reply := new(registry.Reply)
	return reply, decimal.Unmarshal(raw, reply)
}

// dropQuestions drops what processes that are gone have left of their questions.
func (s *Worker) dropQuestions(ctx context.Context) error {
	_, err := s.Config.Pool.Exec(ctx, `DELETE FROM run_questions WHERE until < $1`, s.Now().Add(-time.Minute))
	return err
}

// asker is who asks where the run was asked for; nil: nobody does, and its page alone shows the question.
func (w *step) asker() runs.Asker {
	asker, _ := w.s.Config.Deliverers[w.r.Origin.Platform].(runs.Asker)
	return asker
}

// announce asks the owner where the run was asked for. That takes its time while the question is open already; asked is closed afterwards.
func (a *asking) announce() (asked <-chan struct{}) {
	done, asker, run := make(chan struct{}), a.asker(), a.r.Run
	if asker != nil {
		a.s.Spawn(func() {
			defer close(done)
			a.tellOwner(run.ID, func(ctx context.Context) error { return asker.Ask(ctx, run) })
		})
	}
	return done
}

// retract shows there that the question is over.
func (a *asking) retract(questionID string, asked <-chan struct{}) {
	if asker, run := a.asker(), a.r.Run; asker != nil {
		a.s.Spawn(func() {
			select {
			case <-asked:
				a.tellOwner(run.ID, func(ctx context.Context) error { return asker.Asked(ctx, run, questionID) })
			case <-a.s.Base.Done():
			}
		})
	}
}

// tellOwner does what concerns a question at a platform. The page of the run shows the question whatever becomes of it.
func (a *asking) tellOwner(runID string, tell func(context.Context) error) {
	ctx, cancel := context.WithTimeout(a.s.Base, write.StopWithin)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			a.s.Log.ErrorContext(ctx, "a platform's code panicked over a question", "run", runID, "panic", p)
		}
	}()
	err := tell(ctx)
	for wait := registry.AsError(err); err != nil && wait.RetryAfter > 0 && wait.RetryAfter <= patience && a.s.Sleep(ctx, wait.RetryAfter) == nil; wait = registry.AsError(err) {
		err = tell(ctx)
	}
	if err != nil && ctx.Err() == nil {
		a.s.Log.WarnContext(ctx, "a run's owner was not told of its question", "run", runID, "error", err)
	}
}
