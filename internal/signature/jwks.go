package signature

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	keysLive  = 24 * time.Hour
	keysPause = time.Minute // between two fetches, whatever is sent to us
)

// Keys are a service's public keys, fetched from its JWKS address and kept for a day. When a signature fits none of them the
// service may have new ones: they are fetched again, at most once a minute.
type Keys struct {
	// Fetch gives the JWKS document; it bounds what it reads.
	Fetch func(ctx context.Context) ([]byte, error)
	Now   func() time.Time // the clock

	mu      sync.Mutex
	keys    []ed25519.PublicKey
	fetched time.Time // keys
	tried   time.Time
}

// Verify calls check with the keys, and once more with fresh ones where they could help.
func (k *Keys) Verify(ctx context.Context, check func(keys ...ed25519.PublicKey) error) error {
	keys, err := k.get(ctx, keysLive)
	if err != nil {
		return err
	}
	if err = check(keys...); !errors.Is(err, ErrWrong) {
		return err
	}
	fresh, fetchErr := k.get(ctx, keysPause)
	if fetchErr != nil {
		return errors.Join(err, fetchErr)
	}
	return check(fresh...)
}

// get gives keys that are not older than age, unless it is too soon to fetch them again.
func (k *Keys) get(ctx context.Context, age time.Duration) ([]ed25519.PublicKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.Now()
	if young := now.Sub(k.fetched) < age; young && k.keys != nil {
		return k.keys, nil
	}
	if now.Sub(k.tried) < keysPause {
		if k.keys == nil || now.Sub(k.fetched) >= keysLive {
			return nil, errors.New("the service's public keys could not be fetched a moment ago")
		}
		return k.keys, nil
	}
	k.tried = now
	raw, err := k.Fetch(ctx)
	if err != nil {
		return nil, fmt.Errorf("fetch the service's public keys: %w", err)
	}
	keys, err := parseKeys(raw)
	if err != nil {
		return nil, err
	}
	k.keys, k.fetched = keys, now
	return keys, nil
}

// parseKeys reads the Ed25519 keys of a JWKS document (RFC 7517, RFC 8037); others are passed over.
func parseKeys(raw []byte) ([]ed25519.PublicKey, error) {
	var set struct {
		Keys []struct {
			Type  string `json:"kty"`
			Curve string `json:"crv"`
			X     string `json:"x"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, fmt.Errorf("the service's public keys are no JWKS: %w", err)
	}
	var keys []ed25519.PublicKey
	for _, k := range set.Keys {
		x, err := base64.RawURLEncoding.Strict().DecodeString(k.X)
		if k.Type == "OKP" && k.Curve == "Ed25519" && err == nil && len(x) == ed25519.PublicKeySize {
			keys = append(keys, x)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the service's JWKS has no Ed25519 key")
	}
	return keys, nil
}
