package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net/url"
	"time"
)

// Root is the path under which all callbacks come in.
const Root = "/webhooks/"

const (
	tokenLife = 24 * time.Hour // no run lasts longer
	macBytes  = 20             // of a token: 160 bits
)

// Addresses makes the addresses that services report runs to. The one of a service that signs its callbacks is
// Root + service + "/" + run. Any other gets a token at its end, which is good for that service and run only, and for
// 24 hours: anyone who knows it may speak for the service, so it must not get into logs.
type Addresses struct {
	public string // scheme and host
	key    []byte
	signs  map[string]bool
	now    func() time.Time
}

// NewAddresses makes addresses under a public URL, or none when that is empty. key signs the tokens; it has at least
// 16 bytes and is the same on all machines. signing names the services that sign their callbacks. now is the clock, or
// nil for time.Now.
func NewAddresses(public string, key []byte, signing []string, now func() time.Time) (*Addresses, error) {
	if len(key) < 16 {
		return nil, errors.New("webhooks: the key of the tokens has fewer than 16 bytes")
	}
	if now == nil {
		now = time.Now
	}
	a := &Addresses{public: public, key: key, signs: map[string]bool{}, now: now}
	for _, service := range signing {
		a.signs[service] = true
	}
	return a, nil
}

// Of gives the address for one run of a service, or "" where there is no public URL. It fits runs.Config.CallbackURL.
func (a *Addresses) Of(service, runID string) string {
	if a.public == "" {
		return ""
	}
	address := a.public + Root + url.PathEscape(service) + "/" + url.PathEscape(runID)
	if a.signs[service] {
		return address
	}
	return address + "/" + a.token(service, runID, a.now().Add(tokenLife))
}

// token is the time of its end and a MAC over that, the service and the run.
func (a *Addresses) token(service, runID string, ends time.Time) string {
	raw := binary.BigEndian.AppendUint64(nil, uint64(ends.Unix())) // long after 1970
	return base64.RawURLEncoding.EncodeToString(append(raw, a.mac(service, runID, raw)...))
}

// mac covers lengths, too, so that no two triples look alike.
func (a *Addresses) mac(service, runID string, ends []byte) []byte {
	mac := hmac.New(sha256.New, a.key)
	for _, part := range [][]byte{[]byte(service), []byte(runID), ends} {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write(part)
	}
	return mac.Sum(nil)[:macBytes]
}

// allows reports whether a token speaks for a run of a service now.
func (a *Addresses) allows(service, runID, token string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) != 8+macBytes || !hmac.Equal(raw[8:], a.mac(service, runID, raw[:8])) {
		return false
	}
	return a.now().Unix() <= int64(binary.BigEndian.Uint64(raw)) // we made it
}
