// Package agent puts a language model in the loop: it is asked, its tool calls become runs like any other, and it is told their
// results until it answers. What service the model is behind is the business of an adapter, see Model.
//
// The model has no rights of its own. Its calls are taken on for the account that asks, under the policy for models: what only reads runs,
// and what changes something, or asks for a confirmation anyway, waits for its owner. That is decided by runs, whatever the model says; so
// what stands in a tool's result can't change it.
package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
)

const (
	maxCalls  = 16      // in one turn
	maxResult = 64_000  // bytes of one result
	maxText   = 100_000 // bytes of a question
)

// Runs is what an Agent needs of runner.Service.
type Runs interface {
	Ask(ctx context.Context, r runs.Request) (runs.Run, error)
	Get(ctx context.Context, id string) (runs.Run, error)
	// Open gives those of the ids whose runs are the account's and not over.
	Open(ctx context.Context, accountID string, ids []string) ([]string, error)
	runs.Waiter
}

// Config wires an Agent. Registry, Runs, Model and File are required.
type Config struct {
	Registry *catalog.Registry
	Runs     Runs
	Model    Model
	Provider string // registry.CallContext.PlannerProvider: anthropic, openai
	// File is what is told of a stored file.
	File   func(run runs.Run, o runs.Output) any
	Bounds Bounds
	// Guidance are hints by tool that the descriptions do not give; nil: none.
	Guidance func() Guidance
	// Conversations keeps conversations; nil: each question stands alone.
	Conversations Conversations
	// Account bounds what the questions of an account cost in tokens; nil: nothing does.
	Account Meter
	// Journal keeps questions and has them paid; nil: nothing is kept, and the house pays.
	Journal Journal
	// Near adds what vectors know to the search of tools; nil: words alone decide.
	Near catalog.Nearness
	// Instructions are added to what every model is told, Only are the ids of the only tools that there are for it; nil: all.
	// They make one agent of several, see Definition.
	Instructions string
	Only         []string
	Logger       *slog.Logger
}

// Agent answers questions with one model. It is safe for concurrent use.
type Agent struct{ cfg Config }

// New makes an Agent.
func New(cfg Config) *Agent {
	cfg.Bounds = cfg.Bounds.orDefaults()
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Agent{cfg}
}

// Question is what somebody asks.
type Question struct {
	Text      string
	AccountID string
	Audience  registry.Audience
	Origin    runs.Origin
	Group     string      // the group with a wallet where it is asked, see runs.Request
	Budget    runs.Budget // what tools that only read may draw on unasked
	Key       runs.Budget // what the model's own words draw on, such as an API key's limit; zero: the account's limits alone
	// Spoken says that a person wrote the question, and no other model or program: its calls may go to the addresses that are in it.
	Spoken   bool
	Language string // in which the asker is told what the program says, BCP 47; empty: English
	// Within says that another agent asks, in the course of a question of the same account, trace and Key, within whose bounds this one is.
	Within bool
	RunID  string // the run whose tool is answered by this question; empty: none
	// Promise is what that run holds for the model's words, which it pays up to this. nil: the asker pays, by a hold of the question's own.
	Promise *billing.NanoUSD
	// House says that nobody asked and the house pays, as for its own upkeep: it counts to nobody's limits.
	House bool
	// HouseDay is the most questions of that kind that may begin in a day (UTC), counted by their Origin's platform; 0: any number.
	HouseDay int
	// Conversation is what the question belongs to, a name of the account's own; empty: it stands alone.
	Conversation string
	// Attachments came with the question. Earlier are files that the person got or sent before, and may mean.
	Attachments, Earlier []Attachment
	// Quoted is the text of the message that the question replies to, no matter who wrote it.
	Quoted string
	// PlanSchema is the JSON Schema of a plan that the asker wants; it is offered as the tool submit_edit_plan. Empty: none.
	PlanSchema json.RawMessage
	// Intents are tags of tools that the question is about: they narrow what the model can choose from. Tools that the
	// question names are there whatever their tags.
	Intents []string
	// Context goes with every call. A session or trace that it does not name is made up: a question is one trace.
	Context registry.CallContext
	// May refuses tools that the account may not use; nil refuses none.
	May func(ctx context.Context, toolID string) error
	// Told hears what happens while it happens, from one goroutine at a time; nil: nobody listens.
	Told func(Event)
}

