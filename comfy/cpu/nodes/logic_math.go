package nodes

import (
	"context"
	"math"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

const (
	maxExponent = 4000    // of pow()
	maxBits     = 1 << 20 // of an integer result, so that a short expression cannot take memory without bound
	maxNesting  = 200     // of parentheses
)

func mathNode() node.Node {
	spec := node.Spec{Class: "ComfyMathExpression", DisplayName: "Math Expression", Category: "utilities", Module: "comfy_extras.nodes_math",
		Required: []node.Input{
			node.Text("expression").Default("a + b"),
			node.AutogrowNamed("values", node.Socket("value", "FLOAT,INT,BOOLEAN"), letters(), 1),
		},
		Outputs:       []node.Output{{Type: "FLOAT"}, {Type: "INT"}, {Type: "BOOLEAN", Name: "BOOL"}},
		SearchAliases: []string{"expression", "formula", "calculate", "calculator", "eval", "math"}}
	return node.Node{Spec: spec, Run: func(_ context.Context, c *node.Call) (*node.Result, error) {
		names := map[string]any{"values": c.Group("values"), "True": true, "False": false, "None": nil}
		for _, name := range c.GroupNames("values") {
			names[name] = c.Value("values." + name)
		}
		return mathResult(c.Text("expression"), names)
	}}
}

func mathResult(text string, names map[string]any) (*node.Result, error) {
	if strings.TrimFunc(text, pyval.IsSpace) == "" {
		return nil, node.ValueError("Expression cannot be empty.")
	}
	v, err := evaluate(text, names)
	if err != nil {
		return nil, err
	}
	f, ok := pyval.Float(v)
	if !ok {
		return nil, node.ValueError("Math Expression '%s' must evaluate to a numeric result, got %s: %s", text, pyval.TypeName(v), pyval.Repr(v))
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, node.ValueError("Math Expression '%s' produced a non-finite result: %s", text, pyval.Str(v))
	}
	n, err := pyval.ToInt(v)
	return node.Out(f, n, pyval.Truth(v)), err
}

// evaluate computes an expression of Python's arithmetic: numbers, names, calls of a few functions, conditions.
func evaluate(text string, names map[string]any) (v any, err error) {
	p := &mathParser{text: text, names: names}
	p.advance()
	run, err := p.ternary()
	if err != nil {
		return nil, err
	}
	if p.token != "" {
		return nil, syntaxError()
	}
	return run()
}

// thunk computes a part of an expression when it is needed: "and", "or" and "if" leave parts out.
type thunk func() (any, error)

func syntaxError() error { return node.Raise("SyntaxError", "invalid syntax (<unknown>, line 1)") }

// mathParser reads by recursive descent, from the weakest operator to the strongest.
type mathParser struct {
	text  string
	names map[string]any
	pos   int
	depth int
	token string // "" at the end
	kind  byte   // 'n' number, 'i' name, 's' text, 'o' operator
}

// operators by length, longest first.
var operators = []string{"**", "//", "<=", ">=", "==", "!=", "<<", ">>", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", "<", ">", "&", "|", "^", "~"}

func (p *mathParser) advance() {
	for p.pos < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.pos:])
		if !unicode.IsSpace(r) {
			break
		}
		p.pos += size
	}
	rest := p.text[p.pos:]
	if rest == "" {
		p.token, p.kind = "", 0
		return
	}
	take := func(n int, kind byte) { p.token, p.kind, p.pos = rest[:n], kind, p.pos+n }
	c := rest[0]
	switch {
	case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		take(numberLength(rest), 'n')
	case c == '_' || unicode.IsLetter(rune(c)) || c >= utf8.RuneSelf:
		end := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if end < 0 {
			end = len(rest)
		}
		take(max(end, 1), 'i')
	case c == '\'' || c == '"':
		if end := strings.IndexByte(rest[1:], c); end >= 0 {
			take(end+2, 's')
			return
		}
		take(len(rest), '?')
	default:
		for _, op := range operators {
			if strings.HasPrefix(rest, op) {
				take(len(op), 'o')
				return
			}
		}
		take(1, '?')
	}
}

