package chat

import (
	"slices"

	"github.com/signalbox/signalbox/registry"
)

// offered lists the tools that this person can be offered in this chat.
func (t *turn) offered() []*registry.Tool {
	return slices.DeleteFunc(slices.Clone(t.cfg.Tools.Snapshot().Offered(t.audience())), func(tool *registry.Tool) bool {
		return isAdult(tool) && !t.adultsOnly()
	})
}

// isAdult reports whether a tool's metadata say that its results are for adults.
func isAdult(tool *registry.Tool) bool {
	return tool.Metadata["adult"] == true || tool.Metadata["nsfw"] == true
}

// adultsOnly reports whether what is for adults may be shown in this chat.
func (t *turn) adultsOnly() bool {
	return t.in.Chat.Kind == ChatPrivate || t.in.Chat.AgeRestricted
}
