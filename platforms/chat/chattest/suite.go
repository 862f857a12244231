package chattest

import (
	"fmt"
	"image/color"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
)

// Anna and Ben are the people of the suite.
func people() (anna, ben Person) {
	return Person{ID: "1001", Name: "Anna", Language: "en"}, Person{ID: "1002", Name: "Ben", Language: "en"}
}

// Suite proves that an adapter lets people use the house as they should be able to, whatever the platform.
// newHarness makes a platform of its own for each test.
func Suite(t *testing.T, newHarness func(t testing.TB) Harness) {
	for name, test := range tests() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			s := &scene{World: NewWorld(t, h, Tools()...), t: t}
			s.anna, s.ben = people()
			s.room = h.Private(s.anna)
			test(s)
		})
	}
}

// tests are all tests of the suite by what they prove.
func tests() map[string]func(*scene) {
	all := basics()
	maps.Copy(all, persons())
	maps.Copy(all, inputs())
	maps.Copy(all, results())
	maps.Copy(all, cards())
	maps.Copy(all, questions())
	maps.Copy(all, goingOn())
	maps.Copy(all, drawings())
	maps.Copy(all, sayings())
	maps.Copy(all, siteWork())
	maps.Copy(all, askings())
	maps.Copy(all, stepwise())
	maps.Copy(all, improving())
	maps.Copy(all, batches())
	maps.Copy(all, chains())
	maps.Copy(all, wallets())
	maps.Copy(all, reports())
	return all
}

// basics are what every platform needs for tools to be used at all.
func basics() map[string]func(*scene) {
	return map[string]func(*scene){
		"A8 a command starts its tool and the result takes the place of the status message":  commandToPicture,
		"A44 slash, case and @botname do not matter":                                         commandInAnyCase,
		"A62 options beat settings, settings beat defaults":                                  precedence,
		"a slip in an option is named, and nothing runs":                                     optionSlip,
		"what a tool has no use for is named, and nothing runs":                              leftOver,
		"what looks like an option in a text is text":                                        optionInText,
		"a value out of range is refused before any provider call":                           outOfRange,
		"A37 a file with the command as caption":                                             captionCommand,
		"A37 a tool that reads no captions says so and does not run":                         captionIgnored,
		"A38 a command in reply to a file uses the file":                                     replyCommand,
		"A38 a tool that takes no replies does not use the file":                             replyIgnored,
		"an album fills an input for several":                                                albumToMany,
		"an album fills several inputs in order":                                             albumInOrder,
		"A36 an image tool asks for its picture, and text gets a hint":                       asksForPicture,
		"A36 what a tool is mainly fed with is asked for first":                              asksForPrimary,
		"A21 an input's description stands beside it, in help, settings and questions":       describesInputs,
		"A19 missing text is asked for once, with an example and Cancel":                     asksForText,
		"Cancel ends a question":                                                             cancelQuestion,
		"a picture with a caption answers for both":                                          captionedAnswer,
		"Settings under a result opens the tool's settings":                                  settingsOfResult,
		"help finds tools and explains commands":                                             helpSearch,
		"a question with choices is answered by its buttons":                                 choiceQuestion,
		"a command begins anew, whatever was asked before":                                   newCommandEndsQuestion,
		"a question survives a restart":                                                      questionSurvivesRestart,
		"in groups a question is answered by reply":                                          groupQuestion,
		"A50 A59 settings show every input and keep what is set":                             settingsRoundTrip,
		"A22 the basic view hides advanced inputs, which keep their values":                  settingsAdvanced,
		"A58 settings are a person's own and survive a restart":                              settingsOwn,
		"settings without a tool list the tools, and Back leads back":                        settingsList,
		"settings take several choices and pictures, and one can be reset":                   settingsOfManyKinds,
		"in groups settings are not for everybody":                                           settingsInGroups,
		"progress is shown with the real percentage and the place in the queue":              progress,
		"Cancel stops a run, and nothing is charged":                                         cancelRun,
		"several pictures are an album with the buttons below":                               pictureAlbum,
		"a text result takes the place of the status message":                                textResult,
		"a long text comes as a file":                                                        longText,
		"a transparent picture stays transparent":                                            transparentPicture,
		"a failure tells what happened and that nothing was charged, and can be tried again": failure,
		"a refusal of the content is polite and free":                                        refused,
		"credit that does not suffice is told before anything runs":                          insufficient,
		"a tool that wants confirmation waits for it":                                        confirmation,
		"C30 C32 a yes that is typed lets it go ahead, one with a condition does not":        typedConfirmation,
		"C31 a summary that is too old lets nothing go ahead":                                tooOldSummary,
		"a double press acts once":                                                           doublePress,
		"only the requester may press":                                                       strangerPress,
		"a button nobody knows answers that it is too old":                                   foreignButton,
		"Vary draws a new seed, Again keeps what was given":                                  varyAndAgain,
		"Again draws anew what chance decided":                                               againOfADrawnSeed,
		"Original file sends the file itself":                                                originalFile,
		"Delete removes the result":                                                          deleteResult,
		"buttons work after a restart":                                                       buttonsAfterRestart,
		"a run goes on over a restart and is shown once":                                     restartDuringRun,
		"a repeated update starts nothing":                                                   repeatedUpdate,
		"rate limits delay and lose nothing":                                                 rateLimit,
		"what a blocked person missed is offered when they are back":                         blocked,
		"a deleted status message does not lose the result":                                  statusDeleted,
		"answers stay in their topic":                                                        topic,
		"an unknown command is answered with the nearest":                                    unknownCommand,
		"in groups the bot is silent unless addressed":                                       silentInGroups,
		"A80 a deprecated tool runs with a notice, an unavailable one is refused":            lifeStates,
		"A56 help shows a tool's description within the platform's limit":                    help,
		"A47 the command list equals the registry after each reload":                         commandLists,
		"start greets with examples, and a deep link leads to its tool":                      start,
		"run finds tools by words":                                                           runSearch,
		"why tells where each value came from":                                               why,
		"history shows runs again, balance what is left":                                     historyAndBalance,
		"history is paged":                                                           historyPages,
		"price tells what a tool costs":                                              price,
		"the price and what there is stand in help and price":                        pricesAndCredit,
		"a run above a share of the credit asks first":                               asksAboutPrices,
		"from which price on to ask is a setting":                                    askingIsASetting,
		"a result is told with its cost in short, its receipt with the exact figure": receiptOnDemand,
		"buy says how to get more credit":                                            buying,
		"an error on our side is told and does not stop the bot":                     internalError,
		"cancel lists what is under way, where it is several":                        cancelList,
	}
}

