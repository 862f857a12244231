package canvas

import (
	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// arrangers put shapes together, in line and in order.
func arrangers() []operation {
	list := []operation{
		{id: "create-boolean", name: "createBoolean", title: "Combine", inputs: "boolType! shapeIds=two! " + lookProps + " fills strokes",
			description: "Makes one shape of several: union, difference, intersection or exclude. The first is the base. Use it for cut-outs and joined forms.", run: combine, failure: "Failed to create boolean"},
		{id: "group-shapes", name: "groupShapes", title: "Group", inputs: "shapeIds! " + lookProps,
			description: "Puts shapes into a group, which moves, turns and fades as one. Use it for what belongs together.", run: group, failure: "Failed to group shapes"},
		{id: "ungroup", name: "ungroup", title: "Ungroup", inputs: "groupId!", description: "Dissolves a group; what it held stays where it is. Use it to edit the parts by themselves.", run: ungroup, failure: "Failed to ungroup"},
		{id: "convert-to-board", name: "convertToBoard", title: "Convert to board", inputs: "name! shapeIds!", description: "Puts shapes into a new board of their size. Use it to make a frame of what is there.",
			run: convert((*scene.Scene).ConvertToBoard, "Board %q made of the shapes"), failure: "Failed to convert to board"},
		{id: "convert-to-component", name: "convertToComponent", title: "Convert to component", inputs: "name! shapeIds!", description: "Makes shapes a component with a name. Use it for what is to be used again.",
			run: convert((*scene.Scene).ConvertToComponent, "Component %q made"), failure: "Failed to convert to component"},
		{id: "align-shapes", name: "alignShapes", title: "Align", inputs: "shapeIds=two! axis! direction=direction2!",
			description: "Moves shapes so that their edges or middles are in line. Use it with axis horizontal for left, center, right, and vertical for top, center, bottom.", run: align, failure: "Failed to align shapes"},
		{id: "distribute-shapes", name: "distributeShapes", title: "Distribute", inputs: "shapeIds=two! axis!",
			description: "Moves shapes so that the gaps between them are equal. Use it for rows and columns; the outer ones stay.", run: distribute, failure: "Failed to distribute shapes"},
	}
	for _, o := range []struct {
		id, name, title, said string
		to                    scene.Order
	}{
		{"bring-to-front-shape", "bringToFrontShape", "Bring to front", "is on top of all its siblings", scene.ToFront},
		{"bring-forward-shape", "bringForwardShape", "Bring forward", "is one step further up", scene.Forward},
		{"send-to-back-shape", "sendToBackShape", "Send to back", "is below all its siblings", scene.ToBack},
		{"send-backward-shape", "sendBackwardShape", "Send backward", "is one step further down", scene.Backward},
	} {
		list = append(list, operation{id: o.id, name: o.name, title: o.title, inputs: "shapeId!", failure: "Failed to reorder shape",
			description: o.title + ": afterwards the shape " + o.said + ". Use it when something covers what should be seen.", run: reorder(o.to, o.said)})
	}
	for i := range list {
		list[i].kind = drawing
	}
	return list
}

// several are the inputs of tools for more than one shape.
type several struct {
	ShapeIDs  []string       `json:"shapeIds"`
	Name      string         `json:"name"`
	BoolType  geom.Operation `json:"boolType"`
	Axis      string         `json:"axis"`
	Direction string         `json:"direction"`
}

func combine(t *turn) (reply, error) {
	in, err := read[struct {
		ShapeIDs []string       `json:"shapeIds"`
		BoolType geom.Operation `json:"boolType"`
		scene.Props
	}](t)
	if err != nil {
		return reply{}, err
	}
	sh, err := t.scene.Combine(in.BoolType, in.ShapeIDs, in.Props)
	if err != nil {
		return reply{}, err
	}
	return t.about(sh, "%q made by %s of %d shapes", sh.Name, in.BoolType, len(in.ShapeIDs)), nil
}

func group(t *turn) (reply, error) {
	in, err := read[struct {
		ShapeIDs []string `json:"shapeIds"`
		scene.Props
	}](t)
	if err != nil {
		return reply{}, err
	}
	sh, err := t.scene.Group(in.ShapeIDs, in.Props)
	if err != nil {
		return reply{}, err
	}
	r := t.about(sh, "Group %q made of %d shapes", sh.Name, len(in.ShapeIDs))
	r.payload["groupId"] = sh.ID
	return r, nil
}

func ungroup(t *turn) (reply, error) {
	in, err := read[struct {
		GroupID string `json:"groupId"`
	}](t)
	if err != nil {
		return reply{}, err
	}
	shapes, err := t.scene.Ungroup(in.GroupID)
	if err != nil {
		return reply{}, err
	}
	return t.aboutAll(shapes, "Group dissolved into %d shapes", len(shapes)), nil
}

func convert(to func(*scene.Scene, string, []string) (*scene.Shape, error), said string) func(*turn) (reply, error) {
	return func(t *turn) (reply, error) {
		in, err := read[several](t)
		if err != nil {
			return reply{}, err
		}
		sh, err := to(t.scene, in.Name, in.ShapeIDs)
		if err != nil {
			return reply{}, err
		}
		return t.about(sh, said, sh.Name), nil
	}
}

func align(t *turn) (reply, error) {
	in, err := read[several](t)
	if err != nil {
		return reply{}, err
	}
	shapes, err := t.scene.Align(in.ShapeIDs, in.Axis, in.Direction)
	if err != nil {
		return reply{}, err
	}
	return t.aboutAll(shapes, "%d shapes aligned to %s", len(shapes), in.Direction), nil
}

func distribute(t *turn) (reply, error) {
	in, err := read[several](t)
	if err != nil {
		return reply{}, err
	}
	shapes, err := t.scene.Distribute(in.ShapeIDs, in.Axis)
	if err != nil {
		return reply{}, err
	}
	return t.aboutAll(shapes, "%d shapes distributed on the %s axis", len(shapes), in.Axis), nil
}

func reorder(to scene.Order, said string) func(*turn) (reply, error) {
	return func(t *turn) (reply, error) {
		in, err := read[struct {
			ShapeID string `json:"shapeId"`
		}](t)
		if err != nil {
			return reply{}, err
		}
		sh, err := t.scene.Reorder(in.ShapeID, to)
		if err != nil {
			return reply{}, err
		}
		return t.about(sh, "%q %s", sh.Name, said), nil
	}
}
