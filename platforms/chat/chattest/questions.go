package chattest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// questions are what services ask in the midst of a run.
func questions() map[string]func(*scene) {
	return map[string]func(*scene){
		"what a service asks is answered field by field, by buttons and by text": fieldByField,
		"what a service asks can be declined at any field":                       declineQuestion,
		"a run can be canceled instead of answered":                              cancelInstead,
		"a question that only wants a yes takes it by button":                    agreeToQuestion,
		"a page that a service asks to open is shown with its host":              openPage,
		"two questions of a run come one after the other":                        twoQuestions,
		"a question that was answered elsewhere is over in the chat":             answeredElsewhere,
		"only the owner answers a service, in groups by reply":                   questionInGroup,
		"one dialog asks for what a service wants to have typed":                 questionDialog,
		"what a service asked before a restart is over after it":                 questionOverRestart,
		"a question of any length keeps within the platform's limits":            longQuestion,
		"what is typed answers the tool that asks for its input first":           promptBeforeQuestion,
	}
}

// pizza has a field of each kind.
func pizza() registry.Question {
	return registry.Question{Message: "Which *pizza* shall it be?", Fields: []registry.InputField{
		{Name: "size", DisplayName: "Size", Type: registry.TypeString, Required: true, Choices: []registry.Choice{{Value: "s", Label: "Small"}, {Value: "l", Label: "Large"}}},
		{Name: "count", DisplayName: "How many", Type: registry.TypeNumber, Integer: true, Required: true, Min: "1", Max: "9"},
		{Name: "mail", DisplayName: "Mail", Type: registry.TypeString, Schema: json.RawMessage(`{"type":"string","format":"email"}`)},
		{Name: "gift", DisplayName: "Gift", Type: registry.TypeBoolean, Required: true},
		{Name: "toppings", DisplayName: "Toppings", Type: registry.TypeString, Multiple: true, Choices: []registry.Choice{{Value: "o", Label: "Olives"}, {Value: "c", Label: "Capers"}}},
	}}
}

// asks has the tool Clerk ask these questions.
func (s *scene) asks(list ...registry.Question) {
	s.t.Helper()
	clerk := tool("clerk", "Clerk")
	clerk.Service, clerk.CostingModel, clerk.OutputSchema = "asking", nil, registry.OutputSchema{{Name: "text", Type: "text"}}
	s.Asking.Questions = func(registry.Call) []registry.Question { return list }
	s.Loader.Set(append(Tools(), clerk)...)
	s.Reload()
}

func fieldByField(s *scene) {
	s.asks(pizza())
	s.say("/clerk")
	first := s.labelled("Large", "Clerk asks", "Which *pizza* shall it be?", "Size", "service behind this tool", "min for you")
	s.Await(s.room, "the status that says so", func(m Seen) bool { return m.contains("Waits for your answer") })
	if !first.Has("Decline") || !first.Has("Cancel the run") || first.Has("Skip") {
		s.t.Errorf("the buttons are %v", first.Buttons)
	}
	s.press(first, "Large")
	s.labelled("Decline", "How many", "1–9")
	s.say("many")
	s.AwaitText(s.room, "many", "another value")
	s.say("3")
	s.labelled("Skip", "Mail", "name@example.org")
	s.say("nobody")
	s.AwaitText(s.room, "email", "another value")
	s.press(s.labelled("Skip", "Mail"), "Skip")
	s.press(s.labelled("Yes", "Gift"), "Yes")
	s.labelled("Skip", "Toppings", "Olives, Capers")
	s.say("capers\nOlives")
	s.AwaitText(s.room, `accept {"count":3,"gift":true,"size":"l","toppings":["c","o"]}`)
	s.until(s.room, "no buttons under what was answered", func(list []Seen) bool {
		return !slices.ContainsFunc(list, func(m Seen) bool { return m.Has("Decline") })
	})
}

func declineQuestion(s *scene) {
	s.asks(pizza())
	s.say("/clerk")
	s.press(s.labelled("Large", "Size"), "Large")
	asked := s.labelled("Decline", "How many")
	s.press(asked, "Decline")
	s.AwaitText(s.room, "decline null")
	s.AwaitText(s.room, "You declined")
}

func cancelInstead(s *scene) {
	s.asks(pizza())
	s.say("/clerk")
	s.press(s.labelled("Large", "Size"), "Cancel the run")
	s.AwaitText(s.room, "Canceled")
	s.AwaitText(s.room, "This question is over")
	if run := s.LastRun(); run.Status != runs.StatusCanceled {
		s.t.Errorf("the run is %s", run.Status)
	}
}

func agreeToQuestion(s *scene) {
	s.asks(registry.Question{Message: "Shall I burn it?"})
	s.say("/clerk")
	s.press(s.labelled("Yes, go on", "Shall I burn it?"), "Yes, go on")
	s.AwaitText(s.room, "accept null")
	s.until(s.room, "no button under what was answered", func(list []Seen) bool {
		return !slices.ContainsFunc(list, func(m Seen) bool { return m.Has("Yes, go on") })
	})
	s.say("/clerk")
	s.labelled("Yes, go on", "Shall I burn it?")
	s.say("yes")
	s.until(s.room, "second answer", func(list []Seen) bool {
		n := 0
		for _, m := range list {
			if m.contains("accept null") {
				n++
			}
		}
		return n == 2
	})
}

func openPage(s *scene) {
	s.asks(registry.Question{Message: "Please sign in", URL: "https://pizza.example/in?for=anna"})
	s.say("/clerk")
	m := s.labelled("Open page", "Please sign in", "a page of pizza.example", "https://pizza.example/in?for=anna")
	s.press(m, "Yes, go on")
	s.AwaitText(s.room, "accept null")
}

