package node_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/comfy/cpu/node"
)

func openFiles(t *testing.T) (*node.Files, string) {
	t.Helper()
	dir := t.TempDir()
	now := func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }
	f, err := node.OpenFiles(filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "temp"), now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, dir
}

func TestSaverCountsOn(t *testing.T) {
	t.Parallel()
	f, dir := openFiles(t)
	write := func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }
	for _, c := range []struct{ prefix, file, subfolder string }{
		{"a", "a_00001_.txt", ""}, {"a", "a_00002_.txt", ""}, {"sub/dir/b", "b_00001_.txt", "sub/dir"}, {"", "._00001_.txt", ""}, {"d/", "d_00001_.txt", ""},
		{"%width%x%height% %year%-%month%-%day% %hour%%minute%%second%", "7x9 2026-03-04 050607_00001_.txt", ""}, {"n%batch_num%", "n3_00001_.txt", ""},
	} {
		s, err := f.Saver(node.OutFolder, c.prefix, 7, 9)
		if err != nil {
			t.Fatal(err)
		}
		ref, err := s.Save(3, "txt", write)
		if err != nil || ref.Filename != c.file || ref.Subfolder != c.subfolder || ref.Type != node.OutFolder {
			t.Errorf("prefix %q: %+v, %v", c.prefix, ref, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "out", ref.Subfolder, ref.Filename)); err != nil {
			t.Error(err)
		}
	}
	plain, err := f.Saver(node.OutFolder, "a", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if ref, err := plain.SavePlain(0, "flac", write); err != nil || ref.Filename != "a_00003.flac" {
		t.Errorf("%+v, %v", ref, err)
	}
}

func TestSaverLeavesNothingBehindAFailure(t *testing.T) {
	t.Parallel()
	f, dir := openFiles(t)
	s, err := f.Saver(node.OutFolder, "a", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the encoder is broken")
	if _, err := s.Save(0, "png", func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "out")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestSaverRefusesToLeaveTheFolder(t *testing.T) {
	t.Parallel()
	f, _ := openFiles(t)
	for _, prefix := range []string{"../x", "/x/y", "a/../../x", ".."} {
		if _, err := f.Saver(node.OutFolder, prefix, 0, 0); err == nil || !strings.HasPrefix(err.Error(), "**** ERROR: Saving image outside the output folder is not allowed.") {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
}

func TestPreviewsOfOneRunShareAName(t *testing.T) {
	t.Parallel()
	f, _ := openFiles(t)
	run := f.ForRun()
	write := func(io.Writer) error { return nil }
	var names []string
	for _, files := range []*node.Files{run, run, f.ForRun()} {
		s, err := files.TempSaver(1, 1)
		if err != nil {
			t.Fatal(err)
		}
		ref, err := s.Save(0, "png", write)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, ref.Filename)
	}
	if strings.Replace(names[0], "00001", "00002", 1) != names[1] || !strings.HasSuffix(names[2], "_00001_.png") {
		t.Errorf("names %v", names)
	}
}

func TestAnnotatedNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		base   string
		folder node.Folder
	}{
		"a.png": {"a.png", node.InFolder}, "a.png [output]": {"a.png", node.OutFolder}, "a.png[temp]": {"a.pn", node.TempFolder}, "aé[input]": {"a", node.InFolder}, "[output]": {"", node.OutFolder},
		"a.png [foo]": {"a.png [foo]", node.InFolder},
	} {
		if base, folder := node.Annotated(name, node.InFolder); base != want.base || folder != want.folder {
			t.Errorf("%q: %q in %s", name, base, folder)
		}
	}
}

func TestCallReadsLargeSeeds(t *testing.T) {
	t.Parallel()
	c := node.NewCall(&node.Spec{}, nil, map[string]any{"n": int64(-1), "b": true})
	if c.Uint64("n") != 1<<64-1 || c.Int("b") != 1 || c.Float("n") != -1 || c.Int("absent") != 0 || c.Has("absent") {
		t.Error("numbers are misread")
	}
	if err := c.CheckSize(1, -1, 1); err == nil {
		t.Error("a negative size passes")
	}
	c.MaxPixels = 100
	for _, size := range [][3]int{{1, 101, 1}, {1 << 40, 1 << 40, 1 << 40}, {101, 1, 1}, {2, 1, 51}} {
		if c.CheckSize(size[0], size[1], size[2]) == nil {
			t.Errorf("%v passes", size)
		}
	}
	if err := c.CheckSize(1, 10, 10); err != nil {
		t.Error(err)
	}
}
