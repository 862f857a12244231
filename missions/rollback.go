package missions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// undoAt is when each attempt to take a leg back is made, from the first one on.
var undoAt = [...]time.Duration{0, time.Second, 4 * time.Second}

// back lets what is under way come to its end, and takes back what was done, the last first.
func (c *course) back(ctx context.Context) error {
	if err := c.skip(ctx); err != nil {
		return err
	}
	for {
		if err := c.look(ctx); err != nil {
			return err
		}
		if c.all(func(l *Leg) bool { return l.Progress.Status.Final() }) {
			break
		}
		if err := c.wait(ctx); err != nil {
			return err
		}
	}
	for i := len(c.m.Legs) - 1; i >= 0; i-- {
		if err := c.undo(ctx, &c.m.Legs[i]); err != nil {
			return err
		}
	}
	return c.finish(ctx, c.outcome())
}

// skip ends the legs that have not begun. Where a process died after it had accepted one, that run is found.
func (c *course) skip(ctx context.Context) error {
	for i := range c.m.Legs {
		leg := &c.m.Legs[i]
		if leg.Progress.Status != LegPending {
			continue
		}
		run, err := c.cfg.Runs.First(ctx, c.m.AccountID, c.m.key(leg))
		switch {
		case err == nil:
			leg.Progress.RunID, leg.Progress.Status = run.ID, LegRunning
		case errors.Is(err, runs.ErrNotFound):
			leg.Progress.Status = LegSkipped
		default:
			return err
		}
		if err := c.saveLeg(ctx, &c.m, leg); err != nil {
			return err
		}
	}
	return nil
}

// stopRun cancels a run that nobody wants any more. One that may be at its service, and leaves something there, comes to its end: what
// is cut off in the midst can't be taken back.
func (c *course) stopRun(ctx context.Context, leg *Leg, run runs.Run) error {
	if leg.Effect.Leaves() && run.Status != runs.StatusAwaitingConfirmation {
		if begun, err := c.cfg.Runs.Begun(ctx, run.ID); err != nil || begun {
			return err
		}
	}
	run, err := c.cfg.Runs.Cancel(ctx, run.ID, run.AccountID)
	if err != nil {
		return err
	}
	return c.ended(ctx, leg, run)
}

// undo takes a leg back, if there is anything to take back and that was not settled before.
func (c *course) undo(ctx context.Context, leg *Leg) error {
	p := &leg.Progress
	done := p.Status == LegDone || p.InDoubt
	switch {
	case !done || !leg.Effect.Leaves() || p.Undo != "":
		return nil
	case leg.Effect.Undo == nil:
		return c.settleUndo(ctx, leg, UndoImpossible, "there is no tool that takes it back")
	case p.UndoInputs == nil:
		return c.settleUndo(ctx, leg, UndoImpossible, cmp.Or(p.UndoError, "nothing says what to take back"))
	}
	tool, err := c.cfg.Runs.ToolAt(ctx, leg.Effect.Undo.key())
	if err != nil {
		return err
	}
	b, err := c.cfg.Runs.BindAs(ctx, tool, request(c.m.AccountID, "", tool.ToolID, registry.Insiders, p.UndoInputs))
	if err == nil && len(b.Missing) > 0 {
		err = &runs.MissingInputError{Fields: b.Missing}
	}
	if final(err) {
		return c.settleUndo(ctx, leg, UndoImpossible, err.Error())
	}
	if err != nil {
		return err
	}
	return c.attempts(ctx, leg, b)
}

