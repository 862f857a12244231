package words

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/card"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// maxFollowUps is how many follow-up actions are offered: in chats three rows of buttons, which leave room for the others.
const maxFollowUps = 6

// FollowUps are the actions that a run's answers offer, in their order.
func FollowUps(run runs.Run) []card.Action {
	var found []card.Action
	for _, o := range run.Outputs {
		if answer, ok := card.Parse(o.Text); ok {
			found = append(found, answer.Actions...)
		}
	}
	return found[:min(len(found), maxFollowUps)]
}

// HoldsAsset reports whether a value names a stored file, which may be anybody's.
func HoldsAsset(v any) bool {
	switch v := v.(type) {
	case string:
		return registry.IsMediaRef(v) && strings.HasPrefix(v, "asset:")
	case []any:
		return slices.ContainsFunc(v, HoldsAsset)
	case map[string]any:
		for _, item := range v {
			if HoldsAsset(item) {
				return true
			}
		}
	}
	return false
}
