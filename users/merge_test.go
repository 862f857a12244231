package users

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/registry"
)

func countWelcomes(welcomed map[string]int) func(context.Context, pgx.Tx, Account) error {
	return func(_ context.Context, _ pgx.Tx, a Account) error {
		welcomed[a.ID]++
		return nil
	}
}

// join merges two accounts as RedeemLinkCode does, without a code.
func (s *Store) join(ctx context.Context, a, b string) (merged Merged, err error) {
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) (err error) {
		merged, err = s.merge(ctx, tx, a, b, BySystem)
		return err
	})
	s.policy.forget()
	return merged, err
}

func (s *Store) mustMerge(t *testing.T, a, b string) Merged {
	t.Helper()
	merged, err := s.join(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	return merged
}

func TestMerge(t *testing.T) {
	t.Parallel()
	var moves []string
	s, pool := newStore(t, Config{OnMerge: func(_ context.Context, _ pgx.Tx, from, into string) error {
		moves = append(moves, from+" > "+into)
		return nil
	}})
	ctx := t.Context()
	tool := registry.Tool{ToolID: "flux"}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ann := identify(t, s, Identity{Platform: "telegram", ExternalID: "1", Name: "Ann", Language: "de"})
	bob := identify(t, s, Identity{Platform: "discord", ExternalID: "2", Name: "Bob", Language: "en"})
	key, err := s.MakeKey(ctx, bob.ID, NewKey{Label: "laptop"})
	must(err)
	must(s.SetPreference(ctx, ann.ID, "flux", "steps", 9))
	must(s.SetPreference(ctx, bob.ID, "flux", "steps", 5))
	must(s.SetPreference(ctx, bob.ID, "flux", "cfg", 2))
	must(s.SavePreset(ctx, ann.ID, "flux", "Night", map[string]any{"steps": 1}))
	must(s.SavePreset(ctx, bob.ID, "flux", "night", map[string]any{"steps": 2}))
	must(s.SavePreset(ctx, bob.ID, "flux", "day", map[string]any{"steps": 3}))
	must(s.SetLimits(ctx, ann.ID, Limits{AtOnce: 5, PerDay: -1, DayCap: 7}, BySystem, ""))
	must(s.SetLimits(ctx, bob.ID, Limits{AtOnce: 3, PerDay: 10}, BySystem, ""))
	must(s.SetOwnLimits(ctx, bob.ID, Limits{MonthCap: 100}))
	must(s.SetLanguage(ctx, bob.ID, "cs"))
	must(s.SetOperator(ctx, bob.ID, true))
	must(s.SetRule(ctx, Rule{Kind: RuleAccount, Subject: ann.ID, Allow: true, By: BySystem}))
	must(s.Block(ctx, bob.ID, BySystem, "once"))

	merged := s.mustMerge(t, bob.ID, ann.ID)
	if want := (Account{ID: ann.ID, DisplayName: "Ann", Language: "cs", Operator: true, CreatedAt: ann.CreatedAt}); merged.Account != want || merged.From != bob.ID {
		t.Errorf("got %+v, want %+v", merged, want)
	}
	if again := s.mustMerge(t, ann.ID, bob.ID); again.From != "" || again.Account.ID != ann.ID {
		t.Errorf("a repeat gives %+v", again)
	}
	if diff := cmp.Diff([]string{bob.ID + " > " + ann.ID}, moves); diff != "" {
		t.Error(diff)
	}
	t.Run("settings: the survivor's win, none is lost", func(t *testing.T) {
		values, err := s.PreferencesFor(ctx, bob.ID, registry.Tool{ToolID: "flux"})
		must(err)
		if diff := cmp.Diff(map[string]any{"steps": json.Number("9"), "cfg": json.Number("2")}, values); diff != "" {
			t.Error(diff)
		}
		presets, err := s.Presets(ctx, ann.ID, tool)
		must(err)
		got := map[string]any{}
		for _, p := range presets {
			got[p.Name] = p.Values["steps"]
		}
		if diff := cmp.Diff(map[string]any{"Night": json.Number("1"), "night 2": json.Number("2"), "day": json.Number("3")}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("of limits the stricter, of rules the denial", func(t *testing.T) {
		settings, err := s.LimitSettings(ctx, bob.ID)
		must(err)
		want := LimitSettings{Operator: Limits{AtOnce: 3, PerDay: 10, DayCap: 7}, Own: Limits{MonthCap: 100}}
		if settings != want {
			t.Errorf("got %+v, want %+v", settings, want)
		}
		for _, id := range []string{ann.ID, bob.ID} {
			if d, err := s.Check(ctx, Subject{AccountID: id}, ""); err != nil || d.Reason != ReasonBlocked {
				t.Errorf("got %+v, %v", d, err)
			}
		}
	})
	t.Run("keys and the old id lead to the survivor, also for what is written", func(t *testing.T) {
		if got, _, err := s.KeyOf(ctx, key); err != nil || got.ID != ann.ID {
			t.Errorf("got %+v, %v", got, err)
		}
		if got, err := s.ByID(ctx, bob.ID); err != nil || got.ID != ann.ID {
			t.Errorf("got %+v, %v", got, err)
		}
		must(s.SetPreference(ctx, bob.ID, "late", "steps", 1))
		must(s.SavePreset(ctx, bob.ID, "late", "x", nil))
		must(s.SetLanguage(ctx, bob.ID, "fr"))
		_, err := s.MakeKey(ctx, bob.ID, NewKey{Label: "late"})
		must(err)
		must(s.ResetPreference(ctx, bob.ID, "flux", "cfg"))
		for _, table := range []string{"user_preferences", "user_presets", "user_keys", "user_identities", "user_limits", "user_sessions"} {
			var left int
			if err := pool.QueryRow(ctx, `SELECT count(*) FROM `+table+` WHERE user_id = $1`, bob.ID).Scan(&left); err != nil || left != 0 {
				t.Errorf("%s has %d rows of the old account, %v", table, left, err)
			}
		}
	})
	t.Run("over several steps", func(t *testing.T) {
		eve := identify(t, s, Identity{Platform: "web", ExternalID: "3"})
		_, err := pool.Exec(ctx, `UPDATE users SET created_at = created_at - interval '1 day' WHERE id = $1`, eve.ID)
		must(err)
		s.mustMerge(t, bob.ID, eve.ID)
		for _, id := range []string{ann.ID, bob.ID, eve.ID} {
			if got, err := s.ByID(ctx, id); err != nil || got.ID != eve.ID {
				t.Errorf("got %+v, %v", got, err)
			}
		}
		if identities, err := s.Identities(ctx, ann.ID); err != nil || len(identities) != 3 {
			t.Errorf("got %+v, %v", identities, err)
		}
	})
	t.Run("with nobody", func(t *testing.T) {
		if _, err := s.join(ctx, ann.ID, "00000000-0000-7000-8000-000000000000"); !errors.Is(err, ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
}

func TestMergeFailsWhole(t *testing.T) {
	t.Parallel()
	failure := errors.New("no money today")
	s, _ := newStore(t, Config{OnMerge: func(context.Context, pgx.Tx, string, string) error { return failure }})
	ann, bob := identify(t, s, Identity{Platform: "web", ExternalID: "1"}), identify(t, s, Identity{Platform: "web", ExternalID: "2"})
	if _, err := s.join(t.Context(), ann.ID, bob.ID); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	if got, err := s.ByID(t.Context(), bob.ID); err != nil || got.ID != bob.ID {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestMergesAtOnce merges a crowd in all directions while its people change their settings.
func TestMergesAtOnce(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, Config{})
	ctx := context.Background()
	people := make([]Account, 4)
	for i := range people {
		people[i] = identify(t, s, Identity{Platform: "web", ExternalID: fmt.Sprint(i)})
	}
	var wait sync.WaitGroup
	for i := range people {
		for _, j := range []int{(i + 1) % len(people), (i + 2) % len(people)} {
			wait.Go(func() {
				if _, err := s.join(ctx, people[i].ID, people[j].ID); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Go(func() {
			for n := range 10 {
				if err := s.SetPreference(ctx, people[i].ID, "flux", fmt.Sprint(i, " ", n), n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	for _, p := range people {
		values, err := s.PreferencesFor(ctx, p.ID, registry.Tool{ToolID: "flux"})
		if got, byID := s.ByID(ctx, p.ID); err != nil || byID != nil || got.ID != people[0].ID || len(values) != 40 {
			t.Errorf("%+v has %d of 40 settings, %v", got, len(values), err)
		}
	}
}

// TestMergeLosesNoSetting does anything in any order and compares with what a person would expect.
func TestMergeLosesNoSetting(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, Config{})
	ctx := t.Context()
	number := 0
	rapid.Check(t, func(rt *rapid.T) {
		model := map[string]map[string]any{} // settings by survivor
		root := map[string]string{}
		var people []string
		for range 4 {
			number++
			id := identify(t, s, Identity{Platform: "web", ExternalID: fmt.Sprint(number)}).ID
			people, root[id], model[id] = append(people, id), id, map[string]any{}
		}
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			who := rapid.SampledFrom(people).Draw(rt, "who")
			field := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "field")
			switch rapid.IntRange(0, 2).Draw(rt, "what") {
			case 0:
				n := rapid.IntRange(0, 99).Draw(rt, "value")
				if err := s.SetPreference(ctx, who, "flux", field, n); err != nil {
					rt.Fatal(err)
				}
				model[root[who]][field] = json.Number(fmt.Sprint(n))
			case 1:
				if err := s.ResetPreference(ctx, who, "flux", field); err != nil {
					rt.Fatal(err)
				}
				delete(model[root[who]], field)
			case 2:
				other := rapid.SampledFrom(people).Draw(rt, "other")
				merged, err := s.join(ctx, who, other)
				if err != nil {
					rt.Fatal(err)
				}
				if merged.From == "" {
					continue
				}
				into := merged.Account.ID
				all := model[merged.From]
				maps.Copy(all, model[into])
				model[into] = all
				for id, r := range root {
					if r == merged.From {
						root[id] = into
					}
				}
			}
		}
		for _, id := range people {
			got, err := s.PreferencesFor(ctx, id, registry.Tool{ToolID: "flux"})
			if err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(model[root[id]], got); diff != "" {
				rt.Error(diff)
			}
		}
	})
}
