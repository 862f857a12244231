//go:build unix

package postgrestest

import "os"

// ScratchDir is where databases that nobody keeps are best made: a file system
// in memory if there is one with plenty of room, for a cluster has a thousand
// files, else the temporary folder. Other users can enter it.
func ScratchDir() string {
	if memory, ok := memoryDir(); ok {
		return memory
	}
	if os.Geteuid() == 0 {
		// TMPDIR may be root's alone, and root's servers run as somebody else.
		return "/tmp"
	}
	return os.TempDir()
}
