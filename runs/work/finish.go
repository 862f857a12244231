package work

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/claims"
	"github.com/signalbox/signalbox/internal/metadata"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/price"
	"github.com/signalbox/signalbox/runs/store"
	"github.com/signalbox/signalbox/runs/write"
)

const (
	FetchTries  = 4  // of one output
	awayTries   = 7  // of one that the provider says can be had later, or that came cut short: a quarter of a minute, in which a network or an engine comes back
	commitTries = 12 // of the end of a run whose result can't be had again
)

// Closer ends runs, and brings their results.
type Closer struct {
	*store.Env
	store      *store.Store
	hub        *store.Hub
	pricer     *price.Pricer
	writer     *write.Writer
	stopper    *Stopper
	deliveries *claims.Queue // results that could not be brought at once
}

// NewCloser makes a Closer.
func NewCloser(e *store.Env, st *store.Store, h *store.Hub, p *price.Pricer, w *write.Writer, stops *Stopper) *Closer {
	s := &Closer{Env: e, store: st, hub: h, pricer: p, writer: w, stopper: stops}
	s.deliveries = claims.NewQueue(claims.QueueConfig{
		Pool: e.Config.Pool, Log: e.Log, Now: e.Now, Table: "run_deliveries", Key: "run_id", Process: e.Instance, Places: e.Config.Deliveries, Work: s.deliverAgain,
	})
	return s
}

// keep stores the outputs in the run's time. One that the tool declares and that is missing is the run's failure (A11).
func (w *step) keep(timed context.Context, result *registry.Result) error {
	if missing := missingOutput(w.r.Tool, result.Outputs); missing != "" {
		return registry.Say(registry.CodeBadOutput, said.BadOutput, "name", missing)
	}
	outputs, err := w.storeOutputs(timed, result.Outputs)
	if err == nil {
		w.r.Outputs = outputs
	}
	return err
}

// succeed ends a run whose outputs are kept, as failed where they must not be shown.
func (w *step) succeed(ctx context.Context, result *registry.Result) error {
	if err := w.check(ctx); err != nil {
		if over := w.over(ctx, err); over != nil {
			return w.leave(context.WithoutCancel(ctx), over)
		}
		return w.fail(ctx, registry.AsError(err))
	}
	f := write.Finish{Record: w.r}
	w.bill(ctx, &f, result.Usage)
	f.Record.Status = runs.StatusSucceeded
	return w.commit(ctx, &f)
}

// check has the outputs looked at, where the house does so. A result that can't be had again is held on to while the house is in trouble, and is
// looked at to the end.
func (w *step) check(ctx context.Context) error {
	if w.s.Config.Check == nil {
		return nil
	}
	looking := ctx
	if !w.repeatable() {
		looking = context.WithoutCancel(ctx)
	}
	for try := 1; ; try++ {
		err := w.s.Config.Check(looking, w.r.Run)
		var held *registry.Error
		if err == nil || errors.As(err, &held) {
			return err
		}
		err = &ownError{fmt.Errorf("check the result of run %s: %w", w.r.ID, err)}
		if w.repeatable() || try == commitTries {
			return err
		}
		w.log().WarnContext(ctx, "the result could not be checked, another try follows", "try", try, "error", err)
		if w.s.Sleep(ctx, store.Backoff(w.s.Config.RetryBase, try, 10*time.Second)) != nil {
			return err
		}
	}
}

// bill sets the receipt. When the bill itself goes wrong the user is not the one who pays for it.
func (w *step) bill(ctx context.Context, f *write.Finish, usage registry.Usage) {
	model := w.r.Tool.CostingModel
	usage.Machine = cleanText(usage.Machine)
	if w.r.Quote.Parts {
		receipt := billing.PartsReceipt(model, usage.CostUSD, w.r.Quote, w.r.ID)
		f.Record.Receipt, f.Record.Cost = &receipt, receipt.Cost
		return
	}
	if model != nil && model.RateSource == registry.RateHistorical {
		if history, err := w.s.Pricer.History(ctx, runs.Bound{Run: w.r.Run}); err == nil {
			usage = history.Fill(model, usage)
		}
	}
	receipt, err := billing.Cost(model, usage, w.s.Config.RateCard, w.r.ID)
	if err != nil {
		w.log().ErrorContext(ctx, "the run could not be billed and costs nothing", "error", err)
		receipt = billing.NoCharge(model, w.r.ID, billing.ReasonNone)
		receipt.Note = "it could not be billed and costs nothing"
	}
	receipt = receipt.WithShare(model, w.r.Quote).Capped(w.r.Quote.High)
	if lost := receipt.FullCost() - receipt.Cost; lost > 0 { // as one in twenty may, where the price was learned from the past
		w.log().InfoContext(ctx, "the run came to more than was promised: the house bears the rest", "promised", w.r.Quote.High.String(), "cost", receipt.FullCost().String())
		w.s.Metrics.Absorbed.Add(store.Dollars(lost))
	}
	f.Record.Receipt, f.Record.Cost = &receipt, receipt.Cost
	f.NanoUnits, f.Machine = billing.NanoUnits(model, usage), usage.Machine
}

