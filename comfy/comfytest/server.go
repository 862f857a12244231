// Package comfytest is a strict, stateful ComfyUI server for tests: the CPU engine behind a handler that fails the test on whatever
// would harm or confuse a real server, remembers all calls, has fake nodes that stand for models, lets runs wait until the
// test releases them, and breaks on demand: connections, answers, sockets, events, the whole process.
package comfytest

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/comfy/cpu"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/nodes"
)

// patience bounds every wait for something that should happen at once.
const patience = 2 * time.Minute

// Options choose what a server has. The zero value has all nodes and no model.
type Options struct {
	// Models are the files by folder: checkpoints, diffusion_models, text_encoders, vae, loras.
	Models map[string][]string
	// Metadata is what the heads of model files say, by folder and name, such as "loras/ink.safetensors".
	Metadata map[string]map[string]string
	// Without are classes the server lacks.
	Without []string
	// Nodes are further classes.
	Nodes []node.Node
	// GPU is the device name as the server reports it; empty means the CPU.
	GPU string
}

// Server is one ComfyUI server. All methods may be called at once from many goroutines.
type Server struct {
	t    testing.TB
	dir  string
	door *door
	http *httptest.Server
	raw  *httptest.Server // the engine alone, for the sockets behind ours
	ctx  context.Context
	stop context.CancelFunc

	mu      sync.Mutex
	opts    Options
	version string // reported instead of the engine's
	engine  *cpu.Engine
	alive   context.Context    // of the engine's process
	life    context.CancelFunc // ends it
	skew    time.Duration      // the engine's clock is this much ahead
	calls   []Call
	runs    map[string]int         // prompts accepted, by id
	takenBy map[string]*cpu.Engine // who accepted one last; what a restart forgot may come again
	rules   []*rule
	gates   map[string]*Gate
	held    map[*Held]bool
	sockets map[*socket]bool
	frames  func(Frame) []Frame
}

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

// URL is the server's address.
func (s *Server) URL() *url.URL {
	u, err := url.Parse(s.http.URL)
	if err != nil {
		s.t.Fatal(err) // httptest makes good addresses
	}
	return u
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

// Down makes the server unreachable: connections are refused and open ones break. The process lives on.
func (s *Server) Down() {
	s.door.shut(true)
	s.CutSockets()
	s.http.CloseClientConnections()
}

// Up ends Down.
func (s *Server) Up() { s.door.shut(false) }

// SetModels replaces the files of one model folder, as when somebody copies a file there.
func (s *Server) SetModels(folder string, files ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	models := map[string][]string{folder: files}
	for name, list := range s.opts.Models {
		if name != folder {
			models[name] = list
		}
	}
	s.opts.Models = models
}

// SetVersion changes the version that the server reports.
func (s *Server) SetVersion(v string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = v
}

// Install adds classes that were left out so far. As with a real server they appear after a Restart.
func (s *Server) Install(classes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.Without = slices.DeleteFunc(slices.Clone(s.opts.Without), func(c string) bool { return slices.Contains(classes, c) })
}

func (s *Server) models(folder string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.opts.Models[folder])
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

func (s *Server) close() {
	s.stop()
	s.http.CloseClientConnections()
	s.kill()
	s.http.Close()
	s.raw.Close()
}

// ServeHTTP remembers and checks a call, and lets a scripted fault or the engine answer it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call, err := readCall(r)
	if err != nil {
		return // the client went away
	}
	do := s.note(call)
	s.check(r, call)
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, call) })
	if do != nil {
		do(w, r, next)
		return
	}
	next.ServeHTTP(w, r)
}

// answer lets the engine answer.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, call Call) {
	if call.Path == "/ws" {
		s.serveSocket(w, r)
		return
	}
	if strings.HasPrefix(call.Path, "/view_metadata/") {
		s.serveMetadata(w, r)
		return
	}
	if folder, is := strings.CutPrefix(call.Path, "/models/"); is && len(s.models(folder)) > 0 {
		if err := json.NewEncoder(w).Encode(s.models(folder)); err != nil {
			s.t.Logf("comfytest: answering %s: %v", call.Path, err)
		}
		return
	}
	engine, life := s.process()
	rec := httptest.NewRecorder()
	engine.ServeHTTP(rec, r)
	if life.Err() != nil { // a process that is killed answers nothing, and shows nobody how its runs ended by that
		panic(http.ErrAbortHandler)
	}
	s.judge(call, rec, engine)
	body := rec.Body.Bytes()
	if call.Is("GET /system_stats") {
		body = s.stats(body)
	}
	for key, values := range rec.Header() {
		w.Header()[key] = values
	}
	w.WriteHeader(rec.Code)
	if _, err := w.Write(body); err != nil && !errors.Is(err, net.ErrClosed) && r.Context().Err() == nil {
		s.t.Logf("comfytest: answering %s %s: %v", call.Method, call.Path, err)
	}
}

// door is a listener that can be shut: it then drops everybody who comes.
type door struct {
	net.Listener

	mu     sync.Mutex
	closed bool
}

func (d *door) shut(closed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = closed
}

func (d *door) isShut() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed
}

// Accept gives the next connection made while the door is open.
func (d *door) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil || !d.isShut() {
			return conn, err
		}
		_ = conn.Close()
	}
}

// bare is the path without the prefix under which every route exists a second time.
func bare(path string) string {
	if rest, ok := strings.CutPrefix(path, "/api/"); ok && !strings.HasPrefix(rest, "jobs") {
		return "/" + rest
	}
	return path
}
