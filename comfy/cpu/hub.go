package cpu

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// How many frames, and how many bytes of them, may wait for a slow client before its connection is given up.
const (
	frameBacklog = 4096
	byteBacklog  = 64 << 20
)

// leaveGrace is how long a new connection waits for an older one of its id that may be ending just now. Without it a
// client that reconnects at once could be unregistered by the end of its own former connection.
const leaveGrace = 50 * time.Millisecond

// maxMessage bounds what a client may send in one message; only its feature flags are of interest.
const maxMessage = 1 << 20

// hub sends events to the connected clients.
type hub struct {
	ctx context.Context
	log *slog.Logger
	all sync.WaitGroup

	mu      sync.Mutex
	clients map[string]*client
	// runner is the client that the last prompt belongs to, "" for none; current is the node it executes.
	runner  string
	current string
}

// client is one connection.
type client struct {
	id       string
	out      chan frame
	waiting  atomic.Int64 // bytes in out
	cancel   context.CancelFunc
	gone     chan struct{} // closed when the connection has left
	metadata bool          // wants previews with metadata
	logs     bool          // wants the lines of the log
}

type frame struct {
	kind websocket.MessageType
	data []byte
}

func newHub(ctx context.Context, log *slog.Logger) *hub {
	return &hub{ctx: ctx, log: log, clients: map[string]*client{}}
}

// wait returns when all connections are over.
func (h *hub) wait() { h.all.Wait() }

func statusOf(remaining int) *pyval.Dict {
	return pyval.D("status", pyval.D("exec_info", pyval.D("queue_remaining", int64(remaining))))
}

func textFrame(event string, data any) frame {
	return frame{websocket.MessageText, []byte(pyval.Dumps(pyval.D("type", event, "data", data)))}
}

// broadcast sends an event to every client.
func (h *hub) broadcast(event string, data any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deliver("", textFrame(event, data))
}

// send sends an event to one client; id "" means everybody.
func (h *hub) send(id, event string, data any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listens(id) {
		h.deliver(id, textFrame(event, data))
	}
}

// wantLogs notes whether a client wants to hear the lines of the log.
func (h *hub) wantLogs(id string, want bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.clients[id]; c != nil {
		c.logs = want
	}
}

// sendLogs sends lines of the log to the clients that want them.
func (h *hub) sendLogs(lines *pyval.Dict) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, c := range h.clients {
		if c.logs {
			h.deliver(id, textFrame("logs", lines))
		}
	}
}

// heard reports whether anybody would get what is sent to id.
func (h *hub) heard(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listens(id)
}

func (h *hub) listens(id string) bool {
	return h.clients[id] != nil || (id == "" && len(h.clients) > 0)
}

func (h *hub) deliver(id string, f frame) {
	for _, c := range h.clients {
		if id != "" && c.id != id {
			continue
		}
		if !c.push(f) {
			h.log.Warn("a client reads too slowly; its connection is closed", "client_id", c.id)
			c.cancel()
		}
	}
}

// push queues a frame; false means that too much waits already.
func (c *client) push(f frame) bool {
	if c.waiting.Add(int64(len(f.data))) > byteBacklog {
		return false
	}
	select {
	case c.out <- f:
		return true
	default:
		return false
	}
}

// note sends a text about a node to everybody (binary event 3).
func (h *hub) note(nodeID, text string) {
	data := binary.BigEndian.AppendUint32(nil, 3)
	data = binary.BigEndian.AppendUint32(data, uint32(len(nodeID)))
	data = append(append(data, nodeID...), text...)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deliver("", frame{websocket.MessageBinary, data})
}

// preview sends a picture: event 4 with the metadata to clients that asked for it, else event 1.
func (h *hub) preview(id string, format node.PreviewFormat, picture []byte, metadata *pyval.Dict) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var data []byte
	if c := h.clients[id]; c != nil && c.metadata {
		text := pyval.Dumps(metadata)
		data = binary.BigEndian.AppendUint32(data, 4)
		data = binary.BigEndian.AppendUint32(data, uint32(len(text)))
		data = append(data, text...)
	} else {
		data = binary.BigEndian.AppendUint32(data, 1)
		data = binary.BigEndian.AppendUint32(data, uint32(format))
	}
	h.deliver(id, frame{websocket.MessageBinary, append(data, picture...)})
}

