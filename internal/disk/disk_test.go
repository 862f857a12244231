package disk_test

import (
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/internal/disk"
)

func TestFree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if n, err := disk.Free(dir); err != nil || n <= 0 {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := disk.Free(filepath.Join(dir, "nowhere")); err == nil {
		t.Errorf("a folder that is not there: %d", n)
	}
}
