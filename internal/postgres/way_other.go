//go:build !linux

package postgres

import (
	"context"
	"syscall"
)

// userTimeout leaves to the kernel how long what was sent may stay unacknowledged.
func userTimeout(context.Context, string, string, syscall.RawConn) error { return nil }