// attempts tries to take a leg back until that is settled. What was cut off is repeated under the same handle: it counts once.
func (c *course) attempts(ctx context.Context, leg *Leg, b runs.Bound) error {
	for resumed := leg.Progress.UndoSince != nil; ; resumed = true {
		p := &leg.Progress
		if leg.Effect.Window > 0 && p.EndedAt != nil && c.cfg.Now().Sub(*p.EndedAt) > leg.Effect.Window {
			return c.settleUndo(ctx, leg, UndoTooLate, fmt.Sprintf("it could be taken back for %s", leg.Effect.Window))
		}
		if err := c.untilDue(ctx, leg); err != nil {
			return err
		}
		if err := c.fail("undo"); err != nil {
			return err
		}
		err := c.ask(ctx, leg, b, resumed)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := c.fail("undoing"); err != nil {
			return err
		}
		switch status := registry.StatusOf(err); {
		case err == nil || status == alreadyUndone:
			return c.undone(ctx, leg)
		case status == undoTooLate:
			return c.settleUndo(ctx, leg, UndoRefused, registry.AsError(err).Message)
		}
		p.UndoTries++
		p.UndoError = registry.AsError(err).Message
		c.log.WarnContext(ctx, "taking a leg of a mission back failed", "mission", c.m.ID, "leg", leg.Order, "tool", b.Tool.ToolID, "try", p.UndoTries, "error", err)
		if p.UndoTries == len(undoAt) {
			return c.settleUndo(ctx, leg, UndoExhausted, p.UndoError)
		}
		if err := c.saveLeg(ctx, &c.m, leg); err != nil {
			return err
		}
	}
}

// What a service says to a request that takes something back, as HTTP statuses.
const (
	alreadyUndone = 409
	undoTooLate   = 422
)

