// Package folder brings a folder of Markdown into a site: each file becomes a page or an entry of a collection, the pictures that it
// names become images of the site, and links between the files lead from page to page.
//
// A file may have a head in YAML, as Hugo and Jekyll have them. What the site has already under the same slug is left as it is,
// unless it is to be replaced. A file with a fault is told with its line and costs no other.
package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/providers/content/store"
)

// Config says where the files go. All members are required but Replace and Now.
type Config struct {
	Content store.Content
	// Keep stores a picture and gives its id. A file that is no picture is an error.
	Keep func(ctx context.Context, content io.Reader, name string) (id string, err error)
	// Fetch gives a picture from elsewhere.
	Fetch func(ctx context.Context, address string) (content io.ReadCloser, err error)
	// Add puts a stored picture into the site, unless it is there.
	Add func(ctx context.Context, image store.Image) error
	// Links gives the paths of what the files become.
	Links Links
	// Language is the site's. A file in another one is what the page or entry of its slug says in that.
	Language string
	// Replace has what is there already take what the files say.
	Replace bool
	Now     func() time.Time
}

// Links are the paths of what visitors see in a language; empty: the site's own.
type Links interface {
	PageIn(locale, slug string) string
	EntryIn(locale, collection, slug string) string
}

// Outcome is what became of a file.
type Outcome string

// The outcomes.
const (
	Added    Outcome = "added"
	Replaced Outcome = "replaced"
	Same     Outcome = "unchanged"
	Left     Outcome = "left"   // the site has something else under this slug
	Broken   Outcome = "broken" // the file has a fault
)

// Result tells of one file.
type Result struct {
	File    string
	Outcome Outcome
	Kind    string // page, post or entry
	Slug    string
	Line    int      // of the fault; 0: it has none, or no one line has it
	Message string   // the fault, or why it was left
	Notes   []string // what of the file the site has no place for
}

// Import brings the Markdown files of a folder into a site, and tells of each. An error ends it; what was imported until then stays.
func Import(ctx context.Context, files fs.FS, cfg Config, tell func(Result)) error {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	collections, err := cfg.Content.Collections(ctx)
	if err != nil {
		return err
	}
	names, err := markdownFiles(ctx, files)
	if err != nil {
		return err
	}
	r := run{Config: cfg, files: files, collections: collections, addresses: map[string]string{}, pictures: map[string]kept{}, pages: map[string]string{}}
	for _, d := range r.readAll(names, tell) {
		result, err := r.put(ctx, d)
		if err != nil {
			return fmt.Errorf("import %s: %w", d.file, err)
		}
		tell(result)
	}
	return nil
}

// markdownFiles lists the files of a folder, those that stand for their folder before the others in it. What begins with a dot is no part
// of it.
func markdownFiles(ctx context.Context, files fs.FS) (names []string, err error) {
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case name != "." && strings.HasPrefix(entry.Name(), "."), entry.Name() == "node_modules":
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir() && isMarkdown(name):
			names = append(names, name)
		}
		return nil
	})
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(depth(a), depth(b)), cmp.Compare(a, b))
	})
	return names, err
}

func isMarkdown(name string) bool {
	return slices.Contains([]string{".md", ".markdown"}, strings.ToLower(path.Ext(name)))
}

// depth is how many folders are above what a file becomes.
func depth(file string) int {
	if isIndex(file) {
		file = path.Dir(file)
	}
	if file == "." {
		return -1
	}
	return strings.Count(file, "/")
}

// run is one import.
type run struct {
	Config
	files       fs.FS
	collections []store.Collection
	addresses   map[string]string // paths of what files become, by file
	pictures    map[string]kept   // by where they come from
	pages       map[string]string // ids of the pages that stand for folders
}

// readAll reads the files and tells of those that are broken.
func (r *run) readAll(names []string, tell func(Result)) (good []document) {
	var slugs []string
	for _, c := range r.collections {
		slugs = append(slugs, c.Slug)
	}
	by := map[string]string{}
	for _, name := range names {
		d, err := r.read(name, slugs)
		if strings.EqualFold(d.locale, r.Language) {
			d.locale = ""
		}
		key := path.Join(d.locale, d.collection) + "/" + d.slug
		if other, taken := by[key]; err == nil && taken {
			err = faultAt(0, "the slug %s is that of %s: write another slug: into its head", d.slug, other)
		}
		if err != nil {
			tell(d.broken(err))
			continue
		}
		by[key] = name
		r.addresses[name] = r.Links.PageIn(d.locale, d.slug)
		if d.collection != "" {
			r.addresses[name] = r.Links.EntryIn(d.locale, d.collection, d.slug)
		}
		good = append(good, d)
	}
	slices.SortStableFunc(good, func(a, b document) int { return min(len(a.locale), 1) - min(len(b.locale), 1) }) // the site's own language first
	return good
}

// read reads a file. collections are the slugs of those that the site has.
func (r *run) read(name string, collections []string) (document, error) {
	file, err := r.open(name, maxFile)
	if err != nil {
		return document{file: name}, err
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		return document{file: name}, err
	}
	return parse(name, content, collections)
}

// result tells of a document.
func (d document) result(outcome Outcome, kind string) Result {
	return Result{File: d.file, Outcome: outcome, Kind: kind, Slug: d.slug, Notes: d.notes}
}

// broken tells what is wrong with a document.
func (d document) broken(err error) Result {
	result := Result{File: d.file, Outcome: Broken, Message: err.Error()}
	var at *fault
	if errors.As(err, &at) {
		result.Line = at.line
	}
	return result
}