// Attachment is a file that came with a question, by the reference or address under which tools take it.
type Attachment struct {
	Kind registry.InputType `json:"type"`
	Ref  string             `json:"ref"`
	Name string             `json:"name,omitempty"`
}

// Stop says why a question ended.
type Stop string

// The reasons. All but the first are bounds, each with a sentence in Answer.Notice.
const (
	StopAnswered Stop = "answered"
	StopPlanned  Stop = "planned" // a plan was handed in, see Question.PlanSchema
	StopRounds   Stop = "rounds"  // the model still wanted tools when it had been asked as often as may be
	StopCalls    Stop = "calls"
	StopTokens   Stop = "tokens"
	StopMoney    Stop = "money"     // what the model may cost, or what the account has
	StopDay      Stop = "day"       // the tokens that the account may use in a day are used up, or the questions of the house
	StopDayMoney Stop = "day_money" // so is what its questions may cost in a day
)

// Answer is the end of a question: what the model says, what it did, and what that cost.
type Answer struct {
	ID      string // of the question in the journal; empty without one
	Text    string
	Stop    Stop
	Notice  string // for people: which bound ended it; empty where none did
	Rounds  int
	Steps   []Step
	Plan    json.RawMessage // valid by Question.PlanSchema; nobody has applied it
	Usage   Usage
	Cost    billing.NanoUSD // of the models' words, with those of agents that were asked; 0 without a journal
	Context registry.CallContext
}

// Card is what the owner of a waiting run is asked to approve. The Hash names what was shown: only that is confirmed.
type Card struct {
	RunID   string       `json:"runId"`
	Summary runs.Summary `json:"summary"`
	Hash    string       `json:"hash"`
}

// carryOut takes the calls of a turn on in their order, and waits for all of them together.
func (t *talk) carryOut(ctx context.Context, calls []Call) []Step {
	steps := make([]Step, len(calls))
	var all sync.WaitGroup
	for i, call := range calls {
		step := &steps[i]
		*step = Step{Round: t.answer.Rounds, Tool: call.Tool, Arguments: call.Arguments}
		if own, ok := t.own[call.Tool]; ok {
			step.Result, step.Reads = own(ctx, call), true
			t.tell(Event{Kind: EventStep, Step: step})
			continue
		}
		t.tell(Event{Kind: EventStep, Step: step})
		run, err := runs.Run{}, t.inOrder(call)
		if err == nil {
			run, err = t.take(ctx, i, call)
		}
		if err != nil {
			step.refuse(t.question, err)
			t.agent.log(ctx, call, err)
			t.tell(step.event())
			continue
		}
		step.RunID, step.Reads = run.ID, run.Tool.Capability == registry.CapabilityRead
		all.Go(func() {
			t.agent.finish(ctx, t.question, step, run)
			t.tell(step.event())
		})
	}
	all.Wait()
	return steps
}

// take makes a run of a call.
func (t *talk) take(ctx context.Context, place int, call Call) (runs.Run, error) {
	a, q := t.agent, t.question
	if place >= maxCalls {
		return runs.Run{}, registry.Errorf(registry.CodeInvalidInput, "at most %d calls are carried out at a time; make this one again", maxCalls)
	}
	values, err := decode(call.Arguments)
	if err != nil {
		return runs.Run{}, err
	}
	if !a.has(call.Tool) {
		return runs.Run{}, runs.ErrUnknownTool
	}
	if err := q.may(ctx, call.Tool, values); err != nil {
		return runs.Run{}, err
	}
	return a.cfg.Runs.Ask(ctx, runs.Request{
		AccountID: q.AccountID, ToolID: call.Tool, Values: map[runs.Source]map[string]any{runs.FromArgument: values},
		Origin: q.Origin, Group: q.Group, Audience: q.Audience, Budget: q.Budget, Approval: runs.ApproveWrites, Said: t.said(), Context: q.Context,
	})
}

