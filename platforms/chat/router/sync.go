package router

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// commandCheck is how often the catalogue is looked at for changes. Looking is a load of a pointer.
const commandCheck = 500 * time.Millisecond

// keepCommands keeps the platforms' command lists in step with the registry (A47).
func keepCommands(ctx context.Context, services *turn.Services) {
	synced := map[string]string{} // by platform: the catalogue's hash
	retry := map[string]time.Time{}
	tick := time.NewTicker(commandCheck)
	defer tick.Stop()
	for {
		snap := services.Tools.Snapshot()
		for _, platform := range services.Deliverer.Platforms() {
			if synced[platform] == snap.Hash() || time.Now().Before(retry[platform]) {
				continue
			}
			if err := syncCommands(ctx, services, services.Deliverer.Platform(platform), snap); err != nil {
				retry[platform] = time.Now().Add(30 * time.Second)
				if ctx.Err() == nil {
					services.Log.WarnContext(ctx, "the command list is not up to date", "platform", platform, "error", err)
				}
				continue
			}
			synced[platform] = snap.Hash()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// syncCommands publishes the commands of a catalogue, in every language we speak.
func syncCommands(ctx context.Context, services *turn.Services, s *show.Platform, snap *catalog.Snapshot) error {
	if s.Caps.Commands.Max == 0 {
		return nil
	}
	counts, err := services.Store.Uses.All(ctx)
	if err != nil {
		return err
	}
	list := commandList{limits: s.Caps.Commands, bot: services.Commands, tools: snap.Offered(registry.Everyone), uses: counts}
	if s.Caps.Commands.Localized {
		for _, language := range services.Texts.Languages() {
			list.voices = append(list.voices, services.Deliverer.Voice(language))
		}
	}
	var sets []chat.CommandSet
	for _, language := range commandLanguages(services, s) {
		for _, kind := range []chat.ChatKind{chat.ChatPrivate, chat.ChatGroup} {
			sets = append(sets, chat.CommandSet{Kind: kind, Language: language, Commands: list.in(services.Deliverer.Voice(language), kind)})
		}
	}
	if err := s.SyncCommands(ctx, sets); err != nil {
		return err
	}
	if err := introduce(ctx, services, s); err != nil && ctx.Err() == nil {
		services.Log.WarnContext(ctx, "the bot's description was not set", "platform", s.Platform(), "error", err)
	}
	return nil
}

// introduce says what the bot is for where the platform shows that, in every language we speak.
func introduce(ctx context.Context, services *turn.Services, s *show.Platform) error {
	introducer, ok := s.Adapter.(chat.Introducer)
	if !ok {
		return nil
	}
	var texts []chat.Introduction
	for _, language := range append([]string{""}, services.Texts.Languages()[1:]...) {
		v := services.Deliverer.Voice(language)
		texts = append(texts, chat.Introduction{Language: language, Short: v.Line("bot.short"), Long: v.Line("bot.long"), Open: v.Line("bot.open")})
	}
	return introducer.Introduce(ctx, texts)
}

// commandLanguages are the languages that command lists are published in, "" for everybody else.
func commandLanguages(services *turn.Services, s *show.Platform) []string {
	languages := []string{""}
	if !s.Caps.Commands.Localized {
		languages = append(languages, services.Texts.Languages()[1:]...) // English is for everybody else
	}
	return languages
}
