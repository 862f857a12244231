package missions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/claims"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// errStopping is why a mission is given back while the service stops.
var errStopping = errors.New("the service is stopping")

const (
	lookAgain = 2 * time.Second // should no news of a run come
	troubles  = 30 * time.Second
)

// course is the work on one mission in this process.
type course struct {
	*Service
	m     Mission
	news  <-chan struct{} // somebody wants something of it
	tries int             // to work on it that failed before
}

// advance is the work of the queue: it takes a mission from where it is to its end. It is safe to repeat at any point.
func (s *Service) advance(ctx context.Context, item claims.Item) claims.Next {
	news, leave := s.enter(item.Key)
	defer leave()
	err := s.carry(ctx, item, news)
	switch {
	case err == nil:
		return claims.Next{}
	case errors.Is(err, errStopping) || ctx.Err() != nil:
		return claims.Next{After: time.Millisecond, Free: true}
	}
	s.log.WarnContext(ctx, "the work on a mission failed, another try follows", "mission", item.Key, "error", err)
	return claims.Next{After: min(100*time.Millisecond<<min(item.Tries, 10), troubles)}
}

func (s *Service) carry(ctx context.Context, item claims.Item, news <-chan struct{}) error {
	m, err := get(ctx, s.cfg.Pool, item.Key, "", "")
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	c := &course{Service: s, m: m, news: news, tries: item.Tries}
	if err == nil && m.Status == Running {
		err = c.forward(ctx)
	}
	if err == nil && c.m.Status == RollingBack {
		err = c.back(ctx)
	}
	if err == nil && c.m.untold {
		err = c.tellEnd(ctx)
	}
	return err
}

// forward begins legs as those that they need succeed, until all have, or one has not. Independent ones only have to come to an end.
func (c *course) forward(ctx context.Context) error {
	for {
		if err := c.look(ctx); err != nil {
			return err
		}
		switch {
		case c.turns():
			return c.turn(ctx)
		case c.all(func(l *Leg) bool { return l.Progress.Status == LegDone }):
			return c.finish(ctx, Succeeded)
		case c.m.Independent && c.all(func(l *Leg) bool { return l.Progress.Status.Final() }):
			return c.finish(ctx, c.m.altogether())
		}
		begun, err := c.begin(ctx)
		if err != nil {
			return err
		}
		if begun {
			continue
		}
		if err := c.wait(ctx); err != nil {
			return err
		}
	}
}

// all reports whether something holds for all legs.
func (c *course) all(holds func(*Leg) bool) bool {
	for i := range c.m.Legs {
		if !holds(&c.m.Legs[i]) {
			return false
		}
	}
	return true
}

// altogether is how independent legs have ended: one that succeeded is a success.
func (m *Mission) altogether() Status {
	if m.Done() > 0 {
		return Succeeded
	}
	return Failed
}

// turns reports whether there is a reason to go back.
func (c *course) turns() bool {
	return c.m.CanceledBy || !c.m.Independent && !c.all(func(l *Leg) bool { return l.Progress.Status != LegFailed && l.Progress.Status != LegCanceled })
}

// look reads the states of the runs that are under way, and what the owner wants.
func (c *course) look(ctx context.Context) error {
	err := c.cfg.Pool.QueryRow(ctx, `SELECT canceled, account_id::text FROM missions WHERE id = $1`, c.m.ID).Scan(&c.m.CanceledBy, &c.m.AccountID)
	if err != nil {
		return fmt.Errorf("mission %s: %w", c.m.ID, err)
	}
	for i := range c.m.Legs {
		leg := &c.m.Legs[i]
		if leg.Progress.RunID == "" || leg.Progress.Status.Final() {
			continue
		}
		if err := c.lookAt(ctx, leg); err != nil {
			return err
		}
	}
	return nil
}

