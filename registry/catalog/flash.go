package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/registry"
)

// The files that Flash writes into its folder.
const (
	FlashFile     = "tool_registry.generated.json" // all tools, with time and source version
	FlashToolsDir = "tool_defs"                    // one file for each tool
	FlashMarkdown = "catalogue.md"                 // for people
	FlashEmbed    = "tool_registry.embed.json"     // public tools, reduced: for websites and prompts
	FlashStubs    = "tool_stubs.go"                // typed Go calls, only when asked for
)

// FlashMeta is what a flash records beside the tools.
type FlashMeta struct {
	Now           time.Time // written only when something else changed
	SourceVersion string    // of the program or of the definitions, such as a commit
	StubsPackage  string    // name of the Go package of FlashStubs; empty: no stubs are written
}

// flashed is the content of FlashFile. ContentHash covers Tools alone, so that time and source
// version do not count as a change (A66).
type flashed struct {
	GeneratedAt   string            `json:"generatedAt"` // RFC 3339, UTC
	SourceVersion string            `json:"sourceVersion"`
	ContentHash   string            `json:"contentHash"` // SHA-256 of the compact JSON of tools, in hex
	Tools         []json.RawMessage `json:"tools"`
}

// Flash writes the catalogue into the folder dir. Each file is written whole or not at all, and only
// when its content changed: doing it twice leaves identical bytes (A63). Files of tools that are gone
// are removed; files that are not from an earlier flash are neither overwritten nor removed.
func Flash(dir string, s *Snapshot, meta FlashMeta) error {
	if err := os.MkdirAll(filepath.Join(dir, FlashToolsDir), 0o755); err != nil {
		return fmt.Errorf("flash: %w", err)
	}
	before := readFlashed(filepath.Join(dir, FlashFile))
	next, files, err := render(s)
	if err != nil {
		return fmt.Errorf("flash: %w", err)
	}
	if err := writeToolFiles(filepath.Join(dir, FlashToolsDir), files, fileNames(before.toolIDs())); err != nil {
		return fmt.Errorf("flash: %w", err)
	}
	if err := writePages(dir, s, meta); err != nil {
		return fmt.Errorf("flash: %w", err)
	}
	next.SourceVersion = meta.SourceVersion
	next.GeneratedAt = meta.Now.UTC().Format(time.RFC3339)
	if before.ContentHash == next.ContentHash && before.SourceVersion == next.SourceVersion && before.GeneratedAt != "" {
		next.GeneratedAt = before.GeneratedAt
	}
	// This file comes last: until it is there, the next flash knows what an earlier one left behind.
	data, err := indented(next)
	if err == nil {
		err = writeFile(filepath.Join(dir, FlashFile), data)
	}
	return errs.Wrap(err, "flash")
}

// render gives the big file, without its time, and the contents of the tools' files by id.
func render(s *Snapshot) (flashed, map[string][]byte, error) {
	big := flashed{Tools: []json.RawMessage{}}
	files := make(map[string][]byte, s.Len())
	for t := range s.Each() {
		written := *t
		written.APIPath = t.RunPath() // readers of the file need not know the default
		data, err := registry.Encode(written)
		if err != nil {
			return flashed{}, nil, err
		}
		big.Tools = append(big.Tools, data)
		if files[t.ToolID], err = indented(json.RawMessage(data)); err != nil {
			return flashed{}, nil, err
		}
	}
	hash, err := hashFlashed(big.Tools)
	big.ContentHash = hash
	return big, files, err
}

