package router

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// toolsPerPage is how many tools a list shows at once.
const toolsPerPage = 8

// startCommand greets, or goes straight to the tool of a deep link.
func startCommand(ctx context.Context, t *turn) (outcome, error) {
	if words := strings.TrimSpace(t.in.Text); words != "" {
		if name, ok := strings.CutPrefix(words, "settings-"); ok {
			t.in.Text = name
			return nothing, settingsCommand(ctx, t)
		}
		if words == linkWord {
			t.in.Text = ""
			return nothing, linkCommand(ctx, t)
		}
		if tool, ok := t.findTool(words); ok {
			return toolCommand(ctx, t, tool, "")
		}
	}
	tools, err := popular(ctx, t, 3)
	if err != nil {
		return nothing, err
	}
	text := t.say.Text("start.greeting")
	if terms := t.svc.Operator.Terms; terms != "" {
		text = chat.Lines(text, t.say.Text("start.terms", "terms", terms))
	}
	return nothing, listTools(ctx, t, text, tools, chat.Button{Label: t.say.Line("button.language"), Data: "langs"})
}

// popular gives the tools that are used most, for people who have not chosen yet.
func popular(ctx context.Context, t *turn, n int) ([]*registry.Tool, error) {
	counts, err := t.svc.Store.Uses.All(ctx)
	if err != nil {
		return nil, err
	}
	tools := mostUsed(t.offered(), counts)
	return tools[:min(n, len(tools))], nil
}

// listTools sends a text with a button for each tool, and more buttons, whose data is their action, below.
func listTools(ctx context.Context, t *turn, text chat.Text, tools []*registry.Tool, more ...chat.Button) error {
	k := t.keyboard(store.KeyboardState{Asked: t.in.Message})
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
		if err := t.svc.Store.Keyboards.Save(ctx, k); err != nil {
			return err
		}
	}
	_, err := t.reply(ctx, text, rows...)
	return err
}

// pressTool starts the tool of a button; it asks for what it needs.
func pressTool(ctx context.Context, t *turn, k store.Keyboard, n int) error {
	if n >= len(k.State.Tools) {
		return t.alert(ctx, "press.tooOld")
	}
	tool, ok := t.tools.Resolve(k.State.Tools[n])
	if !ok {
		return t.alert(ctx, "tool.gone")
	}
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	if refused, err := refuse(ctx, t, tool); refused || err != nil {
		return err
	}
	return proceedFrom(ctx, t, k, pressDraft(t, tool))
}

// helpCommand explains the bot, or a tool.
func helpCommand(ctx context.Context, t *turn) error {
	words := strings.TrimSpace(t.in.Text)
	if words == "" {
		return helpOverview(ctx, t)
	}
	if tool, ok := t.findTool(words); ok {
		return explainTool(ctx, t, tool)
	}
	if c, ok := t.svc.Commands.find(strings.TrimPrefix(words, "/")); ok {
		_, err := t.reply(ctx, chat.Text{{Style: chat.StyleBold, Text: "/" + c.name}, {Text: "\n" + t.say.Line("command."+c.name)}})
		return err
	}
	if found := t.search(words, toolsPerPage); len(found) > 0 {
		return listTools(ctx, t, t.say.Text("help.search", "words", chat.Brief(words, 60)), found)
	}
	return t.nothingFound(ctx, words)
}

// nothingFound says that no tool goes by these words. In groups it does not repeat them.
func (t *turn) nothingFound(ctx context.Context, words string) error {
	t = t.Aside()
	if t.in.Chat.Kind != chat.ChatPrivate {
		return t.tell(ctx, "help.nothingHere")
	}
	return t.tell(ctx, "help.nothing", "words", chat.Brief(words, 60))
}