// untilDue waits for the time of the next attempt, and takes note of the first one.
func (c *course) untilDue(ctx context.Context, leg *Leg) error {
	p := &leg.Progress
	if p.UndoSince == nil {
		now := c.now()
		p.UndoSince = &now
		return c.saveLeg(ctx, &c.m, leg)
	}
	timer := time.NewTimer(p.UndoSince.Add(undoAt[p.UndoTries]).Sub(c.cfg.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.worker.Stopping():
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
}

// handle is the idempotency handle under which a leg is taken back, the same at each attempt and after each restart.
func (m *Mission) handle(leg *Leg) string {
	return uuid.NewSHA1(uuid.MustParse(m.ID), fmt.Appendf(nil, "undo %d", leg.Order)).String()
}

// ask has the provider take a leg back, once and without retries.
func (c *course) ask(ctx context.Context, leg *Leg, b runs.Bound, repeated bool) (err error) {
	limit := c.cfg.UndoTimeout
	if own := b.Tool.Timeout(); own > 0 {
		limit = min(limit, own)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			c.log.ErrorContext(ctx, "the provider's code panicked", "mission", c.m.ID, "tool", b.Tool.ToolID, "panic", p, "stack", string(debug.Stack()))
			err = registry.Errorf(registry.CodeInternal, "the service %s failed in an odd way", b.Tool.Service)
		}
	}()
	handle := c.m.handle(leg)
	call := registry.Call{
		RunID: handle, Handle: handle, Repeated: repeated, UserID: c.m.AccountID, Tool: b.Tool, Inputs: b.Inputs, Media: c.cfg.Media,
		Context: registry.CallContext{TraceID: c.m.ID}, Sending: func(context.Context, registry.Ticket) error { return nil },
	}
	switch provider := c.cfg.Providers[b.Tool.Service]; {
	case provider.Caller != nil:
		_, err = provider.Caller.Call(ctx, call)
	case provider.Submitter != nil:
		err = submitAndPoll(ctx, provider.Submitter, call)
	default:
		err = registry.Errorf(registry.CodeUnavailable, "the service %s is not connected", b.Tool.Service)
	}
	return err
}

// pollEvery is how often a service is asked that takes a leg back by itself.
const pollEvery = 250 * time.Millisecond

// submitAndPoll has a provider that works by itself take a leg back. Submit asks first what became of an earlier try.
func submitAndPoll(ctx context.Context, provider registry.Submitter, call registry.Call) error {
	ticket, err := provider.Submit(ctx, call)
	for err == nil {
		var now registry.Progress
		if now, err = provider.Poll(ctx, ticket); err != nil {
			return err
		}
		switch {
		case now.State == registry.RunSucceeded:
			return nil
		case now.State.Terminal() && now.Err != nil:
			return now.Err
		case now.State.Terminal():
			return registry.Errorf(registry.CodeProvider, "it ended as %s", now.State)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
	return err
}

// undone takes note that a leg was taken back and gives back what it cost, both or neither.
func (c *course) undone(ctx context.Context, leg *Leg) error {
	now := c.now()
	leg.Progress.Undo, leg.Progress.UndoneAt, leg.Progress.UndoError = Undone, &now, ""
	run, err := c.cfg.Runs.Get(ctx, leg.Progress.RunID)
	if err != nil {
		return err
	}
	err = postgres.InTx(ctx, c.cfg.Pool, func(tx pgx.Tx) error {
		if run.Cost > 0 {
			if _, err := c.cfg.Runs.RefundIn(ctx, tx, run.ID, "taken back: "+c.m.Title); err != nil {
				return err
			}
		}
		if err := writeLeg(ctx, tx, c.m.ID, leg); err != nil {
			return err
		}
		return change(ctx, tx, c.m.ID, "")
	})
	if err != nil {
		return err
	}
	return c.fail("undone")
}

// settleUndo takes note that a leg can't be taken back, and why.
func (c *course) settleUndo(ctx context.Context, leg *Leg, undo UndoStatus, why string) error {
	leg.Progress.Undo, leg.Progress.UndoError = undo, why
	return c.saveLeg(ctx, &c.m, leg)
}

// outcome is how a mission ends that went back.
func (c *course) outcome() Status {
	switch {
	case len(c.m.Unresolved()) > 0:
		return RollbackIncomplete
	case !c.all(func(l *Leg) bool { return l.Progress.Undo != Undone }):
		return RolledBack
	case c.m.CanceledBy:
		return Canceled
	}
	return Failed
}

// finish ends the mission. Its owner is told afterwards, see tellEnd; the operator, of what could not be taken back, at once.
func (c *course) finish(ctx context.Context, status Status) error {
	if err := c.fail("finish"); err != nil {
		return err
	}
	now := c.now()
	c.m.Status, c.m.EndedAt = status, &now
	if status == RollbackIncomplete {
		c.logUnresolved(ctx)
	}
	err := postgres.InTx(ctx, c.cfg.Pool, func(tx pgx.Tx) error {
		if err := change(ctx, tx, c.m.ID, `, status = $2, ended_at = $3, untold = true`, status, now); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `DELETE FROM missions WHERE id = $1 AND forgotten`, c.m.ID)
		c.m.untold = tag.RowsAffected() == 0
		return err
	})
	if err == nil {
		c.over.WithLabelValues(string(status)).Inc()
		c.log.InfoContext(ctx, "a mission is over", "mission", c.m.ID, "status", string(status))
	}
	return err
}

// logUnresolved lets the operator know of what somebody has to look after.
func (c *course) logUnresolved(ctx context.Context) {
	for _, leg := range c.m.Unresolved() {
		p := leg.Progress
		c.log.ErrorContext(ctx, "a leg of a mission could not be taken back: somebody has to", "mission", c.m.ID, "leg", leg.Order, "tool", leg.Tool.ID,
			"run", p.RunID, "reference", p.Reference, "why", string(p.Undo), "error", p.UndoError, "escalation", c.m.EscalationURL)
	}
}

// tellTries is how often the owner is told before the mission goes on without.
const tellTries = 6

// tell lets the owner know: with a leg that it waits for their word, without that the mission is over. An error has it tried again later.
func (c *course) tell(ctx context.Context, waits *Leg) error {
	if c.cfg.Tell == nil {
		return nil
	}
	err := c.cfg.Tell(ctx, c.m, waits)
	if err == nil || ctx.Err() != nil || c.tries+1 < tellTries {
		return err
	}
	c.log.WarnContext(ctx, "the owner of a mission could not be told", "mission", c.m.ID, "error", err)
	return nil
}

// tellEnd tells the owner of the end. A chain's run tells its own, but not what was left behind.
func (c *course) tellEnd(ctx context.Context) error {
	if c.m.RunID == "" || c.m.Status == RollbackIncomplete {
		if err := c.tell(ctx, nil); err != nil {
			return err
		}
	}
	if err := c.fail("told"); err != nil {
		return err
	}
	_, err := c.cfg.Pool.Exec(ctx, `UPDATE missions SET untold = false WHERE id = $1`, c.m.ID)
	return errs.Wrap(err, "mission %s", c.m.ID)
}
