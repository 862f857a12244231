package index

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
)

// segment is a text as Postgres can find its words: Chinese and Japanese, which have no blanks, as overlapping pairs of characters, and the parts
// of joinedWords behind them.
func segment(text string) string {
	var b strings.Builder
	var run []rune // of characters without blanks
	flush := func() {
		for i := range run {
			if i+1 < len(run) || len(run) == 1 {
				fmt.Fprintf(&b, " %s ", string(run[i:min(i+2, len(run))]))
			}
		}
		run = run[:0]
	}
	for word := range strings.FieldsSeq(text) {
		for _, r := range word {
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
				run = append(run, r)
				continue
			}
			flush()
			b.WriteRune(r)
		}
		flush()
		b.WriteByte(' ')
		if parts := camelParts(word); parts != "" {
			b.WriteString(parts)
		}
	}
	return b.String()
}

// camelParts are the words in one such as sendMessage, or nothing.
func camelParts(word string) string {
	var b strings.Builder
	joined := false
	var last rune
	for _, r := range word {
		switch {
		case unicode.IsUpper(r) && unicode.IsLower(last):
			joined = true
			b.WriteByte(' ')
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		}
		b.WriteRune(r)
		last = r
	}
	if !joined {
		return ""
	}
	return b.String() + " "
}

// trigrams are the parts of three letters of a word, with two blanks before it and one behind, as pg_trgm has them.
func trigrams(word string) []string {
	letters := []rune("  " + word + " ")
	var list []string
	for i := range len(letters) - 2 {
		list = append(list, string(letters[i:i+3]))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// storable is a text without what Postgres does not take.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}

func jsonList(list []string) string {
	if list == nil {
		list = []string{}
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // a list of texts always is JSON
	}
	return string(text)
}

// configurations are the text search configurations of Postgres that have stop words, by which a language is told, and the codes of their
// languages.
var configurations = map[string]string{
	"da": "danish", "nl": "dutch", "en": "english", "fi": "finnish", "fr": "french", "de": "german", "hu": "hungarian", "it": "italian", "no": "norwegian", "nb": "norwegian",
	"pt": "portuguese", "ru": "russian", "es": "spanish", "sv": "swedish", "tr": "turkish",
}

// Configuration is the text search configuration of a language, given as BCP 47 or by its English name; "" where there is none.
func Configuration(language string) string {
	code, _, _ := strings.Cut(strings.ToLower(language), "-")
	if name, known := configurations[code]; known {
		return name
	}
	for _, name := range configurations {
		if name == code {
			return name
		}
	}
	if code == "simple" {
		return code
	}
	return ""
}

// LanguageCode is the code (BCP 47) of the language of a text search configuration; "" where it is of none.
func LanguageCode(configuration string) string {
	codes := []string{""}
	for code, name := range configurations {
		if name == configuration {
			codes = append(codes, code)
		}
	}
	return slices.Max(codes)
}

const (
	sampleWords = 400 // by which the language of a source is told
	fewWords    = 40  // do not tell that it is none that is known
	leastShare  = 20  // one word in so many is a stop word, at least, where the language is known
)

// findLanguage tells the language of a source by its first documents.
func (r *refresh) findLanguage(ctx context.Context) error {
	var words []string
	for _, w := range r.pending {
		for _, c := range w.Chunks {
			words = append(words, strings.Fields(c.Text)...)
		}
		if len(words) > sampleWords {
			words = words[:sampleWords]
			break
		}
	}
	language, n, err := r.languageOf(ctx, words, "english")
	if len(words) >= fewWords && n*leastShare < len(words) {
		language = "simple"
	}
	r.source.Language = language
	return err
}

// languageOf is the configuration for whose language the most words are stop words, and how many; usual where no other has more.
func (x *Index) languageOf(ctx context.Context, words []string, usual string) (language string, most int, err error) {
	names := slices.Sorted(maps.Values(configurations))
	rows, _ := x.Pool.Query(ctx, `SELECT name, count(*) FROM unnest($1::text[]) name, unnest($2::text[]) word
		WHERE ts_lexize((name || '_stem')::regdictionary, lower(word)) = '{}' GROUP BY name ORDER BY count(*) DESC, name <> $3, name LIMIT 1`, slices.Compact(names), words, usual)
	language = usual
	_, err = pgx.ForEachRow(rows, []any{&language, &most}, func() error { return nil })
	return language, most, err
}
