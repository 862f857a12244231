package disk_test

import (
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/internal/disk"
)

func TestFree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, err := disk.Free(dir)
	if err != nil || one <= 0 {
		t.Fatalf("%d, %v", one, err)
	}
	if both, err := disk.Free("/proc", dir); err != nil || both > one { // nothing can be written into /proc
		t.Errorf("of two: %d, %v; of one %d", both, err, one)
	}
	if n, err := disk.Free(dir, filepath.Join(dir, "nowhere")); err == nil {
		t.Errorf("a folder that is not there: %d", n)
	}
}
