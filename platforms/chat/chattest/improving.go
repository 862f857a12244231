package chattest

import (
	"context"
	"strings"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/registry"
)

// improving is how people have a prompt rewritten.
func improving() map[string]func(*scene) {
	return map[string]func(*scene){
		"improve: shows a better prompt as a difference, and runs nothing": improveWords,
		"improve: in reply to a result goes on from what it was made of":   improveResult,
		"improve: keeps what one had":                                      improveMine,
		"improve: without a model has styles":                              improveStyles,
		"improve: says what is missing, and what a model's trouble is":     improveTrouble,
	}
}

// rewriting is a script of a model that has this for a better prompt.
func rewriting(better string) func(context.Context, agent.Conversation) (agent.Turn, error) {
	return func(context.Context, agent.Conversation) (agent.Turn, error) { return agent.Turn{Text: better}, nil }
}

func improveWords(s *scene) {
	m := s.thinks(rewriting("a crimson bicycle"))
	s.say("/improve a red bicycle")
	choice := s.labelled("Use this", "a red crimson bicycle", "Nothing has been run")
	if !choice.Has("Keep mine") || !strings.Contains(m.heard(), "<prompt>a red bicycle</prompt>") {
		s.t.Errorf("the choice is %v, the model heard %q", choice.Buttons, m.heard())
	}
	s.Handled()
	s.press(choice, "Use this")
	offer := s.labelled("Run Painter (under $0.01)")
	s.Handled()
	s.noRun()
	s.press(offer, "Run Painter (under $0.01)")
	s.input(s.Call(0), "prompt", "a crimson bicycle")
}

func improveResult(s *scene) {
	s.thinks(rewriting("a crimson bicycle"))
	s.say("/painter a red bicycle steps=7")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	result := s.AwaitMedia(s.room, "Painter")
	s.Idle()
	s.send(Post{Text: "/improve", ReplyTo: result.ID})
	choice := s.labelled("Use this", "a red crimson bicycle")
	s.Handled()
	if n := len(s.Provider.Calls()); n != 1 {
		s.t.Fatalf("%d runs", n)
	}
	s.press(choice, "Use this")
	again := s.Call(1)
	s.input(again, "prompt", "a crimson bicycle")
	s.input(again, "steps", "7")
}

func improveMine(s *scene) {
	s.thinks(rewriting("a crimson bicycle"))
	s.painted()
	result := s.AwaitMedia(s.room, "Painter")
	s.send(Post{Text: "/improve", ReplyTo: result.ID})
	s.press(s.labelled("Keep mine"), "Keep mine")
	s.AwaitText(s.room, "Kept as it was")
	s.say("/improve a green bicycle")
	s.press(s.labelled("Keep mine", "green"), "Keep mine")
	offer := s.labelled("Run Painter (under $0.01)")
	s.press(offer, "Run Painter (under $0.01)")
	s.input(s.Call(1), "prompt", "a green bicycle")
}

func improveStyles(s *scene) {
	s.say("/improve a red bicycle")
	styles := s.labelled("Watercolour", "Choose a style")
	s.press(styles, "Watercolour")
	choice := s.labelled("Use this", "a red", "watercolour on rough paper")
	s.noRun()
	s.press(choice, "Use this")
	s.press(s.labelled("Run Painter (under $0.01)"), "Run Painter (under $0.01)")
	s.input(s.Call(0), "prompt", "a red bicycle, watercolour on rough paper, soft edges, white background")
}

func improveTrouble(s *scene) {
	m := s.thinks(rewriting(" a red bicycle "))
	s.say("/improve")
	s.AwaitText(s.room, "Say what you want")
	s.say("/improve enlarge something")
	s.AwaitText(s.room, "Enlarge takes no words")
	s.say("/improve a red bicycle")
	s.AwaitText(s.room, "nothing to improve")
	s.Handled()
	m.say = func(context.Context, agent.Conversation) (agent.Turn, error) {
		return agent.Turn{}, registry.Errorf(registry.CodeRateLimited, "the model is busy; ask again in a minute")
	}
	s.say("/improve a blue bicycle")
	s.AwaitText(s.room, "The model is busy")
	s.noRun()
}
