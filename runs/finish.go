package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/metadata"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

const (
	fetchTries  = 4  // of one output
	commitTries = 12 // of the end of a run whose result can't be had again
)

// finish is a run's end on its way into the database.
type finish struct {
	record    record // with its final state
	nanoUnits int64
	machine   string
	reason    string // for the statement, when nothing is taken
	stop      bool   // it may go on at its provider, which has to be told
	brings    bool   // who ends the run delivers it too, and claims it for that: no job is needed

	ended   bool // false: it was over before
	deliver bool // the platform wants the result brought
}

// succeed stores the outputs and ends the run as succeeded, or as failed where an output that the tool
// declares is missing (A11).
func (w *step) succeed(ctx context.Context, result *registry.Result) error {
	if missing := missingOutput(w.r.Tool, result.Outputs); missing != "" {
		return w.fail(ctx, registry.Say(registry.CodeBadOutput, said.BadOutput, "name", missing))
	}
	outputs, err := w.storeOutputs(ctx, result.Outputs)
	if err != nil {
		if over := w.over(ctx, err); over != nil {
			return w.leave(context.WithoutCancel(ctx), over)
		}
		return w.fail(ctx, registry.AsError(err))
	}
	w.r.Outputs = outputs
	f := finish{record: w.r}
	w.bill(ctx, &f, result.Usage)
	f.record.Status = StatusSucceeded
	return w.commit(ctx, &f)
}

