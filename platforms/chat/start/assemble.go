package start

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// NewDraft begins a run of a tool for this update.
func NewDraft(t *turn.Turn, tool *registry.Tool) input.Draft {
	return input.Draft{
		Request: runs.Request{ToolID: tool.ToolID, IdempotencyKey: t.In.Platform + ":" + t.In.Chat.Chat + ":" + t.In.Message.ID},
		Asked:   t.In.Answers(), Notes: t.Deprecation(tool),
	}
}

// readTyped reads text and options. A hint says what is wrong with them.
func readTyped(t *turn.Turn, d *input.Draft, tool *registry.Tool, text string) (hint chat.Text) {
	err := d.Read(tool, text, t.In.Options)
	noteFormat(t, d)
	return unread(t, tool, err)
}

// unread is the hint for what a tool has no use for; nil where all was read.
func unread(t *turn.Turn, tool *registry.Tool, err error) chat.Text {
	var unknown *input.UnknownOption
	var missing *input.MissingValue
	var left *input.LeftOver
	switch {
	case errors.As(err, &unknown):
		return unknownOption(t, tool, unknown)
	case errors.As(err, &missing):
		return t.Say.Text("option.empty", "option", missing.Name)
	case errors.As(err, &left):
		return leftOverText(t, tool, left.Text)
	case err != nil:
		return t.Say.Text("file.gone") // stored files are given by hand, not by name
	}
	return nil
}

// noteFormat says with the status which size or ratio was understood of the person's words.
func noteFormat(t *turn.Turn, d *input.Draft) {
	if d.Format == nil {
		return
	}
	shown := d.Format.Shown()
	d.Notes = append(d.Notes, t.Say.Line("format.understood", "said", chat.Brief(d.Format.Said, 40), "size", shown))
}

// Options reads options alone, as values of a tool's inputs. A hint says what is wrong with them.
func Options(t *turn.Turn, tool *registry.Tool, text string) (values map[string]any, hint chat.Text) {
	d := input.Draft{}
	err := d.ReadOptions(tool, text)
	var left *input.LeftOver
	if errors.As(err, &left) {
		return nil, t.Say.Text("settings.options", "text", chat.Brief(left.Text, 60))
	}
	if hint := unread(t, tool, err); hint != nil {
		return nil, hint
	}
	values = d.Values[runs.FromArgument]
	for name, value := range values {
		f, _ := tool.InputSchema.Get(name)
		checked, bad := registry.CheckValue(f, value)
		if bad != nil {
			return nil, t.WrongValue(f, bad)
		}
		values[name] = checked
	}
	return values, nil
}

// ReadText is typed and what it leads to: values that are elsewhere, the last result and those of a preset.
func ReadText(ctx context.Context, t *turn.Turn, d *input.Draft, tool *registry.Tool, text string) (hint chat.Text, err error) {
	if hint := readTyped(t, d, tool, text); hint != nil {
		return hint, nil
	}
	if hint, err := readLast(ctx, t, d, tool); hint != nil || err != nil {
		return hint, err
	}
	return readPreset(ctx, t, d, tool)
}

// attachFiles gives the files that came with the command to the inputs that take them.
func attachFiles(ctx context.Context, t *turn.Turn, d *input.Draft, tool *registry.Tool) (hint chat.Text, err error) {
	named, files := input.NamedFiles(tool.InputSchema, t.In.Options, t.In.Attachments)
	for name, own := range named {
		f, _ := tool.InputSchema.Get(name)
		if err := takeFiles(ctx, t, d, runs.FromArgument, f, own); err != nil {
			return nil, err
		}
	}
	numbered, files := input.Numbered(d, tool.InputSchema, files)
	for name, own := range numbered {
		f, _ := tool.InputSchema.Get(name)
		if err := takeFiles(ctx, t, d, runs.FromAttachment, f, own); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	if hints := tool.Hints(); !hints.SupportsFileCaption {
		if hints.SupportsReplyWithCommand {
			return t.Say.Text("hint.noCaptionButReply", "tool", tool.DisplayName, "command", input.CommandOf(tool)), nil
		}
		return t.Say.Text("hint.noCaption", "tool", tool.DisplayName, "command", input.CommandOf(tool)), nil
	}
	if rest := leftOverFiles(t, d, tool, files); rest != nil {
		return rest, nil
	}
	return nil, assignFiles(ctx, t, d, runs.FromAttachment, tool, files)
}

// takeReply takes files, or the text, of the message that the command replies to.
func takeReply(ctx context.Context, t *turn.Turn, d *input.Draft, tool *registry.Tool) error {
	q := t.In.ReplyTo
	if q == nil {
		return nil
	}
	if len(q.Attachments) > 0 {
		if !tool.Hints().SupportsReplyWithCommand {
			d.Notes = append(d.Notes, t.Say.Line("hint.noReply", "tool", tool.DisplayName))
			return nil
		}
		return assignFiles(ctx, t, d, runs.FromReply, tool, q.Attachments)
	}
	f, ok := input.TextInput(tool.InputSchema)
	if ok && q.Text != "" && !q.Own && !d.Has(f.Name) {
		d.Set(runs.FromReply, f.Name, q.Text)
	}
	return nil
}

// assignFiles assigns files to inputs and fetches them. Files that no input takes are noted: those of a message
// replied to may have been meant for something else. Pictures whose order does not tell where they belong are asked about.
func assignFiles(ctx context.Context, t *turn.Turn, d *input.Draft, from runs.Source, tool *registry.Tool, files []chat.Attachment) error {
	files, err := setAside(ctx, t, d, from, tool, files)
	if err != nil {
		return err
	}
	assigned, rest := input.Assign(tool.InputSchema, files, d.Has)
	for _, f := range tool.InputSchema.Ordered() {
		if len(assigned[f.Name]) == 0 {
			continue
		}
		if err := takeFiles(ctx, t, d, from, f, assigned[f.Name]); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		d.Notes = append(d.Notes, t.Say.Line("hint.filesLeft", "tool", tool.DisplayName, "n", len(rest)))
	}
	return nil
}

func takeFiles(ctx context.Context, t *turn.Turn, d *input.Draft, from runs.Source, f registry.InputField, files []chat.Attachment) error {
	value, err := keepFiles(ctx, t, f, files)
	if err != nil {
		return err
	}
	d.Set(from, f.Name, value)
	return nil
}

// RequestOf is the message a repeated run answers: the one the first run answered, if it is in this chat.
func RequestOf(t *turn.Turn, run runs.Run) chat.MessageRef {
	where, err := store.TargetOf(run)
	if err != nil || where.Chat.Chat != t.In.Chat.Chat {
		return chat.MessageRef{}
	}
	return where.Request
}

// readPreset takes the values of the preset that was named in a command.
func readPreset(ctx context.Context, t *turn.Turn, d *input.Draft, tool *registry.Tool) (hint chat.Text, err error) {
	if d.Preset == "" {
		return nil, nil
	}
	p, err := t.Services.Accounts.Preset(ctx, t.Account.ID, *tool, d.Preset)
	if errors.Is(err, users.ErrNoPreset) {
		return t.Say.Text("preset.unknown"), nil
	}
	if err != nil {
		return nil, fmt.Errorf("find a preset: %w", err)
	}
	for name, value := range p.Values {
		d.Set(runs.FromPreset, name, value)
	}
	return nil, nil
}
