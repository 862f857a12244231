package words

import (
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/runs"
)

// OverLimit says that a limit leaves no room, and how much of it is used.
func OverLimit(v i18n.Voice, use runs.LimitUse) string {
	return v.Line("limit.over") + "\n" + Limit(v, use)
}

// NearLimit says that a limit is nearly used up, and how much of it is used.
func NearLimit(v i18n.Voice, use runs.LimitUse) string {
	return v.Line("limit.near") + "\n" + Limit(v, use)
}

// Limit says how much of a limit is used, and until when that counts.
func Limit(v i18n.Voice, use runs.LimitUse) string {
	limit, used := any(use.Limit), any(use.Used)
	switch use.Kind {
	case runs.LimitDayCap, runs.LimitMonthCap:
		limit, used = billing.NanoUSD(use.Limit), v.AtLeast(billing.NanoUSD(use.Used))
	case runs.LimitUploads, runs.LimitResults:
		limit, used = assets.Words(use.Limit), assets.Words(use.Used)
	}
	text := v.Line("limit."+string(use.Kind), "limit", limit, "used", used)
	if !use.FreeAt.IsZero() {
		text += " " + v.Line("limit.until", "time", v.Time(use.FreeAt.UTC())+" UTC")
	}
	return text
}