// scene is one test of the suite: Anna in her private chat with the bot.
type scene struct {
	*World
	t         *testing.T
	anna, ben Person
	room      Room
}

// say sends a text of Anna's to her private chat.
func (s *scene) say(text string) string { return s.sayIn(s.room, text) }

func (s *scene) sayIn(in Room, text string) string {
	s.t.Helper()
	return s.Harness.Post(s.t, Post{From: s.anna, In: in, Text: text})
}

func (s *scene) send(p Post) string {
	s.t.Helper()
	p.From, p.In = s.anna, s.room
	return s.Harness.Post(s.t, p)
}

// press presses a button as Anna or, where the label is in a menu, chooses it.
func (s *scene) press(m Seen, label string) chat.PressAnswer {
	s.t.Helper()
	if !m.Has(label) && m.Offers(label) {
		return extra[Chooser](s).Choose(s.t, s.anna, s.room, m.ID, label)
	}
	return s.Harness.Press(s.t, s.anna, s.room, m.ID, label)
}

// extra gives what a platform must have because its Capabilities say so.
func extra[E any](s *scene) E {
	s.t.Helper()
	e, ok := s.Harness.(E)
	if !ok {
		s.t.Fatalf("the harness is no %T, although the platform's capabilities say so", *new(E))
	}
	return e
}

// fill sends in a form that a press of a message opened.
func (s *scene) fill(m Seen, opened chat.PressAnswer, values map[string]string) chat.PressAnswer {
	s.t.Helper()
	if opened.Form == nil {
		s.t.Fatalf("no form was opened, but answered %+v", opened)
	}
	return extra[FormFiller](s).Fill(s.t, s.anna, s.room, m.ID, *opened.Form, values)
}

// refuseSetting writes a value for a setting that does not fit, and sees that it is refused with these words. It
// leaves the setting open where it is written as a message.
func (s *scene) refuseSetting(m Seen, label, value, words string) {
	s.t.Helper()
	opened := s.press(m, label)
	if opened.Form == nil {
		s.labelled("Back", label)
		s.say(value)
		s.AwaitText(s.room, words, "another value")
		return
	}
	if a := s.fill(m, opened, map[string]string{label: value}); !strings.Contains(a.Text, words) {
		s.t.Errorf("%s=%s is answered %q, want %q", label, value, a.Text, words)
	}
}

// writeSetting writes a value for a setting.
func (s *scene) writeSetting(m Seen, label, value string) {
	s.t.Helper()
	if s.Caps.Forms.Fields > 0 {
		s.fill(m, s.press(m, label), map[string]string{label: value})
		return
	}
	if m.shows(label) { // not open yet
		s.press(m, label)
		s.labelled("Back", label)
	}
	s.say(value)
	s.AwaitText(s.room, "Saved: "+label)
}

// input checks a value that reached the provider.
func (s *scene) input(c registry.Call, name, want string) {
	s.t.Helper()
	if got := fmt.Sprint(c.Inputs[name]); got != want {
		s.t.Errorf("input %s is %q, want %q", name, got, want)
	}
}

// painted runs the painter to its end and gives the result's message.
func (s *scene) painted(values ...string) Seen {
	s.t.Helper()
	n := s.CountRuns()
	s.say(strings.Join(append([]string{"/painter a red bicycle"}, values...), " "))
	s.Succeed(s.Call(n), PictureOutput("picture"))
	m := s.AwaitMedia(s.room, "a red bicycle")
	s.Idle()
	return m
}

// underWay starts a run and gives it with its status message, once nothing more is going to change there.
func (s *scene) underWay(command string) (registry.Call, Seen) {
	s.t.Helper()
	s.say(command)
	c := s.Call(0)
	status := s.labelled("Cancel")
	s.Handled()
	return c, status
}

// eventually waits for a state.
func (s *scene) eventually(what string, ok func() bool) {
	s.t.Helper()
	clocktest.Until(s.t, "there is a "+what, ok)
}

func (s *scene) noRun() {
	s.t.Helper()
	s.Handled()
	if n := s.CountRuns(); n != 0 {
		s.t.Errorf("%d runs were started, want none", n)
	}
}

// labelled waits for a message with this button.
func (s *scene) labelled(label string, parts ...string) Seen {
	s.t.Helper()
	return s.Await(s.room, fmt.Sprintf("button %q with %q", label, parts), func(m Seen) bool {
		return (m.shows(label) || m.chosen(label)) && m.contains(parts...)
	})
}

func picture(c color.NRGBA) File {
	return File{Kind: chat.KindPhoto, Name: "photo.png", MIMEType: "image/png", Data: Picture(12, 12, c), Width: 12, Height: 12}
}

func red() File   { return picture(color.NRGBA{R: 255, A: 255}) }
func green() File { return picture(color.NRGBA{G: 255, A: 255}) }

// refOf gives the reference under which a file is stored.
func (s *scene) refOf(f File) string {
	s.t.Helper()
	ref, _, err := s.Files.Keep(s.t.Context(), strings.NewReader(string(f.Data)), assets.Meta{Name: f.Name})
	if err != nil {
		s.t.Fatal(err)
	}
	return ref
}

func commandToPicture(s *scene) {
	s.say("/painter a red bicycle steps=7")
	c := s.Call(0)
	status := s.labelled("Cancel", "Painter", "under $0.01")
	s.input(c, "prompt", "a red bicycle")
	s.input(c, "steps", "7")
	s.input(c, "style", "oil")
	s.Succeed(c, PictureOutput("picture"))
	m := s.AwaitMedia(s.room, "Painter", "a red bicycle", "steps 7", "under $0.01", "Again: under $0.01")
	if m.Media.Kind != chat.KindPhoto {
		s.t.Errorf("the picture came as %s", m.Media.Kind)
	}
	if m.ID != status.ID {
		s.t.Errorf("the result is message %s, the status message was %s", m.ID, status.ID)
	}
	for _, label := range []string{"Again", "Settings", "Original file", "Delete"} {
		if !m.Has(label) {
			s.t.Errorf("there is no button %q: %v", label, m.Buttons)
		}
	}
	s.Idle()
	if list := s.Harness.Messages(s.t, s.room); len(list) != 1 {
		s.t.Errorf("one message was to be there:\n%s", render(list))
	}
}

func commandInAnyCase(s *scene) {
	s.say("/PAINTER a cat")
	s.input(s.Call(0), "prompt", "a cat")
}

