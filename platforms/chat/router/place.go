package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// What admins set for a chat as such is kept like the settings of a tool that no loader has.
const (
	chatSettings = "-chat"
	adultSetting = "adult"
)

// placeCommand lets those who run a chat set what holds for all in it: which tools there are, whether what is for
// adults is shown, who is kept out; with a tool named, that tool's settings.
func placeCommand(ctx context.Context, t *turn) error {
	words := strings.TrimSpace(t.in.Text)
	if words == "" {
		m, err := placeMessage(ctx, t, t.keyboard(store.KeyboardState{View: store.SettingsView{Place: t.place()}}))
		if err != nil {
			return err
		}
		return t.respond(ctx, m)
	}
	tool, ok := t.findTool(words)
	if !ok {
		return t.nothingFound(ctx, words)
	}
	k := t.keyboard(store.KeyboardState{View: store.SettingsView{Tool: tool.ToolID, Place: t.place()}})
	m, err := settingsMessage(ctx, t, &k, tool)
	if err != nil {
		return err
	}
	return t.respond(ctx, m)
}

// runsPlace reports whether the sender runs this group; others were told.
func (t *turn) runsPlace(ctx context.Context) (bool, error) {
	if t.in.Chat.Kind == chat.ChatPrivate {
		return false, t.tell(ctx, "place.groupsOnly")
	}
	if !t.byAdmin(ctx) && !t.account.Operator {
		return false, t.tell(ctx, "place.adminsOnly")
	}
	return true, nil
}

// placeMessage draws a chat's settings.
func placeMessage(ctx context.Context, t *turn, k store.Keyboard) (chat.Message, error) {
	m := chat.Message{To: t.in.Chat.Place}
	adult, err := t.adultIn(ctx, k.State.View.Place)
	if err != nil {
		return m, err
	}
	allowed, err := t.svc.Accounts.AllowedTools(ctx, k.State.View.Place)
	if err != nil {
		return m, fmt.Errorf("read the tools of a chat: %w", err)
	}
	rules, err := t.svc.Accounts.Rules(ctx, k.State.View.Place)
	if err != nil {
		return m, fmt.Errorf("read the rules of a chat: %w", err)
	}
	tools := t.tools.Offered(registry.Everyone)
	first, last, page, pages := t.out.PageOf(k.State.View.Fields, valuesPerPage, len(tools))
	k.State.View.Fields, k.State.Tools = page, nil
	var options []chat.MenuOption
	for _, tool := range tools[first:last] {
		k.State.Tools = append(k.State.Tools, tool.ToolID)
		options = append(options, chat.MenuOption{Label: tool.DisplayName, Chosen: allowed == nil || slices.Contains(allowed, tool.ToolID)})
	}
	m.Text = chat.Lines(t.say.Text("place.title"), t.say.Text("place.tools"), t.say.Text("place.how"))
	for _, rule := range rules {
		key := "place.denied"
		if rule.Allow {
			key = "place.allowed"
		}
		m.Text = chat.Lines(m.Text, t.say.Text(key, "name", chat.FirstNonEmpty(rule.Name, rule.Note, rule.Subject)))
	}
	t.offer(&m, k, "ptool", "menu.tool", options)
	if len(m.Menus) > 0 {
		m.Menus[0].Max = len(options)
	}
	label := "button.adultOff"
	if adult {
		label = "button.adultOn"
	}
	m.Buttons = append(m.Buttons, t.say.Pager(k, "ppage", page, pages)...)
	if t.in.Chat.Space != "" {
		m.Buttons = append(m.Buttons, reachButtons(t, k))
	}
	m.Buttons = append(m.Buttons, []chat.Button{{Label: t.say.Line(label), Data: k.Data("padult")}, {Label: t.say.Line("button.close"), Data: k.Data("close")}})
	return m, t.svc.Store.Keyboards.Save(ctx, k)
}

