package telegram_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/telegram"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// small makes the wallpaper quick.
const small = "/wallpaper width=96 height=64"

// TestChatFlows is one test per flow of a chat, through everything that is real: the protocol, the engine,
// the database.
func TestChatFlows(t *testing.T) {
	t.Parallel()
	for name, flow := range map[string]func(*house){
		"a command gives a picture, and costs what it cost":                       flowCommand,
		"A37 A69 a picture with the command as caption":                           flowCaption,
		"A38 A69 a command in reply to a picture, and transparency kept":          flowReply,
		"an album fills two inputs in order":                                      flowAlbumIn,
		"several results are an album with the buttons below":                     flowAlbumOut,
		"A36 what is missing is asked for, and may be sent late":                  flowAsk,
		"settings are drawn from the tool, kept, and used":                        flowSettings,
		"Cancel stops the engine, and nothing is charged":                         flowCancel,
		"the real percentage is shown, and never goes back":                       flowProgress,
		"Again repeats, Vary draws a new seed, a double press acts once":          flowAgainAndVary,
		"why, history and balance tell the truth":                                 flowAccounts,
		"A44 groups in privacy mode: by name, by reply, by buttons of one's own":  flowGroup,
		"an anonymous admin runs the group, and is told why nothing else goes":    flowAnonymous,
		"answers stay in their topic":                                             flowTopic,
		"what a blocked person missed is there when they are back":                flowBlocked,
		"429 while the result is delivered delays it":                             flowRateLimit,
		"files too large either way are told, with a smaller version and a link":  flowTooLarge,
		"a restart in the middle changes nothing that people see, but the time":   flowRestart,
		"a connection that breaks over the result shows it once or asks":          flowBrokenDelivery,
		"a group that becomes a supergroup goes on with wallet and results":       flowMigration,
		"a right that is missing is named, and the result comes when it is there": flowNoRight,
		"A47 the command list follows the registry":                               flowMenu,
		"A40 a tool without its nodes is refused before anything is charged":      flowUnavailable,
		"an edited command runs only if it led to nothing before":                 flowEdited,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flow(newHouse(t).start())
		})
	}
}

func flowCommand(h *house) {
	h.ann.Send(h.chat, small+" seed=5")
	h.awaitFile(h.chat, "photo", "Wallpaper", "seed 5", "under $0.01")
	run := h.settled(1)[0]
	m := h.one()
	for _, label := range []string{"Again", "Vary", "Settings", "Original file", "Delete"} {
		if _, ok := m.Button(label); !ok {
			h.t.Errorf("no button %q: %v", label, m.Labels())
		}
	}
	if run.Cost <= 0 || m.Media.Width != 96 || m.Media.Height != 64 || run.Receipt == nil || h.engine.Runs(run.ID) != 1 {
		h.t.Errorf("%s; receipt %v; %d runs at the engine", m, run.Receipt, h.engine.Runs(run.ID))
	}
	if actions := h.telegram.Actions(h.chat); len(actions) == 0 {
		h.t.Error("no sign of work was shown")
	}
}

func flowCaption(h *house) {
	h.ann.SendPhoto(h.chat, photo(red), "/poster inks=3")
	h.awaitFile(h.chat, "photo", "Screen-print poster")
	run := h.settled(1)[0]
	if run.Sources["image"] != runs.FromAttachment || run.Sources["inks"] != runs.FromArgument || input(run, "inks") != "3" {
		h.t.Errorf("inputs %v from %v", run.Inputs, run.Sources)
	}
}

func flowReply(h *house) {
	picture := h.ann.SendDocument(h.chat, "me.jpg", photo(blue), "")
	h.ann.Reply(picture, "/sticker")
	m := h.awaitFile(h.chat, "document", "Sticker")
	run := h.settled(1)[0]
	if run.Sources["image"] != runs.FromReply || !strings.HasSuffix(m.Media.Name, ".png") {
		h.t.Errorf("inputs from %v, result %s", run.Sources, m)
	}
}

