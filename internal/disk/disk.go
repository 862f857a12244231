// Package disk tells how much room there is for what a house keeps.
package disk

import (
	"fmt"
	"math"
	"syscall"
)

// Low is how many bytes of room are too few: a picture more, or what the database writes down between two checkpoints, and nothing is accepted any more.
const Low = 512 << 20

// Free is how many bytes the program can still write into folders, which have to exist: those of the fullest disk among theirs.
func Free(dirs ...string) (int64, error) {
	least := int64(math.MaxInt64)
	for _, dir := range dirs {
		var s syscall.Statfs_t
		if err := syscall.Statfs(dir, &s); err != nil {
			return 0, fmt.Errorf("room in %s: %w", dir, err)
		}
		least = min(least, int64(s.Bavail)*int64(s.Bsize))
	}
	return least, nil
}
