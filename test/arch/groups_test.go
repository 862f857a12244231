package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestImportsAreGrouped holds imports to one form: the standard library, other modules, this module, each a group.
func TestImportsAreGrouped(t *testing.T) {
	t.Parallel()
	var names []string
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata" || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".go" {
			names = append(names, path)
		}
		return err
	})
	if err != nil || len(names) < 500 {
		t.Fatalf("%d files were found, %v", len(names), err)
	}
	for _, name := range names {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := 1; i < len(file.Imports); i++ {
			before, spec := file.Imports[i-1], file.Imports[i]
			from, to := originOf(before), originOf(spec)
			apart := startOf(files, spec)-files.Position(before.End()).Line > 1
			if to < from || apart == (to == from) {
				t.Errorf("%s: the import of %s is not in its group: run goimports -local %s", name, spec.Path.Value, strings.TrimSuffix(module, "/"))
			}
		}
	}
}

// originOf says where an import is from: 0 the standard library, 1 another module, 2 this one.
func originOf(spec *ast.ImportSpec) int {
	path := strings.Trim(spec.Path.Value, `"`)
	host, _, _ := strings.Cut(path, "/")
	switch {
	case strings.HasPrefix(path+"/", module):
		return 2
	case strings.Contains(host, "."):
		return 1
	}
	return 0
}

// startOf is the line on which an import begins, with its comment.
func startOf(files *token.FileSet, spec *ast.ImportSpec) int {
	if spec.Doc != nil {
		return files.Position(spec.Doc.Pos()).Line
	}
	return files.Position(spec.Pos()).Line
}
