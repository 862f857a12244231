package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
)

type siteCommand struct {
	Export siteExport `cmd:"" help:"Write what visitors see to files, for a server of files."`
}

type siteExport struct {
	Out  string `required:"" placeholder:"DIR" help:"Folder to write to; it is made where it is missing."`
	Site string `placeholder:"SLUG" default:"house" help:"Site to write: that of a group by its slug, or the house's."`
	Base string `placeholder:"URL" help:"Address that the files will have, such as https://www.example.com. Empty: that of the site now."`
}

// Run writes the site as visitors see it now. It works beside a running program.
func (x siteExport) Run(e env) error {
	c, err := check(e.settings)
	if err != nil {
		return err
	}
	a := newApp(c, newLogger(c, e.stderr))
	n, err := x.export(e.ctx, a)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), stopLimit)
	defer cancel()
	if err = errors.Join(err, a.stop(ctx)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%d files written to %s.\n", n, x.Out)
	return err
}

func (x siteExport) export(ctx context.Context, a *app) (n int, err error) {
	if x.Base != "" {
		u, ok := httpURL(x.Base)
		if !ok {
			return 0, fmt.Errorf("base: found %q, expected an http:// or https:// address", x.Base)
		}
		a.content.base = &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	}
	if err := a.attachStorage(ctx); err != nil {
		return 0, err
	}
	if a.db == nil {
		return 0, errors.New("there is no database at DATA_DIR or DATABASE_URL, so there is no site yet")
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
