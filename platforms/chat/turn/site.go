package turn

import (
	"context"
	"encoding/json"
)

// Site is a site that is run by tools, in the name of accounts.
type Site interface {
	// Role is what an account may do in the site: owner, editor, author or none.
	Role(ctx context.Context, accountID string) (string, error)
	// Use carries out a tool and gives its answer, a JSON object. Anyone who may not use it gets a *registry.Error with
	// CodeUnauthorized.
	Use(ctx context.Context, accountID, tool string, inputs map[string]any) (json.RawMessage, error)
}

// NoRole is the role in a site of anyone who has none.
const NoRole = "none"
