//go:build unix

package main

import (
	"net"
	"sync"
	"time"
)

// link is the network between two programs: a TCP address whose connections go on to another one, and which can be cut, stopped and slowed.
type link struct {
	listener    net.Listener
	network, to string

	mu    sync.Mutex
	mode  mode
	mends chan struct{} // closed when what stands still may go on
	open  map[net.Conn]bool
	done  sync.WaitGroup
}

// mode is how a link is.
type mode int

const (
	well   mode = iota
	cut         // connections break, and new ones do at once
	silent      // nothing passes, and nobody is told
	slow        // each piece takes delay longer
)

const delay = 60 * time.Millisecond

func newLink(network, to string) (*link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{listener: listener, network: network, to: to, mends: make(chan struct{}), open: map[net.Conn]bool{}}
	l.done.Go(l.accept)
	return l, nil
}

func (l *link) address() string { return l.listener.Addr().String() }

func (l *link) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return // closed
		}
		l.done.Go(func() { l.join(near) })
	}
}

// join carries one connection until one of its ends closes it, or the link is cut.
func (l *link) join(near net.Conn) {
	defer near.Close()
	far, err := net.Dial(l.network, l.to)
	if err != nil {
		return
	}
	defer far.Close()
	defer l.leave(near, far)
	if !l.enter(near, far) {
		return
	}
	var ways sync.WaitGroup
	ways.Go(func() { l.carry(far, near) })
	ways.Go(func() { l.carry(near, far) })
	ways.Wait()
}

func (l *link) enter(ends ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, end := range ends {
		l.open[end] = true
	}
	return l.mode != cut
}

func (l *link) leave(ends ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, end := range ends {
		delete(l.open, end)
	}
}

// carry copies one way, and closes both ends when that way has ended: a program that is killed does so, too.
func (l *link) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		l.hold()
		if n > 0 {
			if _, err := to.Write(piece[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// hold keeps a piece for as long as the link is in no state to carry it.
func (l *link) hold() {
	l.mu.Lock()
	now, mends := l.mode, l.mends
	l.mu.Unlock()
	switch now {
	case silent:
		<-mends
	case slow:
		time.Sleep(delay)
	}
}

// set changes how the link is.
func (l *link) set(m mode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mode = m
	close(l.mends)
	l.mends = make(chan struct{})
	if m == cut {
		for end := range l.open {
			end.Close()
		}
	}
}

func (l *link) close() {
	l.listener.Close()
	l.set(cut)
	l.done.Wait()
}
