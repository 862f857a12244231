package telegram

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
)

// adminsRemembered is how long is believed what Telegram said of a person's rights in a group: the presses of one menu, and no longer, since
// whoever is no admin any more must not spend what the group has. Telegram tells of changes only to bots that are admins, and then of
// everybody who comes and goes as well.
const adminsRemembered = 5 * time.Second

// adminKey is a person in a group.
type adminKey struct{ chat, user int64 }

// IsAdmin reports whether the sender of an update runs its group: its creator, or an administrator with the right
// to delete messages. In private chats nobody does. An answer is remembered for seconds.
func (a *Adapter) IsAdmin(ctx context.Context, in chat.Incoming) (bool, error) {
	if in.Chat.Kind == chat.ChatPrivate || in.Chat.Inline != nil {
		return false, nil
	}
	to, _, err := a.target(in.Chat.Place)
	if err != nil {
		return false, err
	}
	user, err := strconv.ParseInt(in.From.ExternalID, 10, 64)
	if err != nil {
		return false, fmt.Errorf("telegram: %q is no id of a person", in.From.ExternalID)
	}
	key := adminKey{to.ChatID, user}
	if may, known := a.admins.Get(key); known {
		return may, nil
	}
	m, err := a.client.GetMember(ctx, to.ChatID, user)
	if err != nil {
		return false, contract(err)
	}
	may := runsChat(m)
	a.admins.Set(key, may)
	return may, nil
}

func runsChat(m botapi.Member) bool {
	return m.Status == "creator" || m.Status == "administrator" && m.CanDelete
}

// Member asks Telegram how a person stands in a group.
func (a *Adapter) Member(ctx context.Context, chatID, externalID string) (in, runs bool, err error) {
	to, _, err := a.target(chat.Place{Chat: chatID})
	if err != nil {
		return false, false, err
	}
	user, err := strconv.ParseInt(externalID, 10, 64)
	if err != nil {
		return false, false, fmt.Errorf("telegram: %q is no id of a person", externalID)
	}
	m, err := a.client.GetMember(ctx, to.ChatID, user)
	if err != nil {
		return false, false, contract(err)
	}
	in = m.Status != "left" && m.Status != "kicked" && (m.Status != "restricted" || m.IsMember)
	return in, in && runsChat(m), nil
}
