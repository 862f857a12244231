package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Told says in a language the message of an error, or the reason why a tool can't be used. Words that are not the program's own are
// quoted, after what the code of the error says; an empty code says nothing. English readers are told the words as they are.
func Told(v i18n.Voice, code registry.Code, reason said.Text) string {
	words, ours := v.Text(reason)
	if ours || v.Language() == i18n.Fallback {
		return Sentence(words)
	}
	var lines []string
	if key := "problem." + string(code); v.Has(key) {
		lines = append(lines, v.Line(key))
	}
	if words != "" {
		lines = append(lines, v.Line("problem.words", "words", words))
	}
	return strings.Join(lines, "\n")
}

// Wanted says what an input takes.
func Wanted(v i18n.Voice, f registry.InputField) string {
	return v.Line(wantedKey(f), "range", rangeOf(f))
}

// maxChoices is how many choices a sentence names.
const maxChoices = 20

// Fitting says which values an input takes where no buttons show them.
func Fitting(v i18n.Voice, f registry.InputField) string {
	if len(f.Choices) == 0 || f.Type.IsMedia() {
		return Wanted(v, f)
	}
	var names []string
	for _, c := range f.Choices[:min(len(f.Choices), maxChoices)] {
		names = append(names, c.Text())
	}
	if len(f.Choices) > maxChoices {
		names = append(names, "…")
	}
	return v.Line("want.choices", "choices", strings.Join(names, ", "))
}

// Inside writes a label as it stands inside a line: its first word small, unless that is an abbreviation or the language writes
// nouns with a capital.
func Inside(v i18n.Voice, label string) string {
	first, rest := utf8.DecodeRuneInString(label)
	if second, _ := utf8.DecodeRuneInString(label[rest:]); label == "" || v.Language() == "de" || unicode.IsUpper(second) {
		return label
	}
	return string(unicode.ToLower(first)) + label[rest:]
}

// WrongValue says that a value does not fit an input, and what would.
func WrongValue(v i18n.Voice, f registry.InputField) string {
	return v.Line("ask.wrongKind", "input", f.Label()) + "\n" + Fitting(v, f)
}

// wantedKey is the key of the text that says what an input takes.
func wantedKey(f registry.InputField) string {
	if f.Type.IsMedia() {
		if f.Multiple {
			return "want." + string(f.Type) + ".many"
		}
		return "want." + string(f.Type)
	}
	switch {
	case len(f.Choices) > 0:
		return "want.choice"
	case f.Type == registry.TypeBoolean:
		return "want.boolean"
	case f.Type == registry.TypeNumber:
		return "want.number"
	}
	return "want.text"
}

// rangeOf writes which numbers an input takes: " 1–50", " ≥ 1", or "".
func rangeOf(f registry.InputField) string {
	switch {
	case f.Min != "" && f.Max != "":
		return " " + f.Min.String() + "–" + f.Max.String()
	case f.Min != "":
		return " ≥ " + f.Min.String()
	case f.Max != "":
		return " ≤ " + f.Max.String()
	}
	return ""
}

// CategoryName is a category of tools in words. The usual ones are in the catalogue of texts; others stand as they are, with
// a capital letter.
func CategoryName(v i18n.Voice, category string) string {
	if key := "web.category." + category; v.Has(key) {
		return v.Line(key)
	}
	return Capital(category)
}

// Sentence gives a message a capital letter and a full stop.
func Sentence(s string) string {
	if s == "" {
		return s
	}
	s = Capital(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	switch {
	case strings.ContainsRune(".!?。！？", last):
		return s
	case unicode.Is(unicode.Han, last):
		return s + "。"
	}
	return s + "."
}

// Capital makes the first letter a capital.
func Capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}
