package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// platform is where a third of the commands goes.
type platform interface {
	name() string
	// send gives the n-th command.
	send(n int) error
	// waits gives how long the answers took, once all are there, and what was doubled or lost.
	waits(ctx context.Context) ([]time.Duration, error)
}

// bare is a server that answers at once, asked at the pace of a platform while the load goes on: what it takes is
// the machine's share of everybody's waiting.
type bare struct {
	address string
	mu      sync.Mutex
	took    []time.Duration
}

func newBare(b *testing.B) *bare {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }))
	b.Cleanup(server.Close)
	return &bare{address: server.URL}
}

func (c *bare) name() string { return "bare" }

func (c *bare) send(int) error {
	began := time.Now()
	res, err := http.Get(c.address)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took = append(c.took, time.Since(began))
	return nil
}

func (c *bare) waits(context.Context) ([]time.Duration, error) { return c.took, nil }