func (c *course) lookAt(ctx context.Context, leg *Leg) error {
	run, err := c.cfg.Runs.Get(ctx, leg.Progress.RunID)
	switch {
	case err != nil:
		return err
	case run.Status.Final():
		return c.ended(ctx, leg, run)
	case c.m.Status == RollingBack:
		return c.stopRun(ctx, leg, run)
	case run.Status != runs.StatusAwaitingConfirmation && leg.Progress.Status == LegRunning:
		return nil
	case run.Status != runs.StatusAwaitingConfirmation: // its owner let it go ahead
		leg.Progress.Status = LegRunning
		return c.saveLeg(ctx, &c.m, leg)
	case leg.Asks || surprises(leg, run.Preview):
		if leg.Progress.Status == LegAwaiting {
			return nil
		}
		if err := c.tell(ctx, leg); err != nil {
			return err
		}
		leg.Progress.Status = LegAwaiting
		return c.saveLeg(ctx, &c.m, leg)
	}
	_, err = c.cfg.Runs.ConfirmSummary(ctx, run.ID, run.AccountID, run.Summary().Hash(), nil) // it was confirmed with the mission
	if final(err) {
		return c.refused(ctx, leg, err)
	}
	return err
}

// surprises reports whether a leg would do something else than what was shown.
func surprises(leg *Leg, now *registry.Preview) bool {
	if now == nil || now.Capability == registry.CapabilityRead {
		return false
	}
	shown, err := sum(leg.Preview)
	found, other := sum(withoutLink(now))
	return err != nil || other != nil || shown != found
}

// withoutLink is a preview without the address at which things can be looked at: that of another day may be another.
func withoutLink(p *registry.Preview) *registry.Preview {
	if p == nil {
		return nil
	}
	same := *p
	same.Link = ""
	return &same
}

// begin accepts the legs whose time has come, and reports whether there were any.
func (c *course) begin(ctx context.Context) (begun bool, err error) {
	for i := range c.m.Legs {
		leg := &c.m.Legs[i]
		ready := leg.Progress.Status == LegPending && !slices.ContainsFunc(leg.DependsOn, func(order int) bool { return c.m.leg(order).Progress.Status != LegDone })
		if !ready || c.turns() {
			continue
		}
		accepted, err := c.accept(ctx, leg)
		if err != nil {
			return begun, err
		}
		if !accepted {
			break // the others can't begin either
		}
		begun = true
	}
	return begun, nil
}

// key is by which a leg's run is found again, and never begun twice.
func (m *Mission) key(leg *Leg) string { return "mission:" + m.ID + ":" + strconv.Itoa(leg.Order) }

// accept makes a leg a run, once. Where the account has as many runs under way as it may, it waits: accepted is false.
func (c *course) accept(ctx context.Context, leg *Leg) (accepted bool, err error) {
	if err := c.fail("accept"); err != nil {
		return false, err
	}
	run, err := c.cfg.Runs.First(ctx, c.m.AccountID, c.m.key(leg))
	if errors.Is(err, runs.ErrNotFound) {
		run, err = c.acceptNew(ctx, leg)
	}
	var limit *runs.LimitError
	switch {
	case errors.As(err, &limit) && limit.Kind == runs.LimitAtOnce:
		return false, nil
	case final(err) || limit != nil:
		return true, c.refused(ctx, leg, err)
	case err != nil:
		return false, err
	}
	if err := c.fail("accepted"); err != nil {
		return false, err
	}
	leg.Progress.RunID, leg.Progress.Status = run.ID, LegRunning
	return true, c.saveLeg(ctx, &c.m, leg)
}

func (c *course) acceptNew(ctx context.Context, leg *Leg) (runs.Run, error) {
	b, err := c.bind(ctx, leg)
	if err != nil {
		return runs.Run{}, err
	}
	quote, err := c.cfg.Runs.Quote(ctx, b)
	if err != nil {
		return runs.Run{}, err
	}
	if quote.High > leg.Quote.High {
		return runs.Run{}, &PriceError{Promised: leg.Quote.High, Now: quote.High}
	}
	if leg.Asks || surprises(leg, b.Preview()) {
		b.Request.Approval = runs.ApproveAll
	}
	return c.cfg.Runs.AcceptBound(ctx, b)
}

