// Package folder walks folders of definitions.
package folder

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// Walk visits what is below dir in alphabetical order, by its path inside it, without anything whose name begins with a
// dot. A missing dir is empty; dir itself may be a symbolic link.
func Walk(ctx context.Context, dir string, visit func(relative string, entry fs.DirEntry) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	root, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // it went while we were looking
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case path == root:
			return nil
		case strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return visit(relative, entry)
	})
}
