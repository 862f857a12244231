package notes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/internal/plain"
)

// Directive is one line of a note that sets what can't be guessed:
//
//	@tool id=poster command=/poster name="Big poster" category=text-to-image visibility=public cost=0.02/request
//	@tool needs gpu=4090 vram=24
//	@input 6.text name=prompt label="What to draw" required
//	@input "My sampler".steps advanced min=4 max=40 default=20 choices=4|8|20
//	@output 9 name=poster type=image
//	@bot telegram send-as=document filename=poster.png
//	@i18n de name="Großes Plakat" description="Malt ein Plakat."
//	@i18n de input=steps label="Schritte" description="Mehr ist feiner."
//	@i18n de input=style choices="ink=Tinte|oil=Öl"
//	@i18n de output=poster label="Das Plakat"
type Directive struct {
	Word   string // tool, input, output, bot or i18n
	Target string // the node, the node and widget, the platform, or the language
	Widget string // of @input
	Args   map[string]string
	Note   string
}

// directiveKeys lists the known words with their keys.
var directiveKeys = map[string][]string{
	"tool":   {"id", "command", "name", "category", "visibility", "cost", "keep-workflow", "repeat", "follows", "needs"},
	"input":  {"name", "label", "type", "required", "advanced", "default", "min", "max", "choices", "description", "role"},
	"output": {"name", "type"},
	"bot":    {"send-as", "filename"},
	"i18n":   {"name", "description", "input", "output", "label", "choices"},
}

var directiveWords = []string{"tool", "input", "output", "bot", "i18n"}

// cutDirectives takes the directive lines out of a note's text.
func cutDirectives(text, note string) (rest string, found []Directive, problems []graph.Finding) {
	if !strings.Contains(text, "@") {
		return text, nil, nil
	}
	var kept []string
	for raw := range strings.SplitSeq(text, "\n") {
		s := strings.Trim(strings.TrimSpace(raw), "`")
		word, args, isOne := directiveLine(s)
		if !isOne {
			kept = append(kept, raw)
			continue
		}
		if !slices.Contains(directiveWords, word) {
			problems = append(problems, Unknown(note, "directive @"+word, word, directiveWords, "@"))
			continue
		}
		d, bad := parseDirective(word, args, note)
		problems = append(problems, bad...)
		if d != nil {
			found = append(found, *d)
		}
	}
	return strings.Join(kept, "\n"), found, problems
}

