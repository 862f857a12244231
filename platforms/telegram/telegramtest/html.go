package telegramtest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

var htmlTags = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
	"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "tg-spoiler": "spoiler", "span": "spoiler",
	"a": "text_link", "tg-emoji": "custom_emoji", "code": "code", "pre": "pre", "blockquote": "blockquote", "tg-time": "date_time",
}

// htmlParser reads the HTML subset of the Bot API, with the server's refusals. Positions are bytes.
type htmlParser struct {
	in   string
	pos  int
	out  strings.Builder
	size int // UTF-16 units written
	open []openTag
	done []Entity
}

type openTag struct {
	name   string
	entity Entity
	attrs  map[string]string
}

func entityError(format string, args ...any) *apiError {
	return badRequest("can't parse entities: %s", fmt.Sprintf(format, args...))
}

func parseHTML(in string) (formatted, *apiError) {
	p := &htmlParser{in: in}
	for p.pos < len(in) {
		if err := p.step(); err != nil {
			return formatted{}, err
		}
	}
	if len(p.open) > 0 {
		return formatted{}, entityError(`Can't find end tag corresponding to start tag "%s"`, p.open[len(p.open)-1].name)
	}
	return formatted{text: p.out.String(), entities: p.done}, nil
}

func (p *htmlParser) step() *apiError {
	switch p.in[p.pos] {
	case '&':
		r, n := htmlEntity(p.in[p.pos:])
		p.write(r)
		p.pos += n
		return nil
	case '<':
		if strings.HasPrefix(p.in[p.pos:], "</") {
			return p.endTag()
		}
		return p.startTag()
	}
	r, n := utf8.DecodeRuneInString(p.in[p.pos:])
	p.write(string(r))
	p.pos += n
	return nil
}

func (p *htmlParser) write(s string) {
	p.out.WriteString(s)
	p.size += utf16Len(s)
}

// htmlEntity decodes one of the four named entities or a number; anything else is the ampersand itself.
func htmlEntity(s string) (text string, size int) {
	end := strings.IndexByte(s, ';')
	if end < 0 || end > 10 {
		return "&", 1
	}
	switch name := s[1:end]; {
	case name == "lt":
		return "<", end + 1
	case name == "gt":
		return ">", end + 1
	case name == "amp":
		return "&", end + 1
	case name == "quot":
		return `"`, end + 1
	case strings.HasPrefix(name, "#x"):
		if n, err := strconv.ParseInt(name[2:], 16, 32); err == nil && n > 0 && utf8.ValidRune(rune(n)) {
			return string(rune(n)), end + 1
		}
	case strings.HasPrefix(name, "#"):
		if n, err := strconv.ParseInt(name[1:], 10, 32); err == nil && n > 0 && utf8.ValidRune(rune(n)) {
			return string(rune(n)), end + 1
		}
	}
	return "&", 1
}

func (p *htmlParser) startTag() *apiError {
	begin := p.pos
	end := strings.IndexByte(p.in[p.pos:], '>')
	if end < 0 {
		return entityError("Unclosed start tag at byte offset %d", begin)
	}
	body := p.in[p.pos+1 : p.pos+end]
	p.pos += end + 1
	name, rest, _ := strings.Cut(body, " ")
	name = strings.ToLower(name)
	kind, ok := htmlTags[name]
	if !ok {
		return entityError(`Unsupported start tag "%s" at byte offset %d`, name, begin)
	}
	attrs, err := htmlAttributes(name, rest, begin)
	if err != nil {
		return err
	}
	if name == "span" && attrs["class"] != "tg-spoiler" {
		return entityError(`Tag "span" must have class "tg-spoiler" at byte offset %d`, begin)
	}
	p.open = append(p.open, openTag{name, Entity{Type: kind, Offset: p.size}, attrs})
	return nil
}

// htmlAttributes reads name="value" pairs; a bare name counts as set.
func htmlAttributes(tag, s string, at int) (map[string]string, *apiError) {
	attrs := map[string]string{}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		i := strings.IndexAny(s, "= ")
		if i == 0 {
			return nil, entityError(`Empty attribute name in the tag "%s" at byte offset %d`, tag, at)
		}
		if i < 0 || s[i] == ' ' {
			if i < 0 {
				i = len(s)
			}
			attrs[strings.ToLower(s[:i])] = ""
			s = s[i:]
			continue
		}
		name := strings.ToLower(s[:i])
		s = s[i+1:]
		if s == "" || s[0] != '"' && s[0] != '\'' {
			value, rest, _ := strings.Cut(s, " ")
			attrs[name], s = value, rest
			continue
		}
		end := strings.IndexByte(s[1:], s[0])
		if end < 0 {
			return nil, entityError(`Unclosed start tag at byte offset %d`, at)
		}
		attrs[name], s = unescapeHTML(s[1:1+end]), s[end+2:]
	}
	return attrs, nil
}

func unescapeHTML(s string) string {
	var b strings.Builder
	for s != "" {
		if s[0] == '&' {
			text, n := htmlEntity(s)
			b.WriteString(text)
			s = s[n:]
			continue
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	return b.String()
}

func (p *htmlParser) endTag() *apiError {
	begin := p.pos
	if len(p.open) == 0 {
		return entityError("Unexpected end tag at byte offset %d", begin)
	}
	end := strings.IndexByte(p.in[p.pos:], '>')
	if end < 0 {
		return entityError("Unclosed end tag at byte offset %d", begin)
	}
	name := strings.ToLower(strings.TrimSpace(p.in[p.pos+2 : p.pos+end]))
	p.pos += end + 1
	tag := p.open[len(p.open)-1]
	if name != "" && name != tag.name {
		return entityError(`Unmatched end tag at byte offset %d, expected "</%s>", found "</%s>"`, begin, tag.name, name)
	}
	p.open = p.open[:len(p.open)-1]
	p.close(tag)
	return nil
}

func (p *htmlParser) close(tag openTag) {
	e := tag.entity
	e.Length = p.size - e.Offset
	if e.Length == 0 {
		return
	}
	switch tag.name {
	case "a":
		if e.URL = tag.attrs["href"]; e.URL == "" {
			e.URL, _ = utf16Slice(p.out.String(), e.Offset, e.Length)
		}
		if !strings.Contains(e.URL, ".") && !strings.Contains(e.URL, "://") {
			return // not an address: the text stays, the link goes
		}
	case "tg-emoji":
		e.CustomEmojiID = tag.attrs["emoji-id"]
	case "blockquote":
		if _, ok := tag.attrs["expandable"]; ok {
			e.Type = "expandable_blockquote"
		}
	case "code":
		e.Language = strings.TrimPrefix(tag.attrs["class"], "language-")
		if n := len(p.open); e.Language != "" && n > 0 && p.open[n-1].name == "pre" {
			p.open[n-1].entity.Language = e.Language
			return
		}
		e.Language = ""
	}
	p.done = append(p.done, e)
}