func flowAlbumIn(h *house) {
	h.ann.SendAlbum(h.chat, "/blend blend_factor=0", photo(red), photo(blue))
	m := h.awaitFile(h.chat, "photo", "Blend")
	h.settled(1)
	if c := average(h.t, m.Media.Bytes); c.R < 150 || c.B > 100 {
		h.t.Errorf("the first picture is not the first: the result's colour is %v", c)
	}
}

func flowAlbumOut(h *house) {
	request := h.ann.Send(h.chat, "/series")
	buttons := h.awaitButton(h.chat, "Again", "Series")
	h.settled(1)
	list := h.bots(h.chat)
	if len(list) != 4 || buttons.Media != nil || list[3].ID != buttons.ID {
		h.t.Fatalf("three pictures and the buttons were to be there:\n%s", h.telegram.Transcript(h.chat))
	}
	for _, m := range list[:3] {
		if m.Media == nil || m.AlbumID != list[0].AlbumID || m.AlbumID == "" || m.ReplyTo != request.ID {
			h.t.Errorf("no part of the album: %s", m)
		}
	}
	h.press(h.ann, buttons, "Delete")
	h.until("an empty chat", func() bool { return len(h.bots(h.chat)) == 0 })
}

func flowAsk(h *house) {
	h.ann.Send(h.chat, "/poster inks=4")
	h.awaitButton(h.chat, "Cancel", "Screen-print poster", "Photo")
	h.ann.Send(h.chat, "a red bicycle")
	h.await(h.chat, "does not fit")
	h.handled()
	h.stop()
	h.start()
	h.ann.SendPhoto(h.chat, photo(red), "")
	h.awaitFile(h.chat, "photo", "Screen-print poster")
	run := h.settled(1)[0]
	if run.Sources["image"] != runs.FromAnswer || input(run, "inks") != "4" {
		h.t.Errorf("inputs %v from %v", run.Inputs, run.Sources)
	}
}

func flowSettings(h *house) {
	h.ann.Send(h.chat, "/settings wallpaper")
	h.press(h.ann, h.awaitButton(h.chat, "Close", "Settings"), "Colours")
	h.awaitButton(h.chat, "Back", "Colours")
	h.ann.Send(h.chat, "900")
	h.await(h.chat, "another value")
	h.ann.Send(h.chat, "3")
	h.await(h.chat, "Saved")
	m := h.awaitButton(h.chat, "Close", "3", "(yours)")
	h.ann.Send(h.chat, small)
	h.awaitFile(h.chat, "photo", "Wallpaper")
	if run := h.settled(1)[0]; run.Sources["colors"] != runs.FromPreference || input(run, "colors") != "3" {
		h.t.Errorf("inputs %v from %v", run.Inputs, run.Sources)
	}
	h.press(h.ann, m, "Reset all")
	h.until("the default", func() bool { return !strings.Contains(h.telegram.Now(m).Text, "(yours)") })
	h.press(h.ann, h.telegram.Now(m), "Close")
	h.until("closed settings", func() bool { return h.telegram.Now(m).Deleted })
}

func flowCancel(h *house) {
	gate := h.engine.Hold("SaveImage")
	h.ann.Send(h.chat, small)
	held := gate.Next()
	h.handled()
	m := h.awaitButton(h.chat, "Cancel", "Wallpaper")
	h.press(h.ann, m, "Cancel")
	h.await(h.chat, "Canceled", "Nothing was charged")
	run := h.settled(1)[0]
	if run.Status != runs.StatusCanceled || held.PromptID != run.ID || h.one().ID != m.ID {
		h.t.Errorf("run %s: %s", run.ID, run.Status)
	}
	h.until("the engine to be free", func() bool { return len(h.engine.Calls("POST /interrupt")) > 0 })
}

