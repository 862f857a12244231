package missions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/registry"
)

// Effect is what a leg's tool leaves behind in the world, and how that is taken back.
type Effect struct {
	// Irreversible: it may not be possible to take it back. What does not say is taken to be so, unless it only reads or only makes files.
	Irreversible bool     `json:"irreversible,omitempty"`
	Undo         *ToolRef `json:"undo,omitempty"` // the tool that takes it back; nil: there is none
	// Perfect: taking it back leaves nothing behind. Anything else is told.
	Perfect bool            `json:"perfect,omitempty"`
	Inputs  json.RawMessage `json:"inputs,omitempty"` // of Undo, with {{outputs.a.b}} for the leg's outputs; none: by their names
	Window  time.Duration   `json:"window,omitempty"` // how long after its end it can be taken back; 0: always
	// Reaches: the call goes to an address that it names, see registry.Policy.
	Reaches bool `json:"reaches,omitempty"`
}

// Leaves reports whether there is anything to take back.
func (e Effect) Leaves() bool { return e.Irreversible || e.Undo != nil }

// compensation is how a tool's metadata says what takes it back: x-orchet-reversibility and its family.
type compensation struct {
	Kind          string          `json:"kind"` // perfect, best-effort, manual; of the tool that takes back
	Reversibility string          `json:"reversibility"`
	Tool          string          `json:"tool"`
	Inputs        json.RawMessage `json:"inputs"`
	WindowSeconds json.Number     `json:"windowSeconds"`
}

// compensationOf reads it; a tool that says nothing has none.
func compensationOf(t registry.Tool) (c compensation, err error) {
	raw, err := json.Marshal(t.Metadata["compensation"])
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	return c, errs.Wrap(err, "what %s says of taking it back can't be read", t.ToolID)
}

// effectOf tells what a tool leaves behind. undo is the tool that takes it back, or nil.
func effectOf(t registry.Tool, find func(toolID string) (*registry.Tool, error)) (e Effect, undo *registry.Tool, err error) {
	c, err := compensationOf(t)
	if err != nil || t.Capability == registry.CapabilityRead {
		return e, nil, err
	}
	name := cmp.Or(c.Tool, t.Cancels)
	e.Irreversible = c.Reversibility == "irreversible" || c.Reversibility == "" && !(name == "" && makesFiles(t))
	if name == "" {
		return e, nil, nil
	}
	if undo, err = find(name); err != nil {
		return e, nil, fmt.Errorf("%s is taken back by %s: %w", t.ToolID, name, err)
	}
	how, err := compensationOf(*undo)
	if err != nil {
		return e, nil, err
	}
	e.Perfect, e.Inputs = how.Kind == "perfect", c.Inputs
	if seconds, err := c.WindowSeconds.Float64(); err == nil {
		e.Window = time.Duration(seconds * float64(time.Second))
	}
	return e, undo, nil
}

// makesFiles reports whether all that a tool does is to make pictures and other files, as far as it says: it neither asks before nor
// passes on personal data.
func makesFiles(t registry.Tool) bool {
	return t.Confirmation == "" && len(t.PIIRequired) == 0 && len(t.OutputSchema) > 0 &&
		!slices.ContainsFunc(t.OutputSchema, func(f registry.OutputField) bool { return !registry.InputType(f.Type).IsMedia() })
}
