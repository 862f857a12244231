package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// ChatCommand lets those who run a chat set what holds for all in it: which tools there are, whether what is for
// adults is shown, who is kept out; with a tool named, that tool's settings.
func ChatCommand(ctx context.Context, t *turn.Turn) error {
	words := strings.TrimSpace(t.In.Text)
	if words == "" {
		m, err := chatSettingsMessage(ctx, t, t.Keyboard(store.KeyboardState{View: store.SettingsView{Place: t.ChatPlace()}}))
		if err != nil {
			return err
		}
		return t.Respond(ctx, m)
	}
	tool, ok := t.FindTool(words)
	if !ok {
		return t.NothingFound(ctx, words)
	}
	k := t.Keyboard(store.KeyboardState{View: store.SettingsView{Tool: tool.ToolID, Place: t.ChatPlace()}})
	m, err := settingsMessage(ctx, t, &k, tool)
	if err != nil {
		return err
	}
	return t.Respond(ctx, m)
}

// chatSettingsMessage draws a chat's settings.
func chatSettingsMessage(ctx context.Context, t *turn.Turn, k store.Keyboard) (chat.Message, error) {
	m := chat.Message{To: t.In.Chat.Place}
	adult, err := t.AdultIn(ctx, k.State.View.Place)
	if err != nil {
		return m, err
	}
	allowed, err := t.Services.Accounts.AllowedTools(ctx, k.State.View.Place)
	if err != nil {
		return m, fmt.Errorf("read the tools of a chat: %w", err)
	}
	rules, err := t.Services.Accounts.Rules(ctx, k.State.View.Place)
	if err != nil {
		return m, fmt.Errorf("read the rules of a chat: %w", err)
	}
	tools := t.Tools.Offered(registry.Everyone)
	slices.SortStableFunc(tools, registry.MenusFirst)
	first, last, page, pages := t.Out.PageOf(k.State.View.Fields, valuesPerPage, len(tools))
	k.State.View.Fields, k.State.Tools = page, nil
	var options []chat.MenuOption
	for _, tool := range tools[first:last] {
		k.State.Tools = append(k.State.Tools, tool.ToolID)
		options = append(options, chat.MenuOption{Label: tool.DisplayName, Chosen: allowed == nil || slices.Contains(allowed, tool.ToolID)})
	}
	m.Text = chat.Lines(t.Say.Text("place.title"), t.Say.Text("place.tools"), t.Say.Text("place.how"))
	for _, rule := range rules {
		key := "place.denied"
		if rule.Allow {
			key = "place.allowed"
		}
		m.Text = chat.Lines(m.Text, t.Say.Text(key, "name", chat.FirstNonEmpty(rule.Name, rule.Note, rule.Subject)))
	}
	t.Offer(&m, k, "ptool", "menu.tool", options)
	if len(m.Menus) > 0 {
		m.Menus[0].Max = len(options)
	}
	label := "button.adultOff"
	if adult {
		label = "button.adultOn"
	}
	m.Buttons = append(m.Buttons, t.Say.Pager(k, "ppage", page, pages)...)
	if t.In.Chat.Space != "" {
		m.Buttons = append(m.Buttons, reachButtons(t, k))
	}
	m.Buttons = append(m.Buttons, []chat.Button{{Label: t.Say.Line("wallet.button.open"), Data: k.Data("wallet")}})
	foot := []chat.Button{{Label: t.Say.Line(label), Data: k.Data("padult")}, {Label: t.Say.Line("button.close"), Data: k.Data("close")}}
	if t.Services.Agent != nil {
		on, err := t.AgentIn(ctx, k.State.View.Place)
		if err != nil {
			return m, err
		}
		label := "button.agentOff"
		if on {
			label = "button.agentOn"
		}
		foot = append([]chat.Button{{Label: t.Say.Line(label), Data: k.Data("pagent")}}, foot...)
	}
	m.Buttons = append(m.Buttons, foot)
	return m, t.Services.Store.Keyboards.Save(ctx, k)
}

