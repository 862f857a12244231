package show

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/runs"
)

// Remove takes back what is shown of a run, everywhere that is known of: all of it, or one of its outputs. Buttons of a run
// that is removed are too old from then on.
func (d *Deliverer) Remove(ctx context.Context, run runs.Run, output int) error {
	return d.remove(ctx, run, output, "")
}

// RemoveFrom takes back what is shown of a run in one chat, and leaves it as it is elsewhere. With "" it is Remove.
func (d *Deliverer) RemoveFrom(ctx context.Context, run runs.Run, chatID string) error {
	return d.remove(ctx, run, runs.AllOutputs, chatID)
}

func (d *Deliverer) remove(ctx context.Context, run runs.Run, output int, only string) error {
	unlock := d.live.lock(run.ID)
	defer unlock()
	parts, err := d.store.Deliveries.Parts(ctx, run.ID)
	if err != nil {
		return err
	}
	if refs, several := shownFiles(parts, run, output); several {
		parts = map[string]store.Part{"file": {Refs: refs}}
	} else if where, err := store.TargetOf(run); err == nil && !where.Status.IsZero() {
		parts["status"] = store.Part{Refs: []chat.MessageRef{where.Status}}
	}
	for _, p := range parts {
		on := d.platforms[cmp.Or(p.On, run.Origin.Platform)]
		for _, ref := range p.Refs {
			if on == nil || only != "" && ref.Chat != only {
				continue
			}
			if gone := on.Adapter.Delete(ctx, ref); gone != nil {
				err = errors.Join(err, fmt.Errorf("delete a message: %w", gone))
			}
		}
	}
	if output != runs.AllOutputs || only != "" {
		return err
	}
	return errors.Join(err, d.store.Keyboards.RemoveOf(ctx, run.ID, run.AccountID), d.store.Deliveries.Remove(ctx, run.ID))
}

// shownFiles are the messages that show one of several files of a run. Where it has only one, and for all outputs, several is false.
func shownFiles(parts map[string]store.Part, run runs.Run, output int) (shown []chat.MessageRef, several bool) {
	files, place := 0, -1
	for i, o := range run.Outputs {
		if i == output {
			place = files
		}
		if o.Media != "" || o.Deleted {
			files++
		}
	}
	if output == runs.AllOutputs || files == 1 {
		return nil, false
	}
	var refs []chat.MessageRef
	for i := 0; ; i++ {
		p, ok := parts["files"+strconv.Itoa(i)]
		if !ok {
			break
		}
		refs = append(refs, p.Refs...)
	}
	if place < 0 || len(refs) != files || place >= len(refs) {
		return nil, true
	}
	return refs[place : place+1], true
}
