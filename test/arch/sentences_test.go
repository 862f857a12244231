package arch

import (
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/said"
)

var placeholder = regexp.MustCompile(`\{([a-zA-Z]+)\}`)

// sentences holds that anyone who says a sentence gives a value for each of its placeholders and for no others.
func sentences(t *testing.T, w *world) {
	raw, err := said.Texts.ReadFile("texts/said.en.json")
	if err != nil {
		t.Fatal(err)
	}
	var english map[string]json.RawMessage
	if err := json.Unmarshal(raw, &english); err != nil {
		t.Fatal(err)
	}
	for _, p := range w.packages {
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || call.Ellipsis.IsValid() {
					return true
				}
				key, values := p.sentence(call)
				if key == "" {
					return true
				}
				want := map[string]bool{}
				for _, m := range placeholder.FindAllStringSubmatch(string(english[key]), -1) {
					want[m[1]] = true
				}
				if !maps.Equal(want, values) {
					t.Errorf("%s: %s has the placeholders %v and gets %v", w.fset.Position(call.Pos()), key, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(values)))
				}
				return true
			})
		}
	}
}

// sentence is the key of the sentence that a call fills, and the names of the values that it gets: it is what With is called on,
// or the first argument of its type, and the pairs follow.
func (p *checked) sentence(call *ast.CallExpr) (key string, values map[string]bool) {
	pairs := call.Args
	if method, ok := call.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "With" {
		key = p.keyOf(method.X)
	}
	for i := 0; key == "" && i < len(call.Args); i++ {
		if p.textOf(call.Args[i]) != "" {
			return "", nil // a value for another sentence
		}
		key, pairs = p.keyOf(call.Args[i]), call.Args[i+1:]
	}
	values = map[string]bool{}
	for i := 0; i < len(pairs); i += 2 {
		values[p.textOf(pairs[i])] = true
	}
	return key, values
}

// keyOf is the key of a sentence that is named, "" of anything else.
func (p *checked) keyOf(e ast.Expr) string {
	selected, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	v, ok := p.info.Uses[selected.Sel].(*types.Var)
	if !ok || v.IsField() || v.Pkg() == nil || v.Pkg().Path() != module+"internal/said" || v.Name() == "Texts" {
		return ""
	}
	return "said." + strings.ToLower(v.Name()[:1]) + v.Name()[1:]
}

// textOf is a constant of type string.
func (p *checked) textOf(e ast.Expr) string {
	value := p.info.Types[e]
	if value.Value == nil || value.Value.Kind() != constant.String || !types.Identical(types.Default(value.Type), types.Typ[types.String]) {
		return ""
	}
	return constant.StringVal(value.Value)
}
