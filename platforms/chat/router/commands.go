package router

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/chains"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/menus"
	"github.com/signalbox/signalbox/platforms/chat/results"
	"github.com/signalbox/signalbox/platforms/chat/settings"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/sitemenu"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

// What the bot's own commands take. Values for toolInput are offered while it is typed.
const toolInput = "tool"

func takesTool(required bool, more ...registry.InputField) registry.InputSchema {
	tool := registry.InputField{Name: toolInput, Type: registry.TypeString, Required: required}
	return append(registry.InputSchema{tool}, more...)
}

func takesText(name string) registry.InputField {
	return registry.InputField{Name: name, Type: registry.TypeString}
}

// walletBudget is which of the bounds of a group's wallet is set.
func walletBudget() registry.InputField {
	f := takesText("budget")
	for _, name := range menus.WalletBudgets() {
		f.Choices = append(f.Choices, registry.Choice{Value: name})
	}
	return f
}

// Commands are the bot's own, which no tool can have: "/settings".
func Commands() []string {
	names := []string{"/" + start.UseWith}
	for _, c := range ownCommands(turn.Operator{}, allRooms) {
		names = append(names, "/"+c.Name)
	}
	return names
}

// reportCommand is also in the menu of messages, on platforms that have one: there is no reply with a command on all of them.
const reportCommand = "report"

// rooms says which rooms are there that have commands.
type rooms struct{ site, agent, missions, exports, moderation bool }

var allRooms = rooms{site: true, agent: true, missions: true, exports: true, moderation: true}

