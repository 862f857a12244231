// Package formula computes prices from what a run was asked for, exactly: arithmetic on decimals, with names for the amounts
// that inputs and answers have, and tables for what depends on a choice.
//
//	first[model] + more[model] * (max(1, ceil(megapixels(width, height))) - 1)
//
// An expression has numbers, names, + - * / and parentheses; cells of tables, name[a, b]; and functions, name(a, b). The
// functions ceil, floor, min and max are arithmetic; any other measures what its arguments name, and is asked of the Env.
package formula

import (
	"errors"
	"math/big"
	"slices"
	"strings"
)

// Bounds of an expression.
const (
	maxLength = 1000 // bytes
	maxDepth  = 50
)

// Env is what names stand for.
type Env interface {
	// Amount is the number behind a name, or behind a measure in the form "name(a, b)".
	Amount(name string) (*big.Rat, error)
	// Cell is the number in a table for the values behind names.
	Cell(table string, names []string) (*big.Rat, error)
}

// Formula is an expression that was read. It is immutable.
type Formula struct{ root node }

// Use is what an expression asks its Env for: a name without Args, a table's cell, or a measure.
type Use struct {
	Name    string
	Args    []string
	IsTable bool
}

// String is the form by which Env.Amount is asked.
func (u Use) String() string {
	if u.IsTable {
		return u.Name + "[" + strings.Join(u.Args, ", ") + "]"
	}
	if len(u.Args) == 0 {
		return u.Name
	}
	return u.Name + "(" + strings.Join(u.Args, ", ") + ")"
}

// Eval computes the expression. Errors: those of env, and a division by zero.
func (f *Formula) Eval(env Env) (*big.Rat, error) { return f.root.eval(env) }

// Uses lists what the expression asks for, in its order, each once.
func (f *Formula) Uses() []Use {
	var uses []Use
	f.root.walk(func(u Use) {
		if !slices.ContainsFunc(uses, func(known Use) bool { return known.String() == u.String() }) {
			uses = append(uses, u)
		}
	})
	return uses
}

// node is a part of an expression: a number, a use, or an operation on parts.
type node struct {
	number *big.Rat
	use    *Use
	op     string // + - * / or the name of an arithmetic function
	parts  []node
}

func (n node) walk(visit func(Use)) {
	if n.use != nil {
		visit(*n.use)
	}
	for _, part := range n.parts {
		part.walk(visit)
	}
}

func (n node) eval(env Env) (*big.Rat, error) {
	switch {
	case n.number != nil:
		return n.number, nil
	case n.use != nil && n.use.IsTable:
		return env.Cell(n.use.Name, n.use.Args)
	case n.use != nil:
		return env.Amount(n.use.String())
	}
	values := make([]*big.Rat, len(n.parts))
	for i, part := range n.parts {
		var err error
		if values[i], err = part.eval(env); err != nil {
			return nil, err
		}
	}
	return operate(n.op, values)
}

func operate(op string, values []*big.Rat) (*big.Rat, error) {
	a, b := values[0], values[len(values)-1]
	switch op {
	case "+":
		return new(big.Rat).Add(a, b), nil
	case "-":
		return new(big.Rat).Sub(a, b), nil
	case "*":
		return new(big.Rat).Mul(a, b), nil
	case "/":
		if b.Sign() == 0 {
			return nil, errors.New("it divides by zero")
		}
		return new(big.Rat).Quo(a, b), nil
	case "floor":
		return floor(a), nil
	case "ceil":
		return new(big.Rat).Neg(floor(new(big.Rat).Neg(a))), nil
	}
	return slices.MinFunc(values, func(x, y *big.Rat) int {
		if op == "max" {
			return y.Cmp(x)
		}
		return x.Cmp(y)
	}), nil
}

// floor is the largest whole number that is not above r: Euclid's division rounds down where the divisor is positive.
func floor(r *big.Rat) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Div(r.Num(), r.Denom()))
}

// arity is how many arguments an arithmetic function takes; 0: one or more.
var arity = map[string]int{"ceil": 1, "floor": 1, "min": 0, "max": 0}
