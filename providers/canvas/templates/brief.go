// Package templates makes drawings from plain words: posters, cards, quotes, charts and memes, a small language of lines for everything else, and changes
// to what was drawn, said in words. It needs no model.
package templates

import (
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Kind is what is to be drawn.
type Kind string

// The kinds. Lines are drawn as they say.
const (
	Poster Kind = "poster"
	Card   Kind = "card"
	Quote  Kind = "quote"
	Chart  Kind = "chart"
	Meme   Kind = "meme"
	Lines  Kind = "lines"
)

// Brief is what somebody wants drawn.
type Brief struct {
	Kind    Kind
	Words   string // as they were said
	Kicker  string // the occasion: a line above the title
	Title   string
	Details []string // time, place and the like; who said a quote
	Values  []Value  // of a chart
	Style   string   // of a chart: bar, line or pie
	Seed    uint64   // chooses composition and colours
	Picture *Picture // to put in
	Named   bool     // the kind was said, not guessed
}

// Value is a bar, a point or a slice.
type Value struct {
	Label string
	N     float64
	Text  string // as it was written, with its unit
}

// Picture is a stored picture and its size.
type Picture struct {
	Ref           string
	Width, Height int
}

// names are the words for each kind in the five languages.
var names = map[Kind][]string{
	Poster: {"poster", "flyer", "invitation", "plakat", "einladung", "cartel", "póster", "invitación", "афиша", "афишу", "постер", "плакат", "приглашение", "海报", "邀请"},
	Card:   {"card", "karte", "tarjeta", "открытка", "открытку", "карточка", "карточку", "卡片", "贺卡"},
	Quote:  {"quote", "zitat", "cita", "цитата", "цитату", "引言", "名言", "语录"},
	Chart:  {"chart", "graph", "diagram", "diagramm", "gráfico", "диаграмма", "диаграмму", "график", "图表", "柱状图", "饼图"},
	Meme:   {"meme", "мем", "表情包", "梗图"},
}

// fillers are words before and after the name of a kind that say nothing of what it shows.
var fillers = []string{"a", "an", "the", "me", "please", "draw", "make", "create", "new", "design", "for", "of", "with", "about", "from", "on", "in", "to", "bar", "line", "pie", "birthday-card",
	"ein", "eine", "einen", "bitte", "zeichne", "mach", "mache", "mir", "neues", "für", "von", "mit", "über", "zum", "zur", "am", "im", "der", "die", "das", "den",
	"un", "una", "por", "favor", "dibuja", "haz", "hazme", "para", "de", "del", "con", "sobre", "el", "la", "los", "las",
	"нарисуй", "сделай", "мне", "пожалуйста", "для", "на", "про", "о", "с", "画", "一张", "做", "的"}

// Read understands a request.
func Read(words string, picture *Picture, seed uint64) Brief {
	words = strings.TrimSpace(words)
	b := Brief{Words: words, Picture: picture, Seed: seed}
	if b.Seed == 0 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(words))
		b.Seed = h.Sum64()
	}
	if isLines(words) {
		b.Kind, b.Named = Lines, true
		return b
	}
	head, rest, colon := cutHead(words)
	b.Kind, b.Named = kindOf(head)
	switch {
	case b.Kind == "" && isTable(words):
		b.Kind = Chart
	case b.Kind == "" && picture != nil:
		b.Kind = Meme
	case b.Kind == "":
		b.Kind, rest, colon = Poster, words, false
	}
	b.fill(head, rest, colon)
	return b
}

// cutHead parts "a poster for Friday: Summer party, 8 pm" at its colon; without one the head is all of it.
func cutHead(words string) (head, rest string, colon bool) {
	at := strings.IndexAny(words, ":：\n")
	for at > 0 && at+1 < len(words) && words[at] == ':' && isDigit(words[at-1]) && isDigit(words[at+1]) { // a time, such as 8:30
		next := strings.IndexAny(words[at+1:], ":：\n")
		if next < 0 {
			return words, "", false
		}
		at += 1 + next
	}
	if at < 0 {
		return words, "", false
	}
	most := 80
	if kind, _ := kindOf(words[:at]); kind == Chart { // what follows are its numbers, however long its title is
		most = 300
	}
	if len([]rune(words[:at])) > most {
		return words, "", false
	}
	size := len(":")
	if strings.HasPrefix(words[at:], "：") {
		size = len("：")
	}
	return words[:at], strings.TrimSpace(words[at+size:]), true
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// kindOf finds the name of a kind among the first words.
func kindOf(head string) (Kind, bool) {
	list := fields(head)
	for i, w := range list[:min(len(list), 8)] {
		for kind, words := range names {
			if slices.Contains(words, w) || slices.ContainsFunc(words, func(n string) bool { return n[0] > 127 && strings.HasPrefix(w, n) && i < 3 }) {
				return kind, true
			}
		}
	}
	for kind, words := range names { // languages without blanks
		for _, n := range words {
			if []rune(n)[0] > 0x3000 && strings.Contains(head, n) {
				return kind, true
			}
		}
	}
	return "", false
}

func fields(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`,.!?"'“”„«»()`, r) })
}

