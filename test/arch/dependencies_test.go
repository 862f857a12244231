package arch

import (
	"os"
	"regexp"
	"testing"
)

func TestDependenciesHaveAReason(t *testing.T) {
	t.Parallel()
	names := func(file string, line *regexp.Regexp) map[string]bool {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
		if len(found) == 0 {
			t.Fatalf("%s names no module", file)
		}
		return found
	}
	required := names("../../go.mod", regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)) // those without a comment are direct
	told := names("../../docs/dependencies.md", regexp.MustCompile("(?m)^\\| `(\\S+)` \\| .+ \\|$"))
	for module := range required {
		if !told[module] {
			t.Errorf("docs/dependencies.md has no reason for %s", module)
		}
	}
	for module := range told {
		if !required[module] {
			t.Errorf("docs/dependencies.md tells of %s, which go.mod does not require", module)
		}
	}
}
