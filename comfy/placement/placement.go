// Package placement has the facts by which an engine is chosen: what a run needs, how long runs take, and what waits.
package placement

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/workflow"
)

// Job is what placement knows of a prompt.
type Job struct {
	Tool  string
	Group string // where it was asked for, see registry.Call; empty: in none
	Need  workflow.Requirements
	Set   string // of models; empty where none is needed
}

// JobOf makes the job of a run of a tool.
func JobOf(tool, group string, need workflow.Requirements) Job {
	var names []string
	for _, m := range need.Models {
		names = append(names, m.Folder+"/"+m.Name)
	}
	slices.Sort(names)
	return Job{Tool: tool, Group: group, Need: need, Set: strings.Join(names, "\n")}
}
