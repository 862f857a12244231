// Package engines shows the ComfyUI servers to operators and takes their orders, tells the operator's hook how much there is to do,
// and runs the house's own server.
package engines

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/needs"
	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/platforms/web/engineapi"
	"github.com/signalbox/signalbox/users"
)

// Control is where operators see to the engines.
type Control struct{ Fleet *comfy.Fleet }

// Rows tells the console of the engines and their queues.
func (d Control) Rows(ctx context.Context) []console.Engine {
	queues := d.Fleet.Queues(ctx)
	var rows []console.Engine
	for i, s := range d.Fleet.Status() {
		switch {
		case s.Waking:
			s.Error = "it is being woken"
		case s.Wakes && !s.Up:
			s.Error = "a run that waits for it wakes it; " + s.Error
		}
		rows = append(rows, console.Engine{Name: s.Name, Up: s.Up, Error: s.Error, Version: s.Version, GPUs: s.GPUs, Classes: s.Classes,
			CheckedAt: s.CheckedAt, Order: string(s.Order), Tags: s.Tags, Memory: s.Memory, Free: s.Free,
			Running: queues[i].Running, Waiting: queues[i].Pending})
	}
	return rows
}

// Lacks tells the console which engines can't run which of these tools, and why: by tool, then in the order of the configuration.
func (d Control) Lacks(needed map[string]workflow.Requirements) (list []console.Lack) {
	for _, tool := range slices.Sorted(maps.Keys(needed)) {
		for _, e := range d.Fleet.Lacks(tool, needed[tool]) {
			if len(e.Lacks) > 0 {
				list = append(list, console.Lack{Engine: e.Engine, ToolID: tool, What: needs.Enumerate(e.Lacks, 4)})
			}
		}
	}
	return list
}

// Order does what an operator wants of an engine.
func (d Control) Order(ctx context.Context, name, order string) error {
	return d.Fleet.Order(ctx, name, comfy.Order(order))
}

// API is how programs of operators do the same.
func (d Control) API(people *users.Store, log *slog.Logger) http.Handler {
	return engineapi.Handler(engineapi.Config{
		Names: func() (names []string) {
			for _, s := range d.Fleet.Status() {
				names = append(names, s.Name)
			}
			return names
		},
		List:  func() any { return d.Fleet.Status() },
		Order: d.Order, Record: people.Record, Caller: web.Caller, Logger: log,
	})
}

// Silent tells of each engine that does not answer. What its tools could do is not known then.
func (d Control) Silent() (errs []error) {
	for _, engine := range d.Fleet.Status() {
		if !engine.Up {
			errs = append(errs, fmt.Errorf("the engine %s does not answer: %s", engine.Name, engine.Error))
		}
	}
	return errs
}
