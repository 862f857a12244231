// Package siteeditor is the page where people with a role edit the site: pages with their sections, posts, pictures. It is one HTML
// page whose scripts work by the addresses of package siteapi, which decide who may do what.
package siteeditor

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/internal/bundle"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/users"
)

// Root is the address of the page.
const Root = "/site-editor/"

//go:embed static
var static embed.FS

// Config wires a Handler. All members but Frames and Logger are required.
type Config struct {
	// Caller is who sent the request of ctx, CSRF the token that changes sent by scripts of the page carry.
	Caller func(ctx context.Context) (users.Account, bool)
	CSRF   func(ctx context.Context) string
	// Frames is the origin of the site whose drafts are shown, where it is another than the page's.
	Frames string
	Logger *slog.Logger
}

type server struct {
	Config
	page   *template.Template
	bundle bundle.Bundle
	texts  *i18n.Catalogue
}

// Handler serves the page and what belongs to it. Who may come is decided where it is mounted.
func Handler(cfg Config) (http.Handler, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := server{Config: cfg}
	var err error
	if s.texts, err = i18n.Load(); err != nil {
		return nil, fmt.Errorf("site editor: %w", err)
	}
	files, err := fs.Sub(static, "static")
	if err == nil {
		s.bundle, err = bundle.New(files, ".", Root+"static/")
	}
	if err == nil {
		s.page, err = template.ParseFS(files, "editor.html")
	}
	if err != nil {
		return nil, fmt.Errorf("site editor: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Root+"{$}", s.show)
	mux.HandleFunc("GET "+Root+"static/{hash}/{file}", func(w http.ResponseWriter, r *http.Request) {
		if !s.bundle.Serve(w, r, "private") {
			http.NotFound(w, r)
		}
	})
	return mux, nil
}

// keys are the texts that the scripts say.
var keys = [...]string{
	"pages", "posts", "pictures", "newPage", "newPost", "name", "title", "text", "excerpt", "category", "author", "address", "cover", "save", "saved", "publish", "unpublish", "published", "draft",
	"delete", "deleteAsk", "cancel", "restore", "history", "up", "down", "move", "addSection", "preview", "upload", "results", "description", "byModel", "byName", "newer", "yours", "theirs", "keepMine", "takeTheirs", "none", "pick",
	"publishAt", "failed", "noRole", "add", "remove", "moved", "site", "language", "ownLanguage", "addLanguage", "removeLanguage", "whole", "about", "menu", "addToMenu",
}

// show sends the page in the language of who reads it.
func (s server) show(w http.ResponseWriter, r *http.Request) {
	account, _ := s.Caller(r.Context())
	voice := s.texts.Voice(account.Language, r.Header.Get("Accept-Language"))
	texts := map[string]string{}
	for _, key := range keys {
		texts[key] = voice.Line("editor." + key)
	}
	raw, err := json.Marshal(texts)
	if err != nil {
		s.Logger.ErrorContext(r.Context(), "the site's editor can't be shown", "error", err)
		http.Error(w, "The page can't be shown at the moment.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data: blob:; frame-src "+strings.TrimSpace("'self' "+s.Frames)+"; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
	err = s.page.Execute(w, map[string]any{
		"Language": cmp.Or(voice.Language(), i18n.Fallback), "Title": voice.Line("editor.page"), "Home": voice.Line("site.back"), "Texts": string(raw), "Token": s.CSRF(r.Context()),
		"Script": s.bundle.Address("editor.js"), "Style": s.bundle.Address("editor.css"), "Things": voice.Line("editor.things"), "Preview": voice.Line("editor.preview"),
	})
	if err != nil {
		s.Logger.DebugContext(r.Context(), "the site's editor was not sent whole", "error", err)
	}
}
