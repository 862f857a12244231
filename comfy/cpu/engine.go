// Package cpu is an embedded server that speaks ComfyUI's protocol and runs, on the CPU and without any model, the core
// nodes that need none. It serves demos and tests and everybody who develops workflows or clients without a GPU.
//
// Facts about the protocol are those of ComfyUI 0.24. Where the real server is dangerous this one is not: no name leads
// out of its folders, no body ends it, no prompt takes memory without bound.
package cpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/comfy/cpu/folders"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/nodes"
)

// Config sets up an engine. The zero value works: folders of its own that go with it, all nodes, the usual bounds.
type Config struct {
	// Input, Output and Temp are the folders of the protocol; missing ones are made. An empty one becomes a folder in a
	// private place that Close removes.
	Input, Output, Temp string
	// User is the folder of what clients keep on the server: their files and settings. Empty: nothing is kept.
	User string
	// Nodes are the classes to offer; nil means nodes.All().
	Nodes []node.Node
	// Logger takes what an operator may want to know; nil is silent.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// MaxPixels bounds batch x height x width of every picture made; 0 means 64 megapixels.
	MaxPixels int
	// MaxBatch bounds the batches that nodes offer to make; 0: as the real server declares them (4096), which are more than a CPU
	// gets done while anybody waits.
	MaxBatch int
	// MaxMemory bounds the bytes that all results of one prompt may take together; 0 means 2 GiB.
	MaxMemory int64
	// MaxBody bounds request bodies in bytes; 0 means 100 MiB, as the real server has it.
	MaxBody int64
	// Transient has files go as soon as no prompt needs them, with the prompt's entry in the history; whatever is in the folders at
	// the start goes as well. A real server keeps them.
	Transient bool
	// Listen is the host that the engine listens on, by which it may be reached besides by loopback's names.
	Listen string
	// MaxHistory bounds the finished runs that are remembered; 0 means 10,000.
	MaxHistory int
}