func flowProgress(h *house) {
	gate := h.engine.Hold("SaveImage")
	h.ann.Send(h.chat, small)
	gate.Next()
	h.await(h.chat, "Wallpaper", " %")
	h.telegram.WaitCalls(h.t.Context(), "sendChatAction", 3) // some seconds later
	last := 0
	for _, c := range h.telegram.Calls("editMessageText") {
		var percent int
		before, _, _ := strings.Cut(c.Params["text"], " %")
		if _, err := fmt.Sscanf(before[strings.LastIndex(before, " ")+1:], "%d", &percent); err == nil && percent < last {
			h.t.Errorf("after %d %% it says %d %%", last, percent)
		}
		last = max(last, percent)
	}
	gate.Open()
	h.awaitFile(h.chat, "photo", "Wallpaper")
	h.settled(1)
}

func flowAgainAndVary(h *house) {
	h.ann.Send(h.chat, small+" seed=18446744073709551615")
	m := h.awaitButton(h.chat, "Again", "seed 18446744073709551615")
	h.handled()
	if first, second := h.ann.Press(m, "Again"), h.ann.Press(m, "Again"); first.Answer(h.t.Context()).Text == second.Answer(h.t.Context()).Text {
		h.t.Error("both presses have the same answer")
	}
	h.until("the repetition", func() bool { return len(h.bots(h.chat)) == 2 })
	h.press(h.ann, m, "Vary")
	h.until("the variation", func() bool { return len(h.bots(h.chat)) == 3 })
	list := h.settled(3)
	if again := input(list[1], "seed"); again != "18446744073709551615" {
		h.t.Errorf("Again ran with seed %s", again)
	}
	if input(list[0], "seed") == "18446744073709551615" || list[0].Sources["seed"] != runs.FromRandom {
		h.t.Errorf("Vary ran with seed %s from %s", input(list[0], "seed"), list[0].Sources["seed"])
	}
}

func flowAccounts(h *house) {
	h.ann.Send(h.chat, small+" colors=4")
	first := h.awaitFile(h.chat, "photo", "Wallpaper")
	run := h.settled(1)[0]
	h.ann.Send(h.chat, "/why")
	h.await(h.chat, "Colours: 4 – you typed it", "Vividness: 0.9 – the tool's default")
	h.ann.Send(h.chat, "/balance")
	h.await(h.chat, "You have", "$0.99")
	h.ann.Send(h.chat, "/history")
	m := h.awaitButton(h.chat, "Show 1", "Wallpaper", "done")
	h.press(h.ann, m, "Show 1")
	again := h.telegram.WaitMessage(h.t.Context(), h.chat, func(m telegramtest.Message) bool { return m.Media != nil && m.ID != first.ID })
	if again.Media.FileID != first.Media.FileID {
		h.t.Error("the picture was uploaded again")
	}
	if still := h.settled(1)[0]; still.ID != run.ID {
		h.t.Error("showing it has run it")
	}
}

func flowGroup(h *house) {
	group := h.telegram.Supergroup("Makers", h.ann, h.ben)
	group.OtherBotWrites()
	h.ann.Send(group, small)
	h.ann.Send(group, "/wallpaper@other_bot")
	h.ann.Send(group, "/poster@signalbox_test_bot")
	asked := h.await(group, "Screen-print poster", "Photo")
	if !asked.ForceReply {
		h.t.Errorf("in privacy mode the answer must be a reply: %s", asked)
	}
	h.ben.Post(group, telegramtest.Post{Files: []telegramtest.Attachment{telegramtest.Photo(photo(blue))}, ReplyTo: &asked})
	h.ann.Post(group, telegramtest.Post{Files: []telegramtest.Attachment{telegramtest.Photo(photo(red))}})
	h.handled()
	h.settled(0)
	h.ann.Post(group, telegramtest.Post{Files: []telegramtest.Attachment{telegramtest.Photo(photo(red))}, ReplyTo: &asked})
	m := h.awaitFile(group, "photo", "Screen-print poster")
	h.settled(1)
	if a := h.ben.Press(m, "Again").Answer(h.t.Context()); !a.Alert || !strings.Contains(a.Text, "Only the person") {
		h.t.Errorf("a stranger's press is answered %+v", a)
	}
	h.settled(1)
}

