package chattest

import (
	"context"
	"encoding/json"
	"image/color"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

// sayings are how people say what they want.
func sayings() map[string]func(*scene) {
	return map[string]func(*scene){
		"words for a size become width and height, and the status says so":              sizeInWords,
		"options are read as in other bots":                                             optionsOfOthers,
		"settings are kept by a command":                                                settingsByCommand,
		"cancel cancels the only run":                                                   cancelOnly,
		"words without a command are offered to a tool, and a press runs it once":       wordsAreOffered,
		"words that begin with a command are for its tool":                              slashLeftOut,
		"words go to the tool that the person used last":                                usedLast,
		"a picture's caption is searched for tools that take it":                        captionSearched,
		"words in reply to a picture are for the tools that change it":                  changeInWords,
		"words in reply to a set are for its first picture":                             changeOfASet,
		"in groups words that name the bot are a request, and admins set the tool":      wordsInGroups,
		"start shows a tried example that a press runs, and tools that need no picture": startWithExample,
		"words come to the agent first, where there is one":                             agentFirst,
	}
}

// banner paints a text in a size of one's own.
func banner() registry.Tool {
	side := func(name string) registry.InputField {
		return registry.InputField{Name: name, Type: registry.TypeNumber, Integer: true, Min: "256", Max: "2048", Step: "16", Default: json.Number("1024")}
	}
	t := tool("banner", "Banner",
		registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true},
		registry.InputField{Name: "negative_prompt", Type: registry.TypeString, Advanced: true},
		side("width"), side("height"),
		registry.InputField{Name: "noise_seed", Type: registry.TypeNumber, Integer: true, Seed: true, Advanced: true},
	)
	t.OutputSchema = registry.OutputSchema{{Name: "picture", Type: "image"}}
	return t
}

func (s *scene) withBanner() {
	s.t.Helper()
	s.Loader.Set(append(Tools(), banner())...)
	s.Reload()
}

func sizeInWords(s *scene) {
	s.withBanner()
	s.say("/banner a red bicycle, phone")
	c := s.Call(0)
	s.labelled("Cancel", "Banner", "Understood “phone”: 768 × 1360")
	for name, want := range map[string]string{"prompt": "a red bicycle", "width": "768", "height": "1360"} {
		s.input(c, name, want)
	}
	s.say("/banner a red bicycle, phone width=512")
	s.input(s.Call(1), "width", "512")
	s.input(s.Call(1), "height", "1024")
	s.say("/painter a red bicycle, square") // has no size
	s.input(s.Call(2), "prompt", "a red bicycle, square")
}

func optionsOfOthers(s *scene) {
	s.withBanner()
	s.say("/banner a red bicycle --ar 16:9 --seed 3 --no hands, text")
	c := s.Call(0)
	for name, want := range map[string]string{"prompt": "a red bicycle", "width": "1360", "height": "768", "noise_seed": "3", "negative_prompt": "hands, text"} {
		s.input(c, name, want)
	}
	s.say("/painter a cat, steps=5, dog")
	s.input(s.Call(1), "prompt", "a cat, dog")
	s.input(s.Call(1), "steps", "5")
}

func settingsByCommand(s *scene) {
	s.say("/settings painter steps=12 style=ink")
	s.AwaitText(s.room, "Settings · Painter", "steps", "12", "Ink")
	s.say("/settings painter steps=500")
	s.AwaitText(s.room, "Steps: 500", "1 to 50")
	s.say("/settings painter a green door")
	s.AwaitText(s.room, "“a green door”")
	s.say("/painter a cat")
	s.input(s.Call(0), "steps", "12")
	s.input(s.Call(0), "style", "ink")
	s.input(s.Call(0), "prompt", "a cat")
}

func cancelOnly(s *scene) {
	s.say("/painter a cat")
	s.Progress(s.Call(0), registry.Progress{State: registry.RunRunning})
	s.say("/cancel")
	s.AwaitText(s.room, "Canceling Painter")
	s.AwaitText(s.room, "Canceled", "Nothing was charged")
}