// missingOutput names the first declared output that is not there.
func missingOutput(tool registry.Tool, outputs []registry.Output) string {
	for _, declared := range tool.OutputSchema {
		if !slices.ContainsFunc(outputs, func(o registry.Output) bool { return o.Name == declared.Name }) {
			return declared.Name
		}
	}
	return ""
}

func (w *step) storeOutputs(ctx context.Context, outputs []registry.Output) ([]runs.Output, error) {
	kept := make([]runs.Output, len(outputs))
	for i, o := range outputs {
		kept[i] = runs.Output{Name: o.Name, Type: o.Type, Text: o.Text, FileName: o.Info.Name, MIMEType: o.Info.MIMEType, Alt: o.Info.Alt, Subject: o.Subject}
		if o.Open == nil {
			continue
		}
		if err := w.storeFile(ctx, o, &kept[i]); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// storeFile streams one output into the assets, and tries again when the connection breaks.
func (w *step) storeFile(ctx context.Context, o registry.Output, kept *runs.Output) error {
	waits := false
	for try := 1; ; try++ {
		ref, info, err := w.fetch(ctx, o)
		if err == nil {
			kept.Media, kept.Bytes = ref, info.Bytes
			kept.FileName = cmp.Or(o.Info.Name, info.Name)
			kept.MIMEType = cmp.Or(info.MIMEType, o.Info.MIMEType)
			kept.FileName = kept.ProperName()
			kept.Width, kept.Height = cmp.Or(info.Width, o.Info.Width), cmp.Or(info.Height, o.Info.Height)
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var own *ownError
		if errors.As(err, &own) && try >= FetchTries && w.repeatable() {
			return fmt.Errorf("output %s: %w", o.Name, err) // the provider keeps it until there is room for it
		}
		failure := registry.AsError(err)
		if w.mayMakeAnew(failure) {
			return failure
		}
		if failure.Wait || failure.Code == registry.CodeGone {
			if !waits {
				w.log().WarnContext(ctx, "the place of an output is away and waited for", "output", o.Name, "error", failure, "cause", failure.Cause)
				if err := w.tell(ctx, runs.NoticeSilent); err != nil {
					return err
				}
			}
			waits = true
			if err := w.s.Sleep(ctx, max(failure.RetryAfter, w.s.Config.PollMin)); err != nil {
				return err
			}
			try--
			continue
		}
		if try >= triesAfter(err) {
			w.log().ErrorContext(ctx, "an output could not be fetched", "output", o.Name, "error", err, "cause", failure.Cause)
			why := said.ResultFetchOf
			if errors.Is(err, assets.ErrTooLarge) {
				why = said.ResultLarge
			}
			return registry.Say(registry.CodeProvider, why, "name", o.Name).Because(err)
		}
		w.log().WarnContext(ctx, "fetching an output failed, another try follows", "output", o.Name, "try", try, "error", err, "cause", failure.Cause)
		if err := w.s.Sleep(ctx, store.Backoff(w.s.Config.RetryBase/4, try, time.Minute)); err != nil {
			return err
		}
	}
}

// mayMakeAnew tells whether an output is lost, or gone with its place, and the run may be begun anew for it.
func (w *step) mayMakeAnew(failure *registry.Error) bool {
	if failure.Code != registry.CodeLost && failure.Code != registry.CodeGone {
		return false
	}
	w.r.Status = runs.StatusRunning // whatever was seen of it: it has run
	return w.mayRetry(failure)
}

// triesAfter is how often an output is fetched that was not had for such a reason.
func triesAfter(err error) int {
	var failure *registry.Error
	switch {
	case errors.Is(err, assets.ErrTooLarge):
		return 1
	case errors.As(err, &failure) && failure.Retryable, errors.Is(err, io.ErrUnexpectedEOF):
		return awayTries
	}
	return FetchTries
}

// fetch stores one output. Where we can't keep what the provider gives, such as on a full disk, the error is
// an ownError.
func (w *step) fetch(ctx context.Context, o registry.Output) (ref registry.Media, info registry.MediaInfo, err error) {
	defer w.recovered(ctx, &err)
	content, err := o.Open(ctx)
	if err != nil {
		return "", registry.MediaInfo{}, err
	}
	whole := bufio.NewReader(metadata.Whole(content))
	if isNone(whole, o.Type) {
		_ = content.Close()
		return "", registry.MediaInfo{}, registry.Errorf(registry.CodeBadOutput, "nothing, a page or another kind of file came in place of the file").Again()
	}
	from := &source{Reader: whole}
	meta := assets.Meta{Name: o.Info.Name, Owner: w.r.AccountID, Kind: assets.Result}
	if !w.s.Config.KeepMetadata && w.r.Tool.Metadata[registry.KeepWorkflow] != true {
		meta.Filter = metadata.Copy
	}
	ref, info, err = w.s.Config.Assets.Keep(ctx, from, meta)
	if err != nil && !from.failed && !errors.Is(err, assets.ErrTooLarge) {
		err = &ownError{err}
	}
	if closing := content.Close(); err == nil && closing != nil {
		err = closing
	}
	return ref, info, err
}

// isNone tells whether nothing, or what is certainly something else, such as a page for signing in or an archive, is where a picture, film or
// sound should be.
func isNone(content *bufio.Reader, outputType string) bool {
	begin, err := content.Peek(512) // whatever else goes wrong is seen at reading
	empty := len(begin) == 0 && err == io.EOF
	kind, _, _ := strings.Cut(http.DetectContentType(begin), ";")
	other := slices.Contains([]string{"text/html", "application/pdf", "application/zip", "application/x-gzip", "application/x-rar-compressed"}, kind)
	return slices.Contains([]string{"image", "video", "audio"}, outputType) && (empty || other)
}

// source tells whose fault it was that something could not be stored.
type source struct {
	io.Reader
	failed bool // at reading
}

// Read notes a failure.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.failed = s.failed || (err != nil && err != io.EOF)
	return n, err // a reader hands on what it is told
}

// fail ends the run as failed, or as canceled where the provider says so.
func (w *step) fail(ctx context.Context, failure *registry.Error) error {
	w.log().WarnContext(ctx, "the run failed", "code", failure.Code, "error", failure, "cause", failure.Cause)
	switch failure.Code {
	case registry.CodeCanceled:
		return w.end(ctx, runs.StatusCanceled, failure)
	case registry.CodeTimeout:
		return w.end(ctx, runs.StatusTimedOut, failure)
	}
	return w.end(ctx, runs.StatusFailed, failure)
}

// end ends the run without a result and without a charge.
func (w *step) end(ctx context.Context, status runs.Status, failure *registry.Error) error {
	f := ending(w.r, status, failure)
	f.Stop = w.left && w.s.Submits(&w.r)
	return w.commit(ctx, &f)
}

// ending is the end of a run without a result: it costs nothing, and says why.
func ending(r store.Record, status runs.Status, failure *registry.Error) write.Finish {
	f := write.Finish{Record: r, Reason: map[runs.Status]string{
		runs.StatusFailed: billing.ReasonFailed, runs.StatusCanceled: billing.ReasonCanceled, runs.StatusTimedOut: billing.ReasonTimedOut,
	}[status]}
	receipt := billing.NoCharge(r.Tool.CostingModel, r.ID, f.Reason)
	f.Record.Status, f.Record.Receipt, f.Record.Cost, f.Record.Outputs, f.Record.Question = status, &receipt, 0, nil, nil
	f.Record.Error = &runs.Failure{Code: string(failure.Code), Message: store.Storable(failure.Message), Retryable: failure.Retryable}
	if text := failure.Said.Map(store.Storable); text.Known() {
		f.Record.Error.Said = &text
	}
	return f
}

// commit writes the end, whatever becomes of ctx: the work is done and must be told.
func (w *step) commit(ctx context.Context, f *write.Finish) error {
	if err := w.s.Failpoint("finish"); err != nil {
		return &ownError{err}
	}
	f.Brings = true
	if err := w.writeEnd(ctx, f); err != nil {
		return &ownError{fmt.Errorf("finish run %s: %w", w.r.ID, err)}
	}
	if f.Stop {
		w.stopProvider()
	}
	if !f.Ended {
		w.log().InfoContext(ctx, "a late result changes nothing: the run was over")
		return w.late(ctx)
	}
	w.s.closer.afterFinish(ctx, f)
	if err := w.s.Failpoint("finished"); err != nil {
		return &ownError{err}
	}
	if !f.Stop { // who stops it has it forgotten, after that
		defer w.s.stopper.forgetAtProvider(ctx, f.Record.ID, f.Record.Tool.Service, f.Record.Ticket)
	}
	if !f.Deliver {
		return nil
	}
	return w.s.closer.deliverNow(ctx, &f.Record)
}

// writeEnd writes the end. A result that can't be had again is held on to while the database is away; any other
// comes again when the run is worked on anew.
func (w *step) writeEnd(ctx context.Context, f *write.Finish) error {
	for try := 1; ; try++ {
		err := w.s.Writer.Writes.Do(context.WithoutCancel(ctx), &write.Write{Finish: f})
		if err == nil || f.Record.Status != runs.StatusSucceeded || w.repeatable() || try == commitTries {
			return err
		}
		w.log().WarnContext(ctx, "the result could not be written, another try follows", "try", try, "error", err)
		if w.s.Sleep(ctx, store.Backoff(w.s.Config.RetryBase, try, 10*time.Second)) != nil {
			return err
		}
	}
}

// late looks after a run that was over before this work on it ended: who ended it may have died before
// delivering.
func (w *step) late(ctx context.Context) error {
	r, err := w.s.Store.Load(ctx, w.r.ID)
	if err != nil {
		return &ownError{err}
	}
	return w.s.closer.remind(ctx, &r)
}

// afterFinish tells everybody about a run's end that was written.
func (s *Closer) afterFinish(ctx context.Context, f *write.Finish) {
	r := &f.Record
	s.Metrics.Observe(&r.Run)
	// It is a lesson, see learn; who hears of the end is quoted a price that knows of it.
	if r.Status == runs.StatusSucceeded && (f.NanoUnits > 0 || r.Receipt.FullCost() > 0) {
		s.pricer.Learned.News(r.Tool)
	}
	s.hub.Changed(&r.Run)
	s.tellExecution(ctx, &r.Run)
}

// Cancel ends a run that is not over: at once in the house, and at the provider as soon as it can be
// told. It costs nothing, even when the result arrives at the same moment, but for the time that it ran where that was
// told before, see billing.Quote; an operator's cancel costs nothing. A run that is over stays as it is
// and is returned. Only its owner may; "" is an operator. ErrNotFound: there is none, or it is not theirs.
func (s *Closer) Cancel(ctx context.Context, runID, accountID string) (runs.Run, error) {
	run, err := s.EndFromOutside(ctx, runID, accountID, runs.StatusCanceled, registry.Say(registry.CodeCanceled, said.Canceled))
	if err != nil {
		return runs.Run{}, fmt.Errorf("cancel run %s: %w", runID, err)
	}
	return run, nil
}

// EndFromOutside ends a run without its work, wherever that is done; its result is the queue's to bring. A run that is over stays
// as it is.
func (s *Closer) EndFromOutside(ctx context.Context, runID, accountID string, status runs.Status, why *registry.Error) (runs.Run, error) {
	var f write.Finish
	err := postgres.InTx(ctx, s.Config.Pool, func(tx pgx.Tx) error {
		r, err := s.store.LockRun(ctx, tx, runID, accountID)
		if err != nil {
			return err
		}
		if f = (write.Finish{Record: r}); r.Status.Final() {
			return nil
		}
		f = ending(r, status, why)
		f.Stop = s.Submits(&r)
		if status == runs.StatusCanceled && accountID != "" && r.Quote.BillCanceled {
			if err := s.billCanceled(ctx, tx, &f); err != nil {
				return err
			}
		}
		if err := s.writer.WriteTogether(ctx, tx, []*write.Write{{Finish: &f}}, false); err != nil || !f.Deliver {
			return err
		}
		return s.queueDelivery(ctx, tx, r.ID)
	})
	if err != nil {
		return runs.Run{}, err
	}
	if f.Ended {
		s.afterFinish(ctx, &f)
		s.cancelWork(f.Record)
	}
	return f.Record.Run, nil
}

// billCanceled has a run that its owner cancels pay for the time that it ran. The row is locked.
func (s *Closer) billCanceled(ctx context.Context, tx pgx.Tx, f *write.Finish) error {
	var since *time.Time
	if err := tx.QueryRow(ctx, `SELECT running_at FROM runs WHERE id = $1`, f.Record.ID).Scan(&since); err != nil || since == nil {
		return err
	}
	receipt, err := billing.CanceledCost(f.Record.Tool.CostingModel, f.Record.Quote, s.Now().Sub(*since), s.Config.RateCard, f.Record.ID)
	if err != nil {
		s.Log.ErrorContext(ctx, "a canceled run could not be billed and costs nothing", "run", f.Record.ID, "error", err)
		return nil
	}
	f.Record.Receipt, f.Record.Cost = &receipt, receipt.Cost
	return nil
}

// cancelWork stops what goes on for a run that was ended. The process that works on it tells the provider; where none does,
// we do.
func (s *Closer) cancelWork(r store.Record) {
	if !s.hub.Interrupt(r.ID, errCanceled) && s.Submits(&r) {
		s.stopper.stops.Look()
	}
}

// tellExecution records a run that is over: one event for each. Those of runs that were planned or are traced go to Config.Events.
func (s *Closer) tellExecution(ctx context.Context, r *runs.Run) {
	code := ""
	if r.Error != nil {
		code = string(runs.ToolCodeOf(registry.Code(r.Error.Code)))
	}
	s.Tell(ctx, "the run is over", r, r.Status == runs.StatusSucceeded, code, r.ConfirmedAt != nil)
}
