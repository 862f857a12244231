package telegram_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// smallInline is what is typed after the bot's name for a quick wallpaper.
const smallInline = "wallpaper width=96 height=64"

// TestInlineMode is one test per flow of @bot in any chat.
func TestInlineMode(t *testing.T) {
	t.Parallel()
	for name, flow := range map[string]func(*house){
		"its sender presses, and the message becomes the result":             flowInlineRun,
		"results of before are sent from any chat, without a new upload":     flowInlineResults,
		"nothing is begun or charged before the person's own chat is open":   flowInlineClosed,
		"a second press, and one after a restart, runs it once":              flowInlineOnce,
		"a result that can't get there is told, and kept":                    flowInlineKept,
		"of several files the first is shown, and the others are told of":    flowInlineSeveral,
		"the rules of a chat where the bot is hold for what is placed there": flowInlineRules,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flow(newHouse(t).start())
		})
	}
}

// place types words and sends the first offer to a chat where the bot is not.
func (h *house) place(words string) telegramtest.Message {
	h.t.Helper()
	q := h.ann.Type(words, "")
	answer := q.Answer(h.t.Context())
	if len(answer.Results) == 0 {
		h.t.Fatalf("nothing is offered for %q", words)
	}
	return q.Choose(h.elsewhere(), answer.Results[0].ID)
}

// elsewhere is a chat of Ann and Ben that the bot is not in.
func (h *house) elsewhere() *telegramtest.Chat {
	c := h.telegram.Supergroup("Friends", h.ann, h.ben)
	c.SetBotStatus(h.ann, "left")
	return c
}

// awaitNow waits until a message is as it should be.
func (h *house) awaitNow(m telegramtest.Message, fits func(telegramtest.Message) bool) telegramtest.Message {
	h.t.Helper()
	h.telegram.Await(h.t.Context(), "a message to change", func() bool { return fits(h.telegram.Now(m)) },
		func() string { return h.telegram.Now(m).String() })
	return h.telegram.Now(m)
}

func flowInlineRun(h *house) {
	h.ann.Start("")
	h.handled()
	before := len(h.bots(h.chat))
	if begun := h.ann.Type("wall", "").Answer(h.t.Context()).Results; len(begun) == 0 || !strings.Contains(begun[0].Title, "Wallpaper") || strings.Contains(begun[0].Text, "wall") {
		h.t.Errorf("while its name is typed, these are offered: %+v", begun)
	}
	q := h.ann.Type(smallInline, "")
	answer := q.Answer(h.t.Context())
	if !answer.Personal || answer.CacheTime > 60 || answer.Button == "" || answer.Parameter == "" || len(answer.Results) != 1 {
		h.t.Fatalf("the answer: %+v", answer)
	}
	m := q.Choose(h.elsewhere(), answer.Results[0].ID)
	if !strings.Contains(m.Text, "Price") || !strings.Contains(m.Text, "Only Ann") || h.count(`SELECT count(*) FROM runs`) != 0 {
		h.t.Errorf("before the press it says %s", m)
	}
	if said := h.ben.Press(m, "Run").Answer(h.t.Context()); !said.Alert || h.count(`SELECT count(*) FROM runs`) != 0 {
		h.t.Errorf("somebody else pressed: %+v", said)
	}
	h.press(h.ann, m, "Run")
	m = h.awaitNow(m, telegramtest.HasMedia("photo"))
	run := h.settled(1)[0]
	if m.Media.Width != 96 || len(m.Keyboard) != 0 || run.Cost == 0 || m.From != h.ann {
		h.t.Errorf("the result: %s, cost %s", m, run.Cost)
	}
	if left := len(h.bots(h.chat)); left != before {
		h.t.Errorf("%d messages are in the own chat, before it were %d:\n%s", left, before, h.telegram.Transcript(h.chat))
	}
}

