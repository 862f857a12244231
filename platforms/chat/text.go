package chat

import (
	"strings"

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
