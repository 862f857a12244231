package telegram

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
)

var _ chat.Introducer = (*Adapter)(nil)

// introduced begins the keys under which the texts that were set are kept, beside those of command lists.
const introduced = "introduction/"

// Introduce sets the bot's descriptions and its menu button. Texts that somebody gave to @BotFather stay.
func (a *Adapter) Introduce(ctx context.Context, texts []chat.Introduction) error {
	a.menus.Lock()
	defer a.menus.Unlock()
	published, err := a.memory.commands(ctx)
	if err != nil {
		return err
	}
	for _, text := range texts {
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
		if err := a.memory.setCommands(ctx, published); err != nil {
			return err
		}
	}
	return nil
}

// describe sets the texts of a language, with the first of them the menu button. ours tells that those that are there are from us.
func (a *Adapter) describe(ctx context.Context, text chat.Introduction, ours bool) error {
	if text.Language == "" {
		if err := a.client.SetMenuButton(ctx); err != nil {
			return err
		}
	}
	if !ours {
		long, short, err := a.client.Description(ctx, text.Language)
		if err != nil || long != "" || short != "" {
			return err
		}
	}
	return a.client.SetDescription(ctx, text.Language, text.Long, text.Short)
}

func isIntroduction(key string) bool { return strings.HasPrefix(key, introduced) }
