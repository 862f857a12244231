package chattest

import (
	"encoding/json"
	"testing"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// dialogScene is a scene on a platform with typed options, menus and dialogs.
func dialogScene(t *testing.T, tools ...registry.Tool) (*scene, *Fake) {
	t.Helper()
	fake := NewFake(t, WithForms)
	s := &scene{World: NewWorld(t, fake, append(Tools(), tools...)...), t: t}
	s.anna, s.ben = people()
	s.room = fake.Private(s.anna)
	return s, fake
}

func TestEachChatsUploadLimit(t *testing.T) {
	t.Parallel()
	s, fake := dialogScene(t)
	data := append(clip(), make([]byte, 2000)...)
	clipOutput := registrytest.File("video", "video", registry.MediaInfo{Name: "cat.mp4", MIMEType: "video/mp4"}, data)
	narrow := fake.Group("Narrow")
	narrow.UploadLimit = 1000
	s.sayIn(narrow, "/series a cat")
	s.Succeed(s.Call(0), clipOutput)
	s.AwaitText(narrow, "Series", "too large to be sent here")
	wide := fake.Group("Wide")
	wide.UploadLimit = 100 << 20
	s.sayIn(wide, "/series a cat")
	s.Succeed(s.Call(1), clipOutput)
	s.AwaitMedia(wide, "Series")
}

// adultTool makes what is for adults only.
func adultTool() registry.Tool {
	nude := PainterTool()
	nude.ToolID, nude.CommandName, nude.DisplayName = "nude", "/nude", "Nude"
	nude.Metadata = map[string]any{"nsfw": true}
	return nude
}

func TestAdultsOnly(t *testing.T) {
	t.Parallel()
	s, fake := dialogScene(t, adultTool())
	restricted := fake.Group("Adults")
	restricted.AgeRestricted = true
	s.sayIn(restricted, "/nude a statue")
	s.Call(0)
	group := fake.Group("Everybody")
	group.Space = "the server"
	s.sayIn(group, "/nude a statue")
	s.AwaitText(group, "for adults only")
	fake.Promote(t, s.anna, group)
	s.sayIn(group, "/chatsettings")
	m := s.AwaitText(group, "Settings of this chat")
	s.pressIn(group, m, "The whole server")
	m = s.Await(group, "settings of the server", func(m Seen) bool { return m.Has("✓ The whole server") })
	s.pressIn(group, m, "Adult content: off")
	s.Await(group, "adult content", func(m Seen) bool { return m.Has("Adult content: on") })
	other := fake.Group("Of the same server")
	other.Space = "the server"
	s.sayIn(other, "/nude a statue")
	s.Call(1)
}

func TestMoreInputsThanOptions(t *testing.T) {
	t.Parallel()
	fake := NewFake(t, WithForms, func(c *chat.Capabilities) { c.Commands.Options = 3 })
	s := &scene{World: NewWorld(t, fake, Tools()...), t: t}
	s.anna, s.ben = people()
	s.room = fake.Private(s.anna)
	s.listed("painter")
	if got := fake.Options(t, chat.ChatPrivate, "painter"); len(got) != 3 || got[0] != "prompt" {
		t.Errorf("the options are %v, want three and the prompt first", got)
	}
	s.press(s.settings("painter"), "Advanced (2)")
	m := s.labelled("Basic only", "negative")
	s.fill(m, s.press(m, "More settings"), map[string]string{"negative": "fog"})
	s.labelled("Basic only", "fog")
	fake.Command(t, s.anna, s.room, "painter", map[string]any{"prompt": "a cat", "steps": json.Number("5")})
	s.input(s.Call(0), "negative", "fog")
}
