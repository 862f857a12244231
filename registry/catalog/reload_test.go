package catalog_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/watch"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

func TestReloadOfFiles(t *testing.T) {
	t.Parallel()
	t.Run("A45 a dropped definition is served without restart", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		r := newRegistry(t, catalog.Config{Loaders: []registry.Loader{catalog.NewFileLoader("tools", dir)}})
		served := make(chan int, 10)
		r.OnSwap(func(_ context.Context, s catalog.Swap) { served <- s.New.Len() })
		w := watch.New(watch.Config{Dirs: []string{dir}, Debounce: 10 * time.Millisecond, Changed: func(ctx context.Context) { _, _ = r.Reload(ctx) }})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.Run(ctx) })
		write(t, filepath.Join(dir, "a.json"), mustEncode(t, simple("a")))
		select {
		case n := <-served:
			if n != 1 {
				t.Errorf("%d tools", n)
			}
		case <-time.After(2 * time.Minute):
			t.Error("not served")
		}
		cancel()
		running.Wait()
	})
}
