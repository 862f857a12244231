package comfytest

import (
	"net"
	"sync"
)

// Down makes the server unreachable: connections are refused and open ones break. The process lives on.
func (s *Server) Down() {
	s.door.shut(true)
	s.CutSockets()
	s.http.CloseClientConnections()
}

// Up ends Down.
func (s *Server) Up() { s.door.shut(false) }

// door is a listener that can be shut: it then drops everybody who comes.
type door struct {
	net.Listener

	mu     sync.Mutex
	closed bool
}

func (d *door) shut(closed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = closed
}

func (d *door) isShut() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed
}

// Accept gives the next connection made while the door is open.
func (d *door) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil || !d.isShut() {
			return conn, err
		}
		_ = conn.Close()
	}
}
