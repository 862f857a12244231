package users

import (
	"testing"

	"github.com/signalbox/signalbox/registry"
)

func TestAskAbove(t *testing.T) {
	t.Parallel()
	const dollar = 1_000_000_000
	for _, c := range []struct {
		percent         int
		available, want int64
	}{
		{0, dollar, dollar / 10},
		{25, dollar, dollar / 4},
		{NeverConfirm, dollar, 0},
		{0, 1_000_000, askFloor}, // nobody is asked about less than a cent
		{0, 0, askFloor},
		{1, 9_000_000 * dollar, 90_000 * dollar},
	} {
		if got := (Limits{ConfirmPercent: c.percent}).AskAbove(c.available); got != c.want {
			t.Errorf("%d %% of %d: asked above %d, want %d", c.percent, c.available, got, c.want)
		}
	}
}

func TestConfirmPercent(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, Config{})
	ann := identify(t, s, Identity{Platform: "web", ExternalID: "1"})
	bob := identify(t, s, Identity{Platform: "discord", ExternalID: "2"})
	share := func(account string) int {
		t.Helper()
		settings, err := s.LimitSettings(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		return settings.Own.ConfirmShare()
	}
	set := func(account string, percent int) {
		t.Helper()
		if err := s.SetConfirmPercent(t.Context(), account, percent); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetOwnLimits(t.Context(), ann.ID, Limits{DayCap: 7}); err != nil {
		t.Fatal(err)
	}
	set(ann.ID, 25)
	if settings, err := s.LimitSettings(t.Context(), ann.ID); err != nil || settings.Own != (Limits{DayCap: 7, ConfirmPercent: 25}) {
		t.Errorf("beside a cap it is kept as %+v, %v", settings.Own, err)
	}
	for _, wrong := range []int{-1, 101} {
		if err := s.SetConfirmPercent(t.Context(), ann.ID, wrong); registry.AsError(err).Code != registry.CodeInvalidInput {
			t.Errorf("%d gives %v", wrong, err)
		}
	}
	if share(ann.ID) != 25 || share(bob.ID) != DefaultConfirmPercent {
		t.Errorf("shares %d and %d", share(ann.ID), share(bob.ID))
	}
	set(bob.ID, 5)
	s.mustMerge(t, bob.ID, ann.ID)
	if share(ann.ID) != 5 {
		t.Errorf("of two shares the merge keeps %d, not the more careful one", share(ann.ID))
	}
}
