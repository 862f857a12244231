package comfy

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/needs"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/comfy/workflow"
)

// wanted are the models for lack of which tools are unavailable. Their folders are listed at each look at an engine, which costs it far
// less than all declarations do, so that a file which somebody has put there is noticed within seconds.
type wanted struct {
	mu     sync.Mutex
	byTool map[string]workflow.Requirements
}

// note keeps what the best engine for a tool lacks.
func (w *wanted) note(tool string, need workflow.Requirements, missing []string) {
	if tool == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(need.Models) == 0 || len(missing) == 0 {
		delete(w.byTool, tool)
		return
	}
	if w.byTool == nil {
		w.byTool = make(map[string]workflow.Requirements)
	}
	w.byTool[tool] = need
}

// missing are the models that a server with these declarations lacks.
func (w *wanted) missing(info *objectinfo.Info) (models []workflow.Model) {
	w.mu.Lock()
	tools := slices.Collect(maps.Values(w.byTool))
	w.mu.Unlock()
	for _, need := range tools {
		models = append(models, needs.MissingModels(info, need)...)
	}
	return models
}

// arrivedAt lists the models that a server has now and lacks by its declarations, and tells whether one of them is new. For each, the declarations
// are read once: where they still do not offer it, no node takes it.
func (w *wanted) arrivedAt(ctx context.Context, c *api.Client, k knowledge) (arrived map[workflow.Model]bool, news bool) {
	ctx, cancel := context.WithTimeout(ctx, queueTimeout)
	defer cancel()
	listed := make(map[string][]string)
	arrived = make(map[workflow.Model]bool)
	for _, m := range w.missing(k.info) {
		files, asked := listed[m.Folder]
		if !asked {
			files, _ = c.Models(ctx, m.Folder) // old servers have no such lists
			listed[m.Folder] = files
		}
		if slices.ContainsFunc(files, func(file string) bool { return needs.SameFile(file, m.Name) }) {
			arrived[m], news = true, news || !k.arrived[m]
		}
	}
	return arrived, news
}
