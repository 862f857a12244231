package chains

import (
	"context"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
)

// ChainsCommand lists the person's chains, shows the one that is named, or has it ask others for a share: /chains poster share=10%.
func ChainsCommand(ctx context.Context, t *turn.Turn) error {
	name, asks, _ := strings.Cut(strings.TrimSpace(t.In.Text), " ")
	if name == "" {
		return list(ctx, t)
	}
	own, err := t.Services.Missions.Chains(ctx, t.Account.ID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(own, func(c missions.Chain) bool { return c.Command == commandOf(name) })
	if i < 0 {
		return t.Tell(ctx, "share.unknown", "command", chat.Brief(commandOf(name), 40))
	}
	c := own[i]
	if asks = strings.TrimPrefix(strings.TrimSpace(asks), "share="); asks != "" {
		if err := t.Services.Accounts.MayRun(ctx, t.Account.ID); err != nil { // a mute leaves the list only
			return t.Refused(ctx, err)
		}
		c.Share = strings.TrimSpace(asks)
		if c, err = t.Services.Missions.SaveChain(ctx, c); err != nil {
			return t.Refused(ctx, err)
		}
	}
	m, err := saved(ctx, t, t.Keyboard(store.KeyboardState{Chain: c.ID}), c)
	if err != nil {
		return err
	}
	return t.Respond(ctx, m)
}
