package nodes

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// textFunc makes a node of a function that needs no context.
func textFunc(spec node.Spec, fn func(c *node.Call) (any, error)) node.Node {
	return node.Node{Spec: spec, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		v, err := fn(c)
		if err != nil {
			return nil, err
		}
		return node.Out(v), nil
	}}
}

func stringSpec(class, title string, out node.Output, aliases []string, inputs ...node.Input) node.Spec {
	return node.Spec{Class: class, DisplayName: title, Category: "text", Module: "comfy_extras.nodes_string",
		Required: inputs, Outputs: []node.Output{out}, SearchAliases: aliases}
}

var (
	textOut = node.Output{Type: "STRING"}
)

func textNodes() []node.Node {
	return []node.Node{
		textFunc(stringSpec("StringConcatenate", "Concatenate Text", textOut,
			[]string{"concatenate", "text concat", "join text", "merge text", "combine strings", "string concat", "append text", "combine text"},
			node.Text("string_a"), node.Text("string_b"), node.String("delimiter").Default("")),
			func(c *node.Call) (any, error) {
				a, b, between := c.Text("string_a"), c.Text("string_b"), c.Text("delimiter")
				if err := tooLong(len(a) + len(b) + len(between)); err != nil {
					return nil, err
				}
				return a + between + b, nil
			}),
		textFunc(stringSpec("StringSubstring", "Substring", textOut,
			[]string{"substring", "extract text", "text portion"},
			node.Text("string"), node.Int("start"), node.Int("end")),
			func(c *node.Call) (any, error) {
				runes := []rune(c.Text("string"))
				from, to := sliceBounds(c.Int("start"), c.Int("end"), len(runes))
				return string(runes[from:to]), nil
			}),
		textFunc(stringSpec("StringLength", "Text Length", node.Output{Type: "INT", Name: "length"},
			[]string{"character count", "text size", "string length"}, node.Text("string")),
			func(c *node.Call) (any, error) { return int64(utf8.RuneCountInString(c.Text("string"))), nil }),
		textFunc(stringSpec("CaseConverter", "Convert Text Case", textOut,
			[]string{"case converter", "text case", "uppercase", "lowercase", "capitalize"},
			node.Text("string"), node.Combo("mode", "UPPERCASE", "lowercase", "Capitalize", "Title Case")),
			func(c *node.Call) (any, error) { return convertCase(c.Text("string"), c.Text("mode")), nil }),
		textFunc(stringSpec("StringTrim", "Trim Text", textOut,
			[]string{"trim", "clean whitespace", "remove whitespace", "remove spaces", "strip"},
			node.Text("string"), node.Combo("mode", "Both", "Left", "Right")),
			func(c *node.Call) (any, error) { return trimText(c.Text("string"), c.Text("mode")), nil }),
		textFunc(stringSpec("StringReplace", "Replace Text", textOut,
			[]string{"replace", "find and replace", "substitute", "swap text"},
			node.Text("string"), node.Text("find"), node.Text("replace")),
			func(c *node.Call) (any, error) {
				return replaceAll(c.Text("string"), c.Text("find"), c.Text("replace"))
			}),
		textFunc(stringSpec("StringContains", "Contains Text", node.Output{Type: "BOOLEAN", Name: "contains"},
			[]string{"contains", "text includes", "string includes"},
			node.Text("string"), node.Text("substring"), node.Bool("case_sensitive").Default(true).Advanced()),
			func(c *node.Call) (any, error) {
				a, b := foldUnless(c.Bool("case_sensitive"), c.Text("string"), c.Text("substring"))
				return strings.Contains(a, b), nil
			}),
		textFunc(stringSpec("StringCompare", "Compare Text", node.Output{Type: "BOOLEAN"},
			[]string{"compare", "text match", "string equals", "starts with", "ends with"},
			node.Text("string_a"), node.Text("string_b"), node.Combo("mode", "Starts With", "Ends With", "Equal"),
			node.Bool("case_sensitive").Default(true).Advanced()),
			compareText),
		textFunc(stringSpec("JsonExtractString", "Extract Text from JSON", textOut,
			[]string{"json", "extract json", "parse json", "json value", "read json"},
			node.Text("json_string"), node.String("key")),
			func(c *node.Call) (any, error) { return jsonMember(c.Text("json_string"), c.Text("key")), nil }),
		formatNode(),
	}
}

