package cpu_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"

	"github.com/signalbox/signalbox/comfy/cpu"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/nodes"
)

// patience is how long a test waits for something that must happen.
const patience = 2 * time.Minute

// line is one line of a recorded conversation.
type line struct {
	N    int             `json:"n"`
	Who  string          `json:"who"`
	Dir  string          `json:"dir"`
	Type string          `json:"type"`
	Body json.RawMessage `json:"body"`
}

// event reads a text frame of the recording.
func (l line) event(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	if err := decodeJSON(l.Body, &v); err != nil {
		t.Fatalf("line %d: %s", l.N, err)
	}
	return v
}

// gate holds nodes back while the recording does something else in the middle of a run: this engine is much faster than
// the recorded one.
type gate struct {
	mu    sync.Mutex
	held  map[string]chan struct{} // by node id
	armed []string                 // held nodes whose "executing" was heard: the next frame of the run lets them go on
}

// wrap makes every node pass the gate before it runs.
func (g *gate) wrap(all []node.Node) []node.Node {
	for i := range all {
		run := all[i].Run
		all[i].Run = func(ctx context.Context, c *node.Call) (*node.Result, error) {
			g.mu.Lock()
			wait := g.held[c.NodeID]
			g.mu.Unlock()
			if wait != nil {
				select {
				case <-wait:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			return run(ctx, c)
		}
	}
	return all
}

// arm notes that a node has begun.
func (g *gate) arm(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held[id] != nil {
		g.armed = append(g.armed, id)
	}
}

// open lets go on the nodes that have begun.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range g.armed {
		close(g.held[id])
		delete(g.held, id)
	}
	g.armed = nil
}

// remove lets all nodes pass from now on.
func (g *gate) remove() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, wait := range g.held {
		close(wait)
		delete(g.held, id)
	}
	g.armed = nil
}

// gated finds the nodes after whose "executing" the recording does something before it listens on.
func gated(t testing.TB, lines []line) map[string]chan struct{} {
	held := map[string]chan struct{}{}
	for i, l := range lines[:len(lines)-1] {
		if l.Dir != "recv" || l.Type != "text" || lines[i+1].Dir == "recv" {
			continue
		}
		if e := l.event(t); e["type"] == "executing" {
			if id, ok := e["data"].(map[string]any)["node"].(string); ok {
				held[id] = make(chan struct{})
			}
		}
	}
	return held
}

// socket is one connection of a conversation; frames that any order is right for are set apart.
type socket struct {
	conn   *websocket.Conn
	frames chan received
	status []any                     // remaining prompts, as told
	nodes  map[string]map[string]any // last progress_state by prompt
	last   map[string]any            // last progress by node
}

type received struct {
	event  map[string]any
	binary []byte
}

func TestGoldenProtocol(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(shared(t, "corpus", "golden", "protocol"), "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var lines []line
			for text := range bytes.SplitSeq(bytes.TrimSpace(data), []byte("\n")) {
				var l line
				if err := json.Unmarshal(text, &l); err != nil {
					t.Fatal(err)
				}
				lines = append(lines, l)
			}
			g := &gate{held: gated(t, lines)}
			c := &conversation{gate: g, dir: filepath.Dir(file), sockets: map[string]*socket{}, ids: map[string]string{}, owed: map[string]map[string]any{}}
			c.server = newServer(t, cpu.Config{Nodes: g.wrap(nodes.All())})
			t.Cleanup(g.remove)
			for from, to := range map[string]string{"px1.png": "vanish.png", "grad48x32.png": "grad48x32.png"} {
				copyFile(t, filepath.Join(shared(t, "corpus", "golden", "inputs"), from), filepath.Join(c.server.input, to))
			}
			if strings.HasPrefix(filepath.Base(file), "order-") {
				for range 52 { // the recording began at this number
					c.server.do(t, "POST", "/prompt", nil, []byte("{}"))
				}
			}
			c.play(t, lines)
		})
	}
}

// conversation replays a recording.
type conversation struct {
	server   *server
	gate     *gate
	dir      string
	sockets  map[string]*socket
	ids      map[string]string // <P1> -> actual id
	reply    *reply
	progress map[string]any            // last recorded value, by connection and node
	owed     map[string]map[string]any // frames of independent nodes that came in another order: + wanted, - got
}

