package chat

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// textFiles hold what the bot says, one flat JSON object per language: key to text. A text may have
// *bold* and `code` parts and {placeholders}; what is put in for a placeholder is never read as markup.
//
//go:embed texts/*.json
var textFiles embed.FS

// fallbackLanguage is the language every text exists in.
const fallbackLanguage = "en"

// catalogue is all that the bot says, by language and key.
type catalogue map[string]map[string]string

func loadCatalogue(files fs.FS) (catalogue, error) {
	names, err := fs.Glob(files, "texts/*.json")
	if err != nil {
		return nil, err
	}
	c := catalogue{}
	for _, name := range names {
		raw, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		texts := map[string]string{}
		if err := json.Unmarshal(raw, &texts); err != nil {
			return nil, fmt.Errorf("texts of the bot, %s: %w", name, err)
		}
		c[strings.TrimSuffix(path.Base(name), ".json")] = texts
	}
	return c, nil
}

// voice speaks one language.
type voice struct {
	own      map[string]string
	fallback map[string]string
}

// voice gives the voice for a BCP 47 language; English where there is no better.
func (c catalogue) voice(language string) voice {
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	return voice{own: c[base], fallback: c[fallbackLanguage]}
}

// languages lists the languages besides the fallback.
func (c catalogue) languages() []string {
	var list []string
	for lang := range c {
		if lang != fallbackLanguage {
			list = append(list, lang)
		}
	}
	return list
}

// say gives a text with its placeholders filled: pairs of name and value. A value that is a Text keeps
// its styles. A key that is not in the catalogue gives the key, so that nothing is lost in silence.
func (v voice) say(key string, pairs ...any) Text {
	template, ok := v.own[key]
	if !ok {
		template, ok = v.fallback[key]
	}
	if !ok {
		return Plain(key)
	}
	return fill(template, pairs)
}

// line is say without styles, for labels and alerts.
func (v voice) line(key string, pairs ...any) string { return v.say(key, pairs...).String() }

// fill reads a template's markup and puts values in.
func fill(template string, pairs []any) Text {
	var (
		text  Text
		style Style
		start int
	)
	flush := func(end int) {
		if end > start {
			text = append(text, Segment{Style: style, Text: template[start:end]})
		}
	}
	for i := 0; i < len(template); i++ {
		switch template[i] {
		case '*', '`':
			flush(i)
			style, start = toggle(style, template[i]), i+1
		case '{':
			end := strings.IndexByte(template[i:], '}')
			if end < 0 {
				continue
			}
			flush(i)
			text = append(text, value(template[i+1:i+end], pairs, style)...)
			i += end
			start = i + 1
		}
	}
	flush(len(template))
	return text
}

func toggle(now Style, mark byte) Style {
	if now != StylePlain {
		return StylePlain
	}
	if mark == '*' {
		return StyleBold
	}
	return StyleCode
}

func value(name string, pairs []any, style Style) Text {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] != name {
			continue
		}
		if t, ok := pairs[i+1].(Text); ok {
			return t
		}
		return Text{{Style: style, Text: fmt.Sprint(pairs[i+1])}}
	}
	return Plain("{" + name + "}")
}