func precedence(s *scene) {
	m := s.settings("painter")
	s.press(m, "style")
	m = s.labelled("Ink")
	s.press(m, "Ink")
	s.labelled("✓ Ink")
	s.say("/painter a cat")
	first := s.Call(0)
	s.input(first, "style", "ink")
	s.input(first, "steps", "20")
	s.say("/painter a cat style=chalk")
	s.input(s.Call(1), "style", "chalk")
}

func optionSlip(s *scene) {
	s.say("/painter a cat stpes=5")
	s.AwaitText(s.room, "stpes", "steps", "Nothing was charged", "seed=42")
	s.noRun()
}

func leftOver(s *scene) {
	for text, want := range map[string][]string{
		"/tapestry foo=bar":                {"Tapestry", "no option foo", "Options: width=640, colors=4"},
		"/tapestry colours=3":              {"no option colours", "Did you mean colors? Write it as colors=4"},
		"/tapestry a red bicycle":          {"“a red bicycle”", "no free text", "Options: width=640, colors=4"},
		"/tapestry widht 300":              {"“widht 300”", "Write it as width=640"},
		"/enlarge please":                  {"“please”", "It takes image: Send a picture", "Enlarge has no options: send /enlarge alone"},
		`/painter a cat prompt="two dogs"`: {"prompt has a value already"},
	} {
		s.say(text)
		s.AwaitText(s.room, append(want, "charged")...)
	}
	s.send(Post{Text: "/blend", Files: []File{red(), green(), picture(color.NRGBA{B: 255, A: 255})}})
	s.AwaitText(s.room, "Blend takes 2 of the 3 files", "Nothing was charged", "first: Send a picture", "second")
	s.send(Post{Text: "/enlarge", Files: []File{{Kind: chat.KindDocument, Name: "notes.txt", MIMEType: "text/plain", Data: []byte("notes")}}})
	s.AwaitText(s.room, "Enlarge can't use what you sent", "Nothing was charged", "Send a picture")
	s.say("/enlarge")
	s.labelled("Cancel", "Enlarge", "picture")
	s.send(Post{Files: []File{red(), green()}})
	s.AwaitText(s.room, "Enlarge takes 1 of the 2 files", "/batch enlarge", "another value")
	s.send(Post{Text: "make it blue", Files: []File{red()}})
	s.AwaitText(s.room, "“make it blue”", "another value")
	s.noRun()
	s.balance(signupCredit.String())
}

func optionInText(s *scene) {
	s.say("/painter a poster with foo=bar on it")
	s.input(s.Call(0), "prompt", "a poster with foo=bar on it")
}

func outOfRange(s *scene) {
	s.say("/painter a cat steps=500")
	s.AwaitText(s.room, "50", "Nothing was charged")
	s.noRun()
}

func captionCommand(s *scene) {
	s.send(Post{Text: "/enlarge", Files: []File{red()}})
	c := s.Call(0)
	s.input(c, "image", s.refOf(red()))
	if from := s.LastRun().Sources["image"]; from != runs.FromAttachment {
		s.t.Errorf("the picture came from %q", from)
	}
}

func captionIgnored(s *scene) {
	s.send(Post{Text: "/nocaption", Files: []File{red()}})
	s.AwaitText(s.room, "No Caption", "caption", "reply")
	s.noRun()
}

func replyCommand(s *scene) {
	id := s.send(Post{Files: []File{red()}})
	s.send(Post{Text: "/nocaption", ReplyTo: id})
	s.input(s.Call(0), "image", s.refOf(red()))
	if from := s.LastRun().Sources["image"]; from != runs.FromReply {
		s.t.Errorf("the picture came from %q", from)
	}
}

func replyIgnored(s *scene) {
	id := s.send(Post{Files: []File{red()}})
	s.send(Post{Text: "/noreply", ReplyTo: id})
	s.AwaitText(s.room, "No Reply", "replied to", "picture")
	s.noRun()
}

func albumToMany(s *scene) {
	s.send(Post{Text: "/collage", Files: []File{red(), green()}})
	c := s.Call(0)
	s.input(c, "images", fmt.Sprint([]any{s.refOf(red()), s.refOf(green())}))
}

func albumInOrder(s *scene) {
	s.send(Post{Text: "/blend", Files: []File{green(), red()}})
	c := s.Call(0)
	s.input(c, "first", s.refOf(green()))
	s.input(c, "second", s.refOf(red()))
}

func asksForPicture(s *scene) {
	s.say("/enlarge")
	s.labelled("Cancel", "Enlarge", "picture")
	s.say("a red bicycle")
	s.AwaitText(s.room, "does not fit", "picture")
	s.noRun()
	s.send(Post{Files: []File{red()}})
	s.input(s.Call(0), "image", s.refOf(red()))
	if from := s.LastRun().Sources["image"]; from != runs.FromAnswer {
		s.t.Errorf("the picture came from %q", from)
	}
}

func asksForText(s *scene) {
	s.say("/painter steps=9")
	asked := s.labelled("Cancel", "Painter", "prompt", "For example")
	s.say("a blue door")
	c := s.Call(0)
	s.input(c, "prompt", "a blue door")
	s.input(c, "steps", "9")
	s.Await(s.room, "question without buttons", func(m Seen) bool { return m.ID == asked.ID && len(m.Buttons) == 0 })
}

func cancelQuestion(s *scene) {
	s.say("/painter")
	asked := s.labelled("Cancel", "prompt")
	s.press(asked, "Cancel")
	s.AwaitText(s.room, "dropped")
	s.say("a blue door")
	s.noRun()
}

func questionSurvivesRestart(s *scene) {
	s.say("/painter steps=9")
	s.labelled("Cancel", "prompt")
	s.Handled()
	s.Restart()
	s.say("a blue door")
	c := s.Call(0)
	s.input(c, "prompt", "a blue door")
	s.input(c, "steps", "9")
}

func groupQuestion(s *scene) {
	group := s.Harness.Group("Painters")
	if group.none() {
		return
	}
	s.sayIn(group, "/painter")
	asked := s.AwaitText(group, "prompt")
	s.Handled()
	s.sayIn(group, "hello everybody")
	s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "a yellow door", ReplyTo: asked.ID})
	s.noRun()
	s.Harness.Post(s.t, Post{From: s.anna, In: group, Text: "a blue door", ReplyTo: asked.ID})
	s.input(s.Call(0), "prompt", "a blue door")
}

