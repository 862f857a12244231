package start

import (
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

func TestPricesOnButtonsReadAsPeopleSayThem(t *testing.T) {
	t.Parallel()
	texts, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	asked, tool := &turn.Turn{Say: show.Voice{Voice: texts.Voice("en")}}, &registry.Tool{DisplayName: "Wallpaper"}
	const cent = billing.Dollar / 100
	for _, c := range []struct {
		low, high billing.NanoUSD
		want      string
	}{
		{0, 0, "Run Wallpaper (free)"}, {0, cent / 2, "Run Wallpaper (under $0.01)"}, {cent / 4, cent / 2, "Run Wallpaper (under $0.01)"},
		{cent / 2, 2 * cent, "Run Wallpaper (up to $0.02)"}, {2 * cent, 2 * cent, "Run Wallpaper ($0.02)"},
	} {
		if got := priced(asked, tool, billing.Quote{Source: "static", Low: c.low, High: c.high}); got != c.want {
			t.Errorf("from %d to %d: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}
