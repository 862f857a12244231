package scene

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/layout"
)

// common is what flex and grid layouts have alike, with the names of Penpot's plugin API.
type common struct {
	AlignItems        string   `json:"alignItems,omitempty"`
	AlignContent      string   `json:"alignContent,omitempty"`
	JustifyItems      string   `json:"justifyItems,omitempty"`
	JustifyContent    string   `json:"justifyContent,omitempty"`
	RowGap            float64  `json:"rowGap,omitempty"`
	ColumnGap         float64  `json:"columnGap,omitempty"`
	TopPadding        float64  `json:"topPadding,omitempty"`
	RightPadding      float64  `json:"rightPadding,omitempty"`
	BottomPadding     float64  `json:"bottomPadding,omitempty"`
	LeftPadding       float64  `json:"leftPadding,omitempty"`
	VerticalPadding   *float64 `json:"verticalPadding,omitempty"`   // both top and bottom; not kept
	HorizontalPadding *float64 `json:"horizontalPadding,omitempty"` // both left and right; not kept
	HorizontalSizing  string   `json:"horizontalSizing,omitempty"`
	VerticalSizing    string   `json:"verticalSizing,omitempty"`
}

// flexLayout lays out what a board holds in rows or columns that flow.
type flexLayout struct {
	Dir  string `json:"dir,omitempty"` // empty: row
	Wrap string `json:"wrap,omitempty"`
	common
}

// gridLayout lays it out in cells.
type gridLayout struct {
	Dir     string  `json:"dir,omitempty"`
	Rows    []track `json:"rows,omitempty"`
	Columns []track `json:"columns,omitempty"`
	common
}

type track struct {
	Type  string   `json:"type"`
	Value *float64 `json:"value,omitempty"`
}

// layoutChild is how a shape lies in a board that lays it out.
type layoutChild struct {
	Absolute         bool     `json:"absolute,omitempty"` // it is not laid out
	ZIndex           int      `json:"zIndex,omitempty"`   // for Penpot
	HorizontalSizing string   `json:"horizontalSizing,omitempty"`
	VerticalSizing   string   `json:"verticalSizing,omitempty"`
	AlignSelf        string   `json:"alignSelf,omitempty"`
	TopMargin        float64  `json:"topMargin,omitempty"`
	RightMargin      float64  `json:"rightMargin,omitempty"`
	BottomMargin     float64  `json:"bottomMargin,omitempty"`
	LeftMargin       float64  `json:"leftMargin,omitempty"`
	VerticalMargin   *float64 `json:"verticalMargin,omitempty"`   // not kept
	HorizontalMargin *float64 `json:"horizontalMargin,omitempty"` // not kept
	MinWidth         *float64 `json:"minWidth,omitempty"`
	MaxWidth         *float64 `json:"maxWidth,omitempty"`
	MinHeight        *float64 `json:"minHeight,omitempty"`
	MaxHeight        *float64 `json:"maxHeight,omitempty"`
}

// layoutCell is a shape's cell in a grid, counted from 1.
type layoutCell struct {
	Row        int    `json:"row,omitempty"`
	Column     int    `json:"column,omitempty"`
	RowSpan    int    `json:"rowSpan,omitempty"`
	ColumnSpan int    `json:"columnSpan,omitempty"`
	AreaName   string `json:"areaName,omitempty"` // for Penpot
	Position   string `json:"position,omitempty"`
}

// Words of layouts.
var (
	itemAligns    = []string{"", "start", "end", "center", "stretch"}
	contentAligns = append(slices.Clone(itemAligns), "space-between", "space-around", "space-evenly")
	sizings       = []string{"", "fix", "fill", "auto"}
)

// spread makes one width that was said for both sides those of each.
func spread(both **float64, sides ...*float64) {
	if *both == nil {
		return
	}
	for _, side := range sides {
		*side = **both
	}
	*both = nil
}