func captionedAnswer(s *scene) {
	s.say("/retouch")
	s.labelled("Cancel", "Retouch", "picture")
	s.send(Post{Text: "remove the fence", Files: []File{red()}})
	c := s.Call(0)
	s.input(c, "image", s.refOf(red()))
	s.input(c, "prompt", "remove the fence")
}

func settingsOfResult(s *scene) {
	s.press(s.painted(), "Settings")
	s.labelled("Close", "Settings · Painter", "steps")
}

func helpSearch(s *scene) {
	s.say("/help picture describe")
	s.labelled("Painter", "Tools for")
	s.say("/help balance")
	s.AwaitText(s.room, "/balance", "What you have")
	s.say("/help zzzzqqqq")
	s.AwaitText(s.room, "no tool for", "zzzzqqqq")
	s.say("/help painter")
	m := s.labelled("Start", "Paints a picture", "Price: under $0.01")
	s.press(m, "Start")
	s.AwaitText(s.room, "Painter", "needs", "prompt")
}

func choiceQuestion(s *scene) {
	s.say("/frame")
	asked := s.labelled("Oak", "Frame", "wood")
	s.press(asked, "Pine")
	asked = s.labelled("Yes", "Frame", "glass")
	s.press(asked, "No")
	c := s.Call(0)
	s.input(c, "wood", "pine")
	s.input(c, "glass", "false")
	s.say("/frame")
	s.Await(s.room, "second question", func(m Seen) bool { return m.shows("Oak") && m.ID != asked.ID })
	s.say("OAK")
	s.Await(s.room, "second question", func(m Seen) bool { return m.shows("Yes") && m.ID != asked.ID })
	s.say("on")
	s.input(s.Call(1), "wood", "oak")
}

func newCommandEndsQuestion(s *scene) {
	s.say("/enlarge")
	s.labelled("Cancel", "Enlarge")
	s.say("/painter a cat")
	s.Call(0)
	s.send(Post{Files: []File{red()}})
	s.AwaitText(s.room, "Reply to your file", "/enlarge")
	s.Handled()
	if n := s.CountRuns(); n != 1 {
		s.t.Errorf("%d runs, want 1", n)
	}
}

// settings opens the settings of a tool.
func (s *scene) settings(name string) Seen {
	s.t.Helper()
	s.say("/settings " + name)
	return s.labelled("Close", "Settings")
}

func settingsRoundTrip(s *scene) {
	m := s.settings("painter")
	for _, f := range PainterTool().InputSchema {
		if shown := strings.Contains(m.Text, f.Label()); shown == f.Advanced {
			s.t.Errorf("input %s is shown: %v in\n%s", f.Label(), shown, m.Text)
		}
	}
	s.refuseSetting(m, "steps", "500", "50")
	if s.Caps.Forms.Fields == 0 {
		m = s.labelled("Back", "steps")
	}
	s.writeSetting(m, "steps", "33")
	m = s.labelled("Close", "33")
	s.press(m, "Tiled: No")
	m = s.labelled("Tiled: Yes")
	s.say("/painter a cat")
	c := s.Call(0)
	s.input(c, "steps", "33")
	s.input(c, "tiled", "true")
	s.press(m, "Reset all")
	s.labelled("Tiled: No")
	s.say("/painter a cat")
	c = s.Call(1)
	s.input(c, "steps", "20")
	s.input(c, "tiled", "false")
	s.press(s.labelled("Close", "Settings"), "Close")
	s.until(s.room, "closed settings", func(list []Seen) bool {
		for _, m := range list {
			if strings.Contains(m.Text, "Settings ·") {
				return false
			}
		}
		return true
	})
}

func settingsAdvanced(s *scene) {
	m := s.settings("painter")
	s.press(m, "Advanced (2)")
	m = s.labelled("Basic only", "negative")
	s.writeSetting(m, "negative", "fog")
	m = s.labelled("Basic only", "fog")
	s.press(m, "Basic only")
	m = s.labelled("Advanced (2)")
	if strings.Contains(m.Text, "fog") {
		s.t.Errorf("the basic view shows an advanced input:\n%s", m.Text)
	}
	s.say("/painter a cat")
	s.input(s.Call(0), "negative", "fog")
}

func settingsOwn(s *scene) {
	m := s.settings("painter")
	s.press(m, "style")
	s.press(s.labelled("Ink"), "Ink")
	s.labelled("✓ Ink")
	s.Handled()
	s.Restart()
	s.Harness.Post(s.t, Post{From: s.ben, In: s.Harness.Private(s.ben), Text: "/painter a cat"})
	s.input(s.Call(0), "style", "oil")
	s.say("/painter a cat")
	s.input(s.Call(1), "style", "ink")
}

func settingsList(s *scene) {
	s.say("/settings")
	m := s.labelled("Painter", "which tool")
	s.press(m, "Painter")
	m = s.labelled("style", "Settings · Painter")
	s.press(m, "style")
	m = s.labelled("Back", "Painter · style")
	s.press(m, "Ink")
	s.press(s.labelled("✓ Ink"), "Reset to default")
	m = s.labelled("style", "Settings · Painter", "Oil paint")
	if s.Caps.Forms.Fields == 0 {
		s.press(m, "steps")
		s.press(s.labelled("Back", "Painter · steps"), "Back")
		s.labelled("style", "Settings · Painter")
	}
	s.say("12")
	s.AwaitText(s.room, "I don't know what to do")
	s.say("/painter a cat")
	c := s.Call(0)
	s.input(c, "style", "oil")
	s.input(c, "steps", "20")
}

func settingsOfManyKinds(s *scene) {
	m := s.settings("frame")
	s.press(m, "extras")
	m = s.labelled("Hook", "Frame · extras")
	if len(m.Menus) > 0 {
		extra[Chooser](s).Choose(s.t, s.anna, s.room, m.ID, "Hook", "Label")
		extra[Chooser](s).Choose(s.t, s.anna, s.room, s.labelled("✓ Hook").ID, "Label")
	} else {
		s.press(m, "Hook")
		s.press(s.labelled("✓ Hook"), "Label")
		s.press(s.labelled("✓ Label"), "✓ Hook")
	}
	s.press(s.labelled("✓ Label", "Frame · extras"), "Back")
	m = s.labelled("Reverse", "Settings · Frame")
	s.press(m, "Reverse")
	s.labelled("Back", "Frame · Reverse", "picture")
	s.say("a word")
	s.AwaitText(s.room, "does not fit")
	s.send(Post{Files: []File{red()}})
	s.AwaitText(s.room, "Saved: Reverse")
	s.say("/frame oak glass=yes")
	c := s.Call(0)
	s.input(c, "extras", "[label]")
	s.input(c, "back", s.refOf(red()))
}

