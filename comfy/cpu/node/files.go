package node

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Folder is one of the three places of files.
type Folder string

// The folders, as named in the protocol's "type" members.
const (
	InFolder   Folder = "input"
	OutFolder  Folder = "output"
	TempFolder Folder = "temp"
)

// Files gives safe access to the engine's folders: no name, link or ".." leads out of them.
type Files struct {
	roots   map[Folder]*os.Root
	now     func() time.Time
	preview string // name of previews, or empty for a new one each time
}

// OpenFiles opens the three folders, making them where they are missing. now gives the time for names with %year% and
// the like; nil means time.Now.
func OpenFiles(input, output, temp string, now func() time.Time) (*Files, error) {
	if now == nil {
		now = time.Now
	}
	f := &Files{roots: map[Folder]*os.Root{}, now: now}
	for folder, given := range map[Folder]string{InFolder: input, OutFolder: output, TempFolder: temp} {
		dir, err := filepath.Abs(given)
		if err == nil {
			err = os.MkdirAll(dir, 0o700)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s folder: %w", folder, err), f.Close())
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s folder: %w", folder, err), f.Close())
		}
		f.roots[folder] = root
	}
	return f, nil
}

// Close lets go of the folders; no files are removed.
func (f *Files) Close() error {
	var errs []error
	for _, root := range f.roots {
		errs = append(errs, root.Close())
	}
	return errors.Join(errs...)
}

// Root gives the handle of one folder, nil for an unknown one.
func (f *Files) Root(folder Folder) *os.Root { return f.roots[folder] }

// Annotated splits a name like "a.png [output]" into name and folder; without such an ending the fallback is taken. As on the real
// server, the character before the bracket goes whatever it is: "a.png[output]" names a.pn.
func Annotated(name string, fallback Folder) (string, Folder) {
	for _, folder := range []Folder{OutFolder, InFolder, TempFolder} {
		if base, ok := strings.CutSuffix(name, "["+string(folder)+"]"); ok {
			_, last := utf8.DecodeLastRuneInString(base)
			return base[:len(base)-last], folder
		}
	}
	return name, fallback
}

// Open opens a file by its name as nodes receive it: relative to the input folder, or "name [output]", "name [temp]".
// Absolute names, names that leave the folder and folders themselves are refused.
func (f *Files) Open(name string) (*os.File, error) {
	base, folder := Annotated(name, InFolder)
	clean, err := Clean(base)
	if err != nil {
		return nil, err
	}
	file, err := f.roots[folder].Open(clean)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%q is not a file", name), err, file.Close())
	}
	return file, nil
}

// Exists reports whether Open would find a regular file.
func (f *Files) Exists(name string) bool {
	base, folder := Annotated(name, InFolder)
	clean, err := Clean(base)
	if err != nil {
		return false
	}
	info, err := f.roots[folder].Stat(clean)
	return err == nil && info.Mode().IsRegular()
}

// Clean brings a relative file name into canonical form and refuses empty, absolute and escaping ones.
func Clean(name string) (string, error) {
	clean := path.Clean(strings.ReplaceAll(name, "\\", "/"))
	if name == "" || clean == "." || path.IsAbs(clean) || strings.ContainsRune(clean, 0) || clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("%q is not the name of a file inside the folder", name)
	}
	return clean, nil
}

// List gives the regular files directly inside a folder, sorted, that keep accepts; nil accepts all.
func (f *Files) List(folder Folder, keep func(name string) bool) []string {
	return f.list(folder, ".", func(e fs.DirEntry) bool {
		info, err := f.roots[folder].Stat(e.Name())
		return err == nil && info.Mode().IsRegular() && (keep == nil || keep(e.Name()))
	})
}

// Folders gives the folders directly inside a folder, sorted.
func (f *Files) Folders(folder Folder) []string {
	return f.list(folder, ".", fs.DirEntry.IsDir)
}

// ListIn gives the regular files directly inside a subfolder, sorted by name.
func (f *Files) ListIn(folder Folder, dir string) ([]string, error) {
	clean, err := Clean(dir)
	if err != nil {
		return nil, err
	}
	if _, err := f.roots[folder].Stat(clean); err != nil {
		return nil, err
	}
	return f.list(folder, clean, func(e fs.DirEntry) bool { return e.Type().IsRegular() }), nil
}

func (f *Files) list(folder Folder, dir string, keep func(fs.DirEntry) bool) []string {
	entries, err := fs.ReadDir(f.roots[folder].FS(), dir)
	if err != nil {
		return nil
	}
	names := []string{}
	for _, e := range entries {
		if keep(e) {
			names = append(names, e.Name())
		}
	}
	sort.Strings(names)
	return names
}

// FileRef names a saved file as clients receive it.
type FileRef struct {
	Filename  string `json:"filename"`
	Subfolder string `json:"subfolder"`
	Type      Folder `json:"type"`
}