// reachButtons let admins choose whether they set things for this chat or for the whole space it belongs to.
func reachButtons(t *turn.Turn, k store.Keyboard) []chat.Button {
	here := chat.Button{Label: t.Say.Line("button.thisChat"), Data: k.Data("preach0")}
	all := chat.Button{Label: t.Say.Line("button.wholeSpace"), Data: k.Data("preach1")}
	if k.State.View.Place.Kind == users.PlaceSpace {
		all.Label = "✓ " + all.Label
	} else {
		here.Label = "✓ " + here.Label
	}
	return []chat.Button{here, all}
}

// PressReach turns to the settings of this chat (0) or of its space (1).
func PressReach(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	k.State.View.Place = t.ChatPlace()
	if n == 1 && t.In.Chat.Space != "" {
		k.State.View.Place = users.Place{Platform: t.In.Platform, Kind: users.PlaceSpace, ID: t.In.Chat.Space}
	}
	return onChatSettings(ctx, t, k, func(users.Place) error { return nil })
}

// onChatSettings does something with a chat's settings and draws them anew, for those who run the chat.
func onChatSettings(ctx context.Context, t *turn.Turn, k store.Keyboard, do func(users.Place) error) error {
	if !t.RunsHere(ctx) {
		return t.Alert(ctx, "place.adminsOnly")
	}
	if err := t.Acknowledge(ctx); err != nil {
		return err
	}
	if err := do(k.State.View.Place); err != nil {
		return err
	}
	m, err := chatSettingsMessage(ctx, t, k)
	if err != nil {
		return err
	}
	_, err = t.Change(ctx, t.In.Message, m)
	return err
}

// PressChatPage turns to a page of the tools of a chat's settings.
func PressChatPage(ctx context.Context, t *turn.Turn, k store.Keyboard, page int) error {
	k.State.View.Fields = page
	return onChatSettings(ctx, t, k, func(users.Place) error { return nil })
}

// PressAllowedTool allows or takes away a tool, or sets a menu's page of tools to those chosen.
func PressAllowedTool(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	return onChatSettings(ctx, t, k, func(place users.Place) error {
		allowed, err := t.Services.Accounts.AllowedTools(ctx, place)
		if err != nil {
			return fmt.Errorf("read the tools of a chat: %w", err)
		}
		all := t.Tools.Offered(registry.Everyone)
		if allowed == nil {
			for _, tool := range all {
				allowed = append(allowed, tool.ToolID)
			}
		}
		if t.Out.Caps.Menus.PerMessage > 0 {
			allowed = slices.DeleteFunc(slices.Clone(allowed), func(id string) bool { return slices.Contains(k.State.Tools, id) })
			for _, value := range t.In.Press.Values {
				if i, err := strconv.Atoi(value); err == nil && i >= 0 && i < len(k.State.Tools) {
					allowed = append(allowed, k.State.Tools[i])
				}
			}
		} else if n < len(k.State.Tools) {
			allowed = withOrWithoutID(allowed, k.State.Tools[n])
		}
		if !slices.ContainsFunc(all, func(tool *registry.Tool) bool { return !slices.Contains(allowed, tool.ToolID) }) {
			allowed = nil // all again, those to come too
		}
		err = t.Services.Accounts.SetAllowedTools(ctx, place, allowed, t.Account.ID)
		return errs.Wrap(err, "store the tools of a chat")
	})
}

func withOrWithoutID(ids []string, id string) []string {
	if i := slices.Index(ids, id); i >= 0 {
		return slices.Delete(slices.Clone(ids), i, i+1)
	}
	return append(slices.Clone(ids), id)
}

// PressAdult turns over whether a chat shows what is for adults.
func PressAdult(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return turnOver(ctx, t, k, turn.AdultSetting, t.AdultIn)
}

// PressAgent turns over whether words said to the bot in a chat are for the agent.
func PressAgent(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return turnOver(ctx, t, k, turn.AgentSetting, t.AgentIn)
}

