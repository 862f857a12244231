package router

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// draft is a run being put together. It is kept while a question is open.
type draft struct {
	Tool    string                         `json:"tool"`
	Values  map[runs.Source]map[string]any `json:"values"`
	Request chat.MessageRef                `json:"request"` // the message that asked for the run
	// Key makes the run that comes of the draft one, however often the draft is handled.
	Key    string   `json:"key"`
	Parent string   `json:"parent,omitempty"`
	Preset string   `json:"preset,omitempty"` // whose values are wanted
	Notes  []string `json:"notes,omitempty"`  // hints to show with the status and the result
	Told   int      `json:"told,omitempty"`   // so many of them were shown with a question
	// Approval is for what somebody else than the person has put together.
	Approval runs.Approval `json:"approval,omitempty"`
}

func (d *draft) set(from runs.Source, name string, value any) {
	if d.Values == nil {
		d.Values = map[runs.Source]map[string]any{}
	}
	if d.Values[from] == nil {
		d.Values[from] = map[string]any{}
	}
	d.Values[from][name] = value
}

func (d *draft) has(name string) bool {
	for _, values := range d.Values {
		if _, ok := values[name]; ok {
			return true
		}
	}
	return false
}

// newDraft begins a run of a tool for this update.
func (t *turn) newDraft(tool *registry.Tool) draft {
	return draft{
		Tool: tool.ToolID, Request: t.in.Message,
		Key:   t.in.platform + ":" + t.in.Chat.Chat + ":" + t.in.Message.ID,
		Notes: t.deprecation(tool),
	}
}

// typed reads text and options. A hint says what is wrong with them.
func (t *turn) typed(d *draft, tool *registry.Tool, text string) (hint chat.Text) {
	args, err := parseArguments(text, withPresetOption(tool.InputSchema))
	var unknown *unknownOption
	var missing *missingValue
	switch {
	case errors.As(err, &unknown):
		return t.unknownOption(tool, unknown)
	case errors.As(err, &missing):
		return t.say("option.empty", "option", missing.name)
	}
	options := maps.Clone(t.in.Options)
	if _, own := fieldNamed(tool.InputSchema, presetWord); !own {
		d.Preset = chat.FirstNonEmpty(takeText(args.values, presetWord), takeText(options, presetWord))
	}
	for name, value := range args.values {
		if s, ok := value.(string); ok && registry.IsMediaRef(s) && strings.HasPrefix(s, "asset:") {
			return t.say("file.gone") // files of the house are given by hand, not by name
		}
		d.set(runs.FromArgument, name, value)
	}
	for name, value := range options {
		if !areAttachments(value) {
			d.set(runs.FromArgument, name, value)
		}
	}
	if args.text == "" {
		return nil
	}
	f, ok := freeInput(tool.InputSchema)
	if m, takesFile := fileInput(tool.InputSchema); !ok && takesFile && strings.EqualFold(args.text, lastWord) {
		d.set(runs.FromArgument, m.Name, lastWord)
		return nil
	}
	if !ok || d.has(f.Name) {
		return t.leftOverText(tool, args.text)
	}
	d.set(runs.FromArgument, f.Name, args.text)
	return nil
}

// read is typed and what it leads to: values that are elsewhere, the last result and those of a preset.
func (t *turn) read(ctx context.Context, d *draft, tool *registry.Tool, text string) (hint chat.Text, err error) {
	if hint := t.typed(d, tool, text); hint != nil {
		return hint, nil
	}
	if hint, err := t.typedLast(ctx, d, tool); hint != nil || err != nil {
		return hint, err
	}
	return t.typedPreset(ctx, d, tool)
}

// takeText takes a text out of values.
func takeText(values map[string]any, name string) string {
	text, _ := values[name].(string)
	delete(values, name)
	return text
}

