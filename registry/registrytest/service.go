package registrytest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/registry"
)

// Op is an operation of a Service that can be made to fail.
type Op string

// The operations.
const (
	OpCall   Op = "call"
	OpSubmit Op = "submit"
	OpPoll   Op = "poll"
	OpWatch  Op = "watch"
	OpCancel Op = "cancel"
	OpPrice  Op = "price"
)

// Fault makes an operation fail. After faults of an operation are used up it works again.
type Fault struct {
	Err error // nil: an *Error with CodeProvider that may be tried again
	// AfterEffect lets the operation take effect and loses only the answer, as a line that breaks
	// between sending and receiving does.
	AfterEffect bool
	// Until holds the operation until the channel is closed or its context ends; with a nil Err it
	// then goes on as if nothing had been.
	Until <-chan struct{}
}

// Service is a provider in memory: a Caller and a Submitter with all extras but callbacks. Runs stay
// queued until the test moves them, or are answered at once where Answer is set. Submitting one handle
// twice gives the same run. It is safe for concurrent use.
type Service struct {
	name string

	mu          sync.Mutex
	changed     chan struct{} // closed and replaced at each change
	runs        map[string]*serviceRun
	order       []string // provider ids as they came
	submissions int
	faults      map[Op][]Fault
	answer      func(registry.Call) (registry.Result, *registry.Error)
	price       registry.Price
	prices      int
	preview     func(registry.Call) (registry.Preview, error)
}

type serviceRun struct {
	call     registry.Call
	progress registry.Progress
	canceled bool
}

// NewService makes a Service; tickets carry its name.
func NewService(name string) *Service {
	return &Service{name: name, changed: make(chan struct{}), runs: make(map[string]*serviceRun), faults: make(map[Op][]Fault)}
}

var (
	_ registry.Caller     = (*Service)(nil)
	_ registry.Submitter  = (*Service)(nil)
	_ registry.Canceler   = (*Service)(nil)
	_ registry.Pricer     = (*Service)(nil)
	_ registry.Progresser = (*Service)(nil)
	_ registry.Previewer  = (*Service)(nil)
)

// Answer lets every Call, and every run from now on, be answered at once. nil leaves runs queued
// again.
func (s *Service) Answer(f func(registry.Call) (registry.Result, *registry.Error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

// SetPrice is what Price gives from now on.
func (s *Service) SetPrice(p registry.Price) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.price = p
}

// Previews lets Preview tell what a call would do. nil: nothing is said of single calls.
func (s *Service) Previews(f func(registry.Call) (registry.Preview, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.preview = f
}

// FailNext lets the next operations op meet these faults, one each, after any given before.
func (s *Service) FailNext(op Op, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[op] = append(s.faults[op], faults...)
}

// Set moves the run with this handle (or provider id) to a state.
func (s *Service) Set(handle string, p registry.Progress) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	run := s.runs[handle]
	if run == nil {
		return fmt.Errorf("registrytest: service %s has no run %s", s.name, handle)
	}
	run.progress = p
	s.wake()
	return nil
}

// Succeed ends the run with these outputs and usage.
func (s *Service) Succeed(handle string, usage registry.Usage, outputs ...registry.Output) error {
	result := registry.Result{Outputs: outputs, Usage: usage}
	return s.Set(handle, registry.Progress{State: registry.RunSucceeded, Result: &result})
}

// Fail ends the run with an error.
func (s *Service) Fail(handle string, err *registry.Error) error {
	return s.Set(handle, registry.Progress{State: registry.RunFailed, Err: err})
}

// Forget loses the run, as a service does that was restarted: polling it gives CodeLost.
func (s *Service) Forget(handle string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, handle)
	s.wake()
}

// Calls gives all submitted calls that are not forgotten, in order.
func (s *Service) Calls() []registry.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var calls []registry.Call
	for _, id := range s.order {
		if run := s.runs[id]; run != nil {
			calls = append(calls, run.call)
		}
	}
	return calls
}

// Submissions counts all Submits that took effect, repeated ones too.
func (s *Service) Submissions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.submissions
}

// Canceled reports whether the run with this handle was cancelled.
func (s *Service) Canceled(handle string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	run := s.runs[handle]
	return run != nil && run.canceled
}

