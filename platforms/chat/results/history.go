package results

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/runs"
)

// historyPage is how many runs /history shows at once.
const historyPage = 5

// HistoryCommand lists what a person has run, newest first.
func HistoryCommand(ctx context.Context, t *turn.Turn) error {
	m, err := historyList(ctx, t, t.Keyboard(store.KeyboardState{}), "")
	if err != nil {
		return err
	}
	return t.Respond(ctx, m)
}

// historyList draws the page of runs older than before.
func historyList(ctx context.Context, t *turn.Turn, k store.Keyboard, before string) (chat.Message, error) {
	m := chat.Message{To: t.In.Chat.Place}
	list, err := t.Services.Runs.List(ctx, runs.Filter{AccountID: t.Account.ID, Before: before, Limit: historyPage + 1})
	if err != nil {
		return m, fmt.Errorf("list the history: %w", err)
	}
	list = t.Say.ReadAll(list)
	if len(list) == 0 {
		m.Text = t.Say.Text("history.none")
		return m, nil
	}
	more := len(list) > historyPage
	list = list[:min(len(list), historyPage)]
	m.Text = t.Say.Text("history.title")
	k.State.Runs = nil
	var numbers []chat.Button
	for i, run := range list {
		m.Text = chat.Join("\n\n", m.Text, historyLine(t, i, run))
		k.State.Runs = append(k.State.Runs, run.ID)
		numbers = append(numbers, chat.Button{Label: t.Say.Line("button.showNumber", "n", i+1), Data: k.Data("hist" + strconv.Itoa(i))})
	}
	m.Buttons = [][]chat.Button{numbers}
	if more {
		k.State.Before = list[len(list)-1].ID
		m.Buttons = append(m.Buttons, []chat.Button{{Label: t.Say.Line("button.older"), Data: k.Data("older")}})
	}
	return m, t.Services.Store.Keyboards.Save(ctx, k)
}

// historyLine is one run: tool, when, how it ended, cost, and the beginning of what was asked for. In
// groups the latter is left out: others read along.
func historyLine(t *turn.Turn, i int, run runs.Run) chat.Text {
	text := chat.Text{
		{Text: strconv.Itoa(i+1) + ". "},
		{Style: chat.StyleBold, Text: run.Tool.DisplayName},
		{Text: " · "},
		t.Say.When(run.CreatedAt),
	}
	state := t.Say.Stage(run) // as its status message says it
	if run.Status.Final() {
		state = chat.Plain(t.Say.Line("run."+string(run.Status)) + " · " + t.Say.CostOf(run))
	}
	text = chat.Lines(text, state)
	if prompt := show.PromptOf(run); prompt != "" && t.In.Chat.Kind == chat.ChatPrivate {
		text = chat.Lines(text, chat.Text{{Style: chat.StyleItalic, Text: chat.Brief(prompt, 80)}})
	}
	return text
}

// PressOlder shows the runs before those of the list.
func PressOlder(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	m, err := historyList(ctx, t, k, k.State.Before)
	if err != nil {
		return err
	}
	_, err = t.Change(ctx, t.In.Message, m)
	return err
}

// PressHistory shows a run of the list again.
func PressHistory(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if n >= len(k.State.Runs) {
		return t.Alert(ctx, "press.tooOld")
	}
	k.State.Run = k.State.Runs[n]
	return PressShow(ctx, t, k)
}

// CancelCommand ends an open question or the one run that is under way; of several, it lists each with a button.
func CancelCommand(ctx context.Context, t *turn.Turn) error {
	p, err := t.Services.Store.Prompts.Pending(ctx, t.In.Platform, t.In.Chat.Chat, t.Account.ID)
	switch {
	case err == nil:
		if _, err := t.Services.Store.Prompts.Close(ctx, p.ID); err != nil {
			return err
		}
		start.ShowOver(ctx, t, p)
		return t.Tell(ctx, "ask.canceled")
	case !errors.Is(err, store.ErrNoPrompt):
		return err
	}
	active, err := underWay(ctx, t)
	if err != nil {
		return err
	}
	switch len(active) {
	case 0:
		return t.Tell(ctx, "cancel.none")
	case 1:
		return cancelOnly(ctx, t, active[0])
	}
	k := t.Keyboard(store.KeyboardState{})
	text := t.Say.Text("cancel.title")
	var buttons []chat.Button
	for i, run := range active {
		name := chat.Text{{Text: strconv.Itoa(i+1) + ". "}, {Style: chat.StyleBold, Text: run.Tool.DisplayName}}
		text = chat.Lines(text, chat.Join(" · ", name, t.Say.Stage(run)))
		k.State.Runs = append(k.State.Runs, run.ID)
		buttons = append(buttons, chat.Button{Label: t.Say.Line("button.cancelNumber", "n", i+1), Data: k.Data("stop#" + strconv.Itoa(i))})
	}
	if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	_, err = t.Reply(ctx, text, show.RowsOf(buttons, 3)...)
	return err
}

// cancelOnly cancels the one run that can be meant; its own message tells how it ended.
func cancelOnly(ctx context.Context, t *turn.Turn, run runs.Run) error {
	if _, err := t.Services.Runs.Cancel(ctx, run.ID, t.Account.ID); err != nil {
		return fmt.Errorf("cancel run %s: %w", run.ID, err)
	}
	return t.Tell(ctx, "cancel.only", "tool", run.Tool.DisplayName)
}

// underWay lists up to nine of the person's runs that are not over.
func underWay(ctx context.Context, t *turn.Turn) ([]runs.Run, error) {
	active, err := t.Services.Runs.List(ctx, runs.Filter{AccountID: t.Account.ID, Open: true, Limit: 9})
	if err != nil {
		return nil, fmt.Errorf("list what is under way: %w", err)
	}
	return t.Say.ReadAll(active), nil
}

