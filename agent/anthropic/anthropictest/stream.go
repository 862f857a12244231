package anthropictest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Cut answers with a stream that ends in the middle of a text.
func Cut(said string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		s := begin(w)
		s.open(0, Block{Type: "text", Text: said})
	}
}

// Break answers with a stream that ends with an error of the API.
func Break(kind, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		s := begin(w)
		s.open(0, Block{Type: "text", Text: "Let me"})
		s.send("error", map[string]any{"error": map[string]string{"type": kind, "message": message}})
	}
}

// Malformed answers with a call whose input is no JSON.
func Malformed(tool, input string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		s := begin(w)
		s.send("content_block_start", map[string]any{"index": 0, "content_block": map[string]any{"type": "tool_use", "id": "toolu_bad", "name": tool, "input": map[string]any{}}})
		s.delta(0, "input_json_delta", "partial_json", input)
		s.send("content_block_stop", map[string]any{"index": 0})
		s.end("tool_use")
	}
}

// events writes a stream.
type events struct{ http.ResponseWriter }

func begin(w http.ResponseWriter) events {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	s := events{w}
	start := message([]Block{}, "")
	start["usage"] = map[string]int{"input_tokens": 25, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 7, "output_tokens": 1}
	s.send("message_start", map[string]any{"message": start})
	s.send("ping", map[string]any{})
	return s
}

func (s events) send(name string, body map[string]any) {
	body["type"] = name
	data, err := json.Marshal(body)
	if err != nil {
		panic(err) // a mistake of the test
	}
	fmt.Fprintf(s, "event: %s\ndata: %s\n\n", name, data)
	if f, ok := s.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

func (s events) delta(index int, kind, member, value string) {
	s.send("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": kind, member: value}})
}

// open writes a block but its end, its text word by word.
func (s events) open(index int, b Block) {
	empty := map[string]any{"type": b.Type}
	switch b.Type {
	case "text":
		empty["text"] = ""
	case "thinking":
		empty["thinking"], empty["signature"] = "", ""
	case "tool_use":
		empty["id"], empty["name"], empty["input"] = b.ID, b.Name, map[string]any{}
	}
	s.send("content_block_start", map[string]any{"index": index, "content_block": empty})
	for word := range strings.SplitAfterSeq(b.Text, " ") {
		if word != "" {
			s.delta(index, "text_delta", "text", word)
		}
	}
	if b.Thinking != "" {
		s.delta(index, "thinking_delta", "thinking", b.Thinking)
		s.delta(index, "signature_delta", "signature", b.Signature)
	}
	if b.Input != nil && string(b.Input) != "{}" {
		half := len(b.Input) / 2
		s.delta(index, "input_json_delta", "partial_json", "")
		s.delta(index, "input_json_delta", "partial_json", string(b.Input[:half]))
		s.delta(index, "input_json_delta", "partial_json", string(b.Input[half:]))
	}
}

func (s events) end(reason string) {
	s.send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": 9}})
	s.send("message_stop", map[string]any{})
}

// stream writes an answer as the API does where it is asked to, an event of a name that nobody knows among them.
func stream(w http.ResponseWriter, blocks []Block, reason string) {
	s := begin(w)
	s.send("new_kind_of_event", map[string]any{})
	for i, b := range blocks {
		s.open(i, b)
	}
	for i := range blocks { // the ends of blocks may come late
		s.send("content_block_stop", map[string]any{"index": i})
	}
	s.end(reason)
}
