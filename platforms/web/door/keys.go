package door

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// renewWithin bounds one look; without it each key is looked up by itself.
const renewWithin = 2 * time.Second

// keys are those whose callers are kept, by id. All that are in use are looked up again together, so that a second costs one look and not
// one for each key.
type keys struct {
	renewing sync.Mutex // held while they are looked up

	mu   sync.Mutex
	used map[int64]secretHash // since they were last looked up
}

// use notes that a key was shown.
func (k *keys) use(id int64, hash secretHash) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.used[id] = hash
}

// takeUsed gives those that were used, and begins anew.
func (k *keys) takeUsed() map[int64]secretHash {
	k.mu.Lock()
	defer k.mu.Unlock()
	used := k.used
	k.used = make(map[int64]secretHash, len(used))
	return used
}

// believed gives who showed a secret a moment ago. A key that was looked up too long ago is looked up again, with all others in use.
func (d *Door) believed(ctx context.Context, hash secretHash) (caller, bool) {
	c, ok := d.callers.Get(hash, d.cfg.Now())
	if c.key.ID == 0 {
		return c, ok
	}
	d.keys.use(c.key.ID, hash)
	if ok {
		return c, true
	}
	return d.renewed(ctx, hash)
}

// renewed looks up what keys in use are by now, and gives who shows one of them.
func (d *Door) renewed(ctx context.Context, hash secretHash) (caller, bool) {
	d.keys.renewing.Lock()
	defer d.keys.renewing.Unlock()
	now := d.cfg.Now()
	if c, ok := d.callers.Get(hash, now); ok { // somebody else has asked meanwhile
		return c, true
	}
	used := d.keys.takeUsed()
	if len(used) == 0 {
		return caller{}, false // somebody else has asked in vain
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewWithin) // others wait for it, whoever has gone
	defer cancel()
	found, err := d.cfg.Secrets.KeysOf(ctx, slices.Collect(maps.Keys(used)))
	if err != nil {
		return caller{}, false // the one is looked up by itself, which tells the error
	}
	for id, holder := range found {
		d.callers.Put(used[id], holderOf(holder.Account, holder.Key), now)
	}
	d.callers.Drop(func(c caller) bool {
		_, asked := used[c.key.ID]
		_, there := found[c.key.ID]
		return asked && !there
	})
	return d.callers.Get(hash, now)
}
