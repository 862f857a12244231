package canvas

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/registry"
)

// maxOperations bounds one edit.
const maxOperations = 200

// Operation is one thing that an edit does: a drawing tool by its id with its inputs; modify-shape, which is modify-rectangle and the like for shapes of
// all types; or undo or redo, by themselves.
type Operation struct {
	Tool   string         `json:"tool"`
	Inputs map[string]any `json:"inputs"`
}

// Edit is what a page does to a drawing as one step. ID is a UUID: an edit that is sent again is done once. Version is the one that the page shows.
type Edit struct {
	ID         string      `json:"id"`
	Version    int64       `json:"version"`
	Operations []Operation `json:"operations"`
}

// Edited is the result of an edit: the new version, and the shape that each operation was about; empty: none, or several.
type Edited struct {
	Version int64    `json:"version"`
	Shapes  []string `json:"shapes"`
}

// ErrConflict refuses an edit of a shape that somebody else has changed since the version that the page shows. Nothing was done. Edits of other
// shapes are merged.
var ErrConflict = errors.New("what this is about has been changed meanwhile")

// Edit carries out an edit of somebody's drawing, as tools do. It is a *registry.Error where the drawing is not theirs (CodeLost) or an operation can't
// be done (CodeInvalidInput), and ErrConflict.
func (p *Provider) Edit(ctx context.Context, w Whose, sceneID string, e Edit) (Edited, error) {
	if _, err := uuid.Parse(e.ID); err != nil {
		return Edited{}, registry.Errorf(registry.CodeInvalidInput, "is no UUID").At("id")
	}
	if n := len(e.Operations); n == 0 || n > maxOperations {
		return Edited{}, registry.Errorf(registry.CodeInvalidInput, "has %d entries, expected 1 to %d", n, maxOperations).At("operations")
	}
	if _, err := p.Info(ctx, w, sceneID); err != nil {
		return Edited{}, err
	}
	var done Edited
	_, answer, err := p.store.do(ctx, sceneKey{Whose: w, id: sceneID}, e.ID, "edit", false, func(s *stored) (Envelope, error) {
		t := &turn{Provider: p, ctx: ctx, call: registry.Call{UserID: w.Account}, scene: s.scene(p.Fonts), account: w.Account, id: s.ID}
		shapes, err := t.edit(s, e)
		if err != nil {
			return Envelope{}, err
		}
		s.change = t.scene.Changes()
		return Envelope{Success: true, Scene: s.ID, Payload: map[string]any{"version": s.Version + 1, "shapes": shapes}}, nil
	})
	if err != nil {
		return done, refusedEdit(err)
	}
	return done, json.Unmarshal(answer, &struct{ Payload *Edited }{&done})
}

// refusedEdit says which input is to blame.
func refusedEdit(err error) error {
	var wrong *scene.Error
	if errors.As(err, &wrong) {
		return &registry.Error{Code: registry.CodeInvalidInput, Field: wrong.Field, Message: wrong.Message}
	}
	return err
}

// edit does all operations of an edit, and gives the shape that each was about.
func (t *turn) edit(s *stored, e Edit) ([]string, error) {
	if tool := e.Operations[0].Tool; tool == undoStep || tool == redoStep {
		if s.Version != e.Version || len(e.Operations) > 1 {
			return nil, ErrConflict
		}
		return []string{}, t.unwind(s, tool)
	}
	changed, all, err := s.changedSince(t.ctx, e.Version)
	if err != nil {
		return nil, err
	}
	shapes := make([]string, len(e.Operations))
	for i, op := range e.Operations {
		if all || op.touches(changed) {
			return nil, ErrConflict
		}
		o, ok := editing(op.Tool)
		if !ok {
			return nil, scene.Wrong("operations", "there is no operation %q", shorten(op.Tool))
		}
		t.inputs = op.Inputs
		r, err := o.do(t)
		if err != nil {
			return nil, err
		}
		if r.shape != nil {
			shapes[i] = r.shape.ID
		}
	}
	return shapes, nil
}

// touches tells whether an operation names one of the shapes.
func (o Operation) touches(shapes map[string]bool) bool {
	named, _ := o.Inputs["shapeIds"].([]any)
	for _, name := range []string{"shapeId", "groupId"} {
		named = append(named[:len(named):len(named)], o.Inputs[name])
	}
	return slices.ContainsFunc(named, func(v any) bool {
		id, _ := v.(string)
		return shapes[id]
	})
}

// editing finds an operation that pages may do: one that draws, and neither costs anything nor waits for others.
func editing(id string) (operation, bool) {
	if id == "modify-shape" {
		return operation{id: id, kind: drawing, inputs: "shapeId!", run: modify1("")}, true
	}
	all := slices.Concat(creators(), modifiers(), arrangers())
	i := slices.IndexFunc(all, func(o operation) bool { return o.id == id })
	if i < 0 {
		return operation{}, false
	}
	return all[i], true
}

// unwind takes the last step back, or does the one that was taken back again.
func (t *turn) unwind(s *stored, deed string) error {
	find, none := s.takeBack, said.DrawNoUndo
	if deed == redoStep {
		find, none = s.bringBack, said.DrawNoRedo
	}
	change, err := find(t.ctx)
	if errors.Is(err, errNothing) {
		return registry.Say(registry.CodeInvalidInput, none)
	}
	if err != nil {
		return err
	}
	t.scene.Undo(change)
	if board := lastBoard(t.scene); board != nil {
		s.board = board.ID
	}
	return nil
}