// maxText bounds the bytes of a text that a node makes: a few nodes can double a text many times over.
const maxText = 64 << 20

// tooLong refuses a text of that many bytes.
func tooLong(bytes int) error {
	if bytes <= maxText {
		return nil
	}
	return node.Raise("MemoryError", "a text of %d bytes is longer than this engine allows (%d)", bytes, maxText)
}

// replaceAll is str.replace(), for results of reasonable length.
func replaceAll(s, find, replace string) (string, error) {
	if grow := len(replace) - len(find); grow > 0 {
		if n := strings.Count(s, find); n > (maxText-min(len(s), maxText))/grow {
			return "", tooLong(maxText + 1)
		}
	}
	return strings.ReplaceAll(s, find, replace), nil
}

func compareText(c *node.Call) (any, error) {
	a, b := foldUnless(c.Bool("case_sensitive"), c.Text("string_a"), c.Text("string_b"))
	switch c.Text("mode") {
	case "Starts With":
		return strings.HasPrefix(a, b), nil
	case "Ends With":
		return strings.HasSuffix(a, b), nil
	default:
		return a == b, nil
	}
}

func jsonMember(text, key string) string {
	parsed, err := pyval.Parse([]byte(text))
	d, ok := parsed.(*pyval.Dict)
	if err != nil || !ok {
		return ""
	}
	v, ok := d.Get(key)
	if !ok || v == nil {
		return ""
	}
	return pyval.Str(v)
}

// sliceBounds gives the bounds of Python's s[start:end] for a length.
func sliceBounds(start, end, length int) (from, to int) {
	place := func(i int) int {
		if i < 0 {
			i += length
		}
		return min(max(i, 0), length)
	}
	from, to = place(start), place(end)
	return from, max(from, to)
}

func foldUnless(keep bool, a, b string) (string, string) {
	if keep {
		return a, b
	}
	return lower(a), lower(b)
}

func lower(s string) string { return cases.Lower(language.Und).String(s) }
func upper(s string) string { return cases.Upper(language.Und).String(s) }

// titled is the title case of one character, which may be several: "ß" gives "Ss".
func titled(r rune) string {
	if !unicode.IsLetter(r) {
		return string(unicode.ToTitle(r))
	}
	return cases.Title(language.Und).String(string(r))
}

func convertCase(s, mode string) string {
	switch mode {
	case "UPPERCASE":
		return upper(s)
	case "lowercase":
		return lower(s)
	case "Capitalize":
		first, size := utf8.DecodeRuneInString(s)
		if size == 0 {
			return s
		}
		// The rest is lowered in its context, because a sigma at a word's end has a form of its own.
		rest := strings.TrimPrefix(lower(s), lower(s[:size]))
		return titled(first) + rest
	case "Title Case":
		return titleCase(s)
	}
	return s
}

// titleCase is str.title(): every letter after one without case begins a word, also after an apostrophe.
func titleCase(s string) string {
	var b strings.Builder
	lowered := []rune(s)
	inWord := false
	for i, r := range lowered {
		switch {
		case inWord:
			b.WriteString(lowerAt(lowered, i))
		default:
			b.WriteString(titled(r))
		}
		inWord = unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r)
	}
	return b.String()
}

// lowerAt lowers one character in its place: a sigma that ends a word is written ς.
func lowerAt(s []rune, i int) string {
	if s[i] != 'Σ' {
		return lower(string(s[i]))
	}
	if i+1 < len(s) && unicode.IsLetter(s[i+1]) {
		return "σ"
	}
	return "ς"
}

func trimText(s, mode string) string {
	switch mode {
	case "Left":
		return strings.TrimLeftFunc(s, pyval.IsSpace)
	case "Right":
		return strings.TrimRightFunc(s, pyval.IsSpace)
	default:
		return strings.TrimFunc(s, pyval.IsSpace)
	}
}
