package telegramtest

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Entity is a formatted part of a text; Offset and Length count UTF-16 code units.
type Entity struct {
	Type          string `json:"type"`
	Offset        int    `json:"offset"`
	Length        int    `json:"length"`
	URL           string `json:"url,omitempty"`
	Language      string `json:"language,omitempty"`
	CustomEmojiID string `json:"custom_emoji_id,omitempty"`
	User          *wUser `json:"user,omitempty"`
}

const maxEntities = 100

// formatted is a text with its entities, after parsing.
type formatted struct {
	text     string
	entities []Entity
}

// utf16Len counts UTF-16 code units, the unit of Telegram's offsets.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// utf16Slice cuts length code units at offset; ok is false beyond the end or inside a surrogate pair.
func utf16Slice(s string, offset, length int) (part string, ok bool) {
	start, end, n := -1, -1, 0
	for i, r := range s {
		if n == offset {
			start = i
		}
		if n == offset+length {
			end = i
		}
		n += max(1, utf16.RuneLen(r))
	}
	if n == offset {
		start = len(s)
	}
	if n == offset+length {
		end = len(s)
	}
	if start < 0 || end < start {
		return "", false
	}
	return s[start:end], true
}

// parseText reads text in a parse mode, or with ready entities, and gives what is shown.
func parseText(text, mode string, entities []Entity) (formatted, *apiError) {
	if !utf8.ValidString(text) {
		return formatted{}, badRequest("strings must be encoded in UTF-8")
	}
	out := formatted{text: text, entities: entities}
	var err *apiError
	switch strings.ToLower(mode) {
	case "":
	case "html":
		out, err = parseHTML(text)
	case "markdownv2":
		out, err = parseMarkdownV2(text)
	default:
		return formatted{}, badRequest("unsupported parse_mode")
	}
	if err != nil {
		return formatted{}, err
	}
	if err := checkEntities(out); err != nil {
		return formatted{}, err
	}
	return trimmed(out).withFoundEntities(), nil
}

var entityTypes = []string{
	"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "bold", "italic", "underline",
	"strikethrough", "spoiler", "blockquote", "expandable_blockquote", "code", "pre", "text_link", "text_mention",
	"custom_emoji", "date_time",
}

func checkEntities(f formatted) *apiError {
	if len(f.entities) > maxEntities {
		return badRequest("too many entities: %d, at most %d are shown", len(f.entities), maxEntities)
	}
	for _, e := range f.entities {
		if !slices.Contains(entityTypes, e.Type) {
			return badRequest("can't parse MessageEntity: Unsupported type specified")
		}
		if _, ok := utf16Slice(f.text, e.Offset, e.Length); !ok || e.Offset < 0 || e.Length < 0 {
			return badRequest("entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d", e.Offset, e.Offset+e.Length)
		}
	}
	return nil
}

// trimmed removes the white space that the service removes around a text, and fits the entities.
func trimmed(f formatted) formatted {
	end := strings.TrimRight(f.text, " \t\r\n")
	text := strings.TrimLeft(end, " \t\r\n")
	cut := utf16Len(end) - utf16Len(text)
	size := utf16Len(text)
	var kept []Entity
	for _, e := range f.entities {
		from, to := max(0, e.Offset-cut), min(size, e.Offset+e.Length-cut)
		if to > from {
			e.Offset, e.Length = from, to-from
			kept = append(kept, e)
		}
	}
	return formatted{text: text, entities: kept}
}

var foundEntities = []struct {
	kind string
	re   *regexp.Regexp
}{
	{"bot_command", regexp.MustCompile(`(?:^|[\s(])(/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?)(?:$|[^A-Za-z0-9_/@])`)},
	{"mention", regexp.MustCompile(`(?:^|[\s(])(@[A-Za-z][A-Za-z0-9_]{3,31})\b`)},
	{"url", regexp.MustCompile(`(https?://[^\s<>"]+)`)},
	{"hashtag", regexp.MustCompile(`(?:^|\s)(#[\pL\d_]*[\pL_][\pL\d_]*)`)},
}

// withFoundEntities adds what the service finds by itself: commands, mentions, addresses, hashtags.
func (f formatted) withFoundEntities() formatted {
	for _, found := range foundEntities {
		for _, m := range found.re.FindAllStringSubmatchIndex(f.text, -1) {
			e := Entity{Type: found.kind, Offset: utf16Len(f.text[:m[2]]), Length: utf16Len(f.text[m[2]:m[3]])}
			if !slices.ContainsFunc(f.entities, func(o Entity) bool {
				return e.Offset < o.Offset+o.Length && o.Offset < e.Offset+e.Length
			}) {
				f.entities = append(f.entities, e)
			}
		}
	}
	slices.SortStableFunc(f.entities, func(a, b Entity) int {
		if a.Offset != b.Offset {
			return a.Offset - b.Offset
		}
		return b.Length - a.Length
	})
	return f
}
