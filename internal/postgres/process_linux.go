package postgres

import (
	"os/exec"
	"runtime"
	"syscall"
)

// startTied starts the server such that the kernel shuts it down when this
// process ends, however it ends.
func startTied(cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGINT
	p := &process{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The signal comes when the thread that started the child ends, not the
		// process. So this thread must live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}
