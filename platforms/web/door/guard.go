package door

import (
	"maps"
	"net/http"

	"github.com/signalbox/signalbox/platforms/web/problem"
)

// Guard keeps foreign sites out: a page elsewhere can make a browser send requests here, by its own
// name for our address (DNS rebinding) or across sites.
func (d *Door) Guard(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	if !d.Site.Local() {
		// Behind a proxy that terminates TLS the scheme of the Origin differs from ours.
		if err := cross.AddTrustedOrigin(d.Site.Public.Scheme + "://" + d.Site.Public.Host); err != nil {
			d.cfg.Logger.Warn("PUBLIC_URL is not usable as an origin", "error", err)
		}
	}
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		problem.Write(w, problem.Problem{Status: http.StatusForbidden, Code: "cross_site", Detail: "This request came from another site."})
	}))
	protected := cross.Handler(next)
	headers, framed := d.headers("'none'"), d.headers(framer)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.framed(r) {
			maps.Copy(w.Header(), framed)
		} else {
			maps.Copy(w.Header(), headers)
		}
		if !d.Site.serves(r.Host) && !machinePath(r.URL.Path) {
			problem.Write(w, problem.Problem{Status: http.StatusMisdirectedRequest, Code: "unknown_host", Detail: "This program does not serve the host you asked for. Set PUBLIC_URL to the address you use."})
			return
		}
		r = d.visiting(w, r)
		protected.ServeHTTP(w, r)
		if r.MultipartForm != nil {
			r.MultipartForm.RemoveAll()
		}
	})
}

// headers are those of every answer; framers say who may show it in a frame. They are shared: handlers replace them, and never change them.
func (d *Door) headers(framers string) http.Header {
	h := http.Header{}
	media := "'self' blob:"
	if d.cfg.MediaOrigin != "" {
		media += " " + d.cfg.MediaOrigin
	}
	h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data: blob:; media-src "+media+"; frame-ancestors "+framers+"; base-uri 'none'; form-action 'self'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if d.Site.Secure() {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	return h
}

// machinePath tells the probes, which orchestrators ask by whatever address they have.
func machinePath(p string) bool { return p == "/healthz" || p == "/readyz" || p == "/metrics" }