func turnOver(ctx context.Context, t *turn.Turn, k store.Keyboard, setting string, isOn func(context.Context, users.Place) (bool, error)) error {
	return onChatSettings(ctx, t, k, func(place users.Place) error {
		on, err := isOn(ctx, place)
		if err != nil {
			return err
		}
		err = t.Services.Accounts.SetPlacePreference(ctx, place, turn.ChatSettings, setting, !on, t.Account.ID)
		return errs.Wrap(err, "store a chat's setting")
	})
}

// PressChatDefault makes a tool the one that words without a command are offered to in a chat, or takes that back.
func PressChatDefault(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	return onSettings(ctx, t, k, func(tool *registry.Tool, view *store.SettingsView) error {
		chosen, err := t.DefaultIn(ctx, view.Place)
		if err != nil {
			return err
		}
		if chosen == tool.ToolID {
			return t.Services.Accounts.ResetPlacePreference(ctx, view.Place, turn.ChatSettings, turn.DefaultToolSetting, t.Account.ID)
		}
		return t.Services.Accounts.SetPlacePreference(ctx, view.Place, turn.ChatSettings, turn.DefaultToolSetting, tool.ToolID, t.Account.ID)
	})
}

// DenyCommand keeps somebody, or all of a role, from using the bot in this chat.
func DenyCommand(ctx context.Context, t *turn.Turn) error { return ruleCommand(ctx, t, false) }

// AllowCommand lets somebody, or all of a role, use the bot in this chat again.
func AllowCommand(ctx context.Context, t *turn.Turn) error { return ruleCommand(ctx, t, true) }

func ruleCommand(ctx context.Context, t *turn.Turn, allow bool) error {
	rule, ok := ruleAbout(t)
	if !ok {
		return t.Tell(ctx, "place.who")
	}
	rules, err := t.Services.Accounts.Rules(ctx, rule.Where)
	if err != nil {
		return fmt.Errorf("read the rules of a chat: %w", err)
	}
	rule.Allow = allow
	if allow && !needsAllowing(rules, rule) {
		err = forgetRule(ctx, t, rules, rule)
	} else {
		err = t.Services.Accounts.SetRule(ctx, rule)
	}
	if err != nil {
		return t.Refused(ctx, err)
	}
	name, err := nameIn(ctx, t, rule)
	if err != nil {
		return err
	}
	if allow {
		return t.Tell(ctx, "place.allowed", "name", name)
	}
	return t.Tell(ctx, "place.denied", "name", name)
}

// ruleAbout is a rule about the person who is meant: by id, by a mention that holds one, or by a reply to what they wrote. A
// mention by a name alone is nobody for certain.
func ruleAbout(t *turn.Turn) (users.Rule, bool) {
	rule := users.Rule{Kind: users.RuleIdentity, Platform: t.In.Platform, Where: t.ChatPlace(), By: t.Account.ID}
	who := strings.TrimSpace(t.In.Text)
	if q := t.In.ReplyTo; who == "" && q != nil {
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
func forgetRule(ctx context.Context, t *turn.Turn, rules []users.Rule, about users.Rule) error {
	for _, r := range rules {
		if r.Kind != about.Kind || r.Platform != about.Platform || r.Subject != about.Subject {
			continue
		}
		if err := t.Services.Accounts.DeleteRule(ctx, r.ID, about.By); err != nil && !errors.Is(err, users.ErrNotFound) {
			return err
		}
	}
	return nil
}

// nameIn is what the platform calls the person that a rule is about, else what stands for them.
func nameIn(ctx context.Context, t *turn.Turn, rule users.Rule) (string, error) {
	if rule.Kind != users.RuleIdentity {
		return rule.Subject, nil
	}
	known, err := t.Services.Accounts.NameOf(ctx, rule.Platform, rule.Subject)
	if err != nil {
		return "", fmt.Errorf("look up a name: %w", err)
	}
	return chat.FirstNonEmpty(known, rule.Note, rule.Subject), nil
}