// topic is what is left of a head without the name of its kind and what says nothing.
func topic(head string) string {
	list := strings.Fields(head)
	keep := func(w string) bool {
		w = strings.ToLower(strings.Trim(w, ",.!?\"'“”„«»"))
		for _, words := range names {
			if slices.Contains(words, w) {
				return false
			}
		}
		return !slices.Contains(fillers, w)
	}
	first := slices.IndexFunc(list, keep)
	if first < 0 {
		return ""
	}
	for _, w := range names {
		for _, n := range w {
			if []rune(n)[0] > 0x3000 {
				list[first] = strings.ReplaceAll(list[first], n, "")
			}
		}
	}
	return strings.Join(list[first:], " ")
}

func (b *Brief) fill(head, rest string, colon bool) {
	about := topic(head)
	if !colon {
		rest, about = about, ""
		if b.Kind == Poster && !b.Named {
			rest = b.Words
		}
	}
	switch b.Kind {
	case Chart:
		b.Style = styleOf(head)
		b.Title, b.Values = about, valuesIn(rest)
	case Quote:
		b.Title, b.Details = quoteIn(rest)
		b.Kicker = about
	case Meme:
		b.Details = parts(rest, "/\n|")
	default:
		list := parts(rest, ",\n;|，；、")
		b.Kicker = about
		if len(list) > 0 {
			b.Title, b.Details = list[0], list[1:]
		}
		if b.Title == "" {
			b.Title, b.Kicker = b.Kicker, ""
		}
	}
	if b.Title == "" && b.Kind != Meme && b.Kind != Chart {
		b.Title = capital(string(b.Kind))
	}
}

// parts cuts at any of some characters. What is in quotation marks stays together.
func parts(text, at string) []string {
	var list []string
	quoted := false
	for _, p := range strings.FieldsFunc(text, func(r rune) bool {
		if r == '"' || r == '“' || r == '”' {
			quoted = !quoted
		}
		return !quoted && strings.ContainsRune(at, r)
	}) {
		if p = strings.Trim(strings.TrimSpace(p), `"“”`); p != "" {
			list = append(list, p)
		}
	}
	return list
}

var author = regexp.MustCompile(`(?s)^(.*?)[\s"”»]*(?:\s[-–—]{1,2}\s*|\n[-–—]*\s*|—)([^-–—\n]{1,60})$`)

// quoteIn parts a quote from who said it: behind a dash, or on a line of its own.
func quoteIn(text string) (said string, by []string) {
	if m := author.FindStringSubmatch(text); m != nil && strings.TrimSpace(m[1]) != "" {
		text, by = m[1], []string{strings.TrimSpace(m[2])}
	}
	return strings.Trim(strings.TrimSpace(text), `"“”„«»`), by
}

func styleOf(head string) string {
	head = strings.ToLower(head)
	for style, words := range map[string][]string{
		"pie":  {"pie", "donut", "doughnut", "torte", "kreis", "tarta", "circular", "круг", "饼"},
		"line": {"line", "linie", "línea", "lineas", "líneas", "линейн", "折线"},
	} {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(head, w) }) {
			return style
		}
	}
	return "bar"
}

var number = regexp.MustCompile(`[-+]?[$€£¥]?\d+(?:[.,]\d+)*\s?(?:%|k|K|M|€|\$|£|°C|°|kg|km|h)?`)

// isTable tells whether a text is nothing but labels with a number each, at least three.
func isTable(text string) bool {
	parts := cut.Split(text, -1)
	for _, p := range parts {
		f := strings.Fields(p)
		if len(f) < 2 || len(f) > 4 || number.FindString(f[len(f)-1]) != f[len(f)-1] {
			return false
		}
	}
	return len(parts) > 2
}

var cut = regexp.MustCompile(`\n|;|,\s|，|、`)

// maxValues bounds a chart.
const maxValues = 60

// valuesIn reads labels and numbers: "Mon 12, Tue 18.5" or "apples = 3; pears = 4".
func valuesIn(text string) []Value {
	var list []Value
	for _, p := range cut.Split(text+" ", -1) {
		all := number.FindAllStringIndex(p, -1)
		if len(all) == 0 {
			continue
		}
		last := all[len(all)-1]
		written := strings.TrimSpace(p[last[0]:last[1]])
		label := strings.Trim(strings.TrimSpace(p[:last[0]]+" "+p[last[1]:]), "=:- \t")
		digits := strings.TrimFunc(written, func(r rune) bool { return !unicode.IsDigit(r) && r != '-' })
		n, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", "."), 64)
		if err == nil {
			list = append(list, Value{label, n, written})
		}
	}
	return list
}
