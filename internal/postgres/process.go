//go:build unix

package postgres

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// process is a running server.
type process struct {
	pid  int           // of the server itself
	done chan struct{} // closed when it has ended and been waited for
	err  error         // why it ended; set before done is closed
}

// end sends sig unless the process has ended, and reports whether it is gone
// before ctx is.
func (p *process) end(ctx context.Context, sig syscall.Signal) bool {
	select {
	case <-p.done:
		return true
	default:
	}
	// It fails only if the process has just ended, which done tells.
	_ = syscall.Kill(p.pid, sig)
	select {
	case <-p.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// supervisor runs a server ("$@") and shuts it down when its standard input
// ends, which is when the program that holds the other end is gone. It first
// prints the server's process id.
const supervisor = `
exec 9<&0 </dev/null
"$@" >&2 9<&- &
server=$!
echo "$server"
( cat <&9 >/dev/null; kill -INT "$server" ) >&2 &
watcher=$!
exec 9<&- >&2
wait "$server"
status=$?
kill "$watcher" 2>/dev/null
exit "$status"
`

// startSupervised starts the server under a shell that stops it when this
// process ends, however it ends. It works on every unix, at the price of that
// shell.
func startSupervised(cmd *exec.Cmd) (*process, error) {
	shell := exec.Command("/bin/sh", append([]string{"-c", supervisor, "signalbox-postgres"}, cmd.Args...)...)
	shell.Dir, shell.Env, shell.ExtraFiles, shell.SysProcAttr = cmd.Dir, cmd.Env, cmd.ExtraFiles, cmd.SysProcAttr
	shell.Stderr = cmd.Stderr
	stdin, err := shell.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := shell.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := shell.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	pid, convErr := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || convErr != nil {
		stdin.Close()
		return nil, fmt.Errorf("its supervisor answered %q: %w", line, shell.Wait())
	}
	p := &process{pid: pid, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = shell.Wait()
	}()
	return p, nil
}
