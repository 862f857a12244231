package chattest

import (
	"slices"
	"testing"

	"github.com/signalbox/signalbox/moderation"
)

func TestAResultOfThePagesIsTakenDownWhereItIsShown(t *testing.T) {
	t.Parallel()
	s, _ := newScene(t)
	s.Reports = true
	s.Restart()
	s.painted()
	group := s.group()
	if _, err := s.Pool.Exec(t.Context(), `UPDATE runs SET platform = 'web', target = NULL`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Pool.Exec(t.Context(), `DELETE FROM chat_deliveries`); err != nil {
		t.Fatal(err)
	}
	s.sayIn(group, "/history")
	s.pressIn(group, s.AwaitText(group, "Painter"), "Show 1")
	shown := s.AwaitMedia(group, "Painter")
	s.Idle()
	s.Harness.Post(t, Post{From: s.ben, In: group, Text: "/report my face", ReplyTo: shown.ID})
	s.AwaitText(group, "Those who run this will look at it.")
	if err := s.Moderation.TakeDown(t.Context(), moderation.Decision{RunID: s.LastRun().ID, By: "console"}, false); err != nil {
		t.Fatal(err)
	}
	s.eventually("removal", func() bool {
		return !slices.ContainsFunc(s.Harness.Messages(t, group), func(m Seen) bool { return m.ID == shown.ID })
	})
}
