// Package comfytest is a strict, stateful ComfyUI server for tests: the CPU engine behind a handler that fails the test on whatever
// would harm or confuse a real server, remembers all calls, has fake nodes that stand for models, lets runs wait until the
// test releases them, and breaks on demand: connections, answers, sockets, events, the whole process.
package comfytest

import (
	"context"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/comfy/cpu"
	"github.com/signalbox/signalbox/comfy/cpu/node"
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

// URL is the server's address.
func (s *Server) URL() *url.URL {
	u, err := url.Parse(s.http.URL)
	if err != nil {
		s.t.Fatal(err) // httptest makes good addresses
	}
	return u
}

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
