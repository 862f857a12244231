package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/signalbox/signalbox/registry"
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
		Handler: patient(h, bodySilence), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
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

// bodySilence is how long a request's body may bring nothing. Large files over slow lines bring little, but something.
const bodySilence = 30 * time.Second

// patient ends requests whose bodies fall silent: reading them fails, and their connection is closed. http.Server bounds
// only the whole of a body, which for large files would have to be hours.
func patient(next http.Handler, silence time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		body := &awaitedBody{ReadCloser: r.Body, control: http.NewResponseController(w), silence: silence}
		r.Body = body
		next.ServeHTTP(w, r)
		if !body.over { // the server reads on, to use the connection again
			_ = body.control.SetReadDeadline(time.Now().Add(silence))
		}
	})
}

// awaitedBody is a body each of whose reads must bring something within silence.
type awaitedBody struct {
	io.ReadCloser
	control *http.ResponseController
	silence time.Duration
	over    bool
}

func (b *awaitedBody) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(b.silence))
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = registry.Errorf(registry.CodeInvalidInput, "the request's body brought nothing for %v: send it again", b.silence)
	}
	if b.over = err != nil; !b.over || err == io.EOF {
		_ = b.control.SetReadDeadline(time.Time{}) // the handler may take its time
	}
	return n, err
}