func settingsInGroups(s *scene) {
	group := s.Harness.Group("Painters")
	if group.none() {
		return
	}
	s.sayIn(group, "/settings painter")
	if s.Caps.Ephemeral || s.Caps.DeepLink == "" {
		s.AwaitText(group, "Settings · Painter", "steps")
		return
	}
	m := s.AwaitText(group, "Painter", "between us")
	if !m.Has("Settings") {
		s.t.Errorf("there is no way to the settings: %v", m.Buttons)
	}
	s.say("/start settings-painter")
	s.labelled("steps", "Settings · Painter")
}

func progress(s *scene) {
	s.say("/painter a cat")
	c := s.Call(0)
	status := s.labelled("Cancel", "Painter")
	s.Progress(c, registry.Progress{State: registry.RunQueued, QueuePosition: 3})
	s.AwaitText(s.room, "place 3")
	s.Progress(c, registry.Progress{State: registry.RunRunning, Stage: "Sampling", Fraction: 0.42, HasFraction: true, Rest: 21 * time.Second})
	m := s.AwaitText(s.room, "Sampling", "42 %", "about 20 s left")
	if m.ID != status.ID || !m.Has("Cancel") {
		s.t.Errorf("progress is shown in %+v, the status message is %s", m, status.ID)
	}
	s.Succeed(c, PictureOutput("picture"))
	s.AwaitMedia(s.room, "Painter")
}

func cancelRun(s *scene) {
	s.say("/painter a cat")
	c := s.Call(0)
	s.Progress(c, registry.Progress{State: registry.RunRunning})
	s.press(s.labelled("Cancel", "Painter"), "Cancel")
	m := s.AwaitText(s.room, "Canceled", "Nothing was charged")
	if m.Has("Cancel") {
		s.t.Error("a canceled run can be canceled")
	}
	s.Idle()
	if !s.Provider.Canceled(handle(c)) {
		s.t.Error("the provider works on")
	}
	s.balance("$1")
}

// balance checks what Anna has.
func (s *scene) balance(want string) {
	s.t.Helper()
	s.say("/balance")
	s.AwaitText(s.room, "You have "+want)
}

func pictureAlbum(s *scene) {
	s.say("/series a cat")
	s.Succeed(s.Call(0), PictureOutput("one"), PictureOutput("two"))
	m := s.labelled("Again", "Series")
	s.Idle()
	s.wantButtons(m, "U1 U2 Again | Edit prompt Settings Original file Use with… Delete")
	list := s.Harness.Messages(s.t, s.room)
	if s.Caps.AlbumButtons {
		if len(list) != 2 || list[0].Media == nil || list[1].Media == nil || m.Media == nil {
			s.t.Errorf("want two pictures with the buttons:\n%s", render(list))
		}
		return
	}
	if len(list) != 3 || list[0].Media == nil || list[1].Media == nil || list[2].ID != m.ID {
		s.t.Errorf("want two pictures, then the buttons:\n%s", render(list))
	}
}

func textResult(s *scene) {
	s.say("/poem autumn")
	s.Succeed(s.Call(0), registrytest.Text("poem", "Leaves <fall> & *fly*_again_"))
	m := s.AwaitText(s.room, "Leaves <fall> & *fly*_again_", "Poem")
	if m.Media != nil || !m.Has("Again") || m.Has("Original file") || m.Has("Vary") {
		s.t.Errorf("the text looks like %+v", m)
	}
}

func longText(s *scene) {
	s.say("/poem autumn")
	long := strings.Repeat("Leaves fall. ", 1000)
	s.Succeed(s.Call(0), registrytest.Text("poem", long))
	m := s.AwaitMedia(s.room, "Leaves fall", "Poem")
	if got := string(m.Media.Data); got != strings.TrimSpace(long) {
		s.t.Errorf("the file has %d characters, want %d", len(got), len(long))
	}
}

func transparentPicture(s *scene) {
	s.say("/painter a cat")
	data := Picture(16, 16, color.NRGBA{R: 9, A: 100})
	info := registry.MediaInfo{Name: "cut.png", MIMEType: "image/png", Width: 16, Height: 16}
	s.Succeed(s.Call(0), registrytest.File("picture", "image", info, data))
	m := s.AwaitMedia(s.room, "Painter")
	if m.Media.Kind != chat.KindDocument && s.Caps.Photo.LosesAlpha || string(m.Media.Data) != string(data) {
		s.t.Errorf("the picture came as %s with %d bytes", m.Media.Kind, len(m.Media.Data))
	}
}

func failure(s *scene) {
	s.say("/painter a cat")
	s.Fail(s.Call(0), registry.CodeProvider, "the engine ran out of memory")
	m := s.AwaitText(s.room, "Painter", "ran out of memory", "Nothing was charged", "Try again: under $0.01")
	s.Idle()
	s.press(m, "Try again")
	c := s.Call(1)
	s.input(c, "prompt", "a cat")
	s.Succeed(c, PictureOutput("picture"))
	s.AwaitMedia(s.room, "Painter")
	s.Idle()
	s.balance("$0.99")
}

func refused(s *scene) {
	s.say("/painter a cat")
	s.Fail(s.Call(0), registry.CodeRefused, "no cats, please")
	s.AwaitText(s.room, "rules", "No cats", "Nothing was charged")
	s.Idle()
	s.balance("$1")
}

func insufficient(s *scene) {
	dear := PainterTool()
	dear.CostingModel.Rate = "5"
	s.Loader.Set(dear)
	s.Reload()
	s.say("/painter a cat")
	s.AwaitText(s.room, "$5", "$1", "Nothing was charged")
	s.noRun()
	if list := s.Harness.Messages(s.t, s.room); len(list) != 1 {
		s.t.Errorf("one message was to be there:\n%s", render(list))
	}
}

func confirmation(s *scene) {
	s.say("/mural a cat")
	m := s.labelled("Go ahead", "Mural", "a cat", "10 minutes")
	s.Handled()
	if n := len(s.Provider.Calls()); n != 0 {
		s.t.Errorf("%d runs went ahead by themselves", n)
	}
	s.press(m, "Go ahead")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	s.AwaitMedia(s.room, "Mural")
}