// numberLength measures a number literal, with exponent, underscores and the prefixes of other bases.
func numberLength(s string) int {
	if len(s) > 1 && s[0] == '0' && strings.IndexByte("xXoObB", s[1]) >= 0 {
		i := 2
		for i < len(s) && (s[i] == '_' || strings.IndexByte("0123456789abcdefABCDEF", s[i]) >= 0) {
			i++
		}
		return i
	}
	i := 0
	for i < len(s) {
		c := s[i]
		exponent := (c == 'e' || c == 'E') && i+1 < len(s) && (s[i+1] >= '0' && s[i+1] <= '9' || (strings.IndexByte("+-", s[i+1]) >= 0 && i+2 < len(s) && s[i+2] >= '0' && s[i+2] <= '9'))
		switch {
		case exponent:
			i += 2
		case c == '.' || c == '_' || c >= '0' && c <= '9':
			i++
		default:
			return i
		}
	}
	return i
}

func (p *mathParser) accept(tokens ...string) string {
	for _, t := range tokens {
		if p.token == t && (p.kind == 'o' || p.kind == 'i') {
			p.advance()
			return t
		}
	}
	return ""
}

// ternary is "x if condition else y".
func (p *mathParser) ternary() (thunk, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, node.Raise("RecursionError", "the expression is nested too deep")
	}
	defer func() { p.depth-- }()
	then, err := p.or()
	if err != nil || p.accept("if") == "" {
		return then, err
	}
	condition, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.accept("else") == "" {
		return nil, syntaxError()
	}
	otherwise, err := p.ternary()
	if err != nil {
		return nil, err
	}
	return func() (any, error) {
		v, err := condition()
		if err != nil {
			return nil, err
		}
		if pyval.Truth(v) {
			return then()
		}
		return otherwise()
	}, nil
}

func (p *mathParser) or() (thunk, error)  { return p.lazily("or", true, p.and) }
func (p *mathParser) and() (thunk, error) { return p.lazily("and", false, p.not) }

