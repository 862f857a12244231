package chattest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/chat"
	chatstore "github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// batches are the ways to do again and to do many times.
func batches() map[string]func(*scene) {
	return map[string]func(*scene){
		"again: it runs the last one of this chat once more, as the button Again does":                 againOnce,
		"again: a number shows the total first, and runs three times once that is confirmed":           againThrice,
		"batch: it runs a tool over lines under one confirmation, and what fails costs only itself":    batchOfLines,
		"batch: what failed can be run again":                                                          batchFailedAgain,
		"batch: it takes several pictures, with words for all of them":                                 batchOfPictures,
		"batch: it takes a CSV file whose header names the inputs":                                     batchOfTable,
		"batch: a column, a row or a number that can't be is named, and nothing runs":                  batchRefused,
		"batch: one that is not confirmed does nothing, and one that is stopped begins nothing more":   batchStopped,
		"batch: it goes on over a restart":                                                             batchOverRestart,
		"C21 a leg that can't be taken back asks in the chat that its mission was asked for in":        legAsks,
		"C46 what could not be taken back is told in the chat, with the reference and whom to turn to": unresolvedTold,
		"batch: typed options do what its text does, where a platform has them":                        batchTyped,
	}
}

// callOf waits for a run whose prompt is this one to reach the provider.
func (s *scene) callOf(prompt string) registry.Call {
	s.t.Helper()
	var found registry.Call
	s.eventually("run of "+prompt, func() bool {
		for _, c := range s.Provider.Calls() {
			if c.Inputs["prompt"] == prompt {
				found = c
			}
		}
		return found.RunID != ""
	})
	return found
}

func againOnce(s *scene) {
	s.say("/again")
	s.AwaitText(s.room, "Nothing was run here yet")
	s.painted()
	s.say("/again")
	first, again := s.Call(0), s.Call(1)
	s.input(again, "prompt", "a red bicycle")
	if first.Inputs["seed"] == again.Inputs["seed"] {
		s.t.Error("the seed is the one of the first run")
	}
	s.Succeed(again, PictureOutput("picture"))
	s.say("/painter a cat seed=7")
	s.Succeed(s.Call(2), PictureOutput("picture"))
	s.say("/again")
	s.input(s.Call(3), "seed", "7")
	s.say("/again often")
	s.AwaitText(s.room, "How often?")
}

func againThrice(s *scene) {
	s.painted()
	s.say("/again 3")
	card := s.labelled("Go ahead", "3 × Painter", "together $0.013 at most")
	s.Handled()
	if n := s.CountRuns(); n != 1 {
		s.t.Fatalf("%d runs before it was confirmed", n)
	}
	s.press(card, "Go ahead")
	seeds := map[string]bool{}
	for i := range 3 {
		c := s.Call(i + 1)
		seeds[fmt.Sprint(c.Inputs["seed"])] = true
		s.Succeed(c, PictureOutput("picture"))
	}
	if len(seeds) != 3 {
		s.t.Errorf("the seeds are %v", seeds)
	}
	s.AwaitText(s.room, "3 of 3 are done", "Cost: $0.0126")
	s.Idle()
	if n := s.pictures(); n != 4 {
		s.t.Errorf("there are %d pictures, want 4", n)
	}
}

// pictures counts the pictures in the room.
func (s *scene) pictures() int {
	s.t.Helper()
	n := 0
	for _, m := range s.Harness.Messages(s.t, s.room) {
		if m.Media != nil {
			n++
		}
	}
	return n
}

func batchOfLines(s *scene) {
	s.say("/batch painter steps=5\na cat\n\na dog\na cow style=ink")
	card := s.labelled("Go ahead", "3 × Painter", "1. a cat", "3. a cow", "Each under $0.01, together $0.013 at most")
	s.noRun()
	s.press(card, "Go ahead")
	s.AwaitText(s.room, "started", "Results come")
	cat, dog, cow := s.callOf("a cat"), s.callOf("a dog"), s.callOf("a cow")
	s.input(cat, "steps", "5")
	s.input(cow, "style", "ink")
	s.Succeed(cat, PictureOutput("picture"))
	s.AwaitMedia(s.room, "a cat")
	s.Fail(dog, registry.CodeRefused, "no dogs here")
	s.Succeed(cow, PictureOutput("picture"))
	s.AwaitText(s.room, "2 of 3 are done", "✗ 2. a dog", "Cost: $0.0084")
	s.Idle()
	s.balance("$0.99")
	if n := s.pictures(); n != 2 {
		s.t.Errorf("there are %d pictures, want 2", n)
	}
}

