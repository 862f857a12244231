package discord

import (
	"testing"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

func TestIntroduce(t *testing.T) {
	t.Parallel()
	b := newBench(t, discordtest.Options{})
	for _, text := range []string{"what it is for", "another text"} {
		if err := b.a.Introduce(t.Context(), []chat.Introduction{{Long: text}}); err != nil {
			t.Fatal(err)
		}
		if got := b.server.Description(); got != "what it is for" { // what is there stays
			t.Errorf("the description is %q", got)
		}
	}
}
