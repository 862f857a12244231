package door

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/signalbox/signalbox/users"
)

// board has keys by their text, and counts how often it is asked for one and for many.
type board struct {
	Secrets
	keys      map[string]users.Holder
	one, many int
	away      error
}

func (b *board) KeyOf(_ context.Context, plaintext string) (users.Account, users.Key, error) {
	b.one++
	h, there := b.keys[plaintext]
	if !there {
		return users.Account{}, users.Key{}, users.ErrNotFound
	}
	return h.Account, h.Key, nil
}

func (b *board) KeysOf(ctx context.Context, ids []int64) (map[int64]users.Holder, error) {
	b.many++
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	found := map[int64]users.Holder{}
	for _, id := range ids {
		for _, h := range b.keys {
			if h.Key.ID == id {
				found[id] = h
			}
		}
	}
	return found, b.away
}

func TestKeysInUseAreLookedUpTogether(t *testing.T) {
	t.Parallel()
	const n = 20
	b := &board{keys: map[string]users.Holder{}}
	for i := range n {
		b.keys[fmt.Sprint("key", i)] = users.Holder{Account: users.Account{ID: fmt.Sprint("account", i), Operator: true}, Key: users.Key{ID: int64(i + 1)}}
	}
	now := time.Now()
	d, err := New(Config{Secrets: b, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }, Key: make([]byte, 16)})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	show := func(key string) (caller, error) {
		r := httptest.NewRequestWithContext(ctx, "GET", "/api/balance", nil)
		r.Header.Set("Authorization", "Bearer "+key)
		return d.identify(&visit{door: d, r: r})
	}
	round := func(what string, one, many int) {
		t.Helper()
		b.one, b.many = 0, 0
		for key, h := range b.keys {
			if c, err := show(key); err != nil || c.account.ID != h.Account.ID || c.kind != holderOf(h.Account, h.Key).kind {
				t.Errorf("%s: %s is %+v, %v", what, key, c, err)
			}
		}
		if b.one != one || b.many != many {
			t.Errorf("%s: asked for one key %d times, for many %d times; want %d and %d", what, b.one, b.many, one, many)
		}
	}
	out := func(what, key string) {
		t.Helper()
		if _, err := show(key); !errors.Is(err, ErrSignedOut) {
			t.Errorf("%s: %v", what, err)
		}
	}
	round("at first", n, 0)
	round("within the second", 0, 0)
	now = now.Add(callerLife)
	round("after it", 0, 1)
	round("within the next", 0, 0)

	now = now.Add(callerLife)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	ctx = gone
	round("after it, by one who has gone meanwhile", 0, 1)
	ctx = t.Context()
	round("and within the next", 0, 0)

	limited := b.keys["key3"]
	limited.Key.SpendLimit = 5
	b.keys["key3"] = limited
	delete(b.keys, "key4") // by another process
	if _, err := show("key4"); err != nil {
		t.Errorf("within the second a key that was revoked elsewhere is believed: %v", err)
	}
	now = now.Add(callerLife)
	out("revoked elsewhere a second ago", "key4")
	out("and asked again", "key4")
	round("the others are as they are now", 0, 0)

	delete(b.keys, "key5")
	d.Forget("account5")
	out("revoked here just now", "key5")

	now = now.Add(callerLife)
	b.away = errors.New("too slow")
	round("where the look at all fails each is looked up", n-2, n-2)
}
