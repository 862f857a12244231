package chat

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
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
		snap := r.cfg.Tools.Snapshot()
		for _, platform := range r.platforms() {
			if synced[platform] == snap.Hash() || time.Now().Before(retry[platform]) {
				continue
			}
			if err := r.syncCommands(ctx, r.surfaces[platform], snap); err != nil {
				retry[platform] = time.Now().Add(30 * time.Second)
				if ctx.Err() == nil {
					r.log.WarnContext(ctx, "the command list is not up to date", "platform", platform, "error", err)
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
func (r *Router) syncCommands(ctx context.Context, s *surface, snap *catalog.Snapshot) error {
	if s.caps.Commands.Max == 0 {
		return nil
	}
	counts, err := r.uses.all(ctx)
	if err != nil {
		return err
	}
	list := commandList{limits: s.caps.Commands, house: r.cfg.Operator.houseCommands(), tools: snap.Offered(registry.Everyone), uses: counts}
	if s.caps.Commands.Localized {
		for _, language := range r.texts.Languages() {
			list.voices = append(list.voices, r.voiceFor(language))
		}
	}
	var sets []CommandSet
	for _, language := range r.commandLanguages(s) {
		for _, kind := range []ChatKind{ChatPrivate, ChatGroup} {
			sets = append(sets, CommandSet{Kind: kind, Language: language, Commands: list.in(r.voiceFor(language), kind)})
		}
	}
	return s.SyncCommands(ctx, sets)
}

// commandLanguages are the languages that command lists are published in, "" for everybody else.
func (r *Router) commandLanguages(s *surface) []string {
	languages := []string{""}
	if !s.caps.Commands.Localized {
		languages = append(languages, r.texts.Languages()[1:]...) // English is for everybody else
	}
	return languages
}
