package start

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// UseWith is the command behind "Use with…" in the menu of messages.
const UseWith = "use"

// UseCommand offers the tools that take what the message it was used on holds.
func UseCommand(ctx context.Context, t *turn.Turn) error {
	t = t.Aside()
	q := t.In.ReplyTo
	if q == nil {
		return t.Tell(ctx, "use.how")
	}
	if len(q.Attachments) == 0 && q.Text == "" {
		return t.Tell(ctx, "use.nothing")
	}
	fitting := ToolsTaking(t, q.Attachments, usesShown(t))
	if len(fitting) == 0 {
		return t.Tell(ctx, "chatter.noTool")
	}
	return OfferUse(ctx, t, t.Say.Text("use.which"), store.KeyboardState{Files: q.Attachments, Query: q.Text}, fitting)
}

// usesShown is how many tools are offered for a file.
func usesShown(t *turn.Turn) int {
	if t.Out.Caps.Menus.PerMessage > 0 {
		return t.Out.Caps.Menus.Options
	}
	return PerPage
}

// ToolsTaking gives up to n tools that take the first of these files or, where there is none, a text. Those that take
// all of them come first.
func ToolsTaking(t *turn.Turn, files []chat.Attachment, n int) []*registry.Tool {
	var fitting, some []*registry.Tool
	for _, tool := range t.Offered() {
		if !input.Takes(tool, files) {
			continue
		}
		if _, rest := input.Assign(tool.InputSchema, files, nil); len(rest) > 0 {
			some = append(some, tool)
		} else {
			fitting = append(fitting, tool)
		}
	}
	fitting = append(fitting, some...)
	return fitting[:min(n, len(fitting))]
}

// OfferUse lets somebody choose which tool gets files, or a text.
func OfferUse(ctx context.Context, t *turn.Turn, text chat.Text, what store.KeyboardState, tools []*registry.Tool) error {
	what.Asked, what.Meant = t.In.Message, t.In.Answers()
	k := t.Keyboard(what)
	var options []chat.MenuOption
	for _, tool := range tools {
		k.State.Tools = append(k.State.Tools, tool.ToolID)
		options = append(options, chat.MenuOption{Label: tool.DisplayName, Description: chat.FirstSentence(tool.Description)})
	}
	if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	m := t.Answering(text)
	t.Offer(&m, k, "with", "menu.tool", options)
	_, err := t.Post(ctx, m)
	return err
}

// PressWith starts the chosen tool with the files or the text that it was chosen for.
func PressWith(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	tool, err := Chosen(ctx, t, k, n)
	if tool == nil || err != nil {
		return err
	}
	if refused, err := Refuse(ctx, t, tool); refused || err != nil {
		return err
	}
	d := PressDraft(t, tool)
	d.Asked = k.State.Meant
	if len(k.State.Files) == 0 {
		if f, ok := input.TextInput(tool.InputSchema); ok {
			d.Set(runs.FromReply, f.Name, k.State.Query)
		}
		return ProceedFrom(ctx, t, k, d)
	}
	from := runs.FromReply
	if k.State.Sent {
		from = runs.FromAttachment
		if hint, err := readCaption(ctx, t, &d, tool, k.State.Query); hint != nil || err != nil {
			return HintOr(ctx, t, hint, err)
		}
	}
	if err := assignFiles(ctx, t, &d, from, tool, k.State.Files); err != nil {
		return HintOr(ctx, t, nil, err)
	}
	return ProceedFrom(ctx, t, k, d)
}

// readCaption reads what was written under files before their tool was chosen. Plain words that the tool has no use for
// were not said to it, as in a picture passed on with its caption: that is told, and does not keep it from running.
func readCaption(ctx context.Context, t *turn.Turn, d *input.Draft, tool *registry.Tool, caption string) (hint chat.Text, err error) {
	if !tool.Hints().SupportsFileCaption {
		captionUnread(t, d, tool, caption)
		return nil, nil
	}
	if _, reads := input.FreeInput(tool.InputSchema); !reads && input.OnlyWords(tool, caption) {
		d.Notes = append(d.Notes, t.Say.Line("hint.captionLeft", "tool", tool.DisplayName))
		return nil, nil
	}
	return ReadText(ctx, t, d, tool, caption)
}

