package vidu

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/registry"
)

// tolerance is how far the time of a callback may be off, to either side.
const tolerance = 5 * time.Minute

// VerifyCallback checks the signature of a callback: an HMAC-SHA256, keyed by the account's key, of method,
// path, query, access key, date and the headers that it names. The body is not signed, so it is believed only as
// far as asking after the task that it names.
func (p *Provider) VerifyCallback(_ context.Context, r registry.CallbackRequest) (registry.Callback, error) {
	at, err := http.ParseTime(r.Header.Get("Date"))
	if off := r.At.Sub(at); err != nil || off > tolerance || off < -tolerance {
		return registry.Callback{}, errors.New("the time of the callback is missing or too far off")
	}
	given, err := base64.StdEncoding.Strict().DecodeString(r.Header.Get("X-Hmac-Signature"))
	if err != nil || r.Header.Get("X-Hmac-Algorithm") != "hmac-sha256" || r.Header.Get("X-Hmac-Access-Key") != "vidu" {
		return registry.Callback{}, errors.New("the signature of the callback is missing or malformed")
	}
	mac := hmac.New(sha256.New, []byte(p.cfg.Key))
	mac.Write([]byte(signedText(r)))
	if !hmac.Equal(given, mac.Sum(nil)) {
		return registry.Callback{}, errors.New("the signature of the callback is wrong")
	}
	var body created
	if err := json.Unmarshal(r.Body, &body); err != nil || body.id() == "" {
		return registry.Callback{}, errors.New("the callback names no task")
	}
	return registry.Callback{ProviderID: body.id(), EventID: r.Header.Get("X-Request-Nonce"), State: stateOf(body.State).State}, nil
}

func signedText(r registry.CallbackRequest) string {
	path := cmp.Or(r.Path, "/")
	lines := []string{r.Method, path, r.RawQuery, "vidu", r.Header.Get("Date")}
	for name := range strings.SplitSeq(r.Header.Get("X-Hmac-Signed-Headers"), ";") {
		if name != "" {
			lines = append(lines, name+":"+r.Header.Get(name))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
