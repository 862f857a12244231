package router

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// scope is whose settings a view shows: a person's own or, with a place, those of all in a chat.
type scope struct {
	t     *turn
	place users.Place
}

// scopeOf gives the settings that a view is about.
func scopeOf(t *turn, view store.SettingsView) scope { return scope{t, view.Place} }

func (s scope) read(ctx context.Context, tool *registry.Tool) (values map[string]any, err error) {
	if s.place == (users.Place{}) {
		values, err = s.t.svc.Accounts.PreferencesFor(ctx, s.t.account.ID, *tool)
	} else {
		values, err = s.t.svc.Accounts.PlacePreferences(ctx, s.place, *tool)
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings of %s: %w", tool.ToolID, err)
	}
	return values, nil
}

func (s scope) set(ctx context.Context, tool *registry.Tool, field string, value any) (err error) {
	if s.place == (users.Place{}) {
		err = s.t.svc.Accounts.SetPreference(ctx, s.t.account.ID, tool.ToolID, field, value)
	} else {
		err = s.t.svc.Accounts.SetPlacePreference(ctx, s.place, tool.ToolID, field, value, s.t.account.ID)
	}
	if err != nil {
		return fmt.Errorf("store a setting: %w", err)
	}
	return nil
}

func (s scope) reset(ctx context.Context, tool *registry.Tool, field string) (err error) {
	if s.place == (users.Place{}) {
		err = s.t.svc.Accounts.ResetPreference(ctx, s.t.account.ID, tool.ToolID, field)
	} else {
		err = s.t.svc.Accounts.ResetPlacePreference(ctx, s.place, tool.ToolID, field, s.t.account.ID)
	}
	if err != nil {
		return fmt.Errorf("reset a setting: %w", err)
	}
	return nil
}

func (s scope) resetAll(ctx context.Context, tool *registry.Tool) (err error) {
	if s.place == (users.Place{}) {
		err = s.t.svc.Accounts.ResetPreferences(ctx, s.t.account.ID, tool.ToolID)
	} else {
		err = s.t.svc.Accounts.ResetPlacePreferences(ctx, s.place, tool.ToolID, s.t.account.ID)
	}
	if err != nil {
		return fmt.Errorf("reset the settings of %s: %w", tool.ToolID, err)
	}
	return nil
}

// place is the chat of the update, as a place that its admins set things for.
func (t *turn) place() users.Place {
	return users.Place{Platform: t.in.platform, Kind: users.PlaceChat, ID: t.in.Chat.Chat}
}
