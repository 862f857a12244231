// Package accept takes requests: it gives inputs their values, has the run quoted and written, and lets a run go ahead that waits for
// its owner's word.
package accept

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/price"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/runs/write"
)

// Accept binds, quotes and takes on a run: in one transaction its row, which is its job, and the hold of the
// quoted high end are written, or nothing is. It answers before the run starts.
//
// A run that asks for its owner's word (see Bound.Asks) is taken on as awaiting_confirmation, without hold, see Confirm.
// A request whose IdempotencyKey was used before gives the first run, whatever else it says. Errors:
// *MissingInputError, those of Bind, *QuoteError, *LimitError and billing.ErrInsufficient, all found with errors.As or errors.Is.
func (s *Acceptor) Accept(ctx context.Context, r runs.Request) (runs.Run, error) {
	b, err := s.Bind(ctx, r)
	if err != nil {
		return s.firstOr(ctx, r, err)
	}
	return s.AcceptBound(ctx, b)
}

// firstOr gives the first run of a repeated request that can't be bound any more, such as after its tool went away, or refusal.
func (s *Acceptor) firstOr(ctx context.Context, r runs.Request, refusal error) (runs.Run, error) {
	if run, err := s.store.First(ctx, r.AccountID, r.IdempotencyKey); err == nil {
		return run, nil
	}
	return runs.Run{}, refusal
}

// AcceptBound is Accept for a request that Bind has bound, with the inputs as they were shown.
func (s *Acceptor) AcceptBound(ctx context.Context, b runs.Bound) (runs.Run, error) {
	if len(b.Missing) > 0 {
		return s.firstOr(ctx, b.Request, &runs.MissingInputError{Fields: b.Missing})
	}
	if err := s.limiter.MayRun(ctx, b.Request.AccountID); err != nil {
		return s.firstOr(ctx, b.Request, err)
	}
	if err := s.screen(ctx, b); err != nil {
		return s.firstOr(ctx, b.Request, err)
	}
	if err := s.ownFiles(ctx, b); err != nil {
		return s.firstOr(ctx, b.Request, err)
	}
	quote, err := s.pricer.Quote(ctx, b)
	if err != nil {
		return s.firstOr(ctx, b.Request, err)
	}
	if quote.Parts && quote.High > 0 && b.Request.Budget.Limit > 0 { // its parts draw on the budget without its limit
		return runs.Run{}, registry.Errorf(registry.CodeUnauthorized, "%s is made of runs that pay for themselves, which a spending limit of a key does not bound: use a key without one", b.Tool.ToolID)
	}
	a, err := s.prepare(ctx, b, quote)
	if err != nil {
		return runs.Run{}, fmt.Errorf("accept a run of %s: %w", b.Tool.ToolID, err)
	}
	if err := s.take(ctx, a); err != nil {
		return runs.Run{}, fmt.Errorf("accept a run of %s: %w", b.Tool.ToolID, err)
	}
	if a.Beside != nil && a.Beside.Refused != nil {
		a.Refused = a.Beside.Refused
	} else if a.Repeats != "" {
		return s.store.Get(ctx, a.Repeats)
	}
	if now, merged := s.survivor(ctx, b.Request.AccountID, a.Refused); merged {
		b.Request.AccountID = now
		return s.AcceptBound(ctx, b)
	}
	if a.Refused != nil {
		return runs.Run{}, fmt.Errorf("accept a run of %s: %w", b.Tool.ToolID, a.Refused)
	}
	s.Metrics.Accepted.WithLabelValues(b.Tool.Service).Inc()
	if b.Request.Approval != runs.ApproveNothing && a.Record.Status == runs.StatusAwaitingConfirmation {
		s.tellDeferred(ctx, &a.Record.Run)
	}
	if s.Config.Warn != nil && len(a.Record.Warnings) > 0 && len(a.Record.Origin.Target) == 0 {
		run := a.Record.Run
		s.Spawn(func() { s.Config.Warn(s.Base, run) })
	}
	return a.Record.Run, nil
}

// take writes a run that may be taken on, and begins to work on it where there is a place for it.
func (s *Acceptor) take(ctx context.Context, a *write.Acceptance) error {
	if a.Record.Status == runs.StatusQueued {
		if a.Kept = s.worker.Slots.Keep(a.Record.ID, a.Record.Tool.Service, s.worker.RoomFor(a.Record.Tool)); !a.Kept {
			defer s.worker.Slots.Queued()
		}
	}
	err := s.writer.Writes.Do(ctx, &write.Write{Accept: a})
	if err != nil && s.store.Landed(ctx, a.Record.ID) {
		err = nil
	}
	if !a.Kept {
		return err
	}
	if err != nil || a.Repeats != "" || a.Refused != nil || a.Record.Waiting {
		s.worker.Slots.Leave(a.Record.ID)
		return err
	}
	s.store.Serve(a.Record.Tool.Service, a.Record.AccountID)
	known := a.Record
	go s.worker.Tend(known.ID, true, &known)
	return nil
}

