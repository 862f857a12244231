package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// HistoryEntry is what a server remembers of a finished prompt.
type HistoryEntry struct {
	Prompt  []json.RawMessage          `json:"prompt"`  // number, id, prompt, extra data, output nodes
	Outputs map[string]json.RawMessage `json:"outputs"` // by node id: an object by kind
	Status  *HistoryStatus             `json:"status"`
}

// Executed are the output nodes that the server took, nil where the entry does not tell.
func (e HistoryEntry) Executed() []string {
	var nodes []string
	if len(e.Prompt) < 5 || json.Unmarshal(e.Prompt[4], &nodes) != nil {
		return nil
	}
	return nodes
}

// HistoryStatus is how a prompt ended, with the events of its life.
type HistoryStatus struct {
	StatusStr string            `json:"status_str"`
	Completed bool              `json:"completed"`
	Messages  []json.RawMessage `json:"messages"`
}

// Outcome is how a prompt ended.
type Outcome struct {
	Success     bool
	Interrupted bool
	NodeID      string // of the node that failed
	NodeType    string
	Exception   string // exception type and message: for logs, they hold server paths and inputs
	RunTime     time.Duration
	Cached      []string // nodes that did not run, since their result was still there
}

// Outcome reads the events. An error message counts even where status_str says success: a prompt whose
// undeclared input links to its own node ends that way.
func (e HistoryEntry) Outcome() Outcome {
	var o Outcome
	if e.Status == nil {
		o.Success = true // old servers keep no status; outputs are all there is
		return o
	}
	o.Success = e.Status.StatusStr == "success"
	var start, end float64
	for _, raw := range e.Status.Messages {
		event, data, ok := decodeMessage(raw)
		if !ok {
			continue
		}
		switch event {
		case "execution_start":
			start = data.Timestamp
		case "execution_cached":
			o.Cached = data.Nodes
		case "execution_success":
			end = data.Timestamp
		case "execution_error":
			o.Success, end = false, data.Timestamp
			o.NodeID, o.NodeType = data.NodeID, data.NodeType
			o.Exception = strings.TrimSpace(data.ExceptionType + ": " + data.ExceptionMessage)
		case "execution_interrupted":
			o.Success, o.Interrupted, end = false, true, data.Timestamp
			o.NodeID, o.NodeType = data.NodeID, data.NodeType
		}
	}
	if start > 0 && end >= start {
		// Stamps are whole milliseconds: a quicker run took some time, too, and zero would say that nobody knows.
		o.RunTime = max(time.Duration((end-start)*float64(time.Millisecond)), time.Millisecond)
	}
	return o
}

type messageData struct {
	Timestamp        float64 `json:"timestamp"` // ms
	NodeID           string  `json:"node_id"`
	NodeType         string  `json:"node_type"`
	ExceptionType    string  `json:"exception_type"`
	ExceptionMessage string  `json:"exception_message"`

	Nodes []string `json:"nodes"`
}

func decodeMessage(raw json.RawMessage) (event string, data messageData, ok bool) {
	var pair []json.RawMessage
	if json.Unmarshal(raw, &pair) != nil || len(pair) != 2 || json.Unmarshal(pair[0], &event) != nil {
		return "", data, false
	}
	return event, data, decodeLoosely(pair[1], &data) == nil
}

// NodeOutput is one file or text that a node produced.
type NodeOutput struct {
	Kind string // image, video, audio, file, text
	Text string
	File File
}

// Results lists what the given node produced: by kind, and within a kind in the server's order. What is neither file
// nor text is passed over.
func (e HistoryEntry) Results(nodeID string) []NodeOutput {
	var ui map[string]json.RawMessage
	if json.Unmarshal(e.Outputs[nodeID], &ui) != nil {
		return nil
	}
	var out []NodeOutput
	for _, key := range slices.Sorted(maps.Keys(ui)) {
		var items []json.RawMessage
		if json.Unmarshal(ui[key], &items) != nil {
			items = []json.RawMessage{ui[key]} // some custom nodes give a bare text
		}
		for _, item := range items {
			out = append(out, readOutputs(key, item)...)
		}
	}
	return out
}

// readOutputs reads one entry of a node's ui: a file object, a text, a list of texts, or, of the 3D previews, a path as
// plain text under the key "result".
func readOutputs(key string, item json.RawMessage) []NodeOutput {
	var f File
	if decodeLoosely(item, &f) == nil && f.Filename != "" {
		f.Type = cmp.Or(f.Type, "output")
		return []NodeOutput{{Kind: kindOf(key, f.Filename), File: f}}
	}
	texts := []json.RawMessage{item}
	var list []json.RawMessage
	if json.Unmarshal(item, &list) == nil {
		texts = list
	}
	var out []NodeOutput
	for _, raw := range texts {
		var text *string
		if json.Unmarshal(raw, &text) != nil || text == nil {
			continue
		}
		switch key {
		case "text", "string":
			out = append(out, NodeOutput{Kind: "text", Text: *text})
		case "result":
			if f, ok := modelFile(*text); ok {
				out = append(out, NodeOutput{Kind: "file", File: f})
			}
		}
	}
	return out
}

// modelFile reads the path that a 3D preview gives, relative to the output folder.
func modelFile(text string) (File, bool) {
	dir, name := path.Split(strings.ReplaceAll(text, `\`, "/"))
	switch strings.ToLower(path.Ext(name)) {
	case ".glb", ".gltf", ".obj", ".fbx", ".stl", ".usdz", ".ply", ".splat", ".spz", ".ksplat":
		return File{Filename: name, Subfolder: strings.TrimSuffix(dir, "/"), Type: "output"}, true
	}
	return File{}, false
}

// kindOf decides by the file's extension, since videos come under "images" and "gifs", too.
func kindOf(key, filename string) string {
	switch strings.ToLower(path.Ext(filename)) {
	case ".png", ".jpg", ".jpeg", ".webp", ".gif", ".apng", ".bmp", ".tif", ".tiff", ".avif":
		return "image"
	case ".mp4", ".webm", ".mov", ".mkv", ".avi", ".m4v":
		return "video"
	case ".flac", ".wav", ".mp3", ".opus", ".ogg", ".m4a", ".aac":
		return "audio"
	}
	if key == "audio" {
		return "audio"
	}
	return "file"
}

// queueItem is [number, prompt_id, prompt, extra_data, outputs].
type queueItem struct {
	number   float64
	promptID string
	clientID string
}

// UnmarshalJSON reads the number and the ids and passes over the prompt.
func (q *queueItem) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return err
	}
	if err := dec.Decode(&q.number); err != nil {
		return err
	}
	if err := dec.Decode(&q.promptID); err != nil || !dec.More() {
		return err
	}
	var prompt json.RawMessage
	var extra struct {
		ClientID string `json:"client_id"`
	}
	if err := dec.Decode(&prompt); err == nil && dec.More() && dec.Decode(&extra) == nil {
		q.clientID = extra.ClientID
	}
	return nil
}

func sortByNumber(items []queueItem) {
	slices.SortStableFunc(items, func(a, b queueItem) int { return cmp.Compare(a.number, b.number) })
}