// started remembers whose prompt runs.
func (h *hub) started(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runner, h.current = id, ""
}

// executing tells the prompt's client which node runs, and remembers it for a reconnection.
func (h *hub) executing(nodeID, promptID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.runner == "" {
		return
	}
	h.current = nodeID
	h.deliver(h.runner, textFrame("executing", pyval.D("node", nodeID, "display_node", nodeID, "prompt_id", promptID)))
}

// ended forgets the node that runs.
func (h *hub) ended() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current = ""
}

// finished tells the prompt's client that it is over.
func (h *hub) finished(promptID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.runner != "" {
		h.deliver(h.runner, textFrame("executing", pyval.D("node", nil, "prompt_id", promptID)))
	}
}

// serve is one connection's life. A second connection with the same id takes the id over; the first stays open but hears
// nothing more, and when either ends the id is gone, as on the real server.
func (h *hub) serve(w http.ResponseWriter, r *http.Request, remaining func() int, features *pyval.Dict) {
	// Origins were judged by the guard in front of all routes.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	conn.SetReadLimit(maxMessage)
	h.all.Add(1)
	defer h.all.Done()
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	c := &client{id: r.URL.Query().Get("clientId"), out: make(chan frame, frameBacklog), cancel: cancel, gone: make(chan struct{})}
	if c.id == "" {
		c.id = strings.ReplaceAll(uuid.NewString(), "-", "")
	}
	h.await(ctx, c.id)
	h.join(c, remaining())
	defer h.leave(c)

	h.all.Go(func() {
		c.write(ctx, conn)
	})
	c.read(ctx, conn, h, features)
	cancel()
	_ = conn.CloseNow()
}

// await lets an older connection of the id leave, if it is about to.
func (h *hub) await(ctx context.Context, id string) {
	h.mu.Lock()
	older := h.clients[id]
	h.mu.Unlock()
	if older == nil {
		return
	}
	grace := time.NewTimer(leaveGrace)
	defer grace.Stop()
	select {
	case <-older.gone:
	case <-grace.C:
	case <-ctx.Done():
	}
}

func (h *hub) join(c *client, remaining int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	hello := statusOf(remaining)
	hello.Set("sid", c.id)
	c.push(textFrame("status", hello))
	if h.runner == c.id && h.current != "" {
		c.push(textFrame("executing", pyval.D("node", h.current)))
	}
	h.clients[c.id] = c
}

func (h *hub) leave(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, c.id)
	close(c.gone)
}

// write sends what waits, until the connection ends.
func (c *client) write(ctx context.Context, conn *websocket.Conn) {
	defer c.cancel()
	for {
		select {
		case <-ctx.Done():
			_ = conn.CloseNow()
			return
		case f := <-c.out:
			if conn.Write(ctx, f.kind, f.data) != nil {
				return
			}
			c.waiting.Add(-int64(len(f.data)))
		}
	}
}

// read listens for the feature flags, which only the first message may carry, and for the end.
func (c *client) read(ctx context.Context, conn *websocket.Conn, h *hub, features *pyval.Dict) {
	first := true
	for {
		kind, data, err := conn.Read(ctx)
		if err != nil {
			return
		}
		if kind != websocket.MessageText || !first {
			continue
		}
		message, err := pyval.Parse(data)
		d, ok := message.(*pyval.Dict)
		if err != nil || !ok {
			continue
		}
		first = false
		if d.At("type") != "feature_flags" {
			continue
		}
		flags, _ := d.At("data").(*pyval.Dict)
		h.mu.Lock()
		c.metadata = flags != nil && flags.At("supports_preview_metadata") == true
		c.push(textFrame("feature_flags", features))
		h.mu.Unlock()
	}
}
