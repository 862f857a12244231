// Package signature makes and checks the signatures of webhooks, by the schemes that services use: Standard Webhooks
// (https://www.standardwebhooks.com, also Replicate's and Svix's), fal's, and the two that write HMACs in hex into one header.
//
// All work on the raw body, compare in constant time, and read base64 and hex strictly. Any of several secrets may have
// made a signature, so that a secret can be replaced while both are in use. An error says that the request is not authentic; what
// exactly is wrong with it is for our log, never for the sender.
package signature

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far the time of a signature may be off, to either side.
const Tolerance = 5 * time.Minute

// Why a request is not authentic.
var (
	ErrMissing = errors.New("a header of the signature is missing or malformed")
	ErrTime    = errors.New("the time of the signature is too far off")
	ErrWrong   = errors.New("the signature is wrong")
)

// The headers of Standard Webhooks.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// NewSecret gives a secret of Standard Webhooks from 32 random bytes.
func NewSecret(random []byte) (string, error) {
	if len(random) != secretBytes {
		return "", fmt.Errorf("a secret is made of %d bytes, not %d", secretBytes, len(random))
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(random), nil
}

// ParseSecret reads a secret of Standard Webhooks: whsec_ and 24 to 64 bytes in base64.
func ParseSecret(text string) ([]byte, error) {
	key, err := decode(strings.TrimPrefix(text, secretPrefix))
	if err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New("the secret is not whsec_ and 24 to 64 bytes in base64")
	}
	return key, nil
}

// decode reads base64 strictly: Go's own passes over line ends.
func decode(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, base64.CorruptInputError(0)
	}
	return base64.StdEncoding.Strict().DecodeString(text)
}

// Sign sets the headers of Standard Webhooks for a body, signed by each of the secrets.
func Sign(h http.Header, id string, at time.Time, body []byte, secrets ...[]byte) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(sum(secret, standardText(id, stamp, body)))
	}
	h.Set(HeaderID, id)
	h.Set(HeaderTimestamp, stamp)
	h.Set(HeaderSignature, strings.Join(signatures, " "))
}

func standardText(id, stamp string, body []byte) []byte {
	return append([]byte(id+"."+stamp+"."), body...)
}

// Standard checks a request by Standard Webhooks and gives its id, which stays the same when it is repeated. Signatures of other
// versions than v1 are passed over.
func Standard(h http.Header, body []byte, now time.Time, secrets [][]byte) (id string, err error) {
	id, stamp := h.Get(HeaderID), h.Get(HeaderTimestamp)
	list := h.Get(HeaderSignature)
	if id == "" || list == "" {
		return "", ErrMissing
	}
	if err := InTime(stamp, now); err != nil {
		return "", err
	}
	text := standardText(id, stamp, body)
	for entry := range strings.SplitSeq(list, " ") {
		version, given, _ := strings.Cut(entry, ",")
		raw, err := decode(given)
		if err != nil {
			continue
		}
		if version == "v1" && anySum(raw, text, secrets) {
			return id, nil
		}
	}
	return "", ErrWrong
}

// Fal checks a request that is signed as fal.ai does it, and gives its id.
func Fal(h http.Header, body []byte, now time.Time, keys ...ed25519.PublicKey) (id string, err error) {
	id, user, stamp := h.Get("X-Fal-Webhook-Request-Id"), h.Get("X-Fal-Webhook-User-Id"), h.Get("X-Fal-Webhook-Timestamp")
	raw, err := hex.DecodeString(h.Get("X-Fal-Webhook-Signature"))
	if id == "" || user == "" || err != nil || len(raw) != ed25519.SignatureSize {
		return "", ErrMissing
	}
	if err := InTime(stamp, now); err != nil {
		return "", err
	}
	digest := sha256.Sum256(body)
	if !anyKey(raw, []byte(strings.Join([]string{id, user, stamp, hex.EncodeToString(digest[:])}, "\n")), keys) {
		return "", ErrWrong
	}
	return id, nil
}

// InTime checks the time of a signature, in whole seconds since 1970: what somebody has overheard is not taken again later.
func InTime(stamp string, now time.Time) error {
	seconds, err := strconv.ParseUint(stamp, 10, 40)
	if err != nil {
		return ErrMissing
	}
	if off := now.Sub(time.Unix(int64(seconds), 0)).Truncate(time.Second); off > Tolerance || off < -Tolerance { // 40 bits
		return ErrTime
	}
	return nil
}

func sum(secret, text []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(text)
	return mac.Sum(nil)
}

func anySum(given, text []byte, secrets [][]byte) bool {
	ok := false
	for _, secret := range secrets {
		ok = hmac.Equal(given, sum(secret, text)) || ok
	}
	return ok
}

func anyKey(given, text []byte, keys []ed25519.PublicKey) bool {
	for _, key := range keys {
		if len(key) == ed25519.PublicKeySize && ed25519.Verify(key, text, given) {
			return true
		}
	}
	return false
}
