package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

func TestWhereAndWithWhatSomebodyAsks(t *testing.T) {
	t.Parallel()
	t.Run("C54 the region is the one a language tag names, never guessed from the language", func(t *testing.T) {
		t.Parallel()
		for tag, want := range map[string]string{
			"": "", "de": "", "pt-BR": "BR", "pt-br": "BR", "en_GB": "GB", "zh-Hant-TW": "TW", "sr-Latn": "", "es-419": "", "en-x-us": "", "en-u-ca-gregory": "", "-": "", "de-ÄÖ": "",
		} {
			if got := registry.RegionOf(tag); got != want {
				t.Errorf("%q: %q, want %q", tag, got, want)
			}
		}
	})
}

func TestCallContextCheck(t *testing.T) {
	t.Parallel()
	if err := (registry.CallContext{SiteID: "shop.example", SessionID: "Gespräch 7", TraceID: "t-1", PlannerProvider: "anthropic"}).Check(); err != nil {
		t.Error(err)
	}
	for field, c := range map[string]registry.CallContext{
		"siteId": {SiteID: "a\x00"}, "sessionId": {SessionID: strings.Repeat("x", 201)}, "traceId": {TraceID: "a\nb"}, "plannerProvider": {PlannerProvider: "\xff"},
	} {
		var bad *registry.Error
		if err := c.Check(); !errors.As(err, &bad) || bad.Code != registry.CodeInvalidInput || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
