package nodes

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/dlclark/regexp2"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/internal/errs"
)

// regexTimeout bounds one search, because patterns with backtracking can take exponential time.
const regexTimeout = 2 * time.Second

func regexFlags() []node.Input {
	return []node.Input{
		node.Bool("case_insensitive").Default(true).Advanced(),
		node.Bool("multiline").Default(false).Advanced(),
		node.Bool("dotall").Default(false).Advanced(),
	}
}

// regexNodes search texts by regular expressions.
func regexNodes() []node.Node {
	inputs := func(more ...node.Input) []node.Input {
		return append([]node.Input{node.Text("string"), node.Text("regex_pattern")}, more...)
	}
	extract := inputs(node.Combo("mode", "First Match", "All Matches", "First Group", "All Groups"))
	extract = append(append(extract, regexFlags()...), node.Int("group_index").Default(1).Range(0, 100).Advanced())
	replace := stringSpec("RegexReplace", "Replace Text (Regex)", textOut,
		[]string{"regex replace", "regex", "pattern replace", "substitution"}, inputs(node.Text("replace"))...)
	replace.Description = "Replaces what a regular expression finds."
	replace.Optional = append(regexFlags(), node.Int("count").Default(0).Range(0, 100).Advanced())
	return []node.Node{
		textFunc(stringSpec("RegexMatch", "Match Text", node.Output{Type: "BOOLEAN", Name: "matches"},
			[]string{"regex match", "regex", "pattern match", "text contains", "string match"}, inputs(regexFlags()...)...), regexMatch),
		textFunc(stringSpec("RegexExtract", "Extract Text", textOut,
			[]string{"regex extract", "regex", "pattern extract", "text parser", "parse text"}, extract...), regexExtract),
		textFunc(replace, regexReplace),
	}
}

// pattern is a compiled Python pattern.
type pattern struct {
	re     *regexp2.Regexp
	names  map[string]int
	groups int
}

// compile reads the pattern of a call. Optional flags have their declared defaults.
func compile(c *node.Call) (*pattern, error) {
	flag := func(name string, fallback bool) bool {
		if c.Has(name) {
			return c.Bool(name)
		}
		return fallback
	}
	var options regexp2.RegexOptions
	if flag("case_insensitive", true) {
		options |= regexp2.IgnoreCase
	}
	if flag("multiline", false) {
		options |= regexp2.Multiline
	}
	if flag("dotall", false) {
		options |= regexp2.Singleline
	}
	text, names, groups, err := fromPython(c.Text("regex_pattern"))
	if err != nil {
		return nil, err
	}
	re, err := regexp2.Compile(text, options)
	if err != nil {
		return nil, node.Raise("re.error", "%s", err)
	}
	re.MatchTimeout = regexTimeout
	return &pattern{re, names, groups}, nil
}

// pythonEscapes are the letters that Python takes after a backslash; it refuses the others.
const pythonEscapes = "AbBdDsSwWZafnrtvxuUN"

// fromPython rewrites Python's pattern syntax: named groups become plain ones, so that groups are numbered by position as
// in Python; names gives their numbers. {,n} is a count there, and names are identifiers.
func fromPython(text string) (out string, names map[string]int, groups int, err error) {
	r := rewriting{names: map[string]int{}}
	for at := 0; at < len(text); {
		length, err := r.next(text[at:], at)
		if err != nil {
			return "", nil, 0, err
		}
		at += length
	}
	return r.out.String(), r.names, r.groups, nil
}

// rewriting is a Python pattern that is being rewritten. Its methods write what rest begins with, which stands at the position at of
// the pattern, and return how many bytes of rest that was.
type rewriting struct {
	out        strings.Builder
	names      map[string]int // the numbers of named groups
	groups     int
	inClass    bool
	afterClass string // is written behind the class that is open
}

func (r *rewriting) write(text string, length int) (int, error) {
	r.out.WriteString(text)
	return length, nil
}

func (r *rewriting) next(rest string, at int) (int, error) {
	switch {
	case rest[0] == '\\' && len(rest) > 1:
		return r.escape(rest, at)
	case r.inClass && rest[0] == '[': // a member; the library would take [:name:] and -[set] for more
		return r.write(`\[`, 1)
	case r.inClass && rest[0] == ']':
		r.inClass = false
		return r.write("]"+r.afterClass, 1)
	case r.inClass:
	case rest[0] == '[':
		return r.class(rest)
	case rest[0] == '(':
		return r.bracket(rest, at)
	case openCount.MatchString(rest):
		return r.write("{0", 1)
	}
	return r.write(rest[:1], 1)
}

