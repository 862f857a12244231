// Package runstest helps to test what runs and what runs rely on: a strict provider that holds state, and
// assets in memory.
package runstest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// Provider is a service that works on runs as a real one does: it knows what was submitted, under which
// handle, and refuses what is wrong. It is a registry.Submitter, registry.Finder, registry.Canceler, registry.Forgetter and
// registry.Previewer.
//
// By default every run succeeds at once with one text output named "result"; OnSubmit decides otherwise.
type Provider struct {
	// OnSubmit gives the outcome of a submission: nil is success at once. It is called once for each
	// handle, with the number of handles seen before.
	OnSubmit func(call registry.Call, before int) *Outcome
	// ID names the provider's own id of a run; nil: the handle is the id.
	ID func(handle string) string
	// Endpoint is where runs go, for a provider with several places: it is noted before anything is taken, and a handle
	// that is known has to come with the note.
	Endpoint string
	// OnPreview tells what a call would do; nil: nothing is said of single calls. A call that comes with a Preview of other things, or
	// of other versions of them, is refused.
	OnPreview func(ctx context.Context, call registry.Call) (registry.Preview, error)

	mu      sync.Mutex
	runs    map[string]*work
	order   []string
	cancels map[string]int
	polls   int
}

// Outcome is how a run goes at the provider.
type Outcome struct {
	SubmitErr error             // the submission fails, and is not known afterwards
	Forget    bool              // the submission is taken and then lost
	Hold      <-chan struct{}   // the submission is taken and answered only when this is closed, or the context of the caller has ended for too long
	Manual    bool              // the run goes on until Finish, Fail or Report is called
	Err       *registry.Error   // the run fails
	Outputs   []registry.Output // nil: the default output
	Usage     registry.Usage
}

type work struct {
	call      registry.Call
	progress  registry.Progress
	lost      bool
	canceled  bool
	forgotten bool
}

// Text is a text output.
func Text(name, text string) registry.Output {
	return registry.Output{Name: name, Type: "text", Text: text}
}

// File is an output with content.
func File(name, kind, fileName, content string) registry.Output {
	return registry.Output{Name: name, Type: kind, Info: registry.MediaInfo{Name: fileName}, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader([]byte(content))), nil
	}}
}

// Submit takes a run. A handle that is known is not begun again, and has to come with Repeated set.
func (p *Provider) Submit(ctx context.Context, c registry.Call) (registry.Ticket, error) {
	if ctx.Err() != nil {
		return registry.Ticket{}, ctx.Err()
	}
	ctx, done := registry.Beginning(ctx)
	defer done()
	if p.Endpoint != "" && c.Sent == nil {
		if p.knows(c.Handle) {
			return registry.Ticket{}, registry.Errorf(registry.CodeInternal, "handle %s was sent without a note", c.Handle)
		}
		if err := c.Sending(ctx, registry.Ticket{RunID: c.RunID, Service: c.Tool.Service, ProviderID: p.id(c.Handle), Endpoint: p.Endpoint}); err != nil {
			return registry.Ticket{}, err
		}
		if ctx.Err() != nil {
			return registry.Ticket{}, ctx.Err()
		}
	}
	if err := p.isPresent(ctx, c); err != nil {
		return registry.Ticket{}, err
	}
	ticket, hold, err := p.take(c)
	if err == nil && hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return registry.Ticket{}, ctx.Err()
		}
	}
	return ticket, err
}

// Preview tells what OnPreview says.
func (p *Provider) Preview(ctx context.Context, c registry.Call) (registry.Preview, error) {
	if p.OnPreview == nil {
		return registry.Preview{}, nil
	}
	return p.OnPreview(ctx, c)
}

// isPresent refuses a call whose Preview is of things as they are no more.
func (p *Provider) isPresent(ctx context.Context, c registry.Call) error {
	if c.Preview == nil {
		return nil
	}
	now, err := p.Preview(ctx, c)
	if err == nil && !slices.Equal(now.Touches, c.Preview.Touches) {
		err = registry.Errorf(registry.CodeInvalidInput, "what would change is not what was shown")
	}
	return err
}

func (p *Provider) knows(handle string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs[p.id(handle)] != nil
}

// Find gives the ticket of a run that was submitted, by its handle.
func (p *Provider) Find(_ context.Context, c registry.Call) (registry.Ticket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.id(c.Handle)
	if p.runs[id] == nil {
		return registry.Ticket{}, registry.Errorf(registry.CodeLost, "the provider does not know the run")
	}
	return registry.Ticket{RunID: c.RunID, Service: c.Tool.Service, ProviderID: id}, nil
}

func (p *Provider) take(c registry.Call) (ticket registry.Ticket, hold <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.id(c.Handle)
	ticket = registry.Ticket{RunID: c.RunID, Service: c.Tool.Service, ProviderID: id}
	if _, known := p.runs[id]; known {
		if !c.Repeated {
			return ticket, nil, registry.Errorf(registry.CodeInternal, "handle %s came a second time as if it were new", c.Handle)
		}
		return ticket, nil, nil
	}
	outcome := &Outcome{}
	if p.OnSubmit != nil {
		if o := p.OnSubmit(c, len(p.order)); o != nil {
			outcome = o
		}
	}
	if outcome.SubmitErr != nil {
		return ticket, nil, outcome.SubmitErr
	}
	if p.runs == nil {
		p.runs, p.cancels = make(map[string]*work), make(map[string]int)
	}
	w := &work{call: c, lost: outcome.Forget}
	switch {
	case outcome.Manual:
		w.progress = registry.Progress{State: registry.RunQueued, QueuePosition: 1}
	case outcome.Err != nil:
		w.progress = registry.Progress{State: registry.RunFailed, Err: outcome.Err}
	default:
		w.progress = done(outcome.Usage, outcome.Outputs)
	}
	p.runs[id] = w
	p.order = append(p.order, c.Handle)
	return ticket, outcome.Hold, nil
}