// engraving has two inputs that it needs, the picture behind the text, though pictures are what it is mainly fed with.
func engraving() registry.Tool {
	t := tool("engraving", "Engraving",
		registry.InputField{Name: "motto", Type: registry.TypeString, Required: true, Description: "What stands on the frame."},
		registry.InputField{Name: "photo", Type: registry.TypeImage, Required: true, Description: "What hangs in the frame."})
	t.PlatformHints = &registry.PlatformHints{PrimaryInput: "image"}
	return t
}

func asksForPrimary(s *scene) {
	for primary, first := range map[string]string{"image": "What hangs in", "text": "What stands on"} {
		t := engraving()
		t.PlatformHints.PrimaryInput = primary
		s.Loader.Set(t)
		s.Reload()
		s.say("/engraving")
		s.press(s.labelled("Cancel", "Engraving", first), "Cancel")
		s.Handled()
	}
}

func describesInputs(s *scene) {
	s.Loader.Set(engraving())
	s.Reload()
	s.say("/help engraving")
	s.AwaitText(s.room, "What stands on the frame.")
	s.say("/settings engraving")
	s.labelled("motto", "What stands on the frame.")
	s.say("/engraving")
	s.labelled("Cancel", "Engraving", "What hangs in the frame.")
}

func typedConfirmation(s *scene) {
	s.say("/mural a cat")
	s.labelled("Go ahead", "Mural", "a cat")
	s.Handled()
	for _, condition := range []string{"yes but change the colour", "yes?"} {
		s.say(condition)
		s.Handled()
	}
	if n := len(s.Provider.Calls()); n != 0 {
		s.t.Errorf("%d runs went ahead by themselves", n)
	}
	s.say("Yes, please!")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	s.AwaitMedia(s.room, "Mural")
	s.say("/mural a dog")
	s.labelled("Go ahead", "Mural", "a dog")
	s.Handled()
	if _, err := s.Pool.Exec(s.t.Context(), `UPDATE runs SET created_at = created_at - interval '601 seconds'`); err != nil {
		s.t.Fatal(err)
	}
	s.say("yes")
	s.Handled()
	if n := len(s.Provider.Calls()); n != 1 {
		s.t.Errorf("%d runs went ahead", n)
	}
}

func tooOldSummary(s *scene) {
	s.say("/mural a cat")
	m := s.labelled("Go ahead", "Mural")
	s.Handled()
	if _, err := s.Pool.Exec(s.t.Context(), `UPDATE runs SET created_at = created_at - interval '601 seconds'`); err != nil {
		s.t.Fatal(err)
	}
	a := s.press(m, "Go ahead")
	if !strings.Contains(a.Text, "older than 10 minutes") && !strings.Contains(a.Text, "over") { // by then it may be canceled
		s.t.Errorf("the press answers %q", a.Text)
	}
	if n := len(s.Provider.Calls()); n != 0 {
		s.t.Errorf("%d runs went ahead", n)
	}
}

func doublePress(s *scene) {
	m := s.painted()
	s.press(m, "Again")
	s.labelled("✓ Again", "a red bicycle")
	if a := s.press(m, "✓ Again"); !strings.Contains(a.Text, "already") {
		s.t.Errorf("the second press answers %q", a.Text)
	}
	s.Harness.Repeat(s.t)
	s.Call(1)
	s.Handled()
	if n := s.CountRuns(); n != 2 {
		s.t.Errorf("%d runs, want 2", n)
	}
}

func strangerPress(s *scene) {
	group := s.Harness.Group("Painters")
	if group.none() {
		return
	}
	s.sayIn(group, "/painter a cat")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	m := s.AwaitMedia(group, "Painter")
	for _, label := range []string{"Again", "Delete", "Settings"} {
		if a := s.Harness.Press(s.t, s.ben, group, m.ID, label); !strings.Contains(a.Text, "Only the person") {
			s.t.Errorf("%s of a stranger answers %q", label, a.Text)
		}
	}
	s.Handled()
	if n := s.CountRuns(); n != 1 {
		s.t.Errorf("%d runs, want 1", n)
	}
	if a := s.Harness.Press(s.t, s.anna, group, m.ID, "Again"); !strings.Contains(a.Text, "Started") {
		s.t.Errorf("Again of the requester answers %q", a.Text)
	}
}

func foreignButton(s *scene) {
	m := s.painted()
	for _, data := range []string{"AAAAAAAAAAAAA.again", "x", "AAAAAAAAAAAAA.", strings.Repeat("z", 64)} {
		if a := s.Harness.PressData(s.t, s.anna, s.room, m.ID, data); !strings.Contains(a.Text, "too old") {
			s.t.Errorf("the button %q answers %q", data, a.Text)
		}
	}
}

func varyAndAgain(s *scene) {
	s.say("/painter a cat seed=18446744073709551615 steps=3")
	first := s.Call(0)
	s.input(first, "seed", "18446744073709551615")
	s.Succeed(first, PictureOutput("picture"))
	m := s.AwaitMedia(s.room, "seed 18446744073709551615", "Again, Vary: under $0.01")
	s.press(m, "Again")
	again := s.Call(1)
	s.input(again, "seed", "18446744073709551615")
	s.input(again, "steps", "3")
	s.press(m, "Vary")
	vary := s.Call(2)
	s.input(vary, "steps", "3")
	if fmt.Sprint(vary.Inputs["seed"]) == "18446744073709551615" {
		s.t.Error("Vary kept the seed")
	}
	if run := s.LastRun(); run.Parent == "" || run.Sources["seed"] != runs.FromRandom {
		s.t.Errorf("the variation has parent %q and its seed from %q", run.Parent, run.Sources["seed"])
	}
}

func againOfADrawnSeed(s *scene) {
	s.say("/painter a cat")
	first := s.Call(0)
	s.Succeed(first, PictureOutput("picture"))
	m := s.AwaitMedia(s.room, "a cat")
	s.press(m, "Again")
	again := s.Call(1)
	for name, want := range first.Inputs {
		if name != "seed" {
			s.input(again, name, fmt.Sprint(want))
		}
	}
	if fmt.Sprint(again.Inputs["seed"]) == fmt.Sprint(first.Inputs["seed"]) {
		s.t.Error("Again gives the same picture")
	}
	s.Succeed(again, PictureOutput("picture"))
	s.Idle()
	for _, m := range s.Harness.Messages(s.t, s.room) {
		if m.Has("Vary") {
			s.t.Errorf("Vary, which would do what Again does, stands beside it: %v", m.Buttons)
		}
	}
}

