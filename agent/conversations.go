package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/runs"
)

// Conversations keeps what was said in conversations of accounts.
type Conversations interface {
	// Recall gives what is remembered, nothing where there is no such conversation.
	Recall(ctx context.Context, accountID, conversation string) (Remembered, error)
	// Remember keeps it in place of what was there, for the account that it belongs to.
	Remember(ctx context.Context, accountID, conversation string, r Remembered) error
}

// InChats begins the names of conversations in chats, which are their people's own.
const InChats = "chat:"

// Remembered is a conversation as it is kept: what was said last, word by word, and the rest in short.
type Remembered struct {
	Summary   string     `json:"summary,omitempty"`
	Exchanges []Exchange `json:"exchanges"`
}

// Exchange is a question with its answer.
type Exchange struct {
	Question string   `json:"question"`
	Spoken   bool     `json:"spoken,omitempty"` // see Question
	Answer   string   `json:"answer"`
	Results  []string `json:"results,omitempty"` // references of files that came of it, the last ones
	Waiting  []string `json:"waiting,omitempty"` // runs that waited for approval: what became of them is told with the next question
}

// How much is remembered word by word, in tokens, and how many references of an exchange.
const (
	memoryTokens = 6000
	maxReferred  = 8
)

// tokens is how long the conversation is.
func (r Remembered) tokens() int {
	n := Tokens(r.Summary)
	for _, e := range r.Exchanges {
		n += e.tokens()
	}
	return n
}

func (e Exchange) tokens() int {
	return Tokens(e.Question) + Tokens(e.Answer) + Tokens(strings.Join(e.Results, " "))
}

// turns writes the conversation as a model is told it.
func (r Remembered) turns() []Turn {
	var turns []Turn
	if r.Summary != "" {
		turns = append(turns, Turn{By: Person, Text: "<conversation-so-far>" + r.Summary + "</conversation-so-far>"}, Turn{By: Asked, Text: "I remember."})
	}
	for _, e := range r.Exchanges {
		answer := e.Answer
		if len(e.Results) > 0 {
			answer += "\n<results>" + strings.Join(e.Results, " ") + "</results>"
		}
		turns = append(turns, Turn{By: Person, Text: e.Question}, Turn{By: Asked, Text: strings.TrimSpace(answer)})
	}
	return turns
}

func (t *talk) recall(ctx context.Context) (err error) {
	if t.question.Conversation == "" || t.agent.cfg.Conversations == nil {
		return nil
	}
	t.memory, err = t.agent.cfg.Conversations.Recall(ctx, t.question.AccountID, t.question.Conversation)
	return errs.Wrap(err, "recall the conversation")
}

// remember keeps what was asked and answered. A question that failed or was stopped is kept, too, with what was said.
func (t *talk) remember(ctx context.Context) error {
	if t.question.Conversation == "" || t.agent.cfg.Conversations == nil {
		return nil
	}
	text := t.answer.Text
	if t.answer.Plan != nil {
		text = "Plan: " + string(t.answer.Plan)
	}
	text = cmp.Or(text, "(no answer)")
	t.memory.Exchanges = append(t.memory.Exchanges, Exchange{t.question.Text, t.question.Spoken, text, referred(t.answer.Steps), waiting(t.answer.Steps)})
	if ctx.Err() == nil {
		t.shorten(ctx)
	} else {
		t.memory.drop()
	}
	err := t.agent.cfg.Conversations.Remember(context.WithoutCancel(ctx), t.question.AccountID, t.question.Conversation, t.memory)
	return errs.Wrap(err, "keep the conversation")
}

const summarize = "Summarize the conversation so far in at most 200 words, for yourself: what the person wants, what was decided, and names, numbers and references that may be needed again. " +
	"Answer with the summary alone."

// shorten has the model put the older half of a long conversation in short. Where it can't, the oldest is left out.
func (t *talk) shorten(ctx context.Context) {
	if t.memory.tokens() <= memoryTokens || len(t.memory.Exchanges) < 2 {
		t.memory.drop()
		return
	}
	half := (len(t.memory.Exchanges) + 1) / 2
	older := Remembered{t.memory.Summary, t.memory.Exchanges[:half]}
	turn, err := t.agent.cfg.Model.Answer(ctx, Conversation{System: system, Turns: append(older.turns(), Turn{By: Person, Text: summarize})})
	t.count(ctx, turn)
	if err != nil || strings.TrimSpace(turn.Text) == "" {
		t.agent.cfg.Logger.WarnContext(ctx, "a conversation could not be put in short", "error", err)
	} else {
		t.memory = Remembered{turn.Text, t.memory.Exchanges[half:]}
	}
	t.memory.drop()
}

// drop leaves the oldest out until the rest is no longer than may be kept.
func (r *Remembered) drop() {
	for r.tokens() > memoryTokens && len(r.Exchanges) > 1 {
		r.Exchanges = r.Exchanges[1:]
	}
}

// waiting are the runs of steps that wait for approval.
func waiting(steps []Step) []string {
	var ids []string
	for _, s := range steps {
		if s.Card != nil {
			ids = append(ids, s.Card.RunID)
		}
	}
	return ids
}

// since tells what became of runs that waited when the conversation rested. What waits still stays noted.
func (t *talk) since(ctx context.Context) (string, error) {
	var told, ids []string
	for _, e := range t.memory.Exchanges {
		ids = append(ids, e.Waiting...)
	}
	if len(ids) == 0 {
		return "", nil
	}
	open, err := t.agent.cfg.Runs.Open(ctx, t.question.AccountID, ids)
	if err != nil {
		return "", err
	}
	for i := range t.memory.Exchanges {
		e := &t.memory.Exchanges[i]
		var still []string
		for _, id := range e.Waiting {
			if slices.Contains(open, id) { // as most are, and hundreds may be: no more of them is read
				still = append(still, id)
				continue
			}
			run, err := t.agent.cfg.Runs.Get(ctx, id)
			if errors.Is(err, runs.ErrNotFound) || (err == nil && run.AccountID != t.question.AccountID) {
				continue // it was deleted, or went to another account
			}
			if err != nil {
				return "", err
			}
			envelope, over := run.Envelope(run.DataOf(func(o runs.Output) any { return t.agent.cfg.File(run, o) }))
			if !over || run.Status == runs.StatusAwaitingConfirmation {
				still = append(still, id)
				continue
			}
			e.Results = append(e.Results, appendRefs(nil, envelope.Data)...)
			told = append(told, run.Tool.ToolID+": "+textOf(envelope))
		}
		e.Waiting = still
	}
	if told == nil {
		return "", nil
	}
	return "<since-then>" + strings.Join(told, "\n") + "</since-then>\n", nil
}

// referred are the references of files that steps gave, the last ones.
func referred(steps []Step) []string {
	var refs []string
	for _, s := range steps {
		refs = appendRefs(refs, s.Result.Data)
	}
	return refs[max(0, len(refs)-maxReferred):]
}

func appendRefs(refs []string, data any) []string {
	switch data := data.(type) {
	case map[string][]any:
		for _, list := range data {
			refs = appendRefs(refs, list)
		}
	case []any:
		for _, one := range data {
			refs = appendRefs(refs, one)
		}
	case map[string]any:
		if ref, ok := data["ref"].(string); ok {
			return append(refs, ref)
		}
		for _, one := range data {
			refs = appendRefs(refs, one)
		}
	}
	return refs
}
