package missions

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/signalbox/signalbox/registry"
)

// sum is the SHA-256 of a value's canonical JSON, in hex: the order of keys does not change it, any value does.
func sum(value any) (string, error) {
	canonical, err := registry.CanonicalJSON(value)
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(canonical)
	return hex.EncodeToString(digest[:]), nil
}

// Hash is what is confirmed: over the hashes of all legs as shown, with their order and dependencies, and over the totals.
func (d Document) Hash() (string, error) {
	type leg struct {
		Order     int    `json:"order"`
		DependsOn []int  `json:"dependsOn"`
		Hash      string `json:"hash"`
	}
	legs := make([]leg, len(d.Legs))
	for i, one := range d.Legs {
		hash, err := sum(one)
		if err != nil {
			return "", err
		}
		legs[i] = leg{one.Order, one.DependsOn, hash}
	}
	return sum(map[string]any{"title": d.Title, "currency": d.Currency, "escalationUrl": d.EscalationURL, "totals": d.Totals, "independent": d.Independent, "legs": legs})
}
