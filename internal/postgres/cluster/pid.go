//go:build unix

package cluster

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// nobodysPID is a number that Postgres accepts as a process id and that no
// system gives to a process.
const nobodysPID = "2147483647"

// pidFile is where the server notes its process and its state. Its lines are:
// process id, data directory, start time, port, socket folder, listen address,
// shared memory, status.
func (c *Cluster) pidFile() string { return filepath.Join(c.DataDir(), "postmaster.pid") }

// PID reports which process holds the data directory and whether it says that
// it takes connections. It is 0 when none does. The process may be long dead:
// see Serving.
func (c *Cluster) PID() (pid int, ready bool) {
	raw, err := os.ReadFile(c.pidFile())
	if err != nil {
		return 0, false
	}
	lines := strings.Split(string(raw), "\n")
	pid, err = strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 0 {
		return 0, false
	}
	return pid, len(lines) >= 8 && strings.TrimSpace(lines[7]) == "ready"
}

// Disown strikes a dead server's process id from its note, keeping the rest,
// and removes its claim on the socket. Postgres would refuse to start if
// another process had the id by now, as happens after a container's restart;
// from the rest it still sees whether some of the dead server's children are
// alive. Call it only while no server can be running.
func (c *Cluster) Disown() error {
	if err := os.Remove(filepath.Join(c.SocketDir(), socketFile+".lock")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	raw, err := os.ReadFile(c.pidFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, rest, _ := bytes.Cut(raw, []byte("\n"))
	edited := c.pidFile() + ".tmp"
	if err := os.WriteFile(edited, append([]byte(nobodysPID+"\n"), rest...), 0o600); err != nil {
		return err
	}
	if err := c.User.own(edited); err != nil {
		return err
	}
	return os.Rename(edited, c.pidFile())
}

// Serving reports whether the process pid exists and may be a Postgres server.
// Where the system tells more about processes, one that has ended without its
// parent noticing is none, nor is one with another program's name.
func Serving(pid int) bool {
	if pid <= 0 {
		return false
	}
	if err := syscall.Kill(pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	// It reads "123 (postgres) S ..."; the name may hold parentheses itself.
	open, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 0 || end < open || end+2 >= len(raw) {
		return true
	}
	name, state := string(raw[open+1:end]), raw[end+2]
	return state != 'Z' && state != 'X' && (name == "postgres" || name == "postmaster")
}
