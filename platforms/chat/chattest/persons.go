package chattest

import (
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// persons are what people set for themselves and for their chats, and what bounds them.
func persons() map[string]func(*scene) {
	return map[string]func(*scene){
		"two accounts are joined by a code, and unlinked again":        link,
		"a wrong code is refused":                                      wrongCode,
		"the language is chosen by command and by button":              languages,
		"commands are described in the person's language":              commandLanguages,
		"A62 a preset keeps what a run was given, and is used by name": presets,
		"A62 a preset kept elsewhere is known for a tool never run":    presetOfThePage,
		"A62 what admins set for a chat comes after what a person set": chatSettings,
		"admins choose a chat's tools, and whom to keep out":           chatAccess,
		"a limit is told with what is used of it, and before it bites": limits,
		"credit set aside for other runs is named where it is missing": heldCredit,
		"a person's data is deleted after they confirmed":              erase,
		"a word that the operator does not allow is refused":           blockedWord,
		"everything a person has is put together, once a day":          export,
	}
}

var linkCode = regexp.MustCompile(`[0-9A-Z]{4}-[0-9A-Z]{4}`)

// by says something as somebody else, in their private chat.
func (s *scene) by(p Person, text string) Room {
	s.t.Helper()
	room := s.Harness.Private(p)
	s.Harness.Post(s.t, Post{From: p, In: room, Text: text})
	return room
}

func link(s *scene) {
	s.press(s.settings("painter"), "style")
	s.press(s.labelled("Ink"), "Ink")
	s.labelled("✓ Ink")
	s.say("/link")
	code := linkCode.FindString(s.AwaitText(s.room, "10 minutes", "You are known as", "Anna").Text)
	bens := s.by(s.ben, "/link "+strings.ToLower(code))
	asked := s.AwaitText(bens, "Anna", "become one", "since", "can use and spend all of yours")
	s.Harness.Press(s.t, s.ben, bens, asked.ID, "Join them")
	asked = s.AwaitText(bens, "There is money in it", "of two sign-up credits one is kept")
	s.Harness.Press(s.t, s.ben, bens, asked.ID, "Yes, join them")
	s.AwaitText(bens, "you are one person now", "Anna", "Ben")
	s.by(s.ben, "/painter a cat")
	c := s.Call(0)
	s.input(c, "style", "ink")
	s.Succeed(c, PictureOutput("picture"))
	s.AwaitMedia(bens, "Painter")
	s.Idle()
	s.say("/history")
	s.AwaitText(s.room, "Your runs", "Painter")
	s.say("/link")
	m := s.Await(s.room, "way to unlink Ben", func(m Seen) bool { return strings.Contains(m.Text, "Ben") && len(m.Buttons)+len(m.Menus) > 0 })
	s.press(m, firstWith(m, "Unlink"))
	m = s.AwaitText(s.room, "Shall", "Ben", "leave")
	s.press(m, firstWith(m, "Unlink"))
	s.AwaitText(s.room, "is not linked any more")
	s.by(s.ben, "/painter a cat")
	s.input(s.Call(1), "style", "oil")
}

// firstWith gives the first label that begins so.
func firstWith(m Seen, begin string) string {
	var labels []string
	for _, row := range m.Buttons {
		labels = append(labels, row...)
	}
	for _, menu := range m.Menus {
		labels = append(labels, menu.Options...)
	}
	for _, label := range labels {
		if strings.HasPrefix(label, begin) {
			return label
		}
	}
	return begin
}

func wrongCode(s *scene) {
	s.say("/link ABCD-EFGH")
	s.AwaitText(s.room, "wrong, used or too old")
}

func languages(s *scene) {
	s.say("/language de")
	s.AwaitText(s.room, "Deutsch")
	s.say("/language")
	m := s.labelled("English")
	s.press(m, "English")
	s.AwaitText(s.room, "I speak English")
	s.say("/language klingon")
	s.labelled("Deutsch", "don't speak that language", "Which language")
}

func commandLanguages(s *scene) {
	if s.Caps.Commands.Max == 0 {
		return
	}
	s.listed("balance")
	descriptions := extra[Localizer](s)
	for language, want := range map[string]string{"en": "spend", "de": "Guthaben", "es": "gastar", "ru": "средств", "zh": "余额"} {
		s.eventually("description of /balance in "+language, func() bool {
			return strings.Contains(descriptions.Description(s.t, chat.ChatPrivate, "balance", language), want)
		})
	}
}

func presets(s *scene) {
	s.say("/preset")
	s.AwaitText(s.room, "no presets yet")
	s.say("/painter a cat style=chalk steps=7")
	s.Call(0)
	s.say("/preset save Sketch")
	s.AwaitText(s.room, "Saved Sketch for Painter", "steps 7")
	s.say("/painter a dog preset=sketch steps=9")
	c := s.Call(1)
	s.input(c, "style", "chalk")
	s.input(c, "steps", "9")
	s.say("/why")
	s.AwaitText(s.room, "style: chalk – your preset")
	s.say("/preset")
	s.press(s.labelled("Sketch", "Your presets"), "Sketch")
	s.AwaitText(s.room, "Painter", "needs", "prompt")
	s.say("a bird")
	s.input(s.Call(2), "style", "chalk")
	if s.Caps.Commands.Options > 0 {
		s.listed("painter")
		extra[Commander](s).Command(s.t, s.anna, s.room, "painter", map[string]any{"prompt": "a fish", "preset": "sketch"})
		s.input(s.Call(3), "style", "chalk")
	}
	s.say("/preset delete sketch")
	s.AwaitText(s.room, "deleted")
	s.say("/painter a cat preset=sketch")
	s.AwaitText(s.room, "no preset of that name", "Nothing was charged")
}

func presetOfThePage(s *scene) {
	s.say("/painter a cat")
	s.Call(0)
	if err := s.People.SavePreset(s.t.Context(), s.LastRun().AccountID, "frame", "Kitchen", map[string]any{"wood": "pine"}); err != nil {
		s.t.Fatal(err)
	}
	s.say("/preset")
	s.press(s.labelled("Kitchen", "Your presets"), "Kitchen")
	s.AwaitText(s.room, "Frame", "needs")
}

// group makes a group that Anna runs, where the platform has groups.
func (s *scene) group() Room {
	s.t.Helper()
	s.Harness.Private(s.ben)
	group := s.Harness.Group("Painters")
	if !group.none() {
		extra[Promoter](s).Promote(s.t, s.anna, group)
	}
	return group
}

func chatSettings(s *scene) {
	group := s.group()
	if group.none() {
		return
	}
	s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "/chatsettings painter"})
	s.AwaitText(group, "Only those who run this chat")
	s.sayIn(group, "/chatsettings painter")
	m := s.AwaitText(group, "Settings · Painter", "For all in this chat")
	s.pressIn(group, m, "style")
	m = s.Await(group, "choices", func(m Seen) bool { return m.shows("Ink") })
	s.pressIn(group, m, "Ink")
	s.Await(group, "choice", func(m Seen) bool { return m.Has("✓ Ink") || m.chosen("✓ Ink") })
	s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "/painter a cat"})
	s.input(s.Call(0), "style", "ink")
	s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "/why"})
	s.AwaitText(group, "style: Ink – this chat's setting")
	bens := s.by(s.ben, "/painter a cat")
	s.input(s.Call(1), "style", "oil")
	s.by(s.ben, "/settings painter")
	m = s.Await(bens, "settings", func(m Seen) bool { return strings.Contains(m.Text, "Settings · Painter") })
	s.pressBy(s.ben, bens, m, "style")
	s.pressBy(s.ben, bens, s.Await(bens, "choices", func(m Seen) bool { return m.shows("chalk") }), "chalk")
	s.Await(bens, "choice", func(m Seen) bool { return m.Has("✓ chalk") || m.chosen("✓ chalk") })
	s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "/painter a cat"})
	s.input(s.Call(2), "style", "chalk")
}