// Saver writes numbered files "<name>_00001_.png" into one folder, going on after the highest number there.
type Saver struct {
	root      *os.Root
	folder    Folder
	subfolder string
	name      string
	counter   int
}

// Saver prepares saving under a filename_prefix, which may hold a subfolder and %width%, %height%, %year%, %month%,
// %day%, %hour%, %minute%, %second%. Width and height are those of the first picture.
func (f *Files) Saver(folder Folder, prefix string, width, height int) (*Saver, error) {
	clean := path.Clean(f.expand(prefix, width, height))
	subfolder, name := path.Split(clean)
	subfolder = strings.TrimSuffix(subfolder, "/")
	root := f.roots[folder]
	if path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
		return nil, outside(root.Name(), subfolder)
	}
	if strings.ContainsRune(clean, 0) {
		return nil, ValueError("embedded null byte")
	}
	dir := cmp.Or(subfolder, ".")
	if err := root.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder for %q: %w", prefix, err)
	}
	return &Saver{root: root, folder: folder, subfolder: subfolder, name: name, counter: f.next(folder, dir, name)}, nil
}

// TempSaver prepares saving of a preview: into the temp folder, under a name that no earlier run's preview has.
func (f *Files) TempSaver(width, height int) (*Saver, error) {
	return f.Saver(TempFolder, "ComfyUI"+f.TempSuffix(), width, height)
}

// TempSuffix is the part of a preview's name that tells runs apart, "_temp_" and five letters.
func (f *Files) TempSuffix() string {
	if f.preview != "" {
		return f.preview
	}
	const letters = "abcdefghijklmnopqrstupvxyz"
	suffix := make([]byte, 5)
	for i := range suffix {
		suffix[i] = letters[rand.IntN(len(letters))]
	}
	return "_temp_" + string(suffix)
}

// ForRun gives the same folders for one node's run: all its previews have one name and are numbered on.
func (f *Files) ForRun() *Files {
	run := *f
	run.preview = f.TempSuffix()
	return &run
}

// Save writes the next file, "<name>_00001_.<ext>". batch replaces %batch_num% in the prefix; ext comes without its dot. A failed write leaves
// no file behind.
func (s *Saver) Save(batch int, ext string, write func(io.Writer) error) (FileRef, error) {
	return s.save(batch, "_."+ext, write)
}

// SavePlain writes the next file as Save does, named "<name>_00001.<ext>", which is the form of sounds.
func (s *Saver) SavePlain(batch int, ext string, write func(io.Writer) error) (FileRef, error) {
	return s.save(batch, "."+ext, write)
}

func (s *Saver) save(batch int, ending string, write func(io.Writer) error) (FileRef, error) {
	name := strings.ReplaceAll(s.name, "%batch_num%", strconv.Itoa(batch))
	file := fmt.Sprintf("%s_%05d%s", name, s.counter, ending)
	full := path.Join(s.subfolder, file)
	out, err := s.root.OpenFile(full, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return FileRef{}, fmt.Errorf("save %s: %w", file, err)
	}
	err = errors.Join(write(out), out.Close())
	if err != nil {
		return FileRef{}, errors.Join(fmt.Errorf("save %s: %w", file, err), s.root.Remove(full))
	}
	s.counter++
	return FileRef{Filename: file, Subfolder: s.subfolder, Type: s.folder}, nil
}

// outside is the refusal that clients of a real server know, word by word.
func outside(root, subfolder string) error {
	full := filepath.Join(root, subfolder)
	if path.IsAbs(subfolder) {
		full = subfolder
	}
	common := root
	for common != "/" && common != "." && full != common && !strings.HasPrefix(full, common+"/") {
		common = filepath.Dir(common)
	}
	return Raise("Exception", "**** ERROR: Saving image outside the output folder is not allowed.\n full_output_folder: %s\n         output_dir: %s\n         commonpath: %s", full, root, common)
}

func (f *Files) expand(prefix string, width, height int) string {
	if !strings.Contains(prefix, "%") {
		return prefix
	}
	t := f.now()
	return strings.NewReplacer(
		"%width%", strconv.Itoa(width), "%height%", strconv.Itoa(height), "%year%", strconv.Itoa(t.Year()),
		"%month%", t.Format("01"), "%day%", t.Format("02"), "%hour%", t.Format("15"),
		"%minute%", t.Format("04"), "%second%", t.Format("05"),
	).Replace(prefix)
}

// next is one more than the highest number of the files "<name>_<number>_..." in the folder.
func (f *Files) next(folder Folder, dir, name string) int {
	highest := 0
	for _, file := range f.list(folder, dir, func(fs.DirEntry) bool { return true }) {
		rest, ok := strings.CutPrefix(file, name+"_")
		if !ok {
			continue
		}
		digits := rest[:max(0, strings.IndexAny(rest, "_."))]
		if n, err := strconv.Atoi(digits); err == nil {
			highest = max(highest, n)
		}
	}
	return highest + 1
}
