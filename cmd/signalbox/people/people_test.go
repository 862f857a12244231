package people

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/users"
)

func TestFindingPeople(t *testing.T) {
	t.Parallel()
	store := users.New(postgrestest.New(t), users.Config{})
	comes := func(platform, id, name, handle string) string {
		t.Helper()
		a, err := store.Identify(t.Context(), users.Identity{Platform: platform, ExternalID: id, Name: name, Handle: handle})
		if err != nil {
			t.Fatal(err)
		}
		return a.ID
	}
	ann, bob := comes("telegram", "12345", "Ann Lee", "@annlee"), comes("discord", "77", "Bob", "")
	comes("discord", "78", "Annabel", "")
	comes("discord", "79", "bob", "")
	carl := comes("telegram", "9", "Carl", "")
	for whom, want := range map[string]string{
		ann: ann, "telegram:12345": ann, "@ANNLEE": ann, "annlee": ann, "telegram:@annlee": ann, "ann lee": ann, "carl": carl, "discord:77": bob,
	} {
		if got, err := Find(t.Context(), store, whom); err != nil || got.ID != want {
			t.Errorf("%s: %s, %v", whom, got.ID, err)
		}
	}
	for whom, want := range map[string][]string{
		"bob":             {"may be several people", "discord:77", "discord:79"},
		"Ann":             {`nobody is called "Ann"; similar are`, "telegram:12345 @annlee", "Annabel"},
		"@ann":            {"nobody is called", "@annlee"},
		"discord:@annlee": {"nobody is called"},
		"@":               {"nobody is called"},
		"zoe":             {"signalbox people lists"},
		"telegram:1":      {"nobody has come as telegram:1"},
		" ":               {"nobody is called"},
	} {
		got, err := Find(t.Context(), store, whom)
		if err == nil {
			t.Errorf("%q is taken for %s", whom, got.DisplayName)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v; expected %q in it", whom, err, part)
			}
		}
	}
	var out strings.Builder
	if err := Print(t.Context(), &out, store, "@annlee"); err != nil || out.String() != ann+"  Ann Lee  telegram:12345 @annlee\n" {
		t.Errorf("%v: %s", err, out.String())
	}
	out.Reset()
	if err := Print(t.Context(), &out, store, ""); err != nil || strings.Count(out.String(), "\n") != 5 {
		t.Errorf("%v: %s", err, out.String())
	}
}