// helpOverview lists the bot's own commands and the tools by category.
func helpOverview(ctx context.Context, t *turn) error {
	text := t.say.Text("help.intro")
	var own chat.Text
	for _, c := range t.svc.Commands {
		own = chat.Lines(own, chat.Plain("/"+c.name+" – "+t.say.Line("command."+c.name)))
	}
	text = chat.Join("\n\n", text, own)
	limit := t.out.Caps.TextLimit - 200
	left := 0
	for _, group := range byCategory(t.offered()) {
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
		text = chat.Join("\n\n", text, t.say.Text("help.more", "n", left))
	}
	_, err := t.reply(ctx, text)
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

func categoryName(t *turn, name string) string {
	if name == "" {
		return t.say.Line("help.other")
	}
	return words.CategoryName(t.say.Voice, name)
}

// explainTool sends a tool's help, with a button that starts the tool.
func explainTool(ctx context.Context, t *turn, tool *registry.Tool) error {
	k := t.keyboard(store.KeyboardState{Tool: tool.ToolID, Tools: []string{tool.ToolID}})
	var buttons [][]chat.Button
	var price chat.Text
	if tool.Refusal(t.audience()) == nil {
		quote, err := priceOf(ctx, t, input.Draft{Tool: tool.ToolID})
		if err != nil {
			t.svc.Log.WarnContext(ctx, "help without a price", "tool", tool.ToolID, "error", err)
		}
		price = t.say.Price(quote)
		if err := t.svc.Store.Keyboards.Save(ctx, k); err != nil {
			return err
		}
		buttons = [][]chat.Button{{
			{Label: t.say.Line("button.start"), Data: k.Data("tool0"), Style: chat.ButtonPrimary},
			{Label: t.say.Line("button.settings"), Data: k.Data("settings")},
		}}
	}
	_, err := t.reply(ctx, toolHelp(t, tool, price), buttons...)
	return err
}

// toolHelp explains a tool: what it does, cut to what the platform shows, what it takes, and its price.
func toolHelp(t *turn, tool *registry.Tool, price chat.Text) chat.Text {
	head := chat.Text{{Style: chat.StyleBold, Text: tool.DisplayName}}
	if tool.CommandName != "" {
		head = append(head, chat.Segment{Text: "  " + tool.CommandName})
	}
	var state chat.Text
	switch {
	case tool.State() == registry.StateUnavailable:
		state = t.unavailable(tool)
	default:
		state = t.notes(t.deprecation(tool))
	}
	var inputs chat.Text
	for _, f := range tool.InputSchema.Ordered() {
		if !f.Advanced {
			inputs = chat.Lines(inputs, inputHelp(t, f))
		}
	}
	tail := chat.Join("\n\n", inputs, chat.Text{{Style: chat.StyleCode, Text: input.Usage(tool)}}, price, state)
	tail = tail.Cut(t.out.Caps.TextLimit / 2)
	description := chat.Plain(strings.TrimSpace(tool.Description)).Cut(max(0, t.out.Caps.TextLimit-head.Len()-tail.Len()-4))
	return chat.Join("\n\n", head, description, tail)
}

func inputHelp(t *turn, f registry.InputField) chat.Text {
	line := chat.Text{{Text: "• "}, {Style: chat.StyleBold, Text: f.Label()}}
	if f.Required {
		line = append(line, chat.Segment{Text: " " + t.say.Line("help.required")})
	}
	if f.Description != "" {
		line = append(line, chat.Segment{Text: ": " + chat.Brief(f.Description, 120)})
	}
	return line
}

// toolsCommand pages through all tools.
func toolsCommand(ctx context.Context, t *turn) (outcome, error) {
	if words := strings.TrimSpace(t.in.Text); words != "" {
		return runCommand(ctx, t)
	}
	m, err := toolsPage(ctx, t, t.keyboard(store.KeyboardState{}), 0)
	if err != nil {
		return nothing, err
	}
	return nothing, t.respond(ctx, m)
}

// toolsPage draws one page of the list of tools.
func toolsPage(ctx context.Context, t *turn, k store.Keyboard, page int) (chat.Message, error) {
	var tools []*registry.Tool
	for _, group := range byCategory(t.offered()) {
		tools = append(tools, group.tools...)
	}
	m := chat.Message{To: t.in.Chat.Place}
	if len(tools) == 0 {
		m.Text = t.say.Text("tools.none")
		return m, nil
	}
	pages := (len(tools) + toolsPerPage - 1) / toolsPerPage
	page = min(max(page, 0), pages-1)
	shown := tools[page*toolsPerPage : min(len(tools), (page+1)*toolsPerPage)]
	k.State.Tools = nil
	m.Text = t.say.Text("tools.title", "n", len(tools))
	var buttons []chat.Button
	last := ""
	for i, tool := range shown {
		if tool.Category != "" && tool.Category != last {
			m.Text = append(m.Text, chat.Segment{Text: "\n\n"}, chat.Segment{Style: chat.StyleBold, Text: categoryName(t, tool.Category)})
			last = tool.Category
		}
		m.Text = chat.Lines(m.Text, chat.Plain(input.CommandOf(tool)+" – "+chat.Brief(chat.FirstNonEmpty(tool.Description, tool.DisplayName), 80)))
		k.State.Tools = append(k.State.Tools, tool.ToolID)
		buttons = append(buttons, chat.Button{Label: tool.DisplayName, Data: k.Data(fmt.Sprint("tool", i))})
	}
	m.Buttons = append(show.RowsOf(buttons, 2), t.say.Pager(k, "list", page, pages)...)
	return m, t.svc.Store.Keyboards.Save(ctx, k)
}

func pressList(ctx context.Context, t *turn, k store.Keyboard, page int) error {
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	m, err := toolsPage(ctx, t, k, page)
	if err != nil {
		return err
	}
	_, err = t.change(ctx, t.in.Message, m)
	return err
}

// search finds tools by words.
func (t *turn) search(words string, n int) []*registry.Tool {
	var found []*registry.Tool
	for _, m := range t.tools.Search(words, registry.SearchOptions{Audience: t.audience(), Limit: n}) {
		found = append(found, m.Tool)
	}
	return found
}

// runCommand starts the tool that its first word names, or looks for tools by its words.
func runCommand(ctx context.Context, t *turn) (outcome, error) {
	words := strings.TrimSpace(t.in.Text)
	if words == "" {
		return nothing, t.tell(ctx, "run.usage")
	}
	first, rest := words, ""
	if i := strings.IndexAny(words, " \n\t"); i >= 0 {
		first, rest = words[:i], strings.TrimSpace(words[i:])
	}
	if tool, ok := t.findTool(first); ok {
		return toolCommand(ctx, t, tool, rest)
	}
	if tool, ok := t.findTool(words); ok {
		return toolCommand(ctx, t, tool, "")
	}
	found := t.search(words, toolsPerPage)
	if len(found) == 0 {
		return nothing, t.nothingFound(ctx, words)
	}
	text := t.say.Text("help.search", "words", chat.Brief(words, 60))
	for _, tool := range found {
		text = chat.Lines(text, chat.Plain(input.CommandOf(tool)+" – "+chat.Brief(chat.FirstNonEmpty(tool.Description, tool.DisplayName), 80)))
	}
	return nothing, listTools(ctx, t, text, found)
}

// operatorSays tells what the operator says about something. Where they said nothing it tells what holds anyway, and
// whom to ask.
func operatorSays(ctx context.Context, t *turn, text, without string) error {
	if text != "" {
		_, err := t.reply(ctx, chat.Plain(text))
		return err
	}
	ask := t.say.Text("operator.askThem")
	if whom := t.svc.Operator.Support; whom != "" {
		ask = t.say.Text("operator.ask", "whom", whom)
	}
	_, err := t.reply(ctx, chat.Lines(t.say.Text(without), ask))
	return err
}

// balanceCommand tells what there is to spend.
func balanceCommand(ctx context.Context, t *turn) error {
	b, err := t.svc.Wallets.Balance(ctx, t.account.ID)
	if err != nil {
		return fmt.Errorf("read the balance: %w", err)
	}
	text := t.say.Text("balance.available", "amount", b.Available)
	if b.Held > 0 {
		text = chat.Lines(text, t.say.Text("balance.held", "amount", b.Held))
	}
	usage, err := t.svc.Runs.Usage(ctx, t.account.ID)
	if err != nil {
		return fmt.Errorf("read the use of limits: %w", err)
	}
	for _, use := range []runs.LimitUse{
		{Kind: runs.LimitPerDay, Limit: int64(usage.Limits.PerDay), Used: int64(usage.Today)},
		{Kind: runs.LimitDayCap, Limit: usage.Limits.DayCap, Used: int64(usage.SpentDay)},
		{Kind: runs.LimitMonthCap, Limit: usage.Limits.MonthCap, Used: int64(usage.SpentMonth)},
	} {
		if use.Limit > 0 {
			text = chat.Lines(text, chat.Plain(words.Limit(t.say.Voice, use)))
		}
	}
	_, err = t.reply(ctx, text)
	return err
}

// priceCommand tells what a tool costs with the person's settings.
func priceCommand(ctx context.Context, t *turn) error {
	words := strings.TrimSpace(t.in.Text)
	if words == "" {
		return t.tell(ctx, "price.usage")
	}
	tool, typed, ok := findPriced(t, words)
	if !ok {
		return t.nothingFound(ctx, words)
	}
	if refused, err := refuse(ctx, t, tool); refused || err != nil {
		return err
	}
	d := newDraft(t, tool)
	if hint, err := readText(ctx, t, &d, tool, typed); hint != nil || err != nil {
		return hintOr(ctx, t, hint, err)
	}
	quote, err := priceOf(ctx, t, d)
	if err != nil {
		return notStarted(ctx, t, chat.MessageRef{}, d, err)
	}
	text := chat.Lines(chat.Text{{Style: chat.StyleBold, Text: tool.DisplayName}}, t.say.Price(quote))
	if quote.Rate != "" && quote.High > 0 {
		text = chat.Lines(text, t.say.Text("price.rate", "rate", quote.Rate, "unit", t.say.Line("unit."+quote.Unit)))
	}
	_, err = t.reply(ctx, text)
	return err
}

// findPriced finds the tool that the words name, with what is typed for it after its name as after its command.
func findPriced(t *turn, words string) (tool *registry.Tool, typed string, ok bool) {
	if tool, ok := t.findTool(words); ok {
		return tool, "", true
	}
	end := strings.IndexFunc(words, unicode.IsSpace)
	if end < 0 {
		return nil, "", false
	}
	tool, ok = t.findTool(words[:end])
	return tool, words[end:], ok
}

// priceOf prices a tool with the person's settings and what a draft has of it.
func priceOf(ctx context.Context, t *turn, d input.Draft) (billing.Quote, error) {
	values, err := withChatValues(ctx, t, d)
	if err != nil {
		return billing.Quote{}, err
	}
	bound, err := t.svc.Runs.Bind(ctx, runs.Request{AccountID: t.account.ID, ToolID: d.Tool, Values: values, Audience: t.audience()})
	if err != nil {
		return billing.Quote{}, err
	}
	quote, err := t.svc.Runs.Quote(ctx, bound)
	if err != nil {
		return quote, fmt.Errorf("quote %s: %w", d.Tool, err)
	}
	return quote, nil
}
