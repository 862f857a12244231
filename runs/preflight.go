package runs

import (
	"context"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Preflight is a loader whose tools need not be runnable here, such as one of a file that was written by hand or made
// elsewhere: those of services that are not connected, and those that their provider has nothing for, are listed as
// unavailable with the reason, before anybody tries.
type Preflight struct {
	registry.Loader
	// Connected are the services whose tools can be run here, with who is asked about each tool, or nil.
	Connected map[string]registry.Readier
}

// Load loads the tools. What comes beside them as an error stays.
func (p Preflight) Load(ctx context.Context) ([]registry.Tool, error) {
	tools, err := p.Loader.Load(ctx)
	for i := range tools {
		t := &tools[i]
		if t.State() == registry.StateUnavailable && !t.Status.Checked {
			continue // the definition's own word
		}
		reason := p.check(ctx, *t)
		switch {
		case reason.String() != "":
			t.Status = registry.SayStatus(registry.StateUnavailable, reason)
			t.Status.Checked = true
		case t.Status != nil && t.Status.Checked:
			t.Status = nil
		}
	}
	return tools, err
}

func (p Preflight) check(ctx context.Context, t registry.Tool) (reason said.Text) {
	asked, connected := p.Connected[t.Service]
	if !connected {
		return said.Connected.With("service", t.Service)
	}
	if asked != nil {
		if err := asked.Ready(ctx, t); err != nil {
			return registry.AsError(err).Text()
		}
	}
	return said.Text{}
}
