//go:build unix && !linux

package postgres

import "os/exec"

// startTied starts the server such that it is shut down when this process
// ends, however it ends.
func startTied(cmd *exec.Cmd) (*process, error) { return startSupervised(cmd) }
