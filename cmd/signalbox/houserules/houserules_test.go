package houserules

import (
	"context"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/settings"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/users"
)

func TestHouseRules(t *testing.T) {
	t.Parallel()
	pool, ctx := postgrestest.New(t), t.Context()
	open := func(change func(*settings.Settings)) *Rules {
		t.Helper()
		c := config.Config{Settings: settings.Settings{PeopleSettings: settings.PeopleSettings{Access: config.AccessOpen, RunsPerDay: "0", StreamsAtOnce: "20"}}, Limits: users.Limits{AtOnce: 8, Streams: 20}}
		change(&c.Settings)
		h, err := Open(ctx, pool, c)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := open(func(*settings.Settings) {})
	in := func(h *Rules, name string) console.Setting {
		t.Helper()
		i := slices.IndexFunc(h.List(), func(s console.Setting) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("there is no %s", name)
		}
		return h.List()[i]
	}
	if s := in(h, RunsAtOnce); s.Value != "8" || s.Source != console.FromDefault {
		t.Errorf("at first: %+v", s)
	}
	for name, value := range map[string]string{
		Access: "closed", RunsAtOnce: "-1", RunsPerDay: "many", BatchRuns: "0", UploadMB: "1.5", Margins: `{"vidu": {"markup": "lots"}}`, Support: "two\nlines", "nothing": "1",
	} {
		if err := h.Set(ctx, name, value, "ann"); err == nil {
			t.Errorf("%s is set to %q", name, value)
		}
	}
	reloads := 0
	h.Changed = func(context.Context) { reloads++ }
	for name, value := range map[string]string{Access: config.AccessListed, RunsAtOnce: "3", UploadMB: "2", Margins: `{"*": {"markup": "0.5"}}`, Terms: "Be kind.\r\nPay."} {
		if err := h.Set(ctx, name, value, "ann"); err != nil {
			t.Fatal(err)
		}
	}
	if reloads != 1 {
		t.Errorf("the tools were read %d times for one change of margins", reloads)
	}
	holds := func(h *Rules) {
		t.Helper()
		var c users.Config
		h.Governs(&c)
		listed, limits := c.Defaults()
		if want := (users.Limits{AtOnce: 3, Streams: 20, UploadBytes: 2 << 20}); !listed || limits != want {
			t.Errorf("listed: %t, limits %+v, want %+v", listed, limits, want)
		}
		if got := h.Says(Terms).Now(); got != "Be kind.\nPay." {
			t.Errorf("the terms are %q", got)
		}
		if s := in(h, Terms); s.Source != console.FromConsole || s.By != "ann" || s.At.IsZero() {
			t.Errorf("the terms come from %+v", s)
		}
	}
	holds(h)
	t.Run("a restart changes nothing", func(t *testing.T) { holds(open(func(*settings.Settings) {})) })
	t.Run("what the environment sets goes before", func(t *testing.T) {
		other := open(func(s *settings.Settings) { s.TermsURL, s.RunsAtOnce = "https://bot.example/terms", "8" })
		if s := in(other, Terms); s.Value != "https://bot.example/terms" || s.Source != console.FromEnvironment {
			t.Errorf("the terms come from %+v", s)
		}
		if s := in(other, RunsAtOnce); s.Value != "8" || s.Source != console.FromEnvironment {
			t.Errorf("the limit comes from %+v", s)
		}
	})
	t.Run("what is taken back has its default again", func(t *testing.T) {
		if err := h.Clear(ctx, RunsAtOnce); err != nil {
			t.Fatal(err)
		}
		if s := in(h, RunsAtOnce); s.Value != "8" || s.Source != console.FromDefault {
			t.Errorf("%+v", s)
		}
	})
}
