package chains

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/results"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// propose shows what a batch would be and what it costs at most. It begins when that is confirmed.
func propose(ctx context.Context, t *turn.Turn, tool *registry.Tool, drafts []input.Draft) (turn.Outcome, error) {
	if !t.In.Answer.IsZero() {
		return turn.Began, nil // shown before a crash broke the handling off
	}
	draft := missions.Draft{
		Title: t.Say.Line("batch.title", "n", len(drafts), "tool", tool.DisplayName), Independent: true, Legs: make([]missions.DraftLeg, len(drafts)),
		Origin: runs.Origin{Platform: t.In.Platform, Target: where(t, drafts[0])},
	}
	for i, d := range drafts {
		bound, err := start.Bind(ctx, t, d)
		if hint, err := unfit(t, tool, i, bound, err); hint != nil || err != nil {
			return turn.Nothing, start.HintOr(ctx, t, chat.Lines(hint, parted(t)), err)
		}
		draft.Legs[i] = missions.DraftLeg{Tool: tool.ToolID, Order: i + 1, Inputs: bound.Inputs, Summary: summary(tool, bound.Inputs)}
	}
	m, err := t.Services.Missions.Plan(ctx, t.Account.ID, drafts[0].IdempotencyKey, draft)
	if err != nil {
		return turn.Nothing, t.Refused(ctx, err)
	}
	k := t.Keyboard(store.KeyboardState{Mission: m.ID, Values: []any{m.Hash}})
	if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
		return turn.Nothing, err
	}
	card := t.Answering(t.Say.BatchCard(m), []chat.Button{
		{Label: t.Say.Line("button.confirm"), Data: k.Data("mgo"), Style: chat.ButtonPrimary}, {Label: t.Say.Line("button.cancel"), Data: k.Data("mno")},
	})
	if _, err := start.PostStatus(ctx, t, card); err != nil {
		return turn.Nothing, fmt.Errorf("show what a batch costs: %w", err)
	}
	return turn.Began, nil
}

// where is the chat that results come to. What failed is told at the end, all together.
func where(t *turn.Turn, d input.Draft) []byte {
	return store.Target{Chat: t.In.Chat, Request: d.Asked, Language: t.Language(), Person: t.In.From.ExternalID, Notes: d.Notes, Quiet: true}.Encode()
}

// unfit says what is wrong with an input, by its number, or what it lacks.
func unfit(t *turn.Turn, tool *registry.Tool, i int, bound runs.Bound, err error) (chat.Text, error) {
	var bad *registry.Error
	switch {
	case errors.As(err, &bad) && bad.Code == registry.CodeInvalidInput:
		if f, known := tool.InputSchema.Get(bad.Field); known {
			return atInput(t, i, t.WrongValue(f, bad)), nil
		}
		return atInput(t, i, chat.Plain(bad.Message)), nil
	case err != nil:
		return nil, err
	case len(bound.Missing) > 0:
		f, _ := tool.InputSchema.Get(bound.Missing[0].Name) // as it is read here
		return atInput(t, i, t.Say.Text("batch.missing", "input", f.Label())), nil
	}
	return nil, nil
}

// maxSummary bounds what a leg is called, in runes.
const maxSummary = 60

// summary is what tells one leg from the others: its text, or else the tool's name.
func summary(tool *registry.Tool, inputs map[string]any) string {
	if f, ok := input.TextInput(tool.InputSchema); ok {
		if text, _ := inputs[f.Name].(string); strings.TrimSpace(text) != "" {
			return chat.Brief(text, maxSummary)
		}
	}
	return tool.DisplayName
}

