package door

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"html/template"
	"mime"
	"net/http"

	"github.com/signalbox/signalbox/platforms/web/problem"
)

// CSRFField is the name of the form field that carries the token against forged requests. Names with two
// underscores are no inputs of tools.
const CSRFField = "csrf__token"

// csrfHeader carries the token of requests that scripts send.
const csrfHeader = "X-CSRF-Token"

// errForged is the error of requests without the token of a page of ours.
var errForged = &problem.Problem{Status: http.StatusForbidden, Code: "csrf", Detail: "This page is too old, or the request was not sent from it. Reload it and try again."}

// CSRFToken is the token for forms on the page that answers the request of ctx. It holds as long as the
// session does, and looks different each time, so that compressed pages do not give it away.
func CSRFToken(ctx context.Context) string {
	v := visitOf(ctx)
	if v == nil {
		return ""
	}
	pad := make([]byte, sha256.Size)
	rand.Read(pad)
	masked := xor(pad, v.door.mac("csrf", v.bond()))
	return base64.RawURLEncoding.EncodeToString(append(pad, masked...))
}

// CSRFInput is the hidden field that every form on the page that answers the request of ctx carries.
func CSRFInput(ctx context.Context) template.HTML {
	return template.HTML(`<input type="hidden" name="` + CSRFField + `" value="` + CSRFToken(ctx) + `">`)
}

func xor(a, b []byte) []byte {
	out := make([]byte, len(a))
	for i := range a {
		out[i] = a[i] ^ b[i]
	}
	return out
}

// bond is the secret that ties a page to its browser: the session's, or without one a secret that is drawn for the visit.
func (v *visit) bond() string {
	inside, name := v.cookies()
	if c, err := v.who(); err == nil && c.kind == session {
		name = inside
	}
	if v.secret != "" {
		return v.secret
	}
	if value, _ := v.door.Cookie(v.r, name); value != "" {
		v.secret = value
		return v.secret
	}
	v.secret = rand.Text()
	v.keep(name, v.secret, 0)
	return v.secret
}

// unforged is nil for a request that was sent from a page of ours: a browser sends its cookies with requests that other
// sites make up, too, but those do not know the token.
func (d *Door) unforged(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
	given, err := givenToken(r)
	if err == nil && !d.validToken(visitOf(r.Context()).bond(), given) {
		err = errForged
	}
	return err
}

func safeMethod(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// givenToken finds the token of a request: in the header, or in the form.
func givenToken(r *http.Request) (string, error) {
	if token := r.Header.Get(csrfHeader); token != "" {
		return token, nil
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	var err error
	switch kind {
	case "multipart/form-data":
		err = r.ParseMultipartForm(MaxFormMemory)
	case "application/x-www-form-urlencoded":
		err = r.ParseForm()
	}
	if err != nil {
		return "", TooLargeOr(err, "the form can't be read")
	}
	return r.PostFormValue(CSRFField), nil
}

func (d *Door) validToken(bond, token string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) != 2*sha256.Size {
		return false
	}
	return hmac.Equal(xor(raw[:sha256.Size], raw[sha256.Size:]), d.mac("csrf", bond))
}

// Browser names the browser that a request came from, by its cookie.
func (d *Door) Browser(r *http.Request) string {
	return hex.EncodeToString(d.mac("browser", visitOf(r.Context()).bond())[:16])
}
