package runs

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/registry"
)

// previewTimeout bounds a Preview: whoever asked for the run waits for it.
const previewTimeout = 10 * time.Second

// preview has the provider say what a bound call would do, where it can. It gets no personal data: nobody has granted any yet.
func (s *pricer) preview(ctx context.Context, b Bound) error {
	previewer, ok := Extra[registry.Previewer](s.config.Providers[b.Tool.Service])
	if !ok || len(b.Missing) > 0 {
		return nil
	}
	return b.PreviewOnce(func() (registry.Preview, error) { return s.ask(ctx, previewer, b) })
}

func (s *pricer) ask(ctx context.Context, previewer registry.Previewer, b Bound) (registry.Preview, error) {
	late := registry.Errorf(registry.CodeTimeout, "%s did not say within %s what it would do; nothing was run", b.Tool.DisplayName, previewTimeout)
	late.Retryable = true
	asking, cancel := context.WithTimeoutCause(ctx, previewTimeout, late)
	defer cancel()
	tool, inputs := Run{Tool: b.Tool, Inputs: b.Inputs, Granted: []string{}}.forwarded()
	preview, err := previewer.Preview(asking, registry.Call{UserID: b.Request.AccountID, Tool: tool, Inputs: inputs, Media: s.config.Assets, Context: b.Request.Context})
	switch {
	case err != nil && ctx.Err() == nil && asking.Err() != nil:
		return preview, late
	case err != nil:
		return preview, registry.AsError(err)
	}
	preview.Message = storable(preview.Message)
	return preview, nil
}

// PreviewOnce has it found out what the call would do, where that was not done yet; copies of the Bound share it.
func (b Bound) PreviewOnce(ask func() (registry.Preview, error)) error {
	known := b.judged
	if known == nil {
		return registry.Errorf(registry.CodeInternal, "only a request that was bound has a preview")
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.previewed {
		return nil
	}
	p, err := ask()
	if known.previewed = err == nil; err == nil && (p.Capability != "" || p.Message != "" || len(p.Touches) > 0) {
		known.preview = &p
	}
	return err
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
