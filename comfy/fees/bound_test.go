package fees

import (
	"strings"
	"testing"
	"time"
)

// TestLyingPrices holds expressions of an engine that lies, each of which would go on for ever, take all memory or break the program.
func TestLyingPrices(t *testing.T) {
	t.Parallel()
	price := func(body string) string { return `(` + body + `; {"type": "usd", "usd": 1})` }
	for name, c := range map[string]struct{ expression, err string }{
		"for ever":             {price(`$f := function($x) { $f($x) }; $f(1)`), "LambdaNode"},
		"a long list":          {price(`$sum([1..10000000])`), "$sum"},
		"a range":              {price(`[1..10000000]`), "RangeNode"},
		"padding":              {price(`$pad("x", 2000000000)`), "$pad"},
		"by another name":      {price(`$max := $pad; $max("x", 2000000000)`), "$pad before it has a value"},
		"a part of a call":     {price(`$p := $pad("x", ?)`), "PartialNode"},
		"applied":              {price(`"x" ~> $pad(2000000000)`), "FunctionApplicationNode"},
		"higher order":         {price(`$map([1, 2], $string)`), "$map"},
		"each item anew":       {price(strings.Repeat(`[1, 2].(`, 40) + "1" + strings.Repeat(")", 40)), "steps other than names"},
		"each condition anew":  {price(strings.Repeat(`[1, 2][`, 40) + "true" + strings.Repeat("]", 40)), "filtered by something other"},
		"doubled texts":        {price(`$a := "0123456789"; ` + strings.Repeat(`$a := $a & $a; `, 60) + `1`), "hold more than"},
		"doubled lists":        {price(`$a := [1, 2]; ` + strings.Repeat(`$a := [$a, $a]; `, 60) + `1`), "hold more than"},
		"doubled objects":      {price(`$a := {}; ` + strings.Repeat(`$a := {"a": $a, "b": $a}; `, 60) + `$string($a)`), "hold more than"},
		"doubled in inner":     {price(`$a := "0123456789"; ` + strings.Repeat(`($a := $a & $a; `, 60) + `1` + strings.Repeat(")", 60)), "hold more than"},
		"escaped again":        {price(`$a := "\"\""; ` + strings.Repeat(`$a := $string([$a]); `, 60) + `1`), "hold more than"},
		"nested deep":          {strings.Repeat("(", 16<<10) + strings.Repeat(")", 16<<10), "hold more than"},
		"signs":                {strings.Repeat("-", 31<<10) + "widgets.a", "hold more than"},
		"a wildcard":           {price(`**`), "DescendentNode"},
		"a pattern":            {price(`$contains("a", /(a*)*b/)`), "RegexNode"},
		"sorted":               {price(`[2, 1]^($)`), "SortNode"},
		"grouped":              {price(`[2, 1]{"a": 1}`), "GroupNode"},
		"code of its own":      {price(`$eval("1")`), "$eval"},
		"a call of an element": {price(`([$pad])[0]("x", 2000000000)`), "it calls"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var badges Badges
			began := time.Now()
			given, err := badges.evaluate(c.expression, map[string]any{"widgets": map[string]any{}})
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v, %v; expected an error with %q", given, err, c.err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %v to refuse", took)
			}
		})
	}
}
