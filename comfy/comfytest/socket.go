package comfytest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Frame is one message from the server to a client.
type Frame struct {
	Type   string // of a text frame: status, executing, ...; "binary" for the others
	Binary bool
	Data   []byte
}

// socket is one client's connection with the engine's behind it.
type socket struct {
	id   string
	cut  context.CancelFunc
	done chan struct{}
}

// OnFrames has every frame to every client pass through change, which gives what is to be sent in its place. It is called
// by one goroutine at a time; nil ends it. See Drop, Repeat, Swap and Silence.
func (s *Server) OnFrames(change func(Frame) []Frame) {
	var mu sync.Mutex
	s.mu.Lock()
	defer s.mu.Unlock()
	if change == nil {
		s.frames = nil
		return
	}
	s.frames = func(f Frame) []Frame {
		mu.Lock()
		defer mu.Unlock()
		return change(f)
	}
}

// Silence loses every frame while the connections stay open.
func Silence(Frame) []Frame { return nil }

// Repeat sends every frame twice.
func Repeat(f Frame) []Frame { return []Frame{f, f} }

// Drop loses the frames of the given types.
func Drop(types ...string) func(Frame) []Frame {
	return func(f Frame) []Frame {
		if slices.Contains(types, f.Type) {
			return nil
		}
		return []Frame{f}
	}
}

// Swap sends every second frame before the one that came first. An odd last one is lost.
func Swap() func(Frame) []Frame {
	var first *Frame
	return func(f Frame) []Frame {
		if first == nil {
			first = &f
			return nil
		}
		pair := []Frame{f, *first}
		first = nil
		return pair
	}
}

// CutSockets breaks all sockets. It returns when they are gone.
func (s *Server) CutSockets() {
	s.mu.Lock()
	open := slices.Collect(maps.Keys(s.sockets))
	s.mu.Unlock()
	for _, k := range open {
		k.cut()
		<-k.done
	}
}

// Sockets counts the open sockets.
func (s *Server) Sockets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

// join registers a socket. A second one of the same client fails the test unless the first is about to end, since
// closing either would make a real server forget both.
func (s *Server) join(k *socket) {
	s.mu.Lock()
	var rival *socket
	for other := range s.sockets {
		if other.id == k.id {
			rival = other
		}
	}
	s.sockets[k] = true
	s.mu.Unlock()
	if rival == nil {
		return
	}
	select {
	case <-rival.done:
	case <-time.After(5 * time.Second): // who closes one is not heard at once where the machine is busy; one that is in use stays
		s.t.Errorf("comfytest: a second socket of client %s while the first is open", k.id)
	}
}

func (s *Server) leave(k *socket) {
	s.mu.Lock()
	delete(s.sockets, k)
	s.mu.Unlock()
	close(k.done)
}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	k := &socket{id: r.URL.Query().Get("clientId"), cut: cancel, done: make(chan struct{})}
	s.join(k)
	defer s.leave(k)
	client, err := websocket.Accept(w, r, nil)
	if err != nil {
		s.t.Errorf("comfytest: GET /ws: %v", err)
		return
	}
	defer client.CloseNow()
	engine, _, err := websocket.Dial(ctx, s.raw.URL+"/ws?"+r.URL.RawQuery, nil)
	if err != nil {
		return // the server ends
	}
	defer engine.CloseNow()
	engine.SetReadLimit(-1)
	var both sync.WaitGroup
	both.Go(func() { defer cancel(); s.listen(ctx, client, engine) })
	both.Go(func() { defer cancel(); s.tell(ctx, engine, client) })
	both.Wait()
}

// listen carries what the client says, of which only the first message may count.
func (s *Server) listen(ctx context.Context, client, engine *websocket.Conn) {
	for first := true; ; first = false {
		kind, data, err := client.Read(ctx)
		if err != nil {
			return
		}
		var m struct {
			Type string `json:"type"`
		}
		if first && (kind != websocket.MessageText || json.Unmarshal(data, &m) != nil || m.Type != "feature_flags") {
			s.t.Errorf("comfytest: the first message of a socket is %.100q, features can be negotiated only there", data)
		}
		if engine.Write(ctx, kind, data) != nil {
			return
		}
	}
}

// tell carries what the engine says, changed as scripted.
func (s *Server) tell(ctx context.Context, engine, client *websocket.Conn) {
	for {
		kind, data, err := engine.Read(ctx)
		if err != nil {
			return
		}
		f := Frame{Type: "binary", Binary: kind == websocket.MessageBinary, Data: data}
		if !f.Binary {
			var m struct {
				Type string `json:"type"`
			}
			_ = json.Unmarshal(data, &m) // the engine writes JSON
			f.Type = m.Type
		}
		s.mu.Lock()
		change := s.frames
		s.mu.Unlock()
		out := []Frame{f}
		if change != nil {
			out = change(f)
		}
		for _, f := range out {
			if client.Write(ctx, kindOf(f), f.Data) != nil {
				return
			}
		}
	}
}

func kindOf(f Frame) websocket.MessageType {
	if f.Binary {
		return websocket.MessageBinary
	}
	return websocket.MessageText
}
