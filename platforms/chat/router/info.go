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
func (t *turn) startCommand(ctx context.Context) error {
	if words := strings.TrimSpace(t.in.Text); words != "" {
		if name, ok := strings.CutPrefix(words, "settings-"); ok {
			t.in.Text = name
			return t.settingsCommand(ctx)
		}
		if words == linkWord {
			t.in.Text = ""
			return t.linkCommand(ctx)
		}
		if tool, ok := t.findTool(words); ok {
			return t.toolCommand(ctx, tool, "")
		}
	}
	tools, err := t.popular(ctx, 3)
	if err != nil {
		return err
	}
	text := t.say.Text("start.greeting")
	if terms := t.svc.Operator.Terms; terms != "" {
		text = chat.Lines(text, t.say.Text("start.terms", "terms", terms))
	}
	return t.listTools(ctx, text, tools, chat.Button{Label: t.say.Line("button.language"), Data: "langs"})
}

// popular gives the tools that are used most, for people who have not chosen yet.
func (t *turn) popular(ctx context.Context, n int) ([]*registry.Tool, error) {
	counts, err := t.svc.Store.Uses.All(ctx)
	if err != nil {
		return nil, err
	}
	tools := mostUsed(t.offered(), counts)
	return tools[:min(n, len(tools))], nil
}

