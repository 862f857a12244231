package i18n

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"time"

	goi18n "github.com/nicksnyder/go-i18n/v2/i18n"
	"github.com/nicksnyder/go-i18n/v2/i18n/template"

	"github.com/signalbox/signalbox/internal/said"
)

// Fallback is the language that every text exists in.
const Fallback = "en"

// Money is an amount of money, such as billing.NanoUSD.
type Money = interface {
	Nano() int64 // billionths of a US dollar
}

// Voice speaks one language.
type Voice struct {
	language string
	own      func() *goi18n.Localizer // reads the texts of the language when they are first needed
	english  *goi18n.Localizer        // for what is missing there
	unit     func(m Money) *big.Rat   // see Catalogue.WithUnit; nil: none
}

// Language is the language spoken (BCP 47).
func (v Voice) Language() string { return v.language }

// Style is how a piece of a text looks.
type Style int

// The styles.
const (
	Plain Style = iota
	Bold
	Code
)

// Piece is a part of a text in one style.
type Piece struct {
	Style Style
	Text  string
	// Value is what was put in for a placeholder; Text is then its words.
	Value any
}

// Has reports whether there is a text under a key.
func (v Voice) Has(key string) bool { return v.template(key, nil) != "" }

// Say gives a text in pieces, with its placeholders filled: pairs of name and value. Money is written short, see Amount, times
// in UTC, see Moment. A key that is not in the
// catalogue gives the key, so that nothing is lost in silence.
func (v Voice) Say(key string, pairs ...any) []Piece {
	text := v.template(key, pairs)
	if text == "" {
		return []Piece{{Text: key}}
	}
	pieces := fill(text, pairs)
	for i, p := range pieces {
		switch value := p.Value.(type) {
		case Money:
			pieces[i].Text = v.Amount(value)
		case time.Time:
			pieces[i].Text = v.Moment(value)
		}
	}
	return pieces
}

// Line is Say without styles.
func (v Voice) Line(key string, pairs ...any) string { return Joined(v.Say(key, pairs...)) }

// Joined is the text of pieces without styles.
func Joined(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Text says a text in the voice's language. It is not ok for words that are not the program's own: a service's, or an author's.
// English readers get the English of the program, whatever the catalogue has.
func (v Voice) Text(t said.Text) (text string, ok bool) {
	if !t.Known() {
		return t.String(), false
	}
	if v.language == Fallback {
		return t.String(), true
	}
	return said.Fill(v.template(t.Key, []any{"n", t.Args["n"].String()}), func(name string) (string, bool) {
		value, ok := t.Args[name]
		words, _ := v.Text(value)
		return words, ok
	}), true
}

// Rest says how long something will go on, as far as that can be known: "about 20 s left". What is nearly over is "".
func (v Voice) Rest(d time.Duration) string {
	seconds := int(d.Round(time.Second).Seconds())
	switch {
	case seconds < 2:
		return ""
	case seconds >= 90:
		return v.Line("status.restMinutes", "n", (seconds+30)/60)
	case seconds >= 10:
		seconds = (seconds + 2) / 5 * 5
	}
	return v.Line("status.rest", "n", seconds)
}

// Time writes a date and time as it is written in the language, in the time's own zone.
func (v Voice) Time(t time.Time) string { return t.Format(v.Line("format.time")) }

// Moment is Time in UTC, and says so: for those of whose zone nothing is known.
func (v Voice) Moment(t time.Time) string { return v.Time(t.UTC()) + " UTC" }

// template finds a text in the right plural form, else in English, "" where there is none.
func (v Voice) template(key string, pairs []any) string {
	wanted := &goi18n.LocalizeConfig{MessageID: key, PluralCount: count(pairs), TemplateParser: template.IdentityParser{}}
	text, err := v.own().Localize(wanted)
	if err != nil && text == "" {
		text, _ = v.english.Localize(wanted)
	}
	return text
}

var decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// count is the number that decides about the plural form: the value of n, which as a text is a decimal.
func count(pairs []any) any {
	switch n := valueOf("n", pairs).(type) {
	case int, int64:
		return n
	case string:
		if decimal.MatchString(n) {
			return n
		}
	}
	return nil
}

func valueOf(name string, pairs []any) any {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] == name {
			return pairs[i+1]
		}
	}
	return nil
}

// fill reads a text's markup and puts values in.
func fill(text string, pairs []any) []Piece {
	var pieces []Piece
	style, start := Plain, 0
	flush := func(end int) {
		if end > start {
			pieces = append(pieces, Piece{Style: style, Text: text[start:end]})
		}
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '*', '`':
			flush(i)
			style, start = toggle(style, text[i]), i+1
		case '{':
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				continue
			}
			flush(i)
			pieces = append(pieces, put(text[i+1:i+end], pairs, style))
			i += end
			start = i + 1
		}
	}
	flush(len(text))
	return pieces
}

func toggle(now Style, mark byte) Style {
	switch {
	case now != Plain:
		return Plain
	case mark == '*':
		return Bold
	}
	return Code
}

// put is the piece for a placeholder; one without a value stays visible.
func put(name string, pairs []any, style Style) Piece {
	value := valueOf(name, pairs)
	if value == nil {
		return Piece{Text: "{" + name + "}"}
	}
	return Piece{Style: style, Text: fmt.Sprint(value), Value: value}
}
