package comfytest

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/comfy/cpu/node"
)

// Gate makes runs wait at the nodes of one class.
type Gate struct {
	s       *Server
	class   string
	arrived chan *Held
	open    chan struct{}
}

// Held is a run that waits inside a node until the test releases it, it is interrupted, or the server ends.
type Held struct {
	PromptID, NodeID string

	s           *Server
	call        *node.Call
	work        chan func()
	end         chan error
	over        chan struct{}
	interrupted chan struct{}
}

// Hold makes runs wait at the nodes of a class, until the gate is opened.
func (s *Server) Hold(class string) *Gate {
	g := &Gate{s: s, class: class, arrived: make(chan *Held, 1024), open: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates[class] = g
	return g
}

// Open lets all waiting runs go on and no further one wait.
func (g *Gate) Open() {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	if g.s.gates[g.class] == g {
		delete(g.s.gates, g.class)
		close(g.open)
	}
}

// Next waits for a run to reach the gate.
func (g *Gate) Next() *Held {
	g.s.t.Helper()
	select {
	case h := <-g.arrived:
		return h
	case <-time.After(patience):
		g.s.t.Fatalf("comfytest: no run reached %s", g.class)
		return nil
	}
}

// Progress reports that value of limit steps are done.
func (h *Held) Progress(value, limit int) { h.do(func() { h.call.Progress(value, limit) }) }

// Preview reports progress with a picture.
func (h *Held) Preview(value, limit int, format node.PreviewFormat, picture []byte) {
	h.do(func() { h.call.Preview(value, limit, format, picture) })
}

// do has the waiting node do something, and waits for it.
func (h *Held) do(report func()) {
	h.s.mu.Lock()
	h.s.skew += 200 * time.Millisecond // past the engine's throttle
	h.s.mu.Unlock()
	done := make(chan struct{})
	select {
	case h.work <- func() { defer close(done); report() }:
		<-done
	case <-h.over:
	}
}

// Release lets the run go on.
func (h *Held) Release() { h.Fail(nil) }

// Fail makes the node end with an error; node.Raise gives it a type.
func (h *Held) Fail(err error) {
	select {
	case h.end <- err:
		<-h.over
	case <-h.over:
	}
}

// gated wraps a node so that a gate can hold it.
func (s *Server) gated(life context.Context, n node.Node) node.Node {
	run, class := n.Run, n.Spec.Class
	n.Run = func(ctx context.Context, c *node.Call) (*node.Result, error) {
		if err := s.wait(ctx, life, class, c); err != nil {
			return nil, err
		}
		return run(ctx, c)
	}
	return n
}

// wait holds a node. An interrupt lets it go on: the engine stops before the next node.
func (s *Server) wait(ctx, life context.Context, class string, c *node.Call) error {
	s.mu.Lock()
	g := s.gates[class]
	if g == nil {
		s.mu.Unlock()
		return nil
	}
	h := &Held{PromptID: c.PromptID, NodeID: c.NodeID, s: s, call: c, work: make(chan func()), end: make(chan error),
		over: make(chan struct{}), interrupted: make(chan struct{}, 1)}
	s.held[h] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.held, h)
		s.mu.Unlock()
		close(h.over)
	}()
	g.arrived <- h
	for {
		select {
		case do := <-h.work:
			do()
		case err := <-h.end:
			return err
		case <-h.interrupted:
			return nil
		case <-g.open:
			return nil
		case <-life.Done():
			return life.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// interrupt lets the held nodes of a prompt go, as a sampler looks for interrupts between its steps.
func (s *Server) interrupt(promptID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.held {
		if h.PromptID != promptID {
			continue
		}
		select {
		case h.interrupted <- struct{}{}:
		default:
		}
	}
}
