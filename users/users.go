// Package users is people: accounts, their identities on the platforms, preferences, API keys.
package users

import "time"

// Account is one person, whatever platforms they come from.
type Account struct {
	ID          string // UUID
	DisplayName string
	Language    string // BCP 47, empty: unknown
	Operator    bool
	CreatedAt   time.Time
}

// Identity is a person as one platform knows them.
type Identity struct {
	Platform   string // telegram, discord, web, api
	ExternalID string // the platform's own stable id
	Name       string
	Language   string
}
