package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// length counts UTF-16 code units, as Capabilities does.
func length(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// shorten cuts s to limit on a border of visible characters and marks the cut.
func shorten(s string, limit int) string {
	if length(s) <= limit {
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
		if used += length(cluster); used > limit {
			break
		}
		b.WriteString(cluster)
	}
	return strings.TrimRight(b.String(), " \n") + "…"
}

// brief puts a text on one line and shortens it.
func brief(s string, limit int) string {
	return shorten(strings.Join(strings.Fields(s), " "), limit)
}

// inWords shortens a text on one line where a word ends, unless its last word alone is most of it.
func inWords(s string, limit int) string {
	short := brief(s, limit)
	kept, cut := strings.CutSuffix(short, "…")
	if !cut || strings.HasPrefix(strings.Join(strings.Fields(s), " "), kept+" ") {
		return short
	}
	if i := strings.LastIndex(kept, " "); i > len(kept)/2 {
		return strings.TrimRight(kept[:i], " ,;:–-") + "…"
	}
	return short
}

// firstSentence gives the first sentence of a text's first paragraph, on one line. A dot ends a sentence where a
// new one seems to begin: "e.g. this" and "v1.5" have none.
func firstSentence(s string) string {
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

// length counts UTF-16 code units.
func (t Text) length() int {
	n := 0
	for _, s := range t {
		n += length(s.Text)
	}
	return n
}

// cut shortens a text to limit, keeping styles.
func (t Text) cut(limit int) Text {
	if t.length() <= limit {
		return t
	}
	var kept Text
	for _, s := range t {
		n := length(s.Text)
		if n < limit {
			kept, limit = append(kept, s), limit-n
			continue
		}
		s.Text = shorten(s.Text+"…", limit)
		return append(kept, s)
	}
	return kept
}

// join puts texts together with sep between those that are not empty.
func join(sep string, texts ...Text) Text {
	var all Text
	for _, t := range texts {
		if t.length() == 0 {
			continue
		}
		if len(all) > 0 {
			all = append(all, Segment{Text: sep})
		}
		all = append(all, t...)
	}
	return all
}

// lines puts texts on lines of their own.
func lines(texts ...Text) Text { return join("\n", texts...) }
