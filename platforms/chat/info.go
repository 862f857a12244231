package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
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
	text := t.say("start.greeting")
	if terms := t.cfg.Operator.Terms; terms != "" {
		text = lines(text, t.say("start.terms", "terms", terms))
	}
	return t.listTools(ctx, text, tools, Button{Label: t.line("button.language"), Data: "langs"})
}

// popular gives the tools that are used most, for people who have not chosen yet.
func (t *turn) popular(ctx context.Context, n int) ([]*registry.Tool, error) {
	counts, err := t.uses.all(ctx)
	if err != nil {
		return nil, err
	}
	tools := mostUsed(t.offered(), counts)
	return tools[:min(n, len(tools))], nil
}

// listTools sends a text with a button for each tool, and more buttons, whose data is their action, below.
func (t *turn) listTools(ctx context.Context, text Text, tools []*registry.Tool, more ...Button) error {
	k := t.keyboard(keyboardState{Asked: t.in.Message})
	var buttons []Button
	for i, tool := range tools {
		k.state.Tools = append(k.state.Tools, tool.ToolID)
		buttons = append(buttons, Button{Label: tool.DisplayName, Data: k.data(fmt.Sprint("tool", i))})
	}
	rows := rowsOf(buttons, 2)
	for _, b := range more {
		b.Data = k.data(b.Data)
		rows = append(rows, []Button{b})
	}
	if len(rows) > 0 {
		if err := t.keyboards.save(ctx, k); err != nil {
			return err
		}
	}
	_, err := t.reply(ctx, text, rows...)
	return err
}

// pressTool starts the tool of a button; it asks for what it needs.
func (t *turn) pressTool(ctx context.Context, k keyboard, n int) error {
	if n >= len(k.state.Tools) {
		return t.alert(ctx, "press.tooOld")
	}
	tool, ok := t.cfg.Tools.Snapshot().Resolve(k.state.Tools[n])
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
	if c, ok := t.houseCommand(strings.TrimPrefix(words, "/")); ok {
		_, err := t.reply(ctx, Text{{Style: StyleBold, Text: "/" + c.name}, {Text: "\n" + t.line("command."+c.name)}})
		return err
	}
	if found := t.search(words, toolsPerPage); len(found) > 0 {
		return t.listTools(ctx, t.say("help.search", "words", brief(words, 60)), found)
	}
	return t.nothingFound(ctx, words)
}

// nothingFound says that no tool goes by these words. In groups it does not repeat them.
func (t *turn) nothingFound(ctx context.Context, words string) error {
	if t.aside = true; t.in.Chat.Kind != ChatPrivate {
		return t.tell(ctx, "help.nothingHere")
	}
	return t.tell(ctx, "help.nothing", "words", brief(words, 60))
}

// overview lists the bot's own commands and the tools by category.
func (t *turn) overview(ctx context.Context) error {
	text := t.say("help.intro")
	var own Text
	for _, c := range t.cfg.Operator.houseCommands() {
		own = lines(own, Plain("/"+c.name+" – "+t.line("command."+c.name)))
	}
	text = join("\n\n", text, own)
	limit := t.caps.TextLimit - 200
	left := 0
	for _, group := range byCategory(t.offered()) {
		block := Text{{Style: StyleBold, Text: t.categoryName(group.name)}}
		for _, tool := range group.tools {
			block = lines(block, Plain(commandOf(tool)+" – "+tool.DisplayName))
		}
		if text.length()+block.length()+2 > limit {
			left += len(group.tools)
			continue
		}
		text = join("\n\n", text, block)
	}
	if left > 0 {
		text = join("\n\n", text, t.say("help.more", "n", left))
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
		return t.line("help.other")
	}
	return CategoryName(t.Voice, name)
}

// CategoryName is a category in words: the usual ones are in the catalogue, all others speak for themselves.
func CategoryName(v i18n.Voice, category string) string {
	if key := "web.category." + category; v.Has(key) {
		return v.Line(key)
	}
	return capital(category)
}