// captionUnread notes that a tool that reads no captions left one out (A37).
func captionUnread(t *turn.Turn, d *input.Draft, tool *registry.Tool, caption string) {
	if caption != "" {
		d.Notes = append(d.Notes, t.Say.Line("hint.captionUnread", "tool", tool.DisplayName))
	}
}

// PressDraft begins a run because of a press. Each press is a request of its own, but one that is handled twice is not.
func PressDraft(t *turn.Turn, tool *registry.Tool) input.Draft {
	d := NewDraft(t, tool)
	d.IdempotencyKey, d.Asked = t.In.Platform+":press:"+t.In.IDs[0], chat.MessageRef{}
	return d
}

// PressUse offers the tools that take a result's files.
func PressUse(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return t.WithResult(ctx, k, func(run runs.Run) error {
		if err := t.Acknowledge(ctx); err != nil {
			return err
		}
		t = t.Aside()
		return useResult(ctx, t, run)
	})
}

func useResult(ctx context.Context, t *turn.Turn, run runs.Run) error {
	files := show.ResultFiles(run)
	fitting := ToolsTaking(t, files, usesShown(t))
	if len(files) == 0 || len(fitting) == 0 {
		return t.Tell(ctx, "chatter.noTool")
	}
	return OfferUse(ctx, t, t.Say.Text("use.which"), store.KeyboardState{Files: files}, fitting)
}

// LastResult gives the person's newest run that made files, if there is one among the last few.
func LastResult(ctx context.Context, t *turn.Turn) (run runs.Run, ok bool, err error) {
	list, err := t.Services.Runs.List(ctx, runs.Filter{AccountID: t.Account.ID, Status: runs.StatusSucceeded, Limit: 20})
	if err != nil {
		return run, false, fmt.Errorf("find the last result: %w", err)
	}
	i := slices.IndexFunc(list, show.HasFiles)
	if i < 0 {
		return run, false, nil
	}
	return list[i], true, nil
}

// LastCommand uses the last result: with the tool named, else with one of those that take it.
func LastCommand(ctx context.Context, t *turn.Turn) (turn.Outcome, error) {
	run, ok, err := LastResult(ctx, t)
	if err != nil {
		return turn.Nothing, err
	}
	if !ok {
		t = t.Aside()
		return turn.Nothing, t.Tell(ctx, "use.noLast")
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(t.In.Text), " ")
	if first == "" {
		return turn.Nothing, useResult(ctx, t, run)
	}
	tool, ok := t.FindTool(first)
	if !ok {
		return turn.Nothing, t.NothingFound(ctx, first)
	}
	t.In.ReplyTo = &chat.Quoted{Own: true, Attachments: show.ResultFiles(run)}
	return Tool(ctx, t, tool, rest)
}

// readLast replaces the word "last" where a file is wanted by the person's last result.
func readLast(ctx context.Context, t *turn.Turn, d *input.Draft, tool *registry.Tool) (hint chat.Text, err error) {
	for name, value := range d.Values[runs.FromArgument] {
		f, ok := tool.InputSchema.Get(name)
		if !ok || !f.Type.IsMedia() || value != input.LastWord {
			continue
		}
		run, ok, err := LastResult(ctx, t)
		if err != nil {
			return nil, err
		}
		mine, _ := input.Assign(registry.InputSchema{f}, show.ResultFiles(run), nil)
		if !ok || len(mine[name]) == 0 {
			return t.Say.Text("use.noLast"), nil
		}
		if err := takeFiles(ctx, t, d, runs.FromArgument, f, mine[name]); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// ProceedFrom takes a draft as far as it goes whose tool was chosen by buttons k. The message that led to nothing, for which
// they were offered, can then no longer be corrected.
func ProceedFrom(ctx context.Context, t *turn.Turn, k store.Keyboard, d input.Draft) error {
	came, err := Proceed(ctx, t, d)
	if came != turn.Began || k.State.Asked.IsZero() {
		return err
	}
	if err := t.Services.Store.Marks.Clear(ctx, t.In.Platform, k.State.Asked.Chat, k.State.Asked.ID); err != nil {
		t.Services.Log.WarnContext(ctx, "a message that led to a run could run again when it is edited", "error", err)
	}
	return err
}

// PerPage is how many tools a list shows at once.
const PerPage = 8
