//go:build unix

package postgrestest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/postgres/cluster"
)

// memberDir in the environment turns this test binary into one more test
// program that uses the server in that folder.
const memberDir = "POSTGRESTEST_MEMBER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(memberDir); dir != "" {
		os.Exit(beMember(dir))
	}
	os.Exit(m.Run())
}

// beMember joins the server, reports its process and stays until killed or
// its standard input ends.
func beMember(dir string) int {
	user, err := cluster.ServerUser()
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	s, err := join(context.Background(), user, dir)
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	pid, _ := s.cluster.PID()
	fmt.Println("joined", pid)
	io.Copy(io.Discard, os.Stdin)
	return 0
}

func TestServerEndsWithItsLastUser(t *testing.T) {
	t.Parallel()
	need(t)
	dir := privateServerDir(t)
	starter, pid := startMember(t, dir)
	second, samePID := startMember(t, dir)
	if samePID != pid {
		t.Fatalf("two programs use servers %d and %d, want one", pid, samePID)
	}

	kill(t, starter)
	s := &server{cluster: &cluster.Cluster{Dir: dir}}
	if err := s.exec(t.Context(), "SELECT 1"); err != nil {
		t.Errorf("the server left the second program when the first was killed: %v", err)
	}
	kill(t, second)
	waitEnd(t, dir, pid)

	third, newPID := startMember(t, dir)
	if newPID == pid {
		t.Errorf("process %d serves again after its end", pid)
	}
	kill(t, third)
	waitEnd(t, dir, newPID)
}

func TestServerIsRebuiltAfterACrash(t *testing.T) {
	t.Parallel()
	need(t)
	dir := privateServerDir(t)
	member, pid := startMember(t, dir)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// Anyone who joins in the moment between the signal and the process' end takes the server for a sound one.
	if err := poll(t.Context(), 2*time.Minute, func() bool { return !cluster.Serving(pid) }); err != nil {
		t.Fatalf("server %d survives SIGKILL", pid)
	}
	kill(t, member)
	next, newPID := startMember(t, dir)
	kill(t, next)
	waitEnd(t, dir, newPID)
}

// TestServerEndsWithABackendThatDoesNot has a backend that heeds no signal: Postgres' own hang now and then when they are told to end while their client leaves.
func TestServerEndsWithABackendThatDoesNot(t *testing.T) {
	t.Parallel()
	need(t)
	dir := privateServerDir(t)
	member, pid := startMember(t, dir)
	s := &server{cluster: &cluster.Cluster{Dir: dir}}
	conn, err := s.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	backend := int(conn.PgConn().PID())
	if err := syscall.Kill(backend, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(backend, syscall.SIGCONT)
	kill(t, member)
	next, newPID := startMember(t, dir) // as the next package's tests do
	if newPID == pid {
		t.Errorf("process %d serves on after its end", pid)
	}
	kill(t, next)
	waitEnd(t, dir, newPID)
}

func TestManyStartTogether(t *testing.T) {
	t.Parallel()
	need(t)
	dir := privateServerDir(t)
	type member struct {
		cmd *exec.Cmd
		pid int
		err error
	}
	started := make(chan member)
	const programs = 4
	for range programs {
		go func() {
			cmd, pid, err := newMember(dir)
			started <- member{cmd, pid, err}
		}()
	}
	var members []member
	for range programs {
		members = append(members, <-started)
	}
	for _, m := range members {
		if m.err != nil || m.pid != members[0].pid {
			t.Errorf("a program uses server %d (%v), another %d: want one for all", m.pid, m.err, members[0].pid)
		}
		kill(t, m.cmd)
	}
	waitEnd(t, dir, members[0].pid)
}

// privateServerDir is a folder short enough for a socket and open enough for
// the server's user.
func privateServerDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(ScratchDir(), "pgtest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

func startMember(t *testing.T, dir string) (*exec.Cmd, int) {
	t.Helper()
	cmd, pid, err := newMember(dir)
	if err != nil {
		t.Fatal(err)
	}
	return cmd, pid
}

func newMember(dir string) (cmd *exec.Cmd, pid int, err error) {
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), memberDir+"="+dir)
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return cmd, 0, err
	}
	if _, err := fmt.Sscanf(line, "joined %d", &pid); err != nil {
		return cmd, 0, fmt.Errorf("the other program says %q", strings.TrimSpace(line))
	}
	return cmd, pid, nil
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Errorf("kill: %v", err)
	}
	cmd.Wait()
}

func waitEnd(t *testing.T, dir string, pid int) {
	t.Helper()
	s := &server{cluster: &cluster.Cluster{Dir: dir}}
	err := poll(t.Context(), 2*time.Minute, func() bool {
		holder, _ := s.cluster.PID()
		return holder == 0 && !cluster.Serving(pid)
	})
	if err != nil {
		t.Errorf("server %d still runs after its last user ended", pid)
	}
}