// attached gives the files that came with the command to the inputs that take them.
func (t *turn) attached(ctx context.Context, d *draft, tool *registry.Tool) (hint chat.Text, err error) {
	named := map[int]bool{}
	for name, value := range t.in.Options {
		f, known := tool.InputSchema.Get(name)
		var files []chat.Attachment
		for _, i := range attachmentIndexes(value) {
			if known && i < len(t.in.Attachments) {
				named[i] = true
				files = append(files, t.in.Attachments[i])
			}
		}
		if len(files) == 0 {
			continue
		}
		if err := t.take(ctx, d, runs.FromArgument, f, files); err != nil {
			return nil, err
		}
	}
	var files []chat.Attachment
	for i, a := range t.in.Attachments {
		if !named[i] {
			files = append(files, a)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	if hints := tool.Hints(); !hints.SupportsFileCaption {
		if hints.SupportsReplyWithCommand {
			return t.say("hint.noCaptionButReply", "tool", tool.DisplayName, "command", commandOf(tool)), nil
		}
		return t.say("hint.noCaption", "tool", tool.DisplayName, "command", commandOf(tool)), nil
	}
	if rest := t.leftOverFiles(d, tool, files); rest != nil {
		return rest, nil
	}
	return nil, t.takeAll(ctx, d, runs.FromAttachment, tool, files)
}

// areAttachments reports whether an option stands for files.
func areAttachments(value any) bool {
	if list, several := value.([]any); several {
		return len(list) > 0 && !slices.ContainsFunc(list, func(one any) bool { return !areAttachments(one) })
	}
	s, ok := value.(string)
	return ok && strings.HasPrefix(s, "attachment:")
}

// attachmentIndexes reads "attachment:N", or a list of such.
func attachmentIndexes(value any) (indexes []int) {
	list, several := value.([]any)
	if !several {
		list = []any{value}
	}
	for _, one := range list {
		if i, ok := attachmentIndex(one); ok {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// attachmentIndex reads "attachment:N".
func attachmentIndex(value any) (int, bool) {
	s, ok := value.(string)
	if !ok {
		return 0, false
	}
	digits, ok := strings.CutPrefix(s, "attachment:")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 0
}

// repliedTo takes files, or the text, of the message that the command replies to.
func (t *turn) repliedTo(ctx context.Context, d *draft, tool *registry.Tool) error {
	q := t.in.ReplyTo
	if q == nil {
		return nil
	}
	if len(q.Attachments) > 0 {
		if !tool.Hints().SupportsReplyWithCommand {
			d.Notes = append(d.Notes, t.line("hint.noReply", "tool", tool.DisplayName))
			return nil
		}
		return t.takeAll(ctx, d, runs.FromReply, tool, q.Attachments)
	}
	f, ok := textInput(tool.InputSchema)
	if ok && q.Text != "" && !q.Own && !d.has(f.Name) {
		d.set(runs.FromReply, f.Name, q.Text)
	}
	return nil
}

// takeAll assigns files to inputs and fetches them. Files that no input takes are noted: those of a message
// replied to may have been meant for something else.
func (t *turn) takeAll(ctx context.Context, d *draft, from runs.Source, tool *registry.Tool, files []chat.Attachment) error {
	assigned, rest := assignFiles(tool.InputSchema, files, d.has)
	for _, f := range tool.InputSchema.Ordered() {
		if len(assigned[f.Name]) == 0 {
			continue
		}
		if err := t.take(ctx, d, from, f, assigned[f.Name]); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		d.Notes = append(d.Notes, t.line("hint.filesLeft", "tool", tool.DisplayName, "n", len(rest)))
	}
	return nil
}

func (t *turn) take(ctx context.Context, d *draft, from runs.Source, f registry.InputField, files []chat.Attachment) error {
	value, err := t.store(ctx, f, files)
	if err != nil {
		return err
	}
	d.set(from, f.Name, value)
	return nil
}

// repeat makes a draft that comes to the same as an earlier run: what was given then counts again, and so do
// the seeds that were drawn. Only defaults are the tool's as it is now.
func (t *turn) repeat(run runs.Run, key string) draft {
	d := draft{
		Tool: run.Tool.ToolID, Request: t.requestOf(run), Key: key, Parent: run.ID,
		Values: map[runs.Source]map[string]any{},
	}
	for name, value := range run.Inputs {
		switch from := run.Sources[name]; from {
		case runs.FromDefault:
		case runs.FromRandom:
			d.set(runs.FromArgument, name, value)
		default:
			d.set(from, name, value)
		}
	}
	if d.Values[runs.FromPreference] == nil {
		// Settings changed since then don't count.
		d.Values[runs.FromPreference] = map[string]any{}
	}
	if d.Values[runs.FromChat] == nil {
		d.Values[runs.FromChat] = map[string]any{}
	}
	return d
}

// requestOf is the message a repeated run answers: the one the first run answered, if it is in this chat.
func (t *turn) requestOf(run runs.Run) chat.MessageRef {
	where, err := targetOf(run)
	if err != nil || where.Chat.Chat != t.in.Chat.Chat {
		return chat.MessageRef{}
	}
	return where.Request
}

// freshSeed makes a draft draw its seeds anew.
func freshSeed(d *draft, schema registry.InputSchema) {
	for _, f := range schema {
		if !f.Seed {
			continue
		}
		for _, values := range maps.Clone(d.Values) {
			delete(values, f.Name)
		}
		d.set(runs.FromArgument, f.Name, "random")
	}
}