// PressConfirm lets a batch go ahead, as it was shown.
func PressConfirm(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	hash := ""
	if len(k.State.Values) > 0 {
		hash, _ = k.State.Values[0].(string)
	}
	m, err := t.Services.Missions.Confirm(ctx, k.State.Mission, t.Account.ID, hash)
	var gate *runs.GateError
	var short billing.ErrInsufficient
	switch {
	case errors.Is(err, missions.ErrNotFound):
		return t.Alert(ctx, "press.tooOld")
	case errors.As(err, &gate):
		return t.Alert(ctx, "press.expired", "n", int(runs.SummaryLife.Minutes()))
	case errors.As(err, &short):
		return errors.Join(t.Answer(ctx, start.Insufficient(ctx, t, short, false).String(), true), turn.ErrNotDone)
	case err != nil:
		return err
	}
	key := "batch.began"
	if m.Promised == 0 {
		key = "batch.beganFree"
	}
	began := chat.Message{
		To: t.In.Chat.Place, Text: t.Say.Text(key, "title", m.Title, "price", m.Promised),
		Buttons: [][]chat.Button{{{Label: t.Say.Line("button.stop"), Data: k.Data("mstop")}}},
	}
	_, shown := t.Change(ctx, t.In.Message, began)
	return errors.Join(t.Note(ctx, "press.started"), shown)
}

// PressDecline ends a batch that was not confirmed.
func PressDecline(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return end(ctx, t, k, "batch.declined")
}

// PressStop ends a batch under way: nothing more of it begins.
func PressStop(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return end(ctx, t, k, "batch.stopping")
}

func end(ctx context.Context, t *turn.Turn, k store.Keyboard, said string) error {
	if _, err := t.Services.Missions.Cancel(ctx, k.State.Mission, t.Account.ID); errors.Is(err, missions.ErrNotFound) {
		return t.Alert(ctx, "press.tooOld")
	} else if err != nil {
		return err
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	_, err := t.Change(ctx, t.In.Message, chat.Message{To: t.In.Chat.Place, Text: t.Say.Text(said)})
	return err
}

// PressFailed proposes what failed in a batch once more.
func PressFailed(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	m, err := t.Services.Missions.Get(ctx, k.State.Mission, t.Account.ID)
	if errors.Is(err, missions.ErrNotFound) {
		return t.Alert(ctx, "press.tooOld")
	}
	if err != nil {
		return err
	}
	tool, ok := t.Tools.Resolve(m.Legs[0].Tool.ID)
	if !ok {
		return errors.Join(t.Alert(ctx, "tool.gone"), turn.ErrNotDone)
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	if refused, err := start.Refuse(ctx, t, tool); refused || err != nil {
		return errors.Join(err, turn.ErrNotDone)
	}
	var drafts []input.Draft
	for _, leg := range m.Legs {
		if leg.Progress.Status == missions.LegDone {
			continue
		}
		d := start.PressDraft(t, tool)
		for name, value := range leg.Inputs {
			d.Set(runs.FromArgument, name, value)
		}
		d.DropLost(tool.InputSchema)
		drafts = append(drafts, d)
	}
	_, err = propose(ctx, t, tool, drafts)
	return err
}

// PressLegConfirm gives the word that a leg of a mission waits for.
func PressLegConfirm(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		run, err := t.Services.Runs.Confirm(ctx, run.ID, t.Account.ID)
		refused, err := results.NotConfirmed(ctx, t, run, err)
		if err != nil {
			return err
		}
		if refused != nil {
			return t.Answer(ctx, refused.String(), true)
		}
		_, shown := t.Change(ctx, t.In.Message, chat.Message{To: t.In.Chat.Place, Text: t.Say.Text("mission.agreed", "tool", t.Say.Read(run).Tool.DisplayName)})
		return errors.Join(t.Note(ctx, "press.started"), shown)
	})
}

// PressLegDecline refuses that word: the mission is taken back.
func PressLegDecline(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return t.WithRun(ctx, k, func(run runs.Run) error {
		if _, err := t.Services.Runs.Cancel(ctx, run.ID, t.Account.ID); err != nil {
			return err
		}
		if err := t.Acknowledge(ctx); err != nil {
			return err
		}
		_, err := t.Change(ctx, t.In.Message, chat.Message{To: t.In.Chat.Place, Text: t.Say.Text("mission.declined", "tool", t.Say.Read(run).Tool.DisplayName)})
		return err
	})
}
