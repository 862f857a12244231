package users

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// keyPrefix makes our keys recognisable, to people and to scanners for leaked secrets.
const keyPrefix = "sbx_"

// CreateKey makes an API key of the account and returns it. It can't be read again: only its hash is
// stored. The label is for the owner.
func (s *Store) CreateKey(ctx context.Context, accountID, label string) (plaintext string, err error) {
	secret := make([]byte, 32)
	if _, err := io.ReadFull(s.config.Random, secret); err != nil {
		return "", fmt.Errorf("create an API key: %w", err)
	}
	plaintext = keyPrefix + hex.EncodeToString(secret)
	_, err = s.pool.Exec(ctx, `INSERT INTO user_keys (hash, user_id, label) VALUES ($1, $2, $3)`, hashOf(plaintext), accountID, cleanText(label))
	if err != nil {
		return "", fmt.Errorf("create an API key: %w", err)
	}
	return plaintext, nil
}

// ByKey gives the account behind an API key, or ErrNotFound.
func (s *Store) ByKey(ctx context.Context, plaintext string) (Account, error) {
	if !strings.HasPrefix(plaintext, keyPrefix) {
		return Account{}, fmt.Errorf("API key: %w", ErrNotFound)
	}
	account, err := one(s.pool.Query(ctx, `
		SELECT `+accountColumns+` FROM user_keys k JOIN users u ON u.id = k.user_id WHERE k.hash = $1`, hashOf(plaintext)))
	if err != nil {
		return Account{}, fmt.Errorf("API key: %w", err)
	}
	return account, nil
}

// hashOf needs no salt and no slowness: a key holds 256 random bits.
func hashOf(plaintext string) []byte {
	sum := sha256.Sum256([]byte(plaintext))
	return sum[:]
}