// prepare makes the record to be written.
func (s *Acceptor) prepare(ctx context.Context, b runs.Bound, quote billing.Quote) (*write.Acceptance, error) {
	if err := errors.Join(store.CheckKey(b.Request.IdempotencyKey), b.Request.Context.Check()); err != nil {
		return nil, err
	}
	limits, err := s.limiter.LimitsOf(ctx, b.Request.AccountID)
	if err != nil {
		return nil, err
	}
	id, err := uuid.NewV7FromReader(s.Config.Random)
	if err != nil {
		return nil, err
	}
	key, err := s.store.KeepTool(ctx, b.Tool)
	if err != nil {
		return nil, err
	}
	b.Tool.Version = key.Version
	_, deliverable := s.Config.Deliverers[b.Request.Origin.Platform]
	a := &write.Acceptance{
		Record: store.Record{Run: b.At(quote), Deliverable: deliverable, Timeout: s.TimeoutOf(b.Tool)},
		Key:    key, Shape: price.ShapeOf(b), Idem: b.Request.IdempotencyKey, Limits: limits, Budget: b.Request.Budget,
	}
	a.Record.ID, a.Record.CreatedAt, a.Record.Strict = id.String(), s.Now(), s.Config.Approval == runs.ApproveAll
	if err := s.readGroup(ctx, a); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		from any
		into *[]byte
	}{{b.Inputs, &a.Raw.Inputs}, {b.Sources, &a.Raw.Sources}, {quote, &a.Raw.Quote}} {
		if *part.into, err = json.Marshal(part.from); err != nil {
			return nil, err
		}
	}
	if a.Record.Preview != nil {
		if a.Raw.Preview, err = json.Marshal(a.Record.Preview); err != nil {
			return nil, err
		}
	}
	a.Raw.Context, err = encodeContext(b.Request.Context)
	return a, err
}

// readGroup finds the party that may pay for a run, so that its fund is locked with the other wallets, and for a run that waits for its
// owner's word who would pay now.
func (s *Acceptor) readGroup(ctx context.Context, a *write.Acceptance) error {
	r := &a.Record
	if r.Group == "" || r.Quote.Held() == 0 || r.Quote.Parts {
		return nil
	}
	terms, err := groups.TermsOf(ctx, s.Config.Pool, r.Group)
	if err != nil {
		return err
	}
	if r.Group, a.Party = terms.ID, terms.Party; r.Status != runs.StatusAwaitingConfirmation {
		return nil
	}
	// Whether anybody pays shows when it is confirmed.
	if payer, err := s.limiter.Payer(ctx, r.Group, r.AccountID, r.Quote.Held()); err == nil && payer != r.AccountID {
		r.Payer = payer
	}
	return nil
}

// Ask is Accept for those who ask on somebody's behalf, such as a model: a run that this person has to approve first is an
// *ApprovalError that holds it. The same call in the same trace finds the run again, once it is approved and when it is over, and
// asks anew when the approval has not come in time.
func (s *Acceptor) Ask(ctx context.Context, r runs.Request) (runs.Run, error) {
	own := r.IdempotencyKey
	for before := ""; ; {
		b, err := s.Bind(ctx, r)
		if err == nil && own == "" && len(b.Missing) == 0 {
			b.Request.IdempotencyKey, err = s.askedBefore(ctx, b, before)
		}
		if err != nil {
			run, err := s.firstOr(ctx, r, err)
			if err != nil {
				return runs.Run{}, err
			}
			return run, run.NeedsApproval()
		}
		run, err := s.AcceptBound(ctx, b)
		if err != nil {
			return runs.Run{}, err
		}
		if b.Request.IdempotencyKey != own && s.forgotten(run) {
			before = run.ID
			continue
		}
		return run, run.NeedsApproval()
	}
}

// askedBefore is the key under which a call that waits for approval is found again, see approvalKey; "" for one that does not wait.
// What was approved and done may have no preview any more, so it is looked for first.
func (s *Acceptor) askedBefore(ctx context.Context, b runs.Bound, before string) (string, error) {
	key, err := approvalKey(b.Request, before)
	if err != nil {
		return "", err
	}
	if _, ok := runs.Extra[registry.Previewer](s.Config.Providers[b.Tool.Service]); ok {
		if _, err := s.store.First(ctx, b.Request.AccountID, key); err == nil {
			return key, nil
		}
	}
	quote, err := s.pricer.Quote(ctx, b)
	if err != nil || !b.Asks(quote) {
		return "", err
	}
	return key, nil
}

// forgotten reports whether a run can't be approved any more: it was canceled before, or its time is over. One that failed after its
// approval, such as because what its preview showed had changed, is shown and approved anew.
func (s *Acceptor) forgotten(r runs.Run) bool {
	switch {
	case r.Status == runs.StatusAwaitingConfirmation:
		return runs.Expired(r, s.Config.Now())
	case r.Status == runs.StatusFailed:
		return r.Approved() != nil
	}
	return r.Status == runs.StatusCanceled && r.ConfirmedAt == nil
}

