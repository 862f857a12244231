package postgrestest

import "golang.org/x/sys/unix"

// memoryDir returns the memory file system if it has room for a full test run.
// Containers often have one of 64 MB only.
func memoryDir() (string, bool) {
	const dir, room = "/dev/shm", 2 << 30
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil || unix.Access(dir, unix.W_OK|unix.X_OK) != nil {
		return "", false
	}
	return dir, stat.Bavail*uint64(stat.Bsize) >= room
}