// ownCommands is the table of the bot's own commands, in the order menus show them. They win over tools of the same name.
// Those that tell what the operator says are always there: platforms ask for them, and people look for them. Those of a
// room are there where it is.
func ownCommands(o turn.Operator, there rooms) turn.Commands {
	list := turn.Commands{
		{Name: "start", Do: menus.StartCommand},
		{Name: "help", Do: told(menus.HelpCommand), Inputs: takesTool(false)},
		{Name: "tools", Do: menus.ToolsCommand},
		{Name: "run", Do: menus.RunCommand, Shared: true, Inputs: takesTool(true, takesText("text"),
			registry.InputField{Name: "file", Type: registry.TypeFile})},
		{Name: "last", Do: start.LastCommand, Shared: true, Inputs: takesTool(false, takesText("text"))},
		{Name: "settings", Do: told(settings.Command), Inputs: takesTool(false)},
		{Name: "balance", Do: told(menus.BalanceCommand)},
		{Name: "buy", Do: told(menus.BuyCommand)},
		{Name: "redeem", Do: told(menus.RedeemCommand), Inputs: registry.InputSchema{takesText("code")}},
		{Name: "wallet", Do: told(menus.WalletCommand), Shared: true, Inputs: registry.InputSchema{walletBudget(), takesText("amount")}},
		{Name: "sponsor", Do: told(menus.SponsorCommand), Shared: true, Inputs: registry.InputSchema{takesText("amount")}},
		{Name: "party", Do: told(menus.PartyCommand), Shared: true, Inputs: registry.InputSchema{takesText("amount"), takesText("time")}},
		{Name: "history", Do: told(results.HistoryCommand)},
		{Name: "cancel", Do: told(results.CancelCommand)},
		{Name: "preset", Do: settings.PresetCommand, Inputs: registry.InputSchema{
			{Name: "do", Type: registry.TypeString, Choices: []registry.Choice{{Value: "list"}, {Value: "use"}, {Value: "save"}, {Value: "delete"}}},
			takesText("name"),
		}},
		{Name: "link", Do: told(menus.LinkCommand), Inputs: registry.InputSchema{takesText("code")}},
		{Name: "language", Do: told(settings.LanguageCommand), Inputs: registry.InputSchema{takesText("language")}},
		{Name: "chatsettings", Who: turn.ChatAdmins, Do: told(settings.ChatCommand), Inputs: takesTool(false)},
		{Name: "deny", Who: turn.ChatAdmins, Do: told(settings.DenyCommand), Inputs: registry.InputSchema{takesText("person")}},
		{Name: "allow", Who: turn.ChatAdmins, Do: told(settings.AllowCommand), Inputs: registry.InputSchema{takesText("person")}},
		{Name: "delete_my_data", Do: told(menus.EraseCommand)},
		{Name: "why", Do: told(results.WhyCommand)},
		{Name: "price", Do: told(menus.PriceCommand), Inputs: takesTool(true)},
		{Name: "improve", Do: told(results.ImproveCommand), Shared: true, Inputs: registry.InputSchema{takesText("prompt")}},
	}
	if there.exports {
		list = append(list, turn.Command{Name: "export", Do: told(menus.ExportCommand)})
	}
	if there.moderation {
		list = append(list,
			turn.Command{Name: reportCommand, Do: told(results.ReportCommand), Inputs: registry.InputSchema{takesText("reason")}},
			turn.Command{Name: "reports", Who: turn.ChatAdmins, Do: told(results.ReportsCommand)},
			turn.Command{Name: "appeal", Do: told(results.AppealCommand), Inputs: registry.InputSchema{takesText("reason")}})
	}
	if there.missions {
		list = append(list,
			turn.Command{Name: "again", Do: chains.AgainCommand, Shared: true, Inputs: registry.InputSchema{takesText("times")}},
			turn.Command{Name: "batch", Do: chains.BatchCommand, Shared: true, Inputs: takesTool(true, takesText("text"),
				registry.InputField{Name: "file", Type: registry.TypeFile, Multiple: true})},
			turn.Command{Name: "save", Do: told(chains.SaveCommand), Inputs: registry.InputSchema{takesText("command")}},
			turn.Command{Name: "chains", Do: told(chains.ChainsCommand), Inputs: registry.InputSchema{takesText("chain"), takesText("share")}})
	}
	if there.site {
		list = append(list,
			turn.Command{Name: "post", Do: told(sitemenu.PostCommand), Inputs: registry.InputSchema{takesText("words"), {Name: "photo", Type: registry.TypeImage}}},
			turn.Command{Name: "site", Do: told(sitemenu.SiteCommand)})
	}
	if there.agent {
		list = append(list, turn.Command{Name: "forget", Do: told(func(ctx context.Context, t *turn.Turn) error {
			if err := t.Services.Agent.Forget(ctx, t); err != nil {
				return err
			}
			return t.Tell(ctx, "asked.forgotten")
		})})
	}
	for _, said := range []struct {
		name    string
		text    turn.Saying
		without string
	}{
		{"paysupport", o.Support, "operator.noSupport"}, {"terms", o.Terms, "operator.noTerms"}, {"privacy", o.Privacy, "operator.noPrivacy"},
	} {
		list = append(list, turn.Command{Name: said.name, Do: told(func(ctx context.Context, t *turn.Turn) error {
			return menus.OperatorSays(ctx, t, said.text.Now(), said.without)
		})})
	}
	return list
}

// told makes a command of what only answers.
func told(do func(context.Context, *turn.Turn) error) func(context.Context, *turn.Turn) (turn.Outcome, error) {
	return func(ctx context.Context, t *turn.Turn) (turn.Outcome, error) { return turn.Nothing, do(ctx, t) }
}

// spell puts the typed options of a command into words, as they follow its name elsewhere. Files stay.
func spell(t *turn.Turn, inputs registry.InputSchema) {
	words := []string{}
	for _, f := range inputs {
		value, given := t.In.Options[f.Name]
		if _, isFile := input.AttachmentIndex(value); !given || isFile {
			continue
		}
		words = append(words, fmt.Sprint(value))
		delete(t.In.Options, f.Name)
	}
	t.In.Text = strings.TrimSpace(strings.Join(append(words, t.In.Text), " "))
}

