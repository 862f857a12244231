package i18n

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/signalbox/signalbox/internal/said"
)

func TestVoices(t *testing.T) {
	t.Parallel()
	c, err := load(fstest.MapFS{
		"texts/a.en.json": {Data: []byte(`{"a.b": "*one* of {x}", "n.n": {"one": "{n} cat", "other": "{n} cats"}, "only.en": "here"}`)},
		"texts/a.ru.json": {Data: []byte(`{"a.b": "один", "n.n": {"one": "{n} кот", "few": "{n} кота", "many": "{n} котов", "other": "{n} кота"}}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ got, want string }{
		"a text with its placeholder":              {c.Voice("en").Line("a.b", "x", 3), "one of 3"},
		"a region speaks its language":             {c.Voice("ru-RU").Line("a.b"), "один"},
		"English where a text is missing":          {c.Voice("ru").Line("only.en"), "here"},
		"English where a language is missing":      {c.Voice("uk").Line("only.en"), "here"},
		"a key that is nowhere is said":            {c.Voice("ru").Line("no.where"), "no.where"},
		"the first language there is":              {c.Match("xx", "ru-RU,en;q=0.5"), "ru"},
		"no language there is":                     {c.Match("xx", "", "!"), ""},
		"plural of one":                            {c.Voice("en").Line("n.n", "n", 1), "1 cat"},
		"plural of many":                           {c.Voice("en").Line("n.n", "n", 0), "0 cats"},
		"Russian plural of few":                    {c.Voice("ru").Line("n.n", "n", 3), "3 кота"},
		"plural of one, as a decimal":              {c.Voice("en").Line("n.n", "n", "1"), "1 cat"},
		"plural of a part":                         {c.Voice("en").Line("n.n", "n", "1.5"), "1.5 cats"},
		"what is no number counts as many":         {c.Voice("en").Line("n.n", "n", "no"), "no cats"},
		"Russian plural of many":                   {c.Voice("ru").Line("n.n", "n", int64(11)), "11 котов"},
		"languages":                                {strings.Join(c.Languages(), " "), "en ru"},
		"a placeholder without a value stays seen": {c.Voice("en").Line("a.b"), "one of {x}"},
		"a value is not read as markup":            {c.Voice("en").Line("a.b", "x", "*{x}*"), "one of *{x}*"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.got != test.want {
				t.Errorf("got %q, want %q", test.got, test.want)
			}
		})
	}
	pieces := c.Voice("en").Say("a.b", "x", 3)
	if len(pieces) != 3 || pieces[0].Style != Bold || pieces[1].Style != Plain || pieces[2].Value != 3 {
		t.Errorf("pieces %+v", pieces)
	}
}

func TestTimeIsWrittenAsInTheLanguage(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 20, 9, 5, 0, 0, time.UTC)
	if got := c.Voice("en").Time(at); got != "2026-11-20 09:05" {
		t.Errorf("English: %q", got)
	}
}

// TestEveryLanguageIsComplete compares each language's files with the English ones: the same keys, and in each
// text the same placeholders.
func TestEveryLanguageIsComplete(t *testing.T) {
	t.Parallel()
	files := map[string]map[string]map[string]string{} // by room and language
	for _, from := range []fs.FS{texts, said.Texts} {
		names, err := fs.Glob(from, "texts/*.json")
		if err != nil || len(names) == 0 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			room, rest, _ := strings.Cut(path.Base(name), ".")
			if files[room] == nil {
				files[room] = map[string]map[string]string{}
			}
			files[room][strings.TrimSuffix(rest, ".json")] = forms(t, from, name)
		}
	}
	for room, byLanguage := range files {
		for _, lang := range languagesOf(files) {
			t.Run(room+" in "+lang, func(t *testing.T) {
				t.Parallel()
				compare(t, byLanguage[Fallback], byLanguage[lang])
			})
		}
	}
}

func languagesOf(files map[string]map[string]map[string]string) []string {
	all := map[string]bool{}
	for _, byLanguage := range files {
		for lang := range byLanguage {
			all[lang] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// forms reads a file: by key, the placeholders of its text. All plural forms together count as one text, since
// "one" need not show its number.
func forms(t *testing.T, files fs.FS, name string) map[string]string {
	t.Helper()
	raw, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]json.RawMessage
	if err := json.Unmarshal(raw, &content); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	found := map[string]string{}
	for key, text := range content {
		found[key] = placeholders(string(text))
	}
	return found
}

func placeholders(text string) string {
	list := regexp.MustCompile(`\{[a-zA-Z]+\}`).FindAllString(text, -1)
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

func compare(t *testing.T, want, got map[string]string) {
	t.Helper()
	for key, placeholders := range want {
		found, ok := got[key]
		if !ok {
			t.Errorf("%q is missing", key)
		} else if found != placeholders {
			t.Errorf("%q has the placeholders %s, want %s", key, found, placeholders)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%q is in no English text", key)
		}
	}
}
