// Package render draws pages: their frame, the styles and scripts they share, and the reader's language. The
// packages whose pages they are bring their templates. Errors become pages here, too.
package render

import (
	"context"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/bundle"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/users"
)

//go:embed templates/*.html
var templateFiles embed.FS

// staticFiles are the pages' styles, scripts and symbols.
//
//go:embed static/*
var staticFiles embed.FS

// Ledger tells the balance that stands on every page: billing.Ledger.
type Ledger interface {
	Balance(ctx context.Context, accountID string) (billing.Balance, error)
}

// Config wires a Renderer. Ledger and Logger are required.
type Config struct {
	Ledger Ledger
	Logger *slog.Logger
	// Points is the unit in which amounts are shown, too; the zero value is none.
	Points billing.Points
	// Local tells that there is no signing out: it is a program for the person at this machine.
	Local bool
	// Console is where operators work; empty: nowhere.
	Console string
	// Gallery tells that there is a gallery.
	Gallery bool
	// Drawings tells that there are drawings.
	Drawings bool
	// Chains tells that there are chains and missions.
	Chains bool
	// Talks tells that there is a conversation.
	Talks bool
}

// Renderer draws pages. Make it with New.
type Renderer struct {
	cfg    Config
	texts  *i18n.Catalogue
	bundle bundle.Bundle
	own    *Pages
}

// New reads the texts and styles of all pages.
func New(cfg Config) (*Renderer, error) {
	texts, err := i18n.Load()
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	d := &Renderer{cfg: cfg, texts: texts.WithUnit(cfg.Points.Unit())}
	if d.bundle, err = bundle.New(staticFiles, "static", "/static/"); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	d.own = d.Pages(nil, nil)
	return d, nil
}

// Pages are the pages of one package.
type Pages struct {
	d      *Renderer
	parsed map[string]func() (*template.Template, error) // by language
}

// Pages parses a package's templates, templates/*.html in files, once for each language, so that a page says {{t "web.key"}} and
// no more. functions are what they call beside those of all pages. A language takes time and memory when somebody first reads
// it; whether the templates are sound is shown by the tests of the package, which draw them.
func (d *Renderer) Pages(files fs.FS, functions func(i18n.Voice) template.FuncMap) *Pages {
	p := &Pages{d, map[string]func() (*template.Template, error){}}
	for _, lang := range d.texts.Languages() {
		p.parsed[lang] = sync.OnceValues(func() (*template.Template, error) { return d.parse(d.texts.Voice(lang), files, functions) })
	}
	return p
}

// parse parses the frame and, unless files is nil, a package's templates for one language.
func (d *Renderer) parse(v i18n.Voice, files fs.FS, more func(i18n.Voice) template.FuncMap) (*template.Template, error) {
	parsed, err := template.New("").Funcs(functions(v, d.bundle)).ParseFS(templateFiles, "templates/*.html")
	if err != nil || files == nil {
		return parsed, err
	}
	return parsed.Funcs(more(v)).ParseFS(files, "templates/*.html")
}

// Texts are the texts of all pages.
func (d *Renderer) Texts() *i18n.Catalogue { return d.texts }

// Voice is the language of a page: what the account chose, else what the browser asks for.
func (d *Renderer) Voice(r *http.Request, a users.Account) i18n.Voice {
	return d.texts.Voice(a.Language, r.Header.Get("Accept-Language"))
}
