package users

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres"
)

// ErrNoInvitation says that there is no such invitation, or that it was used, revoked or has expired.
var ErrNoInvitation = errors.New("this invitation is not valid, or no longer")

// Invitation is a one-time link by which an operator lets somebody in.
type Invitation struct {
	ID        string
	By        string // account id of who invited, or what else acted for the operator
	Note      string // for whom it is; the guest sees it
	Credit    int64  // nano-dollars that come with it
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    *time.Time
	UsedBy    string // account id; empty: nobody yet
	RevokedAt *time.Time
}

// Invitations keeps them. Make it with NewInvitations.
type Invitations struct {
	store *Store
	grant func(ctx context.Context, tx pgx.Tx, accountID string, nanoUSD int64, key string) error
}

// NewInvitations keeps invitations beside the accounts of store. Grant gives an invitation's credit, in
// the transaction that uses the invitation up; key is unique to it.
func NewInvitations(store *Store, grant func(ctx context.Context, tx pgx.Tx, accountID string, nanoUSD int64, key string) error) *Invitations {
	return &Invitations{store: store, grant: grant}
}

const invitationColumns = `id::text AS id, by_whom AS by, note, credit, created_at, expires_at, used_at, coalesce(used_by::text, '') AS used_by, revoked_at`

// Create makes an invitation from By, Note, Credit and ExpiresAt, and returns the secret of its link, which can't
// be read again.
func (i *Invitations) Create(ctx context.Context, v Invitation) (secret string, made Invitation, err error) {
	random := make([]byte, 32)
	if _, err := io.ReadFull(i.store.config.Random, random); err != nil {
		return "", made, fmt.Errorf("invite: %w", err)
	}
	id, err := uuid.NewRandomFromReader(i.store.config.Random)
	if err != nil {
		return "", made, fmt.Errorf("invite: %w", err)
	}
	secret = base64.RawURLEncoding.EncodeToString(random)
	made, err = oneInvitation(i.store.pool.Query(ctx, `
		INSERT INTO user_invitations (id, hash, by_whom, note, credit, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
		RETURNING `+invitationColumns, id, hashOf(secret), v.By, cleanText(v.Note), v.Credit, v.ExpiresAt))
	if err != nil {
		return "", made, fmt.Errorf("invite: %w", err)
	}
	return secret, made, nil
}

// List gives the latest invitations, newest first.
func (i *Invitations) List(ctx context.Context) ([]Invitation, error) {
	const most = 200
	rows, err := i.store.pool.Query(ctx, `SELECT `+invitationColumns+` FROM user_invitations ORDER BY created_at DESC, id LIMIT $1`, most)
	if err != nil {
		return nil, fmt.Errorf("invitations: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Invitation])
}

// Revoke ends an invitation that nobody has used; ErrNoInvitation when there is none to end.
func (i *Invitations) Revoke(ctx context.Context, id string) error {
	if _, err := uuid.Parse(id); err != nil {
		return ErrNoInvitation
	}
	tag, err := i.store.pool.Exec(ctx, `UPDATE user_invitations SET revoked_at = now() WHERE id = $1 AND used_at IS NULL AND revoked_at IS NULL`, id)
	if err != nil {
		return fmt.Errorf("revoke an invitation: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNoInvitation
	}
	return nil
}

const openInvitation = ` AND used_at IS NULL AND revoked_at IS NULL AND expires_at > now()`

// Peek gives the open invitation of a link without using it, or ErrNoInvitation.
func (i *Invitations) Peek(ctx context.Context, secret string) (Invitation, error) {
	return oneInvitation(i.store.pool.Query(ctx, `SELECT `+invitationColumns+` FROM user_invitations WHERE hash = $1`+openInvitation, hashOf(secret)))
}

// Use uses an invitation up for an account and grants its credit; ErrNoInvitation when it is not open. Of
// many at once one wins.
func (i *Invitations) Use(ctx context.Context, secret, accountID string) (Invitation, error) {
	var used Invitation
	err := postgres.InTx(ctx, i.store.pool, func(tx pgx.Tx) (err error) {
		used, err = oneInvitation(tx.Query(ctx, `
			UPDATE user_invitations SET used_at = now(), used_by = $2 WHERE hash = $1`+openInvitation+` RETURNING `+invitationColumns, hashOf(secret), accountID))
		if err != nil || used.Credit == 0 {
			return err
		}
		return i.grant(ctx, tx, accountID, used.Credit, "invitation:"+used.ID)
	})
	return used, err
}

func oneInvitation(rows pgx.Rows, err error) (Invitation, error) {
	if err != nil {
		return Invitation{}, err
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Invitation])
	if errors.Is(err, pgx.ErrNoRows) {
		return v, ErrNoInvitation
	}
	return v, err
}