// nobodys are the commands that are the same for everybody, beside those of admins: who speaks for a chat has no credit, settings or results.
var nobodys = strings.Fields("start help tools price paysupport terms privacy")

// handleCommand handles a message that begins with a command.
func handleCommand(ctx context.Context, t *turn.Turn) (turn.Outcome, error) {
	c, ok := t.Services.Commands.Find(t.In.Command)
	if t.In.Anonymous && c.Who != turn.ChatAdmins && !slices.Contains(nobodys, c.Name) {
		return turn.Nothing, t.Tell(ctx, "place.anonymous")
	}
	if ok {
		if !c.Shared {
			t = t.Aside()
		}
		if c.Who == turn.ChatAdmins {
			if ok, err := t.RunsChat(ctx); !ok {
				return turn.Nothing, err
			}
		}
		if stopped, err := muted(ctx, t, c.Name, muteLeavesCommands); stopped || err != nil {
			return turn.Nothing, err
		}
		spell(t, c.Inputs)
		return c.Do(ctx, t)
	}
	if t.In.Command == start.UseWith {
		return turn.Nothing, start.UseCommand(ctx, t)
	}
	tool, ok := t.Tools.ByCommand(t.In.Command)
	if !ok || tool.Visibility == registry.VisibilityInternal && t.Audience() != registry.Insiders {
		return turn.Nothing, unknownCommand(ctx, t)
	}
	if t.Services.Agent != nil {
		if answered, err := t.Services.Agent.Command(ctx, t, tool); answered || err != nil {
			return turn.Answered, err
		}
	}
	return start.Tool(ctx, t, tool, t.In.Text)
}

// unknownCommand suggests what was meant.
func unknownCommand(ctx context.Context, t *turn.Turn) error {
	t = t.Aside()
	text := t.Say.Text("command.unknown", "command", "/"+chat.Brief(t.In.Command, 40))
	if near := nearCommands(ctx, t, t.In.Command); len(near) > 0 {
		text = chat.Lines(text, t.Say.Text("command.near", "commands", strings.Join(near, ", ")))
	}
	_, err := t.Reply(ctx, chat.Lines(text, t.Say.Text("command.search")))
	return err
}

// otherNames are the words by which people look for the bot's commands, as other bots have them.
var otherNames = map[string]string{
	"again": "redo repeat reroll regenerate", "balance": "credit credits coins money points saldo guthaben", "buy": "topup recharge subscribe premium pay",
	"cancel": "stop abort undo kill quit queue status jobs", "delete_my_data": "delete erase forgetme gdpr", "help": "about info faq commands hilfe ayuda",
	"history": "gallery results runs mine", "language": "lang locale sprache idioma", "link": "connect login account", "paysupport": "refund support",
	"preset": "presets template", "price": "prices cost costs pricing", "redeem": "voucher promo coupon", "run": "imagine generate create make find search",
	"settings": "config options preferences setup", "terms": "tos rules", "tools": "models model list menu workflows",
}

// otherwiseNamed gives the command that people look for by another name, or "".
func otherwiseNamed(commands turn.Commands, typed string) string {
	for name, others := range otherNames {
		if _, there := commands.Find(name); there && slices.Contains(strings.Fields(others), strings.ToLower(typed)) {
			return name
		}
	}
	return ""
}

// nearCommands gives up to four commands like a mistyped one, or called otherwise elsewhere, of those that the sender can use here.
func nearCommands(ctx context.Context, t *turn.Turn, typed string) []string {
	var own, admins []string
	for _, c := range t.Services.Commands {
		if c.Who == turn.ChatAdmins {
			admins = append(admins, c.Name)
		} else {
			own = append(own, c.Name)
		}
	}
	// Asking a platform who is an admin takes a request: only where one of their commands may be meant.
	if t.In.Chat.Kind != chat.ChatPrivate && edit.Nearest(typed, admins) != "" && t.ByAdmin(ctx) {
		own = append(own, admins...)
	}
	var near []string
	if n := cmp.Or(otherwiseNamed(t.Services.Commands, typed), edit.Nearest(typed, own)); n != "" {
		near = append(near, "/"+n)
	}
	for _, s := range t.Tools.Suggest(typed) {
		near = append(near, "/"+strings.TrimPrefix(s, "/"))
	}
	return near[:min(len(near), 4)]
}

