package fees

import (
	"errors"
	"fmt"

	"github.com/blues/jsonata-go/jparse"
)

// maxWork bounds what the values of an expression hold together, in bytes about. Those of a real server hold a tenth of it at most.
const maxWork = 16 << 20

// plainFunctions are those that prices need, with how many times longer than what they are given their value may be. They call no others.
var plainFunctions = map[string]int{
	"ceil": 1, "contains": 1, "exists": 1, "floor": 1, "length": 1, "lookup": 1, "lowercase": 2, "max": 1, "min": 1, "number": 1, "round": 1,
	"string":    6, // in JSON \u003c stands for <
	"substring": 1, "substringBefore": 1,
}

// boundary refuses expressions that could go on for ever or grow without end, before they are evaluated: the interpreter can't be stopped. Only
// what prices are made of is allowed, none of which repeats anything, and how much each value can hold at most is added up. An object that holds
// another twice counts it twice.
type boundary struct {
	holds map[string]int // the most that a variable can hold, by its name
	given int            // what the expression is evaluated on holds
	work  int
}

// check refuses an expression that is evaluated on values of so many bytes.
func check(expression jparse.Node, given int) error {
	_, err := (&boundary{map[string]int{}, given, 0}).most(expression)
	return err
}

// most is how much the value of a node can hold.
func (b *boundary) most(node jparse.Node) (int, error) {
	size := 32
	switch n := node.(type) {
	case *jparse.BooleanNode, *jparse.NullNode, *jparse.NumberNode:
	case *jparse.StringNode:
		size += len(n.Value)
	case *jparse.NameNode:
		size += b.given
	case *jparse.VariableNode:
		held, assigned := b.holds[n.Name]
		if !assigned {
			return 0, fmt.Errorf("it uses $%.60s before it has a value", n.Name)
		}
		size += held
	}
	parts, err := partsOf(node)
	if err != nil {
		return 0, err
	}
	for _, part := range parts {
		held, err := b.most(part)
		if err != nil {
			return 0, err
		}
		size += held
	}
	if call, ok := node.(*jparse.FunctionCallNode); ok {
		size *= plainFunctions[call.Func.(*jparse.VariableNode).Name]
	}
	if b.work += size; b.work > maxWork {
		return 0, fmt.Errorf("its values hold more than %d bytes", maxWork)
	}
	if n, ok := node.(*jparse.AssignmentNode); ok {
		b.holds[n.Name] = max(b.holds[n.Name], size)
	}
	return size, nil
}

// partsOf are the nodes that a node's value is made of, in the order in which they are evaluated.
func partsOf(node jparse.Node) ([]jparse.Node, error) {
	switch n := node.(type) {
	case *jparse.BooleanNode, *jparse.NullNode, *jparse.NumberNode, *jparse.StringNode, *jparse.NameNode, *jparse.VariableNode:
		return nil, nil
	case *jparse.ArrayNode:
		return n.Items, nil
	case *jparse.ObjectNode:
		var parts []jparse.Node
		for _, pair := range n.Pairs {
			parts = append(parts, pair[:]...)
		}
		return parts, nil
	case *jparse.BlockNode:
		return n.Exprs, nil
	case *jparse.AssignmentNode:
		return []jparse.Node{n.Value}, nil
	case *jparse.NegationNode:
		return []jparse.Node{n.RHS}, nil
	case *jparse.NumericOperatorNode:
		return []jparse.Node{n.LHS, n.RHS}, nil
	case *jparse.ComparisonOperatorNode:
		return []jparse.Node{n.LHS, n.RHS}, nil
	case *jparse.BooleanOperatorNode:
		return []jparse.Node{n.LHS, n.RHS}, nil
	case *jparse.StringConcatenationNode:
		return []jparse.Node{n.LHS, n.RHS}, nil
	case *jparse.ConditionalNode:
		parts := []jparse.Node{n.If, n.Then}
		if n.Else != nil {
			parts = append(parts, n.Else)
		}
		return parts, nil
	case *jparse.PathNode:
		return pathParts(n)
	case *jparse.PredicateNode:
		return predicateParts(n)
	case *jparse.FunctionCallNode:
		return callParts(n)
	}
	return nil, fmt.Errorf("it has a %T, of which no price is made", node)
}

// pathParts are those of a path by names: other steps are evaluated anew for each item before them.
func pathParts(n *jparse.PathNode) ([]jparse.Node, error) {
	for _, step := range n.Steps[min(1, len(n.Steps)):] {
		if _, ok := step.(*jparse.NameNode); !ok {
			return nil, errors.New("a path has steps other than names")
		}
	}
	return n.Steps[:min(1, len(n.Steps))], nil // what a name leads to is a part of it
}

// predicateParts are those of one item of a list, by its number: other conditions are evaluated anew for each item.
func predicateParts(n *jparse.PredicateNode) ([]jparse.Node, error) {
	for _, filter := range n.Filters {
		if _, ok := filter.(*jparse.NumberNode); !ok {
			return nil, errors.New("a list is filtered by something other than a number")
		}
	}
	return append([]jparse.Node{n.Expr}, n.Filters...), nil
}

func callParts(n *jparse.FunctionCallNode) ([]jparse.Node, error) {
	name, ok := n.Func.(*jparse.VariableNode)
	if !ok || plainFunctions[name.Name] == 0 {
		return nil, fmt.Errorf("it calls %.60s, which no price needs", n.Func)
	}
	return n.Args, nil
}