func wordsAreOffered(s *scene) {
	s.say("make me a picture of a red bicycle steps=7")
	m := s.labelled("Run Painter (under $0.01)", "Shall Painter make this?")
	s.noRun()
	s.press(m, "Run Painter (under $0.01)")
	c := s.Call(0)
	s.input(c, "prompt", "make me a picture of a red bicycle")
	s.input(c, "steps", "7")
	if a := s.press(m, "Run Painter (under $0.01)"); a.Text == "" {
		s.t.Error("a second press is not told that the first one was enough")
	}
	s.Handled()
	if n := s.CountRuns(); n != 1 {
		s.t.Errorf("%d runs, want 1", n)
	}
	for _, said := range []string{"thank you", "what can you do?", "👍"} {
		before := len(s.Harness.Messages(s.t, s.room))
		s.say(said)
		if m := s.newest(s.room, before); !m.contains("I'm here: say in your own words") {
			s.t.Errorf("%q is answered %q", said, m.Text)
		}
	}
	s.say("12345")
	s.AwaitText(s.room, "I don't know what to do with that")
}

func slashLeftOut(s *scene) {
	s.withBanner()
	s.say("painter a blue door steps=7")
	s.press(s.labelled("Run Painter (under $0.01)", "Shall Painter make this?"), "Run Painter (under $0.01)")
	s.input(s.Call(0), "prompt", "a blue door")
	s.input(s.Call(0), "steps", "7")
}

func usedLast(s *scene) {
	s.withBanner()
	s.say("/banner a door")
	s.Call(0)
	s.say("a green door, square")
	m := s.labelled("Run Banner (free)", "Shall Banner make this?")
	s.press(m, "Run Banner (free)")
	s.input(s.Call(1), "prompt", "a green door")
	s.AwaitText(s.room, "Understood “square”: 1024 × 1024")
}

func captionSearched(s *scene) {
	list := Tools()
	for i := range list {
		if list[i].ToolID == "retouch" {
			list[i].DisplayName, list[i].Description = "Poster print", "Turns a photo into a poster."
		}
	}
	s.Loader.Set(list...)
	s.Reload()
	s.send(Post{Text: "make this a poster", Files: []File{red()}})
	m := s.Await(s.room, "offer", func(m Seen) bool { return m.shows("Poster print") && m.shows("Enlarge") })
	if first := strings.Index(m.Text, "/retouch"); first < 0 || first > strings.Index(m.Text, "/enlarge") {
		s.t.Errorf("what the caption asks for is not offered first:\n%s", m.Text)
	}
	s.press(m, "Poster print")
	s.input(s.Call(0), "image", s.refOf(red()))
	s.input(s.Call(0), "prompt", "make this a poster")
}

func changeInWords(s *scene) {
	brush := follower("brush", "Brush", "image-to-image", "image", registry.InputField{Name: "suffix", Type: registry.TypeString, Advanced: true})
	sketch := follower("asketch", "A sketch", "image", "image", registry.InputField{Name: "text", Type: registry.TypeString, Required: true})
	sketch.Follows = registry.FollowNone // it makes something else, with the picture in it
	s.Loader.Set(append(Tools(), brush, sketch, follower("move", "Move", "image-to-video", "video", registry.InputField{Name: "prompt", Type: registry.TypeString}))...)
	s.Reload()
	painted := s.painted()
	s.send(Post{Text: "make it darker", ReplyTo: painted.ID})
	m := s.labelled("Run Retouch (free)", "Shall Retouch change it as you say?", "Or one of these")
	s.wantButtons(m, "Run Retouch (free) | Move")
	s.press(m, "Run Retouch (free)")
	s.input(s.Call(1), "prompt", "make it darker")
	s.input(s.Call(1), "image", s.refOf(File{Data: Picture(16, 16, color.NRGBA{R: 200, A: 255})}))
	s.Succeed(s.Call(1), shade(1))
	s.send(Post{Text: "enlarge it", ReplyTo: painted.ID}) // said by its name
	s.press(s.labelled("Run Enlarge (free)", "Shall Enlarge"), "Run Enlarge (free)")
	s.Call(2)
	s.Handled()
	s.send(Post{Text: "/asketch a card", ReplyTo: painted.ID})
	s.Succeed(s.Call(3), shade(2))
	drawn := s.AwaitMedia(s.room, "a card")
	s.send(Post{Text: "make it blue", ReplyTo: drawn.ID}) // what a sketch made it goes on with
	s.labelled("Run A sketch (free)", "Shall A sketch change it as you say?")
	s.Handled()
	before := len(s.Harness.Messages(s.t, s.room))
	s.send(Post{Text: "thanks!", ReplyTo: painted.ID})
	if m := s.newest(s.room, before); !m.contains("I'm here: say in your own words") {
		s.t.Errorf("thanks are answered %q", m.Text)
	}
	group := s.Harness.Group("Painters")
	mentioner, mentions := s.Harness.(Mentioner)
	if group.none() || !mentions {
		return
	}
	s.sayIn(group, mentioner.Mention()+" a red bicycle")
	offer := s.Await(group, "offer", func(m Seen) bool { return m.Has("Run Painter (under $0.01)") })
	s.pressIn(group, offer, "Run Painter (under $0.01)")
	s.Succeed(s.Call(4), shade(3))
	result := s.Await(group, "result", func(m Seen) bool { return m.Media != nil })
	s.Harness.Post(s.t, Post{From: s.anna, In: group, Text: mentioner.Mention() + " make it darker", ReplyTo: result.ID})
	s.Await(group, "offer of a change", func(m Seen) bool { return m.Has("Run Retouch (free)") })
}