// bind gives a leg's inputs their values, with the tool as it was shown: it has to be there still, for this account.
func (c *course) bind(ctx context.Context, leg *Leg) (runs.Bound, error) {
	budget, err := c.budget(ctx)
	if err != nil {
		return runs.Bound{}, err
	}
	audience, err := c.cfg.May(ctx, c.m.AccountID, leg.Tool.ID, budget)
	if err != nil {
		return runs.Bound{}, err
	}
	present, ok := c.cfg.Registry.Snapshot().Resolve(leg.Tool.ID)
	if !ok {
		return runs.Bound{}, registry.Errorf(registry.CodeUnavailable, "there is no tool %s any more", leg.Tool.ID)
	}
	if refusal := present.Refusal(audience); refusal != nil {
		return runs.Bound{}, refusal
	}
	tool, err := c.cfg.Runs.ToolAt(ctx, leg.Tool.key())
	if err != nil {
		return runs.Bound{}, err
	}
	inputs, err := c.inputs(ctx, leg, tool)
	if err != nil {
		return runs.Bound{}, err
	}
	r := request(c.m.AccountID, budget, tool.ToolID, audience, inputs)
	r.IdempotencyKey, r.Parent, r.Context.TraceID, r.Origin = c.m.key(leg), c.m.RunID, c.m.ID, c.m.originOf(leg)
	b, err := c.cfg.Runs.BindAs(ctx, tool, r)
	if err == nil && len(b.Missing) > 0 {
		err = &runs.MissingInputError{Fields: b.Missing}
	}
	return b, err
}

// budget names what the run that the mission belongs to draws on: its legs are calls with the same key. One that its owner has confirmed by
// itself is its owner's.
func (c *course) budget(ctx context.Context) (string, error) {
	if c.m.RunID == "" {
		return "", nil
	}
	run, err := c.cfg.Runs.Get(ctx, c.m.RunID)
	return run.Budget, err
}

// inputs are a leg's inputs with the outputs that they name.
func (c *course) inputs(ctx context.Context, leg *Leg, tool registry.Tool) (map[string]any, error) {
	given := make(map[string]any, len(leg.Inputs))
	for name, value := range leg.Inputs {
		value, err := filled(value, func(o output) (any, error) { return c.output(ctx, o) })
		if err != nil {
			return nil, err
		}
		field, _ := tool.InputSchema.Get(name)
		if given[name], err = suited(field, value); err != nil {
			return nil, err
		}
	}
	return given, nil
}

// output is an output of a leg that is done.
func (c *course) output(ctx context.Context, o output) (any, error) {
	run, err := c.cfg.Runs.Get(ctx, c.m.leg(o.Leg).Progress.RunID)
	if err != nil {
		return nil, err
	}
	value, found := lookUp(outputsOf(run), o.Name)
	if !found {
		return nil, registry.Errorf(registry.CodeBadOutput, "leg %d gave no %s", o.Leg, o.Name)
	}
	return value, nil
}

// PriceError says that a leg would cost more than was promised when the mission was confirmed. Nothing of it was begun.
type PriceError struct{ Promised, Now billing.NanoUSD }

// Error names both prices.
func (e *PriceError) Error() string {
	return fmt.Sprintf("it would cost up to %s by now, more than the %s that were confirmed; it was not begun", e.Now, e.Promised)
}

// refused ends a leg that could not begin.
func (c *course) refused(ctx context.Context, leg *Leg, why error) error {
	now := c.now()
	if leg.Progress.RunID != "" {
		if _, err := c.cfg.Runs.Cancel(ctx, leg.Progress.RunID, ""); err != nil {
			return err
		}
	}
	leg.Progress.Status, leg.Progress.Failure, leg.Progress.EndedAt = LegFailed, failureOf(why), &now
	return c.saveLeg(ctx, &c.m, leg)
}

