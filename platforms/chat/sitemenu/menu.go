package sitemenu

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

// listPage is how many things a list shows at once where there are buttons.
const listPage = 8

// SiteCommand shows what there is in the site.
func SiteCommand(ctx context.Context, t *turn.Turn) error {
	m, err := menu(ctx, t, t.Keyboard(store.KeyboardState{}))
	if err != nil {
		return t.Refused(ctx, err)
	}
	return t.Respond(ctx, m)
}

// screen draws what a message shows, and saves what its buttons are about.
type screen func(context.Context, *turn.Turn, store.Keyboard) (chat.Message, error)

// turnTo shows something else in place of the message whose button was pressed.
func turnTo(ctx context.Context, t *turn.Turn, k store.Keyboard, draw screen) error {
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	return draws(ctx, t, k, draw)
}

// draws is turnTo after the press was answered.
func draws(ctx context.Context, t *turn.Turn, k store.Keyboard, draw screen) error {
	m, err := draw(ctx, t, k)
	if err != nil {
		return t.Refused(ctx, err)
	}
	_, err = t.Change(ctx, t.In.Message, m)
	return err
}

// menu is where all begins: the kinds of things, and the tools.
func menu(ctx context.Context, t *turn.Turn, k store.Keyboard) (chat.Message, error) {
	m := chat.Message{To: t.In.Chat.Place}
	here, err := t.Site(ctx)
	if err != nil {
		return m, err
	}
	k.State.Site = store.SiteView{Site: here.Slug}
	m.Text = t.Say.Text("sitework.noRole")
	if here.Role != turn.NoRole {
		m.Text = chat.Lines(titleOf(t, here), t.Say.Text("sitework.role."+here.Role))
		var row []chat.Button
		for i, kind := range kinds() {
			row = append(row, chat.Button{Label: t.Say.Line("sitework." + kind.noun + "s"), Data: k.Data("site" + strconv.Itoa(i+1))})
		}
		m.Buttons = [][]chat.Button{row, {{Label: t.Say.Line("sitework.tools"), Data: k.Data("stools0")}}}
	}
	addGroup(ctx, t, k, here, &m)
	if len(m.Buttons) == 0 {
		return m, nil
	}
	return m, t.Services.Store.Keyboards.Save(ctx, k)
}

// PressMenu shows the list of a kind, or with 0 the menu.
func PressMenu(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if n < 1 || n > len(kinds()) {
		return turnTo(ctx, t, k, menu)
	}
	k.State.Site = store.SiteView{Site: k.State.Site.Site, Kind: kinds()[n-1].noun}
	return turnTo(ctx, t, k, list)
}

// PressList turns to a page of the list.
func PressList(ctx context.Context, t *turn.Turn, k store.Keyboard, page int) error {
	k.State.Site.Page = page
	return turnTo(ctx, t, k, list)
}

// list shows a page of the things of a kind.
func list(ctx context.Context, t *turn.Turn, k store.Keyboard) (chat.Message, error) {
	m, view := chat.Message{To: t.In.Chat.Place}, &k.State.Site
	kind := kindOf(view.Kind)
	all, err := kind.list(ctx, t)
	if err != nil {
		return m, err
	}
	first, last, page, pages := t.Out.PageOf(view.Page, listPage, len(all))
	view.Page, view.Items, view.Item = page, nil, ""
	var options []chat.MenuOption
	for _, one := range all[first:last] {
		view.Items = append(view.Items, kind.key(one))
		options = append(options, chat.MenuOption{Label: chat.Brief(one.title(), 60), Description: state(t, one)})
	}
	m.Text = chat.Lines(t.Say.Text("sitework.list."+kind.noun), t.Say.Text("sitework.count", "n", len(all)))
	t.Offer(&m, k, "sopen", "sitework.choose", options)
	m.Buttons = append(m.Buttons, t.Say.Pager(k, "slist", page, pages)...)
	m.Buttons = append(m.Buttons, []chat.Button{{Label: t.Say.Line("button.back"), Data: k.Data("site0")}})
	return m, t.Services.Store.Keyboards.Save(ctx, k)
}

// state says in a word whether visitors see a thing; pictures have none.
func state(t *turn.Turn, one thing) string {
	switch one.Status {
	case published, draft, "archived":
		return t.Say.Line("sitework.state." + one.Status)
	}
	return ""
}

// PressOpen shows one thing of the list.
func PressOpen(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if n < 0 || n >= len(k.State.Site.Items) {
		return t.Alert(ctx, "press.tooOld")
	}
	k.State.Site.Item = k.State.Site.Items[n]
	return turnTo(ctx, t, k, item)
}

// PressItem shows the thing again that the message was about.
func PressItem(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return turnTo(ctx, t, k, item)
}

