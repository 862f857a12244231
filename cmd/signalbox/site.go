package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/logs"
	"github.com/signalbox/signalbox/providers/content/site"
)

type siteCommand struct {
	Export siteExport `cmd:"" help:"Write what visitors see to files, for a server of files."`
	Import siteImport `cmd:"" help:"Bring a folder of Markdown with its pictures into the site."`
	Theme  siteTheme  `cmd:"" help:"Write the theme that comes with the program to a folder, to begin an own one with."`
}

type siteTheme struct {
	Out string `required:"" placeholder:"DIR" help:"Folder to write to, such as that of CONTENT_DIR; it is made where it is missing."`
}

// Run writes the theme. Files that are there are left as they are, and are an error.
func (x siteTheme) Run(e env) error {
	if err := os.CopyFS(x.Out, site.Theme()); err != nil {
		return fmt.Errorf("theme: %w", err)
	}
	_, err := fmt.Fprintf(e.stdout, "The theme is in %s. With CONTENT_DIR=%s the site has what is changed there.\n", filepath.Join(x.Out, "theme"), x.Out)
	return err
}

type siteExport struct {
	Out  string `required:"" placeholder:"DIR" help:"Folder to write to; it is made where it is missing."`
	Site string `placeholder:"SLUG" default:"house" help:"Site to write: that of a group by its slug, or the house's."`
	Base string `placeholder:"URL" help:"Address that the files will have, such as https://www.example.com. Empty: that of the site now."`
}

// Run writes the site as visitors see it now. It works beside a running program.
func (x siteExport) Run(e env) error {
	c, err := config.Check(e.settings)
	if err != nil {
		return err
	}
	n := 0
	err = withSite(e, newApp(c, logs.New(c, e.stderr)), func(a *app) error {
		n, err = x.export(e.ctx, a)
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%d files written to %s.\n", n, x.Out)
	return err
}

// withSite opens the database of the site for a command, beside a running program, and closes it.
func withSite(e env, a *app, do func(a *app) error) error {
	err := a.attachStorage(e.ctx)
	if err == nil && a.db == nil {
		err = errors.New("there is no database at DATA_DIR or DATABASE_URL, so there is no site yet")
	}
	if err == nil {
		err = do(a)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), stopLimit)
	defer cancel()
	return errors.Join(err, a.Stop(ctx))
}

func (x siteExport) export(ctx context.Context, a *app) (n int, err error) {
	if x.Base != "" {
		u, ok := config.HTTPURL(x.Base)
		if !ok {
			return 0, fmt.Errorf("base: found %q, expected an http:// or https:// address", x.Base)
		}
		a.content.base = &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	}
	if _, err := a.content.open(); err != nil {
		return 0, err
	}
	public, err := a.content.only(ctx, x.Site)
	if err != nil {
		return 0, err
	}
	err = public.Export(ctx, func(name string, content []byte) error {
		file := filepath.Join(x.Out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		n++
		return os.WriteFile(file, content, 0o644)
	})
	return n, err
}