func (c *conversation) play(t *testing.T, lines []line) {
	wantStatus := map[string]any{}
	wantNodes := map[string]map[string]any{}
	for _, l := range lines {
		switch {
		case l.Dir == "open":
			c.open(t, l)
		case l.Who == "http" && l.Dir == "send":
			c.send(t, l)
		case l.Who == "http":
			c.answer(t, l)
		case l.Who == "disk":
			if err := os.Remove(filepath.Join(c.server.input, "vanish.png")); err != nil {
				t.Fatal(err)
			}
		case l.Dir == "send":
			c.say(t, l)
		case l.Dir == "close":
			_ = c.sockets[l.Who].conn.Close(websocket.StatusNormalClosure, "")
		case l.Dir == "recv":
			c.receive(t, l, wantStatus, wantNodes)
		}
	}
	c.gate.remove()
	for key := range c.owed {
		t.Errorf("frame without its counterpart: %s", key)
	}
	for key, want := range c.progress {
		who, id, _ := strings.Cut(key, " ")
		if got := c.sockets[who].last[id]; got != want {
			t.Errorf("%s: progress of node %s ends at %v, want %v", who, id, got, want)
		}
	}
	for who, want := range wantStatus {
		s := c.sockets[who]
		if c.drain(s, patience, func() bool { return s.lastStatus() == want }); s.lastStatus() != want {
			t.Errorf("%s: last number of prompts left is %v, want %v", who, s.lastStatus(), want)
		}
	}
	for who, want := range wantNodes {
		s := c.sockets[who]
		for key, state := range want {
			mark, id, _ := strings.Cut(key, " ")
			last := func() any { return s.nodes[c.ids[mark]+" "+id]["state"] }
			if c.drain(s, patience, func() bool { return last() == state }); last() != state {
				t.Errorf("%s: node %s is %v at last, want %v", who, key, last(), state)
			}
		}
	}
}

func (s *socket) lastStatus() any {
	if len(s.status) == 0 {
		return nil
	}
	return s.status[len(s.status)-1]
}

func (c *conversation) open(t *testing.T, l line) {
	var body struct{ Path string }
	if err := json.Unmarshal(l.Body, &body); err != nil {
		t.Fatal(err)
	}
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(c.server.URL, "http")+body.Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(64 << 20)
	s := &socket{conn: conn, frames: make(chan received, 10000), nodes: map[string]map[string]any{}, last: map[string]any{}}
	c.sockets[l.Who] = s
	go func() {
		defer close(s.frames)
		for {
			kind, data, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			r := received{binary: data}
			if kind == websocket.MessageText {
				r.binary = nil
				if decodeJSON(data, &r.event) != nil {
					r.event = map[string]any{"type": "not JSON"}
				}
			}
			s.frames <- r
		}
	}()
	t.Cleanup(func() { _ = conn.CloseNow() })
}

func (c *conversation) say(t *testing.T, l line) {
	kind, data := websocket.MessageText, []byte(l.Body)
	switch l.Type {
	case "raw":
		var text string
		_ = json.Unmarshal(l.Body, &text)
		data = []byte(text)
	case "binary":
		var body struct{ Hex string }
		_ = json.Unmarshal(l.Body, &body)
		kind = websocket.MessageBinary
		data, _ = hex.DecodeString(body.Hex)
	}
	if err := c.sockets[l.Who].conn.Write(t.Context(), kind, data); err != nil {
		t.Fatal(err)
	}
}

