package web_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/web"
)

func TestOwnPaths(t *testing.T) {
	t.Parallel()
	t.Run("A48 every route of the sources is one that no tool gets", func(t *testing.T) {
		t.Parallel()
		files, err := filepath.Glob("*.go")
		if err != nil {
			t.Fatal(err)
		}
		more, err := filepath.Glob("../../cmd/signalbox/*.go")
		if err != nil {
			t.Fatal(err)
		}
		route := regexp.MustCompile(`(?:Handle|HandleFunc)\("(?:[A-Z]+ )?(/[^"]*)"|Path: "(?:[A-Z]+ )?(/[^"]*)", Who:`)
		found := 0
		for _, file := range slices.Concat(files, more) {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range route.FindAllStringSubmatch(string(source), -1) {
				path := match[1] + match[2]
				if path == "/" || path == "/{$}" {
					continue
				}
				found++
				if !slices.ContainsFunc(web.OwnPaths(), func(own string) bool { return path == own || strings.HasPrefix(path, own+"/") }) {
					t.Errorf("%s: %s is not among the own paths", file, path)
				}
			}
		}
		if found < 50 {
			t.Errorf("only %d routes were found", found)
		}
	})
}
