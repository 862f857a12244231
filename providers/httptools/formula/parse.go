package formula

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// Parse reads an expression.
func Parse(text string) (*Formula, error) {
	if len(text) > maxLength {
		return nil, fmt.Errorf("the formula has more than %d bytes", maxLength)
	}
	p := parser{rest: text}
	root, err := p.sum(0)
	if p.space(); err == nil && p.rest != "" {
		err = fmt.Errorf("expected an operator or the end")
	}
	if err != nil {
		return nil, fmt.Errorf("the formula %q: at %q: %w", text, p.rest, err)
	}
	return &Formula{root}, nil
}

// parser reads an expression by recursive descent: a sum of products of terms.
type parser struct{ rest string }

func (p *parser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// take takes one of the signs away if it is next.
func (p *parser) take(signs string) string {
	p.space()
	if p.rest == "" || !strings.Contains(signs, p.rest[:1]) {
		return ""
	}
	sign := p.rest[:1]
	p.rest = p.rest[1:]
	return sign
}

func (p *parser) sum(depth int) (node, error) { return p.chain(depth, "+-", p.product) }

func (p *parser) product(depth int) (node, error) { return p.chain(depth, "*/", p.term) }

// chain reads operands of operators of one rank, from left to right.
func (p *parser) chain(depth int, signs string, operand func(int) (node, error)) (node, error) {
	left, err := operand(depth)
	for err == nil {
		op := p.take(signs)
		if op == "" {
			return left, nil
		}
		var right node
		if right, err = operand(depth); err == nil {
			left = node{op: op, parts: []node{left, right}}
		}
	}
	return left, err
}

func (p *parser) term(depth int) (node, error) {
	if depth > maxDepth {
		return node{}, fmt.Errorf("more than %d parentheses in each other", maxDepth)
	}
	if p.take("(") != "" {
		inner, err := p.sum(depth + 1)
		if err == nil && p.take(")") == "" {
			err = errors.New("expected )")
		}
		return inner, err
	}
	if number := p.run("0123456789."); number != "" {
		value, ok := new(big.Rat).SetString(number)
		if !ok {
			return node{}, fmt.Errorf("%s is no number", number)
		}
		return node{number: value}, nil
	}
	name := p.name()
	switch {
	case name == "":
		return node{}, errors.New("expected a number, a name or (")
	case p.take("[") != "":
		names, err := p.names("]")
		return node{use: &Use{Name: name, Args: names, IsTable: true}}, err
	case p.take("(") != "":
		return p.function(name, depth)
	}
	return node{use: &Use{Name: name}}, nil
}

// function reads the arguments of an arithmetic function, which are expressions, or of a measure, which are names.
func (p *parser) function(name string, depth int) (node, error) {
	count, arithmetic := arity[name]
	if !arithmetic {
		names, err := p.names(")")
		return node{use: &Use{Name: name, Args: names}}, err
	}
	call := node{op: name}
	for {
		part, err := p.sum(depth + 1)
		if err != nil {
			return call, err
		}
		call.parts = append(call.parts, part)
		if p.take(",") == "" {
			break
		}
	}
	if p.take(")") == "" {
		return call, errors.New("expected , or )")
	}
	if count > 0 && len(call.parts) != count {
		return call, fmt.Errorf("%s takes %d value", name, count)
	}
	return call, nil
}

// names reads names up to the closing sign.
func (p *parser) names(closing string) ([]string, error) {
	var names []string
	for {
		name := p.name()
		if name == "" {
			return nil, errors.New("expected a name")
		}
		names = append(names, name)
		if p.take(",") != "" {
			continue
		}
		if p.take(closing) == "" {
			return nil, fmt.Errorf("expected , or %s", closing)
		}
		return names, nil
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

// name reads a name: a letter, then letters, digits and dots.
func (p *parser) name() string {
	p.space()
	if p.rest == "" || !strings.Contains(letters, p.rest[:1]) {
		return ""
	}
	return p.run(letters + "0123456789.")
}

// run takes away what is next of the signs.
func (p *parser) run(signs string) string {
	p.space()
	n := 0
	for n < len(p.rest) && strings.IndexByte(signs, p.rest[n]) >= 0 {
		n++
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	return word
}