// explain sends a tool's help, with a button that starts the tool.
func (t *turn) explain(ctx context.Context, tool *registry.Tool) error {
	k := t.keyboard(keyboardState{Tool: tool.ToolID, Tools: []string{tool.ToolID}})
	var buttons [][]Button
	var price Text
	if tool.Refusal(t.audience()) == nil {
		quote, err := t.quote(ctx, draft{Tool: tool.ToolID})
		if err != nil {
			t.log.WarnContext(ctx, "help without a price", "tool", tool.ToolID, "error", err)
		}
		price = t.price(quote)
		if err := t.keyboards.save(ctx, k); err != nil {
			return err
		}
		buttons = [][]Button{{
			{Label: t.line("button.start"), Data: k.data("tool0"), Style: ButtonPrimary},
			{Label: t.line("button.settings"), Data: k.data("settings")},
		}}
	}
	_, err := t.reply(ctx, t.toolHelp(tool, price), buttons...)
	return err
}

// toolHelp explains a tool: what it does, cut to what the platform shows, what it takes, and its price.
func (t *turn) toolHelp(tool *registry.Tool, price Text) Text {
	head := Text{{Style: StyleBold, Text: tool.DisplayName}}
	if tool.CommandName != "" {
		head = append(head, Segment{Text: "  " + tool.CommandName})
	}
	var state Text
	switch {
	case tool.State() == registry.StateUnavailable:
		state = t.unavailable(tool)
	default:
		state = t.notes(t.deprecation(tool))
	}
	var inputs Text
	for _, f := range tool.InputSchema.Ordered() {
		if !f.Advanced {
			inputs = lines(inputs, t.inputHelp(f))
		}
	}
	tail := join("\n\n", inputs, Text{{Style: StyleCode, Text: usage(tool)}}, price, state)
	tail = tail.cut(t.caps.TextLimit / 2)
	description := Plain(strings.TrimSpace(tool.Description)).cut(max(0, t.caps.TextLimit-head.length()-tail.length()-4))
	return join("\n\n", head, description, tail)
}

func (t *turn) inputHelp(f registry.InputField) Text {
	line := Text{{Text: "• "}, {Style: StyleBold, Text: f.Label()}}
	if f.Required {
		line = append(line, Segment{Text: " " + t.line("help.required")})
	}
	if f.Description != "" {
		line = append(line, Segment{Text: ": " + brief(f.Description, 120)})
	}
	return line
}

// toolsCommand pages through all tools.
func (t *turn) toolsCommand(ctx context.Context) error {
	if words := strings.TrimSpace(t.in.Text); words != "" {
		return t.runCommand(ctx)
	}
	m, err := t.toolsPage(ctx, t.keyboard(keyboardState{}), 0)
	if err != nil {
		return err
	}
	return t.respond(ctx, m)
}

// toolsPage draws one page of the list of tools.
func (t *turn) toolsPage(ctx context.Context, k keyboard, page int) (Message, error) {
	var tools []*registry.Tool
	for _, group := range byCategory(t.offered()) {
		tools = append(tools, group.tools...)
	}
	m := Message{To: t.in.Chat.Place}
	if len(tools) == 0 {
		m.Text = t.say("tools.none")
		return m, nil
	}
	pages := (len(tools) + toolsPerPage - 1) / toolsPerPage
	page = min(max(page, 0), pages-1)
	shown := tools[page*toolsPerPage : min(len(tools), (page+1)*toolsPerPage)]
	k.state.Tools = nil
	m.Text = t.say("tools.title", "n", len(tools))
	var buttons []Button
	last := ""
	for i, tool := range shown {
		if tool.Category != "" && tool.Category != last {
			m.Text = append(m.Text, Segment{Text: "\n\n"}, Segment{Style: StyleBold, Text: t.categoryName(tool.Category)})
			last = tool.Category
		}
		m.Text = lines(m.Text, Plain(commandOf(tool)+" – "+brief(firstNonEmpty(tool.Description, tool.DisplayName), 80)))
		k.state.Tools = append(k.state.Tools, tool.ToolID)
		buttons = append(buttons, Button{Label: tool.DisplayName, Data: k.data(fmt.Sprint("tool", i))})
	}
	m.Buttons = append(rowsOf(buttons, 2), t.pager(k, "list", page, pages)...)
	return m, t.keyboards.save(ctx, k)
}