// PressStopListed cancels a run of the list.
func PressStopListed(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if n >= len(k.State.Runs) {
		return t.Alert(ctx, "press.tooOld")
	}
	k.State.Run = k.State.Runs[n]
	return t.WithRun(ctx, k, func(run runs.Run) error { return stopRun(ctx, t, run) })
}

// WhyCommand tells where each value of a run came from, and what it cost: of the run whose message is replied to, else
// of the last one. Where others read along, that is one that was asked for among them.
func WhyCommand(ctx context.Context, t *turn.Turn) error {
	filter := runs.Filter{Limit: 1}
	if t.ReadByOthers() || t.In.ReplyTo != nil {
		filter.Limit = looksBack
	}
	here, list, err := lately(ctx, t, filter)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return t.Tell(ctx, "history.none")
	}
	run, ok, err := runRepliedTo(ctx, t, here, list)
	if err != nil {
		return err
	}
	if ok {
		return explainRun(ctx, t, run, chat.Text{{Style: chat.StyleBold, Text: run.Tool.DisplayName}})
	}
	if t.ReadByOthers() {
		list = here
	}
	if len(list) == 0 {
		return t.Tell(ctx, "why.elsewhere")
	}
	return explainRun(ctx, t, list[0], t.Say.Text("why.title", "tool", list[0].Tool.DisplayName))
}

// looksBack is among how many of the latest runs one of this chat is looked for.
const looksBack = 50

// lately lists the person's latest runs, and those of them that were asked for in this chat.
func lately(ctx context.Context, t *turn.Turn, filter runs.Filter) (here, all []runs.Run, err error) {
	filter.AccountID = t.Account.ID
	if all, err = t.Services.Runs.List(ctx, filter); err != nil {
		return nil, nil, fmt.Errorf("find the latest runs: %w", err)
	}
	all = t.Say.ReadAll(all)
	return slices.DeleteFunc(slices.Clone(all), func(run runs.Run) bool { return !askedHere(t, run) }), all, nil
}

// askedHere reports whether a run was asked for in this chat.
func askedHere(t *turn.Turn, run runs.Run) bool {
	where, err := store.TargetOf(run)
	return err == nil && run.Origin.Platform == t.In.Platform && where.Chat.Chat == t.In.Chat.Chat
}

// repliedTo reports whether a message is the one replied to. One of a chat that goes on under another id is not: messages count anew there.
func repliedTo(t *turn.Turn, ref chat.MessageRef) bool {
	return ref.ID == t.In.ReplyTo.Ref.ID && ref.Chat == t.In.Chat.Chat
}

// runRepliedTo gives the run that the message replied to asked for, or shows. here are runs of this chat. Those asked for elsewhere can have
// been shown again here, and are told of where nobody else reads it.
func runRepliedTo(ctx context.Context, t *turn.Turn, here, all []runs.Run) (run runs.Run, ok bool, err error) {
	if t.In.ReplyTo == nil || t.In.ReplyTo.Ref.IsZero() {
		return run, false, nil
	}
	ref := t.In.ReplyTo.Ref
	for _, run := range here {
		if where, err := store.TargetOf(run); err == nil && (repliedTo(t, where.Status) || repliedTo(t, where.Request)) {
			return run, true, nil
		}
	}
	if t.ReadByOthers() {
		all = here
	}
	ids := make([]string, len(all))
	for i, run := range all {
		ids[i] = run.ID
	}
	ref.Chat = t.In.Chat.Chat
	shown, err := t.Services.Store.Deliveries.ShownIn(ctx, ids, ref)
	i := slices.Index(ids, shown)
	if i < 0 || err != nil {
		return run, false, err
	}
	return all[i], true, nil
}

// LastHere gives the person's run that the message replied to asked for or shows, else the last one that was asked for in this chat. status,
// if there is one, is the only one that counts.
func LastHere(ctx context.Context, t *turn.Turn, status runs.Status) (run runs.Run, ok bool, err error) {
	here, all, err := lately(ctx, t, runs.Filter{Status: status, Limit: looksBack})
	if err != nil {
		return run, false, err
	}
	if run, ok, err = runRepliedTo(ctx, t, here, all); ok || err != nil || len(here) == 0 {
		return run, ok, err
	}
	return here[0], true, nil
}

// RepliedTo gives the person's run with a result that the message replied to asked for or shows.
func RepliedTo(ctx context.Context, t *turn.Turn) (run runs.Run, ok bool, err error) {
	here, all, err := lately(ctx, t, runs.Filter{Status: runs.StatusSucceeded, Limit: looksBack})
	if err != nil {
		return run, false, err
	}
	return runRepliedTo(ctx, t, here, all)
}

// explainRun tells of a run under a title.
func explainRun(ctx context.Context, t *turn.Turn, run runs.Run, text chat.Text) error {
	for _, f := range run.Tool.InputSchema.Ordered() {
		value, ok := run.Inputs[f.Name]
		if !ok {
			continue
		}
		shown := chat.Brief(t.Say.ValueLabel(f, value), 100)
		if f.Type.IsMedia() {
			shown = t.Say.Line("why.file")
		}
		text = chat.Lines(text, chat.Text{
			{Text: "• "}, {Style: chat.StyleBold, Text: f.Label()}, {Text: ": " + shown + " – "},
			{Style: chat.StyleItalic, Text: t.Say.Line("source." + string(run.Sources[f.Name]))},
		})
	}
	text = chat.Join("\n\n", text, chat.Lines(t.Say.Paid(run, t.In.Chat.Kind), t.Say.Text("support.code", "code", show.SupportCode(run.ID))))
	_, err := t.Reply(ctx, text)
	return err
}
