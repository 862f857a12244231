package signature

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Facts that were computed elsewhere, by two implementations.
const (
	body       = `{"event":"run.done","id":"r1"}`
	whsec      = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	falKey     = "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="
	standardV1 = "v1,dzGPBWCUjZ/rCOCMn8WxuuV34N0DxNixD+JTggeemP0="
	fal        = "9fd8d367a4150f4742c11b49676cff3065212c2bc9845abe43060f8a076fd0c1274f75abaa5eb6e22390dcf66404e2e52a40126a14b905d0815f5b735821d901"
	stripe     = "t=1700000000,v1=81bbc6b7002beee17d7c218d96aa509b9a89c848ee25369f1c6caff91ac3d304"
	github     = "sha256=e739d3aaa0952bec0b580745a61cf5e02fbcd4382def9e16943393b2667af626"
	jwks       = `{"keys":[{"kty":"RSA","n":"x"},{"kty":"OKP","crv":"Ed25519","x":"A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"}]}`
)

var signedAt = time.Unix(1700000000, 0)

// request is a signed request, and how it is checked.
type request struct {
	name   string
	header http.Header
	check  func(h http.Header, body string, now time.Time) error
}

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func requests(t *testing.T) []request {
	t.Helper()
	secret, err := ParseSecret(whsec)
	if err != nil {
		t.Fatal(err)
	}
	public, err := base64.StdEncoding.DecodeString(falKey)
	if err != nil {
		t.Fatal(err)
	}
	other := []byte("another secret of enough bytes")
	standard := func(h http.Header, body string, now time.Time) error {
		id, err := Standard(h, []byte(body), now, [][]byte{other, secret})
		if err == nil && id != "msg_1" {
			return errors.New("the id is " + id)
		}
		return err
	}
	return []request{
		{"Standard Webhooks v1", header("webhook-id", "msg_1", "webhook-timestamp", "1700000000", "webhook-signature", standardV1), standard},
		{"fal", header("X-Fal-Webhook-Request-Id", "req_1", "X-Fal-Webhook-User-Id", "user_1", "X-Fal-Webhook-Timestamp", "1700000000", "X-Fal-Webhook-Signature", fal),
			func(h http.Header, body string, now time.Time) error {
				_, err := Fal(h, []byte(body), now, ed25519.PublicKey(public))
				return err
			}},
		{"a time and an HMAC in hex", header("Stripe-Signature", stripe), func(h http.Header, body string, now time.Time) error {
			return Stamped(h.Get("Stripe-Signature"), "v1", []byte(body), now, Tolerance, [][]byte{other, []byte("whsec_test")})
		}},
	}
}

func TestSchemes(t *testing.T) {
	t.Parallel()
	for _, r := range requests(t) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if err := r.check(r.header, body, signedAt); err != nil {
				t.Errorf("the known signature: %v", err)
			}
			t.Run("W2 other bytes of the same content are not authentic", func(t *testing.T) {
				for _, other := range []string{strings.Replace(body, ":", ": ", 1), body + "\n", strings.Replace(body, "r1", "r2", 1), "", body[:20]} {
					if err := r.check(r.header, other, signedAt); !errors.Is(err, ErrWrong) {
						t.Errorf("%q gives %v", other, err)
					}
				}
			})
			t.Run("W3 signatures are read strictly", func(t *testing.T) {
				name, value := "", ""
				for k := range r.header {
					if strings.Contains(k, "Signature") {
						name, value = k, r.header.Get(k)
					}
				}
				for _, bad := range []string{value + " x", value[:len(value)-4], value + "00", strings.ToUpper(value[:6]) + "!" + value[7:], value[:len(value)-2] + " =", ""} {
					h := r.header.Clone()
					h.Set(name, bad)
					if err := r.check(h, body, signedAt); err == nil && bad != value+" x" {
						t.Errorf("%q is taken", bad)
					}
				}
			})
			t.Run("W4 five minutes off to either side, and no second more", func(t *testing.T) {
				for off, ok := range map[time.Duration]bool{300 * time.Second: true, -300 * time.Second: true, 301 * time.Second: false, -301 * time.Second: false} {
					if err := r.check(r.header, body, signedAt.Add(off)); (err == nil) != ok {
						t.Errorf("%s off gives %v", off, err)
					}
				}
			})
			t.Run("W6 every header is needed", func(t *testing.T) {
				for name := range r.header {
					h := r.header.Clone()
					h.Del(name)
					if err := r.check(h, body, signedAt); !errors.Is(err, ErrMissing) {
						t.Errorf("without %s: %v", name, err)
					}
				}
			})
		})
	}
}