func flowAnonymous(h *house) {
	group := h.telegram.Supergroup("Makers", h.ann, h.ben)
	group.SetAdmin(h.ann)
	group.SetBotStatus(h.ann, "administrator") // it sees what names it
	anonymously := func(text string) {
		h.ann.Post(group, telegramtest.Post{Text: text, AsChat: true})
	}
	anonymously("/chatsettings@signalbox_test_bot")
	m := h.awaitButton(group, "Close", "Settings of this chat")
	if a := h.ben.Press(m, "Close").Answer(h.t.Context()); !a.Alert || !strings.Contains(a.Text, "Only the person") {
		h.t.Errorf("a member's press is answered %+v", a)
	}
	h.press(h.ann, m, "Close") // whoever presses is known
	h.until("closed settings", func() bool { return len(h.bots(group)) == 0 })
	for _, command := range []string{"/wallpaper", "/link", "/balance"} {
		n := len(h.bots(group))
		anonymously(command + "@signalbox_test_bot")
		h.until("an answer to "+command, func() bool { return len(h.bots(group)) > n })
		if m := h.bots(group)[n]; !strings.Contains(m.Text, "I can't tell who you are") || !strings.Contains(m.Text, "Remain anonymous") {
			h.t.Errorf("%s is answered %s", command, m)
		}
	}
	anonymously("@signalbox_test_bot a red bicycle")
	h.until("an answer to words", func() bool { return len(h.bots(group)) == 4 })
	h.handled()
	h.settled(0)
}

func flowTopic(h *house) {
	forum := h.telegram.Supergroup("Makers", h.ann)
	topic := forum.AddTopic("Art")
	request := h.ann.Post(forum, telegramtest.Post{Text: small + " seed=1", Thread: topic})[0]
	m := h.awaitFile(forum, "photo", "Wallpaper")
	if m.ThreadID != topic || m.ReplyTo != request.ID {
		h.t.Errorf("the result: %s", m)
	}
	h.ann.Post(forum, telegramtest.Post{Text: "/series", Thread: topic})
	h.awaitButton(forum, "Again", "Series")
	h.settled(2)
	for _, m := range h.bots(forum) {
		if m.ThreadID != topic {
			h.t.Errorf("outside of the topic: %s", m)
		}
	}
	h.ann.Send(forum, small+" seed=2")
	h.telegram.WaitMessage(h.t.Context(), forum, func(m telegramtest.Message) bool { return m.Media != nil && m.ThreadID == 0 })
}

func flowBlocked(h *house) {
	gate := h.engine.Hold("SaveImage")
	h.ann.Send(h.chat, small)
	held := gate.Next()
	h.handled()
	h.ann.Block()
	h.handled()
	held.Release()
	h.missed()
	h.ann.Unblock()
	m := h.awaitButton(h.chat, "Show", "could not reach you")
	h.press(h.ann, m, "Show")
	h.awaitFile(h.chat, "photo", "Wallpaper")
	h.settled(1)
}

func flowRateLimit(h *house) {
	gate := h.engine.Hold("SaveImage")
	h.ann.Send(h.chat, small)
	held := gate.Next()
	h.handled()
	h.telegram.Inject(telegramtest.RateLimit(time.Second).On("editMessageMedia").Repeat(2))
	held.Release()
	h.awaitFile(h.chat, "photo", "Wallpaper")
	h.settled(1)
	h.one()
	if n := len(h.telegram.Calls("editMessageMedia")); n != 3 {
		h.t.Errorf("%d tries, want 3: two refused, none too early", n)
	}
}

func flowTooLarge(h *house) {
	h.ann.SendDocument(h.chat, "huge.jpg", append(photo(red), make([]byte, botapi.MaxDownload)...), "/poster")
	h.await(h.chat, "too large", "20 MB")
	h.settled(0)
	h.telegram.Inject(telegramtest.Refuse(http.StatusRequestEntityTooLarge, "Request Entity Too Large").On("editMessageMedia"))
	h.ann.Send(h.chat, small)
	m := h.awaitFile(h.chat, "photo", "Wallpaper", "smaller version")
	h.settled(1)
	if !strings.HasSuffix(m.Media.Name, ".jpg") {
		h.t.Errorf("the smaller version: %s", m)
	}
}