func (c *Config) defaults() {
	if c.Nodes == nil {
		c.Nodes = nodes.All()
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	c.MaxPixels = cmp.Or(c.MaxPixels, 64<<20)
	c.MaxMemory = cmp.Or(c.MaxMemory, 2<<30)
	c.MaxBody = cmp.Or(c.MaxBody, 100<<20)
	c.MaxHistory = cmp.Or(c.MaxHistory, 10_000)
}

// Engine is a running server. It is an http.Handler; all methods may be called at once from many goroutines.
type Engine struct {
	cfg     Config
	files   *node.Files
	user    *folders.User // nil: none is kept
	logs    *journal
	private string   // folder to remove at the end, or empty
	lock    *os.File // held as long as private is in use
	classes map[string]*node.Node
	names   []string // classes in declared order
	hub     *hub
	queue   *queue
	handler http.Handler

	stop     context.CancelFunc
	cleaning sync.WaitGroup
	done     chan struct{}
	once     sync.Once
	err      error
}

// New starts an engine. Close must be called to let go of its goroutine, sockets and folders.
func New(cfg Config) (*Engine, error) {
	cfg.defaults()
	e := &Engine{cfg: cfg, classes: map[string]*node.Node{}, done: make(chan struct{})}
	for i := range cfg.Nodes {
		n := &cfg.Nodes[i]
		if _, twice := e.classes[n.Spec.Class]; twice || n.Spec.Class == "" || n.Run == nil {
			return nil, fmt.Errorf("comfy engine: node %d: class %q is declared twice, without a name or without a run function", i, n.Spec.Class)
		}
		e.classes[n.Spec.Class] = cfg.bounded(n)
		e.names = append(e.names, n.Spec.Class)
	}
	if err := e.openFolders(); err != nil {
		return nil, fmt.Errorf("comfy engine: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	e.stop = stop
	e.hub = newHub(ctx, cfg.Logger) // which warns while it holds what the journal needs
	e.logs = &journal{hub: e.hub, now: cfg.Now}
	e.cfg.Logger = withJournal(cfg.Logger, e.logs)
	e.queue = newQueue(cfg.MaxHistory, e.hub)
	e.queue.now = cfg.Now
	e.handler = e.routes()
	if cfg.Transient {
		e.sweep(0)
		e.cleaning.Go(func() { e.keepClean(ctx) })
	}
	go e.work(ctx)
	return e, nil
}

// bounded is a node whose batches are no larger than MaxBatch.
func (c *Config) bounded(n *node.Node) *node.Node {
	if c.MaxBatch == 0 {
		return n
	}
	less := *n
	less.Spec.Required = slices.Clone(n.Spec.Required)
	for i, in := range less.Spec.Required {
		if most, ok := in.Attrs["max"].(int); ok && most > c.MaxBatch && in.Type == "INT" && (in.Name == "batch_size" || in.Name == "amount") {
			less.Spec.Required[i].Attrs = maps.Clone(in.Attrs)
			less.Spec.Required[i].Attrs["max"] = c.MaxBatch
		}
	}
	return &less
}

func (e *Engine) openFolders() (err error) {
	input, output, temp := e.cfg.Input, e.cfg.Output, e.cfg.Temp
	if input == "" || output == "" || temp == "" {
		if e.private, e.lock, err = privateFolder(); err != nil {
			return fmt.Errorf("make a private folder: %w", err)
		}
	}
	for name, dir := range map[string]*string{"input": &input, "output": &output, "temp": &temp} {
		if *dir == "" {
			*dir = filepath.Join(e.private, name)
		}
	}
	if e.user, err = folders.OpenUser(e.cfg.User, e.cfg.Logger); err == nil {
		e.files, err = node.OpenFiles(input, output, temp, e.cfg.Now)
	}
	if err != nil {
		err = errors.Join(err, e.user.Close())
		if e.private != "" {
			err = errors.Join(err, os.RemoveAll(e.private))
		}
	}
	return err
}

// ServeHTTP answers the protocol's routes, bare and under /api.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.handler.ServeHTTP(w, r) }

// ErrBusy is the answer of Close when a node goes on for longer than Close could wait.
var ErrBusy = errors.New("a node is still running")

// Close stops the running prompt at its next node, closes all sockets and waits, at most until ctx ends, for everything
// to be over: nodes are not interrupted, so what is left then is one of them (ErrBusy), which ends by itself or with the
// process. It is safe to call twice.
func (e *Engine) Close(ctx context.Context) error {
	e.once.Do(func() {
		e.stop()
		e.queue.close()
		over := make(chan struct{})
		go func() {
			<-e.done
			e.cleaning.Wait()
			e.hub.wait()
			close(over)
		}()
		select {
		case <-over:
		case <-ctx.Done():
			e.err = fmt.Errorf("comfy engine: close: %w: %w", ErrBusy, ctx.Err())
			return
		}
		e.err = errors.Join(e.files.Close(), e.user.Close())
		if e.private != "" {
			e.err = errors.Join(e.err, os.RemoveAll(e.private), e.lock.Close())
		}
	})
	return e.err
}

// work runs the queue's prompts one after the other until the engine is closed.
func (e *Engine) work(ctx context.Context) {
	defer close(e.done)
	results := newCache()
	for {
		it, ok := e.queue.next()
		if !ok {
			return
		}
		if e.queue.takeFree() {
			results = newCache()
		}
		began := e.cfg.Now()
		end := e.run(ctx, it, results)
		e.logs.add(fmt.Sprintf("Prompt executed in %.2f seconds", e.cfg.Now().Sub(began).Seconds()))
		e.queue.finish(it, end)
		e.hub.finished(it.id)
		if e.queue.takeFree() {
			results = newCache()
		}
	}
}

// run executes one prompt; a panic outside of any node, which would be a mistake in the engine, ends only this prompt.
func (e *Engine) run(ctx context.Context, it *item, results *cache) (end outcome) {
	r := newRun(e, it, results)
	defer func() {
		if p := recover(); p != nil {
			e.cfg.Logger.Error("prompt failed in the engine itself", "prompt_id", it.id, "panic", p, "stack", string(debug.Stack()))
			end = r.outcome(false)
		}
	}()
	return r.execute(ctx)
}
