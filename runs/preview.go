package runs

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/registry"
)

// previewTimeout bounds a Preview: whoever asked for the run waits for it.
const previewTimeout = 10 * time.Second

// preview has the provider say what a bound call would do, where it can. That is made once, and copies of the Bound share it. The
// provider gets no personal data: nobody has granted any yet.
func (s *Service) preview(ctx context.Context, b Bound, known *judged) error {
	previewer, ok := Extra[registry.Previewer](s.config.Providers[b.Tool.Service])
	if !ok || len(b.Missing) > 0 {
		return nil
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.previewed {
		return nil
	}
	late := registry.Errorf(registry.CodeTimeout, "%s did not say within %s what it would do; nothing was run", b.Tool.DisplayName, previewTimeout)
	late.Retryable = true
	asking, cancel := context.WithTimeoutCause(ctx, previewTimeout, late)
	defer cancel()
	tool, inputs := Run{Tool: b.Tool, Inputs: b.Inputs, Granted: []string{}}.forwarded()
	p, err := previewer.Preview(asking, registry.Call{UserID: b.Request.AccountID, Tool: tool, Inputs: inputs, Media: s.config.Assets, Context: b.Request.Context})
	switch {
	case err != nil && ctx.Err() == nil && asking.Err() != nil:
		return late
	case err != nil:
		return registry.AsError(err)
	}
	known.previewed = true
	if p.Capability != "" || p.Message != "" || len(p.Touches) > 0 {
		p.Message = storable(p.Message)
		known.preview = &p
	}
	return nil
}

// Preview is what the call would do, once Quote has asked for it; nil: its provider has nothing to say about single calls.
func (b Bound) Preview() *registry.Preview {
	if b.judged == nil {
		return nil
	}
	b.judged.mu.Lock()
	defer b.judged.mu.Unlock()
	return b.judged.preview
}

// Capability is what this very call does: by its preview, or else by its tool.
func (b Bound) Capability() registry.Capability { return capabilityOf(b.Tool, b.Preview()) }

// Capability is what this very call does: by its preview, or else by its tool.
func (r Run) Capability() registry.Capability { return capabilityOf(r.Tool, r.Preview) }

func capabilityOf(t registry.Tool, p *registry.Preview) registry.Capability {
	if p != nil && p.Capability != "" {
		return p.Capability
	}
	return t.Capability
}

// approved is the preview that the run's owner has approved; nil: there is none, or nobody had to be asked.
func (r Run) approved() *registry.Preview {
	if r.ConfirmedAt == nil {
		return nil
	}
	return r.Preview
}