func (c *conversation) send(t *testing.T, l line) {
	var r struct {
		Method, Path string
		Body         json.RawMessage
	}
	text := string(l.Body)
	for i := 1; i < 20; i++ {
		mark := fmt.Sprintf("<P%d>", i)
		if strings.Contains(text, mark) && c.ids[mark] == "" {
			c.ids[mark] = uuid.NewString()
		}
		text = strings.ReplaceAll(text, mark, c.ids[mark])
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if id, ok := strings.CutPrefix(r.Path, "/history/"); ok {
		c.gate.remove()
		c.server.finished(t, id)
		c.server.waitIdle(t)
	}
	if string(r.Body) == "null" {
		r.Body = nil
	}
	answer := c.server.do(t, r.Method, r.Path, nil, r.Body)
	c.reply = &answer
}

func (c *conversation) answer(t *testing.T, l line) {
	var want struct {
		Status int
		Body   any
	}
	if err := decodeJSON(l.Body, &want); err != nil {
		t.Fatal(err)
	}
	if c.reply.status != want.Status {
		t.Fatalf("line %d: status %d, want %d: %.300s", l.N, c.reply.status, want.Status, c.reply.body)
	}
	if want.Body == nil {
		return
	}
	got := c.reply.json(t)
	w, _ := want.Body.(map[string]any)
	if mark, ok := w["prompt_id"].(string); ok && c.ids[mark] == "" {
		c.ids[mark] = got.(map[string]any)["prompt_id"].(string)
	}
	if d := same(anyQueueNumber(want.Body), anyQueueNumber(c.marked(got))); d != "" {
		t.Errorf("line %d: answer: %s", l.N, d)
	}
}

// marked puts the recording's names in the place of prompt ids.
func (c *conversation) marked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[c.marked(k).(string)] = c.marked(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = c.marked(v[i])
		}
		return out
	case string:
		for mark, id := range c.ids {
			v = strings.ReplaceAll(v, id, mark)
		}
		return v
	}
	return v
}

// anyQueueNumber hides the numbers of queue items, of which only the order counts.
func anyQueueNumber(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for _, key := range []string{"queue_running", "queue_pending"} {
		if list, ok := m[key].([]any); ok {
			for _, it := range list {
				it.([]any)[0] = "<number>"
			}
		}
	}
	if _, ok := m["number"]; ok {
		m["number"] = "<number>"
	}
	return m
}

// receive waits for a recorded frame. Frames of status and progress may be more or fewer; of those only the last count.
func (c *conversation) receive(t *testing.T, l line, wantStatus map[string]any, wantNodes map[string]map[string]any) {
	t.Helper()
	s := c.sockets[l.Who]
	if l.Type == "binary" {
		c.gate.open()
		c.binary(t, l, s)
		return
	}
	e := l.event(t)
	data, _ := e["data"].(map[string]any)
	switch e["type"] {
	case "status":
		info := data["status"].(map[string]any)["exec_info"].(map[string]any)
		wantStatus[l.Who] = info["queue_remaining"]
		if sid := data["sid"]; sid != nil {
			c.hello(t, s, sid)
			return
		}
		c.drain(s, 50*time.Millisecond, func() bool { return s.lastStatus() == info["queue_remaining"] })
		return
	case "progress_state":
		if wantNodes[l.Who] == nil {
			wantNodes[l.Who] = map[string]any{}
		}
		for id, n := range data["nodes"].(map[string]any) {
			wantNodes[l.Who][fmt.Sprint(data["prompt_id"])+" "+id] = n.(map[string]any)["state"]
		}
		c.gate.open()
		return
	case "progress":
		if c.progress == nil {
			c.progress = map[string]any{}
		}
		c.progress[l.Who+" "+fmt.Sprint(data["node"])] = data["value"]
		return
	}
	c.gate.open()
	got, ok := c.next(t, s)
	if !ok {
		t.Fatalf("line %d: %s hears nothing, want %s", l.N, l.Who, l.Body)
	}
	c.judge(t, l, e, got.event)
	if id, ok := data["node"].(string); ok && e["type"] == "executing" {
		c.gate.arm(id)
	}
}

// judge compares a frame. Frames about another node than the recorded one are set aside until their own turn comes: output
// nodes that do not depend on each other may run in any order.
func (c *conversation) judge(t *testing.T, l line, want, got map[string]any) {
	t.Helper()
	if got == nil {
		t.Errorf("line %d: %s: want a text frame %s", l.N, l.Who, l.Body)
		return
	}
	w, g := frameKey(l.Who, want), frameKey(l.Who, got)
	if w == g || w == "" || g == "" {
		if d := same(want, c.marked(got)); d != "" {
			t.Errorf("line %d: %s: %s", l.N, l.Who, d)
		}
		return
	}
	c.settle(t, "-"+w, "+"+w, want, func(other map[string]any) (map[string]any, map[string]any) { return want, other })
	c.settle(t, "+"+g, "-"+g, got, func(other map[string]any) (map[string]any, map[string]any) { return other, got })
}

