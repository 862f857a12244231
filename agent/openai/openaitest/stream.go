package openaitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Cut answers with a stream that ends in the middle of a text.
func Cut(w http.ResponseWriter, _ *http.Request) {
	s := begin(w)
	s.send("response.output_text.delta", map[string]any{"delta": "Let me"})
}

// events writes a stream.
type events struct {
	http.ResponseWriter
	number int
}

func begin(w http.ResponseWriter) *events {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	s := &events{ResponseWriter: w}
	s.send("response.created", map[string]any{"response": map[string]any{"status": "in_progress", "output": []any{}}})
	return s
}

func (s *events) send(kind string, body map[string]any) {
	body["type"], body["sequence_number"] = kind, s.number
	s.number++
	data, err := json.Marshal(body)
	if err != nil {
		panic(err) // a mistake of the test
	}
	fmt.Fprintf(s, "event: %s\ndata: %s\n\n", kind, data)
	if f, ok := s.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// stream writes a response as the API does where it is asked to.
func stream(w http.ResponseWriter, body map[string]any, output []any, end string) {
	s := begin(w)
	for i, item := range output {
		part := item.(map[string]any)
		s.send("response.output_item.added", map[string]any{"output_index": i, "item": map[string]any{"type": part["type"], "id": part["id"]}})
		if content, ok := part["content"].([]any); ok {
			for word := range strings.SplitAfterSeq(content[0].(map[string]any)["text"].(string), " ") {
				s.send("response.output_text.delta", map[string]any{"output_index": i, "delta": word})
			}
		}
		s.send("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	s.send(end, map[string]any{"response": body})
}
