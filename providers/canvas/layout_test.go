package canvas

import (
	"testing"

	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// box is where a shape is, and how large.
func (b *bench) box(t *testing.T, id string) [4]float64 {
	t.Helper()
	for _, sh := range b.scene.All() {
		if sh.ID == id {
			return [4]float64{sh.X, sh.Y, sh.Width, sh.Height}
		}
	}
	t.Fatalf("there is no shape %s", id)
	return [4]float64{}
}

func (b *bench) wantBox(t *testing.T, what, id string, x, y, w, h float64) {
	t.Helper()
	if got, want := b.box(t, id), [4]float64{x, y, w, h}; got != want {
		t.Errorf("%s is at %v, want %v", what, got, want)
	}
}

func TestLayouts(t *testing.T) {
	t.Parallel()
	row := func(t *testing.T, flex in, more ...any) (b *bench, board, first, second string) {
		t.Helper()
		b = newBench(t)
		board = b.must(t, "create-board", merge(at4(100, 50, 400, 100, more...), "flex", flex)).id
		first = b.must(t, "create-rectangle", in{"width": 50, "height": 40, "parentId": board}).id
		second = b.must(t, "create-rectangle", in{"width": 60, "height": 20, "parentId": board}).id
		return b, board, first, second
	}
	t.Run("E97 a flex board places what is drawn into it, in its order", func(t *testing.T) {
		b, _, first, second := row(t, in{"columnGap": 10, "horizontalPadding": 20, "verticalPadding": 5, "alignItems": "center"})
		b.wantBox(t, "the first", first, 120, 80, 50, 40)
		b.wantBox(t, "the second", second, 180, 90, 60, 20)
	})
	t.Run("E103 a layout is changed member by member, taken away, and replaced by the other", func(t *testing.T) {
		b, board, first, second := row(t, in{"columnGap": 10})
		b.must(t, "modify-board", in{"shapeId": board, "propertiesToModify": in{"flex": in{"dir": "column", "rowGap": 4}}})
		b.wantBox(t, "the second in a column", second, 100, 94, 60, 20)
		b.must(t, "modify-board", in{"shapeId": board, "propertiesToModify": in{"flex": in{"dir": "row"}}})
		b.wantBox(t, "the second after the gap of before", second, 160, 50, 60, 20)
		b.must(t, "modify-board", in{"shapeId": board, "propertiesToModify": in{"grid": in{"columns": []any{in{"type": "flex"}, in{"type": "fixed", "value": 100}}, "alignContent": "start"}}})
		b.wantBox(t, "the second in a grid", second, 400, 50, 60, 20)
		b.must(t, "modify-rectangle", in{"shapeId": first, "propertiesToModify": in{"layoutCell": in{"row": 2, "column": 2}, "layoutChild": in{"horizontalSizing": "fill"}}})
		b.wantBox(t, "the first in its cell, which it fills", first, 400, 70, 100, 40)
		b.must(t, "modify-board", in{"shapeId": board, "propertiesToRemove": []any{"grid"}})
		b.must(t, "modify-rectangle", in{"shapeId": first, "propertiesToModify": in{"x": 7, "y": 8}})
		b.wantBox(t, "the first without a layout", first, 7, 8, 100, 40)
	})
	t.Run("E93 E98 fill, margins, bounds and absolute are those of the shape", func(t *testing.T) {
		b, _, first, second := row(t, in{})
		b.must(t, "modify-rectangle", in{"shapeId": first, "propertiesToModify": in{"layoutChild": in{"horizontalSizing": "fill", "verticalSizing": "fill", "horizontalMargin": 5, "maxHeight": 60}}})
		b.wantBox(t, "the first fills", first, 105, 50, 330, 60)
		b.wantBox(t, "the second follows", second, 440, 50, 60, 20)
		b.must(t, "modify-rectangle", in{"shapeId": first, "propertiesToModify": in{"layoutChild": in{"absolute": true}, "x": 300, "y": 400}})
		b.wantBox(t, "the first is absolute", first, 300, 400, 330, 60)
		b.wantBox(t, "the second has the room", second, 100, 50, 60, 20)
	})
	t.Run("E105 E106 E107 E121 what is deleted, copied, turned or reordered is laid out anew", func(t *testing.T) {
		b, _, first, second := row(t, in{})
		copied := b.must(t, "clone-shape", in{"shapeId": first}).id
		b.wantBox(t, "the copy comes last", copied, 210, 50, 50, 40)
		b.must(t, "rotate-shape", in{"shapeId": first, "angle": 90})
		b.wantBox(t, "the second beside the turned one", second, 140, 50, 60, 20)
		b.must(t, "bring-to-front-shape", in{"shapeId": first})
		b.wantBox(t, "the second is first now", second, 100, 50, 60, 20)
		b.must(t, "delete-shape", in{"shapeId": second})
		b.wantBox(t, "the copy is first now", copied, 100, 50, 50, 40)
	})
	t.Run("E97 E109 what is put into a group of a flex board keeps its distances, and the group its place", func(t *testing.T) {
		b, board, first, second := row(t, in{"columnGap": 10})
		last := b.must(t, "create-rectangle", in{"width": 30, "height": 30, "parentId": board}).id
		group := b.must(t, "group-shapes", in{"shapeIds": []any{first, second}}).id
		b.wantBox(t, "the group", group, 100, 50, 120, 40)
		b.wantBox(t, "the first", first, 100, 50, 50, 40)
		b.wantBox(t, "the second", second, 160, 50, 60, 20)
		b.wantBox(t, "the last", last, 230, 50, 30, 30)
	})
	t.Run("E97 boards within boards: one that fits its content, and one that fills", func(t *testing.T) {
		b := newBench(t)
		page := b.must(t, "create-board", at4(0, 0, 300, 200, "flex", in{"dir": "column", "rowGap": 10, "topPadding": 10})).id
		fits := b.must(t, "create-board", at4(0, 0, 1, 1, "parentId", page, "flex", in{"columnGap": 5, "horizontalSizing": "auto", "verticalSizing": "auto"})).id
		fills := b.must(t, "create-board", at4(0, 0, 10, 30, "parentId", page, "layoutChild", in{"horizontalSizing": "fill"}, "flex", in{"justifyContent": "end"})).id
		var inFits []string
		for range 3 {
			inFits = append(inFits, b.must(t, "create-rectangle", in{"width": 20, "height": 40, "parentId": fits}).id)
		}
		inFills := b.must(t, "create-rectangle", in{"width": 20, "height": 20, "parentId": fills}).id
		b.wantBox(t, "the one that fits", fits, 0, 10, 70, 40)
		b.wantBox(t, "its last", inFits[2], 50, 10, 20, 40)
		b.wantBox(t, "the one that fills", fills, 0, 60, 300, 30)
		b.wantBox(t, "what it holds", inFills, 280, 60, 20, 20)
		b.must(t, "modify-rectangle", in{"shapeId": inFits[0], "propertiesToModify": in{"height": 60}})
		b.wantBox(t, "the one that fills, further down", fills, 0, 80, 300, 30)
		b.wantBox(t, "what it holds, with it", inFills, 280, 80, 20, 20)
	})
	t.Run("E95 a text that fills wraps, and what follows moves down", func(t *testing.T) {
		b := newBench(t)
		board := b.must(t, "create-board", at4(0, 0, 120, 300, "flex", in{"dir": "column"})).id
		text := b.must(t, "create-text", in{"characters": "A text that is too long for one line of this board", "fontSize": "16", "parentId": board, "layoutChild": in{"horizontalSizing": "fill"}}).id
		below := b.must(t, "create-rectangle", in{"width": 20, "height": 20, "parentId": board}).id
		said, last := b.box(t, text), b.box(t, below)
		if said[2] != 120 || said[3] < 50 || last[1] != said[3] {
			t.Errorf("the text is %v, what follows %v", said, last)
		}
	})
	t.Run("E97 a board that is turned has its content turned with it", func(t *testing.T) {
		b, board, first, _ := row(t, in{"columnGap": 10})
		b.must(t, "rotate-shape", in{"shapeId": board, "angle": 180})
		b.must(t, "create-rectangle", in{"width": 30, "height": 30, "parentId": board})
		b.wantBox(t, "the first", first, 450, 110, 50, 40)
	})
	t.Run("E130 tokens give gaps, paddings and margins", func(t *testing.T) {
		b, board, first, second := row(t, in{})
		b.must(t, "create-tokens-set", in{"name": "room", "tokens": []any{in{"type": "spacing", "name": "wide", "value": "24"}}})
		b.must(t, "apply-tokens", in{"shapeIds": []any{board}, "assignments": []any{in{"tokenName": "wide", "attr": "column-gap"}, in{"tokenName": "wide", "attr": "p1"}}})
		b.must(t, "apply-tokens", in{"shapeIds": []any{first}, "assignments": []any{in{"tokenName": "wide", "attr": "m4"}}})
		b.wantBox(t, "the first", first, 124, 74, 50, 40)
		b.wantBox(t, "the second", second, 198, 74, 60, 20)
	})
	t.Run("E97 E98 a layout that is wrong is refused, and names what is wrong", func(t *testing.T) {
		b := newBench(t)
		for field, props := range map[string]in{
			"flex.dir": {"flex": in{"dir": "diagonal"}}, "flex.rowGap": {"flex": in{"rowGap": -1}}, "grid.columns[0].value": {"grid": in{"columns": []any{in{"type": "fixed"}}}},
			"grid": {"flex": in{}, "grid": in{}}, "layoutChild.alignSelf": {"layoutChild": in{"alignSelf": "left"}}, "layoutCell.row": {"layoutCell": in{"row": 1000}},
		} {
			b.refuses(t, "create-board", merge(at4(0, 0, 10, 10), pairs(props)...), field, "Failed to create board")
		}
	})
	t.Run("E138 a step back puts everything where it was", func(t *testing.T) {
		b, board, _, second := row(t, in{})
		fresh := scene.New(b.scene.Fonts, b.scene.Page, b.scene.All()...)
		if _, err := fresh.Modify(scene.Board, board, scene.Props{Flex: []byte(`{"dir": "column"}`)}, nil); err != nil {
			t.Fatal(err)
		}
		fresh.Undo(fresh.Changes())
		b.scene = fresh
		b.wantBox(t, "the second", second, 150, 50, 60, 20)
	})
}

// pairs are a tool's inputs as merge takes them.
func pairs(inputs in) []any {
	var list []any
	for k, v := range inputs {
		list = append(list, k, v)
	}
	return list
}
