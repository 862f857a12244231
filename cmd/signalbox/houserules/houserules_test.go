package houserules

import (
	"context"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/billing"
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
		Access: "closed", RunsAtOnce: "-1", RunsPerDay: "many", BatchRuns: "0", UploadMB: "1.5", Margins: `{"vidu": {"markup": "lots"}}`, SharePercent: "101", ShareUSD: "5%", Support: "two\nlines", "nothing": "1",
	} {
		if err := h.Set(ctx, name, value, "ann"); err == nil {
			t.Errorf("%s is set to %q", name, value)
		}
	}
	reloads := 0
	h.Changed = func(context.Context) { reloads++ }
	for name, value := range map[string]string{Access: config.AccessListed, RunsAtOnce: "3", UploadMB: "2", Margins: `{"*": {"markup": "0.5"}}`, SharePercent: "12.5", Terms: "Be kind.\r\nPay."} {
		if err := h.Set(ctx, name, value, "ann"); err != nil {
			t.Fatal(err)
		}
	}
	if reloads != 2 {
		t.Errorf("the tools were read %d times for a change of margins and one of shares", reloads)
	}
	if got, want := h.Shares(), (billing.ShareBounds{Percent: "12.5", USD: "0"}); got != want {
		t.Errorf("shares are bounded by %+v, want %+v", got, want)
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

func TestWhatIsNotMade(t *testing.T) {
	t.Parallel()
	pool, ctx := postgrestest.New(t), t.Context()
	open := func() *Rules {
		t.Helper()
		h, err := Open(ctx, pool, config.Config{Settings: settings.Settings{PeopleSettings: settings.PeopleSettings{Access: config.AccessOpen}}})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := open()
	screened := func(h *Rules, text, want string) {
		t.Helper()
		if got, found := h.Screen(text); got != want || found != (want != "") {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
	screened(h, "a b.a.d.w.o.r.d", "") // it is off by default
	for name, wrong := range map[string]string{BlockedWords: "good\n---", BlockedPatterns: "("} {
		if err := h.Set(ctx, name, wrong, "ann"); err == nil {
			t.Errorf("%s is set to %q", name, wrong)
		}
	}
	for name, value := range map[string]string{BlockedWords: "badword", BlockedPatterns: `\bx\d+\b`} {
		if err := h.Set(ctx, name, value, "ann"); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range []*Rules{h, open()} {
		screened(h, "a b.a.d.w.o.r.d", "badword")
		screened(h, "an X12", `\bx\d+\b`)
		screened(h, "a boat", "")
	}
	if err := h.Clear(ctx, BlockedWords); err != nil {
		t.Fatal(err)
	}
	screened(h, "a b.a.d.w.o.r.d", "")
	screened(h, "an X12", `\bx\d+\b`)
}
