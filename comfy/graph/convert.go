package graph

import (
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/internal/plain"
)

// Convert makes the prompt a server would be sent for w, as the editor would. info is the declaration of
// the server's nodes; without it only the classes of a small built-in table, newer files and values saved by
// name convert completely, and the findings say where names are missing. Required widgets that the file is too old to have get their default, or
// the first choice. A prompt form comes back as a copy, with the names that its classes have today.
//
// The error is set when nothing in the workflow executes.
func Convert(w *Workflow, info *objectinfo.Info) (Prompt, []Finding, error) {
	f := Flatten(w, info)
	if w.Graph != nil {
		f.Complete()
	}
	f.CheckClasses()
	p := f.Prompt()
	if len(p) == 0 {
		return nil, f.Findings, ErrNothingRuns
	}
	return p, f.Findings, nil
}

// CheckClasses reports classes that the server, or this package, does not know.
func (f *Flat) CheckClasses() {
	seen := map[string]bool{}
	for _, n := range f.Nodes {
		_, declared := f.info.Class(n.Class)
		if declared || seen[n.Class] {
			continue
		}
		seen[n.Class] = true
		if name, ok := groupNodeName(n.Class); ok && f.w.Graph != nil {
			f.AddFinding("group-node-unsupported", SeverityError, n.ID, fmt.Sprintf("group node %s has no definition in the file", plain.Quote(name)), "open the workflow in ComfyUI, convert the group node to nodes or a subgraph and save it again")
			continue
		}
		if f.w.defs[n.Class] == nil && looksLikeUUID(n.Class) {
			f.AddFinding("unknown-subgraph", SeverityError, n.ID, "an instance refers to a subgraph that the file does not define", "save the whole workflow again, with its subgraphs")
			continue
		}
		f.findUnknown(n)
	}
}

func (f *Flat) findUnknown(n *FlatNode) {
	switch {
	case n.unnamed > 0 && f.info.Len() == 0:
		f.AddFinding("unknown-node", SeverityWarning, n.ID, fmt.Sprintf("%d widget values of class %s can't be named without its declaration", n.unnamed, plain.Quote(n.Class)),
			"give --object-info, or save the workflow with a current ComfyUI")
	case f.info.Len() > 0:
		msg := fmt.Sprintf("class %s is not among the %d of the server", plain.Quote(n.Class), f.info.Len())
		if n.unnamed > 0 {
			msg += fmt.Sprintf("; its %d widget values can't be named", n.unnamed)
		}
		f.AddFinding("unknown-node", SeverityWarning, n.ID, msg, "install the custom nodes it comes from, or check the spelling")
	}
}

func looksLikeUUID(s string) bool {
	return len(s) == 36 && strings.Count(s, "-") == 4
}

// ErrNothingRuns is why a workflow has no prompt.
var ErrNothingRuns = errors.New("no node of the workflow executes: all are muted, bypassed or notes")
