package turn

import (
	"context"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Accounts is what the Router needs of the users' store; *users.Store is one.
type Accounts interface {
	Identify(ctx context.Context, id users.Identity) (users.Account, error)
	ByID(ctx context.Context, accountID string) (users.Account, error)
	NameOf(ctx context.Context, platform, externalID string) (string, error)
	SetLanguage(ctx context.Context, accountID, language string) error
	Erase(ctx context.Context, accountID, by string) error

	Spending
	Preferences
	PlacePreferences
	Presets
	Links
	Gate
}

// Spending is above which share of their credit people are asked before a run.
type Spending interface {
	LimitSettings(ctx context.Context, accountID string) (users.LimitSettings, error)
	SetConfirmPercent(ctx context.Context, accountID string, percent int) error
}

// Preferences are what people set for themselves.
type Preferences interface {
	PreferencesFor(ctx context.Context, accountID string, tool registry.Tool) (map[string]any, error)
	SetPreference(ctx context.Context, accountID, toolID, field string, value any) error
	ResetPreference(ctx context.Context, accountID, toolID, field string) error
	ResetPreferences(ctx context.Context, accountID, toolID string) error
}

// PlacePreferences are what those who run a chat or its space set for all in it.
type PlacePreferences interface {
	ChatPreferences(ctx context.Context, platform, chat, space string, tool registry.Tool) (map[string]any, error)
	PlacePreferences(ctx context.Context, place users.Place, tool registry.Tool) (map[string]any, error)
	SetPlacePreference(ctx context.Context, place users.Place, toolID, field string, value any, by string) error
	ResetPlacePreference(ctx context.Context, place users.Place, toolID, field, by string) error
	ResetPlacePreferences(ctx context.Context, place users.Place, toolID, by string) error
}

// Presets are sets of values that people keep under a name.
type Presets interface {
	Presets(ctx context.Context, accountID string, tool registry.Tool) ([]users.Preset, error)
	PresetTools(ctx context.Context, accountID string) ([]string, error)
	Preset(ctx context.Context, accountID string, tool registry.Tool, name string) (users.Preset, error)
	SavePreset(ctx context.Context, accountID, toolID, name string, values map[string]any) error
	DeletePreset(ctx context.Context, accountID, toolID, name string) error
}

// Links join what one person is on several platforms.
type Links interface {
	Identities(ctx context.Context, accountID string) ([]users.LinkedIdentity, error)
	NewLinkCode(ctx context.Context, accountID string) (users.LinkCode, error)
	PeekLinkCode(ctx context.Context, guesser, code string) (users.Account, error)
	RedeemLinkCode(ctx context.Context, accountID, code string) (users.Merged, error)
	Unlink(ctx context.Context, accountID, platform, externalID string) (users.Account, error)
}

// Gate says who may use what, and where.
type Gate interface {
	Check(ctx context.Context, who users.Subject, toolID string) (users.Decision, error)
	MayRun(ctx context.Context, accountID string) error
	AllowedTools(ctx context.Context, place users.Place) ([]string, error)
	SetAllowedTools(ctx context.Context, place users.Place, toolIDs []string, by string) error
	Rules(ctx context.Context, where users.Place) ([]users.Rule, error)
	SetRule(ctx context.Context, rule users.Rule) error
	DeleteRule(ctx context.Context, id int64, by string) error
}
