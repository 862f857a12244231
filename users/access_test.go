package users

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/registry"
)

var (
	lounge = Place{"telegram", PlaceChat, "-100"}
	guild  = Place{"discord", PlaceSpace, "77"}
)

func TestAccess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		listed bool
		rules  []Rule // Subject "ann" stands for her account
		who    Subject
		want   Reason
	}{
		{name: "anyone who comes may, where nothing is said"},
		{name: "strangers may not, where only listed people may", listed: true, want: ReasonStranger},
		{name: "operators always may", listed: true, who: Subject{Operator: true}},
		{name: "a listed person may", listed: true, rules: []Rule{{Kind: RuleAccount, Subject: "ann", Allow: true}}},
		{
			name: "a listed identity may, before it has ever come", listed: true,
			rules: []Rule{{Kind: RuleIdentity, Platform: "discord", Subject: "9", Allow: true}},
			who:   Subject{Platform: "discord", ExternalID: "9"},
		},
		{
			name: "a listed chat may", listed: true,
			rules: []Rule{{Kind: RuleChat, Platform: "telegram", Subject: "-100", Allow: true}},
			who:   Subject{Platform: "telegram", Chat: "-100"},
		},
		{
			name: "the same id on another platform is somebody else", listed: true,
			rules: []Rule{{Kind: RuleChat, Platform: "telegram", Subject: "-100", Allow: true}},
			who:   Subject{Platform: "discord", Chat: "-100"}, want: ReasonStranger,
		},
		{
			name:  "a blocked person may not, wherever",
			rules: []Rule{{Kind: RuleAccount, Subject: "ann"}, {Kind: RuleChat, Platform: "telegram", Subject: "-100", Allow: true}},
			who:   Subject{Platform: "telegram", Chat: "-100"}, want: ReasonBlocked,
		},
		{
			name:  "of several roles a denied one counts",
			rules: []Rule{{Kind: RuleRole, Platform: "discord", Subject: "good", Allow: true}, {Kind: RuleRole, Platform: "discord", Subject: "bad"}},
			who:   Subject{Platform: "discord", Space: "77", Roles: []string{"good", "bad"}}, want: ReasonRole,
		},
		{
			name:  "a role goes before its chat, a chat before its space",
			rules: []Rule{{Kind: RuleRole, Platform: "discord", Subject: "vip", Allow: true}, {Kind: RuleChat, Platform: "discord", Subject: "1"}},
			who:   Subject{Platform: "discord", Chat: "1", Space: "77", Roles: []string{"vip"}},
		},
		{
			name:  "a denied space",
			rules: []Rule{{Kind: RuleSpace, Platform: "discord", Subject: "77"}},
			who:   Subject{Platform: "discord", Chat: "1", Space: "77"}, want: ReasonSpace,
		},
		{
			name:  "what the admins of a chat deny holds there",
			rules: []Rule{{Kind: RuleAccount, Subject: "ann", Where: lounge}},
			who:   Subject{Platform: "telegram", Chat: "-100"}, want: ReasonBlocked,
		},
		{
			name:  "and nowhere else",
			rules: []Rule{{Kind: RuleAccount, Subject: "ann", Where: lounge}},
			who:   Subject{Platform: "telegram", Chat: "-200"},
		},
		{
			name:  "admins can't let somebody in whom the operator keeps out",
			rules: []Rule{{Kind: RuleAccount, Subject: "ann"}, {Kind: RuleAccount, Subject: "ann", Allow: true, Where: lounge}},
			who:   Subject{Platform: "telegram", Chat: "-100"}, want: ReasonBlocked,
		},
		{
			name: "nor a stranger", listed: true,
			rules: []Rule{{Kind: RuleAccount, Subject: "ann", Allow: true, Where: lounge}},
			who:   Subject{Platform: "telegram", Chat: "-100"}, want: ReasonStranger,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := newStore(t, Config{Listed: c.listed})
			ann := identify(t, s, Identity{Platform: "web", ExternalID: "1"})
			for _, r := range c.rules {
				if r.Subject == "ann" {
					r.Subject = ann.ID
				}
				r.By = BySystem
				if err := s.SetRule(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			c.who.AccountID = ann.ID
			got, err := s.Check(t.Context(), c.who, "flux")
			if want := (Decision{Allowed: c.want == "", Reason: c.want}); err != nil || got != want {
				t.Errorf("got %+v, %v; want %+v", got, err, want)
			}
			if refused := got.Err(); (refused == nil) != got.Allowed || refused != nil && registry.AsError(refused).Code != registry.CodeUnauthorized {
				t.Errorf("as people hear it: %v", refused)
			}
		})
	}
}

