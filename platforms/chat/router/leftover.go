package router

import (
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
)

// optionsShown is how many options an answer lists; all of them stand in the tool's help and settings.
const optionsShown = 16

// What somebody sent and a tool has no use for was meant to change the result. So such a request does not run:
// it would cost something and give something else. The answer says what did not fit and what would.

// unknownOption answers an option that the tool does not have.
func unknownOption(t *turn, tool *registry.Tool, e *input.UnknownOption) chat.Text {
	text := t.say.Text("option.unknown", "tool", tool.DisplayName, "option", e.Name)
	if f, ok := input.FieldNamed(tool.InputSchema, e.Nearest); ok {
		text = chat.Lines(text, t.say.Text("option.near", "nearest", input.OptionName(f.Name), "example", input.OptionExample(f)))
	}
	return chat.Lines(text, optionList(t, tool))
}

// leftOverText answers text that no input takes. In groups it does not repeat it.
func leftOverText(t *turn, tool *registry.Tool, left string) chat.Text {
	text := t.say.Text("left.textHere", "tool", tool.DisplayName)
	if t.in.Chat.Kind == chat.ChatPrivate {
		text = t.say.Text("left.text", "tool", tool.DisplayName, "text", chat.Brief(left, 60))
	}
	if free, ok := input.FreeInput(tool.InputSchema); ok { // so it has a value already
		return t.say.Text("left.given", "input", free.Label())
	}
	for _, word := range strings.Fields(left) {
		name := input.MistakenFor(tool.InputSchema, word)
		if f, ok := input.FieldNamed(tool.InputSchema, chat.FirstNonEmpty(name, word)); ok {
			text = chat.Lines(text, t.say.Text("option.near", "nearest", input.OptionName(f.Name), "example", input.OptionExample(f)))
			break
		}
	}
	return chat.Lines(text, optionList(t, tool))
}

// leftOverFiles answers files, as of an album, of which not all have an input that takes them; nil when they have.
func leftOverFiles(t *turn, d *input.Draft, tool *registry.Tool, files []chat.Attachment) chat.Text {
	_, rest := input.Assign(tool.InputSchema, files, d.Has)
	if len(rest) == 0 {
		return nil
	}
	text := t.say.Text("left.none", "tool", tool.DisplayName)
	if taken := len(files) - len(rest); taken > 0 {
		text = t.say.Text("left.files", "tool", tool.DisplayName, "most", taken, "all", len(files))
	}
	takes := 0
	for _, f := range tool.InputSchema.Ordered() {
		if f.Type.IsMedia() {
			text = chat.Lines(text, t.say.Text("left.takes", "input", f.Label(), "want", words.Wanted(t.say.Voice, f)))
			takes++
		}
	}
	if takes == 0 {
		text = chat.Lines(text, t.say.Text("left.noFiles"))
	}
	return text
}

// optionList shows the options that can be typed for a tool, each as it is written.
func optionList(t *turn, tool *registry.Tool) chat.Text {
	var options []string
	for _, f := range tool.InputSchema.Ordered() {
		if !f.Type.IsMedia() {
			options = append(options, input.OptionExample(f))
		}
	}
	if len(options) == 0 {
		return t.say.Text("option.none", "tool", tool.DisplayName, "command", input.CommandOf(tool))
	}
	if len(options) > optionsShown {
		options = append(options[:optionsShown], "…")
	}
	return t.say.Text("option.list", "options", strings.Join(options, ", "))
}
