package main

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

// parts are what is running: how it is stopped, and what ended by itself.
type parts struct {
	log    *slog.Logger
	stops  []stopper
	failed chan error // a part that ended by itself
}

type stopper struct {
	name string
	stop func(context.Context) error
}

func (p *parts) onStop(name string, stop func(context.Context) error) {
	p.stops = append(p.stops, stopper{name, stop})
}

// stop ends the parts in reverse order and reports all that went wrong.
func (p *parts) stop(ctx context.Context) error {
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

// background runs f until the program stops, which waits for it.
func (p *parts) background(name string, f func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { f(ctx) })
	p.onStop(name, func(context.Context) error {
		cancel()
		wg.Wait()
		return nil
	})
}

// claim takes the address that a variable names.
func (p *parts) claim(ctx context.Context, variable, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		reason, advice := serve.WhyNotListening(err)
		return nil, fmt.Errorf("%s: %s: %s; %s", variable, address, reason, advice)
	}
	p.onStop(variable, func(context.Context) error {
		listener.Close() // closed already where something was served
		return nil
	})
	return listener, nil
}

// serve serves until the program stops.
func (p *parts) serve(name string, listener net.Listener, h http.Handler) {
	server := serve.New(h, p.log)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			p.failed <- fmt.Errorf("%s: %w", name, err)
		}
	})
	p.onStop(name+" listener", func(ctx context.Context) error {
		err := server.Stop(ctx)
		wg.Wait()
		return err
	})
}
