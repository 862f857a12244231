package registrytest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Line is what lies between a provider and its service: an http.RoundTripper that lets the next requests go
// wrong as a test says and hands on all others. It is safe for concurrent use.
type Line struct {
	base http.RoundTripper

	mu     sync.Mutex
	faults []LineFault
	trips  int
}

// LineFault is what becomes of one request, which next would send on.
type LineFault func(r *http.Request, next http.RoundTripper) (*http.Response, error)

// NewLine makes a Line that sends by base, or by a transport of its own where base is nil.
func NewLine(t testing.TB, base http.RoundTripper) *Line {
	if base == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		t.Cleanup(own.CloseIdleConnections)
		base = own
	}
	return &Line{base: base}
}

// Client is a client that sends by the line.
func (l *Line) Client() *http.Client { return &http.Client{Transport: l} }

// Next lets the next requests meet these faults, one each, after any given before.
func (l *Line) Next(faults ...LineFault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, faults...)
}

// Clear takes back the faults that no request has met, and tells how many they are.
func (l *Line) Clear() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := len(l.faults)
	l.faults = nil
	return left
}

// Trips counts the requests so far.
func (l *Line) Trips() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trips
}

// RoundTrip sends a request on unless a fault waits for it.
func (l *Line) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	l.trips++
	var fault LineFault
	if len(l.faults) > 0 {
		fault, l.faults = l.faults[0], l.faults[1:]
	}
	l.mu.Unlock()
	if fault == nil {
		return l.base.RoundTrip(r)
	}
	return fault(r, l.base)
}

// Unreachable lets no request out.
func Unreachable(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
	closeBody(r)
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

// LoseAnswer lets a request have its effect and breaks the line before the answer.
func LoseAnswer(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	res, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	_ = res.Body.Close()
	return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
}

// CutAnswer lets a request have its effect and breaks the line in the middle of the answer.
func CutAnswer(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	res, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	begin := make([]byte, 1)
	n, _ := io.ReadFull(res.Body, begin)
	_ = res.Body.Close()
	res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(begin[:n]), brokenReader{}))
	return res, nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Stall answers nothing until the request's context ends.
func Stall(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
	closeBody(r)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Answer answers in place of the service; header is "Name: value" or empty.
func Answer(status int, header, body string) LineFault {
	return func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
		closeBody(r)
		h := http.Header{"Content-Type": {"application/json"}}
		if name, value, ok := strings.Cut(header, ": "); ok {
			h.Set(name, value)
		}
		return &http.Response{
			Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
		}, nil
	}
}

// Tell refuses with all that the request said, keys included, as careless services and proxies do.
func Tell(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	return Answer(http.StatusBadRequest, "", fmt.Sprint(r.URL, " ", r.Header))(r, next)
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}
