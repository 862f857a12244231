package canvas

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/registry"
)

const (
	ann = "11111111-1111-4111-8111-111111111111"
	bob = "22222222-2222-4222-8222-222222222222"
)

// shown is a drawing as its page has it.
type shown struct {
	Version int64        `json:"version"`
	Shapes  []scene.View `json:"shapes"`
}

func (h house) export(t *testing.T, account, id string) shown {
	t.Helper()
	raw, err := h.Export(t.Context(), Whose{Account: account}, id)
	if err != nil {
		t.Fatal(err)
	}
	var s shown
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func editOf(version int64, ops ...Operation) Edit {
	return Edit{ID: uuid.NewString(), Version: version, Operations: ops}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	begun := h.do(t, h.call(ann, "chat", "create-rectangle", in{"x": 0.0, "y": 0.0}))
	id, first := begun.Scene, begun.ShapeID
	second := h.do(t, h.call(ann, "chat", "create-ellipse", in{"x": 200.0, "y": 0.0})).ShapeID
	at := func(i int) float64 { return h.export(t, ann, id).Shapes[i].X }
	edit := func(e Edit) Edited {
		t.Helper()
		done, err := h.Edit(t.Context(), Whose{Account: ann}, id, e)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	moveTo := func(shape string, x float64) Operation {
		return Operation{"modify-shape", map[string]any{"shapeId": shape, "propertiesToModify": map[string]any{"x": x}}}
	}

	e := editOf(2, moveTo(first, 40), Operation{"bring-to-front-shape", map[string]any{"shapeId": first}})
	done := edit(e)
	if done.Version != 3 || len(done.Shapes) != 2 || done.Shapes[0] != first || at(1) != 40 {
		t.Fatalf("the edit gave %+v, and the drawing is %+v", done, h.export(t, ann, id))
	}
	t.Run("sent again it is done once", func(t *testing.T) {
		if again := edit(e); again.Version != 3 || h.export(t, ann, id).Version != 3 {
			t.Errorf("again: %+v", again)
		}
	})
	t.Run("what another changed is merged shape by shape, and told where it is the same one", func(t *testing.T) {
		if done := edit(editOf(2, moveTo(second, 300))); done.Version != 4 {
			t.Errorf("an edit of another shape gave %+v", done)
		}
		if _, err := h.Edit(t.Context(), Whose{Account: ann}, id, editOf(2, moveTo(first, 9))); !errors.Is(err, ErrConflict) || at(1) != 40 {
			t.Errorf("an edit of a shape that was changed meanwhile: %v", err)
		}
		if _, err := h.Edit(t.Context(), Whose{Account: ann}, id, editOf(3, Operation{undoStep, nil})); !errors.Is(err, ErrConflict) {
			t.Errorf("an undo of what the page does not show: %v", err)
		}
	})
	t.Run("undo and redo, until something else is drawn", func(t *testing.T) {
		edit(editOf(4, Operation{undoStep, nil}))
		edit(editOf(5, Operation{undoStep, nil}))
		if s := h.export(t, ann, id); s.Shapes[0].ID != first || s.Shapes[0].X != 0 || s.Shapes[1].X != 200 {
			t.Fatalf("both steps taken back: %+v", s)
		}
		edit(editOf(6, Operation{redoStep, nil}))
		if s := h.export(t, ann, id); s.Shapes[1].ID != first || s.Shapes[1].X != 40 || s.Shapes[0].X != 200 {
			t.Fatalf("the first one done again: %+v", s)
		}
		edit(editOf(7, Operation{redoStep, nil}))
		if at(0) != 300 {
			t.Fatalf("the second one done again: %+v", h.export(t, ann, id))
		}
		edit(editOf(8, Operation{undoStep, nil}))
		if at(0) != 200 {
			t.Fatalf("what was done again is taken back again: %+v", h.export(t, ann, id))
		}
		edit(editOf(9, moveTo(second, 500)))
		if _, err := h.Edit(t.Context(), Whose{Account: ann}, id, editOf(10, Operation{redoStep, nil})); registry.AsError(err).Code != registry.CodeInvalidInput {
			t.Errorf("a redo after something else was drawn: %v", err)
		}
	})
	t.Run("what can't be is refused whole", func(t *testing.T) {
		before := h.export(t, ann, id).Version
		for name, op := range map[string]Operation{
			"no operation":    {"format-disk", nil},
			"no such shape":   moveTo(uuid.NewString(), 1),
			"a property":      {"modify-shape", map[string]any{"shapeId": first, "propertiesToModify": map[string]any{"colour": "red"}}},
			"a paid picture":  {"generate-image", map[string]any{"shapeId": first, "imagePrompt": "a cat"}},
			"another program": {"send-to-penpot", nil},
			"somebody's file": {"create-rectangle", map[string]any{"backgroundImage": "asset:another"}},
		} {
			_, err := h.Edit(t.Context(), Whose{Account: ann}, id, editOf(before, moveTo(second, 1), op))
			if registry.AsError(err).Code != registry.CodeInvalidInput {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, e := range map[string]Edit{"no id": {Operations: []Operation{{}}, Version: before}, "nothing to do": editOf(before)} {
			if _, err := h.Edit(t.Context(), Whose{Account: ann}, id, e); registry.AsError(err).Code != registry.CodeInvalidInput {
				t.Errorf("%s: %v", name, err)
			}
		}
		if h.export(t, ann, id).Version != before {
			t.Error("something was done")
		}
	})
	t.Run("another's drawing is not there", func(t *testing.T) {
		if _, err := h.Edit(t.Context(), Whose{Account: bob}, id, editOf(10, moveTo(first, 1))); registry.AsError(err).Code != registry.CodeLost {
			t.Errorf("%v", err)
		}
	})
}