func originalFile(s *scene) {
	m := s.painted()
	s.press(m, "Original file")
	o := s.Await(s.room, "document", func(m Seen) bool { return m.Media != nil && m.Media.Kind == chat.KindDocument })
	if want := Picture(16, 16, color.NRGBA{R: 200, A: 255}); string(o.Media.Data) != string(want) {
		s.t.Errorf("the file has %d bytes, want %d", len(o.Media.Data), len(want))
	}
}

func deleteResult(s *scene) {
	m := s.painted()
	s.press(m, "Delete")
	s.until(s.room, "empty room", func(list []Seen) bool { return len(list) == 0 })
	s.Idle()
	var deleted, files int
	if err := s.Pool.QueryRow(s.t.Context(), `SELECT count(*) FILTER (WHERE deleted_at IS NOT NULL), (SELECT count(*) FROM asset_owners) FROM runs`).Scan(&deleted, &files); err != nil || deleted != 1 || files != 0 {
		s.t.Errorf("%d runs were deleted and %d files are left (%v), want 1 and none", deleted, files, err)
	}
}

func buttonsAfterRestart(s *scene) {
	m := s.painted()
	s.Restart()
	s.press(m, "Again")
	s.input(s.Call(1), "prompt", "a red bicycle")
}

func restartDuringRun(s *scene) {
	s.say("/painter a cat")
	c := s.Call(0)
	s.Progress(c, registry.Progress{State: registry.RunRunning, Fraction: 0.1, HasFraction: true})
	status := s.AwaitText(s.room, "10 %")
	s.Handled()
	s.Restart()
	s.Progress(c, registry.Progress{State: registry.RunRunning, Fraction: 0.5, HasFraction: true})
	m := s.AwaitText(s.room, "50 %")
	if m.ID != status.ID {
		s.t.Errorf("progress goes on in message %s, the status message is %s", m.ID, status.ID)
	}
	s.Succeed(c, PictureOutput("picture"))
	s.AwaitMedia(s.room, "Painter")
	s.Idle()
	if list := s.Harness.Messages(s.t, s.room); len(list) != 1 {
		s.t.Errorf("one message was to be there:\n%s", render(list))
	}
	if n := len(s.Provider.Calls()); n != 1 {
		s.t.Errorf("%d runs at the provider, want 1", n)
	}
}

func repeatedUpdate(s *scene) {
	s.say("/painter a cat")
	s.Call(0)
	s.Harness.Repeat(s.t)
	s.Handled()
	s.Restart()
	s.Harness.Repeat(s.t)
	s.say("/balance")
	s.AwaitText(s.room, "You have")
	if n := s.CountRuns(); n != 1 {
		s.t.Errorf("%d runs, want 1", n)
	}
}

func rateLimit(s *scene) {
	c, _ := s.underWay("/painter a cat")
	s.Harness.Refuse(2, 100*time.Millisecond)
	s.Succeed(c, PictureOutput("picture"))
	s.AwaitMedia(s.room, "Painter")
	s.Idle()
	if list := s.Harness.Messages(s.t, s.room); len(list) != 1 {
		s.t.Errorf("one message was to be there:\n%s", render(list))
	}
}

func blocked(s *scene) {
	s.say("/painter a cat")
	c := s.Call(0)
	s.labelled("Cancel", "Painter")
	s.Harness.Block(s.t, s.anna)
	s.Handled()
	s.Succeed(c, PictureOutput("picture"))
	s.missed()
	s.Harness.Unblock(s.t, s.anna)
	s.say("/balance")
	offer := s.labelled("Show", "could not reach you")
	s.press(offer, "Show")
	s.AwaitMedia(s.room, "a cat")
	s.Idle()
	s.say("/balance")
	s.Idle()
	offers := 0
	for _, m := range s.Harness.Messages(s.t, s.room) {
		if m.Has("Cancel") {
			s.t.Errorf("a status message of a run that is over stays:\n%s", m.Text)
		}
		if m.contains("could not reach you") {
			offers++
		}
	}
	if offers != 1 {
		s.t.Errorf("%d offers, want 1", offers)
	}
}

// missed waits until a delivery was given up.
func (s *scene) missed() {
	s.t.Helper()
	clocktest.Until(s.t, "a delivery is given up", func() (missed bool) {
		if err := s.Pool.QueryRow(s.t.Context(), `SELECT EXISTS (SELECT FROM chat_deliveries WHERE missed_at IS NOT NULL)`).Scan(&missed); err != nil {
			s.t.Fatal(err)
		}
		return missed
	})
}

func statusDeleted(s *scene) {
	c, status := s.underWay("/painter a cat")
	s.Harness.DeleteMessage(s.t, s.room, status.ID)
	s.Succeed(c, PictureOutput("picture"))
	s.AwaitMedia(s.room, "a cat")
}

func topic(s *scene) {
	group := s.Harness.Group("Painters")
	if group.none() {
		return
	}
	group.Topic = "77"
	id := s.sayIn(group, "/series a cat")
	s.Succeed(s.Call(0), PictureOutput("one"), PictureOutput("two"))
	s.Await(group, "result in the topic", func(m Seen) bool { return m.Has("Again") && m.Topic == "77" })
	s.Idle()
	for _, m := range s.Harness.Messages(s.t, group) {
		if m.Topic != "77" {
			s.t.Errorf("message %s is in topic %q", m.ID, m.Topic)
		}
		if m.ReplyTo != id {
			s.t.Errorf("message %s answers %q, the request was %s", m.ID, m.ReplyTo, id)
		}
	}
}

func unknownCommand(s *scene) {
	s.say("/paintre a cat")
	s.AwaitText(s.room, "/paintre", "/painter")
	for typed, meant := range map[string]string{
		"/undo": "/cancel", "/Stop": "/cancel", "/credits": "/balance", "/models": "/tools", "/lang": "/language", "/imagine": "/run", "/gallery": "/history",
	} {
		s.say(typed)
		s.AwaitText(s.room, "no command "+typed, "Did you mean "+meant)
	}
	for _, command := range []string{"/sell", "/moon", "/dney"} { // nothing is near, or only what admins of groups use
		s.say(command + " now")
		if said := s.AwaitText(s.room, command); strings.Contains(said.Text, "Did you mean") {
			s.t.Errorf("%s: %s", command, said.Text)
		}
	}
	s.noRun()
}