func flowRestart(h *house) {
	gate := h.engine.Hold("SaveImage")
	h.ann.Send(h.chat, small)
	gate.Next()
	h.handled()
	status := h.awaitButton(h.chat, "Cancel", "Wallpaper")
	h.stop()
	h.ann.Send(h.chat, "/balance") // while nobody is there
	h.start()
	h.await(h.chat, "You have", "set aside")
	gate.Open()
	if m := h.awaitFile(h.chat, "photo", "Wallpaper"); m.ID != status.ID {
		h.t.Errorf("the result is %s, the status message was #%d", m, status.ID)
	}
	run := h.settled(1)[0]
	if n := h.engine.Runs(run.ID); n != 1 {
		h.t.Errorf("%d runs at the engine", n)
	}
	h.stop()
	h.start()
	h.press(h.ann, h.telegram.Now(status), "Again")
	h.until("the repetition", func() bool { return len(h.bots(h.chat)) == 3 })
	h.settled(2)
}

func flowBrokenDelivery(h *house) {
	h.telegram.Inject(telegramtest.CutAfter().On("editMessageMedia"))
	h.telegram.Inject(telegramtest.BrokenJSON().On("editMessageMedia"))
	h.ann.Send(h.chat, small)
	h.awaitFile(h.chat, "photo", "Wallpaper")
	h.settled(1)
	h.one()
	h.telegram.Inject(telegramtest.CutAfter().On("sendMediaGroup"))
	h.ann.Send(h.chat, "/series")
	m := h.awaitButton(h.chat, "Show", "connection broke")
	h.settled(2)
	if n := len(h.telegram.Calls("sendMediaGroup")); n != 1 {
		h.t.Errorf("the album was sent %d times", n)
	}
	h.press(h.ann, m, "Show")
	h.until("the second album", func() bool { return len(h.telegram.Calls("sendMediaGroup")) == 2 })
}

func flowMigration(h *house) {
	group := h.telegram.Group("Makers", h.ann)
	h.ann.Send(group, "/sponsor@signalbox_test_bot 0.5")
	h.press(h.ann, h.awaitButton(group, "Give $0.50"), "Give $0.50")
	h.await(group, "Ann gave")
	_, err := h.pool.Exec(h.t.Context(), `UPDATE groups SET pays = 'group'`)
	h.must(err)
	h.ann.Send(group, "/wallpaper@signalbox_test_bot width=96 height=64 seed=1")
	before := h.awaitFile(group, "photo", "seed 1")
	gate := h.engine.Hold("SaveImage")
	h.ann.Send(group, "/wallpaper@signalbox_test_bot width=96 height=64 seed=2")
	held := gate.Next()
	h.handled()
	super := group.Migrate()
	h.handled()
	held.Release()
	gate.Open()
	h.awaitFile(super, "photo", "seed 2")
	h.ann.Send(super, "/wallpaper@signalbox_test_bot width=96 height=64 seed=3")
	h.awaitFile(super, "photo", "seed 3")
	h.press(h.ann, before, "Again") // a button of the former chat
	h.awaitFile(super, "photo", "seed 1")
	group.SetBotStatus(h.ann, "left") // as Telegram may tell of the former chat later
	list, spent := h.over(4)
	for _, run := range list {
		if run.Payer == "" || run.Payer != list[0].Payer {
			h.t.Errorf("run %s is paid by %q, want the group", run.ID, run.Payer)
		}
	}
	b, err := h.ledger.Balance(h.t.Context(), list[0].Payer)
	h.must(err)
	if b.Held != 0 || b.Available != billing.Dollar/2-spent {
		h.t.Errorf("the group has %s and %s held, want %s", b.Available, b.Held, billing.Dollar/2-spent)
	}
	if open := h.count(`SELECT count(*) FROM groups WHERE closed_at IS NULL AND place = '` + strconv.FormatInt(super.ID(), 10) + `'`); open != 1 {
		h.t.Errorf("%d wallets of the supergroup", open)
	}
}

