package locks

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestAdvisoryLocksAreListed(t *testing.T) {
	t.Parallel()
	const list = "internal/locks/locks.go"
	// These can't name a constant of the list, as SQL; their keys have to be listed all the same.
	literal := []string{"migrations/0030_runs.sql"}
	spaces := regexp.MustCompile(`hashtextextended\([^,]*,\s*(\d+)\)`)
	numbers := regexp.MustCompile(`pg_(?:try_)?advisory_\w+\(\s*\d`)
	content, err := os.ReadFile("locks.go")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range spaces.FindAllStringSubmatch(string(content), -1) {
		if slices.Contains(listed, m[1]) {
			t.Errorf("two locks have the key space %s", m[1])
		}
		listed = append(listed, m[1])
	}
	if len(listed) == 0 {
		t.Fatal("no key space is listed")
	}
	users := map[string]string{} // by key space, of those that write it out
	err = filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() {
			if name == "node_modules" || name == "testdata" || strings.HasPrefix(name, ".") && name != ".." {
				return fs.SkipDir
			}
			return nil
		}
		file := filepath.ToSlash(strings.TrimPrefix(filepath.ToSlash(path), "../../"))
		if ext := filepath.Ext(file); ext != ".go" && ext != ".sql" || strings.HasSuffix(file, "_test.go") || file == list {
			return nil
		}
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		if numbers.Match(text) {
			t.Errorf("%s takes a lock with a key of its own; %s has the list", file, list)
		}
		for _, m := range spaces.FindAllStringSubmatch(string(text), -1) {
			switch {
			case !slices.Contains(literal, file):
				t.Errorf("%s writes %s out; %s has the list", file, m[0], list)
			case !slices.Contains(listed, m[1]):
				t.Errorf("%s: %s is not in %s", file, m[0], list)
			case users[m[1]] != "" && users[m[1]] != file:
				t.Errorf("%s: %s is that of %s", file, m[0], users[m[1]])
			}
			users[m[1]] = file
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
