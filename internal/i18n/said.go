package i18n

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// saidFile holds what the house says in English where no reader is known: errors, and the reasons of a tool's state.
// They are stored and sent as they are; its texts find them again.
const saidFile = "texts/said.en.json"

// said finds the key of a text by its English words.
type said struct {
	exact     map[string]string // by the text without placeholders
	templates []saidTemplate    // the one with the most words of its own first
}

type saidTemplate struct {
	key   string
	match *regexp.Regexp
	names []string // of the placeholders, in the order of the groups
	words int      // bytes of its own
}

func loadSaid(files fs.FS) (said, error) {
	s := said{exact: map[string]string{}}
	raw, err := fs.ReadFile(files, saidFile)
	if err != nil {
		return s, nil // a catalogue without it
	}
	var texts map[string]string
	if err := json.Unmarshal(raw, &texts); err != nil {
		return s, fmt.Errorf("texts in %s: %w", saidFile, err)
	}
	for key, text := range texts {
		if !strings.Contains(text, "{") {
			s.exact[text] = key
			continue
		}
		s.templates = append(s.templates, saidTemplateOf(key, text))
	}
	slices.SortFunc(s.templates, func(a, b saidTemplate) int { return cmp.Or(b.words-a.words, strings.Compare(a.key, b.key)) })
	return s, nil
}

var placeholder = regexp.MustCompile(`\{([a-zA-Z]+)\}`)

func saidTemplateOf(key, text string) saidTemplate {
	t := saidTemplate{key: key}
	pattern, end := "", 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		pattern += regexp.QuoteMeta(text[end:at[0]]) + `(.+?)`
		t.words += at[0] - end
		t.names, end = append(t.names, text[at[2]:at[3]]), at[1]
	}
	t.words += len(text) - end
	t.match = regexp.MustCompile(`(?s)^` + pattern + regexp.QuoteMeta(text[end:]) + `$`)
	return t
}

// find gives the key of an English text, and what stands for its placeholders, as pairs for Say.
func (s *said) find(english string) (key string, pairs []any, ok bool) {
	if key, ok := s.exact[english]; ok {
		return key, nil, true
	}
	for _, t := range s.templates {
		values := t.match.FindStringSubmatch(english)
		if values == nil {
			continue
		}
		for i, name := range t.names {
			pairs = append(pairs, name, values[i+1])
		}
		return t.key, pairs, true
	}
	return "", nil, false
}

// Translate says in the voice's language what the house says in English where no reader is known, such as the message of
// an error. It is not ok for words that are not the house's: a service's, or an author's.
func (v Voice) Translate(english string) (text string, ok bool) {
	english = strings.TrimSuffix(strings.TrimSpace(english), ".")
	key, pairs, ok := v.said.find(english)
	if !ok {
		return "", false
	}
	if v.language == Fallback {
		return english, true
	}
	for i := 1; i < len(pairs); i += 2 {
		if inner, ok := v.Translate(pairs[i].(string)); ok {
			pairs[i] = inner
		}
	}
	return v.Line(key, pairs...), true
}
