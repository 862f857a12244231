package router

import (
	"context"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat/turn"
)

// What a mute leaves of the bot's own commands and of the words that buttons carry: looking, taking with one, taking back, leaving, looking
// after a chat, and what begins runs, which is refused where runs are accepted. What is not among them reaches others or asks a model.
// docs/people.md tells of it.
var (
	muteLeavesCommands = strings.Fields(`
		start help tools run last settings balance redeem wallet history cancel preset link language chatsettings deny allow
		delete_my_data why price export report reports appeal again batch chains forget paysupport terms privacy`)
	muteLeavesPresses = strings.Fields(`
		again vary weaker stronger u v others front next swap edit edited retry settings original receipt delete show follow missed stop
		confirm stop# no c pic tool list hist older set val page reset more back ask askfrom close use with said better mine inline
		pdefault join merge unlink leave lang langs preset erase wallet wpays wclose wclosed ppage ptool padult pagent preach formall
		formset setform vals form answer q qyes qno qskip qform qanswer rep repgone repfine mgo mno mstop mfailed legyes legno chdel
		askstop askyes askno`)
)

// muted tells a sender who is muted so, unless what they do, a command or the word of a button, is in a list.
func muted(ctx context.Context, t *turn.Turn, what string, leaves []string) (bool, error) {
	if slices.Contains(leaves, strings.ToLower(what)) {
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
