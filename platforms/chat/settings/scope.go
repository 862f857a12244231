package settings

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// scope is whose settings a view shows: a person's own or, with a place, those of all in a chat.
type scope struct {
	t     *turn.Turn
	place users.Place
}

// scopeOf gives the settings that a view is about.
func scopeOf(t *turn.Turn, view store.SettingsView) scope { return scope{t, view.Place} }

func (s scope) read(ctx context.Context, tool *registry.Tool) (values map[string]any, err error) {
	if s.place == (users.Place{}) {
		values, err = s.t.Services.Accounts.PreferencesFor(ctx, s.t.Account.ID, *tool)
	} else {
		values, err = s.t.Services.Accounts.PlacePreferences(ctx, s.place, *tool)
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings of %s: %w", tool.ToolID, err)
	}
	return values, nil
}

func (s scope) set(ctx context.Context, tool *registry.Tool, field string, value any) (err error) {
	if s.place == (users.Place{}) {
		err = s.t.Services.Accounts.SetPreference(ctx, s.t.Account.ID, tool.ToolID, field, value)
	} else {
		err = s.t.Services.Accounts.SetPlacePreference(ctx, s.place, tool.ToolID, field, value, s.t.Account.ID)
	}
	return errs.Wrap(err, "store a setting")
}

func (s scope) reset(ctx context.Context, tool *registry.Tool, field string) (err error) {
	if s.place == (users.Place{}) {
		err = s.t.Services.Accounts.ResetPreference(ctx, s.t.Account.ID, tool.ToolID, field)
	} else {
		err = s.t.Services.Accounts.ResetPlacePreference(ctx, s.place, tool.ToolID, field, s.t.Account.ID)
	}
	return errs.Wrap(err, "reset a setting")
}

func (s scope) resetAll(ctx context.Context, tool *registry.Tool) (err error) {
	if s.place == (users.Place{}) {
		err = s.t.Services.Accounts.ResetPreferences(ctx, s.t.Account.ID, tool.ToolID)
	} else {
		err = s.t.Services.Accounts.ResetPlacePreferences(ctx, s.place, tool.ToolID, s.t.Account.ID)
	}
	return errs.Wrap(err, "reset the settings of %s", tool.ToolID)
}
