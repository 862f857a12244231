package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// acceptor takes requests on.
type acceptor struct {
	*env
	store   *store
	hub     *hub
	limiter *limiter
	pricer  *pricer
	writer  *writer
	worker  *worker
}

// acceptance is a run on its way into the database.
type acceptance struct {
	record record
	key    toolKey
	shape  int64
	idem   string
	kept   bool // there is a place for it here: this process works on it at once
	limits users.Limits
	budget Budget
	raw    struct{ inputs, sources, quote, context, preview []byte }

	repeats string      // the first run's id, when the request is a repeated one
	beside  *acceptance // the first request, when it came at the same moment
	refused error       // why there is no run
}

// Accept binds, quotes and takes on a run: in one transaction its row, which is its job, and the hold of the
// quoted high end are written, or nothing is. It answers before the run starts.
//
// A run that asks for its owner's word (see Bound.Asks) is taken on as awaiting_confirmation, without hold, see Confirm.
// A request whose IdempotencyKey was used before gives the first run, whatever else it says. Errors:
// *MissingInputError, those of Bind, *QuoteError, *LimitError and billing.ErrInsufficient, all found with errors.As or errors.Is.
func (s *acceptor) Accept(ctx context.Context, r Request) (Run, error) {
	b, err := s.Bind(ctx, r)
	if err != nil {
		return s.firstOr(ctx, r, err)
	}
	return s.AcceptBound(ctx, b)
}

// First gives the account's run that was asked for with an idempotency key, whatever became of its tool. ErrNotFound: there is none.
func (s *store) First(ctx context.Context, accountID, key string) (Run, error) {
	if key == "" || checkKey(key) != nil {
		return Run{}, ErrNotFound
	}
	records, err := s.query(ctx, `WHERE r.account_id = $1 AND r.idempotency_key = $2`, accountID, key)
	if err == nil && len(records) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Run{}, fmt.Errorf("find the run of an idempotency key: %w", err)
	}
	return records[0].Run, nil
}

// firstOr gives the first run of a repeated request that can't be bound any more, such as after its tool went away, or refusal.
func (s *acceptor) firstOr(ctx context.Context, r Request, refusal error) (Run, error) {
	if run, err := s.store.First(ctx, r.AccountID, r.IdempotencyKey); err == nil {
		return run, nil
	}
	return Run{}, refusal
}

// AcceptBound is Accept for a request that Bind has bound, with the inputs as they were shown.
func (s *acceptor) AcceptBound(ctx context.Context, b Bound) (Run, error) {
	if len(b.Missing) > 0 {
		return s.firstOr(ctx, b.Request, &MissingInputError{Fields: b.Missing})
	}
	quote, err := s.pricer.Quote(ctx, b)
	if err != nil {
		return s.firstOr(ctx, b.Request, err)
	}
	a, err := s.prepare(ctx, b, quote)
	if err != nil {
		return Run{}, fmt.Errorf("accept a run of %s: %w", b.Tool.ToolID, err)
	}
	if err := s.take(ctx, a); err != nil {
		return Run{}, fmt.Errorf("accept a run of %s: %w", b.Tool.ToolID, err)
	}
	if a.beside != nil && a.beside.refused != nil {
		a.refused = a.beside.refused
	} else if a.repeats != "" {
		return s.store.Get(ctx, a.repeats)
	}
	if now, merged := s.survivor(ctx, b.Request.AccountID, a.refused); merged {
		b.Request.AccountID = now
		return s.AcceptBound(ctx, b)
	}
	if a.refused != nil {
		return Run{}, fmt.Errorf("accept a run of %s: %w", b.Tool.ToolID, a.refused)
	}
	s.metrics.accepted.WithLabelValues(b.Tool.Service).Inc()
	if b.Request.Approval != ApproveNothing && a.record.Status == StatusAwaitingConfirmation {
		s.tellDeferred(ctx, &a.record.Run)
	}
	return a.record.Run, nil
}

