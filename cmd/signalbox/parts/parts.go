// Package parts keeps the list of what is running: it stops it in reverse order, and notices what ended by itself.
package parts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/signalbox/signalbox/cmd/signalbox/serve"
)

// Parts are those that are running.
type Parts struct {
	log    *slog.Logger
	stops  []stopper
	failed chan error // a part that ended by itself
}

// New has no part running yet.
func New(log *slog.Logger) Parts { return Parts{log: log, failed: make(chan error, 4)} }

type stopper struct {
	name string
	stop func(context.Context) error
}

// OnStop has stop called at the end of the program.
func (p *Parts) OnStop(name string, stop func(context.Context) error) {
	p.stops = append(p.stops, stopper{name, stop})
}

// Stop ends the parts in reverse order and reports all that went wrong.
func (p *Parts) Stop(ctx context.Context) error {
	var errs error
	for i := len(p.stops) - 1; i >= 0; i-- {
		s := p.stops[i]
		began := time.Now()
		if err := s.stop(ctx); err != nil {
			errs = errors.Join(errs, fmt.Errorf("stopping %s: %w", s.name, err))
		}
		p.log.Debug("stopped", "part", s.name, "took", time.Since(began))
	}
	p.stops = nil
	return errs
}

// Background runs f until the program stops, which waits for it.
func (p *Parts) Background(name string, f func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { f(ctx) })
	p.OnStop(name, func(context.Context) error {
		cancel()
		wg.Wait()
		return nil
	})
}

// Soon runs do, until the program stops, soon after each call of what it gives: once for all calls that come meanwhile.
func (p *Parts) Soon(name string, do func(context.Context)) (due func()) {
	called := make(chan struct{}, 1)
	p.Background(name, func(ctx context.Context) {
		for {
			select {
			case <-ctx.Done():
				return
			case <-called:
				do(ctx)
			}
		}
	})
	return func() {
		select {
		case called <- struct{}{}:
		default: // it is due already
		}
	}
}

// Fail ends the program, since a part of it ended by itself.
func (p *Parts) Fail(err error) { p.failed <- err }

// Failed gives why a part ended by itself.
func (p *Parts) Failed() <-chan error { return p.failed }

// Claim takes the address that a variable names.
func (p *Parts) Claim(ctx context.Context, variable, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		reason, advice := serve.WhyNotListening(err)
		return nil, fmt.Errorf("%s: %s: %s; %s", variable, address, reason, advice)
	}
	p.OnStop(variable, func(context.Context) error {
		listener.Close() // closed already where something was served
		return nil
	})
	return listener, nil
}

// Serve serves until the program stops.
func (p *Parts) Serve(name string, listener net.Listener, h http.Handler) {
	server := serve.New(h, p.log)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			p.Fail(fmt.Errorf("%s: %w", name, err))
		}
	})
	p.OnStop(name+" listener", func(ctx context.Context) error {
		err := server.Stop(ctx)
		wg.Wait()
		return err
	})
}
