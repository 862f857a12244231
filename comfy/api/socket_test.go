package api

import (
	"io"
	"strings"
	"testing"
)

func TestDecodeBinary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frame string
		want  Event
		ok    bool
	}{
		"a preview":              {"\x00\x00\x00\x01\x00\x00\x00\x02png", Event{Type: "preview", Image: []byte("png")}, true},
		"a preview with data":    {"\x00\x00\x00\x04\x00\x00\x00\x0f{\"node_id\":\"7\"}jpg", Event{Type: "preview", Node: "7", Image: []byte("jpg")}, true},
		"a text":                 {"\x00\x00\x00\x03\x00\x00\x00\x0212hello", Event{Type: "text", Node: "12", Text: "hello"}, true},
		"nothing":                {"", Event{}, false},
		"too short":              {"\x00\x00\x00\x01\x00", Event{}, false},
		"a length past the end":  {"\x00\x00\x00\x03\xff\xff\xff\xff1", Event{}, false},
		"data past the end":      {"\x00\x00\x00\x04\x00\x00\x00\x7f{}", Event{}, false},
		"data that is no JSON":   {"\x00\x00\x00\x04\x00\x00\x00\x02{{x", Event{}, false},
		"an event of the future": {"\x00\x00\x00\x09\x00\x00\x00\x02xx", Event{}, false},
	} {
		got, ok := decodeBinary([]byte(c.frame))
		if ok != c.ok || got.Type != c.want.Type || got.Node != c.want.Node || got.Text != c.want.Text || string(got.Image) != string(c.want.Image) {
			t.Errorf("%s: %+v %v", name, got, ok)
		}
	}
}

// FuzzDecode feeds frames of any content: no crash, and nothing beyond the frame is read.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"type":"progress_state","data":{"nodes":{"1":{"value":1,"max":2,"state":"running"}}}}`))
	f.Add([]byte("\x00\x00\x00\x04\x00\x00\x00\x02{}x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, decode := range []func([]byte) (Event, bool){DecodeText, decodeBinary} {
			if e, ok := decode(data); ok && e.Type == "" {
				t.Error("an event without a type")
			}
		}
		var h HistoryEntry
		if decodeLoosely(data, &h) == nil {
			h.Outcome()
			h.Executed()
			for id := range h.Outputs {
				h.Results(id)
			}
		}
	})
}

func TestCappedBody(t *testing.T) {
	t.Parallel()
	for size, whole := range map[int]bool{9: true, 10: true, 11: false} {
		data, err := io.ReadAll(&cappedBody{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("x", size))), left: 10, name: "a.png"})
		if (err == nil) != whole || whole && len(data) != size {
			t.Errorf("%d bytes: read %d, %v", size, len(data), err)
		}
	}
}
