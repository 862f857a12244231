package scene

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/providers/canvas/geom"
)

// maxShapes bounds a scene.
const maxShapes = 20_000

// Typesetter knows the fonts. It is asked for the sizes of texts that grow with what they say.
type Typesetter interface {
	// Family gives the exact name of a font family. Where there is none of that name, nearest has those that look like it.
	Family(name string) (exact string, nearest []string)
	// Measure gives the size of a text set in lines of at most width pixels; 0: as wide as it gets.
	Measure(t Text, width float64) (w, h float64)
}

// Error refuses an operation. Field is the input that it is about, with its place in it, such as fills[1].fillColor.
type Error struct{ Field, Message string }

// Error gives both.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// Wrong makes an error about an input.
func Wrong(field, format string, args ...any) *Error { return wrong(field, format, args...) }

func wrong(field, format string, args ...any) *Error {
	return &Error{field, fmt.Sprintf(format, args...)}
}

// Page is what a scene has beside its shapes.
type Page struct {
	Name  string     `json:"name,omitempty"`
	Flows []Flow     `json:"flows,omitempty"`
	Sets  []TokenSet `json:"tokenSets,omitempty"`
	// Words are what the drawing was made from, and Seed chose its composition; empty: it was drawn by tools.
	Words string `json:"words,omitempty"`
	Seed  uint64 `json:"seed,omitempty"`
}

// Scene is a drawing. It keeps note of what is changed since it was loaded, see Changes. It is for one goroutine.
type Scene struct {
	Page  Page
	Fonts Typesetter

	tree
	before map[string]*Shape // what was changed as it was; nil: it was not there
	page   *Page             // as it was
}

// New makes a scene of shapes as they were kept.
func New(fonts Typesetter, page Page, shapes ...*Shape) *Scene {
	s := &Scene{Page: page, Fonts: fonts, tree: tree{map[string]*Shape{}, map[string][]string{}}, before: map[string]*Shape{}}
	for _, sh := range shapes {
		s.shapes[sh.ID] = sh
	}
	s.order()
	return s
}

// Change is what was done to a scene: the shapes as they were and as they are, nil where there was or is none.
type Change struct {
	Before, After map[string]*Shape
	PageBefore    *Page // nil: the page is as it was
	PageAfter     *Page
}

// Empty tells whether nothing was changed.
func (c Change) Empty() bool { return len(c.Before) == 0 && c.PageBefore == nil }

// Changes is what was done since the scene was made.
func (s *Scene) Changes() Change {
	c := Change{Before: s.before, After: map[string]*Shape{}}
	for id := range s.before {
		c.After[id] = s.shapes[id]
	}
	if s.page != nil {
		after := s.Page
		c.PageBefore, c.PageAfter = s.page, &after
	}
	return c
}

// Undo takes a change back.
func (s *Scene) Undo(c Change) {
	for id, was := range c.Before {
		s.note(id)
		if was == nil {
			delete(s.shapes, id)
		} else {
			s.shapes[id] = was.clone()
		}
	}
	if c.PageBefore != nil {
		s.editPage()
		s.Page = *c.PageBefore
	}
	s.order()
}

// note keeps a shape as it is before its first change.
func (s *Scene) note(id string) {
	if _, noted := s.before[id]; !noted {
		s.before[id] = s.shapes[id].clone()
	}
}

// edit gives a shape to change.
func (s *Scene) edit(sh *Shape) *Shape {
	s.note(sh.ID)
	return sh
}

func (s *Scene) editPage() *Page {
	if s.page == nil {
		was := s.Page
		s.page = &was
	}
	return &s.Page
}

// Remember keeps from what words a drawing was made.
func (s *Scene) Remember(words string, seed uint64) {
	page := s.editPage()
	page.Words, page.Seed = words, seed
}

// add puts a new shape on top of its parent's children, or below them all.
func (s *Scene) add(sh *Shape) error {
	if len(s.shapes) >= maxShapes {
		return wrong("scene", "it has %d shapes, which is as many as a scene may have", maxShapes)
	}
	if sh.ID == "" {
		sh.ID = uuid.NewString()
	}
	s.note(sh.ID)
	s.shapes[sh.ID] = sh
	s.place(sh, sh.Parent, len(s.kids[sh.Parent]))
	return nil
}

// place puts a shape among the children of a parent, at an index from the bottom as it is after it was taken out of where it was.
func (s *Scene) place(sh *Shape, parent string, index int) {
	s.edit(sh)
	s.kids[sh.Parent] = without(s.kids[sh.Parent], sh.ID)
	ids := s.kids[parent]
	index = min(max(index, 0), len(ids))
	ids = slices.Insert(slices.Clone(ids), index, sh.ID)
	s.kids[parent], sh.Parent = ids, parent
	low, high, has := 0.0, 0.0, index+1 < len(ids)
	if index > 0 {
		low = s.shapes[ids[index-1]].Rank
	}
	if has {
		high = s.shapes[ids[index+1]].Rank
	}
	switch {
	case !has:
		sh.Rank = low + 1
	case index == 0:
		sh.Rank = high - 1
	case high-low > 1e-6:
		sh.Rank = (low + high) / 2
	default: // no number left between its neighbours
		for i, id := range ids {
			s.edit(s.shapes[id]).Rank = float64(i + 1)
		}
	}
}

// remove takes a shape out, with all that it holds.
func (s *Scene) remove(sh *Shape) {
	for _, one := range s.withAll(sh) {
		s.note(one.ID)
		s.kids[one.Parent] = without(s.kids[one.Parent], one.ID)
		delete(s.shapes, one.ID)
	}
}

func without(ids []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(one string) bool { return one == id })
}

// fit lays the boxes of the groups that hold shapes round what they hold, and lays out what the boards hold: each once, the inner ones first.
func (s *Scene) fit(shapes ...*Shape) {
	depths := map[*Shape]int{}
	for _, sh := range shapes {
		path := s.path(sh)
		for i, one := range path {
			depths[one] = len(path) - i
		}
	}
	for _, sh := range slices.SortedFunc(maps.Keys(depths), func(a, b *Shape) int { return cmp.Or(cmp.Compare(depths[b], depths[a]), cmp.Compare(a.ID, b.ID)) }) {
		switch sh.Type {
		case Group:
			s.fitGroup(sh)
		case Board:
			s.arrange(sh)
		}
	}
}

// fitGroup lays the box of a group, which may be turned, round the children.
func (s *Scene) fitGroup(g *Shape) {
	back := geom.Rotate(-g.Rotation, geom.Point{})
	var boxes []geom.Rect
	for _, child := range s.Children(g.ID) {
		boxes = append(boxes, back.Mul(child.Turn()).Bounds(child.Box()))
	}
	box := geom.Union(boxes...)
	c := geom.Rotate(g.Rotation, geom.Point{}).Apply(box.Center())
	next := geom.Rect{X: c.X - box.W/2, Y: c.Y - box.H/2, W: box.W, H: box.H}
	if next != g.Box() {
		s.edit(g)
		g.X, g.Y, g.Width, g.Height = next.X, next.Y, next.W, next.H
	}
}

// shift moves a shape with all that it holds.
func (s *Scene) shift(sh *Shape, by geom.Point) {
	if by == (geom.Point{}) {
		return
	}
	for _, one := range s.withAll(sh) {
		s.edit(one)
		one.X, one.Y = tidy(one.X+by.X), tidy(one.Y+by.Y)
	}
}
