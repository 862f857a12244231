package words

import (
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/runs"
)

// OverLimit says that a limit leaves no room, and how much of it is used.
func OverLimit(v i18n.Voice, use runs.LimitUse) string {
	return v.Line(OverKey(use)) + "\n" + i18n.Joined(Limit(v, use))
}

// OverKey is the text that begins to say that a limit leaves no room.
func OverKey(use runs.LimitUse) string {
	if use.OfGroup() {
		return "limit.overGroup"
	}
	return "limit.over"
}

// NearKey is the text that begins to say that a limit is nearly used up.
func NearKey(use runs.LimitUse) string {
	if use.OfGroup() {
		return "limit.nearGroup"
	}
	return "limit.near"
}

// Limit says how much of a limit is used, and until when that counts.
func Limit(v i18n.Voice, use runs.LimitUse) []i18n.Piece {
	limit, used := any(use.Limit), any(use.Used)
	switch use.Kind {
	case runs.LimitDayCap, runs.LimitMonthCap, runs.LimitBudget, runs.LimitGroupDay, runs.LimitGroupMonth, runs.LimitGroupMember:
		limit, used = billing.NanoUSD(use.Limit), v.AtLeast(billing.NanoUSD(use.Used))
	case runs.LimitUploads, runs.LimitResults:
		limit, used = assets.Words(use.Limit), assets.Words(use.Used)
	}
	text := v.Say("limit."+string(use.Kind), "limit", limit, "used", used)
	if !use.FreeAt.IsZero() {
		text = append(append(text, i18n.Piece{Text: " "}), v.Say("limit.until", "time", use.FreeAt)...)
	}
	return text
}