// said is what the person gave with the question, and wrote before it.
func (t *talk) said() []string {
	q := t.question
	if !q.Spoken {
		return nil
	}
	said := []string{q.Text, q.Quoted}
	for _, e := range t.memory.Exchanges {
		if e.Spoken {
			said = append(said, e.Question)
		}
	}
	for _, a := range slices.Concat(q.Attachments, q.Earlier) {
		said = append(said, a.Ref)
	}
	return said
}

// may refuses a call of a tool that the account may not use, and of several steps with one among them.
func (q Question) may(ctx context.Context, toolID string, values map[string]any) error {
	if q.May == nil {
		return nil
	}
	needs := []string{toolID}
	if toolID == missions.StepsTool {
		needs = append(needs, missions.StepTools(values)...)
	}
	for _, id := range needs {
		if err := q.May(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// finish waits for a run and records its result in the step.
func (a *Agent) finish(ctx context.Context, q Question, step *Step, run runs.Run) {
	run, err := runs.Await(ctx, a.cfg.Runs, run, nil)
	if err != nil {
		if errors.Is(err, runs.ErrNotCanceled) {
			a.cfg.Logger.WarnContext(ctx, "an asker gave up", "run", run.ID, "error", err)
		}
		step.refuse(q, err)
		return
	}
	envelope, over := run.Envelope(run.DataOf(func(o runs.Output) any { return a.cfg.File(run, o) }))
	if !over {
		step.refuse(q, registry.Errorf(registry.CodeUnavailable, "it goes on and is not over yet: run %s", run.ID))
		return
	}
	step.Result = envelope
}

// refuse records that a call came to nothing.
func (s *Step) refuse(q Question, err error) {
	var approval *runs.ApprovalError
	if errors.As(err, &approval) && approval.Run.ID != "" {
		summary := approval.Run.Summary()
		s.RunID, s.Card = approval.Run.ID, &Card{approval.Run.ID, summary, summary.Hash()}
	}
	s.Result = runs.Refused(err, q.Context.TraceID)
}

// log tells the operator of failures that are our own, of which nobody else hears the cause.
func (a *Agent) log(ctx context.Context, call Call, err error) {
	var missing *runs.MissingInputError
	var poor billing.ErrInsufficient
	var typed *registry.Error
	expected := errors.As(err, &typed) || errors.As(err, &missing) || errors.As(err, &poor) || errors.Is(err, runs.ErrUnknownTool)
	if !expected && ctx.Err() == nil {
		a.cfg.Logger.ErrorContext(ctx, "a model's call failed", "tool", call.Tool, "error", err)
	}
}

// decode reads a call's arguments. Numbers keep their digits.
func decode(arguments string) (map[string]any, error) {
	values := map[string]any{}
	if strings.TrimSpace(arguments) == "" {
		return values, nil
	}
	if decimal.Unmarshal([]byte(arguments), &values) != nil {
		return nil, registry.Errorf(registry.CodeInvalidInput, "the arguments are no JSON object")
	}
	return values, nil
}

// told is what the model hears of its calls.
func told(calls []Call, steps []Step) []Result {
	results := make([]Result, len(calls))
	for i, s := range steps {
		results[i] = Result{CallID: calls[i].ID, Text: textOf(s.Result), Failed: !s.Result.OK}
	}
	return results
}

// textOf writes an envelope without what is of no use to a model. What is very long is cut, and says so.
func textOf(e runs.Envelope) string {
	body := struct {
		OK        bool                `json:"ok"`
		Data      any                 `json:"data,omitempty"`
		Error     *runs.EnvelopeError `json:"error,omitempty"`
		Truncated bool                `json:"truncated,omitempty"`
	}{OK: e.OK, Data: e.Data, Error: e.Error}
	text := encode(body)
	if len(text) > maxResult {
		body.Data, body.Truncated = strings.ToValidUTF8(encode(e.Data)[:maxResult], ""), true
		text = encode(body)
	}
	return text
}

// encode writes JSON as it reads best: addresses keep their signs.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return `{"ok":false}` // of outputs, which are text and numbers, this does not happen
	}
	return strings.TrimSpace(b.String())
}
