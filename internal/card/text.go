package card

import (
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// takeLine takes the first named member that is a single value, as one line.
func (r *reader) takeLine(o *object, names ...string) string {
	return r.line(takeText(o, names...), maxLine)
}

// takeText takes the first named member that is a single value; one that holds others stays where it is.
func takeText(o *object, names ...string) string {
	for _, name := range names {
		rest := *o
		if s := scalar(rest.take(name)); s != "" {
			*o = rest
			return s
		}
	}
	return ""
}

// scalar is a single value as text, "" for what holds others.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "yes"
		}
		return "no"
	}
	return ""
}

// inline writes any value on one line: lists with commas, objects as their labels and values.
func (r *reader) inline(v any) string {
	var parts []string
	switch v := v.(type) {
	case object:
		for _, m := range v {
			if one := r.inline(m.value); one != "" {
				parts = append(parts, words(m.key)+": "+one)
			}
		}
		return strings.Join(parts, " · ")
	case []any:
		for _, item := range v {
			if one := r.inline(item); one != "" {
				parts = append(parts, one)
			}
		}
		return strings.Join(parts, ", ")
	}
	return scalar(v)
}

// line puts a text on one line and shortens it to so many runes.
func (r *reader) line(s string, most int) string {
	return r.short(strings.Join(strings.Fields(clean(s)), " "), most)
}

// text keeps the lines of a text, with at most one empty one in a row.
func (r *reader) text(s string) string {
	var lines []string
	for line := range strings.Lines(clean(s)) {
		line = strings.TrimSpace(line)
		if line != "" || len(lines) > 0 && lines[len(lines)-1] != "" {
			lines = append(lines, line)
		}
	}
	return r.short(strings.TrimSpace(strings.Join(lines, "\n")), maxText)
}

// short cuts a text to so many runes and marks the cut.
func (r *reader) short(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	r.out.Cut = true
	return strings.TrimSpace(string([]rune(s)[:most-1])) + "…"
}

// clean takes out what is no text: control characters other than breaks of lines, and those that turn the direction
// of what follows, by which one address looks like another.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\ufeff', r == '\u2028', r == '\u2029':
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// words spells a member's name out: "first_name" and "firstName" are "First name".
func words(key string) string {
	var b strings.Builder
	lower := false // the rune before was a small letter or a digit
	for _, r := range key {
		switch {
		case r == '_' || r == '-' || r == '.':
			r = ' '
		case unicode.IsUpper(r) && lower:
			b.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		b.WriteRune(r)
	}
	spelled := strings.Join(strings.Fields(b.String()), " ")
	first, size := utf8.DecodeRuneInString(spelled)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + spelled[size:]
}

// secure gives an address as it may be linked, and its host: https, without a user, in printable characters.
func secure(address string) (link, host string, ok bool) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || len(address) > maxURL || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || clean(address) != address {
		return "", "", false
	}
	return u.String(), u.Host, true
}
