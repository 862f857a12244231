package cpu_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/signalbox/signalbox/comfy/cpu"
)

// dial opens a socket and waits for its first frame.
func dial(t *testing.T, srv *server, id string) *socket {
	t.Helper()
	c := &conversation{server: srv, sockets: map[string]*socket{}}
	c.open(t, line{Who: "x", Body: fmt.Appendf(nil, `{"path": "/ws?clientId=%s"}`, id)})
	c.hello(t, c.sockets["x"], id)
	return c.sockets["x"]
}

// heard collects the types of the frames of a run up to its end, or up to a silence of that length.
func (s *socket) heard(t *testing.T, silence time.Duration) (types []string, pictures [][]byte) {
	t.Helper()
	for {
		select {
		case r, ok := <-s.frames:
			switch {
			case !ok:
				return types, pictures
			case r.binary != nil:
				pictures = append(pictures, r.binary)
				types = append(types, "binary")
				continue
			}
			types = append(types, r.event["type"].(string))
			if data, _ := r.event["data"].(map[string]any); r.event["type"] == "executing" && data["node"] == nil {
				return types, pictures
			}
		case <-time.After(silence):
			return types, pictures
		}
	}
}

const preview = `{"client_id": "x", "prompt": {"1": {"class_type": "PreviewAny", "inputs": {"source": "%s"}}}}`

func (s *server) runFor(t *testing.T, body string) string {
	t.Helper()
	answer := s.do(t, "POST", "/prompt", nil, []byte(body))
	if answer.status != 200 {
		t.Fatalf("status %d: %s", answer.status, answer.body)
	}
	id := answer.json(t).(map[string]any)["prompt_id"].(string)
	s.finished(t, id)
	return id
}

func TestASecondConnectionTakesTheIDOver(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	first, second := dial(t, srv, "x"), dial(t, srv, "x")
	srv.runFor(t, fmt.Sprintf(preview, "a"))
	if types, _ := second.heard(t, patience); !strings.Contains(strings.Join(types, " "), "execution_success") {
		t.Errorf("the second connection hears %v", types)
	}
	if types, _ := first.heard(t, time.Second); len(types) > 0 {
		t.Errorf("the first connection still hears %v", types)
	}
	// Closing either of them unregisters the id, a quirk that clients must live with.
	_ = first.conn.Close(websocket.StatusNormalClosure, "")
	for range first.frames {
		continue
	}
	quiet := false
	for i := range 50 {
		srv.runFor(t, fmt.Sprintf(preview, fmt.Sprint(i)))
		if types, _ := second.heard(t, time.Second); len(types) == 0 {
			quiet = true
			break
		}
	}
	if !quiet {
		t.Error("the second connection goes on to hear after the first was closed")
	}
}

func TestPreviewsCarryMetadataWhenAskedFor(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	s := dial(t, srv, "x")
	if err := s.conn.Write(t.Context(), websocket.MessageText, []byte(`{"type": "feature_flags", "data": {"supports_preview_metadata": true}}`)); err != nil {
		t.Fatal(err)
	}
	if r := <-s.frames; r.event["type"] != "feature_flags" {
		t.Fatalf("answer %v", r.event)
	}
	id := srv.runFor(t, `{"client_id": "x", "prompt": {"1": {"class_type": "EmptyImage", "inputs": {"width": 4, "height": 3, "batch_size": 1, "color": 255}}, "2": {"class_type": "SaveImageWebsocket", "inputs": {"images": ["1", 0]}}}}`)
	_, pictures := s.heard(t, patience)
	if len(pictures) != 1 || binary.BigEndian.Uint32(pictures[0]) != 4 {
		t.Fatalf("pictures %.60x", pictures)
	}
	n := binary.BigEndian.Uint32(pictures[0][4:])
	var meta map[string]any
	if err := decodeJSON(pictures[0][8:8+n], &meta); err != nil {
		t.Fatal(err)
	}
	if meta["node_id"] != "2" || meta["prompt_id"] != id || meta["image_type"] != "image/png" || string(pictures[0][8+n:][1:4]) != "PNG" {
		t.Errorf("metadata %v", meta)
	}
}

func TestACachedRunWithoutClientHasNoOutputs(t *testing.T) {
	t.Parallel()
	srv := newServer(t, cpu.Config{})
	body := `{"prompt": {"1": {"class_type": "PreviewAny", "inputs": {"source": "a"}}}}`
	srv.runFor(t, body)
	id := srv.runFor(t, body)
	entry := srv.finished(t, id)
	if n := len(entry["outputs"].(map[string]any)); n != 0 {
		t.Errorf("%d outputs; the real server has none", n)
	}
	// Freeing the memory makes it run again.
	srv.do(t, "POST", "/free", nil, []byte(`{"free_memory": true}`))
	if n := len(srv.finished(t, srv.runFor(t, body))["outputs"].(map[string]any)); n != 1 {
		t.Errorf("%d outputs after the cache was emptied, want 1", n)
	}
}
