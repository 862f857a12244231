package scaling

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"time"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/signature"
)

const (
	sendTimeout = 15 * time.Second
	keptOutput  = 500 // bytes of what a command says
)

// ToURL sends signals as POST with a signature of Standard Webhooks.
func ToURL(hooks *outbound.Hooks, address string, secret []byte) func(ctx context.Context, s Signal) error {
	return func(ctx context.Context, s Signal) error {
		data, err := json.Marshal(s)
		if err != nil {
			return err
		}
		return post(ctx, hooks, address, data, func(h http.Header) { signature.Sign(h, s.ID, s.At, data, secret) })
	}
}

// post sends JSON, and takes any answer of 200 to 299 for a yes.
func post(ctx context.Context, hooks *outbound.Hooks, address string, data []byte, head func(http.Header)) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(data))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	head(r.Header)
	res, err := hooks.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection can be used again
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("%w: it answered %d, expected 200", ErrRefused, res.StatusCode)
	}
	return nil
}

// ToCommand starts a program for each signal, which reads it from its standard input.
func ToCommand(command string) func(ctx context.Context, s Signal) error {
	return func(ctx context.Context, s Signal) error {
		data, err := json.Marshal(s)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, sendTimeout)
		defer cancel()
		c := exec.CommandContext(ctx, command)
		c.Stdin, c.WaitDelay = bytes.NewReader(data), time.Second
		said, err := c.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s: %w: %.*s", ErrRefused, command, err, keptOutput, said)
		}
		return nil
	}
}