func (r *rewriting) escape(rest string, at int) (int, error) {
	switch e := rest[1]; {
	case letter(e) && !strings.ContainsRune(pythonEscapes, rune(e)):
		return 0, node.Raise("re.error", `bad escape \%c at position %d`, e, at)
	case e == 'Z' && !r.inClass:
		return r.write(`\z`, 2)
	case e == 'w' && r.inClass:
		return r.write(wordClass, 2)
	case e == 'w':
		return r.write("["+wordClass+"]", 2)
	case e == 'W' && !r.inClass:
		return r.write("[^"+wordClass+"]", 2)
	case e == 'U':
		code, err := strconv.ParseUint(rest[2:min(10, len(rest))], 16, 32)
		if err != nil || len(rest) < 10 || code > unicode.MaxRune {
			return 0, node.Raise("re.error", `bad escape \U at position %d`, at)
		}
		if code <= 0xffff { // it stands for itself, also where it would mean something
			return r.write(fmt.Sprintf(`\u%04x`, code), 10)
		}
		return r.write(string(rune(code)), 10)
	}
	return r.write(rest[:2], 2)
}

// class opens a class of characters.
func (r *rewriting) class(rest string) (int, error) {
	r.inClass, r.afterClass = true, ""
	if strings.HasPrefix(rest, `[^\W`) && !strings.HasPrefix(rest, `[^\W]`) { // the library misreads what follows
		r.afterClass = ")[" + wordClass + "])" // the negative lookahead leaves out the rest of the class
		return r.write("(?:(?![", len(`[^\W`))
	}
	for _, head := range []string{"[^]", "[]", "[^"} {
		if strings.HasPrefix(rest, head) { // a bracket right at the beginning is a member
			return r.write(strings.Replace(head, "]", `\]`, 1), len(head))
		}
	}
	return r.write("[", 1)
}

// bracket opens a group, or what else begins like one.
func (r *rewriting) bracket(rest string, at int) (int, error) {
	switch {
	case strings.HasPrefix(rest, "(?P<"):
		r.groups++
		if end := strings.IndexByte(rest, '>'); end > 0 {
			return r.namedGroup(rest[4:end], at+4)
		}
	case strings.HasPrefix(rest, "(?P="):
		if end := strings.IndexByte(rest, ')'); end > 0 {
			if r.names[rest[4:end]] == 0 {
				return 0, node.Raise("re.error", "unknown group name '%s' at position %d", rest[4:end], at+4)
			}
			return r.write(fmt.Sprintf(`(?:\k<%d>)`, r.names[rest[4:end]]), end+1)
		}
	case strings.HasPrefix(rest, "(?("): // a condition, whose second bracket is no group
		if end := strings.IndexByte(rest, ')'); end > 0 && r.names[rest[3:end]] > 0 {
			return r.write(fmt.Sprintf("(?(%d)", r.names[rest[3:end]]), end+1)
		}
		return r.write("(?(", 3)
	case strings.HasPrefix(rest, "(?'"), strings.HasPrefix(rest, "(?<") && !strings.HasPrefix(rest, "(?<=") && !strings.HasPrefix(rest, "(?<!"):
		return 0, node.Raise("re.error", "unknown extension %s at position %d", strings.TrimRight(rest[1:min(4, len(rest))], ")>"), at+1)
	case !strings.HasPrefix(rest, "(?"):
		r.groups++
	}
	return r.write("(", 1)
}

// namedGroup opens the group "(?P<name>" that was just counted.
func (r *rewriting) namedGroup(name string, at int) (int, error) {
	if first, again := r.names[name]; again {
		return 0, node.Raise("re.error", "redefinition of group name '%s' as group %d; was group %d at position %d", name, r.groups, first, at)
	}
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return 0, node.Raise("re.error", "bad character in group name '%s' at position %d", name, at)
	}
	r.names[name] = r.groups
	return r.write("(", len("(?P<>")+len(name))
}

// wordClass are the members of Python's \w: letters and numbers of all scripts, but no combining marks.
const wordClass = `\p{L}\p{N}_`

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// openCount matches a count without a lower bound.
var openCount = regexp.MustCompile(`^\{,[0-9]*\}`)

// all calls fn for each match until it returns false.
func (p *pattern) all(s string, fn func(m *regexp2.Match) bool) error {
	m, err := p.re.FindStringMatch(s)
	for ; m != nil && err == nil; m, err = p.re.FindNextMatch(m) {
		if !fn(m) {
			return nil
		}
	}
	return errs.Wrap(err, "the pattern takes too long")
}

func regexMatch(c *node.Call) (any, error) {
	p, err := compile(c)
	if err != nil {
		return false, nil // a bad pattern matches nothing
	}
	found := false
	err = p.all(c.Text("string"), func(*regexp2.Match) bool {
		found = true
		return false
	})
	return found, err
}