func silentInGroups(s *scene) {
	group := s.Harness.Group("Painters")
	if group.none() {
		return
	}
	for _, text := range []string{"good morning", "/weather today"} {
		s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: text, Aside: true})
	}
	s.sayIn(group, "/balance")
	s.AwaitText(group, "You have")
	s.Handled()
	if list := s.Harness.Messages(s.t, group); len(list) != 1 {
		s.t.Errorf("one message was to be there:\n%s", render(list))
	}
	var known int
	if err := s.Pool.QueryRow(s.t.Context(), `SELECT count(*) FROM users`).Scan(&known); err != nil || known != 1 {
		s.t.Errorf("%d people have accounts (%v), want only the one who spoke to the bot", known, err)
	}
}

func lifeStates(s *scene) {
	s.say("/etching a cat")
	s.AwaitText(s.room, "will go away", "Painter is better", "/painter")
	s.Call(0)
	s.say("/fresco a cat")
	s.AwaitText(s.room, "not available", "wall.safetensors", "Nothing was charged", "/painter")
	s.Handled()
	if n := s.CountRuns(); n != 1 {
		s.t.Errorf("%d runs, want 1", n)
	}
	s.say("/tools")
	m := s.AwaitText(s.room, "Tools", "/painter")
	if m.contains("/etching") || m.contains("/fresco") {
		s.t.Errorf("the menu offers tools that go away:\n%s", m.Text)
	}
}

func help(s *scene) {
	long := PainterTool()
	long.Description = "Paints. " + strings.Repeat("It paints and paints. ", 500)
	s.Loader.Set(long)
	s.Reload()
	s.say("/help painter")
	m := s.AwaitText(s.room, "Painter", "Paints. It paints", "prompt", "…")
	if len(m.Text) > 4200 {
		s.t.Errorf("the help has %d characters", len(m.Text))
	}
	s.say("/help")
	s.AwaitText(s.room, "/settings", "Pictures", "/painter – Painter")
}

func commandLists(s *scene) {
	has := func(kind chat.ChatKind, name string) bool {
		return slices.Contains(s.Harness.Commands(s.t, kind), name)
	}
	s.until(s.room, "command list", func([]Seen) bool { return has(chat.ChatPrivate, "painter") && has(chat.ChatGroup, "help") })
	if has(chat.ChatPrivate, "etching") || has(chat.ChatPrivate, "fresco") {
		s.t.Error("the list offers tools that go away")
	}
	sketch := PainterTool()
	sketch.ToolID, sketch.CommandName = "sketch", "/sketch"
	s.Loader.Set(sketch)
	s.Reload()
	s.until(s.room, "new command list", func([]Seen) bool { return has(chat.ChatGroup, "sketch") && !has(chat.ChatPrivate, "painter") })
}

func start(s *scene) {
	s.say("/start")
	m := s.AwaitText(s.room, "Send me a command")
	buttons := 0
	for _, row := range m.Buttons {
		buttons += len(row)
	}
	if buttons != 4 || !m.Has("Language") {
		s.t.Errorf("%d buttons, want three examples and the languages: %v", buttons, m.Buttons)
	}
	s.say("/start painter")
	s.AwaitText(s.room, "Painter", "prompt")
	s.say("a blue door")
	s.input(s.Call(0), "prompt", "a blue door")
}

func runSearch(s *scene) {
	s.say("/run " + meant)
	s.labelled("Painter", "/painter")
	s.say("/run describe paint")
	m := s.labelled("Painter", "/painter")
	s.press(m, "Painter")
	s.AwaitText(s.room, "Painter", "needs", "prompt")
	step := tool("describePaint", "Describe a paint", registry.InputField{Name: "of", Type: registry.TypeString, Required: true})
	step.CommandName, step.Description, step.Metadata = "", "Describes a paint.", map[string]any{"menu": false}
	s.with(step)
	s.say("/run describe paint")
	if m := s.labelled("Describe a paint"); m.Buttons[0][0] != "Painter" {
		s.t.Errorf("a small step comes before what makes pictures: %v", m.Buttons)
	}
	s.say("/run painter a green door")
	s.input(s.Call(0), "prompt", "a green door")
}

func why(s *scene) {
	s.say("/painter a cat steps=4")
	s.Call(0)
	s.say("/why")
	s.AwaitText(s.room, "Price: under $0.01", "Code for support", "prompt: a cat – you typed it", "steps: 4 – you typed it", "style: Oil paint – the tool's default", "drawn by chance")
}

func historyAndBalance(s *scene) {
	s.painted()
	s.balance("$0.99")
	s.say("/history")
	m := s.labelled("Show 1", "Painter", "done", "under $0.01")
	s.press(m, "Show 1")
	s.until(s.room, "second picture", func(list []Seen) bool {
		n := 0
		for _, m := range list {
			if m.Media != nil {
				n++
			}
		}
		return n == 2
	})
	s.Idle()
	if n := s.CountRuns(); n != 1 {
		s.t.Errorf("%d runs, want 1", n)
	}
}

func historyPages(s *scene) {
	for i := range 7 {
		s.say(fmt.Sprintf("/poem number %d", i))
		s.Fail(s.Call(i), registry.CodeProvider, "no")
		s.Idle()
	}
	s.say("/history")
	m := s.labelled("Show 5", "number 6", "number 2")
	s.press(m, "Older ›")
	m = s.labelled("Show 2", "number 1", "number 0")
	if m.Has("Older ›") || m.Has("Show 3") {
		s.t.Errorf("the last page leads on: %v", m.Buttons)
	}
}

func price(s *scene) {
	s.say("/price painter")
	s.AwaitText(s.room, "Painter", "Price: under $0.01 · about 230 pictures for $1", "You have $1.00 to spend.")
	s.say("/price poem")
	s.AwaitText(s.room, "Poem", "Free")
}

func internalError(s *scene) {
	rename := func(from, to string) {
		if _, err := s.Pool.Exec(s.t.Context(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
			s.t.Fatal(err)
		}
	}
	s.say("/balance")
	s.AwaitText(s.room, "You have")
	rename("chat_uses", "chat_uses_gone")
	s.say("/start")
	s.AwaitText(s.room, "Something went wrong on our side", "Code for support")
	rename("chat_uses_gone", "chat_uses")
	s.say("/start")
	s.AwaitText(s.room, "Send me a command")
}

func cancelList(s *scene) {
	s.say("/cancel")
	s.AwaitText(s.room, "Nothing of yours")
	s.say("/painter a cat")
	s.Call(0)
	s.say("/poem autumn")
	s.Progress(s.Call(1), registry.Progress{State: registry.RunRunning})
	s.Handled()
	s.say("/cancel")
	m := s.labelled("Cancel 2", "Painter", "Poem")
	s.press(m, "Cancel 1")
	s.AwaitText(s.room, "Canceled", "Nothing was charged")
}
