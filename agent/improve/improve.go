// Package improve helps with prompts where there is no model to ask: styles that can be added to one. It also says in which words a
// prompt differs from another.
package improve

import (
	"cmp"
	_ "embed" // for the styles that come with the program
	"encoding/json"
	"strings"
)

//go:embed styles.json
var stylesFile []byte

// Style is words that can be added to a prompt.
type Style struct {
	ID    string
	Name  string
	Words string
}

// Styles are the styles that come with the program, in a language (a base language such as "de"; English where there are no texts in it).
func Styles(language string) []Style {
	var file []struct {
		ID    string            `json:"id"`
		Name  map[string]string `json:"name"`
		Words map[string]string `json:"words"`
	}
	if err := json.Unmarshal(stylesFile, &file); err != nil {
		panic("improve: the embedded styles.json: " + err.Error())
	}
	list := make([]Style, len(file))
	for i, s := range file {
		list[i] = Style{s.ID, cmp.Or(s.Name[language], s.Name["en"]), cmp.Or(s.Words[language], s.Words["en"])}
	}
	return list
}

// Add gives the prompt in the style. A prompt that has its words already stays as it is.
func (s Style) Add(prompt string) string {
	prompt = strings.TrimRight(strings.TrimSpace(prompt), ".,;")
	switch {
	case strings.Contains(strings.ToLower(prompt), strings.ToLower(s.Words)):
		return prompt
	case prompt == "":
		return s.Words
	}
	return prompt + ", " + s.Words
}

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

// maxWords bounds the texts that are compared word by word: longer ones are shown as gone and new.
const maxWords = 2000

// Difference says which words of old are gone in text and which are new. The pieces that are not New make up old, those that are not Gone
// make up text.
func Difference(old, text string) []Piece {
	a, b := words(old), words(text)
	if len(a) > maxWords || len(b) > maxWords {
		return joined(nil, Piece{Gone, old}, Piece{New, text})
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
