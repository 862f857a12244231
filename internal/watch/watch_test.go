package watch_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/watch"
)

// run runs a Watcher for the length of the test and gives what it tells.
func run(t *testing.T, c watch.Config) (changed <-chan struct{}) {
	t.Helper()
	told := make(chan struct{}, 100)
	c.Changed = func(context.Context) { told <- struct{}{} }
	w := watch.New(c)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return told
}

func wantTold(t *testing.T, changed <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-changed:
	case <-time.After(2 * time.Minute):
		t.Fatalf("not told of %s", what)
	}
}

func TestWatcher(t *testing.T) {
	t.Parallel()
	byReport := watch.Config{Debounce: 20 * time.Millisecond, Poll: time.Hour}
	byLooking := watch.Config{Debounce: time.Millisecond, Poll: 20 * time.Millisecond, PollOnly: true}
	for name, c := range map[string]watch.Config{"by the system's reports": byReport, "by looking": byLooking} {
		t.Run("A45 A76 files that come, change and go, "+name, func(t *testing.T) {
			t.Parallel()
			c := c // the two tests of one round need folders of their own
			c.Dirs = []string{t.TempDir()}
			file := filepath.Join(c.Dirs[0], "a.json")
			changed := run(t, c)
			write(t, file, "one")
			wantTold(t, changed, "a new file")
			write(t, file, "three")
			wantTold(t, changed, "a changed file")
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			wantTold(t, changed, "a removed file")
			write(t, filepath.Join(c.Dirs[0], "new", "deep", "b.json"), "x")
			wantTold(t, changed, "a file in a new folder")
		})
		t.Run("A45 a folder that appears later, "+name, func(t *testing.T) {
			t.Parallel()
			c := c // the two tests of one round need folders of their own
			c.Dirs = []string{filepath.Join(t.TempDir(), "not", "yet", "there")}
			changed := run(t, c)
			write(t, filepath.Join(c.Dirs[0], "a.json"), "one")
			wantTold(t, changed, "the folder")
			if err := os.RemoveAll(filepath.Dir(filepath.Dir(c.Dirs[0]))); err != nil {
				t.Fatal(err)
			}
			wantTold(t, changed, "the folder's end")
			write(t, filepath.Join(c.Dirs[0], "a.json"), "again")
			wantTold(t, changed, "the folder's return")
		})
		t.Run("A45 a single file, also when another takes its place, "+name, func(t *testing.T) {
			t.Parallel()
			c := c // the tests of one round need files of their own
			dir := t.TempDir()
			c.Files = []string{filepath.Join(dir, "tools.json")}
			changed := run(t, c)
			write(t, c.Files[0], "one")
			wantTold(t, changed, "the file")
			write(t, filepath.Join(dir, "tools.json.new"), "another")
			if err := os.Rename(filepath.Join(dir, "tools.json.new"), c.Files[0]); err != nil { // as editors do
				t.Fatal(err)
			}
			wantTold(t, changed, "the file in its place")
			write(t, c.Files[0], "three")
			wantTold(t, changed, "a change of that one")
			if err := os.Remove(c.Files[0]); err != nil {
				t.Fatal(err)
			}
			wantTold(t, changed, "the file's end")
			select {
			case <-changed:
				t.Error("told of a file beside it")
			default:
			}
		})
	}
	t.Run("A45 what happened between the first look and the start counts", func(t *testing.T) {
		t.Parallel()
		c := byReport
		c.Dirs = []string{t.TempDir()}
		told := make(chan struct{}, 1)
		c.Changed = func(context.Context) { told <- struct{}{} }
		w := watch.New(c)
		write(t, filepath.Join(c.Dirs[0], "a.json"), "one")
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.Run(ctx) })
		wantTold(t, told, "the early file")
		cancel()
		running.Wait()
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
