package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// server is an HTTP server that ends at once: event streams are ended, and nobody waits for connections on which nothing
// was asked yet, such as browsers open in advance. http.Server gives those five seconds.
type server struct {
	http.Server
	endStreams context.CancelFunc

	mu      sync.Mutex
	silent  map[net.Conn]struct{} // nothing was asked yet
	closing bool
}

func newServer(h http.Handler, log *slog.Logger) *server {
	base, cancel := context.WithCancel(context.Background())
	s := &server{endStreams: cancel, silent: make(map[net.Conn]struct{})}
	s.Server = http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return base },
		ConnState:   s.note,
	}
	return s
}

func (s *server) note(conn net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(s.silent, conn)
	case s.closing:
		conn.Close()
	default:
		s.silent[conn] = struct{}{}
	}
}

// stop ends the server; requests under way have until ctx ends.
func (s *server) stop(ctx context.Context) error {
	s.endStreams()
	s.mu.Lock()
	s.closing = true
	for conn := range s.silent {
		conn.Close()
	}
	s.mu.Unlock()
	return s.Shutdown(ctx)
}
