package canvas

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/registry"
)

// operation is a tool: what it is called, what it takes, and what it does to a scene.
type operation struct {
	id, name    string // rectangle-maker, rectangleMaker; the first of them that is not empty is the tool's id
	title       string
	description string
	inputs      string            // names in inputs.json, see library.object
	modify      string            // an input that is an object, with the names of its members: "propertiesToModify: x y"
	kind        string            // function or drawing
	reads       bool              // it changes nothing
	failure     string            // how an error begins
	picture     string            // the input from which a picture is made before the scene is looked at
	ahead       func(*turn) error // what takes long, before the scene is locked; nil: nothing does
	switched    bool              // it is only there where the operator wants it, see Config.Overlays
	run         func(*turn) (reply, error)
}

// The kinds of tools.
const (
	function = "function"
	drawing  = "drawing"
)

// turn is one call of a tool on its scene.
type turn struct {
	*Provider
	ctx     context.Context
	call    registry.Call
	scene   *scene.Scene
	inputs  map[string]any // without the scene
	account string
	id      string // of the scene; empty: there is none yet
	made    *reply // see prepare
	penpot  there  // see uploadPictures
}

// reply is what a tool has to say.
type reply struct {
	message string
	payload map[string]any
	shape   *scene.Shape // that was drawn or changed; its board is in the picture
	usage   registry.Usage
}

// Envelope is what every tool answers.
type Envelope struct {
	Success bool           `json:"success"`
	Message string         `json:"message"`
	Payload map[string]any `json:"payload"`
	Scene   string         `json:"scene,omitempty"` // the id, for further calls
	ShapeID string         `json:"shapeId,omitempty"`
	BoardID string         `json:"boardId,omitempty"`
}

// envelopeSchema is its JSON Schema.
const envelopeSchema = `{"type": "object", "required": ["success", "message", "payload"], "properties": {
	"success": {"type": "boolean"}, "message": {"type": "string"}, "payload": {"type": "object"}, "scene": {"type": "string"},
	"shapeId": {"type": "string"}, "boardId": {"type": "string"}}}`

// read decodes the inputs of a call.
func read[T any](t *turn) (T, error) {
	var v T
	err := scene.Decode(t.inputs, &v)
	return v, err
}

// do runs an operation once all that it needs is there.
func (o operation) do(t *turn) (reply, error) {
	for name := range strings.FieldsSeq(o.inputs) {
		name, must := strings.CutSuffix(name, "!")
		name, _, _ = strings.Cut(name, "=")
		if must && t.inputs[name] == nil {
			return reply{}, scene.Wrong(name, "is missing")
		}
	}
	r, err := o.run(t)
	if err == nil {
		err = t.checkImages(t.scene.Changes())
	}
	return r, err
}

// about is the reply of a tool that drew or changed a shape.
func (t *turn) about(sh *scene.Shape, format string, args ...any) reply {
	r := reply{message: fmt.Sprintf(format, args...), shape: sh, payload: map[string]any{"shape": t.scene.View(sh)}}
	if sh.Type == scene.Board {
		r.payload["boardId"] = sh.ID
	} else {
		r.payload["shapeId"] = sh.ID
	}
	if warnings := t.scene.Warnings(sh); len(warnings) > 0 {
		r.payload["warnings"] = warnings
		r.message += ". Note: " + warnings[0]
	}
	return r
}

// aboutAll is the same for several.
func (t *turn) aboutAll(shapes []*scene.Shape, format string, args ...any) reply {
	views := make([]scene.View, len(shapes))
	ids := make([]string, len(shapes))
	for i, sh := range shapes {
		views[i], ids[i] = t.scene.View(sh), sh.ID
	}
	return reply{message: fmt.Sprintf(format, args...), shape: shapes[0], payload: map[string]any{"shapes": views, "shapeIds": ids}}
}

// envelope is the reply as the tool answers it.
func (r reply) envelope(sceneID string) Envelope {
	e := Envelope{Success: true, Message: r.message, Payload: r.payload, Scene: sceneID}
	if e.Payload == nil {
		e.Payload = map[string]any{}
	}
	e.ShapeID, _ = r.payload["shapeId"].(string)
	e.BoardID, _ = r.payload["boardId"].(string)
	return e
}

// tool describes an operation.
func (o operation) tool(l library) (registry.Tool, error) {
	fields, err := l.fields(o.inputs, o.modify)
	if err != nil {
		return registry.Tool{}, fmt.Errorf("the tool %s: %w", o.id, err)
	}
	t := registry.Tool{
		ToolID: o.id, Service: Service, DisplayName: o.title, Description: o.description, Listing: registry.Listing{Category: "drawing", Kind: o.kind, Visibility: registry.VisibilityInternal}, InputSchema: fields,
		OutputSchema: registry.OutputSchema{{Name: "result", Type: "text", Description: "Success, a message, and the payload, which has the shape's id.", Schema: json.RawMessage(envelopeSchema)}}, Execution: registry.Execution{Capability: registry.CapabilityWrite, Idempotent: true, TimeoutMs: 60_000},
		Metadata: map[string]any{"id": o.id, "name": o.name, "menu": false}, // people have /draw
	}
	if o.maker() {
		t.ToolID, t.Aliases = o.name, []string{o.id}
	} else if o.name != o.id {
		t.Aliases = []string{o.name}
	}
	if o.reads {
		t.Capability = registry.CapabilityRead
	}
	return t, nil
}

// maker tells the tools of the older document, which are known by their names.
func (o operation) maker() bool {
	switch o.id {
	case "rectangle-maker", "ellipse-maker", "text-maker", "path-maker", "board-maker", "image-generator", "get-user-data", "get-project-data", "calculate-responsive-sizes", "get-available-fonts", "get-board-sizes":
		return true
	}
	return false
}

// paints tells whether a picture is made from words, which may cost something.
func (o operation) paints() bool { return o.picture != "" && o.picture != "imageUrl" }

// operations is the list of all tools.
func operations() []operation {
	var all []operation
	for _, list := range [][]operation{makers(), functions(), creators(), modifiers(), arrangers(), prototypes(), tokens(), pictures(), iconTools(), penpotTools()} {
		all = append(all, list...)
	}
	return all
}