func regexExtract(c *node.Call) (any, error) {
	p, err := compile(c)
	if err != nil {
		return "", nil // a bad pattern matches nothing
	}
	mode, index := c.Text("mode"), c.Int("group_index")
	group := 0
	switch {
	case mode == "All Matches" && p.groups > 0:
		group = 1
	case mode == "First Group" || mode == "All Groups":
		if group = index; p.groups < index || (mode == "All Groups" && p.groups == 0) {
			return "", nil
		}
	}
	first := mode == "First Match" || mode == "First Group"
	var parts []any
	err = p.all(c.Text("string"), func(m *regexp2.Match) bool {
		parts = append(parts, groupText(m, group, mode == "All Matches"))
		return !first
	})
	if err != nil || len(parts) == 0 {
		return "", err
	}
	if first {
		return parts[0], nil
	}
	return joinLines(parts)
}

// groupText is the text of a group; nil when it took no part, or "" where that counts as empty.
func groupText(m *regexp2.Match, group int, emptyForNone bool) any {
	g := m.GroupByNumber(group)
	if g == nil || len(g.Captures) == 0 {
		if emptyForNone {
			return ""
		}
		return nil
	}
	return g.String()
}

func joinLines(parts []any) (any, error) {
	texts := make([]string, len(parts))
	for i, part := range parts {
		text, ok := part.(string)
		if !ok {
			return nil, node.Raise("TypeError", "sequence item %d: expected str instance, NoneType found", i)
		}
		texts[i] = text
	}
	return strings.Join(texts, "\n"), nil
}

func regexReplace(c *node.Call) (any, error) {
	p, err := compile(c)
	if err != nil {
		return nil, err
	}
	template, err := p.template(c.Text("replace"))
	if err != nil {
		return nil, err
	}
	runes := []rune(c.Text("string"))
	var b strings.Builder
	last, done, limit := 0, 0, c.Int("count")
	err = p.all(c.Text("string"), func(m *regexp2.Match) bool {
		b.WriteString(string(runes[last:m.Index]))
		for _, part := range template {
			if part.group < 0 {
				b.WriteString(part.text)
			} else if g := m.GroupByNumber(part.group); g != nil {
				b.WriteString(g.String())
			}
		}
		last = m.Index + m.Length
		done++
		return (limit == 0 || done < limit) && b.Len() <= maxText
	})
	b.WriteString(string(runes[last:]))
	return b.String(), errors.Join(err, tooLong(b.Len()))
}

// octalEscape matches the digits that a replacement takes for a character and not for a group.
var octalEscape = regexp.MustCompile(`^(0[0-7]{0,2}|[1-7][0-7]{2})`)

// piece of a replacement: a text, or a group when group is not negative.
type piece struct {
	text  string
	group int
}

// template reads a replacement text: \1, \g<1>, \g<name> and the usual escapes.
func (p *pattern) template(text string) ([]piece, error) {
	var out []piece
	lit := func(s string) { out = append(out, piece{s, -1}) }
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			lit(text[i : i+1])
			continue
		}
		if i++; i == len(text) {
			return nil, node.Raise("re.error", "bad escape (end of pattern) at position %d", i-1)
		}
		if digits := octalEscape.FindString(text[i:]); digits != "" {
			code, _ := strconv.ParseUint(digits, 8, 16) // at most three digits
			if code > 0o377 {
				return nil, node.Raise("re.error", `octal escape value \%s outside of range 0-0o377 at position %d`, digits, i-1)
			}
			lit(string(rune(code)))
			i += len(digits) - 1
			continue
		}
		switch e := text[i]; {
		case e == 'g' && i+1 < len(text) && text[i+1] == '<':
			end := strings.IndexByte(text[i:], '>')
			if end < 0 {
				return nil, node.Raise("re.error", "missing >, unterminated name at position %d", i+2)
			}
			group, err := p.group(text[i+2 : i+end])
			if err != nil {
				return nil, err
			}
			out = append(out, piece{group: group})
			i += end
		case e >= '1' && e <= '9':
			end := i + 1
			if end < len(text) && text[end] >= '0' && text[end] <= '9' {
				end++
			}
			group, err := p.group(text[i:end])
			if err != nil {
				return nil, err
			}
			out = append(out, piece{group: group})
			i = end - 1
		case strings.IndexByte("abfnrtv", e) >= 0:
			lit(string("\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", e)]))
		case e == '\\':
			lit(`\`)
		case letter(e):
			return nil, node.Raise("re.error", `bad escape \%c at position %d`, e, i-1)
		default:
			lit(text[i-1 : i+1])
		}
	}
	return out, nil
}

func (p *pattern) group(name string) (int, error) {
	if n, err := strconv.Atoi(name); err == nil {
		if n < 0 || n > p.groups {
			return 0, node.Raise("re.error", "invalid group reference %d", n)
		}
		return n, nil
	}
	if n, ok := p.names[name]; ok {
		return n, nil
	}
	return 0, node.Raise("IndexError", "unknown group name '%s'", name)
}
