package canvas

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/registry"
)

// penpotTools carry drawings to a connected Penpot and back.
func penpotTools() []operation {
	return []operation{
		{id: "send-to-penpot", name: "sendToPenpot", title: "Send to Penpot", kind: drawing, inputs: "shapeId", run: sendToPenpot, failure: "Failed to send to Penpot",
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

// maxSentImages bounds the pictures of one message, in bytes: Penpot has to have them within the time that an answer may take.
const maxSentImages = 16 << 20

// sentImage is a picture as the plugin takes it, under the id by which fills name it.
type sentImage struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	MIMEType string `json:"mtype"`
	Data     []byte `json:"data"`
}

// sentImages are the pictures that shapes show, each once, as far as they have room in a message and can be opened; left are the others.
func (t *turn) sentImages(shapes []sent) (images []sentImage, left int) {
	seen, room := map[string]bool{}, maxSentImages
	for _, s := range shapes {
		for _, f := range s.Fills {
			if f.Image == nil || seen[f.Image.ID] {
				continue
			}
			seen[f.Image.ID] = true
			content, mime, err := t.file(t.ctx, f.Image.ID)
			if err != nil || len(content) > room {
				left++
				continue
			}
			room -= len(content)
			images = append(images, sentImage{f.Image.ID, cmp.Or(f.Image.Name, s.Name, "Picture"), mime, content})
		}
	}
	return images, left
}

// sendToPenpot sends one message: it is one step to undo there, and nothing is half drawn where nobody is connected.
func sendToPenpot(t *turn) (reply, error) {
	in, err := read[struct {
		ShapeID string `json:"shapeId"`
	}](t)
	if err != nil {
		return reply{}, err
	}
	var shapes []sent
	for _, sh := range t.scene.All() {
		if in.ShapeID == "" || sh.ID == in.ShapeID {
			shapes = append(shapes, t.sent(sh))
		}
	}
	images, left := t.sentImages(shapes)
	kind, payload := "DRAW_SCENE", map[string]any{"shapes": shapes, "images": orEmpty(images)}
	switch {
	case len(shapes) == 0 && in.ShapeID != "":
		return reply{}, scene.Wrong("shapeId", "there is no shape %q in this scene", in.ShapeID)
	case len(shapes) == 0:
		return reply{}, scene.Wrong("scene", "nothing is drawn yet")
	case in.ShapeID != "":
		kind, payload = "DRAW_SHAPE", map[string]any{"shapeType": shapes[0].Type, "params": shapes[0], "images": orEmpty(images)}
	}
	raw, err := t.Penpot(t.ctx, t.account, kind, payload)
	if err != nil {
		return reply{}, err
	}
	var made map[string]any
	if err := json.Unmarshal(raw, &made); err != nil {
		return reply{}, registry.Say(registry.CodeBadOutput, said.PenpotAnswer)
	}
	r := reply{message: count(len(shapes), "shape") + " drawn in Penpot", payload: made}
	if left > 0 {
		r.message += fmt.Sprintf("; %s left out: they can't be opened, or all together have more than %d MB", count(left, "picture"), maxSentImages>>20)
	}
	return r, nil
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
