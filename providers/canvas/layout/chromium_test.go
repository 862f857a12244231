package layout

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/providers/canvas/geom"
)

// example is a layout, as ours and as CSS.
type example struct {
	flex  *Flex
	grid  *Grid
	items []Item
}

// place is what we make of it.
func (e example) place() ([]geom.Rect, Pair[float64]) {
	if e.flex != nil {
		return e.flex.Place(e.items)
	}
	return e.grid.Place(e.items)
}

func (e example) container() Container {
	if e.flex != nil {
		return e.flex.Container
	}
	return e.grid.Container
}

// css is the container as CSS, then the items.
func (e example) css() (container string, items []string) {
	c := e.container()
	say := func(format string, args ...any) { container += fmt.Sprintf(format+";", args...) }
	say("box-sizing:border-box;position:absolute;left:0;top:0;padding:%s", c.Padding.css())
	for axis, name := range []string{"width", "height"} {
		if c.Fit[axis] {
			say("%s:max-content", name)
		} else {
			say("%s:%gpx", name, c.Size[axis])
		}
	}
	say("gap:%gpx %gpx", c.Gap[Y], c.Gap[X])
	say("align-items:%s;align-content:%s;justify-items:%s;justify-content:%s", or(c.AlignItems, "start"), or(c.AlignContent, "stretch"), or(c.JustifyItems, "start"), or(c.JustifyContent, "start"))
	if e.flex != nil {
		direction := map[bool]string{false: "row", true: "column"}[e.flex.Column]
		if e.flex.Reverse {
			direction += "-reverse"
		}
		say("display:flex;flex-direction:%s;flex-wrap:%s", direction, map[bool]string{false: "nowrap", true: "wrap"}[e.flex.Wrap])
	} else {
		say("display:grid;grid-auto-flow:%s;grid-template-columns:%s;grid-template-rows:%s;justify-content:%s", map[bool]string{false: "row", true: "column"}[e.grid.ByColumn], css(e.grid.Columns), css(e.grid.Rows), or(c.JustifyContent, "stretch"))
	}
	for _, i := range e.items {
		items = append(items, e.item(i))
	}
	return container, items
}

func (e example) item(i Item) string {
	s := "box-sizing:border-box;margin:" + i.Margin.css() + ";"
	say := func(format string, args ...any) { s += fmt.Sprintf(format+";", args...) }
	if e.flex != nil {
		main, cross := e.flex.axes()
		say("flex:%s", map[bool]string{false: "0 0 auto", true: "1 0 0"}[i.Fill[main]])
		if i.Fill[cross] {
			say("align-self:stretch")
		} else {
			say("align-self:%s", or(i.Align, "auto"))
		}
	} else {
		if c := i.Cell; c.Row > 0 {
			say("grid-row-start:%d", c.Row)
		}
		if c := i.Cell; c.Column > 0 {
			say("grid-column-start:%d", c.Column)
		}
		say("grid-row-end:span %d;grid-column-end:span %d", max(1, i.Cell.RowSpan), max(1, i.Cell.ColumnSpan))
		if i.Fill[Y] {
			say("align-self:stretch")
		} else {
			say("align-self:%s", or(i.Align, "auto"))
		}
		if i.Fill[X] {
			say("justify-self:stretch")
		}
	}
	for axis, name := range []string{"width", "height"} {
		if !i.Fill[axis] {
			say("%s:%gpx", name, i.Size[axis])
		}
		say("min-%s:%gpx", name, i.Min[axis])
		if i.Max[axis] > 0 {
			say("max-%s:%gpx", name, i.Max[axis])
		}
	}
	return s
}

func (e Edges) css() string {
	return fmt.Sprintf("%gpx %gpx %gpx %gpx", e.Top, e.Right, e.Bottom, e.Left)
}

