package comfy

import (
	"context"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/registry"
)

// Forget takes a prompt out of an engine's history, with the inputs and the person's words that stand there. Engines have no call
// that deletes uploads and results; the embedded one does so by itself.
func (p *Provider) Forget(ctx context.Context, t registry.Ticket) error {
	e, err := p.engineOf(t)
	if err != nil {
		return nil // the one that has it is none of ours any more
	}
	if e.endpoint != nil {
		return nil // it keeps results for half an hour, and has no call that deletes them
	}
	return errs.Wrap(e.Client.DeleteHistory(ctx, t.ProviderID), "forget prompt %s at %s", t.ProviderID, e.Name)
}
