package folder_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/internal/folder"
)

func TestWalk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, file := range []string{"real/b.json", "real/a/z.json", "real/.git/x.json", "real/.tmp"} {
		file = filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	walk := func(ctx context.Context, name string) (seen []string, err error) {
		err = folder.Walk(ctx, filepath.Join(dir, name), func(relative string, _ fs.DirEntry) error {
			seen = append(seen, relative)
			return nil
		})
		return seen, err
	}
	for name, want := range map[string][]string{
		"real": {"a", filepath.Join("a", "z.json"), "b.json"},
		"link": {"a", filepath.Join("a", "z.json"), "b.json"},
		"none": nil,
	} {
		if seen, err := walk(t.Context(), name); err != nil || !slices.Equal(seen, want) {
			t.Errorf("%s: %q, %v; want %q", name, seen, err, want)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := walk(ended, "real"); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}
