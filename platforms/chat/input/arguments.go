package input

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// UnknownOption is an option that no input is called.
type UnknownOption struct {
	Name    string
	Nearest string // the input meant, probably, or ""
}

// Error names the option.
func (e *UnknownOption) Error() string { return "unknown option " + e.Name }

// MissingValue is an option without its value.
type MissingValue struct{ Name string }

// Error names the option.
func (e *MissingValue) Error() string { return "no value for option " + e.Name }

// errStoredFile: a stored file was named, which may be anybody's.
var errStoredFile = errors.New("stored files are given by hand, not by name")

// parse puts the values into the draft that have a name in what somebody typed after a command, as text, and gives the free text:
//
//	a red bicycle steps=20 style="oil painting" seed=-1 --tiled
//
// Options may stand anywhere: name=value, name = value, --name=value, --name value, and --name alone for a boolean,
// also with one long dash for the two.
// Options that other bots have count where a tool takes what they mean: --ar 16:9, --seed 3, --no hands, feet.
// Values with blanks are quoted. Names are those of inputs or their labels, without regard to case, and
// with _ or - for a blank. What is no option is free text and keeps its own blanks and lines. A word that
// merely looks like an option ("E=mc2") is text, unless an input is nearly called so, or the tool reads no
// text: then it's a slip and an *UnknownOption. Everything after a "--" that stands alone is text. Where an input that takes several
// is named repeatedly, its value is a list. asked is the format that an option such as --ar names. What is refused leaves no values.
func (d *Draft) parse(s string, schema registry.InputSchema) (text string, asked format, err error) {
	p := argumentParser{rest: s, schema: schema, draft: d, named: map[string]bool{}}
	_, p.prose = TextInput(schema)
	for p.rest != "" {
		if err := p.token(); err != nil {
			for name := range p.named {
				delete(d.Values[runs.FromArgument], name)
			}
			return "", format{}, err
		}
	}
	return unquoteWhole(strings.TrimSpace(p.text.String())), p.asked, nil
}

// OnlyWords reports whether there are words after a tool's command, and no options.
func OnlyWords(tool *registry.Tool, typed string) bool {
	var d Draft
	text, _, err := d.parse(typed, WithPresetOption(tool.InputSchema))
	return err == nil && text != "" && len(d.Values) == 0
}

type argumentParser struct {
	rest   string
	schema registry.InputSchema
	prose  bool // there is an input for free text
	text   strings.Builder
	draft  *Draft          // gets the values
	named  map[string]bool // inputs that got theirs from this text
	asked  format
}

// token moves one word, with the blanks before it, from rest to text or values.
func (p *argumentParser) token() error {
	word := strings.TrimLeftFunc(p.rest, unicode.IsSpace)
	blanks := p.rest[:len(p.rest)-len(word)]
	end := strings.IndexFunc(word, unicode.IsSpace)
	if end < 0 {
		end = len(word)
	}
	name, dashed := p.undashed(word[:end])
	if dashed && name == "" {
		p.text.WriteString(blanks + strings.TrimLeft(word[end:], " "))
		p.rest = ""
		return nil
	}
	name, _, assigned := strings.Cut(name, "=")
	if (!dashed && !assigned) || !isOptionName(name) {
		if f, after, ok := p.spaced(name, word[end:]); ok {
			return p.assign(f, name, after)
		}
		p.keep(blanks, word, end)
		return nil
	}
	after := word[end:]
	if assigned {
		_, after, _ = strings.Cut(word, "=")
	}
	field, ok := FieldNamed(p.schema, name)
	if !ok && dashed {
		field, ok = shorthand(p.schema, name)
	}
	switch {
	case ok && assigned:
		return p.assign(field, name, after)
	case ok:
		return p.dashed(field, name, after)
	case isAspect(p.schema, name) && p.aspect(after):
		return nil
	}
	return p.unknown(name, blanks, word, end)
}

// unknown keeps as text what merely looks like an option, unless it is a slip or the tool reads no text.
func (p *argumentParser) unknown(name, blanks, word string, end int) error {
	if slip := MistakenFor(p.schema, name); slip != "" {
		return &UnknownOption{Name: name, Nearest: slip}
	}
	if !p.prose {
		return &UnknownOption{Name: name, Nearest: nearestField(p.schema, name)}
	}
	p.keep(blanks, word, end)
	return nil
}

// undashed takes the two dashes away from the beginning of a word, or the long one that phones make of them while one
// types. That is a dash like any other before what is no input's name.
func (p *argumentParser) undashed(word string) (rest string, dashed bool) {
	if rest, dashed = strings.CutPrefix(word, "--"); dashed {
		return rest, true
	}
	for _, long := range []string{"—", "–"} {
		rest, dashed = strings.CutPrefix(word, long)
		name, _, _ := strings.Cut(rest, "=")
		if dashed && isOption(p.schema, name) {
			return rest, true
		}
	}
	return word, false
}

// spaced reads "name = value", as people write it who are used to blanks around an equals sign.
func (p *argumentParser) spaced(name, rest string) (f registry.InputField, after string, ok bool) {
	after, ok = strings.CutPrefix(strings.TrimLeftFunc(rest, unicode.IsSpace), "=")
	if !ok || !isOptionName(name) {
		return f, "", false
	}
	f, ok = FieldNamed(p.schema, name)
	return f, strings.TrimLeftFunc(after, unicode.IsSpace), ok
}

func (p *argumentParser) keep(blanks, word string, end int) {
	p.text.WriteString(blanks + word[:end])
	p.rest = word[end:]
}

