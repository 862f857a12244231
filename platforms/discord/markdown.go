package discord

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/platforms/chat"
)

// MaxText bounds a message, in characters with its markup.
const MaxText = 2000

var (
	address   = regexp.MustCompile(`https?://[^\s<>]+`)
	special   = regexp.MustCompile("[\\\\*_~|`<\\[\\]]")
	lineStart = regexp.MustCompile(`(?m)^([ \t]*)(#{1,3} |-# |> |>>> |[-+] |\d+\. )`)
)

// escapeMarkdown makes text show as it is. Addresses stay links; they show no preview.
func escapeMarkdown(text string) string {
	var b strings.Builder
	last := 0
	for _, at := range address.FindAllStringIndex(text, -1) {
		b.WriteString(escapeWords(text[last:at[0]], last == 0 || text[last-1] == '\n'))
		b.WriteString("<" + text[at[0]:at[1]] + ">")
		last = at[1]
	}
	b.WriteString(escapeWords(text[last:], last == 0))
	return b.String()
}

// escapeWords escapes a text without addresses. What is special only where a line begins is escaped there.
func escapeWords(text string, begins bool) string {
	text = special.ReplaceAllString(text, `\$0`)
	if !begins {
		first, rest, more := strings.Cut(text, "\n")
		if !more {
			return text
		}
		return first + "\n" + escapeLines(rest)
	}
	return escapeLines(text)
}

func escapeLines(text string) string {
	return lineStart.ReplaceAllStringFunc(text, func(s string) string {
		mark := strings.TrimLeft(s, " \t")
		indent := s[:len(s)-len(mark)]
		if digits := strings.TrimRight(mark, ". "); digits != "" && digits[0] >= '0' && digits[0] <= '9' {
			return indent + digits + `\. `
		}
		return indent + `\` + mark
	})
}

// markdown renders a text within a limit of characters; what is too long with its markup is cut.
func markdown(t chat.Text, limit int) string {
	var b strings.Builder
	used := 0
	for i, s := range t {
		piece := renderSegment(s)
		if s.Style == chat.StyleQuote && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			piece = "\n" + piece
		}
		room := limit - used
		if i < len(t)-1 {
			room-- // for the mark of a cut
		}
		if utf8.RuneCountInString(piece) > room {
			b.WriteString(cutSegment(s, limit-used))
			break
		}
		b.WriteString(piece)
		used += utf8.RuneCountInString(piece)
	}
	return b.String()
}

// cutSegment renders the longest beginning of a segment that fits.
func cutSegment(s chat.Segment, limit int) string {
	runes := []rune(s.Text)
	for n := min(len(runes), limit); n > 0; n -= max(1, n/16) {
		s.Text = strings.TrimRight(string(runes[:n]), " \n")
		if piece := renderSegment(s) + "…"; utf8.RuneCountInString(piece) <= limit {
			return piece
		}
	}
	return ""
}

func renderSegment(s chat.Segment) string {
	core := strings.TrimSpace(s.Text)
	if core == "" || s.Style == chat.StylePlain {
		return escapeMarkdown(s.Text)
	}
	before, after, _ := strings.Cut(s.Text, core)
	switch s.Style {
	case chat.StyleBold, chat.StyleNew:
		core = "**" + escapeMarkdown(core) + "**"
	case chat.StyleGone:
		core = "~~" + escapeMarkdown(core) + "~~"
	case chat.StyleItalic:
		core = "*" + escapeMarkdown(core) + "*"
	case chat.StyleCode:
		core = inlineCode(core)
	case chat.StylePre:
		core = "```\n" + strings.ReplaceAll(s.Text, "```", "`\u200b``") + "\n```"
	case chat.StyleQuote:
		core = "> " + strings.ReplaceAll(escapeMarkdown(core), "\n", "\n> ")
	case chat.StyleLink:
		core = "[" + escapeMarkdown(core) + "](<" + strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20").Replace(s.URL) + ">)"
	case chat.StyleTime: // in the reader's own zone and language
		core = "<t:" + strconv.FormatInt(s.At.Unix(), 10) + ":f>"
	case chat.StyleMention:
		if isID(s.URL) {
			core = "<@" + s.URL + ">"
		} else {
			core = escapeMarkdown(core)
		}
	}
	return before + core + after
}

// inlineCode marks code; code with a back-tick stands between two of them.
func inlineCode(text string) string {
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	return "`` " + strings.ReplaceAll(text, "``", "`\u200b`") + " ``"
}

// isID tells whether a text looks like one of Discord's ids.
func isID(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