func (c *common) check(at string) error {
	spread(&c.VerticalPadding, &c.TopPadding, &c.BottomPadding)
	spread(&c.HorizontalPadding, &c.LeftPadding, &c.RightPadding)
	return firstOf(oneOf(at+"alignItems", c.AlignItems, itemAligns...), oneOf(at+"alignContent", c.AlignContent, contentAligns...),
		oneOf(at+"justifyItems", c.JustifyItems, itemAligns...), oneOf(at+"justifyContent", c.JustifyContent, contentAligns...),
		oneOf(at+"horizontalSizing", c.HorizontalSizing, sizings...), oneOf(at+"verticalSizing", c.VerticalSizing, sizings...),
		check(at+"rowGap", c.RowGap, 0, maxSize), check(at+"columnGap", c.ColumnGap, 0, maxSize),
		check(at+"topPadding", c.TopPadding, 0, maxSize), check(at+"rightPadding", c.RightPadding, 0, maxSize),
		check(at+"bottomPadding", c.BottomPadding, 0, maxSize), check(at+"leftPadding", c.LeftPadding, 0, maxSize))
}

func (f *flexLayout) check(at string) error {
	return firstOf(oneOf(at+"dir", f.Dir, "", "row", "row-reverse", "column", "column-reverse"), oneOf(at+"wrap", f.Wrap, "", "wrap", "nowrap"), f.common.check(at))
}

func (g *gridLayout) check(at string) error {
	for name, tracks := range map[string][]track{"rows": g.Rows, "columns": g.Columns} {
		if len(tracks) > layout.MaxTracks {
			return wrong(at+name, "has %d entries, at most %d are taken", len(tracks), layout.MaxTracks)
		}
		for i, t := range tracks {
			field := fmt.Sprintf("%s%s[%d].", at, name, i)
			if err := oneOf(field+"type", t.Type, "flex", "fixed", "percent", "auto"); err != nil {
				return err
			}
			if t.Value == nil && (t.Type == "fixed" || t.Type == "percent") {
				return wrong(field+"value", "is missing")
			}
			if t.Value != nil {
				if err := check(field+"value", *t.Value, 0, maxSize); err != nil {
					return err
				}
			}
		}
	}
	return firstOf(oneOf(at+"dir", g.Dir, "", "row", "column"), g.common.check(at))
}

func (c *layoutChild) check(at string) error {
	spread(&c.VerticalMargin, &c.TopMargin, &c.BottomMargin)
	spread(&c.HorizontalMargin, &c.LeftMargin, &c.RightMargin)
	for name, v := range map[string]*float64{"minWidth": c.MinWidth, "maxWidth": c.MaxWidth, "minHeight": c.MinHeight, "maxHeight": c.MaxHeight} {
		if v != nil {
			if err := check(at+name, *v, 0, maxSize); err != nil {
				return err
			}
		}
	}
	return firstOf(oneOf(at+"horizontalSizing", c.HorizontalSizing, sizings...), oneOf(at+"verticalSizing", c.VerticalSizing, sizings...),
		oneOf(at+"alignSelf", c.AlignSelf, append(itemAligns, "auto")...),
		check(at+"topMargin", c.TopMargin, -maxSize, maxSize), check(at+"rightMargin", c.RightMargin, -maxSize, maxSize),
		check(at+"bottomMargin", c.BottomMargin, -maxSize, maxSize), check(at+"leftMargin", c.LeftMargin, -maxSize, maxSize))
}

func (c *layoutCell) check(at string) error {
	for name, n := range map[string]int{"row": c.Row, "column": c.Column, "rowSpan": c.RowSpan, "columnSpan": c.ColumnSpan} {
		if err := check(at+name, float64(n), 0, layout.MaxTracks); err != nil {
			return err
		}
	}
	return oneOf(at+"position", c.Position, "", "auto", "manual", "area")
}

// part is a member of a shape's layout.
type part interface{ check(at string) error }

// mergePart reads what was said of a part over what it was, and gives it as it is kept.
func mergePart(name string, was, said json.RawMessage, into part) (json.RawMessage, error) {
	if len(was) > 0 && json.Unmarshal(was, into) != nil {
		return nil, wrong(name, "can't be changed as it is; take it away first")
	}
	d := json.NewDecoder(bytes.NewReader(said))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			return nil, wrong(name+"."+kind.Field, "is %s, which can't be read as what is expected here", kind.Value)
		}
		return nil, wrong(name, "can't be read: %v", err)
	}
	if err := into.check(name + "."); err != nil {
		return nil, err
	}
	return json.Marshal(into)
}