func hashFlashed(tools []json.RawMessage) (string, error) {
	data, err := ordered.Marshal(tools)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// indented writes JSON as people like to read and compare it.
func indented(v any) ([]byte, error) {
	data, err := ordered.Marshal(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// readFlashed gives what an earlier flash left, or nothing where there is none that can be read.
func readFlashed(path string) flashed {
	var f flashed
	data, err := readBounded(path, maxFlashBytes)
	if err != nil || json.Unmarshal(data, &f) != nil {
		return flashed{}
	}
	return f
}

func (f flashed) toolIDs() []string {
	var ids []string
	for _, raw := range f.Tools {
		var t struct {
			ToolID string `json:"toolId"`
		}
		if json.Unmarshal(raw, &t) == nil && t.ToolID != "" {
			ids = append(ids, t.ToolID)
		}
	}
	return ids
}

// writeToolFiles brings the folder of single tools in step. were are the names of the flash before.
func writeToolFiles(dir string, files map[string][]byte, were map[string]string) error {
	ids := slices.Collect(maps.Keys(files))
	names := fileNames(ids)
	ours := make(map[string]bool, len(were))
	for _, name := range were {
		ours[name] = true
	}
	for id, name := range names {
		path := filepath.Join(dir, name)
		if !ours[name] && !mayReplace(path, id) {
			return fmt.Errorf("%s is not from an earlier flash; move it away or flash into another folder", path)
		}
		if err := writeFile(path, files[id]); err != nil {
			return err
		}
		delete(ours, name)
	}
	for name := range ours {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// mayReplace reports whether nothing is lost by writing a tool's file: there is none, or it holds
// that same tool, as after a flash that was interrupted.
func mayReplace(path, toolID string) bool {
	data, err := readBounded(path, maxToolFileBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	t, err := registry.DecodeTool(data)
	return err == nil && t.ToolID == toolID
}

func writePages(dir string, s *Snapshot, meta FlashMeta) error {
	if err := writeFile(filepath.Join(dir, FlashMarkdown), Markdown(s)); err != nil {
		return err
	}
	embed, err := Embed(s)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, FlashEmbed), embed); err != nil {
		return err
	}
	if meta.StubsPackage == "" {
		return nil
	}
	stubs, err := Stubs(s, meta.StubsPackage)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, FlashStubs), stubs)
}

// writeFile replaces a file in one step, so that readers see the old content or the new, and leaves
// it alone where nothing changed.
func writeFile(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".flash-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // gone already when all went well
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Chmod(0o644), temporary.Sync(), temporary.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(temporary.Name(), path)
}

// maxFileStem leaves room for an ending within the 255 bytes that file systems allow.
const maxFileStem = 180

// fileNames gives each id a file name that every file system takes. Ids that differ only in case, or
// are too long, get a piece of their hash.
func fileNames(ids []string) map[string]string {
	folded := make(map[string]int, len(ids))
	for _, id := range ids {
		folded[strings.ToLower(id)]++
	}
	names := make(map[string]string, len(ids))
	for _, id := range ids {
		stem := fileStem(id)
		if len(stem) > maxFileStem || (folded[strings.ToLower(id)] > 1 && strings.ToLower(id) != id) {
			sum := sha256.Sum256([]byte(id))
			stem = stem[:min(len(stem), maxFileStem)] + "~" + hex.EncodeToString(sum[:4])
		}
		names[id] = stem + ".json"
	}
	return names
}

// fileStem keeps letters, digits, dot, dash and underscore and writes all else as %XX, also a leading
// dot and the first letter of names that Windows keeps for devices.
func fileStem(id string) string {
	var b strings.Builder
	for i := 0; i < len(id); i++ {
		c := id[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || (c == '.' && i > 0)
		if plain && (i > 0 || !isDeviceName(id)) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func isDeviceName(id string) bool {
	name, _, _ := strings.Cut(strings.ToLower(id), ".")
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	port := strings.TrimPrefix(strings.TrimPrefix(name, "com"), "lpt")
	return len(name) == 4 && len(port) == 1 && port >= "0" && port <= "9"
}

// FlashLoader serves the tools of a flashed file, so that the program runs with no network (A67).
type FlashLoader struct{ name, path string }

// NewFlashLoader makes a loader of the file that Flash wrote.
func NewFlashLoader(name, path string) *FlashLoader { return &FlashLoader{name, path} }

// Name gives the name it was made with.
func (l *FlashLoader) Name() string { return l.name }

// Load reads the file. One that is missing, cut or was changed by hand is an error.
func (l *FlashLoader) Load(ctx context.Context) ([]registry.Tool, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := readBounded(l.path, maxFlashBytes)
	if err != nil {
		return nil, fmt.Errorf("read flashed tools: %w", err)
	}
	v, err := ordered.Limits{Depth: ordered.MaxDepth + 2}.Parse(data) // the file and its list are around each definition
	if err != nil {
		return nil, fmt.Errorf("read flashed tools: %s: %w", l.path, err)
	}
	file, _ := v.(*ordered.Object)
	list, isList := file.Get("tools").([]any)
	sum := sha256.Sum256([]byte(ordered.Compact(list)))
	if !isList || file.Get("contentHash") != any(hex.EncodeToString(sum[:])) {
		return nil, fmt.Errorf("read flashed tools: %s is not as it was flashed (its contentHash does not fit); flash it again", l.path)
	}
	tools := make([]registry.Tool, len(list))
	for i, definition := range list {
		if tools[i], err = registry.DecodeTool([]byte(ordered.Compact(definition))); err != nil {
			return nil, fmt.Errorf("read flashed tools: %s: %w", l.path, err)
		}
	}
	return tools, nil
}