func changeOfASet(s *scene) {
	s.with(followers()...)
	set := s.paintedSet()
	picture := s.output(0)
	s.send(Post{Text: "make it darker", ReplyTo: set.ID}) // what it replies to has the buttons, and no picture on some platforms
	s.press(s.labelled("Run Instruct (free)"), "Run Instruct (free)")
	s.input(s.Call(1), "image", picture)
}

func wordsInGroups(s *scene) {
	group := s.Harness.Group("Painters")
	promoter, ok := s.Harness.(Promoter)
	mentioner, mentions := s.Harness.(Mentioner)
	if group.none() || !ok || !mentions {
		return
	}
	s.withBanner()
	promoter.Promote(s.t, s.ben, group)
	s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "/chatsettings banner"})
	m := s.Await(group, "settings for all", func(m Seen) bool { return m.Has("For words without a command") })
	s.pressBy(s.ben, group, m, "For words without a command")
	s.Await(group, "choice", func(m Seen) bool { return m.Has("✓ For words without a command") })
	s.sayIn(group, mentioner.Mention()+" a red bicycle")
	m = s.Await(group, "offer", func(m Seen) bool { return m.Has("Run Banner (free)") })
	if a := s.pressBy(s.ben, group, m, "Run Banner (free)"); !strings.Contains(a.Text, "Only the person") {
		s.t.Errorf("somebody else's press is answered %q", a.Text)
	}
	s.pressIn(group, m, "Run Banner (free)")
	s.input(s.Call(0), "prompt", "a red bicycle")
}

// parrot is an agent that answers what begins with its name.
type parrot struct{ turn.Agent }

func (parrot) Command(context.Context, *turn.Turn, *registry.Tool) (bool, error) { return false, nil }

func (parrot) Answer(ctx context.Context, t *turn.Turn) (bool, error) {
	said, ours := strings.CutPrefix(t.In.Text, "polly ")
	if !ours {
		return false, nil
	}
	_, err := t.Reply(ctx, chat.Plain("You said: "+said))
	return true, err
}

func agentFirst(s *scene) {
	s.Agent = parrot{}
	s.Restart()
	s.say("polly a red bicycle")
	s.AwaitText(s.room, "You said: a red bicycle")
	s.say("a red bicycle")
	s.labelled("Run Painter (under $0.01)")
	s.noRun()
}

func startWithExample(s *scene) {
	s.Example = func(string) (turn.Example, error) {
		return turn.Example{Tool: "painter", Words: "a fox in the snow", Picture: Picture(12, 12, color.NRGBA{R: 9, A: 255})}, nil
	}
	s.Restart()
	s.say("/start")
	m := s.AwaitMedia(s.room, "Send me a command", "a fox in the snow", "wait for a GPU")
	for _, label := range []string{"Enlarge", "Collage"} {
		if m.shows(label) {
			s.t.Errorf("%s, which needs a picture, is shown: %v", label, m.Buttons)
		}
	}
	s.noRun()
	s.press(m, "Run Painter (under $0.01)")
	s.input(s.Call(0), "prompt", "a fox in the snow")
}
