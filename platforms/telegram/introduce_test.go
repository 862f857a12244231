package telegram

import (
	"testing"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
)

func TestIntroduce(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	client, err := botapi.NewClient(botapi.Config{Token: h.server.Token, BaseURL: h.server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.SetDescription(t.Context(), "de", "Von Hand", "geschrieben"); err != nil {
		t.Fatal(err)
	}
	a := h.adapter(t)
	texts := []chat.Introduction{{Short: "short", Long: "long"}, {Language: "de", Short: "kurz", Long: "lang"}}
	introduce := func(language, long, short string) {
		t.Helper()
		if err := a.Introduce(t.Context(), texts); err != nil {
			t.Fatal(err)
		}
		gotLong, gotShort, err := client.Description(t.Context(), language)
		if err != nil || gotLong != long || gotShort != short {
			t.Errorf("in %q it says %q, %q (%v), want %q, %q", language, gotLong, gotShort, err, long, short)
		}
	}
	introduce("", "long", "short")
	introduce("de", "Von Hand", "geschrieben") // by who runs the bot
	if err := a.SyncCommands(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := client.SetDescription(t.Context(), "", "by hand", "later"); err != nil {
		t.Fatal(err)
	}
	introduce("", "by hand", "later") // unchanged texts cost no call
	texts[0].Long = "longer"
	introduce("", "longer", "short")
	if b := h.server.MenuButton(); b.Type != "commands" {
		t.Errorf("without a Mini App the menu button is %+v", b)
	}
	a.app, texts[0].Open = "https://signalbox.example/app", "Open"
	introduce("", "longer", "short")
	if b := h.server.MenuButton(); b.Type != "web_app" || b.Text != "Open" || b.WebApp.URL != a.app {
		t.Errorf("the menu button is %+v", b)
	}
	if introduce("", "longer", "short"); len(h.server.Calls("setChatMenuButton")) != 2 {
		t.Error("a button that is as it should be was set again")
	}
}
