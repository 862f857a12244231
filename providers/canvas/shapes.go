package canvas

import (
	"github.com/signalbox/signalbox/providers/canvas/geom"
	"github.com/signalbox/signalbox/providers/canvas/scene"
)

// What all shapes can be given; nothing of it has to be.
const (
	lookProps   = "name x y parentX parentY width height rotation flipX flipY opacity blendMode hidden blocked shadows blur layoutChild layoutCell constraintsHorizontal constraintsVertical tokens"
	areaProps   = lookProps + " fills strokes borderRadius borderRadiusTopLeft borderRadiusTopRight borderRadiusBottomRight borderRadiusBottomLeft"
	textProps   = "characters fontFamily fontSize fontWeight fontStyle align verticalAlign lineHeight letterSpacing textTransform textDecoration direction growType " + lookProps + " fills strokes"
	pathProps   = "content " + lookProps + " fills strokes"
	boardProps  = areaProps + " clipContent flex grid horizontalSizing verticalSizing"
	placeInTree = " parentId parentIndex stacking"
)

// creators draw shapes, as Penpot's plugin does.
func creators() []operation {
	list := []operation{
		{id: "create-rectangle", name: "createRectangle", title: "Create rectangle", inputs: areaProps + placeInTree, run: make1(scene.Rectangle), failure: "Failed to create rectangle"},
		{id: "create-ellipse", name: "createEllipse", title: "Create ellipse", inputs: lookProps + " fills strokes" + placeInTree, run: make1(scene.Ellipse), failure: "Failed to create ellipse"},
		{id: "create-text", name: "createText", title: "Create text", inputs: "characters! " + textProps[len("characters "):] + placeInTree, run: make1(scene.TextShape), failure: "Failed to create text"},
		{id: "create-path", name: "createPath", title: "Create path", inputs: "content! " + pathProps[len("content "):] + placeInTree, run: make1(scene.PathShape), failure: "Failed to create path"},
		{id: "create-board", name: "createBoard", title: "Create board", inputs: boardProps + placeInTree, run: make1(scene.Board), failure: "Failed to create board"},
	}
	for i := range list {
		list[i].kind = drawing
		list[i].description = list[i].title + ": all properties may be left out. Use it when a property is needed that the maker tools don't have; it gives the whole shape back."
	}
	return list
}

// changes are the inputs of tools that modify a shape.
type changes struct {
	ShapeID string         `json:"shapeId"`
	Modify  map[string]any `json:"propertiesToModify"`
	Remove  []string       `json:"propertiesToRemove"`
}

// modify1 changes a shape of a type.
func modify1(kind scene.Type) func(*turn) (reply, error) {
	return func(t *turn) (reply, error) {
		c, err := read[changes](t)
		if err != nil {
			return reply{}, err
		}
		var p scene.Props
		if err := scene.Decode(c.Modify, &p); err != nil {
			return reply{}, err
		}
		sh, err := t.scene.Modify(kind, c.ShapeID, p, c.Remove)
		if err != nil {
			return reply{}, err
		}
		return t.about(sh, "%s %q modified", titles[sh.Type], sh.Name), nil
	}
}