// settle compares a frame with its counterpart, or keeps it until that comes.
func (c *conversation) settle(t *testing.T, counterpart, own string, frame map[string]any, sides func(other map[string]any) (want, got map[string]any)) {
	t.Helper()
	other, ok := c.owed[counterpart]
	if !ok {
		c.owed[own] = frame
		return
	}
	delete(c.owed, counterpart)
	want, got := sides(other)
	if d := same(want, c.marked(got)); d != "" {
		t.Errorf("%s: %s", own, d)
	}
}

// frameKey names the node that a frame is about, "" for frames about no node.
func frameKey(who string, e map[string]any) string {
	data, _ := e["data"].(map[string]any)
	id, ok := data["node"].(string)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s %v %s", who, e["type"], id)
}

// drain sorts frames until the number of prompts is the one recorded; the frames of a run stay for later. It gives up
// quietly: frames of equal number may be merged, and only the last number is judged.
func (c *conversation) drain(s *socket, limit time.Duration, done func() bool) {
	deadline := time.After(limit)
	var kept []received
	defer func() {
		if len(kept) > 0 {
			rest := s.frames
			s.frames = make(chan received, 20000)
			for _, r := range kept {
				s.frames <- r
			}
			joined := s.frames
			go func() {
				defer close(joined)
				for r := range rest {
					joined <- r
				}
			}()
		}
	}()
	for !done() {
		select {
		case r, ok := <-s.frames:
			if !ok {
				return
			}
			if !s.aside(r) {
				kept = append(kept, r)
			}
		case <-deadline:
			return
		}
	}
}

// hello is the first frame of a connection, with the session's id.
func (c *conversation) hello(t *testing.T, s *socket, sid any) {
	t.Helper()
	select {
	case r := <-s.frames:
		s.aside(r)
		got := r.event["data"].(map[string]any)["sid"]
		if sid == "<sid>" {
			if text, _ := got.(string); len(text) != 32 {
				t.Errorf("sid %v, want 32 hex digits", got)
			}
		} else if got != sid {
			t.Errorf("sid %v, want %v", got, sid)
		}
	case <-time.After(patience):
		t.Fatal("no first frame")
	}
}

// aside keeps frames that any order is right for.
func (s *socket) aside(r received) bool {
	if r.event == nil {
		return false
	}
	data, _ := r.event["data"].(map[string]any)
	switch r.event["type"] {
	case "status":
		s.status = append(s.status, data["status"].(map[string]any)["exec_info"].(map[string]any)["queue_remaining"])
	case "progress_state":
		for id, n := range data["nodes"].(map[string]any) {
			s.nodes[fmt.Sprint(data["prompt_id"])+" "+id] = n.(map[string]any)
		}
	case "progress":
		s.last[fmt.Sprint(data["node"])] = data["value"]
	default:
		return false
	}
	return true
}

func (c *conversation) next(t *testing.T, s *socket) (received, bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case r, ok := <-s.frames:
			if !ok {
				return r, false
			}
			if !s.aside(r) {
				return r, true
			}
		case <-deadline:
			return received{}, false
		}
	}
}

func (c *conversation) binary(t *testing.T, l line, s *socket) {
	t.Helper()
	var body struct {
		Event uint32
		File  string
	}
	if err := json.Unmarshal(l.Body, &body); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(c.dir, body.File))
	if err != nil {
		t.Fatal(err)
	}
	got, ok := c.next(t, s)
	if !ok || len(got.binary) < 8 || binary.BigEndian.Uint32(got.binary) != body.Event {
		t.Fatalf("line %d: want a binary frame of event %d, got %v %.40x", l.N, body.Event, got.event, got.binary)
	}
	if body.Event == 1 {
		if d := sameFile(want[8:], got.binary[8:]); d != "" || !bytes.Equal(want[:8], got.binary[:8]) {
			t.Errorf("line %d: picture: %s", l.N, d)
		}
		return
	}
	if !bytes.Equal(want, got.binary) {
		t.Errorf("line %d: binary frame %q, want %q", l.N, got.binary, want)
	}
}