// bill sets the receipt. When the bill itself goes wrong the user is not the one who pays for it.
func (w *step) bill(ctx context.Context, f *finish, usage registry.Usage) {
	model := w.r.Tool.CostingModel
	usage.Machine = cleanText(usage.Machine)
	if model != nil && model.RateSource == registry.RateHistorical {
		if history, err := w.s.history(ctx, Bound{Tool: w.r.Tool, Inputs: w.r.Inputs}); err == nil {
			usage = history.Fill(model, usage)
		}
	}
	receipt, err := billing.Cost(model, usage, w.s.config.RateCard, w.r.ID)
	if err != nil {
		w.log().ErrorContext(ctx, "the run could not be billed and costs nothing", "error", err)
		receipt = billing.NoCharge(model, w.r.ID, billing.ReasonNone)
		receipt.Note = "it could not be billed and costs nothing"
	}
	receipt = receipt.Capped(w.r.Quote.High)
	if lost := receipt.FullCost() - receipt.Cost; lost > 0 {
		w.log().WarnContext(ctx, "the run came to more than was promised", "promised", w.r.Quote.High.String(), "cost", receipt.FullCost().String())
		w.s.metrics.absorbed.Add(dollars(lost))
	}
	f.record.Receipt, f.record.Cost = &receipt, receipt.Cost
	f.nanoUnits, f.machine = billing.NanoUnits(model, usage), usage.Machine
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

func (w *step) storeOutputs(ctx context.Context, outputs []registry.Output) ([]Output, error) {
	kept := make([]Output, len(outputs))
	for i, o := range outputs {
		kept[i] = Output{Name: o.Name, Type: o.Type, Text: o.Text, FileName: o.Info.Name, MIMEType: o.Info.MIMEType, Alt: o.Info.Alt}
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
func (w *step) storeFile(ctx context.Context, o registry.Output, kept *Output) error {
	for try := 1; ; try++ {
		ref, info, err := w.fetch(ctx, o)
		if err == nil {
			kept.Media, kept.Bytes = ref, info.Bytes
			kept.FileName = cmp.Or(o.Info.Name, info.Name)
			kept.MIMEType = cmp.Or(info.MIMEType, o.Info.MIMEType)
			kept.FileName = kept.fileName()
			kept.Width, kept.Height = cmp.Or(info.Width, o.Info.Width), cmp.Or(info.Height, o.Info.Height)
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var own *ownError
		if errors.As(err, &own) && try == fetchTries && w.repeatable() {
			return fmt.Errorf("output %s: %w", o.Name, err) // the provider keeps it until there is room for it
		}
		if try == fetchTries {
			w.log().ErrorContext(ctx, "an output could not be fetched", "output", o.Name, "error", err)
			return registry.Say(registry.CodeProvider, said.ResultFetchOf, "name", o.Name).Because(err)
		}
		w.log().WarnContext(ctx, "fetching an output failed, another try follows", "output", o.Name, "try", try, "error", err)
		if err := w.s.sleep(ctx, backoff(w.s.config.RetryBase/4, try, time.Minute)); err != nil {
			return err
		}
	}
}

// fileName is a file's name; one that nobody named is called like its output, and each has an extension where its type
// has one.
func (o *Output) fileName() string {
	name := cmp.Or(o.FileName, o.Name)
	if path.Ext(name) == "" {
		name += assets.Extension(o.MIMEType)
	}
	return name
}

// fetch stores one output. Where we can't keep what the provider gives, such as on a full disk, the error is
// an ownError.
func (w *step) fetch(ctx context.Context, o registry.Output) (ref registry.Media, info registry.MediaInfo, err error) {
	defer w.recovered(ctx, &err)
	content, err := o.Open(ctx)
	if err != nil {
		return "", registry.MediaInfo{}, err
	}
	from := &source{Reader: content}
	meta := assets.Meta{Name: o.Info.Name, Owner: w.r.AccountID, Kind: assets.Result}
	if !w.s.config.KeepMetadata && w.r.Tool.Metadata[registry.KeepWorkflow] != true {
		meta.Filter = metadata.Copy
	}
	ref, info, err = w.s.config.Assets.Keep(ctx, from, meta)
	if err != nil && !from.failed && !errors.Is(err, assets.ErrTooLarge) {
		err = &ownError{err}
	}
	if closing := content.Close(); err == nil && closing != nil {
		err = closing
	}
	return ref, info, err
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
		return w.end(ctx, StatusCanceled, failure)
	case registry.CodeTimeout:
		return w.end(ctx, StatusTimedOut, failure)
	}
	return w.end(ctx, StatusFailed, failure)
}

// end ends the run without a result and without a charge.
func (w *step) end(ctx context.Context, status Status, failure *registry.Error) error {
	f := ending(w.r, status, failure)
	f.stop = w.left && w.s.submits(&w.r)
	return w.commit(ctx, &f)
}

// ending is the end of a run without a result: it costs nothing, and says why.
func ending(r record, status Status, failure *registry.Error) finish {
	f := finish{record: r, reason: map[Status]string{
		StatusFailed: billing.ReasonFailed, StatusCanceled: billing.ReasonCanceled, StatusTimedOut: billing.ReasonTimedOut,
	}[status]}
	receipt := billing.NoCharge(r.Tool.CostingModel, r.ID, f.reason)
	f.record.Status, f.record.Receipt, f.record.Cost, f.record.Outputs, f.record.Question = status, &receipt, 0, nil, nil
	f.record.Error = &Failure{Code: string(failure.Code), Message: storable(failure.Message), Retryable: failure.Retryable}
	if text := failure.Said.Map(storable); text.Known() {
		f.record.Error.Said = &text
	}
	return f
}

// commit writes the end, whatever becomes of ctx: the work is done and must be told.
func (w *step) commit(ctx context.Context, f *finish) error {
	if err := w.s.failpoint("finish"); err != nil {
		return &ownError{err}
	}
	f.brings = true
	if err := w.writeEnd(ctx, f); err != nil {
		return &ownError{fmt.Errorf("finish run %s: %w", w.r.ID, err)}
	}
	if f.stop {
		w.stopProvider()
	}
	if !f.ended {
		w.log().InfoContext(ctx, "a late result changes nothing: the run was over")
		return w.late(ctx)
	}
	w.s.afterFinish(ctx, f)
	if err := w.s.failpoint("finished"); err != nil {
		return &ownError{err}
	}
	if !f.stop { // who stops it has it forgotten, after that
		defer w.s.forgetAtProvider(ctx, f.record.ID, f.record.Tool.Service, f.record.ticket)
	}
	if !f.deliver {
		return nil
	}
	return w.s.deliverNow(ctx, &f.record)
}

// forgetLimit bounds one Forget.
const forgetLimit = 30 * time.Second

// forgetAtProvider has the provider delete what it keeps of a run, or an attempt of it, that is over there. It is not waited for, and
// a failure costs only its space.
func (s *Service) forgetAtProvider(ctx context.Context, runID, service string, ticket *registry.Ticket) {
	forgetter, ok := Extra[registry.Forgetter](s.config.Providers[service])
	if !ok || ticket == nil {
		return
	}
	s.spawn(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), forgetLimit)
		defer cancel()
		defer context.AfterFunc(s.base, cancel)()
		if err := forgetter.Forget(ctx, *ticket); err != nil {
			s.log.InfoContext(ctx, "the provider keeps what it knows of a run", "run", runID, "error", err)
		}
	})
}

