package telegram

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
)

// menu names a published command list.
type menu struct{ scope, language string }

func (m menu) key() string { return m.scope + "/" + m.language }

func menuOf(key string) menu {
	scope, language, _ := strings.Cut(key, "/")
	return menu{scope, language}
}

// scopeOf is where the commands for a kind of chat are shown.
func scopeOf(kind chat.ChatKind) string {
	if kind == chat.ChatPrivate {
		return "all_private_chats"
	}
	return "all_group_chats"
}

// SyncCommands makes Telegram's command lists equal to sets: lists that have changed since they were
// published last, by whatever start of the program, are published, and those no longer wanted removed.
func (a *Adapter) SyncCommands(ctx context.Context, sets []chat.CommandSet) error {
	a.menus.Lock()
	defer a.menus.Unlock()
	published, err := a.storage.commands(ctx)
	if err != nil {
		return err
	}
	wanted := map[string][]botapi.BotCommand{}
	for _, set := range sets {
		wanted[menu{scopeOf(set.Kind), set.Language}.key()] = commandsOf(set.Commands)
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		hash := hashOf(wanted[key])
		if published[key] == hash {
			continue
		}
		if err := a.publish(ctx, menuOf(key), wanted[key]); err != nil {
			return err
		}
		published[key] = hash
		if err := a.storage.setCommands(ctx, published); err != nil {
			return err
		}
	}
	return a.withdraw(ctx, published, wanted)
}

// withdraw removes published lists that are not wanted any more.
func (a *Adapter) withdraw(ctx context.Context, published map[string]string, wanted map[string][]botapi.BotCommand) error {
	for key := range maps.Clone(published) {
		if _, ok := wanted[key]; ok || isIntroduction(key) {
			continue
		}
		if err := a.publish(ctx, menuOf(key), nil); err != nil {
			return err
		}
		delete(published, key)
		if err := a.storage.setCommands(ctx, published); err != nil {
			return err
		}
	}
	return nil
}

// publish sets a list, or takes it away when there are no commands.
func (a *Adapter) publish(ctx context.Context, m menu, commands []botapi.BotCommand) error {
	return contract(a.patiently(ctx, func(ctx context.Context) error {
		if len(commands) == 0 {
			return a.client.DeleteCommands(ctx, botapi.CommandScope{Type: m.scope}, m.language)
		}
		return a.client.SetCommands(ctx, botapi.CommandScope{Type: m.scope}, m.language, commands)
	}))
}

func commandsOf(list []chat.Command) []botapi.BotCommand {
	commands := make([]botapi.BotCommand, 0, len(list))
	for _, c := range list {
		description := cmp.Or(botapi.Truncate(strings.TrimSpace(c.Description), 256), c.Name)
		commands = append(commands, botapi.BotCommand{Command: c.Name, Description: description})
	}
	return commands
}

func hashOf(commands []botapi.BotCommand) string {
	raw, _ := json.Marshal(commands) // texts only
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
