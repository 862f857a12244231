package chattest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRulesNameTests keeps the list of rules honest: what docs/ux.md names as a test of the suite is one.
func TestRulesNameTests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "ux.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, cell := range strings.FieldsFunc(string(page), func(r rune) bool { return r == '|' || r == ';' || r == '\n' }) {
		name, ok := strings.CutPrefix(strings.TrimSpace(cell), "S ")
		if !ok {
			continue
		}
		begin, _, _ := strings.Cut(name, " (")
		begin, _, short := strings.Cut(begin, " …")
		named++
		if !isTest(strings.TrimSpace(begin), short) {
			t.Errorf("the suite has no test %q", name)
		}
	}
	if named < 30 {
		t.Errorf("only %d tests of the suite are named", named)
	}
}

// isTest reports whether the suite has a test of that name or, if it is shortened, one that begins so.
func isTest(name string, short bool) bool {
	all := tests()
	if _, ok := all[name]; ok || !short {
		return ok
	}
	for full := range all {
		if strings.HasPrefix(full, name) {
			return true
		}
	}
	return false
}