// directiveLine tells whether a line is meant as a directive: a known word, a near miss, or any word with
// key=value behind it. "@somebody made this" is text.
func directiveLine(s string) (word, args string, ok bool) {
	if !strings.HasPrefix(s, "@") {
		return "", "", false
	}
	end := strings.IndexFunc(s[1:], func(r rune) bool {
		return r != '-' && r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	word, args = s[1:], ""
	if end >= 0 {
		word, args = s[1:1+end], s[1+end:]
	}
	word = strings.ToLower(word)
	if word == "" || args != "" && !strings.HasPrefix(args, " ") {
		return "", "", false
	}
	if slices.Contains(directiveWords, word) {
		return word, args, true
	}
	fields := splitQuoted(args)
	near := edit.Nearest(word, directiveWords) != ""
	pairs := slices.ContainsFunc(fields, func(f string) bool { return strings.Contains(f, "=") && !strings.Contains(f, "://") })
	return word, args, near && (pairs || len(fields) <= 3) || pairs
}

// Unknown is the finding for a word that no directive has at this place, with the known word nearest to it. what names
// the place.
func Unknown(note, what, word string, known []string, prefix string) graph.Finding {
	advice := "known are " + prefix + strings.Join(known, ", "+prefix)
	if near := edit.Nearest(word, known); near != "" {
		advice = "did you mean " + prefix + near + "?"
	}
	return graph.Finding{Code: "unknown-directive", Severity: graph.SeverityWarning, Node: note, Message: "unknown " + plain.Short(what), Advice: advice}
}

func parseDirective(word, text, note string) (*Directive, []graph.Finding) {
	d := &Directive{Word: word, Args: map[string]string{}, Note: note}
	var problems []graph.Finding
	fields := splitQuoted(text)
	if at := slices.Index(fields, "needs"); word == "tool" && at >= 0 { // all behind it are tags, whatever their names
		d.Args["needs"] = strings.Join(fields[at+1:], " ")
		fields = fields[:at]
	}
	for i, field := range fields {
		key, value, pair := strings.Cut(field, "=")
		if i == 0 && word != "tool" && (!pair || strings.ContainsAny(key, ". ")) {
			d.Target = unquote(field)
			continue
		}
		key = strings.ToLower(key)
		if !slices.Contains(directiveKeys[word], key) {
			problems = append(problems, Unknown(note, fmt.Sprintf("key %s of @%s", key, word), key, directiveKeys[word], ""))
			continue
		}
		if !pair {
			value = "true"
		}
		d.Args[key] = unquote(value)
	}
	if word != "tool" && d.Target == "" {
		problems = append(problems, graph.Finding{Code: "unknown-directive", Severity: graph.SeverityWarning, Node: note, Message: "@" + word + " names nothing", Advice: directiveTarget(word)})
		return nil, problems
	}
	if word == "input" {
		if d.Target, d.Widget = splitTarget(text); d.Widget == "" {
			problems = append(problems, graph.Finding{Code: "unknown-directive", Severity: graph.SeverityWarning, Node: note, Message: "@input " + plain.Short(d.Target) + " names no widget", Advice: directiveTarget(word)})
			return nil, problems
		}
	}
	return d, problems
}

func directiveTarget(word string) string {
	switch word {
	case "input":
		return "write @input <node>.<widget>, for example @input 6.text name=prompt"
	case "output":
		return "write @output <node>, for example @output 9 name=poster"
	}
	if word == "i18n" {
		return "write @i18n <language>, for example @i18n de name=Plakat"
	}
	return "write @bot <platform>, for example @bot telegram send-as=document"
}

// splitTarget reads node.widget. The node may be quoted; the widget of a dynamic combo has dots of its own,
// so that the first dot after the node splits.
func splitTarget(text string) (node, widget string) {
	first := splitQuoted(text)[0]
	if quote := first[0]; quote == '"' || quote == '\'' {
		if end := strings.IndexByte(first[1:], quote); end >= 0 {
			inside, after := first[1:1+end], first[2+end:]
			if rest, ok := strings.CutPrefix(after, "."); ok {
				return inside, unquote(rest)
			}
			first = inside
		}
	}
	node, widget, _ = strings.Cut(first, ".")
	return node, unquote(widget)
}

// splitQuoted splits at blanks outside of quotes. The quotes stay in the fields.
func splitQuoted(s string) []string {
	var out []string
	var b strings.Builder
	var quote rune
	for _, r := range s {
		switch {
		case quote != 0:
			if b.WriteRune(r); r == quote {
				quote = 0
			}
		case (r == '"' || r == '\'') && !insideWord(b.String()):
			quote = r
			b.WriteRune(r)
		case r == ' ' || r == '\t':
			if b.Len() > 0 {
				out = append(out, b.String())
				b.Reset()
			}
		default:
			b.WriteRune(r)
		}
	}
	if b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}

// insideWord tells an apostrophe from an opening quote.
func insideWord(before string) bool {
	return before != "" && !strings.HasSuffix(before, "=") && !strings.HasSuffix(before, ".")
}

func unquote(s string) string {
	for _, q := range []string{`"`, `'`} {
		if len(s) >= 2 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) {
			return s[1 : len(s)-1]
		}
	}
	return s
}

// Flag reads a switch: given alone or with a value it is on, unless the value says no.
func (d Directive) Flag(key string) (value, given bool) {
	text, ok := d.Args[key]
	if !ok {
		return false, false
	}
	switch strings.ToLower(text) {
	case "false", "no", "0", "off":
		return false, true
	}
	return true, true
}
