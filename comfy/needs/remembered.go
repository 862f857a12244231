package needs

import (
	"slices"
	"sync"

	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/comfy/workflow"
)

// maxTools bounds what a Remembered keeps.
const maxTools = 1000

// Remembered is what one server lacks, by tool. Placing a run asks each engine, and a server offers thousands of files. The zero value works; it is
// safe for concurrent use.
type Remembered struct {
	mu     sync.Mutex
	info   *objectinfo.Info // by which all that follows was found
	byTool map[string]found
}

type found struct {
	classes []string
	models  []workflow.Model
	lacks   []string
}

// Missing is what the function Missing tells. It is worked out once for a tool, and again when the declarations are others or the tool needs something else.
func (r *Remembered) Missing(info *objectinfo.Info, tool string, need workflow.Requirements) []string {
	r.mu.Lock()
	f, known := r.byTool[tool]
	known = known && r.info == info
	r.mu.Unlock()
	if known && slices.Equal(f.classes, need.Classes) && slices.Equal(f.models, need.Models) {
		return f.lacks
	}
	f = found{slices.Clone(need.Classes), slices.Clone(need.Models), slices.Clip(Missing(info, need))} // who adds to it gets an own one
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.info != info || len(r.byTool) >= maxTools {
		r.info, r.byTool = info, make(map[string]found) // declarations that are no more are not kept
	}
	r.byTool[tool] = f
	return f.lacks
}
