package router

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/registry"
)

// commandCheck is how often the catalogue is looked at for changes. Looking is a load of a pointer.
const commandCheck = 500 * time.Millisecond

// keepCommands keeps the platforms' command lists in step with the registry (A47).
func (r *Router) keepCommands(ctx context.Context) {
	synced := map[string]string{} // by platform: the catalogue's hash
	retry := map[string]time.Time{}
	tick := time.NewTicker(commandCheck)
	defer tick.Stop()
	for {
		snap := r.services.Tools.Snapshot()
		for _, platform := range r.services.Deliverer.Platforms() {
			if synced[platform] == snap.Hash() || time.Now().Before(retry[platform]) {
				continue
			}
			if err := r.syncCommands(ctx, r.services.Deliverer.Platform(platform), snap); err != nil {
				retry[platform] = time.Now().Add(30 * time.Second)
				if ctx.Err() == nil {
					r.services.Log.WarnContext(ctx, "the command list is not up to date", "platform", platform, "error", err)
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
func (r *Router) syncCommands(ctx context.Context, s *show.Platform, snap *registry.Snapshot) error {
	if s.Caps.Commands.Max == 0 {
		return nil
	}
	counts, err := r.services.Store.Uses.All(ctx)
	if err != nil {
		return err
	}
	list := commandList{limits: s.Caps.Commands, house: r.services.Commands, tools: snap.Offered(registry.Everyone), uses: counts}
	if s.Caps.Commands.Localized {
		for _, language := range r.services.Texts.Languages() {
			list.voices = append(list.voices, r.services.Deliverer.Voice(language))
		}
	}
	var sets []chat.CommandSet
	for _, language := range r.commandLanguages(s) {
		for _, kind := range []chat.ChatKind{chat.ChatPrivate, chat.ChatGroup} {
			sets = append(sets, chat.CommandSet{Kind: kind, Language: language, Commands: list.in(r.services.Deliverer.Voice(language), kind)})
		}
	}
	return s.SyncCommands(ctx, sets)
}

// commandLanguages are the languages that command lists are published in, "" for everybody else.
func (r *Router) commandLanguages(s *show.Platform) []string {
	languages := []string{""}
	if !s.Caps.Commands.Localized {
		languages = append(languages, r.services.Texts.Languages()[1:]...) // English is for everybody else
	}
	return languages
}
