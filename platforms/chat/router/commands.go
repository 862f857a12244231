package router

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/registry"
)

// What house commands take. Values for toolInput are offered while it is typed.
const toolInput = "tool"

func takesTool(required bool, more ...registry.InputField) registry.InputSchema {
	tool := registry.InputField{Name: toolInput, Type: registry.TypeString, Required: required}
	return append(registry.InputSchema{tool}, more...)
}

func takesText(name string) registry.InputField {
	return registry.InputField{Name: name, Type: registry.TypeString}
}

// Commands are the bot's own, which no tool can have: "/settings".
func Commands() []string {
	names := []string{"/" + useWith}
	for _, c := range ownCommands(Operator{}) {
		names = append(names, "/"+c.name)
	}
	return names
}

// ownCommands is the table of the bot's own commands, in the order menus show them. They win over tools of the same name.
// Those that tell what the operator says are always there: platforms ask for them, and people look for them.
func ownCommands(o Operator) commands {
	list := commands{
		{name: "start", do: startCommand},
		{name: "help", do: told(helpCommand), inputs: takesTool(false)},
		{name: "tools", do: toolsCommand},
		{name: "run", do: runCommand, shared: true, inputs: takesTool(true, takesText("text"),
			registry.InputField{Name: "file", Type: registry.TypeFile})},
		{name: "last", do: lastCommand, shared: true, inputs: takesTool(false, takesText("text"))},
		{name: "settings", do: told(settingsCommand), inputs: takesTool(false)},
		{name: "balance", do: told(balanceCommand)},
		{name: "history", do: told(historyCommand)},
		{name: "cancel", do: told(cancelCommand)},
		{name: "preset", do: presetCommand, inputs: registry.InputSchema{
			{Name: "do", Type: registry.TypeString, Choices: []registry.Choice{{Value: "list"}, {Value: "use"}, {Value: "save"}, {Value: "delete"}}},
			takesText("name"),
		}},
		{name: "link", do: told(linkCommand), inputs: registry.InputSchema{takesText("code")}},
		{name: "language", do: told(languageCommand), inputs: registry.InputSchema{takesText("language")}},
		{name: "chatsettings", who: chatAdmins, do: told(placeCommand), inputs: takesTool(false)},
		{name: "deny", who: chatAdmins, do: told(denyCommand), inputs: registry.InputSchema{takesText("person")}},
		{name: "allow", who: chatAdmins, do: told(allowCommand), inputs: registry.InputSchema{takesText("person")}},
		{name: "delete_my_data", do: told(eraseCommand)},
		{name: "why", do: told(whyCommand)},
		{name: "price", do: told(priceCommand), inputs: takesTool(true)},
	}
	for _, said := range []struct{ name, text, without string }{
		{"paysupport", o.Support, "operator.noSupport"}, {"terms", o.Terms, "operator.noTerms"}, {"privacy", o.Privacy, "operator.noPrivacy"},
	} {
		list = append(list, command{name: said.name, do: told(func(ctx context.Context, t *turn) error {
			return operatorSays(ctx, t, said.text, said.without)
		})})
	}
	return list
}

// told makes a command of what only answers.
func told(do func(context.Context, *turn) error) func(context.Context, *turn) (outcome, error) {
	return func(ctx context.Context, t *turn) (outcome, error) { return nothing, do(ctx, t) }
}

// spell puts the typed options of a house command into words, as they follow its name elsewhere. Files stay.
func spell(t *turn, inputs registry.InputSchema) {
	words := []string{}
	for _, f := range inputs {
		value, given := t.in.Options[f.Name]
		if _, isFile := input.AttachmentIndex(value); !given || isFile {
			continue
		}
		words = append(words, fmt.Sprint(value))
		delete(t.in.Options, f.Name)
	}
	t.in.Text = strings.TrimSpace(strings.Join(append(words, t.in.Text), " "))
}