// WaitFor waits until ready, which may use the Service, is true after some change, or ctx ends.
func (s *Service) WaitFor(ctx context.Context, ready func() bool) error {
	for {
		changed := s.change()
		if ready() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *Service) change() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// wake tells everybody who waits that something changed; the lock is held.
func (s *Service) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// meet takes the next fault of op. Without effect first, it returns the error to give up with at
// once; lost is the error to return after the effect.
func (s *Service) meet(ctx context.Context, op Op) (now, lost error) {
	if err := ctx.Err(); err != nil {
		return err, nil
	}
	s.mu.Lock()
	queue := s.faults[op]
	if len(queue) == 0 {
		s.mu.Unlock()
		return nil, nil
	}
	fault := queue[0]
	s.faults[op] = queue[1:]
	s.mu.Unlock()
	if fault.Until != nil {
		select {
		case <-fault.Until:
		case <-ctx.Done():
			return ctx.Err(), nil
		}
		if fault.Err == nil {
			return nil, nil
		}
	}
	err := fault.Err
	if err == nil {
		err = &registry.Error{Code: registry.CodeProvider, Message: "scripted fault of " + string(op), Retryable: true}
	}
	if fault.AfterEffect {
		return nil, err
	}
	return err, nil
}

// Call answers as Answer says, or with one text output that repeats the input "prompt".
func (s *Service) Call(ctx context.Context, c registry.Call) (registry.Result, error) {
	now, lost := s.meet(ctx, OpCall)
	if now != nil {
		return registry.Result{}, now
	}
	s.mu.Lock()
	answer := s.answer
	s.mu.Unlock()
	if answer == nil {
		answer = echo
	}
	result, failure := answer(c)
	if failure != nil {
		return registry.Result{}, failure
	}
	return result, lost
}

func echo(c registry.Call) (registry.Result, *registry.Error) {
	return registry.Result{Outputs: []registry.Output{Text("text", fmt.Sprint(c.Inputs["prompt"]))}}, nil
}

// Submit takes the run under its handle, or its run id where there is none.
func (s *Service) Submit(ctx context.Context, c registry.Call) (registry.Ticket, error) {
	now, lost := s.meet(ctx, OpSubmit)
	if now != nil {
		return registry.Ticket{}, now
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := cmp.Or(c.Handle, c.RunID)
	s.submissions++
	if s.runs[id] == nil {
		s.runs[id] = s.accept(c)
		s.order = append(s.order, id)
	}
	s.wake()
	if lost != nil {
		return registry.Ticket{}, lost
	}
	return registry.Ticket{RunID: c.RunID, Service: s.name, ProviderID: id}, nil
}

func (s *Service) accept(c registry.Call) *serviceRun {
	run := &serviceRun{call: c, progress: registry.Progress{State: registry.RunQueued, QueuePosition: 1}}
	if s.answer == nil {
		return run
	}
	result, failure := s.answer(c)
	run.progress = registry.Progress{State: registry.RunSucceeded, Result: &result}
	if failure != nil {
		run.progress = registry.Progress{State: registry.RunFailed, Err: failure}
	}
	return run
}

// Find gives the ticket of a run by its handle, or CodeLost for one that is not known.
func (s *Service) Find(_ context.Context, c registry.Call) (registry.Ticket, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs[c.Handle] == nil {
		return registry.Ticket{}, registry.Errorf(registry.CodeLost, "%s does not know the run", s.name)
	}
	return registry.Ticket{RunID: c.RunID, Service: s.name, ProviderID: c.Handle}, nil
}

// Poll gives the run's state, or CodeLost for one that is not known.
func (s *Service) Poll(ctx context.Context, t registry.Ticket) (registry.Progress, error) {
	now, lost := s.meet(ctx, OpPoll)
	if now != nil {
		return registry.Progress{}, now
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	run := s.runs[t.ProviderID]
	if run == nil {
		return registry.Progress{}, registry.Errorf(registry.CodeLost, "%s does not know the run", s.name)
	}
	return run.progress, lost
}

// Watch reports each change of the run until it is over.
func (s *Service) Watch(ctx context.Context, t registry.Ticket, report func(registry.Progress)) error {
	now, lost := s.meet(ctx, OpWatch)
	if now != nil {
		return now
	}
	for {
		changed := s.change()
		progress, err := s.Poll(ctx, t)
		if err != nil {
			return err
		}
		report(progress)
		if progress.State.Terminal() {
			return nil
		}
		if lost != nil {
			return lost
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Cancel ends the run unless it is over; an unknown one is no error.
func (s *Service) Cancel(ctx context.Context, t registry.Ticket) error {
	now, lost := s.meet(ctx, OpCancel)
	if now != nil {
		return now
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if run := s.runs[t.ProviderID]; run != nil && !run.progress.State.Terminal() {
		run.progress, run.canceled = registry.Progress{State: registry.RunCanceled}, true
		s.wake()
	}
	return lost
}

// Price gives what SetPrice set.
func (s *Service) Price(ctx context.Context, _ registry.Call) (registry.Price, error) {
	now, lost := s.meet(ctx, OpPrice)
	if now != nil {
		return registry.Price{}, now
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prices++
	return s.price, lost
}

// Prices is how often a price was given.
func (s *Service) Prices() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prices
}

// Preview tells what Previews set.
func (s *Service) Preview(_ context.Context, c registry.Call) (registry.Preview, error) {
	s.mu.Lock()
	f := s.preview
	s.mu.Unlock()
	if f == nil {
		return registry.Preview{}, nil
	}
	return f(c)
}

// Text makes a text output.
func Text(name, text string) registry.Output {
	return registry.Output{Name: name, Type: "text", Text: text}
}

// File makes an output of a type such as image with this content; it can be opened many times.
func File(name, kind string, info registry.MediaInfo, content []byte) registry.Output {
	content = slices.Clone(content)
	info.Bytes = int64(len(content))
	return registry.Output{Name: name, Type: kind, Info: info, Open: func(ctx context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), ctx.Err()
	}}
}
