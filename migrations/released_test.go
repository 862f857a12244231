package migrations_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// released has the statements of the version before, which works beside this one during an upgrade. They stand in a file, so that the test needs none
// of its sources; `go generate ./migrations` writes it when a version is released.
const (
	released  = "testdata/released.sql"
	separator = "\n;\n"
)

// TestStatementsOfTheVersionBefore has the database plan them: their tables, columns and functions are there, of types that fit, and so are the indexes
// that ON CONFLICT goes by. What they may write is held by TestStepsOnlyExpand; `go run ./test/soak -upgrade` runs both versions beside each other.
func TestStatementsOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	pooled, err := postgrestest.New(t).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer pooled.Release()
	conn := pooled.Conn()
	if _, err := conn.Exec(t.Context(), `SET plan_cache_mode = force_generic_plan`); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE_RELEASED") != "" {
		record(t, conn)
	}
	text, err := os.ReadFile(released)
	if err != nil {
		t.Fatal(err)
	}
	statements := strings.Split(strings.TrimSuffix(string(text), separator), separator)
	for _, statement := range statements {
		if err := plan(t.Context(), conn, statement); err != nil {
			t.Errorf("on the schema of now: %v; the version before sends\n%s", err, statement)
		}
	}

	for _, contracting := range []string{
		`ALTER TABLE runs RENAME COLUMN account_id TO account`,
		`ALTER TABLE user_preferences DROP CONSTRAINT user_preferences_pkey`, // ON CONFLICT goes by it
		`ALTER FUNCTION users_now(uuid) RENAME TO users_then`,
	} {
		if !refuses(t, conn, contracting, statements) {
			t.Errorf("after %s every statement is planned still", contracting)
		}
	}
}

// plan has the database plan a statement, whatever its arguments are.
func plan(ctx context.Context, conn *pgx.Conn, statement string) error {
	const name = "planned"
	prepared, err := conn.Prepare(ctx, name, statement)
	if err != nil {
		return err
	}
	explain := "EXPLAIN EXECUTE " + name
	if n := len(prepared.ParamOIDs); n > 0 {
		explain += "(NULL" + strings.Repeat(", NULL", n-1) + ")"
	}
	_, err = conn.Exec(ctx, explain)
	if gone := conn.Deallocate(ctx, name); err == nil {
		err = gone
	}
	return err
}

// refuses reports whether the database refuses one of the statements after a change, which is taken back.
func refuses(t *testing.T, conn *pgx.Conn, change string, statements []string) bool {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if _, err := tx.Exec(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(statements, func(s string) bool { return plan(t.Context(), conn, s) != nil })
}

// record writes the statements that stand whole in the sources: texts that the database can plan.
func record(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	var statements []string
	for _, text := range texts(t, "..") {
		if plan(t.Context(), conn, text) == nil {
			statements = append(statements, text)
		}
	}
	slices.Sort(statements)
	statements = slices.Compact(statements)
	if err := os.WriteFile(released, []byte(strings.Join(statements, separator)+separator), 0o644); err != nil {
		t.Fatal(err)
	}
}

var sql = regexp.MustCompile(`^(?:SELECT|INSERT|UPDATE|DELETE|WITH)\s`)

// texts are the constants below root that begin like statements, without those of tests.
func texts(t *testing.T, root string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || strings.HasSuffix(name, "test") || name == "testdata") {
			return fs.SkipDir
		}
		found = append(found, textsIn(t, path)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func textsIn(t *testing.T, folder string) (found []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	constants := map[string]ast.Expr{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		ast.Inspect(file, func(n ast.Node) bool {
			if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
				for _, spec := range d.Specs {
					for i, value := range spec.(*ast.ValueSpec).Values {
						constants[spec.(*ast.ValueSpec).Names[i].Name] = value
					}
				}
			}
			return true
		})
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			expr, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text, ok := textOf(expr, constants)
			if text = strings.TrimSpace(text); ok && sql.MatchString(text) {
				found = append(found, text)
			}
			return !ok
		})
	}
	return found
}

// textOf is what literals, names of constants and their sums say.
func textOf(expr ast.Expr, constants map[string]ast.Expr) (text string, ok bool) {
	switch e := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.ParenExpr:
		return textOf(e.X, constants)
	case *ast.Ident:
		value := constants[e.Name]
		if value == nil {
			return "", false
		}
		return textOf(value, constants)
	case *ast.BinaryExpr:
		left, ok := textOf(e.X, constants)
		if !ok || e.Op != token.ADD {
			return "", false
		}
		right, ok := textOf(e.Y, constants)
		return left + right, ok
	}
	return "", false
}
