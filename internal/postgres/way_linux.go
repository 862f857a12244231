package postgres

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// userTimeout bounds how long what was sent may stay unacknowledged, of which keep-alive takes no notice. Source: tcp(7), TCP_USER_TIMEOUT.
func userTimeout(_ context.Context, network, _ string, conn syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
	})
	return errors.Join(err, failed)
}