// applyLayout keeps how a board lays out what it holds, and how a shape lies in such a board.
func (s *Scene) applyLayout(sh *Shape, p Props) error {
	kept := maps.Clone(sh.Layout)
	if kept == nil {
		kept = map[string]json.RawMessage{}
	}
	if (p.Flex != nil || p.Grid != nil) && sh.Type != Board {
		return wrong(map[bool]string{true: "flex", false: "grid"}[p.Flex != nil], "is for boards, and this is a %s", sh.Type)
	}
	if p.Flex != nil && p.Grid != nil {
		return wrong("grid", "a board has either flex or grid")
	}
	for _, one := range []struct {
		name  string
		said  json.RawMessage
		into  part
		other string
	}{{"flex", p.Flex, &flexLayout{}, "grid"}, {"grid", p.Grid, &gridLayout{}, "flex"}, {"layoutChild", p.LayoutChild, &layoutChild{}, ""}, {"layoutCell", p.LayoutCell, &layoutCell{}, ""}} {
		if one.said == nil {
			continue
		}
		read, err := mergePart(one.name, kept[one.name], one.said, one.into)
		if err != nil {
			return err
		}
		kept[one.name] = read
		delete(kept, one.other)
	}
	for name, v := range map[string]json.RawMessage{
		"constraintsHorizontal": p.ConstraintsHorizontal, "constraintsVertical": p.ConstraintsVertical, "horizontalSizing": p.HorizontalSizing, "verticalSizing": p.VerticalSizing,
	} {
		if v != nil {
			kept[name] = v
		}
	}
	if len(kept) > 0 {
		sh.Layout = kept
	}
	for attribute := range p.Tokens {
		if err := oneOf("tokens", attribute, TokenAttributes()...); err != nil {
			return err
		}
	}
	if p.Tokens != nil {
		sh.Tokens = p.Tokens
	}
	return nil
}

// readPart reads a part of a shape's layout; false: it has none.
func readPart[T any](sh *Shape, name string) (v T, ok bool) {
	raw, ok := sh.Layout[name]
	return v, ok && json.Unmarshal(raw, &v) == nil
}

// placer places items in a board; nil: it lays nothing out.
func (s *Shape) placer() interface {
	Place([]layout.Item) ([]geom.Rect, layout.Pair[float64])
} {
	if f, ok := readPart[flexLayout](s, "flex"); ok {
		return layout.Flex{
			Container: f.container(s, "start"), Column: f.Dir == "column" || f.Dir == "column-reverse", Reverse: f.Dir == "row-reverse" || f.Dir == "column-reverse", Wrap: f.Wrap == "wrap",
		}
	}
	if g, ok := readPart[gridLayout](s, "grid"); ok {
		return layout.Grid{Container: g.container(s, "stretch"), Rows: tracksOf(g.Rows), Columns: tracksOf(g.Columns), ByColumn: g.Dir == "column"}
	}
	return nil
}

func tracksOf(list []track) []layout.Track {
	tracks := make([]layout.Track, len(list))
	for i, t := range list {
		tracks[i] = layout.Track{Type: t.Type, Value: 1}
		if t.Value != nil {
			tracks[i].Value = *t.Value
		}
	}
	return tracks
}

// container is a board as what holds items. justify is how content lies where that is not said.
func (c common) container(b *Shape, justify string) layout.Container {
	return layout.Container{
		Size:    layout.Pair[float64]{b.Width, b.Height},
		Fit:     layout.Pair[bool]{b.sizing(layout.X) == "auto", b.sizing(layout.Y) == "auto"},
		Padding: layout.Edges{Top: c.TopPadding, Right: c.RightPadding, Bottom: c.BottomPadding, Left: c.LeftPadding},
		Gap:     layout.Pair[float64]{c.ColumnGap, c.RowGap}, AlignItems: c.AlignItems, AlignContent: c.AlignContent, JustifyItems: c.JustifyItems,
		JustifyContent: first(c.JustifyContent, justify),
	}
}

func first(said, usual string) string {
	if said == "" {
		return usual
	}
	return said
}

// sizing is how large a shape is on an axis: fix as it says itself, fill as its board has room, auto as what it holds. What it is as a part of another
// layout comes before what its own layout says, and the shape.
func (s *Shape) sizing(axis int) string {
	name := layout.Pair[string]{"horizontalSizing", "verticalSizing"}[axis]
	for _, from := range []string{"layoutChild", "flex", "grid"} {
		said, _ := readPart[map[string]any](s, from)
		if how, _ := said[name].(string); how != "" {
			return how
		}
	}
	how, _ := readPart[string](s, name)
	return how
}

