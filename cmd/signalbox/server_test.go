package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

func TestServerStopsAtOnce(t *testing.T) {
	t.Parallel()
	streaming := make(chan struct{})
	s := newServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
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
	if err := s.stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := <-over; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Error("the silent connection is open still")
	}
}
