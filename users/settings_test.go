package users

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/registry"
)

func TestPlacePreferences(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, Config{})
	ctx := t.Context()
	tool := registry.Tool{ToolID: "flux", Listing: registry.Listing{Aliases: []string{"old"}}, Migrations: []registry.Rename{{From: "quality", To: "steps"}}}
	chat := Place{"discord", PlaceChat, "1"}
	set := func(place Place, toolID, field string, value any) {
		t.Helper()
		if err := s.SetPlacePreference(ctx, place, toolID, field, value, "ann"); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(t *testing.T, chat, space string, want map[string]any) {
		t.Helper()
		got, err := s.ChatPreferences(ctx, "discord", chat, space, tool)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	set(guild, "flux", "cfg", json.Number("1.50"))
	set(guild, "flux", "seed", 7)
	set(chat, "flux", "seed", json.Number("18446744073709551615"))
	set(chat, "old", "quality", 9)
	t.Run("a chat's values go over those of its space", func(t *testing.T) {
		wants(t, "1", "77", map[string]any{"cfg": json.Number("1.50"), "seed": json.Number("18446744073709551615"), "steps": json.Number("9")})
		wants(t, "2", "77", map[string]any{"cfg": json.Number("1.50"), "seed": json.Number("7")})
		wants(t, "2", "", map[string]any{})
	})
	t.Run("outside of chats there are none", func(t *testing.T) {
		got, err := s.ChatPreferences(ctx, "", "", "", tool)
		if err != nil || got == nil || len(got) != 0 {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("A88 values follow a renamed tool and renamed inputs, and can be reset", func(t *testing.T) {
		if n, err := s.MigratePreferences(ctx, tool); err != nil || n != 1 {
			t.Errorf("migrated %d, %v", n, err)
		}
		if err := s.ResetPlacePreference(ctx, chat, "flux", "steps", "ann"); err != nil {
			t.Fatal(err)
		}
		wants(t, "1", "", map[string]any{"seed": json.Number("18446744073709551615")})
		if err := s.ResetPlacePreferences(ctx, chat, "flux", "ann"); err != nil {
			t.Fatal(err)
		}
		wants(t, "1", "", map[string]any{})
		wants(t, "1", "77", map[string]any{"cfg": json.Number("1.50"), "seed": json.Number("7")})
	})
	t.Run("no place, no value; and all is on record", func(t *testing.T) {
		if err := s.SetPlacePreference(ctx, Place{Platform: "discord"}, "flux", "cfg", 1, "ann"); err == nil {
			t.Error("a value of no place was taken")
		}
		entries, err := s.Audit(ctx, AuditQuery{})
		if err != nil || len(entries) != 6 || entries[0].By != "ann" {
			t.Errorf("%d entries, %v", len(entries), err)
		}
	})
}

func TestPresets(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, Config{})
	ctx := t.Context()
	tool := registry.Tool{ToolID: "flux", Listing: registry.Listing{Aliases: []string{"old"}}, Migrations: []registry.Rename{{From: "quality", To: "steps"}}}
	ann := identify(t, s, Identity{Platform: "web", ExternalID: "1"}).ID
	save := func(toolID, name string, values map[string]any) {
		t.Helper()
		if err := s.SavePreset(ctx, ann, toolID, name, values); err != nil {
			t.Fatal(err)
		}
	}
	save("flux", "  Night   sky ", map[string]any{"seed": json.Number("18446744073709551615")})
	save("old", "day", map[string]any{"quality": 9})
	save("old", "night sky", map[string]any{"quality": 1})
	names := func() (names []string) {
		t.Helper()
		presets, err := s.Presets(ctx, ann, tool)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range presets {
			names = append(names, p.Name)
		}
		return names
	}
	t.Run("listed by name, the tool's former ones too", func(t *testing.T) {
		if diff := cmp.Diff([]string{"day", "Night sky"}, names()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("the tools that have some, by their ids then, the last first", func(t *testing.T) {
		ids, err := s.PresetTools(ctx, ann)
		if diff := cmp.Diff([]string{"old", "flux"}, ids); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
	t.Run("found in any case, values exact and under today's names", func(t *testing.T) {
		for name, want := range map[string]map[string]any{
			"NIGHT SKY": {"seed": json.Number("18446744073709551615")}, "Day": {"steps": json.Number("9")},
		} {
			got, err := s.Preset(ctx, ann, tool, name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Values); diff != "" {
				t.Error(diff)
			}
		}
		if _, err := s.Preset(ctx, ann, tool, "dusk"); !errors.Is(err, ErrNoPreset) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("saved again, deleted", func(t *testing.T) {
		save("flux", "NIGHT SKY", map[string]any{"cfg": 1})
		save("flux", "dawn", nil)
		if err := s.DeletePreset(ctx, ann, "flux", "DAWN"); err != nil {
			t.Fatal(err)
		}
		if err := s.DeletePreset(ctx, ann, "flux", "dawn"); !errors.Is(err, ErrNoPreset) {
			t.Errorf("got %v", err)
		}
		if diff := cmp.Diff([]string{"day", "NIGHT SKY"}, names()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("names and numbers are bounded", func(t *testing.T) {
		for _, name := range []string{"", " \n", strings.Repeat("ж", 41)} {
			if err := s.SavePreset(ctx, ann, "flux", name, nil); registry.AsError(err).Code != registry.CodeInvalidInput {
				t.Errorf("%.10q: %v", name, err)
			}
		}
		save("flux", strings.Repeat("ж", 40), nil)
		for i := range maxPresets {
			save("song", fmt.Sprint(i), nil)
		}
		save("song", "0", map[string]any{"again": true})
		if err := s.SavePreset(ctx, ann, "song", "one more", nil); registry.AsError(err).Code != registry.CodeInvalidInput {
			t.Errorf("got %v", err)
		}
	})
}

func TestPeople(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, Config{})
	ctx := t.Context()
	ann := identify(t, s, Identity{Platform: "telegram", ExternalID: "123", Name: "Ann Smith"})
	bob := identify(t, s, Identity{Platform: "discord", ExternalID: "456", Name: "Bob"})
	old := identify(t, s, Identity{Platform: "web", ExternalID: "789", Name: "Smithers"})
	s.mustMerge(t, old.ID, ann.ID)
	if err := errors.Join(s.ChangeOperator(ctx, bob.ID, true, "root", "helps"), s.Block(ctx, ann.ID, "root", ""), s.SetLimits(ctx, ann.ID, Limits{PerDay: 5}, "root", "")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		query PeopleQuery
		want  []string
	}{
		"all, newest first":    {PeopleQuery{}, []string{bob.ID, ann.ID}},
		"by name":              {PeopleQuery{Text: "smith"}, []string{ann.ID}},
		"by an identity":       {PeopleQuery{Text: "789"}, []string{ann.ID}},
		"by an old id":         {PeopleQuery{Text: old.ID}, []string{ann.ID}},
		"by platform":          {PeopleQuery{Platform: "discord"}, []string{bob.ID}},
		"operators":            {PeopleQuery{Operators: true}, []string{bob.ID}},
		"the blocked":          {PeopleQuery{Blocked: true}, []string{ann.ID}},
		"the next page":        {PeopleQuery{Before: bob.ID, Limit: 1}, []string{ann.ID}},
		"wildcards are no use": {PeopleQuery{Text: "%"}, nil},
	} {
		people, err := s.People(ctx, c.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range people {
			got = append(got, p.ID)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(name, diff)
		}
	}
	person, err := s.PersonByID(ctx, old.ID)
	if err != nil || !person.Blocked || len(person.Identities) != 2 || person.Limits.Operator.PerDay != 5 || person.Operator {
		t.Errorf("got %+v, %v", person, err)
	}
	entries, err := s.Audit(ctx, AuditQuery{AccountID: bob.ID})
	if err != nil || len(entries) != 1 || entries[0].Note != "helps" || entries[0].Detail != "an operator" {
		t.Errorf("the record says %+v, %v", entries, err)
	}
}

// Who is not among the newest is found all the same, by whatever names them, and nobody else is looked at.
func TestPeopleAmongMany(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, Config{})
	ctx := t.Context()
	ann := identify(t, s, Identity{Platform: "telegram", ExternalID: "id-123", Name: "Ann O'Smith", Handle: "@ann_draws"})
	wang := identify(t, s, Identity{Platform: "discord", ExternalID: "id-456", Name: "王伟"})
	old := identify(t, s, Identity{Platform: "web", ExternalID: "id-789", Name: "Smithers"})
	s.mustMerge(t, old.ID, ann.ID)
	if _, err := pool.Exec(ctx, `UPDATE users SET display_name = 'Wei' WHERE id = $1`, wang.ID); err != nil {
		t.Fatal(err)
	}
	_, err := pool.Exec(ctx, `INSERT INTO users (id, display_name) SELECT ('ffffffff-ffff-7fff-8fff-' || lpad(to_hex(n), 12, '0'))::uuid, 'Crowd ' || n FROM generate_series(1, $1 + 200) n`, lately)
	if err != nil {
		t.Fatal(err)
	}
	const newest, twelfth = "ffffffff-ffff-7fff-8fff-0000000004b0", "ffffffff-ffff-7fff-8fff-00000000000c"
	for text, want := range map[string][]string{
		"o'smith": {ann.ID}, "o'S": {ann.ID}, "@ANN_DRAWS": {ann.ID}, "id-789": {ann.ID}, "hers": {ann.ID}, old.ID: {ann.ID},
		"王伟": {wang.ID}, "伟": {wang.ID}, "wei": {wang.ID}, "id-456": {wang.ID}, "crowd 1200": {newest}, "smith@ann": nil, "nobody": nil, "%": nil,
	} {
		people, err := s.People(ctx, PeopleQuery{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range people {
			got = append(got, p.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(text, diff)
		}
	}
	page, err := s.People(ctx, PeopleQuery{Text: "crowd 12", Before: "ffffffff-ffff-7fff-8fff-000000000078", Limit: 2})
	if err != nil || len(page) != 1 || page[0].ID != twelfth {
		t.Errorf("the last page of a text: %v, %v", page, err)
	}
	var plan []string
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) (err error) {
		if _, err := tx.Exec(ctx, `SET LOCAL enable_seqscan = off`); err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, `EXPLAIN SELECT FROM users u WHERE `+foundSQL, "smith", "")
		plan, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{"users_by_name", "user_identities_by_name", "user_identities_by_external_id"} {
		if !strings.Contains(strings.Join(plan, "\n"), index) {
			t.Errorf("%s is of no use: %s", index, strings.Join(plan, "\n"))
		}
	}
}

func TestKeysAreListedAndRevoked(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, Config{})
	ctx := t.Context()
	ann, bob := identify(t, s, Identity{Platform: "web", ExternalID: "1"}), identify(t, s, Identity{Platform: "web", ExternalID: "2"})
	used, err := s.MakeKey(ctx, ann.ID, NewKey{Label: "laptop", SpendLimit: 7})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.MakeKey(ctx, ann.ID, NewKey{Label: "phone"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.KeyOf(ctx, used); err != nil {
		t.Fatal(err)
	}
	keys, err := s.Keys(ctx, ann.ID)
	if err != nil || len(keys) != 2 || keys[0].Label != "phone" || keys[0].LastUsedAt != nil || keys[1].LastUsedAt == nil || !strings.HasPrefix(used, keys[1].Hint) || len(keys[1].Hint) > 8 {
		t.Fatalf("got %+v, %v", keys, err)
	}
	if _, key, err := s.KeyOf(ctx, used); err != nil || key.SpendLimit != 7 || key.ID != keys[1].ID {
		t.Errorf("got %+v, %v", key, err)
	}
	if found, err := s.KeysOf(ctx, []int64{keys[1].ID, 0}); err != nil || len(found) != 1 || found[keys[1].ID].Account != ann || found[keys[1].ID].Key.SpendLimit != 7 {
		t.Errorf("got %+v, %v", found, err)
	}
	if err := s.RevokeKey(ctx, bob.ID, keys[1].ID, ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("somebody else's key: %v", err)
	}
	if err := s.RevokeKey(ctx, ann.ID, keys[1].ID, ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.KeyOf(ctx, used); !errors.Is(err, ErrNotFound) {
		t.Errorf("a revoked key opens: %v", err)
	}
	if found, err := s.KeysOf(ctx, []int64{keys[1].ID}); err != nil || len(found) != 0 {
		t.Errorf("a revoked key is there: %+v, %v", found, err)
	}
}

func TestKeysAreRestrictedAndEnd(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, Config{})
	ctx := t.Context()
	ann := identify(t, s, Identity{Platform: "web", ExternalID: "1"})
	end := time.Now().Add(time.Hour).Truncate(time.Second)
	secret, err := s.MakeKey(ctx, ann.ID, NewKey{Tools: []string{"wallpaper", "flux*"}, ExpiresAt: &end})
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := s.KeyOf(ctx, secret)
	if err != nil || !slices.Equal(key.Tools, []string{"wallpaper", "flux*"}) || !key.ExpiresAt.Equal(end) || !key.OwnRuns || !key.Restricted() {
		t.Fatalf("got %+v, %v", key, err)
	}
	plain, err := s.MakeKey(ctx, ann.ID, NewKey{SpendLimit: 1, AllRuns: true})
	if err != nil {
		t.Fatal(err)
	}
	for secret, want := range map[string]int{secret: 0, plain: 1} { // versions that do not know all restrictions look for this hash
		var found int
		hash := sha256.Sum256([]byte(secret))
		if err := pool.QueryRow(ctx, `SELECT count(*) FROM user_keys WHERE hash = $1`, hash[:]).Scan(&found); err != nil || found != want {
			t.Errorf("a former version finds %d keys, want %d (%v)", found, want, err)
		}
	}
	narrow := key.Narrow(Account{ID: ann.ID, Operator: true})
	if narrow.Operator || narrow.Tools != registry.Only(key.Tools) || narrow.Sees("") || narrow.Sees("key:0") || !narrow.Sees(key.Budget()) {
		t.Errorf("got %+v", narrow)
	}
	if wide, err := s.MakeKey(ctx, ann.ID, NewKey{SpendLimit: 1, AllRuns: true}); err != nil {
		t.Error(err)
	} else if _, key, err := s.KeyOf(ctx, wide); err != nil || key.OwnRuns || !key.Restricted() {
		t.Errorf("a key with all runs: %+v, %v", key, err)
	}
	var typed *registry.Error
	if _, err := s.MakeKey(ctx, ann.ID, NewKey{ExpiresAt: new(time.Now().Add(-time.Second))}); !errors.As(err, &typed) || typed.Field != "expires" {
		t.Errorf("a key that has ended: %v", err)
	}
	if _, err := s.KeyOfBudget(ctx, ann.ID, key.Budget()); err != nil {
		t.Error(err)
	}
	if _, err := pool.Exec(ctx, `UPDATE user_keys SET expires_at = now() - interval '1 second' WHERE id = $1`, key.ID); err != nil {
		t.Fatal(err)
	}
	var ended *KeyEndedError
	if _, _, err := s.KeyOf(ctx, secret); !errors.As(err, &ended) || !errors.Is(err, ErrNotFound) {
		t.Errorf("a key that has ended: %v", err)
	}
	if found, err := s.KeysOf(ctx, []int64{key.ID}); err != nil || len(found) != 0 {
		t.Errorf("a key that has ended is there: %+v, %v", found, err)
	}
	if _, err := s.KeyOfBudget(ctx, ann.ID, key.Budget()); !errors.Is(err, ErrNotFound) {
		t.Errorf("the budget of a key that has ended: %v", err)
	}
}
