package canvas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// The steps that are no operation, as they are kept and asked for.
const (
	undoStep = "undo"
	redoStep = "redo"
)

// errNothing says that there is no step to take back, or to do again.
var errNothing = errors.New("there is no such step")

// takeBack finds the last step that was not taken back yet, and marks it.
func (s *stored) takeBack(ctx context.Context) (scene.Change, error) {
	var version int64
	var change scene.Change
	err := s.tx.QueryRow(ctx, `SELECT version, step FROM canvas_changes WHERE scene_id = $1 AND NOT undone AND tool NOT IN ('undo', 'redo') ORDER BY version DESC LIMIT 1`,
		s.ID).Scan(&version, &change)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && version == 1 {
		return change, errNothing
	}
	if err == nil {
		err = s.mark(ctx, version, true)
	}
	if err != nil {
		return change, fmt.Errorf("take the last step back: %w", err)
	}
	s.deed, s.took = undoStep, &version
	return change, nil
}

// undoable reports whether takeBack would find a step.
func (st store) undoable(ctx context.Context, sceneID string) (bool, error) {
	var is bool
	err := st.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM canvas_changes WHERE scene_id = $1 AND NOT undone AND tool NOT IN ('undo', 'redo') AND version > 1)`, sceneID).Scan(&is)
	if err != nil {
		return false, fmt.Errorf("look for a step to take back: %w", err)
	}
	return is, nil
}

// bringBack finds the last undo that nothing was drawn after, and gives what takes it back.
func (s *stored) bringBack(ctx context.Context) (scene.Change, error) {
	var version int64
	var took *int64
	var change scene.Change
	err := s.tx.QueryRow(ctx, `
		SELECT version, took, step FROM canvas_changes u
		WHERE scene_id = $1 AND NOT undone AND tool = 'undo' AND NOT EXISTS (
			SELECT FROM canvas_changes l WHERE l.scene_id = u.scene_id AND l.version > u.version AND l.tool NOT IN ('undo', 'redo'))
		ORDER BY version DESC LIMIT 1`, s.ID).Scan(&version, &took, &change)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && took == nil {
		return change, errNothing
	}
	if err == nil {
		err = errors.Join(s.mark(ctx, version, true), s.mark(ctx, *took, false))
	}
	if err != nil {
		return change, fmt.Errorf("do the last step again: %w", err)
	}
	s.deed = redoStep
	return change, nil
}

func (s *stored) mark(ctx context.Context, version int64, undone bool) error {
	_, err := s.tx.Exec(ctx, `UPDATE canvas_changes SET undone = $3 WHERE scene_id = $1 AND version = $2`, s.ID, version, undone)
	return err
}

// changedSince are the shapes that steps after a version changed. all: the steps are not kept any more, so that it may be any.
func (s *stored) changedSince(ctx context.Context, version int64) (ids map[string]bool, all bool, err error) {
	ids = map[string]bool{}
	if version >= s.Version {
		return ids, false, nil
	}
	rows, _ := s.tx.Query(ctx, `SELECT step FROM canvas_changes WHERE scene_id = $1 AND version > $2`, s.ID, version)
	steps, err := pgx.CollectRows(rows, pgx.RowTo[json.RawMessage])
	if err != nil {
		return nil, false, fmt.Errorf("read the steps since %d: %w", version, err)
	}
	for _, raw := range steps {
		var c scene.Change
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, false, fmt.Errorf("read the steps since %d: %w", version, err)
		}
		for id := range c.Before {
			ids[id] = true
		}
	}
	return ids, int64(len(steps)) < s.Version-version, nil
}
