package write

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

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
func (s *Writer) queueEnds(batch *pgx.Batch, finishes []*Finish) error {
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
		r := &f.Record
		ended := s.Now()
		r.EndedAt = &ended
		r.Fraction, r.Stage, r.QueuePosition, r.ExpectedAt = nil, "", 0, nil
		outputs, receipt, failure, err := encodeEnd(r)
		if err != nil {
			return err
		}
		ticket, _, err := EncodeTicket(r.Ticket)
		if err != nil {
			return err
		}
		encoded[i] = texts{orNull(outputs), orNull(failure), orNull(ticket), string(receipt)}
	}
	batch.Queue(endSQL,
		column(finishes, func(f *Finish) string { return f.Record.ID }),
		column(finishes, func(f *Finish) string { return f.Record.AccountID }),
		column(finishes, func(f *Finish) string { return string(f.Record.Status) }),
		column(encoded, func(t texts) *string { return t.outputs }),
		column(finishes, func(f *Finish) int64 { return int64(f.Record.Cost) }),
		column(finishes, func(f *Finish) int64 { return int64(f.Record.Receipt.FullCost()) }),
		column(finishes, func(f *Finish) int64 { return f.NanoUnits }),
		column(finishes, func(f *Finish) string { return f.Machine }),
		column(encoded, func(t texts) string { return t.receipt }),
		column(encoded, func(t texts) *string { return t.failure }),
		column(finishes, func(f *Finish) int64 { return int64(f.Record.Attempt) }),
		column(encoded, func(t texts) *string { return t.ticket }),
		column(finishes, func(f *Finish) *time.Time { return f.Record.StartedAt }),
		column(finishes, func(f *Finish) time.Time { return *f.Record.EndedAt }),
		column(finishes, func(f *Finish) bool { return f.Brings }),
		s.Instance,
	).QueryRow(func(row pgx.Row) error { return readEnds(row, finishes) })
	return nil
}

// readEnds takes note of what endSQL tells.
func readEnds(row pgx.Row, finishes []*Finish) error {
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
		i := place[f.Record.ID]
		f.Ended, f.Deliver, f.Record.Origin.Target = true, deliverable[i], targets[i]
	}
	return nil
}

// promote lets runs that waited take the places of those that end. Where accounts have limits it sends what
// is written so far, since it counts by that, and begins a new batch.
func (s *Writer) promote(ctx context.Context, on sender, written **pgx.Batch, finishes []*Finish) error {
	if s.Config.PerAccount <= 0 || len(finishes) == 0 {
		return nil
	}
	if err := send(ctx, on, *written); err != nil {
		return err
	}
	*written = &pgx.Batch{}
	for _, f := range finishes {
		(*written).Queue(`SELECT runs_promote($1, $2)`, f.Record.AccountID, s.Config.PerAccount)
	}
	(*written).Queue(store.OfferSQL)
	return nil
}

func encodeEnd(r *store.Record) (outputs, receipt, failure []byte, err error) {
	if r.Outputs != nil {
		if outputs, err = json.Marshal(r.Outputs); err != nil {
			return nil, nil, nil, err
		}
	}
	if r.Error != nil {
		if failure, err = json.Marshal(runs.StoredFailure{Failure: r.Error, Said: r.Error.Said}); err != nil {
			return nil, nil, nil, err
		}
	}
	receipt, err = json.Marshal(r.Receipt)
	return outputs, receipt, failure, err
}

// EncodeTicket writes a ticket as it is stored, with the provider's id; nil where there is none.
func EncodeTicket(ticket *registry.Ticket) (raw []byte, providerID *string, err error) {
	if ticket == nil {
		return nil, nil, nil
	}
	raw, err = json.Marshal(ticket)
	return raw, &ticket.ProviderID, err
}

// A run that ends here without a result may go on at its provider, where it costs money. A row of run_stops, written
// with the run's end, remembers that the provider has to be told: by the process that works on the run, once the answer to a
// submission under way is there, and should that process die, by any other.
const (
	StopWithin = 15 * time.Second                                  // for telling a provider to stop
	StopLease  = registry.AnswerWait + StopWithin + 10*time.Second // in which nobody else tries
)

// queueStops adds to batch the rows of those runs that have to be stopped at their providers. Who works on a run has the first
// try; the claim tells who, so this comes before the runs' own rows are written.
func (s *Writer) queueStops(batch *pgx.Batch, finishes []*Finish) {
	var ids []string
	for _, f := range finishes {
		if f.Stop {
			ids = append(ids, f.Record.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	batch.Queue(`
		INSERT INTO run_stops (run_id, since, next_at)
		SELECT id, $2::timestamptz, CASE WHEN claimed_by IS NULL THEN $2 ELSE $3 END FROM runs
		WHERE id = ANY ($1::uuid[]) AND (claims > 0 OR ticket IS NOT NULL) ON CONFLICT DO NOTHING`,
		ids, s.Now(), s.Now().Add(StopLease))
}
