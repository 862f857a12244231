package telegram

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
)

var _ chat.Introducer = (*Adapter)(nil)

// introduced begins the keys under which the texts that were set are kept, beside those of command lists.
const introduced = "introduction/"

// Introduce sets the bot's descriptions and its menu button. Texts that somebody gave to @BotFather stay.
func (a *Adapter) Introduce(ctx context.Context, texts []chat.Introduction) error {
	a.menus.Lock()
	defer a.menus.Unlock()
	published, err := a.storage.commands(ctx)
	if err != nil {
		return err
	}
	for _, text := range texts {
		if text.Language == "" {
			if err := a.setMenuButton(ctx, published, text.Open); err != nil {
				return err
			}
		}
		key := introduced + text.Language
		sum := sha256.Sum256([]byte(text.Long + "\x00" + text.Short))
		hash := hex.EncodeToString(sum[:])
		before, ours := published[key]
		if before == hash {
			continue
		}
		err := contract(a.patiently(ctx, func(ctx context.Context) error { return a.describe(ctx, text, ours) }))
		if err != nil {
			return err
		}
		published[key] = hash
		if err := a.storage.setCommands(ctx, published); err != nil {
			return err
		}
	}
	return nil
}

// menuKey is where is kept what the menu button was set to.
const menuKey = introduced + "/button"

// setMenuButton makes the button beside the text field open the Mini App, or the list of commands where there is none.
func (a *Adapter) setMenuButton(ctx context.Context, published map[string]string, label string) error {
	button, state := botapi.MenuButton{Type: "commands"}, "commands"
	if a.app != "" {
		button, state = botapi.MenuButton{Type: "web_app", Text: label, App: &botapi.WebApp{URL: a.app}}, label+" "+a.app
	}
	if published[menuKey] == state {
		return nil
	}
	if err := contract(a.patiently(ctx, func(ctx context.Context) error { return a.client.SetMenuButton(ctx, button) })); err != nil {
		return err
	}
	published[menuKey] = state
	return a.storage.setCommands(ctx, published)
}

// describe sets the texts of a language. ours tells that those that are there are from us.
func (a *Adapter) describe(ctx context.Context, text chat.Introduction, ours bool) error {
	if !ours {
		long, short, err := a.client.Description(ctx, text.Language)
		if err != nil || long != "" || short != "" {
			return err
		}
	}
	return a.client.SetDescription(ctx, text.Language, text.Long, text.Short)
}

func isIntroduction(key string) bool { return strings.HasPrefix(key, introduced) }
