package discord

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/signalbox/signalbox/internal/signature"
	"github.com/signalbox/signalbox/platforms/chat"
)

// InteractionsPath is where EndpointHandler is to be mounted below the public address.
const InteractionsPath = "/webhooks/discord/interactions"

const (
	pruneEvery     = 10 * time.Minute
	maxInteraction = 1 << 20 // bytes
)

// Run passes what comes in on to a receiver until ctx ends, and then returns nil. It needs no network to start. Only
// what Discord refuses for good, such as a wrong token, ends it with an error.
func (a *Adapter) Run(ctx context.Context, to chat.Receiver) error {
	ctx, stop := context.WithCancel(ctx)
	a.setRunning(&running{to: to, done: ctx.Done()})
	var beside sync.WaitGroup
	beside.Go(func() { a.keepTidy(ctx) })
	beside.Go(func() { a.keepParting(ctx) })
	beside.Go(func() { a.store.Keep(ctx) })
	err := a.listen(ctx)
	stop()
	a.setRunning(nil)
	a.handling.Wait()
	beside.Wait()
	return err
}

func (a *Adapter) setRunning(r *running) {
	a.gate.Lock()
	defer a.gate.Unlock()
	a.running = r
}

// keepTidy forgets interactions that can't be answered any more.
func (a *Adapter) keepTidy(ctx context.Context) {
	for {
		if err := a.storage.prune(ctx, a.clock.Now().Add(-2*answerLife)); err != nil && ctx.Err() == nil {
			a.log.WarnContext(ctx, "old interactions are still stored", "error", err)
		}
		select {
		case <-a.clock.After(pruneEvery):
		case <-ctx.Done():
			return
		}
	}
}

// TakesHTTP reports whether interactions can come by HTTP: that needs the application's public key.
func (a *Adapter) TakesHTTP() bool { return a.key != nil }

// EndpointHandler receives interactions by HTTP while Run runs. It is to be mounted at InteractionsPath. What is not
// signed by Discord, or not lately, is answered 401.
func (a *Adapter) EndpointHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxInteraction)
		if r.Method != http.MethodPost || a.key == nil || !discordgo.VerifyInteraction(r, a.key) || signature.InTime(r.Header.Get("X-Signature-Timestamp"), a.clock.Now()) != nil {
			http.Error(w, "the signature is not Discord's", http.StatusUnauthorized)
			return
		}
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "the request is not complete", http.StatusBadRequest)
			return
		}
		if isPing(raw) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"type":1}`)
			return
		}
		if !a.takeInteraction(r.Context(), raw) {
			http.Error(w, "the program is not ready yet", http.StatusServiceUnavailable)
			return
		}
		// The answer is given by a call of our own, as for those that come over the gateway.
		w.WriteHeader(http.StatusAccepted)
	})
}
