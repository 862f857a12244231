package runs

import (
	"context"
	"slices"

	"github.com/signalbox/signalbox/registry"
)

// Preflight is a loader whose tools need not be runnable here, such as one of a file that was made elsewhere: those of
// services that are not connected are listed as unavailable with the reason, before anybody tries.
type Preflight struct {
	registry.Loader
	Services []string // who runs tools here
}

// Load loads the tools. What comes beside them as an error stays.
func (p Preflight) Load(ctx context.Context) ([]registry.Tool, error) {
	tools, err := p.Loader.Load(ctx)
	for i := range tools {
		if t := &tools[i]; !slices.Contains(p.Services, t.Service) && t.State() != registry.StateUnavailable {
			t.Status = &registry.Status{State: registry.StateUnavailable, Reason: t.Service + " is not connected"}
		}
	}
	return tools, err
}