// writeEnd writes the end. A result that can't be had again is held on to while the database is away; any other
// comes again when the run is worked on anew.
func (w *step) writeEnd(ctx context.Context, f *finish) error {
	for try := 1; ; try++ {
		err := w.s.writes.Do(context.WithoutCancel(ctx), &write{finish: f})
		if err == nil || f.record.Status != StatusSucceeded || w.repeatable() || try == commitTries {
			return err
		}
		w.log().WarnContext(ctx, "the result could not be written, another try follows", "try", try, "error", err)
		if w.s.sleep(ctx, backoff(w.s.config.RetryBase, try, 10*time.Second)) != nil {
			return err
		}
	}
}

// late looks after a run that was over before this work on it ended: who ended it may have died before
// delivering.
func (w *step) late(ctx context.Context) error {
	r, err := w.s.load(ctx, w.r.ID)
	if err != nil {
		return &ownError{err}
	}
	return w.s.remind(ctx, &r)
}

// afterFinish tells everybody about a run's end that was written.
func (s *Service) afterFinish(ctx context.Context, f *finish) {
	r := &f.record
	s.metrics.observe(&r.Run)
	s.hub.changed(&r.Run)
	s.tellExecution(ctx, &r.Run)
	if r.Status == StatusSucceeded && (f.nanoUnits > 0 || r.Receipt.FullCost() > 0) { // it is a lesson, see learn
		s.learned.news(r.Tool)
	}
}

// endSQL ends all the runs or none, and tells what may have changed of them meanwhile.
//
// Rows are found key by key, and changed at the place where they were found: a plan for all at once that was made while
// the table was small reads all of it for as long as the connection keeps the plan, or looks through the index of open
// runs, in which all are that ended since the last vacuum. The conditions name the place, too, so that they can't be
// checked before it is known. A row that moves in between is not found, and a closer look follows.
const endSQL = `
	WITH ended AS (
		UPDATE runs r SET status = e.status, waiting = false, fraction = NULL, stage = '', queue_position = 0, outputs = e.outputs::json,
			cost = e.cost, full_cost = e.full_cost, nano_units = e.units, machine = e.machine, receipt = e.receipt::json, error = e.error::json,
			attempt = e.attempt, ticket = coalesce(e.ticket::json, r.ticket), started_at = coalesce(r.started_at, e.started), ended_at = e.ended,
			claimed_by = CASE WHEN e.brings AND r.deliverable THEN $16::text END
		FROM (SELECT unnest($1::text[]) AS id, unnest($2::text[]) AS account, unnest($3::text[]) AS status, unnest($4::text[]) AS outputs,
				unnest($5::bigint[]) AS cost, unnest($6::bigint[]) AS full_cost, unnest($7::bigint[]) AS units, unnest($8::text[]) AS machine,
				unnest($9::text[]) AS receipt, unnest($10::text[]) AS error, unnest($11::bigint[]) AS attempt, unnest($12::text[]) AS ticket,
				unnest($13::timestamptz[]) AS started, unnest($14::timestamptz[]) AS ended, unnest($15::boolean[]) AS brings) e
			CROSS JOIN LATERAL (SELECT ctid AS place FROM runs WHERE id = e.id::uuid LIMIT 1) f
		WHERE r.ctid = f.place AND CASE WHEN f.place IS NOT NULL THEN r.ended_at IS NULL AND r.account_id::text = e.account END
		RETURNING r.id, r.deliverable, r.target)
	SELECT ledger_insist(count(*) = cardinality($1)), array_agg(id::text), array_agg(deliverable), array_agg(convert_to(target::text, 'UTF8')) FROM ended`