func flowInlineResults(h *house) {
	h.ann.Send(h.chat, small)
	h.awaitFile(h.chat, "photo", "Wallpaper")
	h.settled(1)
	uploads := len(h.telegram.Calls("sendPhoto"))
	q := h.ann.Type("", "")
	answer := q.Answer(h.t.Context())
	if len(answer.Results) != 1 || answer.Results[0].Type != "photo" || answer.Results[0].FileID == "" || answer.NextOffset != "" {
		h.t.Fatalf("the answer: %+v", answer)
	}
	if m := q.Choose(h.elsewhere(), answer.Results[0].ID); m.Media == nil || len(m.Keyboard) != 0 {
		h.t.Errorf("sent: %s", m)
	}
	if n := len(h.telegram.Calls("sendPhoto")); n != uploads {
		h.t.Errorf("%d uploads more", n-uploads)
	}
	if none := h.ben.Type("", "").Answer(h.t.Context()); len(none.Results) != 0 {
		h.t.Errorf("others are offered %+v", none.Results)
	}
	if none := h.ann.Type("zebra", "").Answer(h.t.Context()); hasResult(none, "photo") {
		h.t.Errorf("words that it was not made of find %+v", none.Results)
	}
	h.settled(1)

	h.ann.Send(h.chat, small+" seed=7")
	h.awaitFile(h.chat, "photo", "seed 7")
	h.settled(2)
	question := chat.InlineQuery{From: users.Identity{Platform: "telegram", ExternalID: chatID(h.chat), Name: "Ann"}, Private: chatID(h.chat), Limit: 1}
	seen := map[string]bool{}
	for range 2 { // page by page
		page, err := h.router.Inline(h.t.Context(), "telegram", question)
		h.must(err)
		if len(page.Offers) != 1 {
			h.t.Fatalf("a page of one has %d", len(page.Offers))
		}
		seen[page.Offers[0].ID], question.Offset = true, page.Next
	}
	if len(seen) != 2 || question.Offset != "" {
		h.t.Errorf("pages show %v, and end at %q", seen, question.Offset)
	}
}

func hasResult(a telegramtest.InlineAnswer, kind string) bool {
	for _, r := range a.Results {
		if r.Type == kind {
			return true
		}
	}
	return false
}

func flowInlineClosed(h *house) {
	m := h.place(smallInline)
	if said := h.ann.Press(m, "Run").Answer(h.t.Context()); !said.Alert || !strings.Contains(said.Text, "Start") {
		h.t.Errorf("the press is answered %+v", said)
	}
	h.handled()
	if n := h.count(`SELECT count(*) FROM runs`); n != 0 {
		h.t.Errorf("%d runs", n)
	}
	h.ann.Start("inline")
	h.handled()
	h.press(h.ann, m, "Run")
	h.awaitNow(m, telegramtest.HasMedia("photo"))
	h.settled(1)
}

func flowInlineOnce(h *house) {
	h.ann.Start("")
	h.handled()
	m := h.place(smallInline)
	h.telegram.RepeatUpdates(1)
	first := h.ann.Press(m, "Run")
	second := h.ann.PressStale(m, "Run")
	first.Answer(h.t.Context())
	second.Answer(h.t.Context())
	h.stop()
	h.start()
	h.awaitNow(m, telegramtest.HasMedia("photo"))
	h.settled(1)
}

func flowInlineKept(h *house) {
	h.ann.Start("")
	h.handled()
	m := h.place(smallInline)
	h.telegram.Inject(telegramtest.Refuse(403, "Forbidden: bot was blocked by the user").On("sendPhoto"))
	h.press(h.ann, m, "Run")
	h.awaitNow(m, telegramtest.Has("/history"))
	h.missed()
	h.ann.Send(h.chat, "/balance")
	h.press(h.ann, h.awaitButton(h.chat, "Show", "could not reach you"), "Show")
	h.awaitFile(h.chat, "photo", "Wallpaper")
	h.settled(1)
}

func flowInlineSeveral(h *house) {
	h.ann.Start("")
	h.handled()
	m := h.place("series")
	h.press(h.ann, m, "Run")
	m = h.awaitNow(m, telegramtest.HasMedia("photo"))
	if !strings.Contains(m.Text, "1 of 3") {
		h.t.Errorf("shown: %s", m)
	}
	h.settled(1)
}

func TestInlineWithoutCredit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.poor = true
	h.start()
	h.ann.Start("")
	h.handled()
	m := h.place(smallInline)
	h.press(h.ann, m, "Run")
	h.awaitNow(m, telegramtest.Has("does not cover"))
	h.handled()
	if n := h.count(`SELECT count(*) FROM runs`); n != 0 {
		h.t.Errorf("%d runs", n)
	}
}

func flowInlineRules(h *house) {
	h.ann.Start("")
	h.handled()
	group := h.telegram.Supergroup("House", h.ann, h.ben)
	people := users.New(h.pool, users.Config{OnCreate: h.welcome})
	place := users.Place{Platform: "telegram", Kind: users.PlaceChat, ID: chatID(group)}
	h.must(people.SetAllowedTools(h.t.Context(), place, []string{"poster"}, "test"))
	q := h.ann.Type(smallInline, "")
	m := q.Choose(group, q.Answer(h.t.Context()).Results[0].ID)
	h.handled()
	h.press(h.ann, m, "Run")
	h.await(h.chat, "charged")
	h.handled()
	list, err := h.runs.List(h.t.Context(), runs.Filter{})
	h.must(err)
	if len(list) != 0 || h.telegram.Now(m).Media != nil {
		h.t.Errorf("%d runs; the message: %s", len(list), h.telegram.Now(m))
	}
}
