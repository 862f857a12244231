// Package disk tells how much room there is for what a house keeps.
package disk

import (
	"fmt"
	"syscall"
)

// Low is how many bytes of room are too few: a picture more, or what the database writes down between two checkpoints, and nothing is accepted any more.
const Low = 512 << 20

// Free is how many bytes the program can still write into a folder, which has to exist.
func Free(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("room in %s: %w", dir, err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
