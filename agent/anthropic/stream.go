package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// stream puts an answer together from its events. Blocks begin in order, but what comes of open ones may mix, so each
// piece goes to the block that it names.
type stream struct {
	said   func(text string)
	blocks []*opened
	usage  usage
	reason string
	ended  bool
}

// opened is a block as it grows.
type opened struct {
	start                            map[string]json.RawMessage
	text, input, thinking, signature strings.Builder
}

type piece struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	Block map[string]json.RawMessage `json:"content_block"`
	Delta struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Input      string `json:"partial_json"`
		Thinking   string `json:"thinking"`
		Signature  string `json:"signature"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage           `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// take reads an event. Those of names that are not known are left out, as the API asks.
func (s *stream) take(e upstream.Event) error {
	var p piece
	if err := json.Unmarshal(e.Data, &p); err != nil {
		return unreadable()
	}
	switch p.Type {
	case "message_start":
		s.usage = p.Message.Usage
	case "content_block_start":
		s.blocks = append(s.blocks, &opened{start: p.Block})
		s.said(s.text())
	case "content_block_delta":
		if p.Index < 0 || p.Index >= len(s.blocks) {
			return unreadable()
		}
		s.blocks[p.Index].grow(p)
		if p.Delta.Text != "" {
			s.said(s.text())
		}
	case "message_delta":
		s.usage, s.reason = s.usage.over(p.Usage), p.Delta.StopReason
	case "message_stop":
		s.ended = true
	case "error":
		if err := failure(upstream.Response{Body: e.Data}); err != nil {
			return err
		}
		return &registry.Error{Code: registry.CodeProvider, Retryable: true, Message: "Anthropic broke an answer off"}
	}
	return nil
}

func (o *opened) grow(p piece) {
	o.text.WriteString(p.Delta.Text)
	o.input.WriteString(p.Delta.Input)
	o.thinking.WriteString(p.Delta.Thinking)
	o.signature.WriteString(p.Delta.Signature)
}

// text is what has been said so far.
func (s *stream) text() string {
	var said []string
	for _, b := range s.blocks {
		if b.is("text") {
			said = append(said, b.startText("text")+b.text.String())
		}
	}
	return strings.Join(said, "\n")
}

func (o *opened) is(kind string) bool { return o.startText("type") == kind }

func (o *opened) startText(member string) string {
	var text string
	_ = json.Unmarshal(o.start[member], &text) // a member that is missing or no text is none
	return text
}

// answer is the whole. A stream that ends without saying so was cut.
func (s *stream) answer() (answer, error) {
	if !s.ended {
		return answer{Usage: s.usage}, &registry.Error{Code: registry.CodeProvider, Retryable: true, Message: "Anthropic's answer was cut off"}
	}
	blocks := make([]map[string]json.RawMessage, 0, len(s.blocks))
	for _, b := range s.blocks {
		blocks = append(blocks, b.whole())
	}
	content, err := json.Marshal(blocks)
	if err != nil {
		return answer{}, unreadable()
	}
	return answer{content, s.reason, s.usage}, nil
}

// whole is a block with all that has come. The input of a call that is no JSON stays readable as a text, which no
// tool takes: the part that carries the call out refuses it.
func (o *opened) whole() map[string]json.RawMessage {
	add := func(member, text string) {
		if text != "" {
			o.start[member], _ = json.Marshal(o.startText(member) + text) // texts can be written
		}
	}
	add("text", o.text.String())
	add("thinking", o.thinking.String())
	add("signature", o.signature.String())
	if input := o.input.String(); input != "" {
		if !json.Valid([]byte(input)) {
			data, _ := json.Marshal(map[string]string{"malformed": input}) // texts can be written
			input = string(data)
		}
		o.start["input"] = json.RawMessage(input)
	}
	return o.start
}
