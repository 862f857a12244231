package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
)

// talk is one question while it is answered.
type talk struct {
	agent    *Agent
	question Question
	answer   Answer
	with     Conversation
	known    map[string]bool // tools that the model is shown
	own      map[string]func(context.Context, Call) runs.Envelope
	memory   Remembered
	final    *string // what finalAnswer said
	plans    int     // how often a plan was handed in that is none
	sentBack bool    // an answer went back to the model, which happens once
	telling  sync.Mutex
	entry    Entry           // in the journal; nil: there is none
	spent    int             // turns that were asked for
	unnoted  []Spent         // those that are not in the journal yet
	most     billing.NanoUSD // that the model may cost
}

// show adds tools to those that the model sees.
func (t *talk) show(tools []Tool) {
	for _, tool := range tools {
		if !t.known[tool.Name] {
			t.known[tool.Name] = true
			t.with.Tools = append(t.with.Tools, tool)
		}
	}
}

// opening is the question with what belongs to it: hints for the tools that are shown, and what came with it.
func (t *talk) opening() (string, error) {
	var b strings.Builder
	if t.agent.cfg.Guidance != nil {
		b.WriteString(t.agent.cfg.Guidance().block(t.with.Tools))
	}
	for _, part := range []struct {
		name string
		list any
		some bool
	}{
		{"attachments", t.question.Attachments, len(t.question.Attachments) > 0},
		{"earlier-files", t.question.Earlier, len(t.question.Earlier) > 0},
		{"replies-to", t.question.Quoted, t.question.Quoted != ""},
	} {
		if !part.some {
			continue
		}
		data, err := json.Marshal(part.list) // which writes < so that no name ends the element
		if err != nil {
			return "", err
		}
		b.WriteString("<" + part.name + ">" + string(data) + "</" + part.name + ">\n")
	}
	b.WriteString(t.question.Text)
	return b.String(), nil
}

// converse asks the model and carries out what it wants, until it answers or a bound is reached.
func (t *talk) converse(ctx context.Context) error {
	for {
		if stop, err := t.bounded(ctx); err != nil || stop != "" {
			t.stop(stop)
			return err
		}
		t.answer.Rounds++
		turn, err := t.agent.cfg.Model.Answer(ctx, t.with)
		t.count(ctx, turn)
		if err != nil {
			return err
		}
		t.answer.Text = turn.Text
		if len(turn.Calls) == 0 {
			if t.goesBack(turn) {
				continue
			}
			t.answer.Text, t.answer.Stop = relative(turn.Text), StopAnswered
			return nil
		}
		steps := t.carryOut(ctx, turn.Calls)
		t.did(ctx, steps)
		t.answer.Steps = append(t.answer.Steps, steps...)
		if err := ctx.Err(); err != nil {
			return err
		}
		t.with.Turns = append(t.with.Turns, turn, Turn{By: Tools, Results: told(turn.Calls, steps)})
		if t.ended() {
			return nil
		}
	}
}

// stop ends the question for a bound.
func (t *talk) stop(s Stop) {
	t.answer.Stop, t.answer.Notice = s, t.agent.cfg.Bounds.notice(s, t.question.Language, t.most)
}

// ended reports whether one of the calls was the end.
func (t *talk) ended() bool {
	switch {
	case t.answer.Plan != nil:
		t.answer.Stop = StopPlanned
	case t.final != nil:
		t.answer.Text, t.answer.Stop = relative(*t.final), StopAnswered
	}
	return t.answer.Stop != ""
}

// bounded says which bound is reached, if any.
func (t *talk) bounded(ctx context.Context) (Stop, error) {
	bounds := t.agent.cfg.Bounds
	switch {
	case t.answer.Rounds >= bounds.Rounds:
		return StopRounds, nil
	case t.calls() >= bounds.Calls:
		return StopCalls, nil
	case t.answer.Usage.Total() >= bounds.Tokens:
		return StopTokens, nil
	}
	if t.entry != nil {
		if stop, err := t.boundedByJournal(ctx); err != nil || stop != "" {
			return stop, err
		}
	}
	if t.agent.cfg.Account == nil || t.question.House {
		return "", nil
	}
	left, err := t.agent.cfg.Account.Left(ctx, t.question.AccountID)
	if err == nil && left == 0 {
		return StopDay, nil
	}
	return "", err
}

// boundedByJournal says whether tokens or money are used up, with what the agents that were called have used.
func (t *talk) boundedByJournal(ctx context.Context) (Stop, error) {
	money, tokens, err := t.entry.Left(ctx)
	if t.answer.Rounds == 0 {
		t.most = money
	}
	switch {
	case err != nil:
		return "", err
	case tokens <= 0:
		return StopTokens, nil
	case t.need() > money:
		return StopMoney, nil
	}
	return "", nil
}

