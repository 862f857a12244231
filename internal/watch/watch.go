// Package watch tells when files change.
package watch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/signalbox/signalbox/internal/folder"
)

// Config says what a Watcher watches. Dirs and Changed are needed.
type Config struct {
	// Dirs are folders; they and their subfolders may come and go.
	Dirs []string
	// Files are single files outside of these folders; they may come and go, too.
	Files []string
	// Changed is called, never twice at once, after files were added, changed or removed.
	Changed func(context.Context)
	// Debounce is how long the files must be at rest before Changed is called; zero means 200 ms.
	// Files that are never at rest are looked at every ten times that.
	Debounce time.Duration
	// Poll is how often the folders are looked through whatever the system reports, since network
	// file systems report nothing; zero means 10 s.
	Poll time.Duration
	// PollOnly does without the system's reports.
	PollOnly bool
	Logger   *slog.Logger // nil: nothing is logged
}

const (
	defaultDebounce = 200 * time.Millisecond
	defaultPoll     = 10 * time.Second
	maxFolders      = 10_000
	maxWatchedFiles = 100_000
)

// Watcher tells when files in folders, or single ones, change (A45). What the system reports is only taken as a hint
// to look: a call of Changed always means that names, sizes or times differ from the last look.
type Watcher struct {
	config Config
	seen   [sha256.Size]byte
}

// New makes a Watcher and takes its first look. Changes count from here on, so make it before
// the files are loaded for the first time.
func New(c Config) *Watcher {
	if c.Debounce <= 0 {
		c.Debounce = defaultDebounce
	}
	if c.Poll <= 0 {
		c.Poll = defaultPoll
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	w := &Watcher{config: c}
	w.seen = w.look(context.Background())
	return w
}

// Run watches until ctx ends. It returns once no call of Changed is running any more.
func (w *Watcher) Run(ctx context.Context) {
	reports, stop := w.reports()
	defer stop()
	w.cover(reports)
	poll := time.NewTicker(w.config.Poll)
	defer poll.Stop()
	rest := time.NewTimer(0) // what happened before the folders were covered counts too
	defer rest.Stop()
	var restless time.Time // since when there was no rest
	for {
		select {
		case <-ctx.Done():
			return
		case <-reports.Events:
			if restless.IsZero() {
				restless = time.Now()
			}
			rest.Reset(min(w.config.Debounce, max(0, 10*w.config.Debounce-time.Since(restless))))
		case err := <-reports.Errors:
			w.config.Logger.Warn("watching folders", "error", err)
			rest.Reset(w.config.Debounce) // reports may have been lost
		case <-rest.C:
			restless = time.Time{}
			w.check(ctx, reports)
		case <-poll.C:
			w.check(ctx, reports)
		}
	}
}

// reports opens the system's source of reports. Without one polling does.
func (w *Watcher) reports() (reports *fsnotify.Watcher, stop func()) {
	if !w.config.PollOnly {
		opened, err := fsnotify.NewWatcher()
		if err == nil {
			return opened, func() { _ = opened.Close() }
		}
		w.config.Logger.Warn("the system reports no changes of files; looking regularly instead", "every", w.config.Poll, "error", err)
	}
	return &fsnotify.Watcher{}, func() {} // its channels are nil and never report
}

func (w *Watcher) check(ctx context.Context, reports *fsnotify.Watcher) {
	w.cover(reports) // before looking, so that nothing falls between
	if now := w.look(ctx); now != w.seen && ctx.Err() == nil {
		w.seen = now
		w.config.Changed(ctx)
	}
}

// cover asks for reports on all folders that are there, and for one that is missing on the nearest
// folder above it.
func (w *Watcher) cover(reports *fsnotify.Watcher) {
	if reports.Events == nil {
		return
	}
	wanted := make(map[string]bool)
	for _, dir := range w.config.Dirs {
		for _, folder := range foldersOf(dir) {
			wanted[folder] = true
		}
	}
	for _, file := range w.config.Files { // the folder's reports: those of a file end when another takes its place
		if above, ok := nearestFolder(filepath.Dir(file)); ok {
			wanted[above] = true
		}
	}
	covered := reports.WatchList()
	for _, folder := range covered {
		if !wanted[folder] {
			_ = reports.Remove(folder) // it may be gone, and its watch with it
		}
	}
	for folder := range wanted {
		if slices.Contains(covered, folder) {
			continue
		}
		if err := reports.Add(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.config.Logger.Warn("this folder is only looked at regularly", "folder", folder, "every", w.config.Poll, "error", err)
		}
	}
}

func foldersOf(dir string) []string {
	dir = filepath.Clean(dir)
	nearest, ok := nearestFolder(dir)
	if !ok {
		return nil
	}
	folders := []string{nearest}
	if nearest != dir {
		return folders
	}
	_ = folder.Walk(context.Background(), dir, func(relative string, entry fs.DirEntry) error {
		if entry.IsDir() && len(folders) < maxFolders {
			folders = append(folders, filepath.Join(dir, relative))
		}
		return nil
	})
	return folders
}

// nearestFolder is dir, or the nearest folder above it that is there.
func nearestFolder(dir string) (folder string, ok bool) {
	dir = filepath.Clean(dir)
	for !isFolder(dir) {
		above := filepath.Dir(dir)
		if above == dir {
			return "", false
		}
		dir = above
	}
	return dir, true
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// look makes a fingerprint of all files' names, sizes and times.
func (w *Watcher) look(ctx context.Context) (sum [sha256.Size]byte) {
	h := sha256.New()
	files := 0
	for i, dir := range w.config.Dirs {
		err := folder.Walk(ctx, dir, func(relative string, entry fs.DirEntry) error {
			if files++; files > maxWatchedFiles {
				return fmt.Errorf("more than %d files", maxWatchedFiles)
			}
			if entry.IsDir() {
				return nil
			}
			// Stat, not entry.Info: behind a symbolic link the file itself matters.
			if info, err := os.Stat(filepath.Join(dir, relative)); err == nil {
				fmt.Fprintln(h, i, relative, info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			w.config.Logger.Warn("looking through a folder", "folder", dir, "error", err)
			fmt.Fprintln(h, i, err)
		}
	}
	for _, file := range w.config.Files {
		if info, err := os.Stat(file); err == nil {
			fmt.Fprintln(h, file, info.Size(), info.ModTime().UnixNano())
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}