// pager makes the row that leads to the other pages.
func (t *turn) pager(k keyboard, action string, page, pages int) [][]Button {
	if pages < 2 {
		return nil
	}
	var row []Button
	if page > 0 {
		row = append(row, Button{Label: t.line("button.previous"), Data: k.data(fmt.Sprint(action, page-1))})
	}
	if page < pages-1 {
		row = append(row, Button{Label: t.line("button.next"), Data: k.data(fmt.Sprint(action, page+1))})
	}
	return [][]Button{row}
}

func (t *turn) pressList(ctx context.Context, k keyboard, page int) error {
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

func firstNonEmpty(list ...string) string {
	for _, s := range list {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// search finds tools by words.
func (t *turn) search(words string, n int) []*registry.Tool {
	var found []*registry.Tool
	for _, m := range t.cfg.Tools.Snapshot().Search(words, catalog.SearchOptions{Audience: t.audience(), Limit: n}) {
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
	text := t.say("help.search", "words", brief(words, 60))
	for _, tool := range found {
		text = lines(text, Plain(commandOf(tool)+" – "+brief(firstNonEmpty(tool.Description, tool.DisplayName), 80)))
	}
	return t.listTools(ctx, text, found)
}

// operatorSays tells what the operator says about something. Where they said nothing it tells what holds anyway, and
// whom to ask.
func (t *turn) operatorSays(ctx context.Context, text, without string) error {
	if text != "" {
		_, err := t.reply(ctx, Plain(text))
		return err
	}
	ask := t.say("operator.askThem")
	if whom := t.cfg.Operator.Support; whom != "" {
		ask = t.say("operator.ask", "whom", whom)
	}
	_, err := t.reply(ctx, lines(t.say(without), ask))
	return err
}

// balanceCommand tells what there is to spend.
func (t *turn) balanceCommand(ctx context.Context) error {
	b, err := t.cfg.Wallets.Balance(ctx, t.account.ID)
	if err != nil {
		return fmt.Errorf("read the balance: %w", err)
	}
	text := t.say("balance.available", "amount", b.Available)
	if b.Held > 0 {
		text = lines(text, t.say("balance.held", "amount", b.Held))
	}
	usage, err := t.cfg.Runs.Usage(ctx, t.account.ID)
	if err != nil {
		return fmt.Errorf("read the use of limits: %w", err)
	}
	for _, use := range []runs.LimitUse{
		{Kind: runs.LimitPerDay, Limit: int64(usage.Limits.PerDay), Used: int64(usage.Today)},
		{Kind: runs.LimitDayCap, Limit: usage.Limits.DayCap, Used: int64(usage.SpentDay)},
		{Kind: runs.LimitMonthCap, Limit: usage.Limits.MonthCap, Used: int64(usage.SpentMonth)},
	} {
		if use.Limit > 0 {
			text = lines(text, t.limitLine(use))
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
		return t.notStarted(ctx, MessageRef{}, d, err)
	}
	text := lines(Text{{Style: StyleBold, Text: tool.DisplayName}}, t.price(quote))
	if quote.Rate != "" && quote.High > 0 {
		text = lines(text, t.say("price.rate", "rate", quote.Rate, "unit", t.line("unit."+quote.Unit)))
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
func (t *turn) quote(ctx context.Context, d draft) (billing.Quote, error) {
	values, err := t.withChatValues(ctx, d)
	if err != nil {
		return billing.Quote{}, err
	}
	bound, err := t.cfg.Runs.Bind(ctx, runs.Request{AccountID: t.account.ID, ToolID: d.Tool, Values: values, Audience: t.audience()})
	if err != nil {
		return billing.Quote{}, err
	}
	quote, err := t.cfg.Runs.Quote(ctx, bound)
	if err != nil {
		return quote, fmt.Errorf("quote %s: %w", d.Tool, err)
	}
	return quote, nil
}
