// Package pages draws the pages on which people use tools: all tools, one tool's form, its runs, their results, prices, and the
// frame of the conversation. They come from the registry's snapshot of the moment and work without JavaScript; a small
// script adds live progress.
package pages

import (
	"context"
	"embed"
	"html/template"
	"log/slog"
	"net/http"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

//go:embed templates/*.html
var templateFiles embed.FS

// Runs is what the pages need of runner.Service, beside what request.Callers and request.Reader need.
type Runs interface {
	Binds
	Steers
	Lists
}

// Users is what the pages need of users.Store.
type Users interface {
	Preferences
	Presets
	KeepsPresets
	Limits
}

// Config wires the pages. What may be nil says so.
type Config struct {
	Door         *door.Door
	Render       *render.Renderer
	Registry     *catalog.Registry
	Search       catalog.Searcher // finds tools by words
	Runs         Runs
	Users        Users
	Ledger       render.Ledger
	Callers      request.Callers
	Media        request.Media
	Links        files.Links
	Streams      *door.Streams
	Gallery      Gallery           // finds results again; nil: there is no gallery
	Shares       *Shares           // keeps which results are shown to anyone who has their link; nil: sharing is not offered
	Reports      Reports           // takes reports of what is shared; nil: nothing is reported
	ShareKey     []byte            // signs the links of what is shared
	Landing      Landing           // what strangers are told
	Examples     map[string][]byte // pictures that tools made, as JPEG files by the tools' ids
	Buying       Buying            // how people get more credit
	Conversation Conversation      // the chat at ChatPath; nil: none
	Questions    Asked             // to models; nil: nobody can ask one
	Improves     bool              // prompts can be improved at /api/improve
	// Delete deletes the run that the path values id and n name, or one of its outputs, for its owner.
	Delete func(r *http.Request, a users.Account) error
	// DeleteOutput deletes one output of a run for its owner.
	DeleteOutput func(ctx context.Context, a users.Account, runID string, output int) error
	Logger       *slog.Logger
}

// Buying is how people get more credit, and whom they can ask about it.
type Buying struct {
	Offers  func() words.Buying // nil: nothing
	Support func() string       // nil or "": the operator is to be asked
}

// Routes gives the addresses of the pages.
func Routes(cfg Config) ([]door.Route, error) {
	made, err := newExamples(cfg.Examples, cfg.Render, cfg.Logger)
	if err != nil {
		return nil, err
	}
	s := shared{examples: made, door: cfg.Door, render: cfg.Render, pages: cfg.Render.Pages(templateFiles, functions), views: views{cfg.Links}, tools: tools{cfg.Registry, cfg.Search}, log: cfg.Logger}
	money := spending{cfg.Users, cfg.Ledger}
	form := &forms{shared: s, improves: cfg.Improves, spending: money, runs: cfg.Runs, callers: cfg.Callers, reader: request.Reader{Media: cfg.Media}, presets: cfg.Users}
	share := &sharing{shared: s, shares: cfg.Shares, reports: cfg.Reports, callers: cfg.Callers, key: cfg.ShareKey}
	list := (&overview{shared: s, runs: cfg.Runs, sharing: share, strangers: cfg.Landing, buying: cfg.Buying, asks: cfg.Questions != nil}).routes()
	list = append(list, form.routes()...)
	list = append(list, (&settings{shared: s, forms: form, preferences: cfg.Users, presets: cfg.Users}).routes()...)
	ofRuns := &runPages{shared: s, spending: money, runs: cfg.Runs, callers: cfg.Callers, sharing: share, delete: cfg.Delete}
	list = append(list, ofRuns.routes()...)
	if cfg.Gallery != nil {
		list = append(list, (&galleryPages{shared: s, gallery: cfg.Gallery, runs: ofRuns, media: cfg.Media, delete: cfg.DeleteOutput}).routes()...)
	}
	list = append(list, share.routes()...)
	if cfg.Questions != nil {
		list = append(list, (&askedPages{shared: s, asked: cfg.Questions}).routes()...)
	}
	if cfg.Conversation != nil {
		list = append(list, (&chatPages{shared: s, conversation: cfg.Conversation, streams: cfg.Streams, forms: form}).routes()...)
	}
	return append(list, made.route(), door.ForAll("GET /static/{hash}/{file}", cfg.Render.Static)), nil
}

// functions are what the templates call, in one language.
func functions(v i18n.Voice) template.FuncMap {
	return template.FuncMap{
		"price":   func(t registry.Tool) string { return priceOf(v, t) },
		"many":    func(r runs.Run) string { return v.ForADollar(r.Cost, words.Makes(r.Tool)) },
		"accept":  acceptOf,
		"answer":  answerOf,
		"host":    hostOf,
		"follows": followUpLinks,
		"emblem":  emblem,
		"gives":   gives,
		"brief":   brief,
	}
}
