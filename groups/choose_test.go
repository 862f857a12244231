package groups

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/billing"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	poor := billing.ErrInsufficient{Need: 10}
	party := func(t *Terms) { t.Party, t.PartyEnds = "party", now.Add(time.Hour) }
	for name, test := range map[string]struct {
		pays   Pays
		rules  func(*Terms)
		own    error           // the member's
		wallet map[string]bool // those that cover it
		spent  Spent
		want   string
		bound  Bound
		fails  error
	}{
		"the member comes first":                        {pays: MemberFirst, wallet: map[string]bool{"group": true}, want: "member"},
		"the group pays for who can't":                  {pays: MemberFirst, own: poor, wallet: map[string]bool{"group": true}, want: "group"},
		"neither can: that is the member's news":        {pays: MemberFirst, own: poor, fails: poor},
		"the group comes first":                         {pays: GroupFirst, wallet: map[string]bool{"group": true}, want: "group"},
		"the member goes on where the group can't":      {pays: GroupFirst, want: "member"},
		"only the group":                                {pays: OnlyGroup, wallet: map[string]bool{"group": true}, want: "group"},
		"only the group, which can't":                   {pays: OnlyGroup, fails: ErrPoor},
		"the budget of the day, then the member":        {pays: GroupFirst, rules: func(t *Terms) { t.Day = 15 }, spent: Spent{Day: 6}, wallet: map[string]bool{"group": true}, want: "member"},
		"the budget of the day to the last nano-dollar": {pays: OnlyGroup, rules: func(t *Terms) { t.Day = 16 }, spent: Spent{Day: 6}, wallet: map[string]bool{"group": true}, want: "group"},
		"over the budget of the month":                  {pays: OnlyGroup, rules: func(t *Terms) { t.Month = 15 }, spent: Spent{Month: 6}, wallet: map[string]bool{"group": true}, bound: BoundMonth},
		"over the budget of a member":                   {pays: MemberFirst, own: poor, rules: func(t *Terms) { t.Member = 15 }, spent: Spent{MemberMonth: 6}, wallet: map[string]bool{"group": true}, bound: BoundMember},
		"a guest's last run of the day was before":      {pays: OnlyGroup, own: poor, rules: func(t *Terms) { t.GuestRuns = 2 }, spent: Spent{MemberToday: 2}, wallet: map[string]bool{"group": true}, bound: BoundGuest},
		"who has credit is no guest":                    {pays: OnlyGroup, rules: func(t *Terms) { t.GuestRuns = 2 }, spent: Spent{MemberToday: 2}, wallet: map[string]bool{"group": true}, want: "group"},
		"a party pays for everybody, whatever the rule": {pays: MemberFirst, rules: party, wallet: map[string]bool{"group": true, "party": true}, want: "party"},
		"a party that does not cover it":                {pays: GroupFirst, rules: party, wallet: map[string]bool{"group": true}, want: "group"},
		"a party whose time is over": {pays: MemberFirst, rules: func(t *Terms) { t.Party, t.PartyEnds = "party", now },
			wallet: map[string]bool{"party": true}, want: "member"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terms := Terms{ID: "group", Pays: test.pays}
			if test.rules != nil {
				test.rules(&terms)
			}
			got, err := terms.Choose(Case{
				Account: "member", Price: 10, Spent: test.spent, Own: test.own, Guest: test.own != nil, Now: now,
				Covers: func(owner string) error {
					if test.wallet[owner] {
						return nil
					}
					return poor
				},
			})
			var over *OverError
			switch {
			case test.bound != "":
				if !errors.As(err, &over) || over.Bound != test.bound || !over.FreeAt.After(now) {
					t.Errorf("got %s, %+v; want %s", got, err, test.bound)
				}
			case got != test.want || !errors.Is(err, test.fails):
				t.Errorf("got %q, %v; want %q, %v", got, err, test.want, test.fails)
			}
		})
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var given []Sponsor
		var total billing.NanoUSD
		for _, n := range rapid.SliceOfN(rapid.Int64Range(1, int64(billing.MaxAmount)/20), 1, 20).Draw(t, "given") {
			given = append(given, Sponsor{Given: billing.NanoUSD(n)})
			total += billing.NanoUSD(n)
		}
		left := billing.NanoUSD(rapid.Int64Range(0, int64(total)).Draw(t, "left"))
		var sum billing.NanoUSD
		for i, part := range shares(left, given) {
			sum += part
			exact := float64(left) * (float64(given[i].Given) / float64(total))
			if part < 0 || i > 0 && float64(part) > exact*(1+1e-9)+1 {
				t.Errorf("%s of %s is %s of %s", given[i].Given, total, part, left)
			}
		}
		if sum != left {
			t.Errorf("%s of %s were divided", sum, left)
		}
	})
}
