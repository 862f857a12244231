package router

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// useWith is the command behind "Use with…" in the menu of messages.
const useWith = "use"

// useCommand offers the tools that take what the message it was used on holds.
func (t *turn) useCommand(ctx context.Context) error {
	t.aside = true
	q := t.in.ReplyTo
	if q == nil || len(q.Attachments) == 0 && q.Text == "" {
		return t.tell(ctx, "use.nothing")
	}
	fitting := t.toolsTaking(q.Attachments, t.usesShown())
	if len(fitting) == 0 {
		return t.tell(ctx, "chatter.noTool")
	}
	return t.offerUse(ctx, t.say.Text("use.which"), store.KeyboardState{Files: q.Attachments, Query: q.Text}, fitting)
}

// usesShown is how many tools are offered for a file.
func (t *turn) usesShown() int {
	if t.out.Caps.Menus.PerMessage > 0 {
		return t.out.Caps.Menus.Options
	}
	return toolsPerPage
}

// toolsTaking gives up to n tools that take the first of these files or, where there is none, a text. Those that take
// all of them come first.
func (t *turn) toolsTaking(files []chat.Attachment, n int) []*registry.Tool {
	var fitting, some []*registry.Tool
	for _, tool := range t.offered() {
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

// offerUse lets somebody choose which tool gets files, or a text.
func (t *turn) offerUse(ctx context.Context, text chat.Text, what store.KeyboardState, tools []*registry.Tool) error {
	what.Asked = t.in.Message
	k := t.keyboard(what)
	var options []chat.MenuOption
	for _, tool := range tools {
		k.State.Tools = append(k.State.Tools, tool.ToolID)
		options = append(options, chat.MenuOption{Label: tool.DisplayName, Description: chat.FirstSentence(tool.Description)})
	}
	if err := t.svc.Store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	m := t.answering(text)
	t.offer(&m, k, "with", "menu.tool", options)
	_, err := t.post(ctx, m)
	return err
}

// pressWith starts the chosen tool with the files or the text that it was chosen for.
func (t *turn) pressWith(ctx context.Context, k store.Keyboard, n int) error {
	if n >= len(k.State.Tools) {
		return t.alert(ctx, "press.tooOld")
	}
	tool, ok := t.tools.Resolve(k.State.Tools[n])
	if !ok {
		return t.alert(ctx, "tool.gone")
	}
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	if refused, err := t.refuse(ctx, tool); refused || err != nil {
		return err
	}
	d := t.pressDraft(tool)
	if len(k.State.Files) == 0 {
		if f, ok := input.TextInput(tool.InputSchema); ok {
			d.Set(runs.FromReply, f.Name, k.State.Query)
		}
		return t.proceed(ctx, d)
	}
	from := runs.FromReply
	if k.State.Sent {
		from = runs.FromAttachment
		if hint, err := t.readCaption(ctx, &d, tool, k.State.Query); hint != nil || err != nil {
			return t.hintOr(ctx, hint, err)
		}
	}
	if err := t.takeAll(ctx, &d, from, tool, k.State.Files); err != nil {
		return t.hintOr(ctx, nil, err)
	}
	return t.proceed(ctx, d)
}

// readCaption reads what was written under files before their tool was chosen. Plain words that the tool has no use for
// were not said to it, as in a picture passed on with its caption: that is told, and does not keep it from running.
func (t *turn) readCaption(ctx context.Context, d *input.Draft, tool *registry.Tool, caption string) (hint chat.Text, err error) {
	if !tool.Hints().SupportsFileCaption {
		t.captionUnread(d, tool, caption)
		return nil, nil
	}
	if _, reads := input.FreeInput(tool.InputSchema); !reads {
		args, err := input.Parse(caption, input.WithPresetOption(tool.InputSchema))
		if err == nil && args.Text != "" && len(args.Values) == 0 {
			d.Notes = append(d.Notes, t.say.Line("hint.captionLeft", "tool", tool.DisplayName))
			return nil, nil
		}
	}
	return t.read(ctx, d, tool, caption)
}

// captionUnread notes that a tool that reads no captions left one out (A37).
func (t *turn) captionUnread(d *input.Draft, tool *registry.Tool, caption string) {
	if caption != "" {
		d.Notes = append(d.Notes, t.say.Line("hint.captionUnread", "tool", tool.DisplayName))
	}
}

// pressDraft begins a run because of a press. Each press is a request of its own, but one that is handled twice is not.
func (t *turn) pressDraft(tool *registry.Tool) input.Draft {
	d := t.newDraft(tool)
	d.Key, d.Request = t.in.platform+":press:"+t.in.ids[0], chat.MessageRef{}
	return d
}

// pressUse offers the tools that take a result's files.
func (t *turn) pressUse(ctx context.Context, k store.Keyboard) error {
	return t.withRun(ctx, k, func(run runs.Run) error {
		if err := t.acknowledge(ctx); err != nil {
			return err
		}
		t.aside = true
		return t.useResult(ctx, run)
	})
}

func (t *turn) useResult(ctx context.Context, run runs.Run) error {
	files := show.ResultFiles(run)
	fitting := t.toolsTaking(files, t.usesShown())
	if len(files) == 0 || len(fitting) == 0 {
		return t.tell(ctx, "chatter.noTool")
	}
	return t.offerUse(ctx, t.say.Text("use.which"), store.KeyboardState{Files: files}, fitting)
}

// lastResult gives the person's newest run that made files, if there is one among the last few.
func (t *turn) lastResult(ctx context.Context) (run runs.Run, ok bool, err error) {
	list, err := t.svc.Runs.List(ctx, runs.Filter{AccountID: t.account.ID, Status: runs.StatusSucceeded, Limit: 20})
	if err != nil {
		return run, false, fmt.Errorf("find the last result: %w", err)
	}
	i := slices.IndexFunc(list, show.HasFiles)
	if i < 0 {
		return run, false, nil
	}
	return list[i], true, nil
}

// lastCommand uses the last result: with the tool named, else with one of those that take it.
func (t *turn) lastCommand(ctx context.Context) error {
	run, ok, err := t.lastResult(ctx)
	if err != nil {
		return err
	}
	if !ok {
		t.aside = true
		return t.tell(ctx, "use.noLast")
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(t.in.Text), " ")
	if first == "" {
		return t.useResult(ctx, run)
	}
	tool, ok := t.findTool(first)
	if !ok {
		return t.nothingFound(ctx, first)
	}
	t.in.ReplyTo = &chat.Quoted{Own: true, Attachments: show.ResultFiles(run)}
	return t.toolCommand(ctx, tool, rest)
}

// typedLast replaces the word "last" where a file is wanted by the person's last result.
func (t *turn) typedLast(ctx context.Context, d *input.Draft, tool *registry.Tool) (hint chat.Text, err error) {
	for name, value := range d.Values[runs.FromArgument] {
		f, ok := tool.InputSchema.Get(name)
		if !ok || !f.Type.IsMedia() || value != input.LastWord {
			continue
		}
		run, ok, err := t.lastResult(ctx)
		if err != nil {
			return nil, err
		}
		mine, _ := input.Assign(registry.InputSchema{f}, show.ResultFiles(run), nil)
		if !ok || len(mine[name]) == 0 {
			return t.say.Text("use.noLast"), nil
		}
		if err := t.take(ctx, d, runs.FromArgument, f, mine[name]); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
