package upstream

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Event is one server-sent event of an answer that comes bit by bit.
type Event struct {
	Name string // empty: message
	Data []byte
}

func isEvents(res *http.Response) bool {
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return err == nil && kind == "text/event-stream" && res.StatusCode == http.StatusOK
}

// events tells a request's Events each event of a body. An error of Events ends it and is given as it is.
func (c *Client) events(ctx context.Context, r Request, body io.Reader) error {
	lines := bufio.NewScanner(io.LimitReader(body, c.cfg.Limit+1))
	lines.Buffer(nil, int(c.cfg.Limit))
	var event Event
	read := int64(0)
	for lines.Scan() {
		line := lines.Bytes()
		if read += int64(len(line)) + 1; read > c.cfg.Limit {
			return registry.Say(registry.CodeProvider, said.AnswerTooLarge, "service", c.cfg.Name, "n", c.cfg.Limit)
		}
		if len(line) > 0 {
			event.take(line)
			continue
		}
		if event.Data != nil {
			if err := r.Events(event); err != nil {
				return err
			}
		}
		event = Event{}
	}
	if err := lines.Err(); err != nil {
		return c.broken(ctx, r, err)
	}
	if event.Data != nil { // the last one, of servers that leave the empty line out
		return r.Events(event)
	}
	return nil
}

// take reads a line of an event. What is none of name and data is left out, as the standard has it.
func (e *Event) take(line []byte) {
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		e.Name = string(value)
	case "data":
		if e.Data != nil {
			e.Data = append(e.Data, '\n')
		}
		e.Data = append(e.Data, value...)
		if e.Data == nil {
			e.Data = []byte{}
		}
	}
}