// ended takes note of how the run of a leg has ended, and of what is needed to take it back.
func (c *course) ended(ctx context.Context, leg *Leg, run runs.Run) error {
	if err := c.fail("ended"); err != nil {
		return err
	}
	p := &leg.Progress
	p.EndedAt, p.Failure = run.EndedAt, run.Error
	switch run.Status {
	case runs.StatusSucceeded:
		p.Status = LegDone
	case runs.StatusCanceled:
		p.Status = LegCanceled
	default:
		p.Status = LegFailed
	}
	if p.Status != LegDone && leg.Effect.Leaves() && mayHaveBeen(run) {
		begun, err := c.cfg.Runs.Begun(ctx, run.ID)
		if err != nil {
			return err
		}
		p.InDoubt = begun
	}
	if leg.Effect.Leaves() && (p.Status == LegDone || p.InDoubt) {
		if err := c.prepareUndo(ctx, leg, run); err != nil {
			return err
		}
	}
	return c.saveLeg(ctx, &c.m, leg)
}

// mayHaveBeen reports whether a run without success may have been carried out all the same.
func mayHaveBeen(run runs.Run) bool {
	if run.Status != runs.StatusFailed {
		return true
	}
	code := registry.Code("")
	if run.Error != nil {
		code = registry.Code(run.Error.Code)
	}
	return code == registry.CodeLost || code == registry.CodeGone || code == registry.CodeTimeout || code == registry.CodeBadOutput || code == registry.CodeInternal
}

// prepareUndo keeps what a leg is taken back by: its outputs may be gone by then.
func (c *course) prepareUndo(ctx context.Context, leg *Leg, run runs.Run) error {
	p, outputs := &leg.Progress, outputsOf(run)
	if leg.Effect.Undo == nil {
		p.Reference = referenceOf(outputs, nil)
		return nil
	}
	undo, err := c.cfg.Runs.ToolAt(ctx, leg.Effect.Undo.key())
	if err != nil {
		return err
	}
	if p.UndoInputs, err = undoInputs(leg.Effect, undo, outputs, run.Inputs); err != nil {
		p.UndoError = err.Error()
	}
	p.Reference = referenceOf(outputs, p.UndoInputs)
	return nil
}

// wait passes the time until something has happened to a run of the mission, or somebody wants something of it.
func (c *course) wait(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, lookAgain)
	defer cancel()
	woken := make(chan struct{}, len(c.m.Legs))
	var watching sync.WaitGroup
	for i := range c.m.Legs {
		if p := c.m.Legs[i].Progress; p.RunID != "" && !p.Status.Final() {
			watching.Go(func() { c.watch(waiting, p, woken) })
		}
	}
	var err error
	select {
	case <-woken:
	case <-c.news:
	case <-waiting.Done():
		err = ctx.Err()
	case <-c.worker.Stopping():
		err = errStopping
	}
	cancel()
	watching.Wait()
	return err
}

// watch tells when the run of a leg is over, or waits for its owner's word no longer.
func (c *course) watch(ctx context.Context, p LegProgress, woken chan<- struct{}) {
	states, stop := c.cfg.Runs.Subscribe(p.RunID)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case run, more := <-states:
			waits := run.Status == runs.StatusAwaitingConfirmation
			if !more || run.Status.Final() || waits != (p.Status == LegAwaiting) {
				woken <- struct{}{}
				return
			}
		}
	}
}

// turn ends the way forward: from here on nothing begins.
func (c *course) turn(ctx context.Context) error {
	if err := c.fail("turn"); err != nil {
		return err
	}
	err := postgres.InTx(ctx, c.cfg.Pool, func(tx pgx.Tx) error { return change(ctx, tx, c.m.ID, `, status = 'rolling_back'`) })
	if err == nil {
		c.m.Status = RollingBack
	}
	return err
}
