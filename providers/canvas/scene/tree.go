package scene

import (
	"cmp"
	"slices"

	"github.com/signalbox/signalbox/providers/canvas/geom"
)

// tree is which shapes there are, and which hold which: what can be asked of a scene without changing it.
type tree struct {
	shapes map[string]*Shape
	kids   map[string][]string // by parent, the lowest first; "" is the page
}

// order finds the children of all parents.
func (t *tree) order() {
	clear(t.kids)
	for id, sh := range t.shapes {
		t.kids[sh.Parent] = append(t.kids[sh.Parent], id)
	}
	for _, ids := range t.kids {
		slices.SortFunc(ids, func(a, b string) int {
			return cmp.Or(cmp.Compare(t.shapes[a].Rank, t.shapes[b].Rank), cmp.Compare(a, b))
		})
	}
}

// Len is the number of shapes.
func (t *tree) Len() int { return len(t.shapes) }

// Children are the shapes that a parent holds, the lowest first; "" is the page.
func (t *tree) Children(parent string) []*Shape {
	list := make([]*Shape, len(t.kids[parent]))
	for i, id := range t.kids[parent] {
		list[i] = t.shapes[id]
	}
	return list
}

// All are all shapes, parents before their children, siblings from bottom to top.
func (t *tree) All() []*Shape { return t.below("") }

func (t *tree) below(parent string) []*Shape {
	var list []*Shape
	for _, sh := range t.Children(parent) {
		list = append(append(list, sh), t.below(sh.ID)...)
	}
	return list
}

// withAll is a shape and all that it holds.
func (t *tree) withAll(sh *Shape) []*Shape { return append([]*Shape{sh}, t.below(sh.ID)...) }

// Root is the shape on the page that holds a shape.
func (t *tree) Root(sh *Shape) *Shape {
	for sh.Parent != "" {
		sh = t.shapes[sh.Parent]
	}
	return sh
}

// path is a shape with all that hold it, the inner ones first.
func (t *tree) path(sh *Shape) (path []*Shape) {
	for ; sh != nil; sh = t.shapes[sh.Parent] {
		path = append(path, sh)
	}
	return path
}

// index is a shape's place among its siblings, from the bottom.
func (t *tree) index(sh *Shape) int { return slices.Index(t.kids[sh.Parent], sh.ID) }

// find gives the shape that an input names.
func (t *tree) find(field, id string) (*Shape, error) {
	sh, ok := t.shapes[id]
	if !ok {
		return nil, wrong(field, "there is no shape %q in this scene", id)
	}
	return sh, nil
}

// findAll gives several, each once, none of which holds another.
func (t *tree) findAll(field string, ids []string, least int) ([]*Shape, error) {
	if len(ids) < least {
		return nil, wrong(field, "has %d, expected at least %d", len(ids), least)
	}
	chosen := map[string]bool{}
	list := make([]*Shape, 0, len(ids))
	for _, id := range ids {
		sh, err := t.find(field, id)
		if err != nil {
			return nil, err
		}
		if chosen[id] {
			return nil, wrong(field, "names %s %q twice", sh.Type, sh.Name)
		}
		chosen[id] = true
		list = append(list, sh)
	}
	for _, sh := range list {
		for p := sh.Parent; p != ""; p = t.shapes[p].Parent {
			if chosen[p] {
				return nil, wrong(field, "names %s %q and %s %q, which holds it", sh.Type, sh.Name, t.shapes[p].Type, t.shapes[p].Name)
			}
		}
	}
	return list, nil
}

// Bounds is the visible box of a shape as geometry has it, without strokes, shadows and what a board cuts off.
func (t *tree) Bounds(sh *Shape) geom.Rect {
	if sh.Type != Group {
		return sh.Turn().Bounds(sh.Box())
	}
	var boxes []geom.Rect
	for _, child := range t.Children(sh.ID) {
		boxes = append(boxes, t.Bounds(child))
	}
	return geom.Union(boxes...)
}
