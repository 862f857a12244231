package chat

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

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
func (r *Router) syncCommands(ctx context.Context, s *surface, snap *registry.Snapshot) error {
	if s.caps.Commands.Max == 0 {
		return nil
	}
	counts, err := r.uses.all(ctx)
	if err != nil {
		return err
	}
	var sets []CommandSet
	for _, language := range r.commandLanguages(s) {
		commands := commandList(s.caps.Commands, r.voiceFor(language), r.cfg.Operator.houseCommands(), snap.Offered(registry.Everyone), counts)
		for _, kind := range []ChatKind{ChatPrivate, ChatGroup} {
			sets = append(sets, CommandSet{Kind: kind, Language: language, Commands: commands})
		}
	}
	return s.SyncCommands(ctx, sets)
}

// commandList lists the tools' commands and the bot's own. Where they don't all fit, the tools used most
// come first, and the others stay reachable by /run.
func commandList(limits CommandLimits, v voice, house []houseCommand, tools []*registry.Tool, counts map[string]int64) []Command {
	taken := map[string]bool{}
	var own []Command
	for _, c := range house {
		taken[c.name] = true
		own = append(own, Command{Name: c.name, Description: brief(v.line("command."+c.name), limits.DescriptionLimit)})
	}
	named := regexp.MustCompile(`^(?:` + limits.NamePattern + `)$`)
	var usable []*registry.Tool
	for _, tool := range tools {
		name := strings.TrimPrefix(tool.CommandName, "/")
		if name != "" && !taken[name] && len(name) <= limits.NameChars && named.MatchString(name) {
			usable = append(usable, tool)
		}
	}
	if room := max(0, limits.Max-len(own)); len(usable) > room {
		slices.SortStableFunc(usable, func(a, b *registry.Tool) int {
			return int(min(max(counts[b.ToolID]-counts[a.ToolID], -1), 1))
		})
		usable = usable[:room]
	}
	list := make([]Command, 0, len(usable)+len(own))
	for _, tool := range usable {
		list = append(list, Command{
			Name:        strings.TrimPrefix(tool.CommandName, "/"),
			Description: inWords(firstSentence(firstNonEmpty(tool.Description, tool.DisplayName)), limits.DescriptionLimit),
			Inputs:      tool.InputSchema,
		})
	}
	list = append(list, own...)
	return list[:min(len(list), limits.Max)]
}

// commandLanguages are the languages that command lists are published in, "" for everybody else.
func (r *Router) commandLanguages(s *surface) []string {
	languages := []string{""}
	if !s.caps.Commands.Localized {
		languages = append(languages, r.texts.Languages()[1:]...) // English is for everybody else
	}
	return languages
}