func twoQuestions(s *scene) {
	s.asks(registry.Question{Message: "First?"}, registry.Question{Message: "Second?"})
	s.say("/clerk")
	first := s.labelled("Decline", "First?")
	s.press(first, "Yes, go on")
	s.press(s.labelled("Decline", "Second?"), "Decline")
	s.AwaitText(s.room, "accept null\ndecline null")
}

func answeredElsewhere(s *scene) {
	s.asks(pizza())
	s.say("/clerk")
	asked := s.labelled("Large", "Size")
	run := s.LastRun()
	if run.Question == nil {
		s.t.Fatal("the run has no question")
	}
	reply := registry.Reply{Action: registry.ActionAccept, Values: map[string]any{"size": "s", "count": 1, "gift": false}}
	if _, err := s.Runs.Answer(s.t.Context(), run.ID, run.AccountID, run.Question.ID, reply); err != nil {
		s.t.Fatal(err)
	}
	s.AwaitText(s.room, `accept {"count":1,"gift":false,"size":"s"}`)
	s.Await(s.room, "question that is over", func(m Seen) bool { return m.ID == asked.ID && m.contains("This question is over") })
}

func questionInGroup(s *scene) {
	group := s.Harness.Group("Painters")
	if group.none() {
		return
	}
	s.asks(registry.Question{Message: "Which shelf?", Fields: []registry.InputField{{Name: "shelf", Type: registry.TypeNumber, Required: true}}})
	s.sayIn(group, "/clerk")
	asked := s.AwaitText(group, "Which shelf?", "Reply to this message")
	s.noted()
	s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "8", ReplyTo: asked.ID})
	if a := s.Harness.Press(s.t, s.ben, group, asked.ID, "Decline"); !strings.Contains(a.Text, "Only the person") {
		s.t.Errorf("somebody else declines: %+v", a)
	}
	s.sayIn(group, "9")
	s.Handled()
	s.Harness.Post(s.t, Post{From: s.anna, In: group, Text: "3", ReplyTo: asked.ID})
	s.AwaitText(group, `accept {"shelf":3}`)
}

// noted waits until the message that asks is noted: people see it before.
func (s *scene) noted() {
	s.t.Helper()
	s.eventually("message that is noted", func() bool {
		var kept bool
		err := s.Pool.QueryRow(s.t.Context(), `SELECT message_id <> '' FROM chat_questions`).Scan(&kept)
		return err == nil && kept
	})
}

func questionDialog(s *scene) {
	if s.Caps.Forms.Fields == 0 {
		return
	}
	s.asks(registry.Question{Message: "Who are you?", Fields: []registry.InputField{
		{Name: "name", DisplayName: "Name", Type: registry.TypeString, Required: true}, {Name: "age", DisplayName: "Age", Type: registry.TypeNumber, Required: true, Min: "1"},
	}})
	s.say("/clerk")
	asked := s.labelled("Answer", "Who are you?", "Name")
	opened := s.press(asked, "Answer")
	if a := s.fill(asked, opened, map[string]string{"Name": "Anna", "Age": "old"}); a.Text == "" {
		s.t.Errorf("a wrong value is answered %+v", a)
	}
	s.fill(asked, s.press(asked, "Answer"), map[string]string{"Name": "Anna", "Age": "33"})
	s.AwaitText(s.room, `accept {"age":33,"name":"Anna"}`)
}

func questionOverRestart(s *scene) {
	s.asks(registry.Question{Message: "Which shelf?", Fields: []registry.InputField{{Name: "shelf", Type: registry.TypeNumber, Required: true}}})
	s.say("/clerk")
	asked := s.labelled("Decline", "Which shelf?")
	s.noted()
	s.Restart()
	s.AwaitText(s.room, "interrupted")
	if a := s.press(asked, "Decline"); !strings.Contains(a.Text, "over") {
		s.t.Errorf("got %+v", a)
	}
	s.say("3")
	s.Await(s.room, "question that is over", func(m Seen) bool { return m.ID == asked.ID && m.contains("This question is over") })
}

func longQuestion(s *scene) {
	long := strings.Repeat("ü", 200)
	s.asks(registry.Question{Message: strings.Repeat("why ", 500), Fields: []registry.InputField{
		{Name: long, DisplayName: long, Description: long, Type: registry.TypeString, Required: true},
		{Name: "kind", Type: registry.TypeString, Required: true, Choices: []registry.Choice{{Value: ""}, {Value: "x", Label: long}}},
	}}, registry.Question{URL: "https://pizza.example/" + strings.Repeat("x", 1100)})
	s.say("/clerk")
	asked := s.labelled("Decline", "why", "üü")
	if s.Caps.Forms.Fields > 0 {
		opened := s.press(asked, "Answer")
		s.fill(asked, opened, map[string]string{opened.Form.Fields[0].Label: "because"})
	} else {
		s.say("because")
	}
	s.press(s.labelled("–", "kind"), "–")
	s.press(s.labelled("Yes, go on", "pizza.example"), "Yes, go on")
	s.AwaitText(s.room, "because", "accept null")
}

func promptBeforeQuestion(s *scene) {
	s.asks(registry.Question{Message: "Which shelf?", Fields: []registry.InputField{{Name: "shelf", Type: registry.TypeNumber, Required: true}}})
	s.say("/clerk")
	asked := s.labelled("Decline", "Which shelf?")
	s.say("/painter")
	s.labelled("Cancel", "prompt")
	s.say("a red bicycle")
	s.input(s.Call(0), "prompt", "a red bicycle")
	s.Harness.Post(s.t, Post{From: s.anna, In: s.room, Text: "3", ReplyTo: asked.ID})
	s.AwaitText(s.room, `accept {"shelf":3}`)
}