func flowNoRight(h *house) {
	group := h.telegram.Supergroup("Makers", h.ann)
	group.Forbid("photos")
	h.ann.Send(group, "/wallpaper@signalbox_test_bot width=96 height=64")
	h.awaitButton(group, "Show", "not enough rights to send photos")
	h.settled(1)
}

func flowMenu(h *house) {
	has := func(name string) bool {
		for _, c := range h.ann.Menu(h.chat) {
			if c.Command == name {
				return true
			}
		}
		return false
	}
	h.until("the command list", func() bool { return has("wallpaper") && has("series") && has("help") })
	for _, tool := range h.registry.Snapshot().Offered(registry.Everyone) {
		if name := strings.TrimPrefix(tool.CommandName, "/"); !has(name) {
			h.t.Errorf("the list lacks %s", name)
		}
	}
	if has("fluxgeneral") {
		h.t.Error("the list offers what no engine can run")
	}
	h.engine.Install("KSampler")
}

func flowUnavailable(h *house) {
	h.ann.Send(h.chat, "/fluxgeneral a red bicycle")
	h.await(h.chat, "not available", "KSampler")
	h.settled(0)
}

func flowEdited(h *house) {
	request := h.ann.Send(h.chat, small)
	h.awaitFile(h.chat, "photo", "Wallpaper")
	h.ann.Edit(request, small+" seed=9")
	h.settled(1)
	slip := h.ann.Send(h.chat, small+" sede=5")
	h.await(h.chat, "no option sede", "Nothing was charged")
	h.handled()
	h.ann.Edit(slip, small+" seed=5")
	h.awaitFile(h.chat, "photo", "Wallpaper", "seed 5")
	h.settled(2)
}

func TestWebhookFlow(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	h.public, _ = url.Parse(server.URL)
	h.start()
	mux.Handle(telegram.WebhookPath, h.adapter.WebhookHandler())
	h.telegram.WaitCalls(t.Context(), "setWebhook", 1)
	h.telegram.ReorderWebhook(2)
	h.telegram.RepeatUpdates(2)
	for i := range 2 {
		h.ann.Send(h.chat, small+" seed="+strconv.Itoa(i))
	}
	h.awaitFile(h.chat, "photo", "seed 0")
	h.awaitFile(h.chat, "photo", "seed 1")
	h.settled(2)
	if n := len(h.bots(h.chat)); n != 2 {
		t.Errorf("%d messages, want 2:\n%s", n, h.telegram.Transcript(h.chat))
	}
}

// TestRatesAreKept lets many people write at once to a service that enforces its usual rates: nothing is
// refused, and everybody gets their picture.
func TestRatesAreKept(t *testing.T) {
	t.Parallel()
	h := newHouse(t, telegramtest.Options{FloodLimits: true})
	h.limits = botapi.DefaultLimits()
	h.start()
	var chats []*telegramtest.Chat
	for i := range 12 {
		u := h.telegram.User("Somebody")
		chats = append(chats, u.Private())
		u.Send(u.Private(), small+" seed="+strconv.Itoa(i))
	}
	group := h.telegram.Supergroup("Makers", h.ann)
	for i := range 4 {
		h.ann.Send(group, "/wallpaper@signalbox_test_bot width=64 height=64 seed="+strconv.Itoa(100+i))
	}
	for _, c := range chats {
		h.awaitFile(c, "photo", "Wallpaper")
	}
	h.until("four pictures in the group", func() bool {
		n := 0
		for _, m := range h.bots(group) {
			if m.Media != nil {
				n++
			}
		}
		return n == 4
	})
	for _, c := range h.telegram.Calls("") {
		if c.Code == http.StatusTooManyRequests {
			t.Errorf("%s was refused: %s", c.Method, c.Description)
		}
	}
}