func chatAccess(s *scene) {
	group := s.group()
	if group.none() {
		return
	}
	s.sayIn(group, "/chatsettings")
	m := s.AwaitText(group, "Settings of this chat")
	if len(m.Menus) > 0 {
		var others []string
		for _, label := range m.Menus[0].Options {
			if label != "Painter" {
				others = append(others, label)
			}
		}
		extra[Chooser](s).Choose(s.t, s.anna, group, m.ID, others...)
	} else {
		for m.Has("Next ›") && !m.Has("✓ Painter") {
			s.pressIn(group, m, "Next ›")
			before := m
			m = s.Await(group, "next page", func(m Seen) bool {
				return m.ID == before.ID && !slices.EqualFunc(m.Buttons, before.Buttons, slices.Equal)
			})
		}
		s.pressIn(group, m, "✓ Painter")
	}
	s.Handled()
	said := s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "/painter a cat"})
	s.AwaitText(group, "Painter is switched off in this chat", "Nothing was charged")
	s.noRun()
	s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "/poem autumn"})
	s.Call(0)
	s.Harness.Post(s.t, Post{From: s.anna, In: group, Text: "/deny", ReplyTo: said})
	s.AwaitText(group, "Ben may not use me here")
	s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "/poem winter"})
	s.AwaitText(group, "You are blocked here")
	s.Harness.Post(s.t, Post{From: s.anna, In: group, Text: "/allow", ReplyTo: said})
	s.AwaitText(group, "Ben may use me here")
	s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "/poem spring"})
	s.Call(1)
}

