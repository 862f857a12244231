package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
)

func TestServerStopsAtOnce(t *testing.T) {
	t.Parallel()
	streaming := make(chan struct{})
	s := New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(streaming)
		<-r.Context().Done()
	}), slog.New(slog.DiscardHandler))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- s.Serve(listener) }()
	silent, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	stream, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if _, err := io.WriteString(stream, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-streaming // connections are accepted in order: the silent one is there, too
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := <-over; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Error("the silent connection is open still")
	}
}

// TestPanicsAreLogged has a handler panic: the operator reads of it at the usual level, with its stack and without what was sent, and the next
// request is served.
func TestPanicsAreLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	mux := http.NewServeMux()
	mux.HandleFunc("POST /webhooks/{token}", func(http.ResponseWriter, *http.Request) { panic("no such place") })
	mux.HandleFunc("GET /gone", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	s := New(mux, slog.New(slog.NewTextHandler(&log, nil)))
	server := httptest.NewUnstartedServer(nil)
	server.Config = &s.Server
	server.Start()
	for range 2 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/webhooks/secret-token?key=secret-key", strings.NewReader("secret-body"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer secret-bearer")
		if res, err := http.DefaultClient.Do(req); err == nil {
			res.Body.Close()
			t.Errorf("it was answered: %s", res.Status)
		}
	}
	if res, err := http.Get(server.URL + "/gone"); err == nil {
		res.Body.Close()
		t.Error("it was answered")
	}
	server.Close()
	said := log.String()
	if strings.Count(said, "\n") != 2 || !strings.Contains(said, `level=ERROR msg="a request panicked" method=POST panic="no such place" stack=`) || strings.Contains(said, "secret") {
		t.Errorf("logged is\n%s", said)
	}
}

func TestSilentBodiesEnd(t *testing.T) {
	t.Parallel()
	read := make(chan error, 1)
	s := httptest.NewServer(patient(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/unread":
			return
		case "/answered": // more than what is kept until the handler is done
			w.Write(make([]byte, 10_000))
			return
		case "/closed":
			r.Body.Read(make([]byte, 10))
			r.Body.Close()
			return
		case "/slow":
			io.Copy(io.Discard, io.LimitReader(r.Body, 2))
			r.Body.Close()
			select {
			case <-r.Context().Done():
				read <- r.Context().Err()
			case <-time.After(150 * time.Millisecond):
				read <- nil
			}
			return
		}
		got, err := io.ReadAll(r.Body)
		if err == nil && r.Context().Err() != nil {
			err = r.Context().Err()
		}
		read <- err
		w.Write(got)
	}), 50*time.Millisecond))
	defer s.Close()
	ask := func(path, body string) net.Conn {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"+body)
		return conn
	}
	ended := func(conn net.Conn) {
		t.Helper()
		conn.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Errorf("the connection is not ended: %v", err)
		}
	}
	half := ask("/", "ab")
	var said *registry.Error
	if err := <-read; !errors.As(err, &said) || said.Code != registry.CodeInvalidInput {
		t.Errorf("half a body and then silence: %v", err)
	}
	ended(half)
	ended(ask("/unread", "ab"))
	ended(ask("/answered", "ab"))
	ended(ask("/closed", "ab")) // what comes later is no other request
	if ask("/slow", "abcd"); <-read != nil {
		t.Error("a handler that closed a whole body is canceled")
	}
	if ask("/", "abcd"); <-read != nil {
		t.Error("a whole body is refused")
	}
}
