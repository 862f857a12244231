package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
)

// Config is what a Registry is built of. Only Loaders is needed.
type Config struct {
	// Loaders are asked for tools. Where two loaders have a tool of one id or command, the earlier
	// one in this list wins.
	Loaders []registry.Loader
	Logger  *slog.Logger     // nil: nothing is logged
	Now     func() time.Time // nil: time.Now
	// OnSwap are called after a catalogue that differs from the one before was published, in order
	// and one at a time. See Registry.OnSwap.
	OnSwap []func(context.Context, Swap)
	// LoadTimeout bounds one Load; zero means a minute. A loader that does not even return then is
	// left alone until it does.
	LoadTimeout time.Duration
	// Parallel bounds how many loaders work at once; zero means 8.
	Parallel int
	// Reserved are commands that no tool gets, such as those of the platforms' own: "/settings".
	Reserved []string
	// ReservedPaths are addresses that no tool gets, and neither does one get what is below them, such as those of the
	// API's own: "/api/keys".
	ReservedPaths []string
	// Former are names that tools had elsewhere or once, with what is used instead, see Registry.Former.
	Former map[string]string
}

const (
	defaultLoadTimeout = time.Minute
	defaultParallel    = 8
	maxLoggedChanges   = 50 // of one swap
)

// Swap is the publication of a new catalogue. Old is the empty one at the first time, never nil.
type Swap struct {
	Old, New *Snapshot
	Diff     Diff
	At       time.Time
}

// LoaderStatus is how a loader fared.
type LoaderStatus struct {
	Name        string            `json:"name"`
	Tools       int               `json:"tools"`            // of its set that is in use
	LastOK      time.Time         `json:"lastOk,omitzero"`  // of its last complete Load
	LastTry     time.Time         `json:"lastTry,omitzero"` // of its last Load
	Took        time.Duration     `json:"tookNs,omitempty"`
	LastError   string            `json:"lastError,omitempty"`  // of the last Load; empty when it went well
	LastErrorAt time.Time         `json:"lastErrorAt,omitzero"` // stays when it goes well again
	KeptOld     bool              `json:"keptOld,omitempty"`    // the last Load failed and an older set is in use
	Problems    registry.Problems `json:"problems,omitempty"`   // definitions of the last Load that were refused
}

// Registry runs the loaders and publishes what they give as immutable Snapshots. Readers take no lock
// and never see half a reload.
type Registry struct {
	config  Config
	current atomic.Pointer[Snapshot]

	reloading sync.Mutex // held for a whole reload, so that swaps are told in order
	mu        sync.Mutex // guards what follows
	sets      map[string]*loaderSet
	hooks     map[int]func(context.Context, Swap)
	hookOrder []int
	nextHook  int
	renames   renames
	learned   bool // there are renames that are not published yet
}

// loaderSet is the last good set of one loader.
type loaderSet struct {
	tools  []registry.Tool
	status LoaderStatus
	busy   bool // a Load that outlived its time is still running
}

// New makes a Registry with an empty catalogue; Reload fills it. It refuses loaders without a name or
// with the same one.
func New(c Config) (*Registry, error) {
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.LoadTimeout <= 0 {
		c.LoadTimeout = defaultLoadTimeout
	}
	if c.Parallel <= 0 {
		c.Parallel = defaultParallel
	}
	r := &Registry{config: c, sets: make(map[string]*loaderSet), hooks: make(map[int]func(context.Context, Swap)), renames: newRenames()}
	for _, l := range c.Loaders {
		name := l.Name()
		if name == "" || r.sets[name] != nil {
			return nil, fmt.Errorf("registry: loader name %q is empty or taken by another loader", name)
		}
		r.sets[name] = &loaderSet{status: LoaderStatus{Name: name}}
	}
	for _, hook := range c.OnSwap {
		r.OnSwap(hook)
	}
	r.current.Store(NewSnapshot(nil, c.Now()))
	return r, nil
}