// assign takes the value directly after the equals sign.
func (p *argumentParser) assign(f registry.InputField, name, after string) error {
	value, rest := takeValue(after)
	if value == "" && !strings.HasPrefix(after, `""`) && !strings.HasPrefix(after, `''`) {
		return &MissingValue{name}
	}
	p.rest = rest
	return p.put(f, value)
}

// dashed takes the value of --name from the next word; a boolean needs none.
func (p *argumentParser) dashed(f registry.InputField, name, after string) error {
	given := strings.TrimLeftFunc(after, unicode.IsSpace)
	value, rest := takeValue(given)
	if strings.EqualFold(name, negativeOption) && !isQuoted(given) {
		value, rest = p.untilOption(given)
	}
	_, isOption := p.undashed(value)
	if f.Type == registry.TypeBoolean {
		if _, err := registry.CheckValue(f, value); err != nil || value == "" || isOption {
			p.rest = after
			return p.put(f, "true")
		}
	} else if value == "" || isOption {
		return &MissingValue{name}
	}
	p.rest = rest
	return p.put(f, value)
}

// aspect takes the value of --ar. What is no ratio is no option.
func (p *argumentParser) aspect(after string) bool {
	value, rest := takeValue(strings.TrimLeft(after, " \t="))
	value = strings.TrimRight(value, ",;")
	s, ok := shapeOf(value)
	if ok {
		p.asked, p.rest = format{s, value}, rest
	}
	return ok
}

// untilOption takes all words up to the next option, without the comma after them.
func (p *argumentParser) untilOption(after string) (value, rest string) {
	end := len(after)
	for i := range after {
		if i == 0 || after[i-1] != ' ' && after[i-1] != '\n' {
			continue
		}
		word, _, _ := strings.Cut(after[i:], " ")
		if name, dashed := p.undashed(word); dashed || p.isAssignment(name) {
			end = i
			break
		}
	}
	return strings.TrimRight(strings.TrimSpace(after[:end]), ",;"), after[end:]
}

func (p *argumentParser) put(f registry.InputField, text string) error {
	text = withoutComma(f, text)
	if NamesStored(f, text) {
		return errStoredFile
	}
	var value any = text
	if p.named[f.Name] && f.Multiple {
		old := p.draft.Values[runs.FromArgument][f.Name]
		list, several := old.([]any)
		if !several {
			list = []any{old}
		}
		value = append(list, text)
	}
	p.named[f.Name] = true
	p.draft.Set(runs.FromArgument, f.Name, value)
	return nil
}

// NamesStored reports whether a value that somebody typed for an input is the name of a stored file, or has one among several. It may be
// anybody's: stored files are given by hand, not by name.
func NamesStored(f registry.InputField, value any) bool {
	if list, several := value.([]any); several {
		return slices.ContainsFunc(list, func(one any) bool { return NamesStored(f, one) })
	}
	text, _ := value.(string)
	parts := []string{text}
	if f.Type.IsMedia() {
		parts = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	}
	return slices.ContainsFunc(parts, func(part string) bool {
		return strings.HasPrefix(part, "asset:") && registry.IsMediaRef(part)
	})
}

// closingQuote is the mark that ends a quotation, 0 where none begins.
func closingQuote(open rune) rune {
	switch open {
	case '"', '\'':
		return open
	case '“':
		return '”'
	case '«':
		return '»'
	case '„':
		return '“'
	}
	return 0
}

// takeValue splits off a word or a quoted text. A quotation that does not end is an ordinary word.
func takeValue(s string) (value, rest string) {
	open, size := utf8.DecodeRuneInString(s)
	if quote := closingQuote(open); quote != 0 {
		if value, rest, ok := takeQuoted(s[size:], quote); ok {
			return value, rest
		}
	}
	end := strings.IndexFunc(s, unicode.IsSpace)
	if end < 0 {
		return s, ""
	}
	return s[:end], s[end:]
}

// takeQuoted reads up to the closing mark; a backslash takes the next mark or backslash literally.
func takeQuoted(s string, quote rune) (value, rest string, ok bool) {
	var b strings.Builder
	escaped := false
	for i, r := range s {
		switch {
		case escaped:
			if r != quote && r != '\\' {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == quote:
			return b.String(), s[i+utf8.RuneLen(r):], true
		default:
			b.WriteRune(r)
		}
	}
	return "", "", false
}

// unquoteWhole takes away quotation marks around a whole text; marks within it stay.
func unquoteWhole(s string) string {
	open, size := utf8.DecodeRuneInString(s)
	quote := closingQuote(open)
	if quote == 0 || open == '\'' {
		return s
	}
	if value, rest, ok := takeQuoted(s[size:], quote); ok && rest == "" {
		return value
	}
	return s
}

func isOptionName(s string) bool {
	for i, r := range s {
		if !unicode.IsLetter(r) && (i == 0 || r != '_' && r != '-' && r != '.' && !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

// isQuoted reports whether a text begins with a quotation.
func isQuoted(s string) bool {
	open, _ := utf8.DecodeRuneInString(s)
	return closingQuote(open) != 0
}

// isAssignment reports whether a word is name=value of an input.
func (p *argumentParser) isAssignment(word string) bool {
	name, _, assigned := strings.Cut(word, "=")
	_, known := FieldNamed(p.schema, name)
	return assigned && known
}

// withoutComma takes the comma from a value that can have none: "steps=5, a cat".
func withoutComma(f registry.InputField, value string) string {
	if bare := strings.TrimRight(value, ",;"); bare != "" && (f.Type != registry.TypeString || len(f.Choices) > 0) {
		return bare
	}
	return value
}
