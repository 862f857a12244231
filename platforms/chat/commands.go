package chat

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox/signalbox/registry"
)

// houseCommand is a command of the bot itself.
type houseCommand struct {
	name string // its description is the text "command.NAME"
	do   func(*turn, context.Context) error
}

// houseCommands lists the bot's own commands in the order menus show them. They win over tools of the same
// name. Those that tell what the operator says are there when the operator has said it.
func (o Operator) houseCommands() []houseCommand {
	list := []houseCommand{
		{"start", (*turn).startCommand},
		{"help", (*turn).helpCommand},
		{"tools", (*turn).toolsCommand},
		{"run", (*turn).runCommand},
		{"settings", (*turn).settingsCommand},
		{"balance", (*turn).balanceCommand},
		{"history", (*turn).historyCommand},
		{"cancel", (*turn).cancelCommand},
		{"why", (*turn).whyCommand},
		{"price", (*turn).priceCommand},
	}
	for _, said := range []struct{ name, text string }{
		{"paysupport", o.Support}, {"terms", o.Terms}, {"privacy", o.Privacy},
	} {
		if said.text == "" {
			continue
		}
		list = append(list, houseCommand{said.name, func(t *turn, ctx context.Context) error {
			_, err := t.reply(ctx, Plain(said.text))
			return err
		}})
	}
	return list
}

// command handles a message that begins with a command.
func (t *turn) command(ctx context.Context) error {
	for _, c := range t.cfg.Operator.houseCommands() {
		if strings.EqualFold(c.name, t.in.Command) {
			return c.do(t, ctx)
		}
	}
	tool, ok := t.cfg.Tools.Snapshot().ByCommand(t.in.Command)
	if !ok || tool.Visibility == registry.VisibilityInternal && t.audience() != registry.Insiders {
		return t.unknownCommand(ctx)
	}
	return t.toolCommand(ctx, tool, t.in.Text)
}

// unknownCommand suggests what was meant.
func (t *turn) unknownCommand(ctx context.Context) error {
	text := t.say("command.unknown", "command", "/"+brief(t.in.Command, 40))
	if near := t.nearCommands(t.in.Command); len(near) > 0 {
		text = lines(text, t.say("command.near", "commands", strings.Join(near, ", ")))
	}
	_, err := t.reply(ctx, lines(text, t.say("command.search")))
	return err
}

// nearCommands gives up to four commands like a mistyped one.
func (t *turn) nearCommands(typed string) []string {
	var own []string
	for _, c := range t.cfg.Operator.houseCommands() {
		own = append(own, c.name)
	}
	var near []string
	if n := registry.Nearest(typed, own); n != "" {
		near = append(near, "/"+n)
	}
	for _, s := range t.cfg.Tools.Snapshot().Suggest(typed) {
		near = append(near, "/"+strings.TrimPrefix(s, "/"))
	}
	return near[:min(len(near), 4)]
}

// findTool finds a tool by command, id, alias or display name, for people who may know of it.
func (t *turn) findTool(words string) (*registry.Tool, bool) {
	words = strings.TrimSpace(words)
	if words == "" {
		return nil, false
	}
	snap := t.cfg.Tools.Snapshot()
	tool, ok := snap.ByCommand(words)
	if !ok {
		tool, ok = snap.Resolve(words)
	}
	if !ok {
		for listed := range snap.Each() {
			if strings.EqualFold(listed.DisplayName, words) && listed.ListedFor(t.audience()) {
				tool, ok = listed, true
				break
			}
		}
	}
	if !ok || tool.Visibility == registry.VisibilityInternal && t.audience() != registry.Insiders {
		return nil, false
	}
	return tool, true
}

// command text of a tool: what people type to start it.
func commandOf(tool *registry.Tool) string {
	if tool.CommandName != "" {
		return tool.CommandName
	}
	return "/run " + tool.ToolID
}

// chatter answers what is neither command nor answer: in private chats with a hint, elsewhere not at all.
func (t *turn) chatter(ctx context.Context) error {
	if t.in.Chat.Kind != ChatPrivate {
		return nil
	}
	if len(t.in.Attachments) > 0 {
		return t.offerTools(ctx)
	}
	if found := t.toolsNamed(t.in.Text, 4); len(found) > 0 {
		return t.listTools(ctx, t.say("chatter.found"), found)
	}
	return t.tell(ctx, "chatter.hint")
}

// toolsNamed finds up to n tools that a text names, nearly at least. It is stricter than a search: people who
// greet the bot are not to be offered whatever tool has one of their words in its description.
func (t *turn) toolsNamed(text string, n int) []*registry.Tool {
	words := nameWords(text)
	unnamed := func(tool *registry.Tool) bool { return !isNamed(tool, words) }
	found := slices.DeleteFunc(t.search(text, 10*n), unnamed)
	if len(found) == 0 {
		found = slices.DeleteFunc(slices.Clone(t.cfg.Tools.Snapshot().Offered(t.audience())), unnamed)
	}
	return found[:min(n, len(found))]
}

// isNamed reports whether one of the words stands in a tool's names, tags or category, or nearly so.
func isNamed(tool *registry.Tool, words []string) bool {
	names := append([]string{tool.DisplayName, tool.CommandName, tool.ToolID, tool.Category}, slices.Concat(tool.Aliases, tool.IntentTags)...)
	for _, name := range nameWords(strings.Join(names, " ")) {
		if slices.ContainsFunc(words, func(word string) bool { return sameWord(word, name) }) {
			return true
		}
	}
	return false
}

// nameWords gives the words of a text that are long enough to tell something.
func nameWords(s string) []string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(words, func(word string) bool { return utf8.RuneCountInString(word) < 4 })
}

// sameWord forgives endings, and one slip, or two in longer words.
func sameWord(a, b string) bool {
	slips := 1
	if len(a) > 6 && len(b) > 6 {
		slips = 2
	}
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) || within(slips, []rune(a), []rune(b))
}

// offerTools names the tools that take the file that came without a command.
func (t *turn) offerTools(ctx context.Context) error {
	var fitting []*registry.Tool
	for _, tool := range t.cfg.Tools.Snapshot().Offered(t.audience()) {
		hints := tool.Hints()
		if !hints.SupportsReplyWithCommand && !hints.SupportsFileCaption {
			continue
		}
		if values, _ := assignFiles(tool.InputSchema, t.in.Attachments[:1], nil); len(values) > 0 && len(fitting) < 8 {
			fitting = append(fitting, tool)
		}
	}
	if len(fitting) == 0 {
		return t.tell(ctx, "chatter.noTool")
	}
	names := make([]string, len(fitting))
	for i, tool := range fitting {
		names[i] = commandOf(tool)
	}
	return t.tell(ctx, "chatter.file", "commands", strings.Join(names, "\n"))
}
