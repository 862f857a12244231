package canvas

import (
	"encoding/json"
	"fmt"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/registry"
)

// penpotTools carry drawings to a connected Penpot and back.
func penpotTools() []operation {
	return []operation{
		{id: "send-to-penpot", name: "sendToPenpot", title: "Send to Penpot", kind: drawing, inputs: "shapeId", ahead: uploadPictures, run: sendToPenpot, failure: "Failed to send to Penpot",
			description: "Draws the drawing, or one shape of it, in the Penpot that is connected. Use it to go on there; groups are sent as their parts, pictures come along."},
		{id: "read-from-penpot", name: "readFromPenpot", title: "Read from Penpot", kind: function, reads: true, run: readFromPenpot, failure: "Failed to read from Penpot",
			description: "Reads the file, its pages and shapes from the Penpot that is connected. Use it to see what was changed there."},
	}
}

// sent is a shape as the plugin takes it: a view, and the outline of a path in the page's coordinates.
type sent struct {
	scene.View
	D string `json:"d,omitempty"`
}

func (t *turn) sent(sh *scene.Shape) sent {
	s := sent{View: t.scene.View(sh)}
	if sh.Type == scene.PathShape || sh.Type == scene.Boolean {
		s.D = scene.SVGPath(sh.Outline())
	}
	return s
}

// sendToPenpot sends one message: it is one step to undo there, and nothing is half drawn where nobody is connected. The pictures are there by then.
func sendToPenpot(t *turn) (reply, error) {
	shapes, err := t.shapesToSend()
	if err != nil {
		return reply{}, err
	}
	left := 0
	for _, ref := range pictureRefs(shapes) {
		if t.penpot.pictures[ref] == nil {
			left++
		}
	}
	with := map[string]any{"file": t.penpot.file, "pictures": t.penpot.pictures}
	kind := "DRAW_SCENE"
	if one, _ := t.inputs["shapeId"].(string); one == "" {
		with["shapes"] = shapes
	} else {
		kind, with["shapeType"], with["params"] = "DRAW_SHAPE", shapes[0].Type, shapes[0]
	}
	raw, err := t.Penpot(t.ctx, t.account, kind, with)
	if err != nil {
		return reply{}, err
	}
	var made map[string]any
	if err := json.Unmarshal(raw, &made); err != nil {
		return reply{}, registry.Say(registry.CodeBadOutput, said.PenpotAnswer)
	}
	r := reply{message: count(len(shapes), "shape") + " drawn in Penpot", payload: made}
	if left > 0 {
		r.message += fmt.Sprintf("; %s left out: they can't be opened, or have more than %d MB", count(left, "picture"), maxSentPicture>>20)
	}
	return r, nil
}

// shapesToSend are all shapes of the scene, or the one that the call names.
func (t *turn) shapesToSend() ([]sent, error) {
	in, err := read[struct {
		ShapeID string `json:"shapeId"`
	}](t)
	if err != nil {
		return nil, err
	}
	var shapes []sent
	for _, sh := range t.scene.All() {
		if in.ShapeID == "" || sh.ID == in.ShapeID {
			shapes = append(shapes, t.sent(sh))
		}
	}
	switch {
	case len(shapes) == 0 && in.ShapeID != "":
		return nil, scene.Wrong("shapeId", "there is no shape %q in this scene", in.ShapeID)
	case len(shapes) == 0:
		return nil, scene.Wrong("scene", "nothing is drawn yet")
	}
	return shapes, nil
}

func readFromPenpot(t *turn) (reply, error) {
	var file map[string]any
	raw, err := t.Penpot(t.ctx, t.account, "GET_PROJECT_DATA", map[string]any{})
	if err == nil {
		err = json.Unmarshal(raw, &file)
	}
	return reply{message: "Penpot's file retrieved", payload: file}, err
}

// selection asks a connected Penpot.
func selection(t *turn) (reply, error) {
	raw, err := t.Penpot(t.ctx, t.account, "GET_SELECTED_SHAPES", map[string]any{})
	if err != nil {
		return reply{}, err
	}
	var answer struct {
		IDs []string `json:"shapeIds"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return reply{}, fmt.Errorf("the selection can't be read: %w", err)
	}
	return reply{message: count(len(answer.IDs), "shape") + " selected", payload: map[string]any{"shapeIds": orEmpty(answer.IDs)}}, nil
}
