package store

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Record is a run as it is stored: what everybody sees and what only its steps need.
type Record struct {
	runs.Run
	Waiting     bool
	Deliverable bool
	Ticket      *registry.Ticket
	Sending     *registry.Ticket // of a request that was about to leave; nobody knows whether it did
	Timeout     time.Duration
	Deaths      int // engines that were lost while they worked on the run
}

// Handle is the provider's idempotency handle of the present attempt: the run's id for the first, and for
// each further one an id that follows from it, so that a crash changes nothing.
func (r *Record) Handle() string {
	if r.Attempt <= 1 {
		return r.ID
	}
	return uuid.NewSHA1(uuid.MustParse(r.ID), []byte("attempt "+strconv.Itoa(r.Attempt))).String()
}

// CallOf is a run as its provider gets it, with what was granted and approved and no more.
func (s *Env) CallOf(r *Record, repeated bool) registry.Call {
	tool, inputs := r.Forwarded()
	return registry.Call{
		RunID: r.ID, Handle: r.Handle(), Repeated: repeated, Sent: r.Sending, UserID: r.AccountID, Tool: tool, Inputs: inputs,
		CallbackURL: s.Config.CallbackURL(r.Tool.Service, r.ID), Media: s.Config.Assets, Context: s.contextOf(&r.Run), Preview: r.Approved(),
		Promised: int64(r.Quote.High), Budget: r.Budget, Group: r.Group,
	}
}

// Where is the ticket of the run as it is known or about to be; nil: it is nowhere.
func (r *Record) Where() *registry.Ticket {
	if r.Ticket != nil {
		return r.Ticket
	}
	return r.Sending
}

// questionSQL is a run's open question, as a column of r; see decodeQuestion.
const questionSQL = `CASE WHEN r.status = 'running' THEN (SELECT convert_to(json_build_object('id', q.id, 'until', q.until, 'question', q.question)::text, 'UTF8')
	FROM run_questions q WHERE q.run_id = r.id AND q.asked_by = r.claimed_by AND q.reply IS NULL) END`

func decodeQuestion(raw []byte) (*runs.OpenQuestion, error) {
	var row struct {
		ID       string
		Until    time.Time
		Question registry.Question
	}
	if raw == nil {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &row); err != nil {
		return nil, err
	}
	return &runs.OpenQuestion{Question: row.Question, ID: row.ID, Until: row.Until}, nil
}