func batchFailedAgain(s *scene) {
	s.say("/batch painter\na cat\na dog")
	s.press(s.labelled("Go ahead", "2 × Painter"), "Go ahead")
	s.Succeed(s.callOf("a cat"), PictureOutput("picture"))
	s.Fail(s.callOf("a dog"), registry.CodeProvider, "it is raining")
	s.press(s.labelled("Run the rest again", "1 of 2"), "Run the rest again")
	s.press(s.labelled("Go ahead", "1 × Painter", "a dog"), "Go ahead")
	s.Succeed(s.Call(2), PictureOutput("picture"))
	s.AwaitText(s.room, "1 of 1 are done")
}

func batchOfPictures(s *scene) {
	s.send(Post{Text: "/batch retouch make it blue", Files: []File{red(), green(), red()}})
	s.press(s.labelled("Go ahead", "3 × Retouch"), "Go ahead")
	s.AwaitText(s.room, "3 × Retouch: started. Results come")
	images := map[any]int{}
	for i := range 3 {
		c := s.Call(i)
		s.input(c, "prompt", "make it blue")
		images[c.Inputs["image"]]++
		s.Succeed(c, PictureOutput("picture"))
	}
	if images[s.refOf(red())] != 2 || images[s.refOf(green())] != 1 {
		s.t.Errorf("the pictures are %v", images)
	}
	s.AwaitText(s.room, "3 of 3 are done")
}

// table is a file with rows of inputs.
func table(rows ...string) File {
	return File{Kind: chat.KindDocument, Name: "inputs.csv", MIMEType: "text/csv", Data: []byte(strings.Join(rows, "\r\n"))}
}

func batchOfTable(s *scene) {
	s.send(Post{Text: "/batch painter", Files: []File{table("\ufeffPrompt;steps;Tiled", `"a cat; asleep";7;yes`, ";;", "a dog;;")}})
	s.press(s.labelled("Go ahead", "2 × Painter", "a cat; asleep"), "Go ahead")
	cat, dog := s.callOf("a cat; asleep"), s.callOf("a dog")
	s.input(cat, "steps", "7")
	s.input(cat, "tiled", "true")
	s.input(dog, "steps", "20")
	s.Succeed(cat, PictureOutput("picture"))
	s.Succeed(dog, PictureOutput("picture"))
	s.AwaitText(s.room, "2 of 2 are done")
}

func batchRefused(s *scene) {
	s.say("/batch")
	s.AwaitText(s.room, "with one input on each line")
	s.say("/batch painter\na cat steps=5\na dog steps=500")
	s.AwaitText(s.room, "Input 2", "50")
	s.say("/batch a red bicycle colors=3|4")
	s.AwaitText(s.room, "no tool for “a”", "/batch TOOL")
	s.say("/batch painter a cat steps=3|4")
	s.AwaitText(s.room, "Input 1", "/batch painter a cat steps=3 | a cat steps=4")
	s.say("/batch painter a cat | a dog steps=3|4")
	s.AwaitText(s.room, "Input 2", "/batch painter a cat | a dog steps=3 | a dog steps=4")
	s.say("/batch painter\na\nb\nc\nd\ne\nf")
	s.AwaitText(s.room, "6 runs", "may have 5")
	s.send(Post{Text: "/batch painter", Files: []File{table("prompt,colour", "a cat,red")}})
	s.AwaitText(s.room, "no input “colour”", "prompt")
	s.send(Post{Text: "/batch painter", Files: []File{table("steps", "7")}})
	s.AwaitText(s.room, "Input 1", "prompt is missing")
	s.send(Post{Text: "/batch painter", Files: []File{table("prompt,steps", "a cat")}})
	s.AwaitText(s.room, "can't read this file", "line 2")
	s.noRun()
}

func batchStopped(s *scene) {
	s.say("/batch painter\na cat\na dog")
	s.press(s.labelled("Go ahead", "2 × Painter"), "Cancel")
	s.AwaitText(s.room, "Canceled. Nothing was charged")
	s.noRun()
	s.say("/batch painter\na bee\na fly")
	s.press(s.labelled("Go ahead", "a bee"), "Go ahead")
	s.callOf("a bee")
	s.callOf("a fly")
	s.press(s.labelled("Stop", "started"), "Stop")
	s.AwaitText(s.room, "0 of 2 are done", "Nothing was charged")
	s.balance("$1.00")
}