// handleCommand handles a message that begins with a command.
func handleCommand(ctx context.Context, t *turn) (outcome, error) {
	if c, ok := t.svc.Commands.find(t.in.Command); ok {
		if !c.shared {
			t = t.Aside()
		}
		if c.who == chatAdmins {
			if ok, err := t.runsPlace(ctx); !ok {
				return nothing, err
			}
		}
		spell(t, c.inputs)
		return c.do(ctx, t)
	}
	if t.in.Command == useWith {
		return nothing, useCommand(ctx, t)
	}
	tool, ok := t.tools.ByCommand(t.in.Command)
	if !ok || tool.Visibility == registry.VisibilityInternal && t.audience() != registry.Insiders {
		return nothing, unknownCommand(ctx, t)
	}
	return toolCommand(ctx, t, tool, t.in.Text)
}

// unknownCommand suggests what was meant.
func unknownCommand(ctx context.Context, t *turn) error {
	t = t.Aside()
	text := t.say.Text("command.unknown", "command", "/"+chat.Brief(t.in.Command, 40))
	if near := nearCommands(ctx, t, t.in.Command); len(near) > 0 {
		text = chat.Lines(text, t.say.Text("command.near", "commands", strings.Join(near, ", ")))
	}
	_, err := t.reply(ctx, chat.Lines(text, t.say.Text("command.search")))
	return err
}

// nearCommands gives up to four commands like a mistyped one, of those that the sender can use here.
func nearCommands(ctx context.Context, t *turn, typed string) []string {
	var own, admins []string
	for _, c := range t.svc.Commands {
		if c.who == chatAdmins {
			admins = append(admins, c.name)
		} else {
			own = append(own, c.name)
		}
	}
	// Asking a platform who is an admin takes a request: only where one of their commands may be meant.
	if t.in.Chat.Kind != chat.ChatPrivate && registry.Nearest(typed, admins) != "" && t.byAdmin(ctx) {
		own = append(own, admins...)
	}
	var near []string
	if n := registry.Nearest(typed, own); n != "" {
		near = append(near, "/"+n)
	}
	for _, s := range t.tools.Suggest(typed) {
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
	snap := t.tools
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

// chatter answers what is neither command nor answer: in private chats with a hint, elsewhere not at all.
func chatter(ctx context.Context, t *turn) (outcome, error) {
	if t.in.Chat.Kind != chat.ChatPrivate {
		return answered, nil
	}
	if len(t.in.Attachments) > 0 {
		return nothing, offerTools(ctx, t)
	}
	if found := toolsNamed(t, t.in.Text, 4); len(found) > 0 {
		return nothing, listTools(ctx, t, t.say.Text("chatter.found"), found)
	}
	return nothing, t.tell(ctx, "chatter.hint")
}

// toolsNamed finds up to n tools that a text names, nearly at least. It is stricter than a search: people who
// greet the bot are not to be offered whatever tool has one of their words in its description.
func toolsNamed(t *turn, text string, n int) []*registry.Tool {
	words := input.NameWords(text)
	unnamed := func(tool *registry.Tool) bool { return !input.Names(tool, words) }
	found := slices.DeleteFunc(t.search(text, 10*n), unnamed)
	if len(found) == 0 {
		found = slices.DeleteFunc(t.offered(), unnamed)
	}
	return found[:min(n, len(found))]
}

// offerTools names the tools that take the file, or the album, that came without a command.
func offerTools(ctx context.Context, t *turn) error {
	fitting := toolsTaking(t, t.in.Attachments, 8)
	if len(fitting) == 0 {
		return t.tell(ctx, "chatter.noTool")
	}
	names := make([]string, len(fitting))
	for i, tool := range fitting {
		names[i] = input.CommandOf(tool)
	}
	text := t.say.Text("chatter.file", "commands", strings.Join(names, "\n"))
	return offerUse(ctx, t, text, store.KeyboardState{Files: t.in.Attachments, Query: t.in.Text, Sent: true}, fitting)
}
