package bucket

import (
	"context"
	"net"
	"net/http"
	"time"
)

// transport makes connections that fail when nothing goes over them for a while, in the middle of content as well.
func transport(silence time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 16
	t.DisableCompression = true // an object's bytes are wanted as they are
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &lively{conn, silence}, nil
	}
	return t
}

// lively is a connection on which either direction keeps both alive: an answer is waited for while content is still sent.
type lively struct {
	net.Conn
	silence time.Duration
}

func (l *lively) Read(p []byte) (int, error) {
	if err := l.SetDeadline(time.Now().Add(l.silence)); err != nil {
		return 0, err
	}
	return l.Conn.Read(p)
}

func (l *lively) Write(p []byte) (int, error) {
	if err := l.SetDeadline(time.Now().Add(l.silence)); err != nil {
		return 0, err
	}
	return l.Conn.Write(p)
}
