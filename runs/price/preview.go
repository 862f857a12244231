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

// preview finds out what a bound call would do, as far as its provider can say and by where it goes. The provider gets no personal data: nobody has granted any yet.
func (s *Pricer) preview(ctx context.Context, b runs.Bound) error {
	if len(b.Missing) > 0 {
		return nil
	}
	return b.PreviewOnce(func() (preview registry.Preview, err error) {
		if previewer, ok := runs.Extra[registry.Previewer](s.Config.Providers[b.Tool.Service]); ok {
			preview, err = s.ask(ctx, previewer, b)
		}
		if err == nil {
			err = s.outward(ctx, b, &preview)
		}
		return preview, err
	})
}

func (s *Pricer) ask(ctx context.Context, previewer registry.Previewer, b runs.Bound) (registry.Preview, error) {
	late := registry.Say(registry.CodeTimeout, said.PreviewLate, "tool", b.Tool.DisplayName, "time", previewTimeout)
	late.Retryable = true
	asking, cancel := context.WithTimeoutCause(ctx, previewTimeout, late)
	defer cancel()
	b.Granted = []string{}
	tool, inputs := b.Forwarded()
	preview, err := previewer.Preview(asking, registry.Call{UserID: b.Request.AccountID, Tool: tool, Inputs: inputs, Media: stored{s.Config.Assets}, Context: b.Request.Context, Budget: b.Request.Budget.Name})
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
