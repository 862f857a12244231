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
	Near    string // the id of a tool that may have been meant; empty: none is called alike
}

// UnknownTool says that no tool has a name, and what is used instead: of a command, the id of the tool that chats call by it;
// else which tool may have been meant.
func UnknownTool(r *catalog.Registry, toolID string) error {
	instead, known := r.Former(toolID)
	now := r.Snapshot()
	if tool, is := now.ByCommand(toolID); is && !known && tool.ToolID != toolID && tool.ListedFor(registry.Everyone) {
		instead = tool.ToolID
	}
	unknown := &UnknownToolError{ToolID: toolID, Instead: instead}
	if near := now.Suggest(toolID); instead == "" && len(near) > 0 {
		if tool, is := now.ByCommand(near[0]); is && tool.ToolID != toolID {
			unknown.Near = tool.ToolID
		}
	}
	return unknown
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
