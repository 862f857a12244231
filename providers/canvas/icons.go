package canvas

import (
	_ "embed" // the icons
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// iconsFile are icons of Lucide (ISC, see icons.LICENSE.txt): by name the figures, each the steps of a path in a square of 24.
//
//go:embed icons.json
var iconsFile []byte

// The icon library that comes with the program.
const (
	iconLibrary = "lucide"
	iconStyle   = "outline"
	iconSquare  = 24.0
	iconStroke  = 2.0
)

// iconTools list and draw icons.
func iconTools() []operation {
	return []operation{
		{id: "get-icon-list", name: "getIconList", title: "Icons", kind: function, reads: true, inputs: "libraryId! styleId!", run: iconList, failure: "Failed to list icons",
			description: "Lists the names of the icons of a library in a style. Use it before an icon is drawn. Here there is the library lucide in the style outline."},
		{id: "draw-icon", name: "drawIcon", title: "Draw icon", kind: drawing, inputs: "libraryId! iconName! styleId! x y parentX parentY width height parentId name color", run: drawIcon, failure: "Failed to draw icon",
			description: "Draws an icon as a group of lines, 24 pixels wide where nothing else is said. Use it for buttons and lists; get-icon-list has the names."},
	}
}

// iconInputs are those of both.
type iconInputs struct {
	Library string `json:"libraryId"`
	Style   string `json:"styleId"`
	Icon    string `json:"iconName"`
	scene.Props
}

// step is a command and its numbers: ["C", x1, y1, x2, y2, x, y].
type step []any

// iconsOf reads the library that a call names.
func iconsOf(in iconInputs) (map[string][][]step, error) {
	if in.Library != iconLibrary {
		return nil, scene.Wrong("libraryId", "there is no icon library %q here, there is %s", in.Library, iconLibrary)
	}
	if in.Style != iconStyle {
		return nil, scene.Wrong("styleId", "%s has no style %q, it has %s", iconLibrary, in.Style, iconStyle)
	}
	var icons map[string][][]step
	if err := json.Unmarshal(iconsFile, &icons); err != nil {
		return nil, fmt.Errorf("icons.json: %w", err)
	}
	return icons, nil
}

func iconList(t *turn) (reply, error) {
	in, err := read[iconInputs](t)
	if err != nil {
		return reply{}, err
	}
	icons, err := iconsOf(in)
	if err != nil {
		return reply{}, err
	}
	names := slices.Sorted(maps.Keys(icons))
	return reply{message: count(len(names), "icon"), payload: map[string]any{"libraryId": iconLibrary, "styleId": iconStyle, "icons": names}}, nil
}

func drawIcon(t *turn) (reply, error) {
	in, err := read[iconInputs](t)
	if err != nil {
		return reply{}, err
	}
	icons, err := iconsOf(in)
	if err != nil {
		return reply{}, err
	}
	figures, ok := icons[in.Icon]
	if !ok {
		return reply{}, scene.Wrong("iconName", "there is no icon %q in %s; get-icon-list has the names", in.Icon, iconLibrary)
	}
	color := "#000000"
	if in.Color != nil {
		if color, err = scene.Color("color", *in.Color); err != nil {
			return reply{}, err
		}
	}
	in.Color = nil
	// A rectangle of the whole square finds the place and the size, and goes again.
	side := iconSquare
	in.Width, in.Height = orElse(in.Width, in.Height, &side), orElse(in.Height, in.Width, &side)
	square, err := t.scene.Create(scene.Rectangle, in.Props)
	if err != nil {
		return reply{}, err
	}
	box := square.Box()
	if _, _, err := t.scene.Delete(square.ID); err != nil {
		return reply{}, err
	}
	var ids []string
	for _, f := range figures {
		id, err := t.iconFigure(f, in, color, box.X, box.Y, box.W/iconSquare, box.H/iconSquare)
		if err != nil {
			return reply{}, err
		}
		ids = append(ids, id)
	}
	name := in.Icon
	if in.Name != nil {
		name = *in.Name
	}
	g, err := t.scene.Group(ids, scene.Props{Name: &name})
	if err != nil {
		return reply{}, err
	}
	return t.about(g, "Icon %q drawn at (%g, %g)", in.Icon, box.X, box.Y), nil
}

func orElse(list ...*float64) *float64 {
	for _, v := range list {
		if v != nil {
			return v
		}
	}
	return nil
}

// iconFigure draws one figure of an icon into its square.
func (t *turn) iconFigure(f []step, in iconInputs, color string, x, y, fx, fy float64) (string, error) {
	content := commandsOf(f)
	sh, err := t.scene.Create(scene.PathShape, scene.Props{
		ParentID: in.ParentID, Content: &content, Fills: &[]scene.Fill{},
		Strokes: &[]scene.Stroke{{Color: color, Opacity: 1, Style: "solid", Width: iconStroke * min(fx, fy), CapStart: "round", CapEnd: "round"}},
	})
	if err != nil {
		return "", err
	}
	left, top, w, h := x+sh.X*fx, y+sh.Y*fy, sh.Width*fx, sh.Height*fy
	_, err = t.scene.Modify(scene.PathShape, sh.ID, scene.Props{X: &left, Y: &top, Width: &w, Height: &h}, nil)
	return sh.ID, err
}

// commandsOf makes the steps of a figure the commands of a path.
func commandsOf(f []step) []scene.Command {
	list := make([]scene.Command, len(f))
	for i, s := range f {
		list[i].Command, _ = s[0].(string)
		n := make([]float64, len(s)-1)
		for j := range n {
			n[j], _ = s[j+1].(float64)
		}
		p := &scene.PathParams{}
		switch list[i].Command {
		case "C":
			p.C1X, p.C1Y, p.C2X, p.C2Y, p.X, p.Y = &n[0], &n[1], &n[2], &n[3], &n[4], &n[5]
		case "A":
			p.RX, p.RY, p.XAxisRotation, p.LargeArcFlag, p.SweepFlag, p.X, p.Y = &n[0], &n[1], &n[2], n[3] == 1, n[4] == 1, &n[5], &n[6]
		case "Z":
			p = nil
		default:
			p.X, p.Y = &n[0], &n[1]
		}
		list[i].Params = p
	}
	return list
}
