//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

// discordSpec starts a program that talks to a Discord server of the test and to a gated engine.
func discordSpec(dc *discordtest.Server, engine string) spec {
	return spec{plain: true, env: []string{
		"DISCORD_BOT_TOKEN=" + dc.Token, "DISCORD_APP_ID=" + dc.ApplicationID, "DISCORD_API_URL=" + dc.URL, "DISCORD_PUBLIC_KEY=" + dc.PublicKey,
		"COMFYUI_URLS=" + engine, "LOG_LEVEL=warn",
	}}
}

// TestDiscord is what people do on Discord, through the whole program.
func TestDiscord(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dc := discordtest.New(t, discordtest.Options{Patience: hang})
	ann, bob := dc.User("Ann"), dc.User("Bob")
	channel := dc.Guild("Studio", ann, bob).Text("general")
	g := newGate(t, startEngine(t))
	s := discordSpec(dc, g.URL)
	s.dir = seededDir(t)
	products := filepath.Join(t.TempDir(), "products.yaml")
	if err := os.WriteFile(products, []byte("products: [{id: small, name: Small, credit: 5, discord: ['77']}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	dc.Sells("77", discordtest.Consumable)
	s.env = append(s.env, "PRODUCTS_FILE="+products)
	p := start(t, s)
	commands := func() []string {
		var names []string
		for _, c := range ann.Commands(channel) {
			names = append(names, c.Name)
		}
		return names
	}
	await(t, "the commands", func() bool { return slices.Contains(commands(), "wallpaper") && len(dc.Sessions()) > 0 }, func() string { return strings.Join(commands(), " ") })
	paint := func() *discordtest.Interaction {
		return ann.Command(channel, "wallpaper", discordtest.Opt("width", 96), discordtest.Opt("height", 64))
	}

	open := g.hold()
	i := paint()
	answered := func(i *discordtest.Interaction) time.Duration {
		a := i.Answer(t.Context())
		if a.Type != 5 {
			t.Errorf("the first answer is %+v", a)
		}
		return a.After
	}
	first := answered(i)
	status := i.Message(t.Context(), func(m discordtest.Message) bool { _, ok := m.Button("Cancel"); return ok })
	if !strings.Contains(status.Text(), "Wallpaper") {
		t.Errorf("the status message reads %q", status.Text())
	}
	open()
	result := i.Message(t.Context(), func(m discordtest.Message) bool { return len(m.Attachments) == 1 })
	if a := result.Attachments[0]; a.Description == "" || a.Width != 96 || !strings.Contains(result.Text(), "$") || result.ID != status.ID {
		t.Errorf("the result is %v, described as %q", result, a.Description)
	}

	settings := ann.Command(channel, "settings", discordtest.Opt("tool", "wallpaper"))
	shown := settings.Message(t.Context(), func(m discordtest.Message) bool { return strings.Contains(m.Text(), "Wallpaper") })
	if !shown.Ephemeral || len(bob.Sees(channel)) != len(dc.History(channel)) {
		t.Errorf("the settings are seen by others: %v", shown)
	}

	shop := ann.Command(channel, "buy").Message(t.Context(), func(m discordtest.Message) bool { return len(m.Buttons()) == 1 })
	thanked := func(u *discordtest.User, balance string) {
		t.Helper()
		dc.WaitMessage(t.Context(), u.DM(), func(m discordtest.Message) bool {
			return strings.Contains(m.Text(), "$5.00 were added; you have "+balance)
		})
	}
	bought := ann.Buys(shop.Buttons()[0].SKU)
	thanked(ann, "$5.99")
	await(t, "what was bought is used up", bought.Consumed, p.said)

	hold := g.hold()
	canceled := paint()
	status = canceled.Message(t.Context(), func(m discordtest.Message) bool { _, ok := m.Button("Cancel"); return ok })
	stranger := bob.Press(status, "Cancel")
	await(t, "the refusal", func() bool { return len(stranger.Followups()) == 1 }, func() string { return dc.Transcript(channel) })
	if f := stranger.Followups()[0]; !f.Ephemeral || !strings.Contains(f.Text(), "Only the person") {
		t.Errorf("a stranger's press is answered %v", f)
	}
	ann.Press(status, "Cancel")
	canceled.Message(t.Context(), func(m discordtest.Message) bool { return strings.Contains(m.Text(), "Nothing was charged") })

	restarted := paint()
	restarted.Message(t.Context(), func(m discordtest.Message) bool { _, ok := m.Button("Cancel"); return ok })
	if quickest := min(first, answered(canceled), answered(restarted)); quickest > time.Second {
		t.Errorf("no first answer came within a second, the quickest after %v", quickest)
	}
	p.stop(os.Interrupt)
	bob.Buys("77") // nobody hears of it
	p = start(t, s)
	thanked(bob, "$6.00")
	hold()
	restarted.Message(t.Context(), func(m discordtest.Message) bool { return len(m.Attachments) == 1 })
	await(t, "the connection", func() bool {
		return slices.ContainsFunc(dc.Sessions(), func(s discordtest.Session) bool { return s.Connected })
	}, func() string { return p.said() })
	before := len(dc.History(channel))
	ann.Press(result, "Again")
	await(t, "the picture of a button from before the restart", func() bool {
		list := dc.History(channel)
		return len(list) == before+1 && len(list[before].Attachments) == 1
	}, func() string { return dc.Transcript(channel) + p.said() })
	if strings.Contains(p.said(), dc.Token) {
		t.Error("the token is in the program's log")
	}
}
