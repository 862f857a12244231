package webhooks

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"io"
)

// sealer encrypts secrets for the database, by AES-256-GCM with a fresh nonce before the text.
type sealer struct{ cipher.AEAD }

func newSealer(key []byte) (sealer, error) {
	if len(key) != 32 {
		return sealer{}, fmt.Errorf("the key of the secrets has %d bytes, expected 32", len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, err
	}
	gcm, err := cipher.NewGCM(block)
	return sealer{gcm}, err
}

// close encrypts a secret for its owner: it can't be opened as another's.
func (s sealer) close(random io.Reader, secret []byte, owner string) ([]byte, error) {
	nonce := make([]byte, s.NonceSize())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return nil, fmt.Errorf("encrypt a secret: %w", err)
	}
	return s.Seal(nonce, nonce, secret, []byte(owner)), nil
}

func (s sealer) open(sealed []byte, owner string) ([]byte, error) {
	if len(sealed) < s.NonceSize() {
		return nil, errors.New("a stored secret is cut off")
	}
	secret, err := s.AEAD.Open(nil, sealed[:s.NonceSize()], sealed[s.NonceSize():], []byte(owner))
	if err != nil {
		return nil, errors.New("a stored secret can't be decrypted: it was encrypted with another key (DATA_DIR/link.key), so the endpoint's secret must be rotated")
	}
	return secret, nil
}
