//go:build unix

package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// User is whom the server runs as.
type User struct {
	Name     string
	UID, GID uint32
	// Drop is true when we are root and must give up its rights for the server.
	Drop bool
}

// ServerUser returns the current user, or for root the first of the users that
// need no rights of their own and exist on this machine. initdb insists on a
// user that the machine's user list knows.
func ServerUser() (User, error) {
	if uid := os.Geteuid(); uid != 0 {
		return User{UID: uint32(uid), GID: uint32(os.Getegid())}, nil
	}
	for _, name := range []string{"postgres", "_postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		// Ids are 32 bits wide; "nobody" is 4294967294 on some systems.
		uid, uidErr := strconv.ParseInt(u.Uid, 10, 64)
		gid, gidErr := strconv.ParseInt(u.Gid, 10, 64)
		if uidErr == nil && gidErr == nil {
			return User{Name: name, UID: uint32(uid), GID: uint32(gid), Drop: true}, nil
		}
	}
	return User{}, errors.New("as root Postgres must run as another user, but this machine has neither postgres nor nobody: " +
		"create one, start as another user, or set DATABASE_URL")
}

// UserFor returns whom the server of the cluster in dir runs as: for root the
// owner of the data that is there already, since no other user can serve it,
// and otherwise what ServerUser says.
func UserFor(dir string) (User, error) {
	info, err := os.Stat(filepath.Join(dir, "data"))
	if errors.Is(err, os.ErrNotExist) {
		return ServerUser()
	}
	if err != nil {
		return User{}, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || stat.Uid == 0:
		return ServerUser()
	case os.Geteuid() == 0:
		name := "of id " + strconv.FormatUint(uint64(stat.Uid), 10)
		return User{Name: name, UID: stat.Uid, GID: stat.Gid, Drop: true}, nil
	case stat.Uid != uint32(os.Geteuid()):
		return User{}, fmt.Errorf("%s belongs to another user (id %d): start as that user or as root, or give this one another DATA_DIR",
			filepath.Join(dir, "data"), stat.Uid)
	}
	return ServerUser()
}

// credential is what a child process needs to become u, nil if it already is.
func (u User) credential() *syscall.Credential {
	if !u.Drop {
		return nil
	}
	return &syscall.Credential{Uid: u.UID, Gid: u.GID}
}

// own makes path belong to u.
func (u User) own(path string) error {
	if !u.Drop {
		return nil
	}
	return os.Chown(path, int(u.UID), int(u.GID))
}

// CanReach reports whether u may enter dir and every folder above it, judged
// by the permission bits alone. Without Drop the answer is yes: we are u.
func (u User) CanReach(dir string) bool {
	if !u.Drop {
		return true
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	for {
		info, err := os.Stat(real)
		if err != nil || !u.mayEnter(info) {
			return false
		}
		parent := filepath.Dir(real)
		if parent == real {
			return true
		}
		real = parent
	}
}

// mayEnter applies the search bit of the class that u falls into.
func (u User) mayEnter(info os.FileInfo) bool {
	mode := info.Mode().Perm()
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return false
	case stat.Uid == u.UID:
		return mode&0o100 != 0
	case stat.Gid == u.GID:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}

// privateDir makes sure that path is a folder that only u (and root) can use.
// A folder of somebody else, or a link, is refused: it may be a trap.
func (u User) privateDir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || stat.Uid != u.UID && stat.Uid != uint32(os.Geteuid()) {
		return fmt.Errorf("%s is not a folder of ours: remove it", path)
	}
	if err := u.own(path); err != nil {
		return err
	}
	return os.Chmod(path, 0o700)
}