// reachButtons let admins choose whether they set things for this chat or for the whole space it belongs to.
func reachButtons(t *turn, k store.Keyboard) []chat.Button {
	here := chat.Button{Label: t.say.Line("button.thisChat"), Data: k.Data("preach0")}
	all := chat.Button{Label: t.say.Line("button.wholeSpace"), Data: k.Data("preach1")}
	if k.State.View.Place.Kind == users.PlaceSpace {
		all.Label = "✓ " + all.Label
	} else {
		here.Label = "✓ " + here.Label
	}
	return []chat.Button{here, all}
}

// pressReach turns to the settings of this chat (0) or of its space (1).
func pressReach(ctx context.Context, t *turn, k store.Keyboard, n int) error {
	k.State.View.Place = t.place()
	if n == 1 && t.in.Chat.Space != "" {
		k.State.View.Place = users.Place{Platform: t.in.platform, Kind: users.PlaceSpace, ID: t.in.Chat.Space}
	}
	return onPlace(ctx, t, k, func(users.Place) error { return nil })
}

// onPlace does something with a chat's settings and draws them anew, for those who run the chat.
func onPlace(ctx context.Context, t *turn, k store.Keyboard, do func(users.Place) error) error {
	if !t.byAdmin(ctx) && !t.account.Operator {
		return t.alert(ctx, "place.adminsOnly")
	}
	if err := t.acknowledge(ctx); err != nil {
		return err
	}
	if err := do(k.State.View.Place); err != nil {
		return err
	}
	m, err := placeMessage(ctx, t, k)
	if err != nil {
		return err
	}
	_, err = t.change(ctx, t.in.Message, m)
	return err
}

func pressPlacePage(ctx context.Context, t *turn, k store.Keyboard, page int) error {
	k.State.View.Fields = page
	return onPlace(ctx, t, k, func(users.Place) error { return nil })
}

// pressPlaceTool allows or takes away a tool, or sets a menu's page of tools to those chosen.
func pressPlaceTool(ctx context.Context, t *turn, k store.Keyboard, n int) error {
	return onPlace(ctx, t, k, func(place users.Place) error {
		allowed, err := t.svc.Accounts.AllowedTools(ctx, place)
		if err != nil {
			return fmt.Errorf("read the tools of a chat: %w", err)
		}
		all := t.tools.Offered(registry.Everyone)
		if allowed == nil {
			for _, tool := range all {
				allowed = append(allowed, tool.ToolID)
			}
		}
		if t.out.Caps.Menus.PerMessage > 0 {
			allowed = slices.DeleteFunc(slices.Clone(allowed), func(id string) bool { return slices.Contains(k.State.Tools, id) })
			for _, value := range t.in.Press.Values {
				if i := chosenNumber(value, nil); i < len(k.State.Tools) {
					allowed = append(allowed, k.State.Tools[i])
				}
			}
		} else if n < len(k.State.Tools) {
			allowed = withOrWithoutID(allowed, k.State.Tools[n])
		}
		if !slices.ContainsFunc(all, func(tool *registry.Tool) bool { return !slices.Contains(allowed, tool.ToolID) }) {
			allowed = nil // all again, those to come too
		}
		if err := t.svc.Accounts.SetAllowedTools(ctx, place, allowed, t.account.ID); err != nil {
			return fmt.Errorf("store the tools of a chat: %w", err)
		}
		return nil
	})
}

func withOrWithoutID(ids []string, id string) []string {
	if i := slices.Index(ids, id); i >= 0 {
		return slices.Delete(slices.Clone(ids), i, i+1)
	}
	return append(slices.Clone(ids), id)
}

// pressAdult turns over whether a chat shows what is for adults.
func pressAdult(ctx context.Context, t *turn, k store.Keyboard) error {
	return onPlace(ctx, t, k, func(place users.Place) error {
		adult, err := t.adultIn(ctx, place)
		if err != nil {
			return err
		}
		if err := t.svc.Accounts.SetPlacePreference(ctx, place, chatSettings, adultSetting, !adult, t.account.ID); err != nil {
			return fmt.Errorf("store a chat's setting: %w", err)
		}
		return nil
	})
}