func (p *Provider) id(handle string) string {
	if p.ID == nil {
		return handle
	}
	return p.ID(handle)
}

func done(usage registry.Usage, outputs []registry.Output) registry.Progress {
	if outputs == nil {
		outputs = []registry.Output{Text("result", "done")}
	}
	return registry.Progress{State: registry.RunSucceeded, Result: &registry.Result{Outputs: outputs, Usage: usage}}
}

// Poll reports a run's state.
func (p *Provider) Poll(_ context.Context, t registry.Ticket) (registry.Progress, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.polls++
	w := p.runs[t.ProviderID]
	if w == nil || w.lost {
		return registry.Progress{}, registry.Errorf(registry.CodeLost, "the provider does not know the run")
	}
	return w.progress, nil
}

// Cancel stops a run that is not over; any other is no error.
func (p *Provider) Cancel(_ context.Context, t registry.Ticket) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancels == nil {
		p.cancels = make(map[string]int)
	}
	p.cancels[t.ProviderID]++
	if w := p.runs[t.ProviderID]; w != nil && !w.progress.State.Terminal() {
		w.canceled = true
		w.progress = registry.Progress{State: registry.RunCanceled}
	}
	return nil
}

// Forget deletes a run that is over; one that goes on leaves its traces later.
func (p *Provider) Forget(_ context.Context, t registry.Ticket) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.runs[t.ProviderID]; w != nil && w.progress.State.Terminal() {
		w.lost, w.forgotten = true, true
	}
	return nil
}

// Forgotten tells whether the provider keeps nothing of a handle's run any more.
func (p *Provider) Forgotten(handle string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.runs[p.id(handle)]
	return w != nil && w.forgotten
}

// Report sets the state of a run by its handle.
func (p *Provider) Report(handle string, progress registry.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.runs[p.id(handle)]; w != nil && !w.progress.State.Terminal() {
		w.progress = progress
	}
}

// Lose forgets a run by its handle, as a server that goes down does.
func (p *Provider) Lose(handle string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.runs[p.id(handle)]; w != nil {
		w.lost = true
	}
}

// Finish lets a run succeed.
func (p *Provider) Finish(handle string, usage registry.Usage, outputs ...registry.Output) {
	p.Report(handle, done(usage, outputs))
}

// Handles are the handles submitted, in order.
func (p *Provider) Handles() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.order...)
}

// CallOf gives what was submitted under a handle.
func (p *Provider) CallOf(handle string) (registry.Call, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.runs[p.id(handle)]
	if w == nil {
		return registry.Call{}, false
	}
	return w.call, true
}

// Cancels is how often the run of a handle was told to stop.
func (p *Provider) Cancels(handle string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cancels[p.id(handle)]
}

// Assets keeps files in memory. The zero value is empty and ready.
type Assets struct {
	mu    sync.Mutex
	files map[string]file
}

type file struct {
	content []byte
	info    registry.MediaInfo
}

// maxFile bounds a file in memory.
const maxFile = 64 << 20

// Collect has nothing to free.
func (a *Assets) Collect(context.Context) error { return nil }

// Put stores a file of the house.
func (a *Assets) Put(ctx context.Context, r io.Reader, name string) (registry.Media, registry.MediaInfo, error) {
	return a.Keep(ctx, r, assets.Meta{Name: name})
}

// Keep stores a file.
func (a *Assets) Keep(_ context.Context, r io.Reader, meta assets.Meta) (registry.Media, registry.MediaInfo, error) {
	filter := meta.Filter
	if filter == nil {
		filter = io.Copy
	}
	var kept bytes.Buffer
	if _, err := filter(&kept, io.LimitReader(r, maxFile+1)); err != nil {
		return "", registry.MediaInfo{}, err
	}
	content := kept.Bytes()
	if len(content) > maxFile {
		return "", registry.MediaInfo{}, fmt.Errorf("the file %s is larger than %d bytes", meta.Name, maxFile)
	}
	sum := sha256.Sum256(content)
	ref := "asset:" + hex.EncodeToString(sum[:])
	f := file{content, registry.MediaInfo{Name: meta.Name, Bytes: int64(len(content))}}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.files == nil {
		a.files = make(map[string]file)
	}
	a.files[ref] = f
	return ref, f.info, nil
}

// OpenMedia reads a file that was stored.
func (a *Assets) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f, ok := a.files[ref]
	if !ok {
		return nil, registry.MediaInfo{}, fmt.Errorf("there is no file %s", ref)
	}
	return io.NopCloser(bytes.NewReader(f.content)), f.info, nil
}

// Registry gives a registry that holds the tools.
func Registry(tools ...registry.Tool) (*catalog.Registry, error) {
	r, err := catalog.New(catalog.Config{Loaders: []registry.Loader{fixed(tools)}})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if _, err := r.Reload(ctx); err != nil {
		return nil, err
	}
	if r.Snapshot().Len() != len(tools) {
		return nil, fmt.Errorf("of %d tools %d were taken: %v", len(tools), r.Snapshot().Len(), r.Status())
	}
	return r, nil
}

type fixed []registry.Tool

// Name is the loader's.
func (fixed) Name() string { return "fixed" }

// Load gives the tools.
func (f fixed) Load(context.Context) ([]registry.Tool, error) { return f, nil }
