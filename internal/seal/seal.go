// Package seal encrypts small secrets for the database.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
)

// Sealer encrypts by AES-256-GCM with a fresh random nonce, which stands before the text.
type Sealer struct{ gcm cipher.AEAD }

// New makes a Sealer of a key of 32 bytes.
func New(key []byte) (Sealer, error) {
	if len(key) != 32 {
		return Sealer{}, fmt.Errorf("the key of the secrets has %d bytes, expected 32", len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return Sealer{}, err
	}
	gcm, err := cipher.NewGCM(block)
	return Sealer{gcm}, err
}

// Close encrypts a secret for its owner: it can't be opened as another's.
func (s Sealer) Close(secret []byte, owner string) []byte {
	nonce := make([]byte, s.gcm.NonceSize())
	rand.Read(nonce) // never fails
	return s.gcm.Seal(nonce, nonce, secret, []byte(owner))
}

// Open decrypts what Close gave for the same owner.
func (s Sealer) Open(sealed []byte, owner string) ([]byte, error) {
	if len(sealed) < s.gcm.NonceSize() {
		return nil, errors.New("a stored secret is cut off")
	}
	secret, err := s.gcm.Open(nil, sealed[:s.gcm.NonceSize()], sealed[s.gcm.NonceSize():], []byte(owner))
	if err != nil {
		return nil, errors.New("a stored secret can't be decrypted: it is damaged, or was encrypted with another key than HOUSE_KEY or DATA_DIR/link.key")
	}
	return secret, nil
}
