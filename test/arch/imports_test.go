// Package arch holds the rules of the house that can be read off the source.
package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/signalbox/signalbox/"

// floors lists the rooms from the top of the house to its ground. A room may import those on lower floors
// only; rooms of one floor are siblings.
var floors = [][]string{
	{"cmd/signalbox", "examples"},
	{"platforms/telegram", "platforms/web", "platforms/discord"},
	{"platforms/chat/chattest"},
	{"platforms/chat/router", "platforms/chat/dialogue"},
	{"platforms/chat/chains", "platforms/chat/menus", "platforms/chat/sitemenu"},
	{"platforms/chat/results", "platforms/chat/settings"},
	{"platforms/chat/start"},
	{"platforms/chat/turn"},
	{"platforms/chat/show"},
	{"platforms/chat/store"},
	{"platforms/chat/input"},
	{"platforms/web/account", "platforms/web/api", "platforms/web/pages"},
	{"platforms/web/files", "platforms/web/render", "platforms/web/request"},
	{"platforms/web/door"},
	{"platforms/web/problem"},
	{"platforms/chat"},
	{"platforms/words"},
	{"agent"},
	{"missions", "moderation"},
	{"exports", "payments", "runs", "webhooks"},
	{"groups"},
	{"billing", "users", "comfy", "providers"},
	{"workflows", "comfy/workflow"},
	{"comfy/notes", "comfy/binding"},
	{"comfy/graph"},
	{"comfy/objectinfo"},
	{"internal/modelhub"},
	{"internal/upstream"},
	{"registry/history"},
	{"registry/catalog"},
	{"registry/strategy", "registry/validate"},
	{"registry"},
	{"migrations"},
	{"internal"},
	{"comfy/cpu/tensor"}, // arithmetic of pixels, for thumbnails too
}

func TestImportsRunDownward(t *testing.T) {
	t.Parallel()
	t.Run("A75 platforms do not import services, and rooms import lower floors only", func(t *testing.T) {
		for file, imports := range sources(t) {
			room, floor := placeOf(filepath.Dir(file))
			if floor < 0 {
				t.Errorf("%s: the folder is in no room; add it to floors", file)
			}
			for _, path := range imports {
				target, below := placeOf(path)
				if target != room && below <= floor {
					t.Errorf("%s: %s must not import %s", file, room, path)
				}
			}
		}
	})
	t.Run("A3 only cmd names a provider, so nobody else has a list of tools", func(t *testing.T) {
		for file, imports := range sources(t) {
			if strings.HasPrefix(file, "cmd/") || strings.HasPrefix(file, "comfy/") {
				continue
			}
			for _, path := range imports {
				own := strings.HasPrefix(file, "providers/") && (path == "comfy/workflow" || path == "comfy/graph" || providerOf(path) == providerOf(file))
				if !own && (strings.HasPrefix(path, "comfy") || strings.HasPrefix(path, "providers/") || path == "workflows") {
					t.Errorf("%s imports %s", file, path)
				}
			}
		}
	})
	t.Run("no program links test rooms", func(t *testing.T) {
		for file, imports := range sources(t) {
			for _, path := range imports {
				if isTestRoom(path) {
					t.Errorf("%s imports %s", file, path)
				}
			}
		}
	})
}

// keepRows are the providers that have tables of their own.
var keepRows = []string{"providers/canvas", "providers/content", "providers/content/folder", "providers/content/site", "providers/content/store", "providers/knowledge", "providers/knowledge/index", "providers/photos", "providers/remote"}

// TestTheContractIsLight holds that anyone who knows tools links little: registry needs a JSON Schema compiler and leaves of internal,
// and providers need registry, not the catalogue.
func TestTheContractIsLight(t *testing.T) {
	t.Parallel()
	for file, imports := range sources(t) {
		for _, path := range imports {
			if filepath.Dir(file) == "registry" && path != "internal/ordered" && path != "internal/said" && path != "internal/edit" && path != "internal/decimal" {
				t.Errorf("%s imports %s", file, path)
			}
			if (strings.HasPrefix(file, "providers/") || strings.HasPrefix(file, "comfy/")) && path == "registry/catalog" {
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
}

func TestProvidersLinkNoDatabase(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", `{{if not .Standard}}{{.ImportPath}}: {{join .Deps " "}}{{end}}`,
		module+"registry", module+"registry/catalog", module+"providers/...", module+"comfy/workflow", module+"comfy/notes", module+"comfy/graph").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) < 10 {
		t.Fatalf("only %d packages: %s", len(lines), out)
	}
	for _, line := range lines {
		path, deps, _ := strings.Cut(line, ": ")
		path = strings.TrimPrefix(path, module)
		if !isTestRoom(path) && !slices.Contains(keepRows, path) && strings.Contains(deps, "github.com/jackc/pgx") {
			t.Errorf("%s links the database's client", path)
		}
		if !isTestRoom(path) && strings.Contains(deps, "fsnotify") {
			t.Errorf("%s links the watcher of files", path)
		}
	}
}

// providerOf is the provider in whose folder a path lies.
func providerOf(path string) string {
	rest, _ := strings.CutPrefix(path, "providers/")
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// isTestRoom reports whether a folder is for tests only, as its name or that of one above it says.
func isTestRoom(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool { return strings.HasSuffix(part, "test") })
}

// placeOf finds the room of a folder and its floor, -1 for none.
func placeOf(dir string) (room string, floor int) {
	floor = -1
	for i, rooms := range floors {
		for _, r := range rooms {
			if (dir == r || strings.HasPrefix(dir, r+"/")) && len(r) > len(room) {
				room, floor = r, i
			}
		}
	}
	return room, floor
}

// sources lists the imports from this module of every file that is no test and in no test room.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	root := filepath.Join("..", "..")
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (strings.HasPrefix(name, ".") && name != ".." || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || isTestRoom(filepath.Dir(filepath.ToSlash(rel))) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		found[rel] = nil
		for _, spec := range file.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil && strings.HasPrefix(path, module) {
				found[rel] = append(found[rel], strings.TrimPrefix(path, module))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 50 {
		t.Fatalf("only %d source files found", len(found))
	}
	return found
}