// queueEnds adds to batch the writing of the final states, all in one statement.
func (s *Service) queueEnds(batch *pgx.Batch, finishes []*finish) error {
	if len(finishes) == 0 {
		return nil
	}
	type texts struct {
		outputs, failure, ticket *string // null where there is none
		receipt                  string
	}
	s.queueStops(batch, finishes)
	encoded := make([]texts, len(finishes))
	for i, f := range finishes {
		r := &f.record
		ended := s.now()
		r.EndedAt = &ended
		r.Fraction, r.Stage, r.QueuePosition, r.ExpectedAt = nil, "", 0, nil
		outputs, receipt, failure, err := encodeEnd(r)
		if err != nil {
			return err
		}
		ticket, _, err := encodeTicket(r.ticket)
		if err != nil {
			return err
		}
		encoded[i] = texts{orNull(outputs), orNull(failure), orNull(ticket), string(receipt)}
	}
	batch.Queue(endSQL,
		column(finishes, func(f *finish) string { return f.record.ID }),
		column(finishes, func(f *finish) string { return f.record.AccountID }),
		column(finishes, func(f *finish) string { return string(f.record.Status) }),
		column(encoded, func(t texts) *string { return t.outputs }),
		column(finishes, func(f *finish) int64 { return int64(f.record.Cost) }),
		column(finishes, func(f *finish) int64 { return int64(f.record.Receipt.FullCost()) }),
		column(finishes, func(f *finish) int64 { return f.nanoUnits }),
		column(finishes, func(f *finish) string { return f.machine }),
		column(encoded, func(t texts) string { return t.receipt }),
		column(encoded, func(t texts) *string { return t.failure }),
		column(finishes, func(f *finish) int64 { return int64(f.record.Attempt) }),
		column(encoded, func(t texts) *string { return t.ticket }),
		column(finishes, func(f *finish) *time.Time { return f.record.StartedAt }),
		column(finishes, func(f *finish) time.Time { return *f.record.EndedAt }),
		column(finishes, func(f *finish) bool { return f.brings }),
		s.instance,
	).QueryRow(func(row pgx.Row) error { return readEnds(row, finishes) })
	return nil
}

