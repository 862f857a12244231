package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// errAlias refuses aliases of YAML: a few lines of them make gigabytes.
var errAlias = errors.New("it uses aliases of YAML (*name), which are not taken: write the values out, or use $ref")

// parseValue reads exactly one value in JSON or YAML.
func parseValue(data []byte) (any, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if bytes.HasPrefix(data, []byte("{")) {
		return parseJSON(data)
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, fmt.Errorf("it is neither JSON nor YAML: %s", firstLine(err))
	}
	if len(file.Docs) == 0 {
		return nil, nil
	}
	return fromYAML(file.Docs[0].Body, 0)
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// fromYAML gives a node as trees have it.
func fromYAML(node ast.Node, depth int) (any, error) {
	if depth++; depth > maxDepth {
		return nil, fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	}
	switch n := node.(type) {
	case *ast.MappingNode:
		return fromMapping(n.Values, depth)
	case *ast.MappingValueNode:
		return fromMapping([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		list := make([]any, len(n.Values))
		for i, item := range n.Values {
			var err error
			if list[i], err = fromYAML(item, depth); err != nil {
				return nil, err
			}
		}
		return list, nil
	case *ast.AliasNode:
		return nil, errAlias
	case *ast.AnchorNode:
		return fromYAML(n.Value, depth)
	case *ast.TagNode:
		if text, isText := n.Value.(ast.ScalarNode); isText && n.Start.Value == "!!str" {
			return text.GetToken().Value, nil
		}
		return fromYAML(n.Value, depth)
	}
	return scalar(node), nil
}

func fromMapping(pairs []*ast.MappingValueNode, depth int) (any, error) {
	o := &object{}
	for _, pair := range pairs {
		if _, merges := pair.Key.(*ast.MergeKeyNode); merges {
			return nil, errAlias
		}
		value, err := fromYAML(pair.Value, depth)
		if err != nil {
			return nil, err
		}
		o.set(strings.Clone(pair.Key.GetToken().Value), value)
	}
	return o, nil
}

// scalar gives a value as JSON has it; numbers keep their digits, also those that are too large for YAML.
func scalar(node ast.Node) any {
	switch n := node.(type) {
	case *ast.NullNode:
		return nil
	case *ast.BoolNode:
		return n.Value
	case *ast.LiteralNode:
		return strings.Clone(n.Value.Value)
	case *ast.StringNode:
		if plain := n.Token.Type != token.SingleQuoteType && n.Token.Type != token.DoubleQuoteType; plain && jsonNumber.MatchString(n.Value) {
			return json.Number(strings.Clone(n.Value))
		}
		return strings.Clone(n.Value)
	case *ast.IntegerNode:
		if text := n.Token.Value; jsonNumber.MatchString(text) {
			return json.Number(strings.Clone(text))
		}
		return json.Number(fmt.Sprint(n.Value))
	case *ast.FloatNode:
		if text := n.Token.Value; jsonNumber.MatchString(text) {
			return json.Number(strings.Clone(text))
		}
		return json.Number(strconv.FormatFloat(n.Value, 'g', -1, 64))
	}
	if node == nil || node.GetToken() == nil {
		return nil
	}
	return strings.Clone(node.GetToken().Value)
}
