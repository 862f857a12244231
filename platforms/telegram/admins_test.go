package telegram

import (
	"strconv"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
	"github.com/signalbox/signalbox/users"
)

func TestIsAdmin(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ben, dora := r.server.User("Ben"), r.server.User("Dora")
	group := r.server.Supergroup("Makers", r.ann, ben)
	group.SetAdmin(ben)
	manual := clocktest.NewManual(time.Unix(1_800_000_000, 0))
	r.admins = clock.NewRecent[adminKey, bool](manual, adminsRemembered)
	pressedBy := func(u *telegramtest.User, in *telegramtest.Chat, kind chat.ChatKind) chat.Incoming {
		return chat.Incoming{
			Chat: chat.Chat{Place: placeIn(in), Kind: kind},
			From: users.Identity{Platform: Platform, ExternalID: strconv.FormatInt(u.ID(), 10)},
		}
	}
	asks := func(what string, in chat.Incoming, want bool, calls int) {
		t.Helper()
		got, err := r.IsAdmin(t.Context(), in)
		if n := len(r.server.Calls("getChatMember")); got != want || err != nil || n != calls {
			t.Errorf("%s: %v, %v after %d calls; want %v after %d", what, got, err, n, want, calls)
		}
	}
	asks("an administrator", pressedBy(ben, group, chat.ChatGroup), true, 1)
	asks("a member", pressedBy(r.ann, group, chat.ChatGroup), false, 2)
	asks("somebody else", pressedBy(dora, group, chat.ChatGroup), false, 3)
	asks("a private chat", pressedBy(r.ann, r.chat, chat.ChatPrivate), false, 3)
	group.SetAdmin(r.ann)
	asks("the administrator again", pressedBy(ben, group, chat.ChatGroup), true, 3)
	asks("a member within five seconds", pressedBy(r.ann, group, chat.ChatGroup), false, 3)
	manual.Advance(5 * time.Second)
	asks("the member five seconds later", pressedBy(r.ann, group, chat.ChatGroup), true, 4)

	manual.Advance(5 * time.Second)
	r.server.Inject(telegramtest.Refuse(400, "Bad Request: CHAT_ADMIN_REQUIRED").On("getChatMember"))
	if may, err := r.IsAdmin(t.Context(), pressedBy(ben, group, chat.ChatGroup)); may || err == nil {
		t.Errorf("a refused call gives %v, %v", may, err)
	}
	asks("after a refused call", pressedBy(ben, group, chat.ChatGroup), true, 6)
}

func TestMember(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ben, dora := r.server.User("Ben"), r.server.User("Dora")
	group := r.server.Supergroup("Makers", r.ann, ben)
	group.SetAdmin(ben)
	for _, tc := range []struct {
		who      *telegramtest.User
		in, runs bool
	}{{ben, true, true}, {r.ann, true, false}, {dora, false, false}} {
		in, runs, err := r.Member(t.Context(), placeIn(group).Chat, strconv.FormatInt(tc.who.ID(), 10))
		if in != tc.in || runs != tc.runs || err != nil {
			t.Errorf("%d: %v, %v, %v", tc.who.ID(), in, runs, err)
		}
	}
	if in, _, err := r.Member(t.Context(), placeIn(group).Chat, "1"); in || err == nil {
		t.Errorf("somebody Telegram does not know: %v, %v", in, err)
	}
}