// lazily reads a chain of "or" (stops at the first true value) or "and" (at the first false one).
func (p *mathParser) lazily(word string, stop bool, next func() (thunk, error)) (thunk, error) {
	first, err := next()
	if err != nil {
		return nil, err
	}
	parts := []thunk{first}
	for p.accept(word) != "" {
		part, err := next()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if len(parts) == 1 {
		return first, nil
	}
	return func() (v any, err error) {
		for _, part := range parts {
			if v, err = part(); err != nil || pyval.Truth(v) == stop {
				break
			}
		}
		return v, err
	}, nil
}

func (p *mathParser) not() (thunk, error) {
	if p.accept("not") == "" {
		return p.comparison()
	}
	if p.depth++; p.depth > maxNesting {
		return nil, node.Raise("RecursionError", "the expression is nested too deep")
	}
	defer func() { p.depth-- }()
	inner, err := p.not()
	if err != nil {
		return nil, err
	}
	return func() (any, error) {
		v, err := inner()
		return !pyval.Truth(v), err
	}, nil
}

// comparison is a chain: a < b < c means both.
func (p *mathParser) comparison() (thunk, error) {
	first, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	parts := []thunk{first}
	var ops []string
	for {
		op := p.accept("<=", ">=", "==", "!=", "<", ">", "in")
		if op == "" {
			break
		}
		part, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		ops, parts = append(ops, op), append(parts, part)
	}
	if len(ops) == 0 {
		return first, nil
	}
	return func() (any, error) {
		left, err := parts[0]()
		if err != nil {
			return nil, err
		}
		for i, op := range ops {
			right, err := parts[i+1]()
			if err != nil {
				return nil, err
			}
			ok, err := compareValues(op, left, right)
			if err != nil || !ok {
				return false, err
			}
			left = right
		}
		return true, nil
	}, nil
}

// levels are the binary operators from weak to strong.
var levels = [][]string{{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "//", "/", "%"}}

func (p *mathParser) binary(level int) (thunk, error) {
	if level == len(levels) {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	for err == nil {
		op := p.accept(levels[level]...)
		if op == "" {
			return left, nil
		}
		var right thunk
		if right, err = p.binary(level + 1); err == nil {
			left = apply(op, left, right)
		}
	}
	return nil, err
}

func apply(op string, left, right thunk) thunk {
	return func() (any, error) {
		a, err := left()
		if err != nil {
			return nil, err
		}
		b, err := right()
		if err != nil {
			return nil, err
		}
		return arithmetic(op, a, b)
	}
}

func (p *mathParser) unary() (thunk, error) {
	op := p.accept("-", "+", "~")
	if op == "" {
		return p.power()
	}
	if p.depth++; p.depth > maxNesting {
		return nil, node.Raise("RecursionError", "the expression is nested too deep")
	}
	defer func() { p.depth-- }()
	inner, err := p.unary()
	if err != nil {
		return nil, err
	}
	return func() (any, error) {
		v, err := inner()
		if err != nil {
			return nil, err
		}
		switch op {
		case "-":
			if f, ok := v.(float64); ok {
				return -f, nil // 0 - 0.0 would lose the sign
			}
			return arithmetic("-", int64(0), v)
		case "~":
			return arithmetic("-", int64(-1), v)
		}
		return arithmetic("+", int64(0), v)
	}, nil
}

// power binds stronger than a sign on its left and weaker than one on its right.
func (p *mathParser) power() (thunk, error) {
	base, err := p.postfix()
	if err != nil || p.accept("**") == "" {
		return base, err
	}
	exponent, err := p.unary()
	if err != nil {
		return nil, err
	}
	return apply("**", base, exponent), nil
}

// postfix is a value with indices behind it: values[0].
func (p *mathParser) postfix() (thunk, error) {
	v, err := p.atom()
	for err == nil && p.accept("[") != "" {
		var index thunk
		if index, err = p.ternary(); err != nil {
			break
		}
		if p.accept("]") == "" {
			return nil, syntaxError()
		}
		list := v
		v = func() (any, error) { return indexed(list, index) }
	}
	return v, err
}

func indexed(list, index thunk) (any, error) {
	v, err := list()
	if err != nil {
		return nil, err
	}
	i, err := index()
	if err != nil {
		return nil, err
	}
	values, ok := v.([]any)
	n, isInt := pyval.Big(i)
	if !ok || !isInt {
		return nil, node.Raise("TypeError", "'%s' object is not subscriptable with %s", pyval.TypeName(v), pyval.TypeName(i))
	}
	at := n.Int64()
	if at < 0 {
		at += int64(len(values))
	}
	if !n.IsInt64() || at < 0 || at >= int64(len(values)) {
		return nil, node.Raise("IndexError", "list index out of range")
	}
	return values[at], nil
}

func (p *mathParser) atom() (thunk, error) {
	token, kind := p.token, p.kind
	switch {
	case kind == 'n':
		p.advance()
		v, err := literal(token)
		return func() (any, error) { return v, nil }, err
	case kind == 's':
		p.advance()
		return func() (any, error) { return token[1 : len(token)-1], nil }, nil
	case kind == 'i':
		p.advance()
		if p.accept("(") != "" {
			return p.call(token)
		}
		return func() (any, error) {
			if v, ok := p.names[token]; ok {
				return v, nil
			}
			return nil, node.Raise("simpleeval.NameNotDefined", "'%s' is not defined for expression '%s'", token, p.text)
		}, nil
	case p.accept("(") != "":
		v, err := p.ternary()
		if err != nil {
			return nil, err
		}
		if p.accept(")") == "" {
			return nil, syntaxError()
		}
		return v, nil
	}
	return nil, syntaxError()
}

func literal(token string) (any, error) {
	clean := strings.ReplaceAll(token, "_", "")
	if len(clean) > 1 && clean[0] == '0' && strings.IndexByte("xXoObB", clean[1]) >= 0 {
		if n, ok := new(big.Int).SetString(clean, 0); ok {
			return pyval.Int(n), nil
		}
		return nil, syntaxError()
	}
	if strings.ContainsAny(clean, ".eE") {
		return pyval.ToFloat(clean)
	}
	if len(clean) > 1 && clean[0] == '0' && strings.Trim(clean, "0") != "" {
		return nil, syntaxError()
	}
	return pyval.ToInt(clean)
}

func (p *mathParser) call(name string) (thunk, error) {
	var args []thunk
	for p.accept(")") == "" {
		if len(args) > 0 && p.accept(",") == "" {
			return nil, syntaxError()
		}
		if len(args) > 0 && p.accept(")") != "" {
			break
		}
		arg, err := p.ternary()
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	fn, ok := mathFunctions[name]
	return func() (any, error) {
		if !ok {
			return nil, node.Raise("simpleeval.FunctionNotDefined", "Function '%s' not defined, for expression '%s'.", name, p.text)
		}
		values := make([]any, len(args))
		for i, arg := range args {
			var err error
			if values[i], err = arg(); err != nil {
				return nil, err
			}
		}
		return fn(values)
	}, nil
}