// pressIn presses as Anna in a group.
func (s *scene) pressIn(in Room, m Seen, label string) { s.t.Helper(); s.pressBy(s.anna, in, m, label) }

// pressBy presses a button or chooses from a menu.
func (s *scene) pressBy(p Person, in Room, m Seen, label string) chat.PressAnswer {
	s.t.Helper()
	if !m.Has(label) && m.Offers(label) {
		return extra[Chooser](s).Choose(s.t, p, in, m.ID, label)
	}
	return s.Harness.Press(s.t, p, in, m.ID, label)
}

func limits(s *scene) {
	s.say("/balance")
	s.AwaitText(s.room, "to spend")
	account := s.LastAccount().ID
	if err := s.People.SetOwnLimits(s.t.Context(), account, users.Limits{DayCap: 10_000_000}); err != nil {
		s.t.Fatal(err)
	}
	s.painted()
	s.say("/painter a dog")
	s.AwaitText(s.room, "near your limit", "Spent today: under $0.01 of $0.01")
	s.Call(1)
	s.say("/painter a bird")
	s.AwaitText(s.room, "leaves no room", "Spent today: under $0.01 of $0.01", "Nothing was charged")
	s.say("/balance")
	s.AwaitText(s.room, "to spend", "Spent today")
}

func heldCredit(s *scene) {
	dear := PainterTool()
	dear.CostingModel = &registry.CostingModel{Rate: "0.6", Unit: registry.UnitRequest, RateSource: registry.RateStatic}
	s.Loader.Set(dear)
	s.Reload()
	s.spendsFreely()
	s.say("/painter a cat")
	s.Call(0)
	s.say("/painter a dog")
	s.AwaitText(s.room, "it needs $0.60, you have $0.40", "$0.60 is set aside for your runs under way")
}

func erase(s *scene) {
	s.press(s.settings("painter"), "style")
	s.press(s.labelled("Ink"), "Ink")
	s.labelled("✓ Ink")
	s.say("/delete_my_data")
	m := s.labelled("Delete everything", "for good")
	s.press(m, "Cancel")
	s.say("/painter a cat")
	s.input(s.Call(0), "style", "ink")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	s.Idle()
	s.say("/delete_my_data")
	s.press(s.labelled("Delete everything", "for good"), "Delete everything")
	s.AwaitText(s.room, "I have deleted")
	s.say("/history")
	s.AwaitText(s.room, "not run anything yet")
}

func export(s *scene) {
	if group := s.group(); !group.none() {
		s.sayIn(group, "/export")
		s.AwaitText(group, "in a private chat")
	}
	s.say("/export")
	s.AwaitText(s.room, "I am putting together everything")
	s.Idle()
	const ready = `UPDATE exports SET state = 'ready', bytes = 3 << 20, hash = repeat('a', 64), expires_at = now() + interval '7 days'`
	if tag, err := s.Pool.Exec(s.t.Context(), ready); err != nil || tag.RowsAffected() != 1 {
		s.t.Fatalf("%d archives were asked for, %v", tag.RowsAffected(), err)
	}
	s.say("/export")
	s.AwaitText(s.room, "is ready (3 MB)", "https://box.example/archive")
}

func blockedWord(s *scene) {
	s.Screen = func(text string) (string, bool) { return "dragon", strings.Contains(text, "dragon") }
	s.Restart()
	s.say("/painter a dragon")
	s.AwaitText(s.room, "does not allow a word in this text")
	s.noRun()
	s.say("/painter a cat")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	s.AwaitMedia(s.room, "Painter")
}