func batchOverRestart(s *scene) {
	s.say("/batch painter\na cat\na dog")
	s.press(s.labelled("Go ahead", "2 × Painter"), "Go ahead")
	s.Succeed(s.callOf("a cat"), PictureOutput("picture"))
	s.AwaitMedia(s.room, "a cat")
	dog := s.callOf("a dog")
	s.Restart()
	s.Succeed(dog, PictureOutput("picture"))
	s.AwaitText(s.room, "2 of 2 are done")
	s.Idle()
	if n := s.pictures(); n != 2 {
		s.t.Errorf("there are %d pictures, want 2", n)
	}
}

func batchTyped(s *scene) {
	if s.Caps.Commands.Options == 0 {
		return
	}
	s.listed("batch")
	extra[Commander](s).Command(s.t, s.anna, s.room, "batch", map[string]any{"tool": "painter", "text": "a cat | a dog"})
	s.labelled("Go ahead", "2 × Painter", "2. a dog")
	extra[Commander](s).Command(s.t, s.anna, s.room, "batch", map[string]any{"tool": "enlarge", "file": red()})
	s.labelled("Go ahead", "1 × Enlarge")
	s.noRun()
}

// mission plans one for Anna in her chat, as somebody who asked for it there, and lets it go ahead.
func (s *scene) mission(legs ...missions.DraftLeg) missions.Mission {
	s.t.Helper()
	s.painted()
	run := s.LastRun()
	where, err := chatstore.TargetOf(run)
	if err != nil {
		s.t.Fatal(err)
	}
	where.Status = chat.MessageRef{}
	run.Origin.Target = where.Encode()
	d := missions.Draft{Title: "A trip", EscalationURL: "https://agency.example/help", Legs: legs, Origin: run.Origin}
	m, err := s.Missions.Plan(s.t.Context(), run.AccountID, "", d)
	if err == nil {
		m, err = s.Missions.Confirm(s.t.Context(), m.ID, run.AccountID, m.Hash)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

// publisher changes something that can't be taken back.
func publisher() registry.Tool {
	t := tool("publish", "Publish", registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true})
	t.Capability, t.OutputSchema = registry.CapabilityWrite, registry.OutputSchema{{Name: "result", Type: "text"}}
	return t
}

func legAsks(s *scene) {
	s.with(publisher())
	s.mission(
		missions.DraftLeg{Tool: "publish", Order: 1, Inputs: map[string]any{"prompt": "the news"}},
		missions.DraftLeg{Tool: "painter", Order: 2, Inputs: map[string]any{"prompt": "a flag"}})
	ask := s.labelled("Go ahead", "A trip", "can't be taken back", "Publish", "the news")
	s.press(ask, "Go ahead")
	s.AwaitText(s.room, "Publish goes ahead")
	s.Succeed(s.callOf("the news"), registry.Output{Name: "result", Type: "text", Text: "published"})
	s.Succeed(s.callOf("a flag"), PictureOutput("picture"))
	s.AwaitMedia(s.room, "a flag")
	s.AwaitText(s.room, "“A trip” is done", "Cost: $0.0042")
}

func unresolvedTold(s *scene) {
	s.with(publisher())
	s.mission(
		missions.DraftLeg{Tool: "publish", Order: 1, Inputs: map[string]any{"prompt": "the news"}, Summary: "The news"},
		missions.DraftLeg{Tool: "painter", Order: 2, Inputs: map[string]any{"prompt": "a flag"}})
	s.press(s.labelled("Go ahead", "A trip"), "Go ahead")
	s.Succeed(s.callOf("the news"), registry.Output{Name: "result", Type: "text", Text: `{"reference":"QX7K2P"}`})
	s.Fail(s.callOf("a flag"), registry.CodeProvider, "no paint")
	s.AwaitText(s.room, "could not be taken back", "The news: QX7K2P", "https://agency.example/help")
	if list, err := s.Missions.Incomplete(s.t.Context()); err != nil || len(list) != 1 {
		s.t.Errorf("the operator sees %d, %v", len(list), err)
	}
}

// chains are lines of runs kept as commands.
func chains() map[string]func(*scene) {
	return map[string]func(*scene){
		"save: it makes a command of what led to a result, which runs like any tool":      saveLine,
		"save: what is saved is its owner's alone until it is shared, and can be deleted": saveShare,
		"save: what can't be saved says so":                                               saveRefused,
	}
}

// drawn paints and enlarges a picture, and keeps that as /poster.
func (s *scene) drawn() Seen {
	s.t.Helper()
	s.painted()
	s.say("/last enlarge")
	s.Succeed(s.Call(1), PictureOutput("picture"))
	s.AwaitMedia(s.room, "Enlarge")
	s.Idle()
	s.say("/save Poster")
	return s.labelled("Share with everybody", "Kept as /poster", "Painter → Enlarge", "It takes: prompt", "You alone")
}

func saveLine(s *scene) {
	s.drawn()
	s.say("/save")
	s.AwaitText(s.room, "Yours:", "/poster", "Painter → Enlarge")
	s.say("/poster a blue boat")
	paint := s.Call(2)
	s.input(paint, "prompt", "a blue boat")
	if seed := s.Call(0).Inputs["seed"]; paint.Inputs["seed"] == seed {
		s.t.Error("the seed is not drawn anew")
	}
	s.Succeed(paint, PictureOutput("picture"))
	grow := s.Call(3)
	if grow.Tool.ToolID != "enlarge" || !strings.HasPrefix(fmt.Sprint(grow.Inputs["image"]), "asset:") {
		s.t.Errorf("the second step is %s of %v", grow.Tool.ToolID, grow.Inputs)
	}
	before := s.pictures()
	s.Succeed(grow, PictureOutput("picture"))
	s.AwaitMedia(s.room, "Poster")
	s.Idle()
	if n := s.pictures(); n != before+1 {
		s.t.Errorf("%d pictures came of it, want one", n-before)
	}
	list, err := s.Runs.List(s.t.Context(), runs.Filter{Limit: 10})
	if i := slices.IndexFunc(list, func(r runs.Run) bool { return r.Tool.Kind == missions.ChainKind }); err != nil || i < 0 || list[i].Quote.High == 0 {
		s.t.Errorf("it had no price: %v", err)
	}
}

func saveShare(s *scene) {
	m := s.drawn()
	bens := s.Harness.Private(s.ben)
	asBen := func(text string) { s.Harness.Post(s.t, Post{From: s.ben, In: bens, Text: text}) }
	asBen("/poster a blue boat")
	s.AwaitText(bens, "no command /poster")
	s.Handled()
	if n := len(s.Provider.Calls()); n != 2 {
		s.t.Fatalf("%d calls: somebody else ran it", n)
	}
	s.press(m, "Share with everybody")
	m = s.labelled("Keep to myself", "Everybody can run it", "/chains poster share=10%")
	s.say("/chains poster share=21%")
	s.AwaitText(s.room, "too large here")
	s.say("/chains poster share=10%")
	s.AwaitText(s.room, "10% of the price more")
	s.say("/chains nothing share=10%")
	s.AwaitText(s.room, "no chain /nothing")
	asBen("/poster a green boat")
	s.input(s.Call(2), "prompt", "a green boat")
	s.Succeed(s.Call(2), shade(2))
	s.Succeed(s.Call(3), shade(3))
	s.AwaitMedia(bens, "Poster")
	s.Idle()
	s.say("/balance")
	s.AwaitText(s.room, "Your shares in 30 days", "Poster")
	s.press(m, "Delete")
	s.AwaitText(s.room, "/poster is deleted")
	s.eventually("command without its chain", func() bool {
		_, there := s.Registry.Snapshot().ByCommand("/poster")
		return !there
	})
}

func saveRefused(s *scene) {
	s.say("/save Poster")
	s.AwaitText(s.room, "Nothing has succeeded here yet")
	s.painted()
	s.say("/save painter")
	s.AwaitText(s.room, "/painter is a tool of this house")
	s.say("/save ?!")
	s.AwaitText(s.room, "/poster_of_the_day")
	if own, err := s.Missions.Chains(s.t.Context(), s.LastRun().AccountID); err != nil || len(own) > 0 {
		s.t.Errorf("%d were saved, %v", len(own), err)
	}
}
