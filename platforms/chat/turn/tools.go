package turn

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// FindTool finds a tool by command, id, alias or display name, for people who may know of it.
func (t *Turn) FindTool(words string) (*registry.Tool, bool) {
	words = strings.TrimSpace(words)
	if words == "" {
		return nil, false
	}
	snap := t.Tools
	tool, ok := snap.ByCommand(words)
	if !ok {
		tool, ok = snap.Resolve(words)
	}
	if !ok {
		for listed := range snap.Each() {
			if strings.EqualFold(listed.DisplayName, words) && listed.ListedFor(t.Audience()) {
				tool, ok = listed, true
				break
			}
		}
	}
	if !ok || tool.Visibility == registry.VisibilityInternal && t.Audience() != registry.Insiders {
		return nil, false
	}
	return tool, true
}

// FindToolIn finds the tool that the words, or the first of them, name; rest is what stands after its name.
func (t *Turn) FindToolIn(words string) (tool *registry.Tool, rest string, ok bool) {
	for end := len(words); end > 0; end = strings.LastIndexFunc(words[:end], unicode.IsSpace) {
		if tool, ok := t.FindTool(words[:end]); ok {
			return tool, strings.TrimSpace(words[end:]), true
		}
	}
	return nil, "", false
}

// Search finds tools by words, and by what these mean where that is known.
func (t *Turn) Search(ctx context.Context, words string, n int) []*registry.Tool {
	var found []*registry.Tool
	for _, m := range t.Tools.Search(words, catalog.SearchOptions{People: true, Audience: t.Audience(), Limit: n, Near: t.Services.Near.Of(ctx, words)}) {
		found = append(found, m.Tool)
	}
	return found
}

// Unavailable says that a tool can't be run now, and why.
func (t *Turn) Unavailable(tool *registry.Tool) chat.Text {
	text := t.Say.Text("tool.unavailable", "tool", words.Capital(tool.DisplayName))
	if s := tool.Status; s != nil && s.Reason != "" {
		text = chat.Lines(text, chat.Plain(words.Told(t.Say.Voice, "", s.Text())))
	}
	return text
}

// Deprecation is what is to be noted with a tool that goes away, however it was started.
func (t *Turn) Deprecation(tool *registry.Tool) []string {
	if tool.Notice() == "" {
		return nil
	}
	text := t.Say.Text("tool.deprecated", "tool", tool.DisplayName)
	if tool.Status.Reason != "" {
		text = chat.Lines(text, chat.Plain(words.Told(t.Say.Voice, "", tool.Status.Text())))
	}
	if next, ok := t.Tools.ByID(tool.Status.Replacement); ok {
		text = chat.Lines(text, t.Say.Text("tool.instead", "command", input.CommandOf(next)))
	}
	return []string{text.String()}
}

// WrongKind says that a value does not fit an input, and what would.
func (t *Turn) WrongKind(f registry.InputField) chat.Text {
	return chat.Lines(t.Say.Text("ask.wrongKind", "input", f.Label()), chat.Plain(words.Fitting(t.Say.Voice, f)))
}

// WrongValue says what is wrong with the value of an input. In groups it does not repeat what somebody
// wrote, which the registry's own words may do; and those are English.
func (t *Turn) WrongValue(f registry.InputField, bad *registry.Error) chat.Text {
	if t.In.Chat.Kind != chat.ChatPrivate || t.Say.Language() != i18n.Fallback {
		return t.WrongKind(f)
	}
	text := chat.Plain(words.Sentence(bad.Message))
	if !strings.Contains(bad.Message, f.Label()) {
		text = append(chat.Text{{Style: chat.StyleBold, Text: f.Label()}, {Text: ": "}}, text...)
	}
	return text
}

// DeepLink gives an address that opens the private chat for a tool, or "" where there is none.
func (t *Turn) DeepLink(prefix string, tool *registry.Tool) string {
	name := strings.TrimPrefix(chat.FirstNonEmpty(tool.CommandName, tool.ToolID), "/")
	if t.Out.Caps.DeepLink == "" || !chat.IsCommandName(name) || len(prefix+name) > 64 {
		return ""
	}
	return fmt.Sprintf(t.Out.Caps.DeepLink, prefix+name)
}
