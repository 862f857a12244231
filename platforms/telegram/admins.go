package telegram

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
)

// adminMemory is how long is believed what Telegram said of a person's rights in a group.
const adminMemory = time.Minute

// admins remembers who may delete other people's messages, and who may not.
type admins struct {
	mu    sync.Mutex
	known map[adminKey]adminAnswer
}

type adminKey struct{ chat, user int64 }

type adminAnswer struct {
	may   bool
	until time.Time
}

func (a *admins) get(key adminKey, now time.Time) (may, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, ok := a.known[key]
	return answer.may, ok && now.Before(answer.until)
}

// set also forgets what is too old, so that no more is kept than was asked for within adminMemory.
func (a *admins) set(key adminKey, may bool, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[adminKey]adminAnswer{}
	}
	for old, answer := range a.known {
		if !now.Before(answer.until) {
			delete(a.known, old)
		}
	}
	a.known[key] = adminAnswer{may, now.Add(adminMemory)}
}

// IsAdmin reports whether the sender of an update runs its group: its creator, or an administrator with the right
// to delete messages. In private chats nobody does. An answer is remembered for a minute.
func (a *Adapter) IsAdmin(ctx context.Context, in chat.Incoming) (bool, error) {
	if in.Chat.Kind == chat.ChatPrivate {
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
	if may, known := a.admins.get(key, a.clock.Now()); known {
		return may, nil
	}
	m, err := a.client.GetMember(ctx, to.ChatID, user)
	if err != nil {
		return false, contract(err)
	}
	may := m.Status == "creator" || m.Status == "administrator" && m.CanDelete
	a.admins.set(key, may, a.clock.Now())
	return may, nil
}
