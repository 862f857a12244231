package input

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// QuoteIfNeeded puts a value that would not be read as one word in quotation marks.
func QuoteIfNeeded(s string) string {
	if strings.ContainsAny(s, " \t\n\"'") || s == "" {
		return strconv.Quote(s)
	}
	return s
}

// Usage shows a command with its free text and up to three options.
func Usage(tool *registry.Tool) string {
	parts := []string{CommandOf(tool)}
	free, hasFree := FreeInput(tool.InputSchema)
	if hasFree {
		parts = append(parts, "<"+strings.ToLower(free.Label())+">")
	}
	for _, f := range tool.InputSchema.Ordered() {
		if f.Type.IsMedia() || f.Advanced || hasFree && f.Name == free.Name || len(parts) > 4 {
			continue
		}
		if example := ExampleOf(f); example != "" {
			parts = append(parts, OptionName(f.Name)+"="+QuoteIfNeeded(example))
		}
	}
	return strings.Join(parts, " ")
}

// Spell writes a tool's command with these options as somebody would type it: the free text first, files left out.
func Spell(tool *registry.Tool, options map[string]any) string {
	parts := []string{CommandOf(tool)}
	free, hasFree := FreeInput(tool.InputSchema)
	if text, given := options[free.Name]; hasFree && given {
		parts = append(parts, fmt.Sprint(text))
	}
	for _, f := range tool.InputSchema.Ordered() {
		if value, given := options[f.Name]; given && !f.Type.IsMedia() && (!hasFree || f.Name != free.Name) {
			parts = append(parts, OptionName(f.Name)+"="+QuoteIfNeeded(ShowValue(f, value)))
		}
	}
	return strings.Join(parts, " ")
}

// CommandOf is what people type to start a tool.
func CommandOf(tool *registry.Tool) string {
	if tool.CommandName != "" {
		return tool.CommandName
	}
	return "/run " + tool.ToolID
}

// sameWord forgives endings, and one slip, or two in longer words.
func sameWord(a, b string) bool {
	slips := 1
	if len(a) > 6 && len(b) > 6 {
		slips = 2
	}
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) || within(slips, []rune(a), []rune(b))
}

// Takes reports whether a tool can be given the first of these files or, where there is none, a text.
func Takes(tool *registry.Tool, files []chat.Attachment) bool {
	if len(files) == 0 {
		_, ok := TextInput(tool.InputSchema)
		return ok
	}
	hints := tool.Hints()
	if !hints.SupportsReplyWithCommand && !hints.SupportsFileCaption {
		return false
	}
	values, _ := Assign(tool.InputSchema, files[:1], nil)
	return len(values) > 0
}

// RunsOnWords reports whether words alone are enough for a tool, and what it is mainly fed with.
func RunsOnWords(tool *registry.Tool) bool {
	if _, reads := TextInput(tool.InputSchema); !reads || tool.Hints().PrimaryInput != "text" {
		return false
	}
	return !slices.ContainsFunc(tool.InputSchema, func(f registry.InputField) bool { return f.Required && f.Type.IsMedia() })
}

// MakesPictures reports whether a picture is what a tool gives first.
func MakesPictures(tool *registry.Tool) bool {
	return len(tool.OutputSchema) > 0 && tool.OutputSchema[0].Type == string(registry.TypeImage)
}

// LastWord stands for the last result where an input takes a file.
const LastWord = "last"

// PrimaryFirst puts the kind of input the tool is mainly fed with (A36) before others.
func PrimaryFirst(tool *registry.Tool, missing []registry.InputField) []registry.InputField {
	primary := tool.Hints().PrimaryInput
	isPrimary := func(f registry.InputField) bool {
		return string(f.Type) == primary || primary == "text" && f.Type == registry.TypeString
	}
	sorted := slices.Clone(missing)
	slices.SortStableFunc(sorted, func(a, b registry.InputField) int {
		switch {
		case isPrimary(a) == isPrimary(b):
			return 0
		case isPrimary(a):
			return -1
		}
		return 1
	})
	return sorted
}

// Unsaid gives the text that a tool is mainly fed with where a person sent neither words nor a file for it. The words that
// the tool has of its own go with a picture; alone they would spend money on what nobody asked for.
func Unsaid(bound runs.Bound, d Draft) (registry.InputField, bool) {
	if bound.Tool.Hints().PrimaryInput != "text" || d.Parent != "" || d.Approval != runs.ApproveNothing || len(d.Values[runs.FromAttachment])+len(d.Values[runs.FromReply]) > 0 {
		return registry.InputField{}, false
	}
	for _, f := range bound.Tool.InputSchema.Ordered() {
		if f.Type == registry.TypeString && len(f.Choices) == 0 && !f.Advanced {
			return f, f.Multiline && f.Default != nil && f.Default != "" && bound.Sources[f.Name] == runs.FromDefault
		}
	}
	return registry.InputField{}, false
}

// OptionExample writes an option as it is typed.
func OptionExample(f registry.InputField) string {
	return OptionName(f.Name) + "=" + QuoteIfNeeded(ExampleOf(f))
}

// Begins reports whether somebody who typed this may be about to write a tool's command or its name.
func Begins(tool *registry.Tool, typed string) bool {
	typed = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(typed), "/"))
	return strings.HasPrefix(strings.TrimPrefix(tool.CommandName, "/"), typed) || strings.HasPrefix(strings.ToLower(tool.DisplayName), typed)
}

// ToolChoice offers a tool by its command.
func ToolChoice(tool *registry.Tool) chat.Choice {
	name := strings.TrimPrefix(chat.FirstNonEmpty(tool.CommandName, tool.ToolID), "/")
	return chat.Choice{Label: name + " – " + tool.DisplayName, Value: name}
}