// item shows one thing with what can be done with it.
func item(ctx context.Context, t *turn.Turn, k store.Keyboard) (chat.Message, error) {
	m, view := chat.Message{To: t.In.Chat.Place}, k.State.Site
	kind := kindOf(view.Kind)
	one, ok, err := kind.find(ctx, t, view.Item)
	if err != nil {
		return m, err
	}
	back := []chat.Button{{Label: t.Say.Line("button.back"), Data: k.Data("slist" + strconv.Itoa(view.Page))}}
	if !ok {
		m.Text, m.Buttons = t.Say.Text("sitework.gone"), [][]chat.Button{back}
		return m, t.Services.Store.Keyboards.Save(ctx, k)
	}
	m.Text = about(t, one)
	var row []chat.Button
	switch {
	case kind.noun == "image":
	case one.Status == published:
		row = append(row, chat.Button{Label: t.Say.Line("sitework.unpublish"), Data: k.Data("spub")})
	default:
		row = append(row, chat.Button{Label: t.Say.Line("sitework.publish"), Data: k.Data("spub"), Style: chat.ButtonPrimary})
	}
	row = append(row, chat.Button{Label: t.Say.Line("sitework.edit"), Data: k.Data("sedit")}, chat.Button{Label: t.Say.Line("button.delete"), Data: k.Data("sdel"), Style: chat.ButtonDanger})
	m.Buttons = [][]chat.Button{row, back}
	return m, t.Services.Store.Keyboards.Save(ctx, k)
}

// about says what a thing is, and where it is looked at.
func about(t *turn.Turn, one thing) chat.Text {
	text := chat.Text{{Style: chat.StyleBold, Text: chat.Brief(one.title(), 200)}}
	if seen := state(t, one); seen != "" {
		text = append(text, chat.Segment{Text: " · " + seen})
	}
	if one.value(body) != "" {
		text = chat.Lines(text, chat.Plain(chat.Brief(one.value(body), 300)))
	}
	link, label := one.PreviewURL, "sitework.preview"
	if one.Status == published && one.URL != "" {
		link, label = beside(one.PreviewURL, one.URL), "sitework.look"
	}
	if strings.HasPrefix(link, "http") {
		text = chat.Lines(text, chat.Text{{Style: chat.StyleLink, Text: t.Say.Line(label), URL: link}})
	}
	return text
}

// beside is the address of a thing that visitors see: the tools give a path of the site, and its previews with the host.
func beside(preview, path string) string {
	host, err := url.Parse(preview)
	if err != nil {
		return path
	}
	at, err := host.Parse(path)
	if err != nil {
		return path
	}
	return at.String()
}

// PressTools shows a page of the site's tools that change something, each as a form of its own.
func PressTools(ctx context.Context, t *turn.Turn, k store.Keyboard, page int) error {
	k.State.Site = store.SiteView{Site: k.State.Site.Site, Page: page}
	return turnTo(ctx, t, k, tools)
}

func tools(ctx context.Context, t *turn.Turn, k store.Keyboard) (chat.Message, error) {
	var all []*registry.Tool
	for tool := range t.Tools.Each() {
		if tool.Kind == "content" && tool.Execution.Capability == registry.CapabilityWrite {
			all = append(all, tool)
		}
	}
	slices.SortFunc(all, func(a, b *registry.Tool) int { return strings.Compare(a.DisplayName, b.DisplayName) })
	first, last, page, pages := t.Out.PageOf(k.State.Site.Page, listPage, len(all))
	k.State.Tools = nil
	var options []chat.MenuOption
	for _, tool := range all[first:last] {
		k.State.Tools = append(k.State.Tools, tool.ToolID)
		options = append(options, chat.MenuOption{Label: tool.DisplayName, Description: chat.FirstSentence(tool.Description)})
	}
	m := chat.Message{To: t.In.Chat.Place, Text: t.Say.Text("sitework.toolsTitle")}
	t.Offer(&m, k, "stool", "sitework.choose", options)
	m.Buttons = append(m.Buttons, t.Say.Pager(k, "stools", page, pages)...)
	m.Buttons = append(m.Buttons, []chat.Button{{Label: t.Say.Line("button.back"), Data: k.Data("site0")}})
	return m, t.Services.Store.Keyboards.Save(ctx, k)
}

// PressTool begins a tool of the list: it asks for what the tool needs.
func PressTool(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	tool, err := start.Chosen(ctx, t, k, n)
	if tool == nil || err != nil {
		return err
	}
	if refused, err := start.Refuse(ctx, t, tool); refused || err != nil {
		return err
	}
	t.Working(ctx, show.ActivityOf(*tool))
	_, err = start.Proceed(ctx, t, start.PressDraft(t, tool))
	return err
}
