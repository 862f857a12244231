package assets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// refScheme starts every reference.
const refScheme = "asset:"

// Ref names stored content: "asset:" and the SHA-256 of the bytes in lower-case
// hex. It says nothing about where the content is, so it stays valid when the
// content moves. Anyone who has a Ref may read the content: check who asks before.
type Ref string

// ParseRef checks that s is a well-formed reference. The content need not exist.
func ParseRef(s string) (Ref, error) {
	digest, found := strings.CutPrefix(s, refScheme)
	if !found || !isHash(digest) {
		return "", fmt.Errorf("%.80q is no asset reference: want %s and 64 lower-case hex digits", s, refScheme)
	}
	return Ref(s), nil
}

// Hash returns the SHA-256 in hex, 64 digits. It is the name under which
// backends keep the content.
func (r Ref) Hash() string { return strings.TrimPrefix(string(r), refScheme) }

func refOf(hash string) Ref { return Ref(refScheme + hash) }

// isHash reports whether s is exactly one digest; anything else must not reach
// a file name.
func isHash(s string) bool {
	if len(s) != hex.EncodedLen(sha256.Size) {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}
