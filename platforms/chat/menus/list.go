package menus

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
)

// ListTools sends a text with a button for each tool, and more buttons, whose data is their action, below.
func ListTools(ctx context.Context, t *turn.Turn, text chat.Text, tools []*registry.Tool, more ...chat.Button) error {
	k := t.Keyboard(store.KeyboardState{Asked: t.In.Message})
	var buttons []chat.Button
	for i, tool := range tools {
		k.State.Tools = append(k.State.Tools, tool.ToolID)
		buttons = append(buttons, chat.Button{Label: tool.DisplayName, Data: k.Data(fmt.Sprint("tool", i))})
	}
	rows := show.RowsOf(buttons, 2)
	for _, b := range more {
		b.Data = k.Data(b.Data)
		rows = append(rows, []chat.Button{b})
	}
	if len(rows) > 0 {
		if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
			return err
		}
	}
	_, err := t.Reply(ctx, text, rows...)
	return err
}

// popular gives the tools that are used most, for people who have not chosen yet: first those that need no file, which can be
// tried at once. One whose name says nothing to people, such as that of a file, is not among them as long as there are others.
func popular(ctx context.Context, t *turn.Turn, n int) ([]*registry.Tool, error) {
	counts, err := t.Services.Store.Uses.All(ctx)
	if err != nil {
		return nil, err
	}
	tools := MostUsed(t.Offered(), counts)
	if named := slices.DeleteFunc(slices.Clone(tools), func(tool *registry.Tool) bool { return !isName(tool.DisplayName) }); len(named) > 0 {
		tools = named
	}
	slices.SortStableFunc(tools, func(a, b *registry.Tool) int { return filesNeeded(a) - filesNeeded(b) })
	return tools[:min(n, len(tools))], nil
}

// codeWord is a word that people don't say: with underscores or dots inside, or with letters and digits in turns, as in x7fq2 and 01a20d6e.
var codeWord = regexp.MustCompile(`\pL[_/\\]|[_/\\]\pL|\pL\.\pL|\pL\d+\pL+\d|\d\pL+\d+\pL`)

// isName reports whether people can tell from a tool's name what it is for.
func isName(name string) bool {
	return chat.Length(name) <= 40 && strings.ContainsFunc(name, unicode.IsLetter) && !codeWord.MatchString(name)
}

func filesNeeded(tool *registry.Tool) (n int) {
	for _, f := range tool.InputSchema {
		if f.Required && f.Type.IsMedia() {
			n++
		}
	}
	return min(n, 1)
}

// PressTool starts the tool of a button; it asks for what it needs.
func PressTool(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	tool, err := start.Chosen(ctx, t, k, n)
	if tool == nil || err != nil {
		return err
	}
	if refused, err := start.Refuse(ctx, t, tool); refused || err != nil {
		return err
	}
	return start.ProceedFrom(ctx, t, k, start.PressDraft(t, tool))
}

// RunCommand starts the tool that its first word names, or looks for tools by its words.
func RunCommand(ctx context.Context, t *turn.Turn) (turn.Outcome, error) {
	words := strings.TrimSpace(t.In.Text)
	if words == "" {
		return turn.Nothing, t.Tell(ctx, "run.usage")
	}
	first, rest := words, ""
	if i := strings.IndexAny(words, " \n\t"); i >= 0 {
		first, rest = words[:i], strings.TrimSpace(words[i:])
	}
	if tool, ok := t.FindTool(first); ok {
		return start.Tool(ctx, t, tool, rest)
	}
	if tool, ok := t.FindTool(words); ok {
		return start.Tool(ctx, t, tool, "")
	}
	found := t.Search(ctx, words, start.PerPage)
	if len(found) == 0 {
		return turn.Nothing, t.NothingFound(ctx, words)
	}
	text := t.Say.Text("help.search", "words", chat.Brief(words, 60))
	for _, tool := range found {
		text = chat.Lines(text, chat.Plain(input.CommandOf(tool)+" – "+purpose(tool)))
	}
	return turn.Nothing, ListTools(ctx, t, text, found)
}

