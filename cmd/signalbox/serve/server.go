// Package serve is how the program answers HTTP: servers that end at once, requests that must go on, and addresses as
// people read them.
package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/signalbox/signalbox/registry"
)

// Server is an HTTP server that ends at once: event streams are ended, and nobody waits for connections on which nothing
// was asked yet, such as browsers open in advance. http.Server gives those five seconds.
type Server struct {
	http.Server
	endStreams context.CancelFunc

	mu      sync.Mutex
	silent  map[net.Conn]struct{} // nothing was asked yet
	closing bool
}

// New makes a server. What the standard server has to say goes to the log when debugging.
func New(h http.Handler, log *slog.Logger) *Server {
	base, cancel := context.WithCancel(context.Background())
	s := &Server{endStreams: cancel, silent: make(map[net.Conn]struct{})}
	s.Server = http.Server{
		Handler: patient(guarded(h, log), bodySilence), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return base },
		ConnState:   s.note,
	}
	return s
}

// guarded has the log tell of a handler that panicked, by its stack and without the address: what is sent may be somebody's secret. The
// connection is cut off, as http.Server does it, which says so only when debugging.
func guarded(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p != http.ErrAbortHandler {
				log.ErrorContext(r.Context(), "a request panicked", "method", r.Method, "panic", p, "stack", string(debug.Stack()))
			}
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}

func (s *Server) note(conn net.Conn, state http.ConnState) {
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

// Stop ends the server; requests under way have until ctx ends.
func (s *Server) Stop(ctx context.Context) error {
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
// only the whole of a body, which for large files would have to be hours. The time runs from the start, since http.Server
// itself reads what a handler leaves. The request that http.Server knows keeps its own body: by that it tells whether a
// connection can be used again, and else what comes late of a body would be taken for the next request.
func patient(next http.Handler, silence time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			body := &awaitedBody{ReadCloser: r.Body, control: http.NewResponseController(w), silence: silence}
			body.wait()
			r = r.WithContext(r.Context())
			r.Body = body
		}
		next.ServeHTTP(w, r)
	})
}

// awaitedBody is a body each of whose reads must bring something within silence.
type awaitedBody struct {
	io.ReadCloser
	control *http.ResponseController
	silence time.Duration
}

func (b *awaitedBody) wait() { _ = b.control.SetReadDeadline(time.Now().Add(b.silence)) }

// over lets the handler take its time: the connection is watched from here on, and silent by right.
func (b *awaitedBody) over() { _ = b.control.SetReadDeadline(time.Time{}) }

func (b *awaitedBody) Read(p []byte) (int, error) {
	b.wait()
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == io.EOF:
		b.over()
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = registry.Errorf(registry.CodeInvalidInput, "the request's body brought nothing for %v: send it again", b.silence)
	}
	return n, err
}

// Close reads what is left of a small body.
func (b *awaitedBody) Close() error {
	b.wait()
	err := b.ReadCloser.Close()
	if err == nil {
		b.over()
	}
	return err
}