// take writes a run that may be taken on, and begins to work on it where there is a place for it.
func (s *acceptor) take(ctx context.Context, a *acceptance) error {
	if a.record.Status == StatusQueued {
		if a.kept = s.worker.desk.keep(a.record.ID, a.record.Tool.Service, s.worker.roomFor(a.record.Tool)); !a.kept {
			defer s.worker.desk.queued()
		}
	}
	err := s.writer.writes.Do(ctx, &write{accept: a})
	if err != nil && s.store.landed(ctx, a.record.ID) {
		err = nil
	}
	if !a.kept {
		return err
	}
	if err != nil || a.repeats != "" || a.refused != nil || a.record.waiting {
		s.worker.desk.leave(a.record.ID)
		return err
	}
	s.store.serve(a.record.Tool.Service, a.record.AccountID)
	known := a.record
	go s.worker.tend(known.ID, true, &known)
	return nil
}

// landed reports whether a run is there although its writing failed: when a connection breaks at the commit,
// nobody hears how that went, and who is told that there is no run must not be charged for one.
func (s *store) landed(ctx context.Context, runID string) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), landedWithin)
	defer cancel()
	_, err := s.load(ctx, runID)
	return err == nil
}

const (
	landedWithin = 5 * time.Second
	maxKey       = 500 // bytes of an idempotency key
)

// checkKey refuses idempotency keys that the database can't keep.
func checkKey(key string) error {
	if len(key) > maxKey {
		return registry.Errorf(registry.CodeInvalidInput, "the idempotency key has %d bytes, the limit is %d", len(key), maxKey)
	}
	if !utf8.ValidString(key) || strings.Contains(key, "\x00") {
		return registry.Errorf(registry.CodeInvalidInput, "the idempotency key holds bytes that are no characters")
	}
	return nil
}

// prepare makes the record to be written.
func (s *acceptor) prepare(ctx context.Context, b Bound, quote billing.Quote) (*acceptance, error) {
	if err := errors.Join(checkKey(b.Request.IdempotencyKey), b.Request.Context.Check()); err != nil {
		return nil, err
	}
	limits, err := s.limiter.limitsOf(ctx, b.Request.AccountID)
	if err != nil {
		return nil, err
	}
	id, err := uuid.NewV7FromReader(s.config.Random)
	if err != nil {
		return nil, err
	}
	key, err := s.store.keepTool(ctx, b.Tool)
	if err != nil {
		return nil, err
	}
	b.Tool.Version = key.version
	a := &acceptance{key: key, shape: shapeOf(b), idem: b.Request.IdempotencyKey, limits: limits, budget: b.Request.Budget}
	_, deliverable := s.config.Deliverers[b.Request.Origin.Platform]
	a.record = record{
		Run: Run{
			ID: id.String(), AccountID: b.Request.AccountID, Tool: b.Tool, Status: StatusQueued,
			Inputs: b.Inputs, Sources: b.Sources, Quote: quote, Origin: b.Request.Origin, Parent: b.Request.Parent, Preview: b.Preview(),
			Context: b.Request.Context, Attempt: 1, CreatedAt: s.now(), strict: s.config.Approval == ApproveAll,
		},
		deliverable: deliverable, timeout: s.timeoutOf(b.Tool),
	}
	if b.Asks(quote) {
		a.record.Status = StatusAwaitingConfirmation
	}
	for _, part := range []struct {
		from any
		into *[]byte
	}{{b.Inputs, &a.raw.inputs}, {b.Sources, &a.raw.sources}, {quote, &a.raw.quote}} {
		if *part.into, err = json.Marshal(part.from); err != nil {
			return nil, err
		}
	}
	if a.record.Preview != nil {
		if a.raw.preview, err = json.Marshal(a.record.Preview); err != nil {
			return nil, err
		}
	}
	a.raw.context, err = encodeContext(b.Request.Context)
	return a, err
}

// lockAccounts serialises what counts runs or looks for keys of the accounts. Advisory locks come before
// the ledger's and are taken in order.
const lockAccounts = `SELECT runs_lock(a) FROM (SELECT DISTINCT unnest($1::uuid[]) AS a ORDER BY a) AS accounts`

// admission is what decides about requests: the runs that they repeat, how many runs of their accounts are
// under way, and what is used of their limits.
type admission struct {
	used  *usages
	first map[[2]string]string // by account and key
	under map[string]int       // by account
}

