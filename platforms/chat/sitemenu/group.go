package sitemenu

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/users"
)

// membersAre are what those can be in a group's site who don't run the group; a press turns to the next.
var membersAre = []string{"author", "editor", turn.NoRole}

// What the buttons of those who run a group do, by their numbers.
const (
	switchOn = iota
	switchOff
	nextRole
)

// titleOf says which site it is: that of a group has a name and an address.
func titleOf(t *turn.Turn, here turn.SiteHere) chat.Text {
	if here.Slug == "" {
		return t.Say.Text("sitework.menu")
	}
	title := chat.Text{{Style: chat.StyleBold, Text: chat.FirstNonEmpty(here.Title, here.Slug)}}
	if strings.HasPrefix(here.URL, "http") {
		title = chat.Lines(title, chat.Text{{Style: chat.StyleLink, Text: t.Say.Line("sitework.look"), URL: here.URL}})
	}
	return title
}

// addGroup adds what those who run a group may do with its site.
func addGroup(ctx context.Context, t *turn.Turn, k store.Keyboard, here turn.SiteHere, m *chat.Message) {
	visit := t.SiteVisit()
	if visit.Group == (users.Place{}) || !visit.Runs(ctx) {
		return
	}
	button := func(key string, n int) chat.Button {
		return chat.Button{Label: t.Say.Line(key), Data: k.Data("sopt" + strconv.Itoa(n))}
	}
	if here.Slug == "" {
		m.Text = chat.Lines(m.Text, t.Say.Text("sitework.noGroupSite"))
		m.Buttons = append(m.Buttons, []chat.Button{button("sitework.switchOn", switchOn)})
		return
	}
	m.Text = chat.Lines(m.Text, t.Say.Text("sitework.groupAdmins"))
	m.Buttons = append(m.Buttons, []chat.Button{button("sitework.members."+here.MembersAre, nextRole)}, []chat.Button{button("sitework.switchOff", switchOff)})
}

// PressGroup switches the site of a group on or off, or says what its members are there.
func PressGroup(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	here, err := t.Site(ctx)
	if err != nil {
		return err
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	site, visit := t.Services.Site, t.SiteVisit()
	switch n {
	case switchOn:
		err = site.SwitchOn(ctx, visit, turn.SiteName{Slug: slugOf(t.In.Chat.Title), Title: t.In.Chat.Title, Language: t.Say.Language()})
	case switchOff:
		err = site.SwitchOff(ctx, visit)
	default:
		next := (slices.Index(membersAre, here.MembersAre) + 1) % len(membersAre)
		err = site.MembersAre(ctx, visit, membersAre[next])
	}
	if err != nil {
		return t.Refused(ctx, err)
	}
	t.LookAgain()
	return draws(ctx, t, k, func(ctx context.Context, t *turn.Turn, k store.Keyboard) (chat.Message, error) {
		m, err := menu(ctx, t, k)
		if n == switchOff {
			m.Text = chat.Join("\n\n", t.Say.Text("sitework.switchedOff"), m.Text)
		}
		return m, err
	})
}
