package render

import (
	"errors"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/users"
)

func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// NotFound answers where there is nothing: with a page for browsers, with a problem for programs.
func (d *Renderer) NotFound(w http.ResponseWriter, r *http.Request) {
	if wantsPage(r) {
		v := d.Voice(r, users.Account{})
		d.Problem(w, r, http.StatusNotFound, v.Line("web.problem.title.missing"), v.Line("web.problem.nothing"))
		return
	}
	problem.Write(w, problem.Problem{Status: http.StatusNotFound, Code: "not_found", Detail: "There is nothing at this address. GET /openapi.json describes the API."})
}

// Static serves the styles and scripts: the path values hash and file name one.
func (d *Renderer) Static(w http.ResponseWriter, r *http.Request) {
	if !d.bundle.Serve(w, r, "public") {
		d.NotFound(w, r)
	}
}

// Problem draws a page that says what is wrong.
func (d *Renderer) Problem(w http.ResponseWriter, r *http.Request, status int, title, detail string) {
	d.own.Render(w, r, status, "problem", View{Title: title, Problem: detail})
}

// Explain is problem.Explain in the language of an account.
func (d *Renderer) Explain(r *http.Request, a users.Account, err error) problem.Problem {
	p := problem.Explain(err)
	p.Detail = detailIn(d.Voice(r, a), err, p)
	return p
}

// FailPage answers an error with a page in the reader's language.
func (d *Renderer) FailPage(w http.ResponseWriter, r *http.Request, err error) {
	a, _ := door.Caller(r.Context())
	p := d.Explain(r, a, err)
	p.SetRetryAfter(w.Header())
	if p.Ours() {
		d.cfg.Logger.Error("page failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	d.Problem(w, r, p.Status, problemTitle(d.Voice(r, a), p.Status), p.Detail)
}

// Fail answers an error as the client expects it: browsers get a page.
func (d *Renderer) Fail(w http.ResponseWriter, r *http.Request, err error) {
	if wantsPage(r) && !errors.Is(err, door.ErrSignedOut) {
		d.FailPage(w, r, err)
		return
	}
	problem.Fail(w, r, d.cfg.Logger, err)
}

// FailTold answers an error of a page, or of its script, in the reader's language.
func (d *Renderer) FailTold(w http.ResponseWriter, r *http.Request, a users.Account, err error) {
	p := d.Explain(r, a, err)
	if wantsPage(r) || p.Ours() {
		d.Fail(w, r, err)
		return
	}
	problem.Write(w, p)
}