// adultAllowed reports whether those who run the chat, or its space, allowed what is for adults.
func (t *turn) adultAllowed(ctx context.Context) (bool, error) {
	allowed, err := t.adultIn(ctx, t.place())
	if err != nil || allowed || t.in.Chat.Space == "" {
		return allowed, err
	}
	return t.adultIn(ctx, users.Place{Platform: t.in.platform, Kind: users.PlaceSpace, ID: t.in.Chat.Space})
}

func (t *turn) adultIn(ctx context.Context, place users.Place) (bool, error) {
	values, err := t.svc.Accounts.PlacePreferences(ctx, place, registry.Tool{ToolID: chatSettings})
	if err != nil {
		return false, fmt.Errorf("read a chat's settings: %w", err)
	}
	return values[adultSetting] == true, nil
}

// denyCommand keeps somebody, or all of a role, from using the bot in this chat; allowCommand lets them again.
func denyCommand(ctx context.Context, t *turn) error { return ruleCommand(ctx, t, false) }

func allowCommand(ctx context.Context, t *turn) error { return ruleCommand(ctx, t, true) }

func ruleCommand(ctx context.Context, t *turn, allow bool) error {
	rule, ok := ruleAbout(t)
	if !ok {
		return t.tell(ctx, "place.who")
	}
	rules, err := t.svc.Accounts.Rules(ctx, rule.Where)
	if err != nil {
		return fmt.Errorf("read the rules of a chat: %w", err)
	}
	rule.Allow = allow
	if allow && !needsAllowing(rules, rule) {
		err = forgetRule(ctx, t, rules, rule)
	} else {
		err = t.svc.Accounts.SetRule(ctx, rule)
	}
	if err != nil {
		return t.refusedByHouse(ctx, err)
	}
	name, err := nameIn(ctx, t, rule)
	if err != nil {
		return err
	}
	if allow {
		return t.tell(ctx, "place.allowed", "name", name)
	}
	return t.tell(ctx, "place.denied", "name", name)
}

// ruleAbout is a rule about whoever is meant: by id, by a mention that holds one, or by a reply to what they wrote. A
// mention by a name alone is nobody for certain.
func ruleAbout(t *turn) (users.Rule, bool) {
	rule := users.Rule{Kind: users.RuleIdentity, Platform: t.in.platform, Where: t.place(), By: t.account.ID}
	who := strings.TrimSpace(t.in.Text)
	if q := t.in.ReplyTo; who == "" && q != nil {
		rule.Subject, rule.Note = q.From.ExternalID, q.From.Name
		return rule, rule.Subject != ""
	}
	rule.Subject = strings.Trim(who, "<@!>")
	if role, ok := strings.CutPrefix(rule.Subject, "&"); ok {
		rule.Kind, rule.Subject = users.RuleRole, role
	}
	return rule, rule.Subject != "" && !strings.HasPrefix(who, "@") && !strings.ContainsAny(who, " \n\t")
}

// needsAllowing reports whether letting somebody in takes a rule of their own: a person whose role may be kept out.
// Otherwise it is enough that no rule is against them.
func needsAllowing(rules []users.Rule, about users.Rule) bool {
	return about.Kind == users.RuleIdentity && slices.ContainsFunc(rules, func(r users.Rule) bool {
		return r.Kind == users.RuleRole && !r.Allow
	})
}

// forgetRule takes back what a place's rules say about the same subject.
func forgetRule(ctx context.Context, t *turn, rules []users.Rule, about users.Rule) error {
	for _, r := range rules {
		if r.Kind != about.Kind || r.Platform != about.Platform || r.Subject != about.Subject {
			continue
		}
		if err := t.svc.Accounts.DeleteRule(ctx, r.ID, about.By); err != nil && !errors.Is(err, users.ErrNotFound) {
			return err
		}
	}
	return nil
}

// nameIn is what the platform calls the person that a rule is about, else what stands for them.
func nameIn(ctx context.Context, t *turn, rule users.Rule) (string, error) {
	if rule.Kind != users.RuleIdentity {
		return rule.Subject, nil
	}
	known, err := t.svc.Accounts.NameOf(ctx, rule.Platform, rule.Subject)
	if err != nil {
		return "", fmt.Errorf("look up a name: %w", err)
	}
	return chat.FirstNonEmpty(known, rule.Note, rule.Subject), nil
}
