package users

import (
	"context"
	"fmt"
)

// ByIdentity gives the account of a person that has come by a platform before, or ErrNotFound. Unlike
// Identify it makes none.
func (s *Store) ByIdentity(ctx context.Context, platform, externalID string) (Account, error) {
	account, err := one(s.pool.Query(ctx, `
		SELECT `+accountColumns+` FROM user_identities i JOIN users u ON u.id = i.user_id
		WHERE i.platform = $1 AND i.external_id = $2`, platform, externalID))
	if err != nil {
		return Account{}, fmt.Errorf("%s user %s: %w", platform, externalID, err)
	}
	return account, nil
}
