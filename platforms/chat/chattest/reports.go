package chattest

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/runs"
)

// reports are about results that people report, and what comes of it.
func reports() map[string]func(*scene) {
	return map[string]func(*scene){
		"a result is reported in a group, and removed by those who run it": reportInGroup,
		"who is muted runs nothing until an appeal is granted":             mutedAppeals,
	}
}

// newModeration takes reports; one strike mutes.
func (w *World) newModeration(deliverer *show.Deliverer) turn.Moderation {
	if !w.Reports {
		return nil
	}
	var err error
	w.Moderation, err = moderation.New(moderation.Config{
		Pool: w.Pool, People: w.People, Runs: w.Runs,
		Rule: func() moderation.Rule { return moderation.Rule{Strikes: 1, Within: time.Hour, Mute: time.Hour} },
		Withdraw: func(ctx context.Context, run runs.Run, from moderation.Place) error {
			return deliverer.RemoveFrom(ctx, run, from.Chat)
		},
		Unshare: func(context.Context, pgx.Tx, string) error { return nil },
		Tell:    func(context.Context, moderation.Notice) error { return nil },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.Moderation
}

// reporting is a group in which reports are taken, with a result of Anna's.
func (s *scene) reporting() (Room, Seen) {
	s.t.Helper()
	group := s.group()
	if group.none() {
		return group, Seen{}
	}
	s.Reports = true
	s.Restart()
	s.sayIn(group, "/painter a cat")
	s.Succeed(s.Call(0), PictureOutput("picture"))
	m := s.AwaitMedia(group, "a cat")
	s.Idle()
	return group, m
}

func reportInGroup(s *scene) {
	group, result := s.reporting()
	if group.none() {
		return
	}
	s.say("/history")
	s.press(s.labelled("Show 1", "Painter"), "Show 1")
	elsewhere := s.AwaitMedia(s.room, "a cat")
	s.benSays(group, "/report")
	s.AwaitText(group, "Reply with /report to the result")
	s.Harness.Post(s.t, Post{From: s.anna, In: group, Text: "/report mine", ReplyTo: result.ID})
	s.AwaitText(group, "This is your own result")
	s.bensReport(group, result)
	m := s.Await(group, "reasons", func(m Seen) bool { return m.contains("What is wrong with it?") && m.shows("Spam") })
	s.pressBy(s.ben, group, m, "Spam")
	s.AwaitText(group, "Those who run this will look at it.")
	s.benSays(group, "/reports")
	s.AwaitText(group, "Only those who run this chat")
	s.sayIn(group, "/reports")
	m = s.AwaitText(group, "Reported here: a result of Painter. Reports: 1. Spam")
	s.pressIn(group, m, "Remove it here")
	s.AwaitText(group, "The result is removed from this chat.")
	isThere := func(in Room, message Seen) bool {
		return slices.ContainsFunc(s.Harness.Messages(s.t, in), func(m Seen) bool { return m.ID == message.ID })
	}
	s.eventually("removal", func() bool { return !isThere(group, result) })
	if !isThere(s.room, elsewhere) {
		s.t.Error("it is removed from another chat, too")
	}
	s.sayIn(group, "/reports")
	s.AwaitText(group, "Nothing that was reported here waits")
}

// bensReport reports a result without words: by the menu of its message, where there is one.
func (s *scene) bensReport(group Room, result Seen) {
	s.t.Helper()
	if s.Caps.Commands.OnMessages == 0 {
		s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "/report", ReplyTo: result.ID})
		return
	}
	menu := extra[MessageMenu](s)
	s.eventually("entry to report", func() bool { return slices.Contains(menu.Entries(s.t), "Report") })
	s.Handled()
	menu.UseOn(s.t, s.ben, group, result.ID, "Report")
}

func mutedAppeals(s *scene) {
	group, result := s.reporting()
	if group.none() {
		return
	}
	s.Harness.Post(s.t, Post{From: s.ben, In: group, Text: "/report my face", ReplyTo: result.ID})
	s.AwaitText(group, "Those who run this will look at it.")
	s.sayIn(group, "/reports")
	s.AwaitText(group, "Something else", "my face")
	run := s.LastRun()
	chain, err := s.Missions.SaveChain(s.t.Context(), missions.Chain{
		AccountID: run.AccountID, Name: "Poster", Command: "/poster", Visibility: missions.Public,
		Legs: []missions.DraftLeg{{Tool: "painter", Order: 1, Inputs: map[string]any{"prompt": "a cat"}}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.Moderation.TakeDown(s.t.Context(), moderation.Decision{RunID: run.ID, By: "console"}, true); err != nil {
		s.t.Fatal(err)
	}
	s.say("/painter a dog")
	s.AwaitText(s.room, "may run nothing until", "/appeal")
	s.say("/balance")
	s.AwaitText(s.room, "to spend")
	s.say("/chains poster")
	s.AwaitText(s.room, "Everybody can run it")
	for i, command := range []string{"/sponsor 0.5", "/party 0.5 1h", "/chains poster share=10%"} {
		s.sayIn(group, command)
		s.eventually("refusal of "+command, func() bool {
			told := 0
			for _, m := range s.Harness.Messages(s.t, group) {
				if m.contains("may run nothing until", "/appeal") {
					told++
				}
			}
			return told == i+1
		})
	}
	if now, err := s.Missions.Chain(s.t.Context(), chain.ID, run.AccountID); err != nil || now.Share != "" || now.Version != chain.Version {
		s.t.Errorf("who is muted asks a share of %q in version %d, %v", now.Share, now.Version, err)
	}
	s.say("/appeal it was drawn")
	s.AwaitText(s.room, "Your appeal is on its way.")
	appeals, err := s.Moderation.Appeals(s.t.Context())
	if err != nil || len(appeals) != 1 || appeals[0].AccountID != run.AccountID || appeals[0].Words != "it was drawn" {
		s.t.Fatalf("the appeals are %+v, %v", appeals, err)
	}
	if n := s.CountRuns(); n != 1 {
		s.t.Errorf("%d runs, want the one before the mute", n)
	}
	if err := s.Moderation.Answer(s.t.Context(), "console", appeals[0].ID, true, "Right."); err != nil {
		s.t.Fatal(err)
	}
	s.say("/painter a bird")
	s.input(s.Call(1), "prompt", "a bird")
}
