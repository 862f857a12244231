package assets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	// stagingDir holds content that is being received.
	stagingDir = "tmp"
	// staleAfter is when a staged file's writer has surely been killed.
	staleAfter = 24 * time.Hour
)

// Folder is a Backend in a folder of the local disk. The content of hash abcd...
// is the file ab/cd/abcd..., so that no folder gets too many entries. A file
// under its final name is always whole and on disk.
type Folder struct {
	dir string
}

var _ Backend = (*Folder)(nil)

// OpenFolder returns the Backend in dir, which it makes if it does not exist,
// and clears away what killed programs left half-received.
func OpenFolder(dir string) (*Folder, error) {
	f := &Folder{dir: dir}
	if err := os.MkdirAll(f.staging(), 0o700); err != nil {
		return nil, fmt.Errorf("assets folder: %w", err)
	}
	if err := f.removeStale(time.Now().Add(-staleAfter)); err != nil {
		return nil, fmt.Errorf("assets folder: %w", err)
	}
	return f, nil
}

func (f *Folder) staging() string { return filepath.Join(f.dir, stagingDir) }

// path is the final place of hash, which the caller has checked.
func (f *Folder) path(hash string) string {
	return filepath.Join(f.dir, hash[:2], hash[2:4], hash)
}

// removeStale deletes staged files last written before limit.
func (f *Folder) removeStale(limit time.Time) error {
	entries, err := os.ReadDir(f.staging())
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || info.ModTime().After(limit) {
			// It is in use, or another program was faster.
			continue
		}
		if err := removeIfThere(filepath.Join(f.staging(), entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Stage implements Backend.
func (f *Folder) Stage(context.Context) (Staged, error) {
	file, err := os.CreateTemp(f.staging(), "receiving-")
	if err != nil {
		return nil, err
	}
	return &stagedFile{File: file, folder: f}, nil
}

// Open implements Backend.
func (f *Folder) Open(_ context.Context, hash string) (Content, error) {
	if !isHash(hash) {
		return nil, fmt.Errorf("%.80q: %w", hash, ErrNotFound)
	}
	file, err := os.Open(f.path(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", refOf(hash), ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Delete implements Backend.
func (f *Folder) Delete(_ context.Context, hash string) error {
	if !isHash(hash) {
		return nil
	}
	return removeIfThere(f.path(hash))
}

// stagedFile is a file in the staging folder.
type stagedFile struct {
	*os.File
	folder *Folder
}

// Commit implements Staged: content first, then its name, each on disk before
// the next step.
func (s *stagedFile) Commit(_ context.Context, hash string) error {
	if !isHash(hash) {
		return fmt.Errorf("%.80q is no hash", hash)
	}
	if err := s.Sync(); err != nil {
		return err
	}
	final := s.folder.path(hash)
	if err := s.folder.makeDirs(filepath.Dir(final)); err != nil {
		return err
	}
	if err := os.Rename(s.Name(), final); err != nil {
		return err
	}
	return syncDir(filepath.Dir(final))
}

// Discard implements Staged.
func (s *stagedFile) Discard() error {
	return errors.Join(s.Close(), removeIfThere(s.Name()))
}

// makeDirs makes the two levels above a file, durably when they are new.
func (f *Folder) makeDirs(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return errors.Join(syncDir(filepath.Dir(dir)), syncDir(f.dir))
}

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
