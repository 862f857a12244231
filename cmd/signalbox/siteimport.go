package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/providers/content/folder"
	"github.com/signalbox/signalbox/providers/content/store"
)

type siteImport struct {
	Dir     string `arg:"" help:"Folder of Markdown files, with their pictures."`
	Site    string `placeholder:"SLUG" default:"house" help:"Site to bring it into: that of a group by its slug, or the house's."`
	Replace bool   `help:"Have pages and posts that are there under the same slug take what the files say. Without: they are left as they are."`
}

// Run brings a folder into the site. It works beside a running program.
func (x siteImport) Run(e env) error {
	c, err := config.Check(e.settings)
	if err != nil {
		return err
	}
	dir, err := os.OpenRoot(x.Dir) // nothing in it leads out of it
	if err != nil {
		return fmt.Errorf("import: expected a folder: %w", err)
	}
	defer dir.Close()
	report := newImportReport(e.stdout)
	err = withSite(e, newApp(c, newLogger(c, e.stderr)), func(a *app) error {
		if _, err := a.content.open(); err != nil {
			return err
		}
		return a.content.importFolder(e.ctx, x.Site, dir.FS(), x.Replace, report.tell)
	})
	if err != nil {
		return err
	}
	return report.end()
}

// importFolder brings a folder of Markdown into the site with a slug.
func (c *contents) importFolder(ctx context.Context, slug string, files fs.FS, replace bool, tell func(folder.Result)) error {
	to, err := c.named(ctx, slug)
	if err != nil {
		return err
	}
	site := c.store.In(to, "")
	return folder.Import(ctx, files, folder.Config{
		Content: site, Links: c.public.Of(slug), Language: to.Language, Replace: replace,
		Keep: func(ctx context.Context, content io.Reader, name string) (string, error) {
			return c.tools.KeepPicture(ctx, "", name, content)
		},
		Fetch: func(ctx context.Context, address string) (io.ReadCloser, error) {
			body, _, err := c.media.OpenMedia(ctx, address)
			return body, err
		},
		Add: func(ctx context.Context, image store.Image) error { return c.tools.AddImage(ctx, site, "", image) },
	}, tell)
}

// importReport writes what becomes of files.
type importReport struct {
	out   io.Writer
	count map[folder.Outcome]int
	err   error // of writing
}

func newImportReport(out io.Writer) *importReport {
	return &importReport{out: out, count: map[folder.Outcome]int{}}
}

// tell writes a line for a file, unless it is as it was, and one for each of its notes.
func (r *importReport) tell(f folder.Result) {
	r.count[f.Outcome]++
	place := f.File
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	switch {
	case f.Message != "":
		r.print("%s: %s: %s\n", place, f.Outcome, f.Message)
	case f.Outcome != folder.Same:
		r.print("%s: %s as %s %s\n", place, f.Outcome, f.Kind, f.Slug)
	}
	if f.Outcome == folder.Added || f.Outcome == folder.Replaced {
		for _, note := range f.Notes {
			r.print("  %s\n", note)
		}
	}
}

func (r *importReport) print(format string, args ...any) {
	if _, err := fmt.Fprintf(r.out, format, args...); err != nil {
		r.err = err
	}
}

// end writes the sum. Broken files make the command fail, after all others are in.
func (r *importReport) end() error {
	var parts []string
	all := 0
	for _, outcome := range []folder.Outcome{folder.Added, folder.Replaced, folder.Same, folder.Left, folder.Broken} {
		if n := r.count[outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
			all += n
		}
	}
	if all == 0 {
		return errors.New("import: there is no Markdown in the folder: expected files that end in .md")
	}
	r.print("%d files: %s.\n", all, strings.Join(parts, ", "))
	if n := r.count[folder.Broken]; n > 0 && r.err == nil {
		return fmt.Errorf("import: %d of %d files could not be taken: mend them and import again; what is imported stays", n, all)
	}
	return r.err
}
