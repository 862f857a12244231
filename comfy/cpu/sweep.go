package cpu

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

const (
	// spareFor is how long a file stays that nothing names: a prompt about to be sent may name an upload, one that ends its results.
	spareFor = time.Minute
	// forgetAfter is how long a transient engine remembers a prompt that nobody takes out of its history.
	forgetAfter = time.Hour
)

// keepClean sweeps as long as the engine works.
func (e *Engine) keepClean(ctx context.Context) {
	ticker := time.NewTicker(spareFor)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			e.queue.forgetBefore(e.cfg.Now().Add(-forgetAfter))
			e.sweep(spareFor)
		}
	}
}

// sweep deletes the files that no prompt which waits, runs or is remembered names, and that are older than spare.
func (e *Engine) sweep(spare time.Duration) {
	named := e.queue.texts()
	before := time.Now().Add(-spare)
	for _, folder := range []node.Folder{node.InFolder, node.OutFolder, node.TempFolder} {
		root := e.files.Root(folder)
		err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err != nil || info.ModTime().After(before) || strings.Contains(named, d.Name()) {
				return nil // it is needed, or somebody else was faster
			}
			return root.Remove(name)
		})
		if err != nil {
			e.cfg.Logger.Warn("files of the engine that nobody needs stay", "folder", string(folder), "error", err)
		}
	}
}

// forget takes a prompt out of the history. Of a transient engine what it made goes with it at once.
func (e *Engine) forget(id string) {
	made := e.queue.entry(id)
	e.queue.forget(id)
	if made == nil || !e.cfg.Transient {
		return
	}
	named := e.queue.texts()
	for _, f := range filesOf(made.end.outputs) {
		if root := e.files.Root(f.folder); root != nil && !strings.Contains(named, path.Base(f.name)) {
			_ = root.Remove(f.name) // it may be gone
		}
	}
}

type madeFile struct {
	folder node.Folder
	name   string
}

// filesOf are the files that a result names.
func filesOf(v any) (files []madeFile) {
	switch v := v.(type) {
	case *pyval.Dict:
		if v == nil {
			return nil
		}
		for _, key := range v.Keys() {
			files = append(files, filesOf(v.At(key))...)
		}
	case node.FileRef:
		files = []madeFile{{v.Type, path.Join(v.Subfolder, v.Filename)}}
	case []any:
		for _, item := range v {
			files = append(files, filesOf(item)...)
		}
	}
	return files
}

// texts is all that prompts say which wait, run or are remembered.
func (q *queue) texts() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	var b strings.Builder
	for _, it := range q.pending {
		b.WriteString(pyval.Dumps(it.prompt))
	}
	if q.running != nil {
		b.WriteString(pyval.Dumps(q.running.prompt))
	}
	for _, id := range q.history.Keys() {
		if en, ok := q.history.At(id).(*entry); ok {
			b.WriteString(pyval.Dumps(en.end.outputs))
		}
	}
	return b.String()
}

// forgetBefore takes what ended before a time out of the history.
func (q *queue) forgetBefore(limit time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range q.history.Keys() {
		if en, ok := q.history.At(id).(*entry); ok && en.at.Before(limit) {
			q.remove(id)
		}
	}
}

// stillThere reports whether the files that a result names are there, and keeps them from being swept for now.
func (e *Engine) stillThere(ui *pyval.Dict) bool {
	now := time.Now()
	for _, f := range filesOf(ui) {
		if root := e.files.Root(f.folder); root == nil || root.Chtimes(f.name, now, now) != nil {
			return false
		}
	}
	return true
}

const (
	privatePattern = "comfy-engine-*"
	lockName       = "lock"
	// strayAfter is how old a private folder without a lock must be to be that of a program that is gone.
	strayAfter = 24 * time.Hour
)

// privateFolder makes a folder for this engine alone, which goes with it. The lock tells others, by being held, that it is in use.
func privateFolder() (dir string, lock *os.File, err error) {
	removeStrays()
	if dir, err = os.MkdirTemp("", privatePattern); err != nil {
		return "", nil, err
	}
	// It has its name once it is held: another engine that starts takes a lock that nobody holds for that of a program that is gone.
	name := filepath.Join(dir, lockName)
	if lock, err = os.OpenFile(name+".new", os.O_CREATE|os.O_RDWR, 0o600); err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	return dir, lock, err
}

// removeStrays deletes the private folders of engines that were killed. Those of others can't be opened.
func removeStrays() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), privatePattern))
	for _, dir := range dirs {
		lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
		if err != nil {
			if info, gone := os.Lstat(dir); os.IsNotExist(err) && gone == nil && info.IsDir() && time.Since(info.ModTime()) > strayAfter {
				os.RemoveAll(dir)
			}
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.RemoveAll(dir)
		}
		lock.Close()
	}
}
