package knowledge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/signalbox/signalbox/providers/knowledge/document"
	"github.com/signalbox/signalbox/providers/knowledge/index"
)

// sourceFile says what a folder of documents is. It is optional, as are all its members.
const sourceFile = "source.yaml"

// Definition is what the source.yaml of a folder says.
type Definition struct {
	Name        string   `yaml:"name"`  // a word: the tool is <name>Rag; else that of the folder
	Title       string   `yaml:"title"` // for people; else the name
	Description string   `yaml:"description"`
	URL         string   `yaml:"url"`      // where the pages are; {path} and {page} stand for a document's path, and for it without its ending
	Language    string   `yaml:"language"` // of the documents, such as en; else it is found out
	Include     []string `yaml:"include"`  // patterns of path.Match for whole paths, or for folders; none: everything
	Exclude     []string `yaml:"exclude"`
	Access      Access   `yaml:"access"`
}

// Access says who may read a source: public, house, or a list of accounts, platform:id and groups.
type Access struct {
	Level   index.Access
	Readers []string
}

// UnmarshalYAML reads a word or a list.
func (a *Access) UnmarshalYAML(read func(any) error) error {
	var word string
	if read(&word) == nil {
		return a.set(word)
	}
	var list []string
	if err := read(&list); err != nil {
		return errAccess
	}
	a.Level, a.Readers = index.AccessListed, list
	return nil
}

var errAccess = errors.New("access: expected public, house, or a list of accounts, platform:id and groups")

func (a *Access) set(word string) error {
	a.Level = index.Access(word)
	if a.Level != index.AccessPublic && a.Level != index.AccessHouse {
		return errAccess
	}
	return nil
}

var sourceName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// readDefinition reads what a folder says it is; called is its own name.
func readDefinition(files fs.FS, called string) (Definition, error) {
	var d Definition
	text, err := fs.ReadFile(files, sourceFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	if len(text) > 0 {
		if err := yaml.UnmarshalWithOptions(text, &d, yaml.Strict()); err != nil {
			return d, fmt.Errorf("%s: %w", sourceFile, err)
		}
	}
	d.Access.Level = cmp.Or(d.Access.Level, index.AccessHouse)
	if d.Name == "" {
		d.Name = nameOf(called)
	}
	d.Title = cmp.Or(d.Title, d.Name)
	return d, d.check()
}

func (d Definition) check() error {
	if !sourceName.MatchString(d.Name) {
		return fmt.Errorf("name: found %q, expected a letter, then letters, digits, - and _, 64 at most", d.Name)
	}
	if d.Language != "" && index.Configuration(d.Language) == "" {
		return fmt.Errorf("language: found %q, expected a language that Postgres has a dictionary of, such as en or de, or simple", d.Language)
	}
	if u, err := url.Parse(d.URL); err != nil || d.URL != "" && (u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return fmt.Errorf("url: found %q, expected an http:// or https:// address", d.URL)
	}
	for _, pattern := range slices.Concat(d.Include, d.Exclude) {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("include, exclude: %q is no pattern, such as guides/*.md", pattern)
		}
	}
	return nil
}

// nameOf makes the name of a source of that of a folder or file.
func nameOf(called string) string {
	words := strings.FieldsFunc(called, func(r rune) bool {
		return r > 'z' || !(r >= 'a' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	})
	for i, w := range words[min(1, len(words)):] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// wants tells whether a file belongs to the source.
func (d Definition) wants(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return false
		}
	}
	return document.Supported(name) && (len(d.Include) == 0 || matches(d.Include, name)) && !matches(d.Exclude, name)
}

// matches tells whether a pattern stands for a path, or for a folder that it is in.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		for at := name; at != "."; at = path.Dir(at) {
			if is, _ := path.Match(strings.TrimSuffix(pattern, "/"), at); is {
				return true
			}
		}
		return false
	})
}

// Bounds of one source.
const (
	maxFiles = 50_000
	maxBytes = 2 << 30
)

// items gives the documents of a folder or zip, in the order of their paths.
func (d Definition) items(files fs.FS, reader document.Reader) iter.Seq2[index.Item, error] {
	return func(yield func(index.Item, error) bool) {
		count, size := 0, int64(0)
		err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !d.wants(name) {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			count, size = count+1, size+info.Size()
			if count > maxFiles || size > maxBytes {
				return fmt.Errorf("more than %d files or %d bytes: let include or exclude in %s choose", maxFiles, maxBytes, sourceFile)
			}
			item, err := d.item(files, name, info.Size(), reader)
			if err == nil && !yield(item, nil) {
				return fs.SkipAll
			}
			return err
		})
		if err != nil {
			yield(index.Item{}, err)
		}
	}
}

// item reads a file's content, whose hash says whether it changed.
func (d Definition) item(files fs.FS, name string, size int64, reader document.Reader) (index.Item, error) {
	if size > document.MaxBytes {
		return index.Item{Path: name, Hash: fmt.Append(nil, size), Read: func(context.Context) (index.Document, error) {
			return index.Document{}, fmt.Errorf("%s: has %d bytes, more than %d", name, size, document.MaxBytes)
		}}, nil
	}
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return index.Item{}, err
	}
	return index.Item{Path: name, Hash: hashOf(d.URL, data), Read: func(ctx context.Context) (index.Document, error) {
		return read(ctx, reader, name, data, func(anchor string) string { return d.address(name, anchor) })
	}}, nil
}

// making is the way in which passages are made of files. With another one, all files are read again.
const making = 2

// hashOf tells one file, at one address, from others.
func hashOf(url string, data []byte) []byte {
	sum := sha256.New()
	fmt.Fprintln(sum, making, url)
	sum.Write(data)
	return sum.Sum(nil)
}

// read makes passages of a file; address is that of the place with an anchor.
func read(ctx context.Context, reader document.Reader, name string, data []byte, address func(anchor string) string) (index.Document, error) {
	d, err := reader.Read(ctx, name, data)
	if err != nil {
		return index.Document{}, err
	}
	done := index.Document{Title: d.Title}
	for _, c := range d.Chunks() {
		done.Chunks = append(done.Chunks, index.Chunk{
			Heading: c.Heading, Summary: c.Summary, Text: c.Text, URL: address(c.Anchor), SourcePath: name,
			Breadcrumbs: c.Breadcrumbs, HasCode: c.HasCode, CodeLangs: c.Languages,
		})
	}
	return done, nil
}

// address is where a passage can be read: at the source's url, where pages have addresses without ending, as most sites have.
func (d Definition) address(name, anchor string) string {
	page := strings.TrimSuffix(name, path.Ext(name))
	page = strings.TrimSuffix(strings.TrimSuffix("/"+page, "/index"), "/README")
	escaped := func(s string) string { return (&url.URL{Path: s}).EscapedPath() }
	var address string
	switch {
	case d.URL == "":
		address = escaped(name)
	case strings.Contains(d.URL, "{"):
		address = strings.NewReplacer("{path}", escaped(name), "{page}", escaped(strings.TrimPrefix(page, "/"))).Replace(d.URL)
	default:
		address = strings.TrimSuffix(d.URL, "/") + escaped(strings.TrimSuffix(page, "/")+"/")
		if ext := strings.ToLower(path.Ext(name)); ext == ".pdf" || ext == ".docx" || ext == ".txt" {
			address = strings.TrimSuffix(d.URL, "/") + escaped("/"+name)
		}
	}
	if anchor != "" {
		address += "#" + (&url.URL{Fragment: anchor}).EscapedFragment()
	}
	return address
}
