package price

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/store"
)

// previewTimeout bounds a Preview: the one who asked for the run waits for it.
const previewTimeout = 10 * time.Second

// preview has the provider say what a bound call would do, where it can. It gets no personal data: nobody has granted any yet.
func (s *Pricer) preview(ctx context.Context, b runs.Bound) error {
	previewer, ok := runs.Extra[registry.Previewer](s.Config.Providers[b.Tool.Service])
	if !ok || len(b.Missing) > 0 {
		return nil
	}
	return b.PreviewOnce(func() (registry.Preview, error) { return s.ask(ctx, previewer, b) })
}

func (s *Pricer) ask(ctx context.Context, previewer registry.Previewer, b runs.Bound) (registry.Preview, error) {
	late := registry.Say(registry.CodeTimeout, said.PreviewLate, "tool", b.Tool.DisplayName, "time", previewTimeout)
	late.Retryable = true
	asking, cancel := context.WithTimeoutCause(ctx, previewTimeout, late)
	defer cancel()
	tool, inputs := runs.Run{Tool: b.Tool, Inputs: b.Inputs, Granted: []string{}}.Forwarded()
	preview, err := previewer.Preview(asking, registry.Call{UserID: b.Request.AccountID, Tool: tool, Inputs: inputs, Media: s.Config.Assets, Context: b.Request.Context, Budget: b.Request.Budget.Name})
	switch {
	case err != nil && ctx.Err() == nil && asking.Err() != nil:
		return preview, late
	case err != nil:
		return preview, registry.AsError(err)
	}
	preview.Message, preview.Said = store.Storable(preview.Message), preview.Said.Map(store.Storable)
	for _, c := range preview.Changes {
		for i := range c.Pieces {
			c.Pieces[i].Text = store.Storable(c.Pieces[i].Text)
		}
	}
	return preview, nil
}
