// Package sitedesk lets chats work on the site: it stands between what they ask for and the site's tools.
package sitedesk

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

// Desk is the house's site for chats. All members are required.
type Desk struct {
	Tools *content.Provider
	Store *store.Store
	Media registry.MediaOpener
}

var _ turn.Site = Desk{}

// Role is what an account may do in the house's site.
func (d Desk) Role(ctx context.Context, accountID string) (string, error) {
	house, err := d.Store.Site(ctx, store.House)
	if err != nil {
		return "", err
	}
	role, err := d.Tools.Role(ctx, house, accountID)
	return string(role), err
}

// Use carries out a tool of the site.
func (d Desk) Use(ctx context.Context, accountID, tool string, inputs map[string]any) (json.RawMessage, error) {
	answer, err := d.Tools.Use(ctx, accountID, tool, inputs, d.Media)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("answer of %s: %w", tool, err)
	}
	return raw, nil
}

// Works reports whether an account has a role in the site.
func (d Desk) Works(ctx context.Context, accountID string) (bool, error) {
	role, err := d.Role(ctx, accountID)
	return role != turn.NoRole, err
}