// arrange lays out what a board holds, and the boards in it. One of them may turn out to need another size than it was given room for: then once more.
func (s *Scene) arrange(b *Shape) {
	if s.layOut(b) {
		s.layOut(b)
	}
}

// layOut places what a board holds, and tells whether a board in it has another size now. What is hidden or absolute stays where it is.
func (s *Scene) layOut(b *Shape) (changed bool) {
	place := b.placer()
	if place == nil {
		return false
	}
	var members []*Shape
	var items []layout.Item
	for _, c := range s.Children(b.ID) {
		child, _ := readPart[layoutChild](c, "layoutChild")
		if c.Hidden || child.Absolute {
			continue
		}
		members, items = append(members, c), append(items, s.item(b, c, child))
	}
	boxes, size := place.Place(items)
	if tidy(size[layout.X]) != b.Width || tidy(size[layout.Y]) != b.Height {
		s.edit(b)
		b.Width, b.Height = max(0.01, tidy(size[layout.X])), max(0.01, tidy(size[layout.Y]))
	}
	for i, c := range members {
		changed = s.settle(b, c, boxes[i], items[i].Fill) || changed
	}
	return changed
}

// item is a shape as its board sees it: a shape that is turned takes the room of its visible box.
func (s *Scene) item(b, c *Shape, child layoutChild) layout.Item {
	box := geom.Rotate(c.Rotation-b.Rotation, geom.Point{}).Bounds(geom.Rect{W: c.Width, H: c.Height})
	cell, _ := readPart[layoutCell](c, "layoutCell")
	straight := turned(c.Rotation-b.Rotation) == 0 && c.Type != Group
	i := layout.Item{
		Size: layout.Pair[float64]{box.W, box.H}, Align: child.AlignSelf,
		Fill:   layout.Pair[bool]{straight && c.sizing(layout.X) == "fill", straight && c.sizing(layout.Y) == "fill"},
		Margin: layout.Edges{Top: child.TopMargin, Right: child.RightMargin, Bottom: child.BottomMargin, Left: child.LeftMargin},
		Cell:   layout.Cell{Row: cell.Row, Column: cell.Column, RowSpan: cell.RowSpan, ColumnSpan: cell.ColumnSpan},
	}
	for at, v := range map[*float64]*float64{&i.Min[layout.X]: child.MinWidth, &i.Max[layout.X]: child.MaxWidth, &i.Min[layout.Y]: child.MinHeight, &i.Max[layout.Y]: child.MaxHeight} {
		if v != nil {
			*at = *v
		}
	}
	if !straight {
		i.Min, i.Max = layout.Pair[float64]{}, layout.Pair[float64]{}
	}
	if c.Type == TextShape && c.Text.GrowType != "fixed" && s.Fonts != nil {
		i.Height = func(width float64) float64 {
			_, h := s.Fonts.Measure(*c.Text, width)
			return max(1, h)
		}
	}
	return i
}

// settle gives a shape the box that its board has for it, and tells whether it is a board that became larger or smaller by that on its own.
func (s *Scene) settle(b, c *Shape, box geom.Rect, fills layout.Pair[bool]) bool {
	w, h := tidy(box.W), tidy(box.H)
	resized := c.Type != Group && turned(c.Rotation-b.Rotation) == 0 && (w != c.Width || h != c.Height)
	if resized {
		s.edit(c)
		c.Width, c.Height = max(0.01, w), max(0.01, h)
		if c.Type == TextShape && fills[layout.X] && c.Text.GrowType == "auto-width" {
			c.Text.GrowType = "auto-height"
		}
	}
	center := b.Turn().Apply(geom.Point{X: b.X + box.X + box.W/2, Y: b.Y + box.Y + box.H/2})
	now := c.Box().Center()
	s.shift(c, geom.Point{X: tidy(center.X - now.X), Y: tidy(center.Y - now.Y)})
	if !resized || c.Type != Board {
		return false
	}
	s.arrange(c)
	return c.Width != max(0.01, w) || c.Height != max(0.01, h)
}