// Snapshot gives the present catalogue. Anyone who looks up more than once in one go should do so in one
// Snapshot.
func (r *Registry) Snapshot() *Snapshot { return r.current.Load() }

// OnSwap adds a function that is called after each catalogue that differs from the one before, in the
// goroutine of the Reload, one at a time and in the order they were added. It must not call Reload.
// A panic in it is logged and goes no further. The returned function removes it again.
func (r *Registry) OnSwap(hook func(context.Context, Swap)) (remove func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := r.nextHook
	r.nextHook++
	r.hooks[id] = hook
	r.hookOrder = append(r.hookOrder, id)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.hooks, id)
		r.hookOrder = slices.DeleteFunc(r.hookOrder, func(o int) bool { return o == id })
	}
}

// Reload asks the named loaders, or all where none is named, and publishes the catalogue that results.
// A loader that fails keeps its last good set, and a definition that is refused keeps the last good
// one of the same id from the same loader: the catalogue is published all the same. The error joins
// what failed: loaders, refused definitions, and claims to an id, command or path of another tool. The
// Diff tells what changed for readers. A tool that comes back under another id keeps its old id and
// command as aliases.
func (r *Registry) Reload(ctx context.Context, names ...string) (Diff, error) {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	loaders, err := r.choose(names)
	if err != nil {
		return Diff{}, err
	}
	failed := r.loadAll(ctx, loaders)
	before := r.current.Load()
	lost := r.publish(ctx)
	if r.hasLearned() {
		lost = r.publish(ctx)
	}
	return Compare(before, r.current.Load()), errors.Join(failed, lost.Err())
}

func (r *Registry) choose(names []string) ([]registry.Loader, error) {
	if len(names) == 0 {
		return r.config.Loaders, nil
	}
	var chosen []registry.Loader
	for _, l := range r.config.Loaders {
		if slices.Contains(names, l.Name()) {
			chosen = append(chosen, l)
		}
	}
	for _, name := range names {
		if r.sets[name] == nil { // the map's keys never change
			return nil, fmt.Errorf("registry: there is no loader %q", name)
		}
	}
	return chosen, nil
}

