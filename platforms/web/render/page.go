package render

import (
	"bytes"
	"compress/gzip"
	"html/template"
	"net/http"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/bundle"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/users"
)

// View is what a package says of one page.
type View struct {
	Title   string
	Place   string // which entry of the navigation this is: tools, chat, gallery, drawings, history, account
	Scripts []string
	Problem string
	Preview *Preview // for chats that show a link's page
	Data    any      // what the page's template draws
}

// Preview is what a chat shows of a page whose address stands in it.
type Preview struct {
	Title, Address string
	Picture, About string // empty: none
}

// frame is what every template gets.
type frame struct {
	View
	Lang      string
	Done      string        // what the last press of a button did
	CSRF      template.HTML // the hidden field that every form carries
	CSRFToken string
	SignedIn  bool
	Local     bool
	Name      string
	Balance   *billing.Balance
	Operator  bool
	Console   string // where operators work
	Talks     bool   // there is a conversation
	Framed    bool   // it is shown in a Mini App
	Gallery   bool   // there is a gallery
	Drawings  bool   // there are drawings
	Chains    bool   // there are chains and missions
}

// Show draws a page for a known account; its session may not be in a cookie yet.
func (p *Pages) Show(w http.ResponseWriter, r *http.Request, a users.Account, name string, v View) error {
	return p.ShowAs(w, r, a, http.StatusOK, name, v)
}

// ShowAs is Show with another status, for forms that come back with a problem.
func (p *Pages) ShowAs(w http.ResponseWriter, r *http.Request, a users.Account, status int, name string, v View) error {
	b, err := p.d.cfg.Ledger.Balance(r.Context(), a.ID)
	if err != nil {
		return err
	}
	voice := p.d.Voice(r, a)
	p.write(w, r, voice, status, name, frame{
		View: v, Balance: &b, SignedIn: true, Name: words.PersonName(voice, a.DisplayName), Operator: a.Operator, Console: p.d.cfg.Console, Talks: p.d.cfg.Talks, Gallery: p.d.cfg.Gallery, Drawings: p.d.cfg.Drawings, Chains: p.d.cfg.Chains,
	})
	return nil
}

// Render draws a page for the sender of the request, signed in or not.
func (p *Pages) Render(w http.ResponseWriter, r *http.Request, status int, name string, v View) {
	if a, err := door.Account(r.Context()); err == nil && p.ShowAs(w, r, a, status, name, v) == nil {
		return
	}
	p.write(w, r, p.d.Voice(r, users.Account{}), status, name, frame{View: v})
}

// draw draws a page into memory.
func (p *Pages) draw(name string, f frame) ([]byte, error) {
	templates, err := p.parsed[f.Lang]()
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = templates.ExecuteTemplate(&page, name+".html", f)
	return page.Bytes(), err
}

// write writes a page, or nothing but an error when the template fails: never half a page.
func (p *Pages) write(w http.ResponseWriter, r *http.Request, voice i18n.Voice, status int, name string, f frame) {
	if key := "web.done." + r.URL.Query().Get("done"); r.Method == http.MethodGet && voice.Has(key) {
		f.Done = voice.Line(key)
	}
	f.Lang, f.Local, f.Framed = voice.Language(), p.d.cfg.Local, door.Framed(r.Context())
	f.CSRF, f.CSRFToken = door.CSRFInput(r.Context()), door.CSRFToken(r.Context())
	body, err := p.draw(name, f)
	if err != nil {
		p.d.cfg.Logger.Error("template failed", "template", name, "error", err)
		http.Error(w, "This page is broken on our side.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", f.Lang)
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept-Encoding, Accept-Language")
	if bundle.AcceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = bundle.Zipped(body, gzip.DefaultCompression)
	}
	w.WriteHeader(status)
	w.Write(body)
}