// readEnds takes note of what endSQL tells.
func readEnds(row pgx.Row, finishes []*finish) error {
	var ids []string
	var deliverable []bool
	var targets [][]byte
	if err := row.Scan(nil, &ids, &deliverable, &targets); err != nil {
		return err
	}
	place := make(map[string]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	for _, f := range finishes {
		i := place[f.record.ID]
		f.ended, f.deliver, f.record.Origin.Target = true, deliverable[i], targets[i]
	}
	return nil
}

// promote lets runs that waited take the places of those that end. Where accounts have limits it sends what
// is written so far, since it counts by that, and begins a new batch.
func (s *Service) promote(ctx context.Context, on sender, written **pgx.Batch, finishes []*finish) error {
	if s.config.PerAccount <= 0 || len(finishes) == 0 {
		return nil
	}
	if err := send(ctx, on, *written); err != nil {
		return err
	}
	*written = &pgx.Batch{}
	for _, f := range finishes {
		(*written).Queue(`SELECT runs_promote($1, $2)`, f.record.AccountID, s.config.PerAccount)
	}
	(*written).Queue(offerSQL)
	return nil
}

func encodeEnd(r *record) (outputs, receipt, failure []byte, err error) {
	if r.Outputs != nil {
		if outputs, err = json.Marshal(r.Outputs); err != nil {
			return nil, nil, nil, err
		}
	}
	if r.Error != nil {
		if failure, err = json.Marshal(storedFailure{r.Error, r.Error.Said}); err != nil {
			return nil, nil, nil, err
		}
	}
	receipt, err = json.Marshal(r.Receipt)
	return outputs, receipt, failure, err
}

// Cancel ends a run that is not over: at once in the house, and at the provider as soon as it can be
// told. It costs nothing, even when the result arrives at the same moment, but for the time that it ran where that was
// told before, see billing.Quote; an operator's cancel costs nothing. A run that is over stays as it is
// and is returned. Only its owner may; "" is an operator. ErrNotFound: there is none, or it is not theirs.
func (s *Service) Cancel(ctx context.Context, runID, accountID string) (Run, error) {
	run, err := s.endFromOutside(ctx, runID, accountID, StatusCanceled, registry.Say(registry.CodeCanceled, said.Canceled))
	if err != nil {
		return Run{}, fmt.Errorf("cancel run %s: %w", runID, err)
	}
	return run, nil
}

// endFromOutside ends a run without its work, wherever that is done; its result is a job's to bring. A run that is over stays
// as it is.
func (s *Service) endFromOutside(ctx context.Context, runID, accountID string, status Status, why *registry.Error) (Run, error) {
	var f finish
	err := postgres.InTx(ctx, s.config.Pool, func(tx pgx.Tx) error {
		r, err := s.lockRun(ctx, tx, runID, accountID)
		if err != nil {
			return err
		}
		if f = (finish{record: r}); r.Status.Final() {
			return nil
		}
		f = ending(r, status, why)
		f.stop = s.submits(&r)
		if status == StatusCanceled && accountID != "" && r.Quote.BillCanceled {
			if err := s.billCanceled(ctx, tx, &f); err != nil {
				return err
			}
		}
		if err := s.writeTogether(ctx, tx, []*write{{finish: &f}}, false); err != nil || !f.deliver {
			return err
		}
		return s.insertDeliveries(ctx, tx, []string{r.ID})
	})
	if err != nil {
		return Run{}, err
	}
	if f.ended {
		s.afterFinish(ctx, &f)
		s.cancelWork(f.record)
	}
	return f.record.Run, nil
}

// billCanceled has a run that its owner cancels pay for the time that it ran. The row is locked.
func (s *Service) billCanceled(ctx context.Context, tx pgx.Tx, f *finish) error {
	var since *time.Time
	if err := tx.QueryRow(ctx, `SELECT running_at FROM runs WHERE id = $1`, f.record.ID).Scan(&since); err != nil || since == nil {
		return err
	}
	receipt, err := billing.CanceledCost(f.record.Tool.CostingModel, f.record.Quote, s.now().Sub(*since), s.config.RateCard, f.record.ID)
	if err != nil {
		s.log.ErrorContext(ctx, "a canceled run could not be billed and costs nothing", "run", f.record.ID, "error", err)
		return nil
	}
	f.record.Receipt, f.record.Cost = &receipt, receipt.Cost
	return nil
}

// cancelWork stops what goes on for a run that was ended. The process that works on it tells the provider; where none does,
// we do.
func (s *Service) cancelWork(r record) {
	if s.hub.stop(r.ID, errCanceled) || !s.submits(&r) {
		return
	}
	s.spawn(func() {
		if err := s.stopDue(s.base); err != nil && s.base.Err() == nil {
			s.log.WarnContext(s.base, "stopping runs at their providers failed, another try follows", "error", err)
		}
	})
}

func dollars(n billing.NanoUSD) float64 { return float64(n) / float64(billing.Dollar) }