func (r *Registry) loadAll(ctx context.Context, loaders []registry.Loader) error {
	slots := make(chan struct{}, r.config.Parallel)
	failures := make([]error, len(loaders))
	var all sync.WaitGroup
	for i, l := range loaders {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := r.loadOne(ctx, l); err != nil {
				failures[i] = fmt.Errorf("loader %s: %w", l.Name(), err)
			}
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

type loaded struct {
	tools []registry.Tool
	err   error
}

// loadOne runs one loader and takes over what it gives.
func (r *Registry) loadOne(ctx context.Context, l registry.Loader) error {
	set := r.sets[l.Name()]
	start := r.config.Now()
	tools, err := r.call(ctx, l, set)
	var partial *registry.PartialError
	var problems registry.Problems
	if errors.As(err, &partial) {
		problems = asProblems(partial, l.Name(), "")
	} else if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		set.fail(err, start, r.config.Now())
		r.config.Logger.Warn("loader failed", "loader", l.Name(), "error", err, "tools_kept", len(set.tools))
		return err
	}
	r.mu.Lock()
	previous := set.tools
	r.mu.Unlock()
	good, refused := r.accept(l.Name(), tools, previous)
	problems = append(problems, refused...)
	r.mu.Lock()
	defer r.mu.Unlock()
	set.take(good, problems, start, r.config.Now())
	for _, p := range problems {
		r.config.Logger.Warn("definition refused", "loader", l.Name(), "problem", p.String())
	}
	return problems.Err()
}

// call runs Load with a bound in time and turns a panic into an error.
func (r *Registry) call(ctx context.Context, l registry.Loader, set *loaderSet) ([]registry.Tool, error) {
	if !r.setBusy(set, true) {
		return nil, errors.New("an earlier load is still running")
	}
	ctx, cancel := context.WithTimeout(ctx, r.config.LoadTimeout)
	answer := make(chan loaded, 1)
	go func() {
		defer cancel()
		result := loadSafely(ctx, l)
		r.setBusy(set, false) // before the answer, so that the next reload finds the loader free
		answer <- result
	}()
	select {
	case a := <-answer:
		return a.tools, a.err
	case <-ctx.Done():
	}
	select { // both may be there, and an answer is better
	case a := <-answer:
		return a.tools, a.err
	default:
		return nil, fmt.Errorf("no answer within %s: %w", r.config.LoadTimeout, ctx.Err())
	}
}

func (r *Registry) setBusy(set *loaderSet, busy bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if busy && set.busy {
		return false
	}
	set.busy = busy
	return true
}

func loadSafely(ctx context.Context, l registry.Loader) (result loaded) {
	defer func() {
		if p := recover(); p != nil {
			result = loaded{err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	tools, err := l.Load(ctx)
	return loaded{tools, err}
}

// accept validates what a loader gave. In place of a definition that is refused stays the last good
// one of the same id.
func (r *Registry) accept(loader string, tools, previous []registry.Tool) (good []registry.Tool, refused registry.Problems) {
	last := make(map[string]int, len(previous))
	for i, t := range previous {
		last[t.ToolID] = i
	}
	good = make([]registry.Tool, 0, len(tools))
	for _, t := range tools {
		prepared, err := prepare(t)
		if err == nil {
			good = append(good, prepared)
			continue
		}
		refused = append(refused, asProblems(err, loader, t.ToolID)...)
		if i, ok := last[t.ToolID]; ok {
			good = append(good, previous[i])
		}
	}
	return good, refused
}

// prepare makes a private, sealed copy of a valid tool.
func prepare(t registry.Tool) (registry.Tool, error) {
	t = t.Clone()
	if err := plainMetadata(&t); err != nil {
		return registry.Tool{}, err
	}
	if err := validate.Tool(t); err != nil {
		return registry.Tool{}, err
	}
	t.Incomplete = t.Incomplete || bare(&t)
	return t, t.Seal()
}

// bare reports whether a definition holds no more than id, service, name and an empty schema (A77).
func bare(t *registry.Tool) bool {
	return len(t.InputSchema) == 0 && len(t.OutputSchema) == 0 && t.Description == "" && t.CommandName == "" && t.CostingModel == nil
}

// plainMetadata lets loaders put any Go value into metadata: it becomes what its JSON form holds.
func plainMetadata(t *registry.Tool) error {
	if len(t.Metadata) == 0 {
		return nil
	}
	data, err := ordered.Marshal(t.Metadata)
	if err != nil {
		return registry.Problems{{ToolID: t.ToolID, Field: "metadata", Message: "cannot be written as JSON: " + err.Error()}}
	}
	v, err := ordered.Limits{Depth: ordered.MaxDepth - 1}.Parse(data) // a definition is around it, and it has to be readable again
	if err != nil {
		return registry.Problems{{ToolID: t.ToolID, Field: "metadata", Message: err.Error()}}
	}
	t.Metadata, _ = ordered.Plain(v).(map[string]any)
	return nil
}

func asProblems(err error, loader, toolID string) registry.Problems {
	var found registry.Problems
	if !errors.As(err, &found) {
		found = registry.Problems{{ToolID: toolID, Message: err.Error()}}
	}
	found = slices.Clone(found)
	for i := range found {
		found[i].Loader = loader
	}
	return found
}

func (s *loaderSet) fail(err error, start, end time.Time) {
	s.status.LastTry, s.status.Took = start, end.Sub(start)
	s.status.LastError, s.status.LastErrorAt = err.Error(), end
	s.status.KeptOld = len(s.tools) > 0
}

func (s *loaderSet) take(tools []registry.Tool, problems registry.Problems, start, end time.Time) {
	s.tools = tools
	s.status.Tools = len(tools)
	s.status.LastTry, s.status.Took = start, end.Sub(start)
	s.status.LastOK, s.status.KeptOld = end, false
	s.status.LastError, s.status.Problems = "", problems
	if len(problems) > 0 {
		s.status.LastError, s.status.LastErrorAt = problems.Error(), end
	}
}

// publish builds a catalogue of all sets, swaps it in and tells the hooks if it differs. It gives the
// claims that were lost.
func (r *Registry) publish(ctx context.Context) registry.Problems {
	before := r.current.Load()
	next, lost := r.build()
	diff := Compare(before, next)
	if renamed := diff.Renames(); len(renamed) > 0 {
		r.Learn(renamed...)
		next, lost = r.build()
		diff = Compare(before, next)
	}
	r.current.Store(next)
	for _, p := range lost {
		r.config.Logger.Warn("a tool does not get a name that it claims", "loader", p.Loader, "problem", p.String())
	}
	if !diff.Empty() {
		r.tell(ctx, Swap{before, next, diff, next.at})
	}
	return lost
}

func (r *Registry) build() (next *Snapshot, lost registry.Problems) {
	var candidates []candidate
	var problems registry.Problems
	r.mu.Lock()
	for _, l := range r.config.Loaders {
		set := r.sets[l.Name()]
		problems = append(problems, set.status.Problems...)
		for _, t := range set.tools {
			candidates = append(candidates, candidate{l.Name(), t})
		}
	}
	r.renames.apply(candidates)
	r.learned = false
	r.mu.Unlock()
	next = buildSnapshot(candidates, reserved{r.config.Reserved, r.config.ReservedPaths}, r.config.Now(), problems)
	return next, next.problems[len(problems):]
}

func (r *Registry) hasLearned() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.learned
}

func (r *Registry) tell(ctx context.Context, swap Swap) {
	lines := swap.Diff.Brief()
	if swap.Old.Len() == 0 || len(lines) > maxLoggedChanges {
		lines = nil
		r.config.Logger.Info("catalogue changed", "tools", swap.New.Len(),
			"added", len(swap.Diff.Added), "removed", len(swap.Diff.Removed), "changed", len(swap.Diff.Changed))
	}
	for _, line := range lines {
		r.config.Logger.Info("catalogue changed", "change", line)
	}
	if lines != nil && r.config.Logger.Enabled(ctx, slog.LevelDebug) {
		for _, line := range swap.Diff.Lines() {
			r.config.Logger.Debug("catalogue changed", "change", line)
		}
	}
	r.mu.Lock()
	hooks := make([]func(context.Context, Swap), len(r.hookOrder))
	for i, id := range r.hookOrder {
		hooks[i] = r.hooks[id]
	}
	r.mu.Unlock()
	for _, hook := range hooks {
		r.callHook(ctx, hook, swap)
	}
}

func (r *Registry) callHook(ctx context.Context, hook func(context.Context, Swap), swap Swap) {
	defer func() {
		if p := recover(); p != nil {
			r.config.Logger.Error("a swap hook panicked", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	hook(ctx, swap)
}

// Status tells how each loader fared, in the order of Config.Loaders (A40).
func (r *Registry) Status() []LoaderStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]LoaderStatus, len(r.config.Loaders))
	for i, l := range r.config.Loaders {
		all[i] = r.sets[l.Name()].status
		all[i].Problems = slices.Clone(all[i].Problems)
	}
	return all
}

// Reserved reports whether a command is one of those that no tool gets: see Config.Reserved.
func (r *Registry) Reserved(command string) bool {
	return reserved{commands: r.config.Reserved}.command(command)
}

// Problems lists everything that is wrong in the present catalogue: refused definitions and lost
// claims to ids, commands and paths.
func (r *Registry) Problems() registry.Problems { return r.Snapshot().Problems() }
