package discord

import (
	"testing"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

func TestMember(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ann, ben, cleo, dora := h.server.User("Ann"), h.server.User("Ben"), h.server.User("Cleo"), h.server.User("Dora")
	guild := h.server.Guild("Makers", ann, ben, cleo, dora)
	guild.Give(cleo, guild.Role("admin", discordtest.ManageGuild))
	guild.Remove(dora)
	a, channel := h.adapter(t), guild.Text("general")
	for _, tc := range []struct {
		who      *discordtest.User
		in, runs bool
	}{{ann, true, true}, {ben, true, false}, {cleo, true, true}, {dora, false, false}} { // the first owns it
		if in, runs, err := a.Member(t.Context(), channel.ID(), tc.who.ID()); in != tc.in || runs != tc.runs || err != nil {
			t.Errorf("%s: %v, %v, %v", tc.who.ID(), in, runs, err)
		}
	}
	for _, place := range []string{"1", "x/../y"} {
		if in, _, err := a.Member(t.Context(), place, ben.ID()); in || err == nil {
			t.Errorf("channel %s: %v, %v", place, in, err)
		}
	}
}
