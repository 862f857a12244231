package registrytest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
)

// conformancePatience is how long the suites wait for something that should be quick.
const conformancePatience = 2 * time.Minute

// LoaderSetup makes what TestLoader tests.
type LoaderSetup struct {
	Loader registry.Loader // must have at least one tool
	// Break makes the source fail or go away, and Mend brings it back; nil where that cannot be.
	Break, Mend func()
}

// TestLoader is what every Loader must pass. setup is called for each part.
func TestLoader(t *testing.T, setup func(t *testing.T) LoaderSetup) {
	t.Helper()
	t.Run("A2 its tools are valid and of different ids", func(t *testing.T) {
		t.Parallel()
		l := setup(t).Loader
		name := l.Name()
		tools := load(t, l)
		if name == "" || l.Name() != name {
			t.Errorf("its name is %q, later %q; it must be there and stay", name, l.Name())
		}
		if len(tools) == 0 {
			t.Fatal("it has no tools")
		}
		seen := make(map[string]bool)
		for _, tool := range tools {
			if err := validate.Tool(tool); err != nil {
				t.Error(err)
			}
			if seen[tool.ToolID] {
				t.Errorf("%s is there twice", tool.ToolID)
			}
			seen[tool.ToolID] = true
		}
	})
	t.Run("A42 A90 loading again gives the same ids and content in the same order", func(t *testing.T) {
		t.Parallel()
		l := setup(t).Loader
		first, second := encode(t, load(t, l)), encode(t, load(t, l))
		if first != second {
			t.Errorf("differs:\n%s\n%s", first, second)
		}
	})
	t.Run("A16 its tools survive being written and read", func(t *testing.T) {
		t.Parallel()
		for _, tool := range load(t, setup(t).Loader) {
			once := encode(t, []registry.Tool{tool})
			back, err := registry.DecodeTools([]byte(once))
			if err != nil {
				t.Errorf("%s: %v", tool.ToolID, err)
			} else if twice := encode(t, back); twice != once {
				t.Errorf("%s changes:\n%s\n%s", tool.ToolID, once, twice)
			}
		}
	})
	t.Run("A42 what is done to the tools it gave does not come back", func(t *testing.T) {
		t.Parallel()
		l := setup(t).Loader
		tools := load(t, l)
		before := encode(t, tools)
		for i := range tools {
			spoil(&tools[i])
		}
		if after := encode(t, load(t, l)); after != before {
			t.Errorf("changed:\n%s\n%s", before, after)
		}
	})
	t.Run("A41 it may be called from many at once", func(t *testing.T) {
		t.Parallel()
		l := setup(t).Loader
		want := encode(t, load(t, l))
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				tools, err := l.Load(t.Context())
				if err != nil {
					t.Error(err)
				} else if got, err := encodeAll(tools); err != nil || got != want {
					t.Errorf("differs: %v\n%s\n%s", err, want, got)
				}
			})
		}
		all.Wait()
	})
	t.Run("it honours the end of its context", func(t *testing.T) {
		t.Parallel()
		l := setup(t).Loader
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		done := make(chan error, 1)
		go func() {
			_, err := l.Load(ctx)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil {
				t.Error("a load whose context has ended reports success")
			}
		case <-time.After(conformancePatience):
			t.Error("it goes on after its context has ended")
		}
	})
	t.Run("A40 it fails without a panic, and comes back", func(t *testing.T) {
		t.Parallel()
		s := setup(t)
		if s.Break == nil {
			t.Log("this loader's source cannot break")
			return
		}
		r := Registry(t, s.Loader)
		before := r.Snapshot().Hash()
		s.Break()
		if _, err := r.Reload(t.Context()); err == nil || strings.Contains(err.Error(), "panic: ") {
			t.Errorf("a broken source gives %v", err)
		}
		if r.Snapshot().Hash() != before {
			t.Error("the catalogue changed though the source is broken")
		}
		s.Mend()
		if _, err := r.Reload(t.Context()); err != nil || r.Snapshot().Hash() != before {
			t.Errorf("after mending: %v", err)
		}
	})
}

func load(t *testing.T, l registry.Loader) []registry.Tool {
	t.Helper()
	tools, err := l.Load(t.Context())
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return tools
}

func encode(t *testing.T, tools []registry.Tool) string {
	t.Helper()
	text, err := encodeAll(tools)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func encodeAll(tools []registry.Tool) (string, error) {
	var b strings.Builder
	for _, tool := range tools {
		data, err := registry.Encode(tool)
		if err != nil {
			return "", err
		}
		b.Write(data)
		b.WriteByte('\n')
	}
	return "[" + strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", ",\n") + "]", nil
}

// spoil writes into what a tool refers to.
func spoil(t *registry.Tool) {
	t.ToolID += "!"
	for i := range t.InputSchema {
		t.InputSchema[i].Name += "!"
		for j := range t.InputSchema[i].Choices {
			t.InputSchema[i].Choices[j].Value = "!"
		}
	}
	for i := range t.OutputSchema {
		t.OutputSchema[i].Name += "!"
	}
	for key := range t.Metadata {
		t.Metadata[key] = "!"
	}
	if t.CostingModel != nil {
		t.CostingModel.Rate = "999"
	}
	for i := range t.Aliases {
		t.Aliases[i] += "!"
	}
}
