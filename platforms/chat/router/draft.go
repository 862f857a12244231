package router

import (
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

// leftOver is text that no input of a tool takes.
type leftOver struct{ text string }

func (e *leftOver) Error() string { return "no input takes the text " + e.text }

// errStoredFile: a stored file was named, which may be anybody's.
var errStoredFile = errors.New("stored files are given by hand, not by name")

// read puts what was typed after a command, and typed options, into the draft. Files among the options are left out. What
// a tool has no use for is an *unknownOption, a *missingValue, a *leftOver or errStoredFile.
func (d *draft) read(tool *registry.Tool, text string, options map[string]any) error {
	args, err := parseArguments(text, withPresetOption(tool.InputSchema))
	if err != nil {
		return err
	}
	options = maps.Clone(options)
	if _, own := fieldNamed(tool.InputSchema, presetWord); !own {
		d.Preset = chat.FirstNonEmpty(takeText(args.values, presetWord), takeText(options, presetWord))
	}
	for name, value := range args.values {
		if s, ok := value.(string); ok && registry.IsMediaRef(s) && strings.HasPrefix(s, "asset:") {
			return errStoredFile
		}
		d.set(runs.FromArgument, name, value)
	}
	for name, value := range options {
		if !areAttachments(value) {
			d.set(runs.FromArgument, name, value)
		}
	}
	return d.readFree(tool.InputSchema, args.text)
}

// readFree gives text without a name to the input that it is meant for.
func (d *draft) readFree(schema registry.InputSchema, text string) error {
	if text == "" {
		return nil
	}
	f, ok := freeInput(schema)
	if m, takesFile := fileInput(schema); !ok && takesFile && strings.EqualFold(text, lastWord) {
		d.set(runs.FromArgument, m.Name, lastWord)
		return nil
	}
	if !ok || d.has(f.Name) {
		return &leftOver{text}
	}
	d.set(runs.FromArgument, f.Name, text)
	return nil
}

// namedFiles sorts attached files by the inputs that typed options give them to; rest are those that no option names.
func namedFiles(schema registry.InputSchema, options map[string]any, attached []chat.Attachment) (named map[string][]chat.Attachment, rest []chat.Attachment) {
	named = map[string][]chat.Attachment{}
	taken := map[int]bool{}
	for name, value := range options {
		if _, known := schema.Get(name); !known {
			continue
		}
		for _, i := range attachmentIndexes(value) {
			if i < len(attached) {
				taken[i] = true
				named[name] = append(named[name], attached[i])
			}
		}
	}
	for i, a := range attached {
		if !taken[i] {
			rest = append(rest, a)
		}
	}
	return named, rest
}

// repeat makes a draft that comes to the same as an earlier run: what was given then counts again, and so do
// the seeds that were drawn. Only defaults are the tool's as it is now.
func repeat(run runs.Run, request chat.MessageRef, key string) draft {
	d := draft{
		Tool: run.Tool.ToolID, Request: request, Key: key, Parent: run.ID,
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

// takeText takes a text out of values.
func takeText(values map[string]any, name string) string {
	text, _ := values[name].(string)
	delete(values, name)
	return text
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