// modifiers change shapes.
func modifiers() []operation {
	var list []operation
	for _, m := range []struct {
		id, name string
		kind     scene.Type
		props    string
	}{
		{"modify-rectangle", "modifyRectangle", scene.Rectangle, areaProps}, {"modify-ellipse", "modifyEllipse", scene.Ellipse, lookProps + " fills strokes"},
		{"modify-text", "modifyText", scene.TextShape, textProps}, {"modify-path", "modifyPath", scene.PathShape, pathProps},
		{"modify-boolean", "modifyBoolean", scene.Boolean, lookProps + " fills strokes"}, {"modify-board", "modifyBoard", scene.Board, boardProps},
	} {
		list = append(list, operation{
			id: m.id, name: m.name, title: "Modify " + string(m.kind), kind: drawing, inputs: "shapeId! propertiesToRemove", modify: "propertiesToModify: " + m.props + placeInTree,
			description: "Changes a " + string(m.kind) + ": propertiesToModify says what it is to have, propertiesToRemove takes fills, strokes and the like away. Use it to edit what was drawn.",
			run:         modify1(m.kind), failure: "Failed to modify " + string(m.kind),
		})
	}
	return append(list,
		operation{id: "modify-text-range", name: "modifyTextRange", title: "Modify a part of a text", kind: drawing, inputs: "shapeId! start! end!",
			modify:      "props!: fontFamily fontSize fontWeight fontStyle letterSpacing textTransform textDecoration fills textColor",
			description: "Gives a part of a text another look: characters from start to before end, counted from 0. Use it for a bold or coloured word.",
			run:         modifyTextRange, failure: "Failed to modify text range"},
		operation{id: "rotate-shape", name: "rotateShape", title: "Rotate", kind: drawing, inputs: "shapeId! angle! center",
			description: "Turns a shape further by degrees clockwise, about its own centre or another point. Use it for shapes that are there; groups and boards turn with all that they hold.",
			run:         rotate, failure: "Failed to rotate shape"},
		operation{id: "clone-shape", name: "cloneShape", title: "Copy", kind: drawing, inputs: "shapeId! x y parentX parentY" + placeInTree,
			description: "Copies a shape with all that it holds, on top of it or to where x and y say. Use it for repeated elements.", run: clone, failure: "Failed to clone shape"},
		operation{id: "delete-shape", name: "deleteShape", title: "Delete", kind: drawing, inputs: "shapeId!",
			description: "Deletes a shape with all that it holds. Use it when something is to go; it can be undone.", run: remove, failure: "Failed to delete shape"},
	)
}

func modifyTextRange(t *turn) (reply, error) {
	in, err := read[struct {
		ShapeID string         `json:"shapeId"`
		Start   int            `json:"start"`
		End     int            `json:"end"`
		Props   map[string]any `json:"props"`
	}](t)
	if err != nil {
		return reply{}, err
	}
	var p scene.Props
	if err := scene.Decode(in.Props, &p); err != nil {
		return reply{}, err
	}
	sh, rejected, err := t.scene.ModifyTextRange(in.ShapeID, in.Start, in.End, p, in.Props)
	if err != nil {
		return reply{}, err
	}
	r := t.about(sh, "Characters %d to %d of %q modified", in.Start, in.End-1, sh.Name)
	if len(rejected) > 0 {
		r.payload["rejected"] = rejected
	}
	return r, nil
}

func rotate(t *turn) (reply, error) {
	in, err := read[struct {
		ShapeID string      `json:"shapeId"`
		Angle   float64     `json:"angle"`
		Center  *geom.Point `json:"center"`
	}](t)
	if err != nil {
		return reply{}, err
	}
	sh, err := t.scene.Rotate(in.ShapeID, in.Angle, in.Center)
	if err != nil {
		return reply{}, err
	}
	return t.about(sh, "%q turned by %g degrees, to %g", sh.Name, in.Angle, sh.Rotation), nil
}

func clone(t *turn) (reply, error) {
	in, err := read[struct {
		ShapeID string `json:"shapeId"`
		scene.Props
	}](t)
	if err != nil {
		return reply{}, err
	}
	sh, err := t.scene.Clone(in.ShapeID, in.Props)
	if err != nil {
		return reply{}, err
	}
	return t.about(sh, "%q copied to (%g, %g)", sh.Name, sh.X, sh.Y), nil
}

func remove(t *turn) (reply, error) {
	in, err := read[struct {
		ShapeID string `json:"shapeId"`
	}](t)
	if err != nil {
		return reply{}, err
	}
	sh, n, err := t.scene.Delete(in.ShapeID)
	if err != nil {
		return reply{}, err
	}
	r := reply{payload: map[string]any{"shapeId": sh.ID, "deleted": n}}
	if r.message = "\"" + sh.Name + "\" deleted"; n > 1 {
		r.message += " with all that it held"
	}
	return r, nil
}
