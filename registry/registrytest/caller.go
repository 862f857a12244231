package registrytest

import (
	"context"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

// CallerSetup makes what TestCaller tests. The first three members are needed.
type CallerSetup struct {
	Caller registry.Caller
	// Call makes a fresh valid call of a tool that succeeds.
	Call func() registry.Call
	// Received counts how many calls the service has carried out.
	Received func() int

	// Line is between provider and service. The first request of Call must be the one that does the work.
	Line *Line
	// Secret is the account's key, which must appear in no error.
	Secret string
}

// TestCaller is what every Caller must pass. setup is called for each part.
func TestCaller(t *testing.T, setup func(t *testing.T) CallerSetup) {
	t.Helper()
	part := func(name string, test func(*testing.T, CallerSetup)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, setup(t))
		})
	}
	part("a call gives the outputs that were declared", func(t *testing.T, s CallerSetup) {
		c := s.Call()
		result, err := s.Caller.Call(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		wantOutputs(t, c.Tool, result.Outputs)
		wantUsage(t, c.Tool, result.Usage)
	})
	part("a context that has ended stops everything", func(t *testing.T, s CallerSetup) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Caller.Call(ctx, s.Call()); err == nil || s.Received() != 0 {
			t.Errorf("got %v, and %d calls", err, s.Received())
		}
	})
	part("many at once are as many calls", callsMany)
	part("a price is named without running anything", func(t *testing.T, s CallerSetup) {
		namesPrice(t, s.Caller, s.Call(), s.Received)
	})
	for _, trouble := range refusals() {
		part("refused: "+trouble.name, func(t *testing.T, s CallerSetup) { callRefused(t, s, trouble) })
	}
	for name, fault := range lostAnswers() {
		part("an answer lost by "+name+" is not made up for by a second call", func(t *testing.T, s CallerSetup) { callLost(t, s, fault) })
	}
	part("a service that does not answer is left when the time is over", func(t *testing.T, s CallerSetup) {
		leaves(t, s.Line, func(ctx context.Context) error {
			_, err := s.Caller.Call(ctx, s.Call())
			return err
		})
	})
	part("no error shows the key", func(t *testing.T, s CallerSetup) {
		hides(t, s.Line, s.Secret, func() error {
			_, err := s.Caller.Call(t.Context(), s.Call())
			return err
		})
	})
}

func callsMany(t *testing.T, s CallerSetup) {
	const many = 4
	calls := make([]registry.Call, many)
	for i := range calls {
		calls[i] = s.Call()
	}
	var all sync.WaitGroup
	for _, c := range calls {
		all.Go(func() {
			if _, err := s.Caller.Call(t.Context(), c); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s.Received() != many {
		t.Errorf("the service carried out %d calls, expected %d", s.Received(), many)
	}
}

func callRefused(t *testing.T, s CallerSetup, trouble trouble) {
	if s.Line == nil {
		t.Log("nothing is between it and its service")
		return
	}
	s.Line.Next(trouble.fault)
	_, err := s.Caller.Call(t.Context(), s.Call())
	met(t, s.Line)
	trouble.check(t, err, s.Secret)
	wantTyped(t, err)
	if s.Received() != 0 || s.Line.Trips() != 1 {
		t.Errorf("%d calls carried out and %d requests, expected none and one", s.Received(), s.Line.Trips())
	}
	if _, err := s.Caller.Call(t.Context(), s.Call()); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

// callLost: what may have been done is tried again only where the tool says that this does no harm.
func callLost(t *testing.T, s CallerSetup, fault LineFault) {
	if s.Line == nil {
		t.Log("nothing is between it and its service")
		return
	}
	c := s.Call()
	s.Line.Next(fault)
	_, err := s.Caller.Call(t.Context(), c)
	met(t, s.Line)
	wantTyped(t, err)
	failure := registry.AsError(err)
	if !c.Tool.Idempotent && (failure.Code != registry.CodeLost || failure.Retryable) {
		t.Errorf("got %v (retryable %v), expected %s for good", err, failure.Retryable, registry.CodeLost)
	}
	if s.Received() != 1 {
		t.Errorf("%d calls, expected one", s.Received())
	}
}
