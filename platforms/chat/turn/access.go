package turn

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Offered lists the tools that this person can be offered in this chat.
func (t *Turn) Offered() []*registry.Tool {
	return slices.DeleteFunc(slices.Clone(t.Tools.Offered(t.Audience())), func(tool *registry.Tool) bool {
		return input.IsAdult(tool) && !t.adultsOnly() || !tool.InMenus()
	})
}

// adultsOnly reports whether what is for adults may be shown in this chat, whatever its admins say.
func (t *Turn) adultsOnly() bool {
	return t.In.Chat.Kind == chat.ChatPrivate || t.In.Chat.AgeRestricted
}

// Barred says why this person may not use a tool here, or nil.
func (t *Turn) Barred(ctx context.Context, tool *registry.Tool) (chat.Text, error) {
	who := users.Subject{
		AccountID: t.Account.ID, Operator: t.Account.Operator, Platform: t.In.Platform, ExternalID: t.In.From.ExternalID,
		Chat: t.In.Chat.Rules(), Space: t.In.Chat.Space, Roles: t.In.Roles,
	}
	decision, err := t.Services.Accounts.Check(ctx, who, tool.ToolID)
	if err != nil {
		return nil, fmt.Errorf("check the access to %s: %w", tool.ToolID, err)
	}
	if !decision.Allowed {
		return t.Say.Text("access."+string(decision.Reason), "tool", tool.DisplayName), nil
	}
	if !input.IsAdult(tool) || t.adultsOnly() {
		return nil, nil
	}
	allowed, err := t.adultAllowed(ctx)
	if err != nil || allowed {
		return nil, err
	}
	return t.Say.Text("access.adult", "tool", tool.DisplayName), nil
}

// adultAllowed reports whether those who run the chat, or its space, allowed what is for adults.
func (t *Turn) adultAllowed(ctx context.Context) (bool, error) {
	allowed, err := t.AdultIn(ctx, t.ChatPlace())
	if err != nil || allowed || t.In.Chat.Space == "" {
		return allowed, err
	}
	return t.AdultIn(ctx, users.Place{Platform: t.In.Platform, Kind: users.PlaceSpace, ID: t.In.Chat.Space})
}

// AdultIn reports whether a place is set to show what is for adults.
func (t *Turn) AdultIn(ctx context.Context, place users.Place) (bool, error) {
	values, err := t.Services.Accounts.PlacePreferences(ctx, place, registry.Tool{ToolID: ChatSettings})
	if err != nil {
		return false, fmt.Errorf("read a chat's settings: %w", err)
	}
	return values[AdultSetting] == true, nil
}

// DefaultIn is the tool that admins chose for words without a command in a place, or "".
func (t *Turn) DefaultIn(ctx context.Context, place users.Place) (toolID string, err error) {
	values, err := t.Services.Accounts.PlacePreferences(ctx, place, registry.Tool{ToolID: ChatSettings})
	if err != nil {
		return "", fmt.Errorf("read a chat's settings: %w", err)
	}
	toolID, _ = values[DefaultToolSetting].(string)
	return toolID, nil
}

// AgentIn reports whether words said in a place are for the agent, as they are where its admins have not said otherwise.
func (t *Turn) AgentIn(ctx context.Context, place users.Place) (bool, error) {
	values, err := t.Services.Accounts.PlacePreferences(ctx, place, registry.Tool{ToolID: ChatSettings})
	if err != nil {
		return false, fmt.Errorf("read a chat's settings: %w", err)
	}
	return values[AgentSetting] != false, nil
}

// ChatPlace is the chat of the update, as a place that its admins set things for.
func (t *Turn) ChatPlace() users.Place {
	return users.Place{Platform: t.In.Platform, Kind: users.PlaceChat, ID: t.In.Chat.Rules()}
}

// ByAdmin reports whether the sender runs the group, as far as the platform tells.
func (t *Turn) ByAdmin(ctx context.Context) bool {
	teller, ok := t.Out.Adapter.(chat.AdminTeller)
	switch {
	case t.In.Chat.Kind == chat.ChatPrivate:
		return false
	case t.In.Admin || !ok:
		return t.In.Admin
	}
	wait := adminWait
	if t.In.Press != nil {
		wait = adminWaitOfPress
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	admin, err := teller.IsAdmin(ctx, t.In.Incoming)
	if err != nil {
		t.Services.Log.DebugContext(ctx, "nobody knows whether this is an admin", "chat", t.In.Chat.Chat, "error", err)
	}
	return admin && err == nil
}

// How long it may take to learn who sent a message, and who pressed a button, which must be answered within a second.
const (
	adminWait        = 10 * time.Second
	adminWaitOfPress = 700 * time.Millisecond
)

// Owns reports whether the buttons are this person's, also when they were made before accounts were joined.
func (t *Turn) Owns(ctx context.Context, k store.Keyboard) bool {
	if k.AccountID == t.Account.ID {
		return true
	}
	owner, err := t.Services.Accounts.ByID(ctx, k.AccountID)
	return err == nil && owner.ID == t.Account.ID
}

// RunsHere reports whether the sender runs the group, or the house.
func (t *Turn) RunsHere(ctx context.Context) bool { return t.Account.Operator || t.ByAdmin(ctx) }

// RunsChat reports whether the sender runs this group; others were told.
func (t *Turn) RunsChat(ctx context.Context) (bool, error) {
	if t.In.Chat.Kind == chat.ChatPrivate {
		return false, t.Tell(ctx, "place.groupsOnly")
	}
	if !t.RunsHere(ctx) {
		return false, t.Tell(ctx, "place.adminsOnly")
	}
	return true, nil
}

// ReadByOthers reports whether an answer that is meant for the person is seen by everybody in the chat.
func (t *Turn) ReadByOthers() bool {
	return t.In.Chat.Kind != chat.ChatPrivate && !t.Out.Caps.Ephemeral
}

// What admins set for a chat as such is kept like the settings of a tool that no loader has.
const (
	ChatSettings       = "-chat"
	AdultSetting       = "adult"
	DefaultToolSetting = "defaultTool"
	AgentSetting       = "agent" // false: words are not for the agent here
)