// queueAdmission adds the locks and questions that decide about requests to batch. With neither keys nor
// a limit there is nothing to ask.
func (s *writer) queueAdmission(batch *pgx.Batch, c *changes) admission {
	asked := admission{first: make(map[[2]string]string), under: make(map[string]int)}
	var accounts, keys []string
	if s.config.PerAccount > 0 {
		for _, f := range c.finishes {
			accounts, keys = append(accounts, f.record.AccountID), append(keys, "")
		}
	}
	for _, a := range c.accepts {
		if a.idem != "" || s.config.PerAccount > 0 || a.limited() {
			accounts, keys = append(accounts, a.record.AccountID), append(keys, a.idem)
		}
	}
	if len(accounts) == 0 {
		return asked
	}
	batch.Queue(lockAccounts, accounts)
	batch.Queue(`SELECT r.account_id::text, r.idempotency_key, r.id::text FROM runs r
		JOIN unnest($1::uuid[], $2::text[]) AS k (account, key) ON r.account_id = k.account AND r.idempotency_key = k.key`, accounts, keys).
		Query(asked.readFirst)
	batch.Queue(`SELECT account_id::text, count(*) FROM runs WHERE account_id = ANY ($1::uuid[]) AND ended_at IS NULL
		AND NOT waiting AND status <> 'awaiting_confirmation' GROUP BY account_id`, accounts).
		Query(asked.readUnder)
	asked.used = s.limiter.queueLimits(batch, c.accepts)
	return asked
}

func (d admission) readFirst(rows pgx.Rows) error {
	var account, key, id string
	_, err := pgx.ForEachRow(rows, []any{&account, &key, &id}, func() error {
		d.first[[2]string{account, key}] = id
		return nil
	})
	return err
}

func (d admission) readUnder(rows pgx.Rows) error {
	var account string
	var count int
	_, err := pgx.ForEachRow(rows, []any{&account, &count}, func() error {
		d.under[account] = count
		return nil
	})
	return err
}

// decide marks repeated requests, those that limits refuse, and the runs that must wait for others of their account.
func (d admission) decide(limit int, accepts []*acceptance) {
	beside := make(map[[2]string]*acceptance)
	for _, a := range accepts {
		account := a.record.AccountID
		if key := [2]string{account, a.idem}; a.idem != "" {
			a.repeats, a.beside = d.first[key], beside[key]
			if a.repeats != "" {
				continue
			}
			d.first[key], beside[key] = a.record.ID, a
		}
		if d.used.admit(a); a.refused != nil {
			continue
		}
		if limit > 0 && a.record.Status == StatusQueued {
			a.record.waiting = d.under[account] >= limit
			d.under[account]++
		}
	}
}

// acceptSQL inserts runs; with acceptMoreSQL some have a context or a preview. Most have neither, and pay for none.
const (
	acceptSQL     = acceptInto + ")\n" + acceptSelect + "\n" + acceptFrom + ") a"
	acceptMoreSQL = acceptInto + ", context, preview)\n" + acceptSelect + ", nullif(context, '')::json, nullif(preview, '')::json\n" +
		acceptFrom + ", unnest($22::text[]) AS context, unnest($23::text[]) AS preview) a"

	acceptInto = `
	INSERT INTO runs (id, account_id, tool_id, tool_version, service, status, waiting, claimed_by, claims, inputs, sources, shape, quote, promised,
		platform, target, deliverable, parent, idempotency_key, timeout_ms, created_at, budget`
	acceptSelect = `
	SELECT id::uuid, account::uuid, tool, version, service, status, waiting, nullif(worker, ''), (worker <> '')::int, inputs::json, sources::json, shape, quote::json, promised,
		platform, nullif(target, '')::json, deliverable, nullif(parent, '')::uuid, nullif(key, ''), timeout_ms, created, nullif(budget, '')`
	acceptFrom = `
	FROM (SELECT unnest($1::text[]) AS id, unnest($2::text[]) AS account, unnest($3::text[]) AS tool, unnest($4::text[]) AS version,
		unnest($5::text[]) AS service, unnest($6::text[]) AS status, unnest($7::boolean[]) AS waiting, unnest($8::text[]) AS inputs,
		unnest($9::text[]) AS sources, unnest($10::bigint[]) AS shape, unnest($11::text[]) AS quote, unnest($12::bigint[]) AS promised,
		unnest($13::text[]) AS platform, unnest($14::text[]) AS target, unnest($15::boolean[]) AS deliverable, unnest($16::text[]) AS parent,
		unnest($17::text[]) AS key, unnest($18::bigint[]) AS timeout_ms, unnest($19::timestamptz[]) AS created, unnest($20::text[]) AS worker,
		unnest($21::text[]) AS budget`
)

