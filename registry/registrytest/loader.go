package registrytest

import (
	"context"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/registry"
)

// Loader is a registry.Loader that gives what the test set.
type Loader struct {
	name string

	mu    sync.Mutex
	tools []registry.Tool
	err   error
	panic any
	gate  chan struct{}
	loads int
}

// NewLoader makes a Loader that gives tools.
func NewLoader(name string, tools ...registry.Tool) *Loader {
	return &Loader{name: name, tools: tools}
}

// Name gives the name it was made with.
func (l *Loader) Name() string { return l.name }

// Set replaces the tools and takes back Fail and Panic.
func (l *Loader) Set(tools ...registry.Tool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tools, l.err, l.panic = tools, nil, nil
}

// Fail lets every Load fail with err; nil lets them succeed again.
func (l *Loader) Fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

// Panic lets every Load panic with value; nil lets them succeed again.
func (l *Loader) Panic(value any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.panic = value
}

// Stall lets every Load wait until its context ends or release is called.
func (l *Loader) Stall() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	gate := make(chan struct{})
	l.gate = gate
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.gate = nil
		close(gate)
	})
}

// Loads counts the calls of Load so far.
func (l *Loader) Loads() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.loads
}

// Load does as the test said.
func (l *Loader) Load(ctx context.Context) ([]registry.Tool, error) {
	l.mu.Lock()
	l.loads++
	gate := l.gate
	l.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.panic != nil {
		panic(l.panic)
	}
	if l.err != nil {
		return nil, l.err
	}
	return slices.Clone(l.tools), nil
}
