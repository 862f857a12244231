package input

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Draft is a request being put together: what the person has given so far, and how its run is shown. It is kept while a question is
// open.
type Draft struct {
	runs.Request
	Asked  chat.MessageRef `json:"request"`          // the message that asked for the run
	Preset string          `json:"preset,omitempty"` // whose values are wanted
	// Pictures wait for the inputs they are for, since order does not tell; those in Skipped get none of them.
	Pictures     []Picture   `json:"pictures,omitempty"`
	PicturesFrom runs.Source `json:"picturesFrom,omitempty"`
	Skipped      []string    `json:"skipped,omitempty"`
	Notes        []string    `json:"notes,omitempty"` // hints to show with the status and the result
	Told         int         `json:"told,omitempty"`  // so many of them were shown with a question
	// Replaces is the message that what comes of it is shown in: it shows what is going to change.
	Replaces chat.MessageRef `json:"replaces,omitzero"`

	Format  *Format `json:"-"` // understood from words just now
	Before  string  `json:"-"` // the id of the question that was open when a command began it: its run ends that
	Answers string  `json:"-"` // the id of the question that was just answered
}

// Picture is one of several pictures that were sent, by its number in the order in which they came, from 1.
type Picture struct {
	Number int            `json:"number"`
	Ref    registry.Media `json:"ref"`
}

// Set gives an input a value, and notes where it came from.
func (d *Draft) Set(from runs.Source, name string, value any) {
	if d.Values == nil {
		d.Values = map[runs.Source]map[string]any{}
	}
	if d.Values[from] == nil {
		d.Values[from] = map[string]any{}
	}
	d.Values[from][name] = value
}

// Has reports whether an input has a value from anywhere.
func (d *Draft) Has(name string) bool {
	for _, values := range d.Values {
		if _, ok := values[name]; ok {
			return true
		}
	}
	return false
}

// NamedFiles sorts attached files by the inputs that typed options give them to; rest are those that no option names.
func NamedFiles(schema registry.InputSchema, options map[string]any, attached []chat.Attachment) (named map[string][]chat.Attachment, rest []chat.Attachment) {
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

// Repeat makes a draft that comes to the same as an earlier run: what was given then counts again, and so do
// the seeds that were drawn. Only defaults are the tool's as it is now.
func Repeat(run runs.Run, asked chat.MessageRef, key string) Draft {
	d := Draft{Asked: asked, Request: runs.Request{
		ToolID: run.Tool.ToolID, IdempotencyKey: key, Parent: run.ID, Values: map[runs.Source]map[string]any{},
	}}
	for name, value := range run.Inputs {
		switch from := run.Sources[name]; from {
		case runs.FromDefault:
		case runs.FromRandom:
			d.Set(runs.FromArgument, name, value)
		default:
			d.Set(from, name, value)
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

// DropLost takes away the values of inputs that a tool has no more.
func (d *Draft) DropLost(schema registry.InputSchema) {
	for _, values := range d.Values {
		for name := range values {
			if _, known := schema.Get(name); !known {
				delete(values, name)
			}
		}
	}
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
		if i, ok := AttachmentIndex(one); ok {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// AttachmentIndex reads "attachment:N".
func AttachmentIndex(value any) (int, bool) {
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

// FreshSeed makes a draft draw its seeds anew.
func FreshSeed(d *Draft, schema registry.InputSchema) {
	for _, f := range schema {
		if f.Seed {
			d.Replace(runs.FromArgument, f.Name, "random")
		}
	}
}

// VaryOne makes a draft that repeats a run give another like its picture number n: that picture alone where an input picks it, with the
// seeds that it was made with and a fresh one of small changes. It reports whether the tool has such a seed.
func VaryOne(d *Draft, schema registry.InputSchema, run runs.Run, n int, how registry.Distance) bool {
	small, ok := schema.WithRole(registry.RoleVariation)
	if !ok {
		return false
	}
	d.Replace(runs.FromArgument, small.Name, "random")
	if pick, ok := schema.WithRole(registry.RolePicture); ok {
		d.Replace(runs.FromArgument, pick.Name, json.Number(strconv.Itoa(n)))
	}
	if far, ok := schema.Strength(); ok {
		d.Replace(runs.FromArgument, far.Name, far.Departing(run.Inputs[far.Name], how))
	}
	return true
}

// RedrawSeeds makes a draft draw anew the seeds that were drawn for an earlier run; those that somebody chose stay.
func RedrawSeeds(d *Draft, run runs.Run) {
	for _, f := range run.Tool.InputSchema {
		if f.Seed && run.Sources[f.Name] == runs.FromRandom {
			d.Replace(runs.FromArgument, f.Name, "random")
		}
	}
}

// Replace gives an input a value in place of all that it had.
func (d *Draft) Replace(from runs.Source, name string, value any) {
	d.Drop(name)
	d.Set(from, name, value)
}

// Drop takes an input's values away.
func (d *Draft) Drop(name string) {
	for _, values := range d.Values {
		delete(values, name)
	}
}