// Confirm lets a run that awaits confirmation go ahead, by the word of a person who sees its summary: a button below it. The run is
// queued and its hold made in one transaction; where the account has as many runs under way as it may, it waits for them. One that was
// confirmed before stays as it is. Only its owner may; "" is an operator. Errors: ErrNotFound, *GateError (the summary is too old),
// *LimitError and billing.ErrInsufficient (the run goes on waiting).
func (s *Acceptor) Confirm(ctx context.Context, runID, accountID string) (runs.Run, error) {
	return s.ConfirmSummary(ctx, runID, accountID, "", nil)
}

// ConfirmSummary is Confirm of the summary with the hash: what would be done must be what it says, or it is a *GateError. An
// empty hash is Confirm. granted are the scopes of personal data that may go to the service, of those that the summary names; nil: all.
func (s *Acceptor) ConfirmSummary(ctx context.Context, runID, accountID, hash string, granted []string) (runs.Run, error) {
	return s.confirmIf(ctx, runID, accountID, granted, func(r runs.Run) error {
		switch {
		case r.Status == runs.StatusAwaitingConfirmation && runs.Expired(r, s.Config.Now()):
			return &runs.GateError{Reason: runs.SummaryExpired}
		case hash != "" && hash != r.Summary().Hash():
			return &runs.GateError{Reason: runs.SummaryHashMismatch}
		case r.Status == runs.StatusAwaitingConfirmation:
			return r.MayGrant(granted)
		}
		return nil
	})
}

// ConfirmBy is Confirm by the word of somebody in between, such as a model: the run goes ahead only if its owner was shown exactly what
// would be done and has said yes to it since. Every run goes ahead once. Errors: a *GateError for each reason, *LimitError and
// billing.ErrInsufficient.
func (s *Acceptor) ConfirmBy(ctx context.Context, runID, accountID string, a runs.Affirmation) (runs.Run, error) {
	run, err := s.confirmIf(ctx, runID, accountID, nil, func(r runs.Run) error { return a.Gate(r, s.Config.Now()) })
	if errors.Is(err, runs.ErrNotFound) {
		err = &runs.GateError{Reason: runs.NoPriorSummary} // nor may anybody learn what others were shown
	}
	return run, err
}

func (s *Acceptor) confirmIf(ctx context.Context, runID, accountID string, granted []string, may func(runs.Run) error) (runs.Run, error) {
	var confirmed bool
	err := postgres.InTx(ctx, s.Config.Pool, func(tx pgx.Tx) error {
		r, err := s.store.LockRun(ctx, tx, runID, accountID)
		if err == nil {
			err = may(r.Run)
		}
		if err != nil || r.Status != runs.StatusAwaitingConfirmation {
			return err
		}
		if err := s.limiter.MayRun(ctx, r.AccountID); err != nil {
			return err
		}
		confirmed = true
		return s.confirm(ctx, tx, r, granted)
	})
	if err != nil {
		return runs.Run{}, fmt.Errorf("confirm run %s: %w", runID, err)
	}
	run, err := s.store.Get(ctx, runID)
	if err == nil && confirmed {
		s.hub.Changed(&run)
	}
	return run, err
}

// confirm queues a locked run that awaits confirmation. Locks: see WriteTogether.
func (s *Acceptor) confirm(ctx context.Context, tx pgx.Tx, r store.Record, granted []string) error {
	if _, err := tx.Exec(ctx, store.LockAccounts, slices.DeleteFunc([]string{r.AccountID, r.Group}, func(id string) bool { return id == "" })); err != nil {
		return err
	}
	var full bool
	if err := tx.QueryRow(ctx, `SELECT runs_full($1, $2)`, r.AccountID, s.Config.PerAccount).Scan(&full); err != nil {
		return err
	}
	if err := s.limiter.Hold(ctx, tx, &r); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE runs SET status = 'queued', waiting = $2, confirmed_at = $3, granted = $4, payer = nullif($5, '')::uuid WHERE id = $1`,
		r.ID, full, s.Now(), granted, r.Payer)
	if err != nil || full {
		return err
	}
	_, err = tx.Exec(ctx, store.OfferSQL)
	return err
}

// encodeContext writes a context as it is stored; nil where there is none.
func encodeContext(c registry.CallContext) ([]byte, error) {
	if c == (registry.CallContext{}) {
		return nil, nil
	}
	return json.Marshal(c)
}

// tellDeferred records a model's call that waits for approval.
func (s *Acceptor) tellDeferred(ctx context.Context, r *runs.Run) {
	s.Tell(ctx, "the call waits for approval", r, false, string(runs.Refusal(r.NeedsApproval()).Code), true)
}

// survivor gives the account that a refused request should have named: the wallet of one that was merged is
// empty.
func (s *Acceptor) survivor(ctx context.Context, accountID string, refused error) (string, bool) {
	var poor billing.ErrInsufficient
	if s.Config.Users == nil || !errors.As(refused, &poor) || poor.Have > 0 {
		return "", false
	}
	account, err := s.Config.Users.ByID(ctx, accountID)
	return account.ID, err == nil && account.ID != accountID
}