func css(tracks []Track) string {
	var all []string
	for _, t := range tracks {
		switch t.Type {
		case "fixed":
			all = append(all, fmt.Sprintf("%gpx", t.Value))
		case "percent":
			all = append(all, fmt.Sprintf("%g%%", t.Value))
		case "flex":
			all = append(all, fmt.Sprintf("%gfr", t.Value))
		default:
			all = append(all, "auto")
		}
	}
	return or(strings.Join(all, " "), "none")
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// maker draws examples by chance, the same each time.
type maker struct{ *rand.Rand }

func (m maker) one(of ...string) string { return of[m.IntN(len(of))] }
func (m maker) often(of int) bool       { return m.IntN(of) > 0 }
func (m maker) px(low, high int) float64 {
	return float64(low + m.IntN(high-low+1))
}

func (m maker) edges(high int) Edges {
	if m.often(2) {
		return Edges{}
	}
	return Edges{m.px(0, high), m.px(0, high), m.px(0, high), m.px(0, high)}
}

func (m maker) container() Container {
	content := []string{"", "start", "center", "end", "space-between", "space-around", "space-evenly", "stretch"}
	items := []string{"", "start", "center", "end", "stretch"}
	return Container{
		Size: Pair[float64]{m.px(120, 600), m.px(120, 600)}, Padding: m.edges(30), Gap: Pair[float64]{m.px(0, 20), m.px(0, 20)},
		AlignItems: m.one(items...), JustifyItems: m.one(items...), AlignContent: m.one(content...), JustifyContent: m.one(content...),
	}
}

func (m maker) items(fill bool) []Item {
	list := make([]Item, 1+m.IntN(8))
	for n := range list {
		i := Item{Size: Pair[float64]{m.px(10, 150), m.px(10, 150)}, Margin: m.edges(12), Align: m.one("", "auto", "start", "center", "end", "stretch")}
		for axis := range 2 {
			i.Fill[axis] = fill && !m.often(3)
			if !m.often(4) {
				i.Min[axis] = m.px(5, 60)
			}
			if !m.often(4) {
				i.Max[axis] = m.px(60, 200)
			}
		}
		list[n] = i
	}
	return list
}

func (m maker) flex() example {
	f := &Flex{Container: m.container(), Column: m.often(2), Reverse: m.often(2), Wrap: m.often(2)}
	fit := !m.often(4)
	if fit {
		f.Fit = Pair[bool]{m.often(2), m.often(2)}
	}
	return example{flex: f, items: m.items(!fit)}
}

func (m maker) grid() example {
	g := &Grid{Container: m.container(), Columns: m.tracks(), Rows: m.tracks(), ByColumn: !m.often(3)}
	items := m.items(true)
	for n := range items {
		c := &items[n].Cell
		if !m.often(3) {
			c.Column = 1 + m.IntN(4)
		}
		if !m.often(3) {
			c.Row = 1 + m.IntN(4)
		}
		if !m.often(4) {
			c.ColumnSpan = 2
		}
		if !m.often(4) {
			c.RowSpan = 2
		}
	}
	return example{grid: g, items: items}
}

func (m maker) tracks() []Track {
	list := make([]Track, 1+m.IntN(4))
	for n := range list {
		list[n] = Track{Type: m.one("fixed", "percent", "flex", "auto"), Value: 1}
		switch list[n].Type {
		case "fixed":
			list[n].Value = m.px(20, 150)
		case "percent":
			list[n].Value = m.px(5, 40)
		case "flex":
			list[n].Value = m.px(1, 3)
		}
	}
	return list
}

// measured asks Chromium for the boxes of an example: the container's first.
const measured = `(cases) => JSON.stringify(cases.map(([css, items]) => {
	const board = document.createElement("div");
	board.style.cssText = css;
	for (const i of items) board.appendChild(document.createElement("div")).style.cssText = i;
	document.body.replaceChildren(board);
	return [board, ...board.children].map((e) => { const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; });
}))`

// TestAsChromium compares places and sizes with those of the same layouts in CSS, a thousand of each kind: all are within half a pixel.
func TestAsChromium(t *testing.T) {
	t.Parallel()
	tab := browsertest.Open(t, browsertest.Desktop)
	m := maker{rand.New(rand.NewPCG(1, 2))}
	for name, make1 := range map[string]func() example{"flex": m.flex, "grid": m.grid} {
		examples := make([]example, 1000)
		asked := make([][]any, len(examples))
		for n := range examples {
			examples[n] = make1()
			container, items := examples[n].css()
			asked[n] = []any{container, items}
		}
		raw, err := json.Marshal(asked)
		if err != nil {
			t.Fatal(err)
		}
		said, err := chromedp.Run(tab, chromedp.Evaluate[string](fmt.Sprintf("(%s)(%s)", measured, raw)))
		if err != nil {
			t.Fatal(err)
		}
		var theirs [][][4]float64
		if err := json.Unmarshal([]byte(said), &theirs); err != nil || len(theirs) != len(examples) {
			t.Fatalf("%d answers, %v", len(theirs), err)
		}
		t.Run(name, func(t *testing.T) {
			wrong := 0
			for n, e := range examples {
				boxes, size := e.place()
				all := append([]geom.Rect{{W: size[X], H: size[Y]}}, boxes...)
				for k, b := range all {
					w := theirs[n][k]
					if off := max(math.Abs(b.X-w[0]), math.Abs(b.Y-w[1]), math.Abs(b.W-w[2]), math.Abs(b.H-w[3])); off > 0.5 {
						wrong++
						if wrong <= 5 {
							t.Errorf("example %d: box %d is %v, Chromium has %v\n%s\n%s", n, k, b, w, asked[n][0], strings.Join(asked[n][1].([]string), "\n"))
						}
						break
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d of %d are not as in Chromium", wrong, len(examples))
			}
		})
	}
}
