package edit

import (
	"strings"
	"unicode/utf8"
)

// Kind says whether words of a Piece are in both texts or in one of them.
type Kind string

// The kinds.
const (
	Same Kind = "same"
	Gone Kind = "gone" // in the old text only
	New  Kind = "new"
)

// Piece is words that stand beside each other, with the spaces behind them.
type Piece struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
}

// maxUnits bounds the words that are compared with each other. Where more lie between the first and the last change their lines are
// compared, and where those are too many all of it is told as gone and new.
const maxUnits = 2000

// Difference says which words of old are gone in text and which are new. The pieces that are not New make up old, those that are not Gone
// make up text.
func Difference(old, text string) []Piece {
	a, b := words(old), words(text)
	begin, end := 0, 0
	for begin < min(len(a), len(b)) && a[begin] == b[begin] {
		begin++
	}
	for end < min(len(a), len(b))-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	pieces := joined(nil, Piece{Same, strings.Join(a[:begin], "")})
	pieces = joined(pieces, between(a[begin:len(a)-end], b[begin:len(b)-end])...)
	return joined(pieces, Piece{Same, strings.Join(a[len(a)-end:], "")})
}

// between compares what lies between the first and the last change.
func between(a, b []string) []Piece {
	if max(len(a), len(b)) > maxUnits {
		old, text := strings.Join(a, ""), strings.Join(b, "")
		a, b = strings.SplitAfter(old, "\n"), strings.SplitAfter(text, "\n")
		if max(len(a), len(b)) > maxUnits {
			return []Piece{{Gone, old}, {New, text}}
		}
	}
	common := lengths(a, b)
	var pieces []Piece
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			pieces = joined(pieces, Piece{Same, a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			pieces = joined(pieces, Piece{Gone, a[i]})
			i++
		default:
			pieces = joined(pieces, Piece{New, b[j]})
			j++
		}
	}
	return pieces
}

// Brief shortens a difference to most runes or a few more: of what is the same some words beside each change stay, of what changes the
// beginning. "…" stands for what is left out.
func Brief(pieces []Piece, most int) []Piece {
	var kept []Piece
	for i, p := range pieces {
		if p.Kind == Same {
			p.Text = beside(p.Text, i > 0, i < len(pieces)-1)
		} else {
			p.Text = beginning(p.Text, most/3) // a text that is new as a whole shows both
		}
		p.Text = beginning(p.Text, most)
		kept = append(kept, p)
		if most -= utf8.RuneCountInString(p.Text); most < 0 {
			break
		}
	}
	return kept
}

// around is how many words beside a change are told.
const around = 8

// beside keeps the words of a text that follow a change, and those that one follows.
func beside(text string, after, before bool) string {
	list, first, last := words(text), 0, 0
	if after {
		first = around
	}
	if before {
		last = around
	}
	if len(list) <= first+last+1 {
		return text
	}
	return strings.Join(list[:first], "") + "… " + strings.Join(list[len(list)-last:], "")
}

func beginning(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}

// words are those of a text, each with the spaces behind it. A sign of a script without spaces is a word.
func words(text string) []string {
	var list []string
	begin, spaced := 0, false
	for i, r := range text {
		space := r == ' ' || r == '\n' || r == '\t'
		if i > begin && (spaced && !space || r > 0x2E80) {
			list = append(list, text[begin:i])
			begin = i
		}
		spaced = space
	}
	if begin < len(text) {
		list = append(list, text[begin:])
	}
	return list
}

// lengths are those of the longest common sequence of what follows each pair of places.
func lengths(a, b []string) [][]int16 {
	table := make([][]int16, len(a)+1)
	for i := range table {
		table[i] = make([]int16, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}

// joined adds pieces, those of one kind to each other.
func joined(pieces []Piece, more ...Piece) []Piece {
	for _, p := range more {
		if n := len(pieces); n > 0 && pieces[n-1].Kind == p.Kind {
			pieces[n-1].Text += p.Text
		} else if p.Text != "" {
			pieces = append(pieces, p)
		}
	}
	return pieces
}