// purpose says in a few words what a tool is for.
func purpose(tool *registry.Tool) string {
	return chat.InWords(chat.FirstSentence(chat.FirstNonEmpty(tool.Description, tool.DisplayName)), 80)
}

// ToolsCommand pages through all tools.
func ToolsCommand(ctx context.Context, t *turn.Turn) (turn.Outcome, error) {
	if words := strings.TrimSpace(t.In.Text); words != "" {
		return RunCommand(ctx, t)
	}
	m, err := toolsPage(ctx, t, t.Keyboard(store.KeyboardState{}), 0)
	if err != nil {
		return turn.Nothing, err
	}
	return turn.Nothing, t.Respond(ctx, m)
}

// toolsPage draws one page of the list of tools.
func toolsPage(ctx context.Context, t *turn.Turn, k store.Keyboard, page int) (chat.Message, error) {
	var tools []*registry.Tool
	for _, group := range byCategory(t.Offered()) {
		tools = append(tools, group.tools...)
	}
	m := chat.Message{To: t.In.Chat.Place}
	if len(tools) == 0 {
		m.Text = t.Say.Text("tools.none")
		return m, nil
	}
	pages := (len(tools) + start.PerPage - 1) / start.PerPage
	page = min(max(page, 0), pages-1)
	shown := tools[page*start.PerPage : min(len(tools), (page+1)*start.PerPage)]
	k.State.Tools = nil
	m.Text = t.Say.Text("tools.title", "n", len(tools))
	var buttons []chat.Button
	last := ""
	for i, tool := range shown {
		if tool.Category != "" && tool.Category != last {
			m.Text = append(m.Text, chat.Segment{Text: "\n\n"}, chat.Segment{Style: chat.StyleBold, Text: categoryName(t, tool.Category)})
			last = tool.Category
		}
		m.Text = chat.Lines(m.Text, chat.Plain(input.CommandOf(tool)+" – "+purpose(tool)))
		k.State.Tools = append(k.State.Tools, tool.ToolID)
		buttons = append(buttons, chat.Button{Label: tool.DisplayName, Data: k.Data(fmt.Sprint("tool", i))})
	}
	m.Buttons = append(show.RowsOf(buttons, 2), t.Say.Pager(k, "list", page, pages)...)
	return m, t.Services.Store.Keyboards.Save(ctx, k)
}

// PressList turns to a page of the list of tools.
func PressList(ctx context.Context, t *turn.Turn, k store.Keyboard, page int) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	m, err := toolsPage(ctx, t, k, page)
	if err != nil {
		return err
	}
	_, err = t.Change(ctx, t.In.Message, m)
	return err
}

type category struct {
	name  string
	tools []*registry.Tool
}

// byCategory groups tools; those without a category come last.
func byCategory(tools []*registry.Tool) []category {
	var groups []category
	for _, tool := range tools {
		i := slices.IndexFunc(groups, func(c category) bool { return c.name == tool.Category })
		if i < 0 {
			groups, i = append(groups, category{name: tool.Category}), len(groups)
		}
		groups[i].tools = append(groups[i].tools, tool)
	}
	slices.SortStableFunc(groups, func(a, b category) int {
		switch {
		case a.name == "":
			return 1
		case b.name == "":
			return -1
		}
		return strings.Compare(a.name, b.name)
	})
	return groups
}

func categoryName(t *turn.Turn, name string) string {
	if name == "" {
		return t.Say.Line("help.other")
	}
	return words.CategoryName(t.Say.Voice, name)
}

// MostUsed puts the tools used most first.
func MostUsed(tools []*registry.Tool, counts map[string]int64) []*registry.Tool {
	sorted := slices.Clone(tools)
	slices.SortStableFunc(sorted, func(a, b *registry.Tool) int { return cmp.Compare(counts[b.ToolID], counts[a.ToolID]) })
	return sorted
}