// calls counts those of tools other than the agent's own.
func (t *talk) calls() int {
	n := 0
	for _, s := range t.answer.Steps {
		if _, own := t.own[s.Tool]; !own {
			n++
		}
	}
	return n
}

// count adds what a turn has used. That it can't be noted is no reason to lose the turn.
func (t *talk) count(ctx context.Context, turn Turn) {
	u := turn.Usage
	t.answer.Usage = t.answer.Usage.Plus(u)
	t.spent++
	t.unnoted = append(t.unnoted, Spent{t.spent, turn.Model, u})
	t.note(ctx)
	if t.agent.cfg.Account == nil || t.question.House {
		return
	}
	if err := t.agent.cfg.Account.Used(context.WithoutCancel(ctx), t.question.AccountID, u); err != nil {
		t.agent.cfg.Logger.ErrorContext(ctx, "what a question used could not be noted", "error", err)
	}
}

// maxTools is how many tools of the registry a model is shown at first: with a thousand of them a question costs no
// more than with twenty.
const maxTools = 20

// maxToolBytes bounds what these take of the prompt, some 6,000 tokens: twenty that are described as usual fit, while a drawing
// tool with all its inputs is as long as ten of them.
const maxToolBytes = 24_000

// offer gives the tools for a question: all of them where there are few, otherwise those with its intents and those
// that its words find.
func (a *Agent) offer(ctx context.Context, q Question) ([]Tool, error) {
	snapshot := a.cfg.Registry.Snapshot()
	find := func(tags []string, limit int) []*registry.Tool {
		o := catalog.SearchOptions{Audience: q.Audience, Limit: limit, Has: q.kinds(), Near: a.cfg.Near.Of(ctx, q.Text)}
		return snapshot.Candidates(q.Text, tags, o)
	}
	offered := slices.DeleteFunc(snapshot.Offered(q.Audience), func(t *registry.Tool) bool { return !a.has(t.ToolID) })
	all := len(offered)
	about := func(t *registry.Tool) bool { return t.HasIntent(q.Intents) }
	switch {
	case a.cfg.Only != nil && len(offered) <= maxTools:
	case a.cfg.Only != nil:
		found := find(nil, snapshot.Len())
		offered = slices.DeleteFunc(found, func(t *registry.Tool) bool { return !a.has(t.ToolID) })
		offered = offered[:min(len(offered), maxTools)]
	case slices.ContainsFunc(offered, about):
		offered = find(q.Intents, maxTools)
	case len(offered) > maxTools:
		offered = find(nil, maxTools)
	}
	tools, err := describe(offered)
	if a.cfg.Only == nil && all > maxTools {
		tools = fitting(tools, maxToolBytes)
	}
	slices.SortFunc(tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools, err
}

// fitting are the first of some tools, which are ordered by what speaks for them, without those that would take too many bytes. The very first is
// always one of them; the others are to be had by searchTools.
func fitting(tools []Tool, bytes int) []Tool {
	var fit []Tool
	for _, t := range tools {
		size := len(t.Name) + len(t.Description) + len(t.Input)
		if len(fit) == 0 || size <= bytes {
			fit, bytes = append(fit, t), bytes-size
		}
	}
	return fit
}

// steps is the tool by which several calls are proposed together, where there is one. An agent that has tools of its own only has none: what
// it proposes would go beyond these.
func (a *Agent) steps(q Question) ([]Tool, error) {
	tool, there := a.cfg.Registry.Snapshot().ByID(missions.StepsTool)
	if !there || a.cfg.Only != nil || !tool.KnownTo(q.Audience) {
		return nil, nil
	}
	return describe([]*registry.Tool{tool})
}

// has reports whether a tool is one of those that there are for the agent.
func (a *Agent) has(toolID string) bool {
	return a.cfg.Only == nil || slices.Contains(a.cfg.Only, toolID)
}

func (a *Agent) system() string {
	if a.cfg.Instructions == "" {
		return system
	}
	return system + "\n\n" + a.cfg.Instructions
}

// kinds are those of what came with the question.
func (q Question) kinds() []registry.InputType {
	kinds := []registry.InputType{}
	for _, a := range q.Attachments {
		kinds = append(kinds, a.Kind)
	}
	return kinds
}

// describe writes tools as models see them.
func describe(list []*registry.Tool) ([]Tool, error) {
	tools := make([]Tool, 0, len(list))
	for _, t := range list {
		schema, err := t.InputSchema.JSONSchema()
		if err != nil {
			return nil, err
		}
		tools = append(tools, Tool{Name: t.ToolID, Description: t.About(), Input: json.RawMessage(schema)})
	}
	return tools, nil
}
