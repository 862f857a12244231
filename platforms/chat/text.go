package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Length counts UTF-16 code units, as Capabilities does.
func Length(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// Shorten cuts s to limit on a border of visible characters and marks the cut.
func Shorten(s string, limit int) string {
	if Length(s) <= limit {
		return s
	}
	if limit <= 0 {
		return ""
	}
	var b strings.Builder
	used, state := 1, -1 // one for the mark
	for rest := s; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used += Length(cluster); used > limit {
			break
		}
		b.WriteString(cluster)
	}
	return strings.TrimRight(b.String(), " \n") + "…"
}

// Brief puts a text on one line and shortens it.
func Brief(s string, limit int) string {
	return Shorten(strings.Join(strings.Fields(s), " "), limit)
}

// InWords shortens a text on one line where a word ends, unless its last word alone is most of it.
func InWords(s string, limit int) string {
	short := Brief(s, limit)
	kept, cut := strings.CutSuffix(short, "…")
	if !cut || strings.HasPrefix(strings.Join(strings.Fields(s), " "), kept+" ") {
		return short
	}
	if i := strings.LastIndex(kept, " "); i > len(kept)/2 {
		return strings.TrimRight(kept[:i], " ,;:–-") + "…"
	}
	return short
}

// FirstSentence gives the first sentence of a text's first paragraph, on one line. A dot ends a sentence where a
// new one seems to begin: "e.g. this" and "v1.5" have none.
func FirstSentence(s string) string {
	paragraph, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(s), "\r\n", "\n"), "\n\n")
	words := strings.Fields(paragraph)
	for i, word := range words[:max(0, len(words)-1)] {
		next, _ := utf8.DecodeRuneInString(words[i+1])
		if strings.ContainsAny(word[len(word)-1:], ".!?") && !strings.Contains(word[:len(word)-1], ".") && !unicode.IsLower(next) {
			return strings.Join(words[:i+1], " ")
		}
	}
	return strings.Join(words, " ")
}

// Len counts UTF-16 code units.
func (t Text) Len() int {
	n := 0
	for _, s := range t {
		n += Length(s.Text)
	}
	return n
}

// Cut shortens a text to limit, keeping styles.
func (t Text) Cut(limit int) Text {
	if t.Len() <= limit {
		return t
	}
	var kept Text
	for _, s := range t {
		n := Length(s.Text)
		if n < limit {
			kept, limit = append(kept, s), limit-n
			continue
		}
		s.Text = Shorten(s.Text+"…", limit)
		return append(kept, s)
	}
	return kept
}

// Join puts texts together with sep between those that are not empty.
func Join(sep string, texts ...Text) Text {
	var all Text
	for _, t := range texts {
		if t.Len() == 0 {
			continue
		}
		if len(all) > 0 {
			all = append(all, Segment{Text: sep})
		}
		all = append(all, t...)
	}
	return all
}

// Lines puts texts on lines of their own.
func Lines(texts ...Text) Text { return Join("\n", texts...) }

// FirstNonEmpty gives the first text that is more than white space, or "".
func FirstNonEmpty(list ...string) string {
	for _, s := range list {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}
