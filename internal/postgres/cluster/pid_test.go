//go:build unix

package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestPID(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, file string
		pid        int
		ready      bool
	}{
		{"no file", "", 0, false},
		{"starting", "123\n/data\n1700000000\n5432\n/run\n", 123, false},
		{"another state", "123\n/data\n1700000000\n5432\n/run\n\n1 2\nstarting\n", 123, false},
		{"ready", "123\n/data\n1700000000\n5432\n/run\n\n  1  2\nready   \n", 123, true},
		{"standalone", "-123\n/data\n", 0, false},
		{"nonsense", "hello\n", 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := clusterWithPIDFile(t, tc.file)
			if pid, ready := c.PID(); pid != tc.pid || ready != tc.ready {
				t.Errorf("PID: %d, %v, want %d, %v", pid, ready, tc.pid, tc.ready)
			}
		})
	}
}

func TestDisownKeepsTheRestOfTheNote(t *testing.T) {
	t.Parallel()
	const rest = "/data\n1700000000\n5432\n/run\n\n  1  2\nready   \n"
	c := clusterWithPIDFile(t, "123\n"+rest)
	if err := c.Disown(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(c.pidFile())
	if err != nil || string(raw) != nobodysPID+"\n"+rest {
		t.Errorf("the file holds %q (%v)", raw, err)
	}
	if pid, _ := c.PID(); Serving(pid) {
		t.Errorf("process %d is said to serve", pid)
	}
}

func TestServing(t *testing.T) {
	t.Parallel()
	if Serving(0) || Serving(-1) {
		t.Error("no process is said to serve")
	}
	ended := exec.Command("true")
	if err := ended.Start(); err != nil {
		t.Fatal(err)
	}
	defer ended.Wait()
	if runtime.GOOS != "linux" {
		t.Log("only Linux tells more about a process than that it exists")
		return
	}
	if Serving(os.Getpid()) {
		t.Error("this test is said to be a Postgres server")
	}
	if Serving(ended.Process.Pid) {
		t.Error("a process that ended is said to serve")
	}
}

func TestSocketDirOfALongPath(t *testing.T) {
	t.Parallel()
	long := &Cluster{Dir: "/" + strings.Repeat("long/", 30), User: User{Drop: true}}
	other := &Cluster{Dir: long.Dir + "other", User: User{Drop: true}}
	if dir := long.SocketDir(); !strings.HasPrefix(dir, "/tmp/") || len(filepath.Join(dir, socketFile)) > maxSocketPath {
		t.Errorf("socket folder %q, want a short one in /tmp", dir)
	}
	if long.SocketDir() == other.SocketDir() {
		t.Error("two clusters share a socket folder")
	}
}

func TestPrivateDirRefusesALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "run")
	if err := os.Symlink("/", link); err != nil {
		t.Fatal(err)
	}
	if err := (User{UID: uint32(os.Geteuid())}).privateDir(link); err == nil {
		t.Error("a link was taken for a folder of ours")
	}
}

func clusterWithPIDFile(t *testing.T, content string) *Cluster {
	t.Helper()
	c := &Cluster{Dir: t.TempDir(), User: User{UID: uint32(os.Geteuid())}}
	if err := os.Mkdir(c.DataDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if content != "" {
		if err := os.WriteFile(c.pidFile(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}
