package comfytest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/comfy/cpu"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/nodes"
)

// New starts a server that ends with the test.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	s := &Server{t: t, dir: t.TempDir(), opts: o, runs: map[string]int{}, takenBy: map[string]*cpu.Engine{}, gates: map[string]*Gate{}, held: map[*Held]bool{}, sockets: map[*socket]bool{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.start()
	s.raw = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.current().ServeHTTP(w, r) }))
	s.http = httptest.NewUnstartedServer(s)
	s.door = &door{Listener: s.http.Listener}
	s.http.Listener = s.door
	s.http.Start()
	t.Cleanup(s.close)
	return s
}

func (s *Server) close() {
	s.stop()
	s.http.CloseClientConnections()
	s.kill()
	s.http.Close()
	s.raw.Close()
}

// start begins a new process: an engine that remembers nothing of an earlier one.
func (s *Server) start() {
	life, end := context.WithCancel(s.ctx)
	engine, err := cpu.New(cpu.Config{
		Input: s.dir + "/input", Output: s.dir + "/output", Temp: s.dir + "/temp", Nodes: s.nodes(life), Now: s.now,
	})
	if err != nil {
		end()
		s.t.Fatalf("comfytest: %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engine, s.alive, s.life = engine, life, end
}

// kill ends the process: sockets break, runs stop, queue and history are gone.
func (s *Server) kill() {
	s.mu.Lock()
	engine, end := s.engine, s.life
	s.mu.Unlock()
	s.CutSockets()
	end()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := engine.Close(ctx); err != nil {
		s.t.Errorf("comfytest: %v", err)
	}
}

// Restart ends the process and begins a new one with the same files, which has forgotten its queue and its history.
func (s *Server) Restart() {
	s.kill()
	s.start()
	s.http.CloseClientConnections()
}

// nodes are the classes of a process that lives as long as life.
func (s *Server) nodes(life context.Context) []node.Node {
	s.mu.Lock()
	without, more := s.opts.Without, s.opts.Nodes
	s.mu.Unlock()
	var out []node.Node
	have := map[string]bool{}
	for _, list := range [][]node.Node{more, s.fakes(), nodes.All()} {
		for _, n := range list {
			class := n.Spec.Class
			if have[class] || slices.Contains(without, class) {
				continue
			}
			have[class] = true
			out = append(out, s.gated(life, n))
		}
	}
	return out
}

// process is the one that answers, and the context that ends with it.
func (s *Server) process() (*cpu.Engine, context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engine, s.alive
}

func (s *Server) current() *cpu.Engine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engine
}

// now is the engine's clock. It leaps a little at each report of a held run, since the engine drops reports that follow
// one another too fast.
func (s *Server) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.skew)
}
