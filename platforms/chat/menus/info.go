package menus

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// HelpCommand explains the bot, or a tool.
func HelpCommand(ctx context.Context, t *turn.Turn) error {
	words := strings.TrimSpace(t.In.Text)
	if words == "" {
		return helpOverview(ctx, t)
	}
	if tool, ok := t.FindTool(words); ok {
		return explainTool(ctx, t, tool)
	}
	if c, ok := t.Services.Commands.Find(strings.TrimPrefix(words, "/")); ok {
		_, err := t.Reply(ctx, chat.Text{{Style: chat.StyleBold, Text: "/" + c.Name}, {Text: "\n" + t.Say.Line("command."+c.Name)}})
		return err
	}
	if found := t.Search(ctx, words, start.PerPage); len(found) > 0 {
		return ListTools(ctx, t, t.Say.Text("help.search", "words", chat.Brief(words, 60)), found)
	}
	return t.NothingFound(ctx, words)
}

// helpOverview lists the bot's own commands and the tools by category.
func helpOverview(ctx context.Context, t *turn.Turn) error {
	text := t.Say.Text("help.intro")
	var own chat.Text
	for _, c := range t.Services.Commands {
		if c.Who == turn.ChatAdmins && t.In.Chat.Kind == chat.ChatPrivate {
			continue
		}
		own = chat.Lines(own, chat.Plain("/"+c.Name+" – "+t.Say.Line("command."+c.Name)))
	}
	text = chat.Join("\n\n", text, own)
	limit := t.Out.Caps.TextLimit - 200
	left := 0
	for _, group := range byCategory(t.Offered()) {
		block := chat.Text{{Style: chat.StyleBold, Text: categoryName(t, group.name)}}
		for _, tool := range group.tools {
			block = chat.Lines(block, chat.Plain(input.CommandOf(tool)+" – "+tool.DisplayName))
		}
		if text.Len()+block.Len()+2 > limit {
			left += len(group.tools)
			continue
		}
		text = chat.Join("\n\n", text, block)
	}
	if left > 0 {
		text = chat.Join("\n\n", text, t.Say.Text("help.more", "n", left))
	}
	text = chat.Join("\n\n", text, waiting(t))
	_, err := t.Reply(ctx, text)
	return err
}

// explainTool sends a tool's help, with a button that starts the tool.
func explainTool(ctx context.Context, t *turn.Turn, tool *registry.Tool) error {
	k := t.Keyboard(store.KeyboardState{Tool: tool.ToolID, Tools: []string{tool.ToolID}})
	var buttons [][]chat.Button
	var price chat.Text
	if tool.Refusal(t.Audience()) == nil {
		quote, err := start.PriceOf(ctx, t, input.Draft{Request: runs.Request{ToolID: tool.ToolID}})
		if err != nil {
			t.Services.Log.WarnContext(ctx, "help without a price", "tool", tool.ToolID, "error", err)
		}
		price = start.PriceAndCredit(ctx, t, tool, quote)
		if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
			return err
		}
		buttons = [][]chat.Button{{
			{Label: t.Say.Line("button.start"), Data: k.Data("tool0"), Style: chat.ButtonPrimary},
			{Label: t.Say.Line("button.settings"), Data: k.Data("settings")},
		}}
	}
	_, err := t.Reply(ctx, toolHelp(t, tool, price), buttons...)
	return err
}

// toolHelp explains a tool: what it does, cut to what the platform shows, what it takes, and its price.
func toolHelp(t *turn.Turn, tool *registry.Tool, price chat.Text) chat.Text {
	head := chat.Text{{Style: chat.StyleBold, Text: tool.DisplayName}}
	if tool.CommandName != "" {
		head = append(head, chat.Segment{Text: "  " + tool.CommandName})
	}
	var state chat.Text
	switch {
	case tool.State() == registry.StateUnavailable:
		state = t.Unavailable(tool)
	default:
		state = chat.Plain(strings.Join(t.Deprecation(tool), "\n"))
	}
	var inputs chat.Text
	for _, f := range tool.InputSchema.Ordered() {
		if !f.Advanced {
			inputs = chat.Lines(inputs, inputHelp(t, f))
		}
	}
	tail := chat.Join("\n\n", inputs, chat.Text{{Style: chat.StyleCode, Text: input.Usage(tool)}}, price, state)
	tail = tail.Cut(t.Out.Caps.TextLimit / 2)
	description := chat.Plain(strings.TrimSpace(tool.Description)).Cut(max(0, t.Out.Caps.TextLimit-head.Len()-tail.Len()-4))
	return chat.Join("\n\n", head, description, tail)
}

