package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/internal/folder"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
)

// Bounds of what is read from files.
const (
	maxToolFileBytes = 8 << 20
	maxToolFiles     = 10_000
	maxFlashBytes    = 256 << 20
)

// FileLoader reads definitions from a folder: every *.json in it and in its subfolders, each with one
// tool, an array of tools or {"tools": [...]}. Names that begin with a dot are passed over, as are those
// that end in .tool.json or .openapi.json, which are other loaders'. A missing folder holds no tools.
//
// A file that is broken keeps the tools it had when it was last good, and the problem is reported
// beside the others' tools as a PartialError. One id in two files is refused: the first file in
// alphabetical order counts. A copy that says the same is passed over (A4).
type FileLoader struct {
	name, dir string

	mu   sync.Mutex
	good map[string][]registry.Tool // last good tools by file
}

// NewFileLoader makes a loader of the folder dir.
func NewFileLoader(name, dir string) *FileLoader {
	return &FileLoader{name: name, dir: dir, good: make(map[string][]registry.Tool)}
}

// Name gives the name it was made with.
func (l *FileLoader) Name() string { return l.name }

// Load reads all files.
func (l *FileLoader) Load(ctx context.Context) ([]registry.Tool, error) {
	files, err := toolFiles(ctx, l.dir)
	if err != nil {
		return nil, fmt.Errorf("read folder of tools: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var tools []registry.Tool
	var problems registry.Problems
	owner := make(map[string]string)
	place := make(map[string]int)
	for _, file := range files {
		found, refused := l.read(file)
		problems = append(problems, refused...)
		for _, t := range found {
			if first, taken := owner[t.ToolID]; taken {
				if tools[place[t.ToolID]].Equal(&t) {
					continue
				}
				problems = append(problems, registry.Problem{Source: file, ToolID: t.ToolID, Field: "toolId", Message: "is already defined in " + first})
				continue
			}
			owner[t.ToolID], place[t.ToolID] = file, len(tools)
			tools = append(tools, t)
		}
	}
	l.forgetAllBut(files)
	if len(problems) > 0 {
		return tools, &registry.PartialError{Problems: problems}
	}
	return tools, nil
}

// read gives a file's tools, or those it had when it was last good.
func (l *FileLoader) read(file string) ([]registry.Tool, registry.Problems) {
	tools, err := decodeFile(filepath.Join(l.dir, file))
	if err == nil {
		l.good[file] = tools
		return tools, nil
	}
	problems := asProblems(err, "", "")
	for i := range problems {
		problems[i].Source = file
	}
	return withLastGood(tools, l.good[file]), problems
}

// withLastGood adds the last good tools that the file's broken state does not give any more.
func withLastGood(tools, last []registry.Tool) []registry.Tool {
	for _, t := range last {
		if !slices.ContainsFunc(tools, func(o registry.Tool) bool { return o.ToolID == t.ToolID }) {
			tools = append(tools, t)
		}
	}
	return tools
}

func (l *FileLoader) forgetAllBut(files []string) {
	for file := range l.good {
		if !slices.Contains(files, file) {
			delete(l.good, file)
		}
	}
}

// IsDefinitions reports whether a file holds definitions, good or bad, by the members at its top.
func IsDefinitions(path string) bool {
	data, err := readBounded(path, maxToolFileBytes)
	if err != nil {
		return false
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(data, &top) != nil {
		var list []map[string]json.RawMessage
		if json.Unmarshal(data, &list) != nil || len(list) == 0 {
			return false
		}
		top = list[0]
	}
	return slices.ContainsFunc([]string{"toolId", "displayName", "inputSchema", "tools"}, func(key string) bool { _, ok := top[key]; return ok })
}

// CheckFile gives the tools of a file with definitions, and everything that is wrong with the others.
func CheckFile(path string) ([]registry.Tool, error) { return decodeFile(path) }

// decodeFile reads a file's tools and judges them here, where it is known which file it is. Beside an error come those
// that are good.
func decodeFile(path string) ([]registry.Tool, error) {
	data, err := readBounded(path, maxToolFileBytes)
	if err != nil {
		return nil, err
	}
	tools, err := registry.DecodeTools(data)
	var problems registry.Problems
	if err != nil && !errors.As(err, &problems) {
		return nil, err
	}
	tools = slices.DeleteFunc(tools, func(t registry.Tool) bool {
		err := validate.Tool(t)
		if err != nil {
			problems = append(problems, asProblems(err, "", t.ToolID)...)
		}
		return err != nil
	})
	return tools, problems.Err()
}

func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("the file is larger than %d MiB", most>>20)
	}
	return data, nil
}

// toolFiles lists the folder's definition files by their path inside it, in alphabetical order.
func toolFiles(ctx context.Context, dir string) ([]string, error) {
	var files []string
	err := folder.Walk(ctx, dir, func(relative string, entry fs.DirEntry) error {
		lower := strings.ToLower(relative)
		others := strings.HasSuffix(lower, ".tool.json") || strings.HasSuffix(lower, ".openapi.json")
		if entry.IsDir() || !strings.HasSuffix(lower, ".json") || others {
			return nil
		}
		if len(files) == maxToolFiles {
			return fmt.Errorf("there are more than %d files", maxToolFiles)
		}
		files = append(files, relative)
		return nil
	})
	return files, err
}