// listTools sends a text with a button for each tool, and more buttons, whose data is their action, below.
func (t *turn) listTools(ctx context.Context, text chat.Text, tools []*registry.Tool, more ...chat.Button) error {
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
func (t *turn) pressTool(ctx context.Context, k store.Keyboard, n int) error {
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
	if refused, err := t.refuse(ctx, tool); refused || err != nil {
		return err
	}
	return t.proceed(ctx, t.pressDraft(tool))
}

// helpCommand explains the bot, or a tool.
func (t *turn) helpCommand(ctx context.Context) error {
	words := strings.TrimSpace(t.in.Text)
	if words == "" {
		return t.overview(ctx)
	}
	if tool, ok := t.findTool(words); ok {
		return t.explain(ctx, tool)
	}
	if c, ok := t.svc.Commands.find(strings.TrimPrefix(words, "/")); ok {
		_, err := t.reply(ctx, chat.Text{{Style: chat.StyleBold, Text: "/" + c.name}, {Text: "\n" + t.say.Line("command."+c.name)}})
		return err
	}
	if found := t.search(words, toolsPerPage); len(found) > 0 {
		return t.listTools(ctx, t.say.Text("help.search", "words", chat.Brief(words, 60)), found)
	}
	return t.nothingFound(ctx, words)
}

// nothingFound says that no tool goes by these words. In groups it does not repeat them.
func (t *turn) nothingFound(ctx context.Context, words string) error {
	if t.aside = true; t.in.Chat.Kind != chat.ChatPrivate {
		return t.tell(ctx, "help.nothingHere")
	}
	return t.tell(ctx, "help.nothing", "words", chat.Brief(words, 60))
}

// overview lists the bot's own commands and the tools by category.
func (t *turn) overview(ctx context.Context) error {
	text := t.say.Text("help.intro")
	var own chat.Text
	for _, c := range t.svc.Commands {
		own = chat.Lines(own, chat.Plain("/"+c.name+" – "+t.say.Line("command."+c.name)))
	}
	text = chat.Join("\n\n", text, own)
	limit := t.out.Caps.TextLimit - 200
	left := 0
	for _, group := range byCategory(t.offered()) {
		block := chat.Text{{Style: chat.StyleBold, Text: t.categoryName(group.name)}}
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

func (t *turn) categoryName(name string) string {
	if name == "" {
		return t.say.Line("help.other")
	}
	return words.CategoryName(t.say.Voice, name)
}

// explain sends a tool's help, with a button that starts the tool.
func (t *turn) explain(ctx context.Context, tool *registry.Tool) error {
	k := t.keyboard(store.KeyboardState{Tool: tool.ToolID, Tools: []string{tool.ToolID}})
	var buttons [][]chat.Button
	var price chat.Text
	if tool.Refusal(t.audience()) == nil {
		quote, err := t.quote(ctx, input.Draft{Tool: tool.ToolID})
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
	_, err := t.reply(ctx, t.toolHelp(tool, price), buttons...)
	return err
}

// toolHelp explains a tool: what it does, cut to what the platform shows, what it takes, and its price.
func (t *turn) toolHelp(tool *registry.Tool, price chat.Text) chat.Text {
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
			inputs = chat.Lines(inputs, t.inputHelp(f))
		}
	}
	tail := chat.Join("\n\n", inputs, chat.Text{{Style: chat.StyleCode, Text: input.Usage(tool)}}, price, state)
	tail = tail.Cut(t.out.Caps.TextLimit / 2)
	description := chat.Plain(strings.TrimSpace(tool.Description)).Cut(max(0, t.out.Caps.TextLimit-head.Len()-tail.Len()-4))
	return chat.Join("\n\n", head, description, tail)
}

func (t *turn) inputHelp(f registry.InputField) chat.Text {
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
func (t *turn) toolsCommand(ctx context.Context) error {
	if words := strings.TrimSpace(t.in.Text); words != "" {
		return t.runCommand(ctx)
	}
	m, err := t.toolsPage(ctx, t.keyboard(store.KeyboardState{}), 0)
	if err != nil {
		return err
	}
	return t.respond(ctx, m)
}

// toolsPage draws one page of the list of tools.
func (t *turn) toolsPage(ctx context.Context, k store.Keyboard, page int) (chat.Message, error) {
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
			m.Text = append(m.Text, chat.Segment{Text: "\n\n"}, chat.Segment{Style: chat.StyleBold, Text: t.categoryName(tool.Category)})
			last = tool.Category
		}
		m.Text = chat.Lines(m.Text, chat.Plain(input.CommandOf(tool)+" – "+chat.Brief(chat.FirstNonEmpty(tool.Description, tool.DisplayName), 80)))
		k.State.Tools = append(k.State.Tools, tool.ToolID)
		buttons = append(buttons, chat.Button{Label: tool.DisplayName, Data: k.Data(fmt.Sprint("tool", i))})
	}
	m.Buttons = append(show.RowsOf(buttons, 2), t.say.Pager(k, "list", page, pages)...)
	return m, t.svc.Store.Keyboards.Save(ctx, k)
}

func (t *turn) pressList(ctx context.Context, k store.Keyboard, page int) error {
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	m, err := t.toolsPage(ctx, k, page)
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
func (t *turn) runCommand(ctx context.Context) error {
	words := strings.TrimSpace(t.in.Text)
	if words == "" {
		return t.tell(ctx, "run.usage")
	}
	first, rest := words, ""
	if i := strings.IndexAny(words, " \n\t"); i >= 0 {
		first, rest = words[:i], strings.TrimSpace(words[i:])
	}
	if tool, ok := t.findTool(first); ok {
		return t.toolCommand(ctx, tool, rest)
	}
	if tool, ok := t.findTool(words); ok {
		return t.toolCommand(ctx, tool, "")
	}
	found := t.search(words, toolsPerPage)
	if len(found) == 0 {
		return t.nothingFound(ctx, words)
	}
	text := t.say.Text("help.search", "words", chat.Brief(words, 60))
	for _, tool := range found {
		text = chat.Lines(text, chat.Plain(input.CommandOf(tool)+" – "+chat.Brief(chat.FirstNonEmpty(tool.Description, tool.DisplayName), 80)))
	}
	return t.listTools(ctx, text, found)
}

// operatorSays tells what the operator says about something. Where they said nothing it tells what holds anyway, and
// whom to ask.
func (t *turn) operatorSays(ctx context.Context, text, without string) error {
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
func (t *turn) balanceCommand(ctx context.Context) error {
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
func (t *turn) priceCommand(ctx context.Context) error {
	words := strings.TrimSpace(t.in.Text)
	if words == "" {
		return t.tell(ctx, "price.usage")
	}
	tool, typed, ok := t.findPriced(words)
	if !ok {
		return t.nothingFound(ctx, words)
	}
	if refused, err := t.refuse(ctx, tool); refused || err != nil {
		return err
	}
	d := t.newDraft(tool)
	if hint, err := t.read(ctx, &d, tool, typed); hint != nil || err != nil {
		return t.hintOr(ctx, hint, err)
	}
	quote, err := t.quote(ctx, d)
	if err != nil {
		return t.notStarted(ctx, chat.MessageRef{}, d, err)
	}
	text := chat.Lines(chat.Text{{Style: chat.StyleBold, Text: tool.DisplayName}}, t.say.Price(quote))
	if quote.Rate != "" && quote.High > 0 {
		text = chat.Lines(text, t.say.Text("price.rate", "rate", quote.Rate, "unit", t.say.Line("unit."+quote.Unit)))
	}
	_, err = t.reply(ctx, text)
	return err
}

// findPriced finds the tool that the words name, with what is typed for it after its name as after its command.
func (t *turn) findPriced(words string) (tool *registry.Tool, typed string, ok bool) {
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

// quote prices a tool with the person's settings and what a draft has of it.
func (t *turn) quote(ctx context.Context, d input.Draft) (billing.Quote, error) {
	values, err := t.withChatValues(ctx, d)
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
