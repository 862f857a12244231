package input

import (
	"maps"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// LeftOver is text that no input of a tool takes.
type LeftOver struct{ Text string }

// Error quotes the text.
func (e *LeftOver) Error() string { return "no input takes the text " + e.Text }

// Read puts what was typed after a command, and typed options, into the draft. Files among the options are left out. What
// a tool has no use for is an *UnknownOption, a *MissingValue, a *LeftOver or errStoredFile.
func (d *Draft) Read(tool *registry.Tool, text string, options map[string]any) error {
	rest, err := d.readNamed(tool, text, options)
	if err != nil {
		return err
	}
	return d.readFree(tool.InputSchema, rest)
}

// ReadOptions is Read for texts that may hold options only.
func (d *Draft) ReadOptions(tool *registry.Tool, text string) error {
	rest, err := d.readNamed(tool, text, nil)
	if err == nil && rest != "" {
		err = &LeftOver{rest}
	}
	return err
}

// readNamed takes the values that have a name, and gives the text that is left.
func (d *Draft) readNamed(tool *registry.Tool, text string, options map[string]any) (rest string, err error) {
	rest, asked, err := d.parse(text, WithPresetOption(tool.InputSchema))
	if err != nil {
		return "", err
	}
	options = maps.Clone(options)
	if _, own := FieldNamed(tool.InputSchema, PresetWord); !own {
		d.Preset = chat.FirstNonEmpty(takeText(d.Values[runs.FromArgument], PresetWord), takeText(options, PresetWord))
	}
	for name, value := range options {
		if areAttachments(value) {
			continue
		}
		if f, _ := tool.InputSchema.Get(name); NamesStored(f, value) {
			return "", errStoredFile
		}
		d.Set(runs.FromArgument, name, value)
	}
	return d.readFormat(tool.InputSchema, rest, asked), nil
}

// readFormat gives the format that an option or the words of the text ask for to the inputs that take it, and gives the
// text without the words for it. A tool that has no such inputs, or was told their values, reads the words as they are.
func (d *Draft) readFormat(schema registry.InputSchema, text string, asked format) string {
	s, said, rest := asked.shape, asked.by, text
	if said == "" {
		var ok bool
		if s, said, rest, ok = cutFormat(text); !ok {
			return text
		}
	}
	free, reads := FreeInput(schema)
	if reads && rest == "" && text != "" && !d.Has(free.Name) {
		return text // there is nothing else to draw
	}
	values, fits := fitFormat(schema, s, d.Has)
	if f, chosen := shapeInput(schema); !fits && chosen && asked.by != "" && !d.Has(f.Name) {
		d.Set(runs.FromArgument, f.Name, asked.by) // refused with what there is to choose from
	}
	if !fits {
		return text
	}
	for name, value := range values {
		d.Set(runs.FromArgument, name, value)
	}
	d.Format = &Format{Said: said, Values: values}
	return rest
}

// readFree gives text without a name to the input that it is meant for.
func (d *Draft) readFree(schema registry.InputSchema, text string) error {
	if text == "" {
		return nil
	}
	f, ok := FreeInput(schema)
	if m, takesFile := fileInput(schema); !ok && takesFile && strings.EqualFold(text, LastWord) {
		d.Set(runs.FromArgument, m.Name, LastWord)
		return nil
	}
	if !ok || d.Has(f.Name) {
		return &LeftOver{text}
	}
	d.Set(runs.FromArgument, f.Name, text)
	return nil
}

// takeText takes a text out of values.
func takeText(values map[string]any, name string) string {
	text, _ := values[name].(string)
	delete(values, name)
	return text
}