// chatter answers what is neither command nor answer: words by the agent, where there is one, or by an offer of tools, files by
// the tools that take them. In groups only what names the bot is meant for it, and for the agent also what replies to the bot.
func chatter(ctx context.Context, t *turn.Turn) (turn.Outcome, error) {
	switch {
	case t.In.Anonymous && t.In.Named:
		return turn.Answered, t.Tell(ctx, "place.anonymous")
	case t.In.Anonymous:
		return turn.Answered, nil
	}
	if t.Services.Agent != nil {
		if answered, err := t.Services.Agent.Answer(ctx, t); answered || err != nil {
			return turn.Answered, err
		}
	}
	if t.In.Chat.Kind != chat.ChatPrivate && !t.In.Named && (!t.In.Addressed || t.In.ReplyTo != nil && t.In.ReplyTo.Own) {
		return turn.Answered, nil
	}
	files, maker, err := filesMeant(ctx, t)
	if err != nil {
		return turn.Nothing, err
	}
	if len(files) > 0 && len(t.In.Attachments) == 0 { // a caption may be another's, of a picture passed on
		if offered, err := start.OfferChange(ctx, t, t.In.Text, files, maker); offered || err != nil {
			return turn.Nothing, err
		}
	}
	if len(files) > 0 {
		return turn.Nothing, offerTools(ctx, t, files)
	}
	if offered, err := start.OfferWords(ctx, t); offered || err != nil {
		return turn.Nothing, err
	}
	if t.In.Chat.Kind != chat.ChatPrivate {
		t = t.Aside()
	}
	if start.SmallTalk(t) {
		return turn.Nothing, t.Tell(ctx, "chatter.hello")
	}
	return turn.Nothing, t.Tell(ctx, "chatter.hint")
}

// filesMeant are the files that words are about: those sent with them, else those of the message replied to, which may only tell of a result,
// as the one below an album does; and the id of the tool that made them, if one did. Thanks are about none.
func filesMeant(ctx context.Context, t *turn.Turn) (files []chat.Attachment, maker string, err error) {
	q := t.In.ReplyTo
	switch {
	case len(t.In.Attachments) > 0:
		return t.In.Attachments, "", nil
	case q == nil || start.SmallTalk(t):
		return nil, "", nil
	case !q.Own:
		return q.Attachments, "", nil
	}
	run, ok, err := results.RepliedTo(ctx, t)
	if !ok || err != nil {
		return q.Attachments, "", err
	}
	if files = q.Attachments; len(files) == 0 {
		files = show.ResultFiles(run)
	}
	return files, run.Tool.ToolID, nil
}

// filesShown is how many tools are offered for a file.
const filesShown = 8

// offerTools names the tools that take the files that came without a command, those first that their caption asks for.
func offerTools(ctx context.Context, t *turn.Turn, files []chat.Attachment) error {
	fitting := start.FittingFirst(ctx, t, start.ToolsTaking(t, files, len(t.Offered())), t.In.Text, files)
	fitting = fitting[:min(len(fitting), filesShown)]
	if len(fitting) == 0 {
		return t.Tell(ctx, "chatter.noTool")
	}
	names := make([]string, len(fitting))
	for i, tool := range fitting {
		names[i] = input.CommandOf(tool)
	}
	text := t.Say.Text("chatter.file", "commands", strings.Join(names, "\n"))
	return start.OfferUse(ctx, t, text, store.KeyboardState{Files: files, Query: t.In.Text, Sent: true}, fitting)
}