// queueAccepts adds to batch the insertion of the runs' rows, all in one statement.
func (s *writer) queueAccepts(batch *pgx.Batch, accepts []*acceptance) {
	if len(accepts) == 0 {
		return
	}
	worker := func(a *acceptance) string {
		if a.kept && !a.record.waiting {
			return s.instance
		}
		return ""
	}
	args := []any{
		column(accepts, func(a *acceptance) string { return a.record.ID }),
		column(accepts, func(a *acceptance) string { return a.record.AccountID }),
		column(accepts, func(a *acceptance) string { return a.key.id }),
		column(accepts, func(a *acceptance) string { return a.key.version }),
		column(accepts, func(a *acceptance) string { return a.record.Tool.Service }),
		column(accepts, func(a *acceptance) string { return string(a.record.Status) }),
		column(accepts, func(a *acceptance) bool { return a.record.waiting }),
		column(accepts, func(a *acceptance) string { return string(a.raw.inputs) }),
		column(accepts, func(a *acceptance) string { return string(a.raw.sources) }),
		column(accepts, func(a *acceptance) int64 { return a.shape }),
		column(accepts, func(a *acceptance) string { return string(a.raw.quote) }),
		column(accepts, func(a *acceptance) int64 { return int64(a.record.Quote.High) }),
		column(accepts, func(a *acceptance) string { return a.record.Origin.Platform }),
		column(accepts, func(a *acceptance) string { return string(a.record.Origin.Target) }),
		column(accepts, func(a *acceptance) bool { return a.record.deliverable }),
		column(accepts, func(a *acceptance) string { return a.record.Parent }),
		column(accepts, func(a *acceptance) string { return a.idem }),
		column(accepts, func(a *acceptance) int64 { return a.record.timeout.Milliseconds() }),
		column(accepts, func(a *acceptance) time.Time { return a.record.CreatedAt }),
		column(accepts, worker),
		column(accepts, func(a *acceptance) string { return a.budget.Name }),
	}
	if slices.ContainsFunc(accepts, func(a *acceptance) bool { return a.raw.context != nil || a.raw.preview != nil }) {
		batch.Queue(acceptMoreSQL, append(args, column(accepts, func(a *acceptance) string { return string(a.raw.context) }),
			column(accepts, func(a *acceptance) string { return string(a.raw.preview) }))...)
	} else {
		batch.Queue(acceptSQL, args...)
	}
	queueLent(batch, accepts)
	offer := slices.ContainsFunc(accepts, func(a *acceptance) bool {
		return worker(a) == "" && a.record.Status == StatusQueued && !a.record.waiting
	})
	if offer {
		batch.Queue(offerSQL)
	}
}

