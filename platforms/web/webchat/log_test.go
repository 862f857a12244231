package webchat

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/platforms/chat"
)

func saying(text string) message { return message{Body: body{Text: chat.Plain(text)}} }

// texts are what a conversation shows.
func texts(t *testing.T, l log, chatID string) []string {
	t.Helper()
	messages, _, err := l.page(t.Context(), chatID)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range messages {
		list = append(list, m.Body.Text.String())
	}
	return list
}

func TestJoinedConversations(t *testing.T) {
	t.Parallel()
	pool := postgrestest.New(t)
	l := log{pool, postgres.NewWriter(pool)}
	for _, m := range []struct{ chat, text string }{{"ann", "a1"}, {"ben", "b1"}, {"ann", "a2"}} {
		if _, err := l.say(t.Context(), m.chat, saying(m.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := pgx.BeginFunc(t.Context(), l.pool, func(tx pgx.Tx) error { return Adopt(t.Context(), tx, "ben", "ann") }); err != nil {
		t.Fatal(err)
	}
	if _, err := l.say(t.Context(), "ben", saying("late")); err != nil {
		t.Fatal(err)
	}
	t.Run("all is in one conversation, in its order, what comes for the other too", func(t *testing.T) {
		if got := texts(t, l, "ann"); len(got) != 4 || got[1] != "b1" || got[3] != "late" {
			t.Errorf("the conversation is %q", got)
		}
		if place, err := l.place(t.Context(), "ben"); err != nil || place != "ann" {
			t.Errorf("the other's place is %q, %v", place, err)
		}
	})
	t.Run("changes are numbered on, each once", func(t *testing.T) {
		changes, err := l.changes(t.Context(), "ann", 2)
		if err != nil || len(changes) != 2 || changes[0].Body.Text.String() != "b1" || changes[1].Change <= changes[0].Change {
			t.Errorf("after the second change: %+v, %v", changes, err)
		}
	})
	t.Run("what was erased is gone, and open pages learn of it", func(t *testing.T) {
		if err := pgx.BeginFunc(t.Context(), l.pool, func(tx pgx.Tx) error { return Forget(t.Context(), tx, "ann") }); err != nil {
			t.Fatal(err)
		}
		changes, err := l.changes(t.Context(), "ann", 4)
		if err != nil || len(changes) != 4 || len(texts(t, l, "ann")) != 0 {
			t.Fatalf("changes %+v, %v", changes, err)
		}
		for _, m := range changes {
			if !m.Deleted || len(m.Body.Text) != 0 {
				t.Errorf("kept: %+v", m)
			}
		}
	})
}
