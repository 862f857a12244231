// Package said holds the sentences that the program says where no reader is known: the messages of errors, and the reasons of a
// tool's state. They are logged, stored and sent in English, and beside the English stands the sentence's key with what fills its
// placeholders, so that internal/i18n can say it again in a reader's language.
//
// Texts are in texts/said.LANGUAGE.json, an object of key to text, or to the plural forms of one that depends on {n}. They have
// {placeholders} and no markup.
package said

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
)

// Texts are the sentences in all languages.
//
//go:embed texts/*.json
var Texts embed.FS

// english has the texts by key. It does not change.
var english = load()

// forms is an English text: one where {n} is 1, other else.
type forms struct{ One, Other string }

// UnmarshalJSON reads a text, or an object of both forms.
func (f *forms) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &f.Other) == nil {
		return nil
	}
	type plain forms
	return json.Unmarshal(raw, (*plain)(f))
}

func (f forms) of(n string) string {
	if f.One != "" && n == "1" {
		return f.One
	}
	return f.Other
}

func load() map[string]forms {
	raw, err := Texts.ReadFile("texts/said.en.json")
	if err != nil {
		panic(err)
	}
	var texts map[string]forms
	if err := json.Unmarshal(raw, &texts); err != nil {
		panic(fmt.Errorf("texts/said.en.json: %w", err))
	}
	return texts
}

// Sentence is one that has a text in every language. There are no others than the ones of this package.
type Sentence struct{ key string }

// sentence panics where there is no English text: the other languages have the same keys, as the tests of internal/i18n hold.
func sentence(name string) Sentence {
	key := "said." + name
	if english[key].Other == "" {
		panic("texts/said.en.json has no " + key)
	}
	return Sentence{key}
}

// With fills the placeholders: pairs of name and value. A value is a Text, a Sentence, or anything that prints as words.
func (s Sentence) With(pairs ...any) Text {
	t := Text{Key: s.key}
	for i := 0; i+1 < len(pairs); i += 2 {
		if t.Args == nil {
			t.Args = make(map[string]Text, len(pairs)/2)
		}
		t.Args[fmt.Sprint(pairs[i])] = textOf(pairs[i+1])
	}
	return t
}

func textOf(value any) Text {
	switch v := value.(type) {
	case Text:
		return v
	case Sentence:
		return v.With()
	}
	return Text{Words: fmt.Sprint(value)}
}

// Text is a sentence with its values, or Words that are not the program's own, such as a service's. In JSON it is
// {"key": ..., "args": {...}}, or the bare words.
type Text struct {
	Key   string          // of the sentence; empty for words
	Args  map[string]Text // by placeholder
	Words string
}

// Known reports whether the text is a sentence that the program has.
func (t Text) Known() bool { return english[t.Key].Other != "" }

// String is the text in English. A key that the program does not know any more is said itself.
func (t Text) String() string {
	if t.Key == "" {
		return t.Words
	}
	text, ok := english[t.Key]
	if !ok {
		return t.Key
	}
	return Fill(text.of(t.Args["n"].String()), func(name string) (string, bool) {
		value, ok := t.Args[name]
		return value.String(), ok
	})
}

// Map gives the text with all words in it changed by f, such as to take secrets out.
func (t Text) Map(f func(string) string) Text {
	mapped := Text{Key: t.Key, Words: f(t.Words)}
	for name, arg := range t.Args {
		if mapped.Args == nil {
			mapped.Args = make(map[string]Text, len(t.Args))
		}
		mapped.Args[name] = arg.Map(f)
	}
	return mapped
}

// Fill puts values in for the placeholders of a text. One without a value stays as it is, and values are not looked at again.
func Fill(text string, value func(name string) (string, bool)) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		name, after, closed := strings.Cut(rest, "}")
		b.WriteString(before)
		if !found || !closed {
			b.WriteString(text[len(before):])
			return b.String()
		}
		if v, ok := value(name); ok {
			b.WriteString(v)
		} else {
			b.WriteString("{" + name + "}")
		}
		text = after
	}
}

// quoted is how much of what was given a sentence quotes, in bytes.
const quoted = 40

// Brief is the beginning of what was given, for a sentence that quotes it.
func Brief(given string) string {
	if len(given) <= quoted {
		return given
	}
	return strings.ToValidUTF8(given[:quoted], "") + "..."
}

// keyed is the JSON of a sentence.
type keyed struct {
	Key  string          `json:"key"`
	Args map[string]Text `json:"args,omitempty"`
}

// MarshalJSON writes an object, or a string for words.
func (t Text) MarshalJSON() ([]byte, error) {
	if t.Key == "" {
		return json.Marshal(t.Words)
	}
	return json.Marshal(keyed{t.Key, t.Args})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Text) UnmarshalJSON(data []byte) error {
	var words string
	if json.Unmarshal(data, &words) == nil {
		*t = Text{Words: words}
		return nil
	}
	var k keyed
	if err := json.Unmarshal(data, &k); err != nil {
		return fmt.Errorf(`a text is a string or {"key": ..., "args": {...}}: %w`, err)
	}
	*t = Text{Key: k.Key, Args: k.Args}
	return nil
}
