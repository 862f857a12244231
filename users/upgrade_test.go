package users

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/signalbox/signalbox/registry"
)

func TestNamesThatCannotBeKept(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, Config{})
	for i, name := range []string{"a\x00b", "a\xffb", strings.Repeat("ж", 5000)} {
		who := Identity{Platform: "telegram", ExternalID: fmt.Sprint(i), Name: name, Language: name}
		for range 2 {
			got, err := s.Identify(t.Context(), who)
			if err != nil || len(got.DisplayName) > maxText || !utf8.ValidString(got.DisplayName) || got.DisplayName == "" {
				t.Errorf("%.20q: got %.40q, %v", name, got.DisplayName, err)
			}
		}
		if _, err := s.MakeKey(t.Context(), identify(t, s, who).ID, NewKey{Label: name}); err != nil {
			t.Errorf("%.20q as a key's label: %v", name, err)
		}
	}
	odd := Identity{Platform: "telegram", ExternalID: "odd", Name: " Ann\n\x1b[2J\u202e(moderator)\u200b ", Handle: "ann\u202e"}
	if got := identify(t, s, odd); got.DisplayName != "Ann [2J(moderator)" {
		t.Errorf("a name with marks that turn and hide is %q", got.DisplayName)
	}
	if _, err := s.Identify(t.Context(), Identity{Platform: "web", ExternalID: "a\x00b"}); err == nil {
		t.Error("an id was changed into another one")
	}
}

// TestMigrationLosesNothing sets preferences under the old id while they are moved to the new one.
func TestMigrationLosesNothing(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, Config{})
	ctx := context.Background()
	ann := identify(t, s, Identity{Platform: "web", ExternalID: "1"}).ID
	tool := registry.Tool{ToolID: "new", Listing: registry.Listing{Aliases: []string{"old"}}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 200 {
			if err := s.SetPreference(ctx, ann, []string{"old", "new"}[i%2], fmt.Sprint("f", i), i); err != nil {
				t.Error(err)
			}
		}
	}()
	for moving := true; moving; {
		select {
		case <-done:
			moving = false
		default:
		}
		if _, err := s.MigratePreferences(ctx, tool); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.PreferencesFor(ctx, ann, registry.Tool{ToolID: "new"})
	if err != nil || len(got) != 200 || got["f7"] != json.Number("7") {
		t.Errorf("%d of 200 are left, %v", len(got), err)
	}
}
