package blocklist

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFind(t *testing.T) {
	t.Parallel()
	l, err := Parse("# what this house does not draw\nbadword\n\nsecret club\nverbot*\nплохо\nстрашн*\n坏词\nill\n1488\nnaïf", `\bmr\.? ?x\d+\b`)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"a badword here":              "badword",
		"a BadWord here":              "badword",
		"bádwörd":                     "badword",
		"b\u0430dw\u043erd":           "badword", // Cyrillic а and о
		"ｂａｄｗｏｒｄ":                     "badword", // full width
		"𝐛𝐚𝐝𝐰𝐨𝐫𝐝":                     "badword", // mathematical
		"bad\u200bword":               "badword", // a space of no width
		"bad\u00adword":               "badword", // a soft hyphen
		"b a d w o r d":               "badword",
		"b.a.d.w.o.r.d":               "badword",
		"bad-word":                    "badword",
		"b4dw0rd":                     "badword",
		"b@dword!":                    "badword",
		"b@dword !":                   "badword",
		"b  a\nd word":                "badword",
		"i1l and tired":               "ill",
		"the secret   club":           "secret club",
		"the secretclub":              "secret club",
		"Verbotenes":                  "verbot*",
		"ПЛОХО":                       "плохо",
		"п л о х о":                   "плохо",
		"плoxo":                       "плохо", // Latin o, x
		"очень страшная вещь":         "страшн*",
		"一个坏词在这里":                     "坏词",
		"坏 词":                         "坏词",
		"no 1488":                     "1488",
		"so naif":                     "naïf",
		"for Mr. X12, please":         `\bmr\.? ?x\d+\b`,
		"for MR Х12":                  `\bmr\.? ?x\d+\b`, // Cyrillic Х
		"a badwords list":             "",
		"unbadword":                   "",
		"bad words hurt":              "",
		"a bad word":                  "",
		"still, a hill":               "",
		"the club is secret":          "",
		"14 88 and 14,880":            "",
		"nothing of that kind, at 9%": "",
		"":                            "",
	} {
		got, found := l.Find(text)
		if got != want || found != (want != "") {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
	var none *List
	if _, found := none.Find("badword"); found {
		t.Error("a list that is not there finds something")
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, bad := range [][2]string{{"---", ""}, {"*", ""}, {"", "("}, {"", "a*"}, {"", strings.Repeat(`\pL{1000}`+"\n", 101)}} {
		if l, err := Parse(bad[0], bad[1]); err == nil {
			t.Errorf("%q: got %v", bad, l)
		}
	}
}

func TestEachLookAlikeHasALetter(t *testing.T) {
	t.Parallel()
	if a, b := utf8.RuneCountInString(alike), len(latin); a != b {
		t.Errorf("%d signs look like %d letters", a, b)
	}
}

func FuzzFind(f *testing.F) {
	l, err := Parse("badword\nsecret club\n坏词", "x+y")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("b a d", "w o r d")
	f.Fuzz(func(t *testing.T, before, after string) {
		l.Find(before + after)
		if _, found := l.Find(before + " badword " + after); !found && !strings.ContainsFunc(before+after, func(r rune) bool { return r > 0x2ff }) {
			t.Errorf("not found between %q and %q", before, after)
		}
	})
}

// BenchmarkFind looks through a prompt of two hundred words with a list of five thousand.
func BenchmarkFind(b *testing.B) {
	var words []string
	for i := range 5000 {
		words = append(words, string([]rune{rune('a' + i%26), rune('a' + i/26%26), rune('a' + i/676), 'x'}))
	}
	l, err := Parse(strings.Join(words, "\n"), "")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("a red bicycle stands under the old lighthouse by the sea ", 20)
	for b.Loop() {
		if entry, found := l.Find(text); found {
			b.Fatal(entry)
		}
	}
}
