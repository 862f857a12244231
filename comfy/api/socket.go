package api

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/coder/websocket"
)

// maxFrame bounds one WebSocket frame: previews are at most 512 px, but SaveImageWebsocket sends whole
// pictures.
const maxFrame = 64 << 20

const dialTimeout = 15 * time.Second

// Binary event numbers of ComfyUI's socket.
const (
	binaryPreview         = 1
	binaryText            = 3
	binaryPreviewWithMeta = 4
)

// Event is one message of a server's socket. Members that the type does not have are zero.
type Event struct {
	Type     string // status, execution_start, execution_cached, executing, progress, progress_state, executed, execution_success, execution_error, execution_interrupted, preview, text
	PromptID string
	Node     string   // empty in an executing event: the prompt is over
	Nodes    []string // of execution_cached
	Value    float64  // of progress
	Max      float64
	States   map[string]NodeState // of progress_state
	Queue    int                  // of status: prompts running and pending
	Image    []byte               // of preview: JPEG or PNG
	Text     string               // of text
}

// NodeState is one node's part of a progress_state.
type NodeState struct {
	Value float64 `json:"value"`
	Max   float64 `json:"max"`
	State string  `json:"state"` // running, finished or error
}

// Socket is one WebSocket connection. Events that happen while nobody is connected are lost; after a
// connect, ask History and Queue.
type Socket struct {
	conn *websocket.Conn
}

// Dial connects as clientID: only prompts submitted with that id send their events here. Close the
// previous connection of an id first, since a server forgets the id when either of two closes.
func (c *Client) Dial(ctx context.Context, clientID string) (*Socket, error) {
	u := *c.base.JoinPath("/ws")
	u.RawQuery = url.Values{"clientId": {clientID}}.Encode()
	ctx, cancel := context.WithTimeout(ctx, dialTimeout) // of the handshake; the connection outlives it
	defer cancel()
	conn, _, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{HTTPClient: c.http})
	if err != nil {
		return nil, fmt.Errorf("connecting to the socket of %s: %w", c.base.Host, err)
	}
	conn.SetReadLimit(maxFrame)
	// Features are negotiated by the very first frame only.
	hello := []byte(`{"type":"feature_flags","data":{"supports_preview_metadata":true}}`)
	if err := conn.Write(ctx, websocket.MessageText, hello); err != nil {
		conn.CloseNow()
		return nil, fmt.Errorf("greeting the socket of %s: %w", c.base.Host, err)
	}
	return &Socket{conn: conn}, nil
}

// Close ends the connection without waiting for the server.
func (s *Socket) Close() { s.conn.CloseNow() }

// Read returns the next event that we know. It blocks until there is one, ctx ends, or the connection
// breaks. Frames that are malformed or unknown are passed over.
func (s *Socket) Read(ctx context.Context) (Event, error) {
	for {
		kind, data, err := s.conn.Read(ctx)
		if err != nil {
			return Event{}, err
		}
		var e Event
		var ok bool
		if kind == websocket.MessageBinary {
			e, ok = decodeBinary(data)
		} else {
			e, ok = DecodeText(data)
		}
		if ok {
			return e, nil
		}
	}
}

// DecodeText reads a text frame. ok is false for what is malformed or unknown.
func DecodeText(data []byte) (Event, bool) {
	var frame struct {
		Type string `json:"type"`
		Data struct {
			PromptID string          `json:"prompt_id"`
			Node     *string         `json:"node"`
			NodeID   string          `json:"node_id"`
			Value    float64         `json:"value"`
			Max      float64         `json:"max"`
			Nodes    json.RawMessage `json:"nodes"`
			Status   struct {
				ExecInfo struct {
					QueueRemaining int `json:"queue_remaining"`
				} `json:"exec_info"`
			} `json:"status"`
		} `json:"data"`
	}
	if decodeLoosely(data, &frame) != nil || frame.Type == "" {
		return Event{}, false
	}
	d := frame.Data
	e := Event{Type: frame.Type, PromptID: d.PromptID, Node: d.NodeID, Value: d.Value, Max: d.Max, Queue: d.Status.ExecInfo.QueueRemaining}
	if d.Node != nil {
		e.Node = *d.Node
	}
	switch frame.Type {
	case "execution_cached":
		return e, json.Unmarshal(d.Nodes, &e.Nodes) == nil
	case "progress_state":
		return e, json.Unmarshal(d.Nodes, &e.States) == nil
	}
	return e, true
}

// decodeBinary reads a big-endian frame and checks every length against the frame's own.
func decodeBinary(data []byte) (Event, bool) {
	kind, rest, ok := cutUint32(data)
	if !ok {
		return Event{}, false
	}
	switch kind {
	case binaryPreview:
		if _, image, ok := cutUint32(rest); ok {
			return Event{Type: "preview", Image: image}, true
		}
	case binaryText:
		if node, text, ok := cutSized(rest); ok {
			return Event{Type: "text", Node: string(node), Text: string(text)}, true
		}
	case binaryPreviewWithMeta:
		meta, image, ok := cutSized(rest)
		var m struct {
			NodeID   string `json:"node_id"`
			PromptID string `json:"prompt_id"`
		}
		if ok && json.Unmarshal(meta, &m) == nil {
			return Event{Type: "preview", Node: m.NodeID, PromptID: m.PromptID, Image: image}, true
		}
	}
	return Event{}, false
}

func cutUint32(b []byte) (uint32, []byte, bool) {
	if len(b) < 4 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint32(b), b[4:], true
}

func cutSized(b []byte) (head, rest []byte, ok bool) {
	n, b, ok := cutUint32(b)
	if !ok || uint64(n) > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}