// Ask is Accept for those who ask on somebody's behalf, such as a model: a run that this person has to approve first is an
// *ApprovalError that holds it. The same call in the same trace finds the run again, once it is approved and when it is over, and
// asks anew when the approval has not come in time.
func (s *acceptor) Ask(ctx context.Context, r Request) (Run, error) {
	own := r.IdempotencyKey
	for before := ""; ; {
		b, err := s.Bind(ctx, r)
		if err == nil && own == "" && len(b.Missing) == 0 {
			b.Request.IdempotencyKey, err = s.askedBefore(ctx, b, before)
		}
		if err != nil {
			run, err := s.firstOr(ctx, r, err)
			if err != nil {
				return Run{}, err
			}
			return run, run.NeedsApproval()
		}
		run, err := s.AcceptBound(ctx, b)
		if err != nil {
			return Run{}, err
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
func (s *acceptor) askedBefore(ctx context.Context, b Bound, before string) (string, error) {
	key, err := approvalKey(b.Request, before)
	if err != nil {
		return "", err
	}
	if _, ok := Extra[registry.Previewer](s.config.Providers[b.Tool.Service]); ok {
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
func (s *acceptor) forgotten(r Run) bool {
	switch {
	case r.Status == StatusAwaitingConfirmation:
		return expired(r, s.config.Now())
	case r.Status == StatusFailed:
		return r.approved() != nil
	}
	return r.Status == StatusCanceled && r.ConfirmedAt == nil
}

// Confirm lets a run that awaits confirmation go ahead, by the word of a person who sees its summary: a button below it. The run is
// queued and its hold made in one transaction; where the account has as many runs under way as it may, it waits for them. One that was
// confirmed before stays as it is. Only its owner may; "" is an operator. Errors: ErrNotFound, *GateError (the summary is too old),
// *LimitError and billing.ErrInsufficient (the run goes on waiting).
func (s *acceptor) Confirm(ctx context.Context, runID, accountID string) (Run, error) {
	return s.ConfirmSummary(ctx, runID, accountID, "", nil)
}

// ConfirmSummary is Confirm of the summary with the hash: what would be done must be what it says, or it is a *GateError. An
// empty hash is Confirm. granted are the scopes of personal data that may go to the service, of those that the summary names; nil: all.
func (s *acceptor) ConfirmSummary(ctx context.Context, runID, accountID, hash string, granted []string) (Run, error) {
	return s.confirmIf(ctx, runID, accountID, granted, func(r Run) error {
		switch {
		case r.Status == StatusAwaitingConfirmation && expired(r, s.config.Now()):
			return &GateError{SummaryExpired}
		case hash != "" && hash != r.Summary().Hash():
			return &GateError{SummaryHashMismatch}
		case r.Status == StatusAwaitingConfirmation:
			return r.mayGrant(granted)
		}
		return nil
	})
}

// ConfirmBy is Confirm by the word of somebody in between, such as a model: the run goes ahead only if its owner was shown exactly what
// would be done and has said yes to it since. Every run goes ahead once. Errors: a *GateError for each reason, *LimitError and
// billing.ErrInsufficient.
func (s *acceptor) ConfirmBy(ctx context.Context, runID, accountID string, a Affirmation) (Run, error) {
	run, err := s.confirmIf(ctx, runID, accountID, nil, func(r Run) error { return a.gate(r, s.config.Now()) })
	if errors.Is(err, ErrNotFound) {
		err = &GateError{NoPriorSummary} // nor may anybody learn what others were shown
	}
	return run, err
}

func (s *acceptor) confirmIf(ctx context.Context, runID, accountID string, granted []string, may func(Run) error) (Run, error) {
	var confirmed bool
	err := postgres.InTx(ctx, s.config.Pool, func(tx pgx.Tx) error {
		r, err := s.store.lockRun(ctx, tx, runID, accountID)
		if err == nil {
			err = may(r.Run)
		}
		if err != nil || r.Status != StatusAwaitingConfirmation {
			return err
		}
		confirmed = true
		return s.confirm(ctx, tx, r, granted)
	})
	if err != nil {
		return Run{}, fmt.Errorf("confirm run %s: %w", runID, err)
	}
	run, err := s.store.Get(ctx, runID)
	if err == nil && confirmed {
		s.hub.changed(&run)
	}
	return run, err
}

// confirm queues a locked run that awaits confirmation. Locks: see writeTogether.
func (s *acceptor) confirm(ctx context.Context, tx pgx.Tx, r record, granted []string) error {
	if _, err := tx.Exec(ctx, `SELECT runs_lock($1)`, r.AccountID); err != nil {
		return err
	}
	if err := s.limiter.checkLimits(ctx, tx, r); err != nil {
		return err
	}
	var full bool
	if err := tx.QueryRow(ctx, `SELECT runs_full($1, $2)`, r.AccountID, s.config.PerAccount).Scan(&full); err != nil {
		return err
	}
	if err := s.config.Ledger.Hold(ctx, tx, r.AccountID, r.ID, r.Quote.High); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE runs SET status = 'queued', waiting = $2, confirmed_at = $3, granted = $4 WHERE id = $1`, r.ID, full, s.now(), granted); err != nil || full {
		return err
	}
	_, err := tx.Exec(ctx, offerSQL)
	return err
}

// lockRun reads a run and locks its row. A run of somebody else is ErrNotFound, so that ids tell nothing.
func (s *store) lockRun(ctx context.Context, tx pgx.Tx, runID, accountID string) (record, error) {
	if _, err := uuid.Parse(runID); err != nil {
		return record{}, ErrNotFound
	}
	found, err := s.queryOn(ctx, tx, `WHERE r.id = $1 FOR UPDATE`, runID)
	if err != nil {
		return record{}, err
	}
	if len(found) == 0 || (accountID != "" && (found[0].AccountID != accountID || found[0].DeletedAt != nil)) {
		return record{}, ErrNotFound
	}
	return found[0], nil
}

// now is the time as Postgres keeps it, so that what was written equals what is read.
func (s *env) now() time.Time { return s.config.Now().Round(time.Microsecond) }
