package router

import (
	"context"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat/turn"
)

// What a mute stops of the bot's own commands and of the words that buttons carry: what reaches others or asks a model. Tools and whatever
// begins a run are refused where runs are accepted; docs/people.md tells of both.
var (
	muteStopsCommands = strings.Fields("buy sponsor party improve save post site")
	muteStopsPresses  = strings.Fields("buy wsponsor wparty style chshare site slist sopen sback spub sedit sfield sedited sdel sgone stools stool sopt place into")
)

// muted tells a sender who is muted so, where what they do, a command or the word of a button, is in a list.
func muted(ctx context.Context, t *turn.Turn, what string, stops []string) (bool, error) {
	if !slices.Contains(stops, strings.ToLower(what)) {
		return false, nil
	}
	return mutedAtAll(ctx, t)
}

func mutedAtAll(ctx context.Context, t *turn.Turn) (bool, error) {
	if err := t.Services.Accounts.MayRun(ctx, t.Account.ID); err != nil {
		return true, t.Refused(ctx, err)
	}
	return false, nil
}
