package router

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/runs"
)

// Remove takes back what is shown of a run, everywhere that is known of: all of it, or one of its outputs. Buttons of a run
// that is removed are too old from then on.
func (d *Deliverer) Remove(ctx context.Context, run runs.Run, output int) error {
	s := d.surfaces[run.Origin.Platform]
	where, err := targetOf(run)
	if err != nil || s == nil {
		return nil // it was not asked for in a chat
	}
	unlock := d.live.lock(run.ID)
	defer unlock()
	parts, err := d.deliveries.parts(ctx, run.ID)
	if err != nil {
		return err
	}
	refs, several := shownFiles(parts, run, output)
	if !several {
		for _, p := range parts {
			refs = append(refs, p.Refs...)
		}
		if !where.Status.IsZero() {
			refs = append(refs, where.Status)
		}
	}
	shown := s.in(where.Chat)
	for _, ref := range refs {
		if gone := shown.Delete(ctx, ref); gone != nil {
			err = errors.Join(err, fmt.Errorf("delete a message: %w", gone))
		}
	}
	if output != runs.AllOutputs {
		return err
	}
	return errors.Join(err, d.keyboards.removeOf(ctx, run.ID, run.AccountID), d.deliveries.remove(ctx, run.ID))
}

// shownFiles are the messages that show one of several files of a run. Where it has only one, and for all outputs, several is false.
func shownFiles(parts map[string]part, run runs.Run, output int) (shown []chat.MessageRef, several bool) {
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

// parts gives the messages of a run's delivery; none where it has not begun.
func (d deliveries) parts(ctx context.Context, runID string) (map[string]part, error) {
	var raw []byte
	err := d.pool.QueryRow(ctx, `SELECT coalesce((SELECT parts FROM chat_deliveries WHERE run_id = $1), '{}')`, runID).Scan(&raw)
	parts := map[string]part{}
	if err == nil {
		err = unmarshal(raw, &parts)
	}
	if err != nil {
		return nil, fmt.Errorf("find the messages of run %s: %w", runID, err)
	}
	return parts, nil
}

// remove forgets the delivery of a run.
func (d deliveries) remove(ctx context.Context, runID string) error {
	if _, err := d.pool.Exec(ctx, `DELETE FROM chat_deliveries WHERE run_id = $1`, runID); err != nil {
		return fmt.Errorf("forget the delivery of run %s: %w", runID, err)
	}
	return nil
}

// removeOf deletes the buttons about a run.
func (s keyboards) removeOf(ctx context.Context, runID, accountID string) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM chat_keyboards WHERE account_id = $2 AND state ->> 'run' = $1`, runID, accountID); err != nil {
		return fmt.Errorf("delete the buttons of run %s: %w", runID, err)
	}
	return nil
}