func inputHelp(t *turn.Turn, f registry.InputField) chat.Text {
	line := chat.Text{{Text: "• "}, {Style: chat.StyleBold, Text: f.Label()}}
	if f.Required {
		line = append(line, chat.Segment{Text: " " + t.Say.Line("help.required")})
	}
	if f.Description != "" {
		line = append(line, chat.Segment{Text: ": " + chat.Brief(f.Description, 120)})
	}
	return line
}

// OperatorSays tells what the operator says about something. Where they said nothing it tells what holds anyway, and
// whom to ask.
func OperatorSays(ctx context.Context, t *turn.Turn, text, without string) error {
	if text != "" {
		_, err := t.Reply(ctx, chat.Plain(text))
		return err
	}
	_, err := t.Reply(ctx, chat.Lines(t.Say.Text(without), whomToAsk(t)))
	return err
}

// whomToAsk tells where questions about money go.
func whomToAsk(t *turn.Turn) chat.Text {
	if whom := t.Services.Operator.Support.Now(); whom != "" {
		return t.Say.Text("operator.ask", "whom", whom)
	}
	return t.Say.Text("operator.askThem")
}

// BalanceCommand tells what there is to spend.
func BalanceCommand(ctx context.Context, t *turn.Turn) error {
	b, err := t.Services.Wallets.Balance(ctx, t.Account.ID)
	if err != nil {
		return fmt.Errorf("read the balance: %w", err)
	}
	text := start.Credit(t, b)
	usage, err := t.Services.Runs.Usage(ctx, t.Account.ID)
	if err != nil {
		return fmt.Errorf("read the use of limits: %w", err)
	}
	for _, use := range []runs.LimitUse{
		{Kind: runs.LimitPerDay, Limit: int64(usage.Limits.PerDay), Used: int64(usage.Today)},
		{Kind: runs.LimitDayCap, Limit: usage.Limits.DayCap, Used: int64(usage.SpentDay)},
		{Kind: runs.LimitMonthCap, Limit: usage.Limits.MonthCap, Used: int64(usage.SpentMonth)},
	} {
		if use.Limit > 0 {
			text = chat.Lines(text, show.Styled(words.Limit(t.Say.Voice, use)))
		}
	}
	income, err := t.Services.Wallets.Income(ctx, t.Account.ID, time.Now().Add(-billing.IncomeShown))
	if err != nil {
		return err
	}
	_, err = t.Reply(ctx, chat.Lines(text, incomeText(t, income)))
	return err
}

// incomeLines is how many days and tools the income is told of.
const incomeLines = 10

// incomeText tells what came in from shares lately, all together and by day and tool; nil: nothing did.
func incomeText(t *turn.Turn, income []billing.Income) chat.Text {
	if len(income) == 0 {
		return nil
	}
	var sum billing.NanoUSD
	var lines chat.Text
	for i, one := range income {
		got := one.Earned - one.TakenBack
		sum += got
		if i < incomeLines {
			lines = chat.Lines(lines, t.Say.Text("income.line", "day", one.Day.Format(time.DateOnly), "of", chat.Brief(one.Of, 60), "amount", t.Say.Amount(got)))
		}
	}
	return chat.Lines(t.Say.Text("income.sum", "amount", t.Say.Amount(sum)), lines)
}

// PriceCommand tells what a tool costs with the person's settings.
func PriceCommand(ctx context.Context, t *turn.Turn) error {
	words := strings.TrimSpace(t.In.Text)
	if words == "" {
		return t.Tell(ctx, "price.usage")
	}
	tool, typed, ok := t.FindToolIn(words)
	if !ok {
		return t.NothingFound(ctx, words)
	}
	if refused, err := start.Refuse(ctx, t, tool); refused || err != nil {
		return err
	}
	d := start.NewDraft(t, tool)
	if hint, err := start.ReadText(ctx, t, &d, tool, typed); hint != nil || err != nil {
		return start.HintOr(ctx, t, hint, err)
	}
	quote, err := start.PriceOf(ctx, t, d)
	if err != nil {
		return start.NotStarted(ctx, t, chat.MessageRef{}, d, err)
	}
	text := chat.Lines(chat.Text{{Style: chat.StyleBold, Text: tool.DisplayName}}, start.PriceAndCredit(ctx, t, tool, quote))
	if quote.Rate != "" && quote.High > 0 && quote.Unit != string(registry.UnitRequest) {
		text = chat.Lines(text, chat.Plain(t.Say.Rate(quote.Rate, quote.Unit)))
	}
	_, err = t.Reply(ctx, text)
	return err
}
