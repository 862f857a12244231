package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/signalbox/signalbox/internal/ordered"
)

// errAlias refuses aliases of YAML: a few lines of them make gigabytes.
var errAlias = errors.New("it uses aliases of YAML (*name), which are not taken: write the values out, or use $ref")

var errDeep = fmt.Errorf("it is nested deeper than %d levels", ordered.MaxDepth)

// pieceSize is how many bytes of text are given to the library as they are. While it reads, it takes some twenty times as many.
const pieceSize = 64 << 10

// maxCuts is how deep pieces are cut up: paths and schemas of components are no deeper. What can't be cut is read again
// with what it stands in.
const maxCuts = 4

// parseYAML reads exactly one value.
func parseYAML(data []byte) (any, error) {
	text, r := string(data), yamlReader{known: map[string]string{}}
	if len(text) > pieceSize {
		if o, ok := r.pieces(strings.TrimPrefix(text, "---\n"), -1, 1); ok {
			return o, nil
		}
	}
	return r.whole(text, 0)
}

// yamlReader reads one text.
type yamlReader struct {
	known map[string]string // short texts, which documents have many times
}

// pieces reads a mapping one member after the other. False: it is no such mapping, or something about it is wrong, which
// the library says better when it sees all.
func (r yamlReader) pieces(text string, above, depth int) (*ordered.Object, bool) {
	if depth > maxCuts {
		return nil, false
	}
	members, indent := cut(text, above)
	o := &ordered.Object{}
	for _, member := range members {
		m, ok := r.member(member, indent, depth)
		if !ok || o.Has(m.Name) {
			return nil, false
		}
		o.Add(m.Name, m.Value)
	}
	return o, len(members) > 0
}

// member reads the text of one member, which stands at an indent.
func (r yamlReader) member(text string, indent, depth int) (ordered.Member, bool) {
	if first, rest, _ := strings.Cut(text, "\n"); len(text) > pieceSize && strings.HasSuffix(strings.TrimRight(first, " \r"), ":") {
		m, ok := r.only(first, depth)
		if o, cut := r.pieces(rest, indent, depth+1); ok && cut && m.Value == nil {
			return ordered.Member{Name: m.Name, Value: o}, true
		}
	}
	return r.only(text, depth)
}

// only reads a mapping of one member.
func (r yamlReader) only(text string, depth int) (ordered.Member, bool) {
	v, err := r.whole(text, depth-1)
	if o, isObject := v.(*ordered.Object); err == nil && isObject && o.Len() == 1 {
		return o.Members()[0], true
	}
	return ordered.Member{}, false
}

// cut cuts the text of a mapping before each of its members, and tells their indent, which is above another. It gives none
// where it could be wrong. A cut within quotes or brackets leaves a piece before it that is no YAML.
func cut(text string, above int) (members []string, indent int) {
	start, end := -1, 0
	for line := range strings.Lines(text) {
		at := end
		end += len(line)
		content := strings.TrimLeft(line, " ")
		if content[0] == '#' || strings.TrimSpace(content) == "" {
			continue
		}
		column := len(line) - len(content)
		switch {
		case start < 0:
			indent, start = column, at
			if indent <= above || !beginsKey(content) {
				return nil, 0
			}
		case column < indent:
			return nil, 0
		case column > indent, strings.HasPrefix(content, "- "), strings.TrimSpace(content) == "-":
		case !beginsKey(content):
			return nil, 0
		default:
			members = append(members, text[start:at])
			start = at
		}
	}
	if start < 0 {
		return nil, 0
	}
	return append(members, text[start:]), indent
}

// beginsKey reports whether a line begins as the usual keys do.
func beginsKey(line string) bool {
	first, _ := utf8.DecodeRuneInString(line)
	return unicode.IsLetter(first) || unicode.IsDigit(first) || strings.ContainsRune(`/"'$_`, first)
}

// whole reads exactly one value.
func (r yamlReader) whole(text string, depth int) (any, error) {
	tokens := lexer.Tokenize(text)
	if nested(tokens) > ordered.MaxDepth {
		return nil, errDeep
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, fmt.Errorf("it is neither JSON nor YAML: %s", firstLine(err))
	}
	if len(file.Docs) == 0 {
		return nil, nil
	}
	return r.value(file.Docs[0].Body, depth)
}

// nested is how deep lists and objects in brackets are in each other, and lists in lists on one line: the library needs the square of it.
func nested(tokens token.Tokens) (deepest int) {
	depth, entries, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			entries, line = 0, t.Position.Line
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType:
			entries++
		}
		deepest = max(deepest, depth+entries)
	}
	return deepest
}

// own is a text in memory of its own.
func (r yamlReader) own(text string) string {
	if same, known := r.known[text]; known {
		return same
	}
	text = strings.Clone(text)
	if len(text) <= 64 {
		r.known[text] = text
	}
	return text
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// value gives a node as trees have it.
func (r yamlReader) value(node ast.Node, depth int) (any, error) {
	if depth++; depth > ordered.MaxDepth {
		return nil, errDeep
	}
	switch n := node.(type) {
	case *ast.MappingNode:
		return r.mapping(n.Values, depth)
	case *ast.MappingValueNode:
		return r.mapping([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		list := make([]any, len(n.Values))
		for i, item := range n.Values {
			var err error
			if list[i], err = r.value(item, depth); err != nil {
				return nil, err
			}
		}
		return list, nil
	case *ast.AliasNode:
		return nil, errAlias
	case *ast.AnchorNode:
		return r.value(n.Value, depth)
	case *ast.TagNode:
		if text, isText := n.Value.(ast.ScalarNode); isText && n.Start.Value == "!!str" {
			return r.own(text.GetToken().Value), nil
		}
		return r.value(n.Value, depth)
	}
	return r.scalar(node), nil
}

func (r yamlReader) mapping(pairs []*ast.MappingValueNode, depth int) (any, error) {
	o := &ordered.Object{}
	for _, pair := range pairs {
		if _, merges := pair.Key.(*ast.MergeKeyNode); merges {
			return nil, errAlias
		}
		value, err := r.value(pair.Value, depth)
		if err != nil {
			return nil, err
		}
		o.Set(r.own(pair.Key.GetToken().Value), value)
	}
	return o, nil
}

// scalar gives a value as JSON has it; numbers keep their digits, also those that are too large for YAML.
func (r yamlReader) scalar(node ast.Node) any {
	switch n := node.(type) {
	case *ast.NullNode:
		return nil
	case *ast.BoolNode:
		return n.Value
	case *ast.LiteralNode:
		return r.own(n.Value.Value)
	case *ast.StringNode:
		if plain := n.Token.Type != token.SingleQuoteType && n.Token.Type != token.DoubleQuoteType; plain && jsonNumber.MatchString(n.Value) {
			return json.Number(r.own(n.Value))
		}
		return r.own(n.Value)
	case *ast.IntegerNode:
		if text := n.Token.Value; jsonNumber.MatchString(text) {
			return json.Number(r.own(text))
		}
		return json.Number(fmt.Sprint(n.Value))
	case *ast.FloatNode:
		if text := n.Token.Value; jsonNumber.MatchString(text) {
			return json.Number(r.own(text))
		}
		return json.Number(strconv.FormatFloat(n.Value, 'g', -1, 64))
	}
	if node == nil || node.GetToken() == nil {
		return nil
	}
	return r.own(node.GetToken().Value)
}
