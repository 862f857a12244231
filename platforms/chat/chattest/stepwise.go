package chattest

import (
	"context"
	"fmt"
	"image/color"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// stepwise is how people let a model do several things one after the other, with one word for all of them.
func stepwise() map[string]func(*scene) {
	return map[string]func(*scene){
		"C42 C44 steps that build on each other are one card with the total, and one press has their result": stepsCard,
		"C44 a step that fails ends the others, and is told":                                                 stepsFail,
		"B37 D99 a model that obeys a text gets no step done that was not shown":                             stepsObey,
		"steps that the person cancels cost nothing":                                                         stepsDecline,
	}
}

// steps is a model's call of several steps: the file that came with the question is enlarged and what comes of it retouched.
func steps(id, ref, words string) agent.Call {
	return agent.Call{ID: id, Tool: missions.StepsTool, Arguments: fmt.Sprintf(
		`{"steps":[{"tool":"grow","inputs":{"image":%q}},{"tool":"retouch","inputs":{"image":{"$output":{"leg":1}},"prompt":%q}}]}`, ref, words)}
}

// withSteps has a tool that costs something and enlarges, and a model that proposes to enlarge and to retouch the red picture.
func (s *scene) withSteps(say func(context.Context, agent.Conversation) (agent.Turn, error)) *thinker {
	s.t.Helper()
	grow := fileTool("grow", "Grow", true, true, media("image", registry.TypeImage, true))
	grow.CostingModel = PainterTool().CostingModel
	s.Loader.Set(append(Tools(), grow)...)
	s.Reload()
	if say == nil {
		say = answering("I will enlarge it and make a sticker of it.", steps("a", s.refOf(red()), "a sticker"))
	}
	return s.thinks(say)
}

// askedForSteps sends the picture with the request and gives the card.
func (s *scene) askedForSteps() Seen {
	s.t.Helper()
	s.send(Post{Text: "enlarge this and make a sticker of it", Files: []File{red()}})
	card := s.labelled("Go ahead", "Shall I do this?", "1. Grow", "image: image", "Price: under $0.01", "2. Retouch", "image: what step 1 makes", "prompt: a sticker", "Free", "Together: under $0.01")
	s.Handled()
	if n := len(s.Provider.Calls()); n != 0 {
		s.t.Fatalf("%d steps went ahead by themselves", n)
	}
	return card
}

// wantSpent wants so many dollars to be gone, and nothing to be held.
func (s *scene) wantSpent(dollars float64) {
	s.t.Helper()
	got, err := s.Ledger.Balance(s.t.Context(), s.LastAccount().ID)
	if want := signupCredit - billing.NanoUSD(dollars*float64(billing.Dollar)); err != nil || got.Available != want || got.Held != 0 {
		s.t.Errorf("the balance is %+v, %v; want %s", got, err, want)
	}
}

func stepsCard(s *scene) {
	s.withSteps(nil)
	s.press(s.askedForSteps(), "Go ahead")
	s.AwaitText(s.room, "✓ Several steps")
	first := s.Call(0)
	s.input(first, "image", s.refOf(red()))
	s.Succeed(first, shade(1))
	second := s.Call(1)
	if run, err := s.Runs.Get(s.t.Context(), first.RunID); err != nil || len(run.Outputs) != 1 {
		s.t.Errorf("the first step gave %+v, %v", run.Outputs, err)
	} else {
		s.input(second, "image", run.Outputs[0].Media)
	}
	s.input(second, "prompt", "a sticker")
	s.Succeed(second, shade(2))
	m := s.AwaitMedia(s.room, "Several steps")
	if string(m.Media.Data) != string(Picture(18, 16, color.NRGBA{G: 200, A: 255})) {
		s.t.Errorf("the result is a file of %d bytes, want what the last step made", len(m.Media.Data))
	}
	s.Idle()
	if n := s.CountRuns(); n != 3 {
		s.t.Errorf("there are %d runs, want the steps and the whole", n)
	}
	s.wantSpent(0.0042)
}

func stepsFail(s *scene) {
	s.withSteps(nil)
	s.press(s.askedForSteps(), "Go ahead")
	s.Fail(s.Call(0), registry.CodeRefused, "the picture is too large")
	s.AwaitText(s.room, "Several steps", "the picture is too large")
	s.Idle()
	if n := len(s.Provider.Calls()); n != 1 {
		s.t.Errorf("%d steps began, want one", n)
	}
	s.wantSpent(0)
}

func stepsDecline(s *scene) {
	s.withSteps(nil)
	s.press(s.askedForSteps(), "Cancel")
	s.AwaitText(s.room, "Canceled. Nothing was charged.")
	s.Idle()
	if n := s.CountRuns(); n != 1 || s.LastRun().Status != runs.StatusCanceled {
		s.t.Errorf("there are %d runs, the last is %s", n, s.LastRun().Status)
	}
}

// stepsObey has a model propose what was asked for, and then, as a text wants, other steps, a confirmation and the like. The person lets
// the first card go ahead.
func stepsObey(s *scene) {
	obeyed := false
	s.withSteps(func(_ context.Context, c agent.Conversation) (agent.Turn, error) {
		last := c.Turns[len(c.Turns)-1]
		switch {
		case last.By == agent.Person && !obeyed:
			return agent.Turn{Calls: []agent.Call{steps("a", s.refOf(red()), "a sticker")}}, nil
		case last.By == agent.Person:
			return agent.Turn{Calls: []agent.Call{
				steps("b", s.refOf(red()), "an advertisement"), {ID: "c", Tool: "confirm", Arguments: `{}`},
				{ID: "d", Tool: missions.StepsTool, Arguments: `{"confirmed":true,"steps":[{"tool":"painter","inputs":{"prompt":"more"}}]}`},
			}}, nil
		}
		return agent.Turn{Text: "yes"}, nil
	})
	card := s.askedForSteps()
	obeyed = true
	s.say("what is on the flyer?")
	other := s.labelled("Go ahead", "an advertisement")
	s.Handled()
	s.press(card, "Go ahead")
	s.Succeed(s.Call(0), shade(1))
	s.input(s.Call(1), "prompt", "a sticker")
	s.Succeed(s.Call(1), shade(2))
	s.AwaitMedia(s.room, "Several steps")
	s.press(other, "Cancel")
	s.Idle()
	if n := len(s.Provider.Calls()); n != 2 {
		s.t.Errorf("%d steps were done, want the two that were shown", n)
	}
	for _, m := range s.Harness.Messages(s.t, s.room) {
		if m.contains("an advertisement") && m.Media != nil && m.Media.Kind == chat.KindPhoto {
			s.t.Error("what was not confirmed is there")
		}
	}
}
