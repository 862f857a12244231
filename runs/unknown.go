package runs

import (
	"fmt"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// UnknownToolError is ErrUnknownTool of one name, with what has taken its place.
type UnknownToolError struct {
	ToolID  string
	Instead string // empty: nothing is known of the name
}

// UnknownTool says that no tool has a name, and what is used instead if the audience knows it: of a command, the id of the tool that chats call by it.
func UnknownTool(r *catalog.Registry, a registry.Audience, toolID string) error {
	instead, known := r.Former(toolID)
	if tool, is := r.Snapshot().ByCommand(toolID); is && !known && tool.ToolID != toolID && tool.ListedFor(registry.Everyone) {
		instead = tool.ToolID
	}
	if tool, is := r.Snapshot().Resolve(instead); is && !tool.KnownTo(a) {
		instead = ""
	}
	return &UnknownToolError{toolID, instead}
}

// Error names both.
func (e *UnknownToolError) Error() string {
	if e.Instead == "" {
		return fmt.Sprintf("%v: %q", ErrUnknownTool, e.ToolID)
	}
	return fmt.Sprintf("%v: %q: use %s", ErrUnknownTool, e.ToolID, e.Instead)
}

// Unwrap is ErrUnknownTool.
func (e *UnknownToolError) Unwrap() error { return ErrUnknownTool }
