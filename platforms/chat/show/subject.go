package show

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// subjectOf is what a run's picture shows, where that goes on changing. Its ID is unique among all services.
func subjectOf(run runs.Run) (registry.Subject, bool) {
	for _, o := range run.Outputs {
		if o.Subject.ID != "" {
			return registry.Subject{ID: run.Tool.Service + ":" + o.Subject.ID, Version: o.Subject.Version}, true
		}
	}
	return registry.Subject{}, false
}

// showVersion shows the picture of a thing in place of the one of an earlier version, so that people watch one message change. Where a later
// version is shown already, there is nothing more to show.
func (d *Deliverer) showVersion(ctx context.Context, w *showing, of registry.Subject, m chat.Message) error {
	unlock := d.live.lock("subject " + of.ID)
	defer unlock()
	before, version, err := d.store.Deliveries.Latest(ctx, w.run, w.where.Chat.Place, of.ID)
	if err != nil {
		return err
	}
	if !w.where.Replaces.IsZero() {
		before = w.where.Replaces
	}
	if version > of.Version {
		return w.removeStatus(ctx, before)
	}
	shown, err := d.replace(ctx, w, before, m)
	if err != nil || shown.IsZero() {
		return err
	}
	if err := d.store.Deliveries.NoteVersion(ctx, w.rec, of, shown); err != nil {
		return err
	}
	return w.removeStatus(ctx, shown)
}

// replace makes a message what an earlier one becomes; one that can't be edited any more is followed by a new one.
func (d *Deliverer) replace(ctx context.Context, w *showing, before chat.MessageRef, m chat.Message) (chat.MessageRef, error) {
	if before.IsZero() || !w.out.Caps.Edit {
		return d.mainMessage(ctx, w, m)
	}
	shown, err := w.out.Edit(ctx, before, w.out.Fit(m))
	if errors.Is(err, chat.ErrGone) || errors.Is(err, chat.ErrNoRight) || errors.Is(err, chat.ErrUnreachable) {
		return d.mainMessage(ctx, w, m)
	}
	return shown, err
}

// removeStatus deletes the status message, unless the result is shown in it.
func (w *showing) removeStatus(ctx context.Context, shown chat.MessageRef) error {
	status := w.where.Status
	if status.IsZero() || status.ID == shown.ID {
		return nil
	}
	return w.out.Delete(ctx, status)
}