func TestToolsOfAPlace(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, Config{})
	ctx := t.Context()
	check := func(who Subject, tool string, want bool) {
		t.Helper()
		if got, err := s.Check(ctx, who, tool); err != nil || got.Allowed != want || !want && got.Reason != ReasonTool {
			t.Errorf("%+v, %s: %+v, %v", who, tool, got, err)
		}
	}
	for _, set := range []struct {
		place Place
		tools []string
	}{{lounge, []string{"flux"}}, {guild, []string{}}, {Place{"discord", PlaceChat, "1"}, []string{"flux", "song"}}} {
		if err := s.SetAllowedTools(ctx, set.place, set.tools, BySystem); err != nil {
			t.Fatal(err)
		}
	}
	check(Subject{Platform: "telegram", Chat: "-100"}, "flux", true)
	check(Subject{Platform: "telegram", Chat: "-100"}, "song", false)
	check(Subject{Platform: "telegram", Chat: "-200"}, "song", true)
	check(Subject{Platform: "discord", Chat: "2", Space: "77"}, "song", false)
	check(Subject{Platform: "discord", Chat: "1", Space: "77"}, "song", true)
	if err := s.SetAllowedTools(ctx, lounge, nil, BySystem); err != nil {
		t.Fatal(err)
	}
	check(Subject{Platform: "telegram", Chat: "-100"}, "song", true)
	if tools, err := s.AllowedTools(ctx, guild); err != nil || tools == nil || len(tools) != 0 {
		t.Errorf("got %v, %v", tools, err)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, Config{})
	ctx := t.Context()
	ann := identify(t, s, Identity{Platform: "web", ExternalID: "1"})
	for _, wrong := range []Rule{
		{Kind: RuleAccount, Subject: "nobody"}, {Kind: RuleChat, Subject: "1"}, {Kind: "planet", Platform: "x", Subject: "1"},
		{Kind: RuleAccount, Subject: ann.ID, Where: Place{Platform: "telegram"}},
	} {
		if err := s.SetRule(ctx, wrong); err == nil {
			t.Errorf("%+v was taken", wrong)
		}
	}
	if err := s.Block(ctx, ann.ID, "root", "spam"); err != nil {
		t.Fatal(err)
	}
	rules, err := s.Rules(ctx, Place{})
	if err != nil || len(rules) != 1 || rules[0].By != "root" || rules[0].Note != "spam" || rules[0].Allow {
		t.Fatalf("got %+v, %v", rules, err)
	}
	if _, err := s.LimitsOf(ctx, ann.ID); registry.AsError(err).Code != registry.CodeUnauthorized {
		t.Errorf("the blocked have limits: %v", err)
	}
	if err := s.Unblock(ctx, ann.ID, "root", "sorry"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.LimitsOf(ctx, ann.ID); err != nil {
		t.Error(err)
	}
	if err := s.DeleteRule(ctx, rules[0].ID, "root"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
	entries, err := s.Audit(ctx, AuditQuery{AccountID: ann.ID, Limit: 1})
	if err != nil || len(entries) != 1 || entries[0].Note != "sorry" || entries[0].By != "root" {
		t.Errorf("the record says %+v, %v", entries, err)
	}
	t.Run("a rule about a person takes the place of those about their identities", func(t *testing.T) {
		ben := Identity{Platform: "telegram", ExternalID: "20", Name: "Ben"}
		refused := func() bool {
			d, err := s.Check(ctx, Subject{Platform: ben.Platform, ExternalID: ben.ExternalID}, "")
			if err != nil {
				t.Fatal(err)
			}
			return !d.Allowed
		}
		deny := Rule{Kind: RuleIdentity, Platform: ben.Platform, Subject: ben.ExternalID, By: "root"}
		if err := s.SetRule(ctx, deny); err != nil || !refused() {
			t.Fatal("who has not come yet is not kept out", err)
		}
		account := identify(t, s, ben)
		if err := s.SetRule(ctx, Rule{Allow: true, Kind: RuleAccount, Subject: account.ID, By: "root"}); err != nil || refused() {
			t.Error("who was let in is kept out by an older rule", err)
		}
		if err := s.SetRule(ctx, deny); err != nil || !refused() {
			t.Fatal(err)
		}
		if err := s.Unblock(ctx, account.ID, "root", ""); err != nil || refused() {
			t.Error("who was unblocked is kept out by a rule about an identity", err)
		}
	})
	t.Run("rules are listed with the names of people, and named as operators write them", func(t *testing.T) {
		cleo := identify(t, s, Identity{Platform: "discord", ExternalID: "30", Name: "Cleo"})
		for _, rule := range []Rule{
			{Kind: RuleIdentity, Platform: "discord", Subject: "30", Where: guild}, {Kind: RuleAccount, Subject: cleo.ID, Where: guild},
			{Kind: RuleIdentity, Platform: "telegram", Subject: "30", Where: guild}, {Kind: RuleRole, Platform: "discord", Subject: "30", Where: guild},
		} {
			if err := s.SetRule(ctx, rule); err != nil {
				t.Fatal(err)
			}
		}
		rules, err := s.Rules(ctx, guild)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rules {
			got = append(got, r.Whom()+" "+r.Name)
		}
		if diff := cmp.Diff([]string{"role:discord:30 ", "telegram:30 ", cleo.ID + " Cleo", "discord:30 Cleo"}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what another process changes counts soon", func(t *testing.T) {
		clock := newClock()
		far := New(pool, Config{Now: clock.Now})
		if d, err := far.Check(ctx, Subject{AccountID: ann.ID}, ""); err != nil || !d.Allowed {
			t.Fatalf("got %+v, %v", d, err)
		}
		if err := s.Block(ctx, ann.ID, "root", ""); err != nil {
			t.Fatal(err)
		}
		clock.move(policyLife)
		if d, err := far.Check(ctx, Subject{AccountID: ann.ID}, ""); err != nil || d.Allowed {
			t.Errorf("got %+v, %v", d, err)
		}
	})
	t.Run("in memory, no question goes to the database", func(t *testing.T) {
		clock := newClock()
		far := New(pool, Config{Now: clock.Now})
		if _, err := far.Check(ctx, Subject{}, ""); err != nil {
			t.Fatal(err)
		}
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		if d, err := far.Check(canceled, Subject{AccountID: ann.ID}, ""); err != nil || d.Allowed {
			t.Errorf("got %+v, %v", d, err)
		}
		clock.move(policyLife + time.Second)
		if _, err := far.Check(canceled, Subject{}, ""); err == nil {
			t.Error("an old answer was given for true although the database could not be asked")
		}
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, Config{Limits: Limits{AtOnce: 3, PerDay: 20}})
	ctx := t.Context()
	for i, c := range []struct{ operator, own, want Limits }{
		{want: Limits{AtOnce: 3, PerDay: 20}},
		{operator: Limits{AtOnce: 10, PerDay: -1, DayCap: 5}, want: Limits{AtOnce: 10, DayCap: 5}},
		{own: Limits{AtOnce: 10, PerDay: 5, MonthCap: 7}, want: Limits{AtOnce: 3, PerDay: 5, MonthCap: 7}},
		{operator: Limits{MonthCap: 5}, own: Limits{MonthCap: 7}, want: Limits{AtOnce: 3, PerDay: 20, MonthCap: 5}},
	} {
		who := identify(t, s, Identity{Platform: "web", ExternalID: string(rune('a' + i))})
		if err := errors.Join(s.SetLimits(ctx, who.ID, c.operator, BySystem, ""), s.SetOwnLimits(ctx, who.ID, c.own)); err != nil {
			t.Fatal(err)
		}
		got, err := s.LimitsOf(ctx, who.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(i, diff)
		}
		settings, err := s.LimitSettings(ctx, who.ID)
		if want := (LimitSettings{Operator: c.operator, Own: c.own}); err != nil || settings != want {
			t.Errorf("got %+v, %v", settings, err)
		}
	}
	streams, _ := newStore(t, Config{Limits: Limits{Streams: 20}})
	for i, c := range []struct{ operator, want int }{{0, 20}, {50, 50}, {unlimited, 0}} {
		who := identify(t, streams, Identity{Platform: "web", ExternalID: string(rune('a' + i))})
		if err := errors.Join(streams.SetLimits(ctx, who.ID, Limits{Streams: c.operator}, BySystem, ""), streams.Block(ctx, who.ID, BySystem, "")); err != nil {
			t.Fatal(err)
		}
		if got, err := streams.StreamsOf(ctx, who.ID); err != nil || got != c.want {
			t.Errorf("event streams with %d by the operator: %d, %v", c.operator, got, err)
		}
	}
	who := identify(t, s, Identity{Platform: "web", ExternalID: "z"})
	if err := s.SetOwnLimits(ctx, who.ID, Limits{AtOnce: -1}); registry.AsError(err).Code != registry.CodeInvalidInput {
		t.Errorf("got %v", err)
	}
	if err := s.SetLimits(ctx, who.ID, Limits{DayCap: -2}, BySystem, ""); registry.AsError(err).Code != registry.CodeInvalidInput {
		t.Errorf("got %v", err)
	}
}