func TestHex(t *testing.T) {
	t.Parallel()
	secrets := [][]byte{[]byte("another"), []byte("octosecret")}
	if err := SHA256(github, []byte(body), secrets); err != nil {
		t.Errorf("the known signature: %v", err)
	}
	for _, bad := range []string{"", github[7:], "sha1=" + github[7:], github[:len(github)-1], "sha256=", github + " "} {
		if err := SHA256(bad, []byte(body), secrets); !errors.Is(err, ErrMissing) {
			t.Errorf("W3 %q gives %v", bad, err)
		}
	}
	for _, other := range []string{body + "\n", body[:20], ""} {
		if err := SHA256(github, []byte(other), secrets); !errors.Is(err, ErrWrong) {
			t.Errorf("W2 %q gives %v", other, err)
		}
	}
	t.Run("milliseconds, another version, several signatures, a longer tolerance", func(t *testing.T) {
		t.Parallel()
		// HMAC-SHA256 of 1700000000000.{"event":"run.done","id":"r1"} by whsec_test.
		mac := hmac.New(sha256.New, []byte("whsec_test"))
		mac.Write([]byte("1700000000000." + body))
		given := "t=1700000000000, v0=00ff, v0=" + hex.EncodeToString(mac.Sum(nil))
		check := func(version string, now time.Time) error {
			return Stamped(given, version, []byte(body), now, LongTolerance, [][]byte{[]byte("whsec_test")})
		}
		if err := check("v0", signedAt.Add(30*time.Minute)); err != nil {
			t.Error(err)
		}
		if err := check("v0", signedAt.Add(30*time.Minute+time.Second)); !errors.Is(err, ErrTime) {
			t.Error(err)
		}
		if err := check("v1", signedAt); !errors.Is(err, ErrMissing) {
			t.Error(err)
		}
	})
}

func TestRotation(t *testing.T) {
	t.Parallel()
	old, fresh, third := []byte(strings.Repeat("a", 32)), []byte(strings.Repeat("b", 32)), []byte(strings.Repeat("c", 32))
	h := http.Header{}
	Sign(h, "msg_2", signedAt, []byte(body), fresh, old)
	h.Set(HeaderSignature, "v2,abc v0,x "+h.Get(HeaderSignature)+" v1,!")
	t.Run("W5 any signature by any active secret will do, unknown versions are passed over", func(t *testing.T) {
		for _, secrets := range [][][]byte{{old}, {fresh}, {third, old}} {
			if id, err := Standard(h, []byte(body), signedAt, secrets); err != nil || id != "msg_2" {
				t.Error(id, err)
			}
		}
		if _, err := Standard(h, []byte(body), signedAt, [][]byte{third}); !errors.Is(err, ErrWrong) {
			t.Errorf("a secret that signed nothing: %v", err)
		}
	})
	t.Run("the known signature is made", func(t *testing.T) {
		secret, _ := ParseSecret(whsec)
		h := http.Header{}
		if Sign(h, "msg_1", signedAt, []byte(body), secret); h.Get(HeaderSignature) != standardV1 {
			t.Error(h)
		}
	})
	t.Run("secrets", func(t *testing.T) {
		made, err := NewSecret(old)
		if raw, err2 := ParseSecret(made); err != nil || err2 != nil || string(raw) != string(old) {
			t.Error(made, err, err2)
		}
		for _, bad := range []string{"", "whsec_", "whsec_AAECAw==", "whsec_" + strings.Repeat("A", 100), whsec + "\n"} {
			if _, err := ParseSecret(bad); err == nil {
				t.Errorf("%q is taken", bad)
			}
		}
	})
}

func TestKeys(t *testing.T) {
	t.Parallel()
	now, fetches, document := signedAt, 0, jwks
	keys := &Keys{Now: func() time.Time { return now }, Fetch: func(context.Context) ([]byte, error) {
		fetches++
		return []byte(document), nil
	}}
	seed, _ := hex.DecodeString(strings.Repeat("42", ed25519.SeedSize))
	private := ed25519.NewKeyFromSeed(seed)
	verify := func(key ed25519.PrivateKey) error {
		stamp := strconv.FormatInt(now.Unix(), 10)
		h := header("X-Fal-Webhook-Request-Id", "r", "X-Fal-Webhook-User-Id", "u", "X-Fal-Webhook-Timestamp", stamp)
		// The sum of the empty body.
		text := "r\nu\n" + stamp + "\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
		h.Set("X-Fal-Webhook-Signature", hex.EncodeToString(ed25519.Sign(key, []byte(text))))
		return keys.Verify(t.Context(), func(keys ...ed25519.PublicKey) error {
			_, err := Fal(h, nil, now, keys...)
			return err
		})
	}
	known := make([]byte, ed25519.SeedSize)
	for i := range known {
		known[i] = byte(i)
	}
	if err := verify(ed25519.NewKeyFromSeed(known)); err != nil || fetches != 1 {
		t.Fatal(err, fetches)
	}
	for range 5 {
		if err := verify(private); !errors.Is(err, ErrWrong) {
			t.Errorf("a stranger's key: %v", err)
		}
	}
	if fetches != 1 {
		t.Errorf("a stranger made us fetch the keys %d times within a minute", fetches)
	}
	now = now.Add(keysPause)
	document = `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + base64.RawURLEncoding.EncodeToString(private.Public().(ed25519.PublicKey)) + `"}]}`
	if err := verify(private); err != nil || fetches != 2 {
		t.Errorf("a new key of the service: %v after %d fetches", err, fetches)
	}
	if err := verify(private); err != nil || fetches != 2 {
		t.Errorf("within a day: %v after %d fetches", err, fetches)
	}
	now = now.Add(keysLive)
	if err := verify(private); err != nil || fetches != 3 {
		t.Errorf("after a day: %v after %d fetches", err, fetches)
	}
	now, document = now.Add(keysLive), "<html>"
	if err := verify(private); err == nil {
		t.Error("keys that are no JWKS are taken")
	}
}
