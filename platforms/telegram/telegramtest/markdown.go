package telegramtest

import (
	"strings"
	"unicode/utf8"
)

// markdownMarks are the paired marks of MarkdownV2, longest first, with the name the refusals use.
var markdownMarks = []struct{ mark, kind, name string }{
	{"||", "spoiler", "Spoiler"}, {"__", "underline", "Underline"}, {"*", "bold", "Bold"},
	{"_", "italic", "Italic"}, {"~", "strikethrough", "Strikethrough"},
}

type openMark struct {
	mark, name string
	entity     Entity
	at         int
}

// markdownParser reads MarkdownV2. Block quotations are refused as reserved characters would be: our
// programs never send them in this mode.
type markdownParser struct {
	in   string
	pos  int
	out  strings.Builder
	size int
	open []openMark
	done []Entity
}

func parseMarkdownV2(in string) (formatted, *apiError) {
	p := &markdownParser{in: in}
	for p.pos < len(in) {
		if err := p.step(); err != nil {
			return formatted{}, err
		}
	}
	if n := len(p.open); n > 0 {
		return formatted{}, entityError("Can't find end of %s entity at byte offset %d", p.open[n-1].name, p.open[n-1].at)
	}
	return formatted{text: p.out.String(), entities: p.done}, nil
}

func (p *markdownParser) step() *apiError {
	rest := p.in[p.pos:]
	if rest[0] == '\\' && len(rest) > 1 && rest[1] > 0 && rest[1] < 127 {
		p.write(rest[1:2], 2)
		return nil
	}
	if n := len(p.open); n > 0 && p.open[n-1].mark == "[" && rest[0] == ']' {
		return p.link()
	}
	switch {
	case strings.HasPrefix(rest, "```"):
		return p.verbatim("```", "pre", "Pre")
	case rest[0] == '`':
		return p.verbatim("`", "code", "Code")
	case rest[0] == '[':
		p.open = append(p.open, openMark{"[", "TextUrl", Entity{Type: "text_link", Offset: p.size}, p.pos})
		p.pos++
		return nil
	}
	for _, m := range markdownMarks {
		if strings.HasPrefix(rest, m.mark) {
			return p.toggle(m.mark, m.kind, m.name)
		}
	}
	if strings.IndexByte(`_*[]()~>#+-=|{}.!`, rest[0]) >= 0 {
		return entityError(`Character '%c' is reserved and must be escaped with the preceding '\'`, rest[0])
	}
	_, n := utf8.DecodeRuneInString(rest)
	p.write(rest[:n], n)
	return nil
}

func (p *markdownParser) write(s string, consumed int) {
	p.out.WriteString(s)
	p.size += utf16Len(s)
	p.pos += consumed
}

func (p *markdownParser) toggle(mark, kind, name string) *apiError {
	n := len(p.open)
	if n > 0 && p.open[n-1].mark == mark {
		p.finish(p.open[n-1].entity)
		p.open = p.open[:n-1]
	} else {
		p.open = append(p.open, openMark{mark, name, Entity{Type: kind, Offset: p.size}, p.pos})
	}
	p.pos += len(mark)
	return nil
}

func (p *markdownParser) finish(e Entity) {
	if e.Length = p.size - e.Offset; e.Length > 0 {
		p.done = append(p.done, e)
	}
}

// verbatim reads code, in which only the backtick and the backslash are escaped.
func (p *markdownParser) verbatim(mark, kind, name string) *apiError {
	begin, e := p.pos, Entity{Type: kind, Offset: p.size}
	p.pos += len(mark)
	if kind == "pre" {
		if line, _, found := strings.Cut(p.in[p.pos:], "\n"); found && !strings.ContainsAny(line, " `") {
			e.Language = line
			p.pos += len(line) + 1
		}
	}
	for p.pos < len(p.in) {
		rest := p.in[p.pos:]
		if strings.HasPrefix(rest, mark) {
			p.pos += len(mark)
			p.finish(e)
			return nil
		}
		if rest[0] == '\\' && len(rest) > 1 {
			p.write(rest[1:2], 2)
			continue
		}
		_, n := utf8.DecodeRuneInString(rest)
		p.write(rest[:n], n)
	}
	return entityError("Can't find end of %s entity at byte offset %d", name, begin)
}

// link ends [text] and reads the (address) after it.
func (p *markdownParser) link() *apiError {
	n := len(p.open)
	mark := p.open[n-1]
	p.open = p.open[:n-1]
	p.pos++
	e := mark.entity
	if !strings.HasPrefix(p.in[p.pos:], "(") {
		e.URL, _ = utf16Slice(p.out.String(), e.Offset, p.size-e.Offset)
	} else {
		end := strings.IndexByte(p.in[p.pos:], ')')
		if end < 0 {
			return entityError("Can't find end of a URL at byte offset %d", p.pos)
		}
		e.URL = strings.ReplaceAll(p.in[p.pos+1:p.pos+end], `\`, "")
		p.pos += end + 1
	}
	if strings.Contains(e.URL, ".") || strings.Contains(e.URL, "://") {
		p.finish(e)
	}
	return nil
}
