package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/logs"
	"github.com/signalbox/signalbox/cmd/signalbox/siteimport"
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
	report := siteimport.NewReport(e.stdout)
	err = withSite(e, newApp(c, logs.New(c, e.stderr)), func(a *app) error {
		if _, err := a.content.open(); err != nil {
			return err
		}
		return a.content.importFolder(e.ctx, x.Site, dir.FS(), x.Replace, report.Tell)
	})
	if err != nil {
		return err
	}
	return report.End()
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
