package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// listing knows of a server's tools what the library's Tool does not: which run as tasks only (execution.taskSupport), and in which
// order their inputs stand. It is read off the answers as they come in.
type listing struct {
	mu    sync.Mutex
	tools map[string]listed
}

// listed is what a tools/list says of a tool.
type listed struct {
	Name        string          `json:"name"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Execution   struct {
		TaskSupport string `json:"taskSupport"`
	} `json:"execution"`
}

func (l *listing) of(tool string) listed {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tools[tool]
}

// note reads the result of a tools/list; of anything else it finds no tools.
func (l *listing) note(result []byte) {
	var list struct {
		Tools []listed `json:"tools"`
	}
	if !bytes.Contains(result, []byte(`"tools"`)) || json.Unmarshal(result, &list) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tools == nil {
		l.tools = map[string]listed{}
	}
	for _, tool := range list.Tools {
		l.tools[tool.Name] = tool
	}
}

// watched is a transport whose answers a listing sees.
type watched struct {
	sdk.Transport
	listing *listing
}

// Connect connects.
func (w watched) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := w.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return watchedConnection{c, w.listing}, nil
}

type watchedConnection struct {
	sdk.Connection
	listing *listing
}

// Read reads a message.
func (c watchedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if answer, ok := message.(*jsonrpc.Response); ok {
		c.listing.note(answer.Result)
	}
	return message, err
}

// watchedBody is an answer over HTTP: one message, or events with one in each line of data. The library's connection can't
// be wrapped there as it has members that are not exported.
type watchedBody struct {
	io.ReadCloser
	listing *listing
	line    []byte
}

// Read reads on.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.line = append(b.line, p[:n]...)
	for {
		line, rest, whole := bytes.Cut(b.line, []byte("\n"))
		data, isData := bytes.CutPrefix(line, []byte("data:"))
		if !whole || !isData && len(bytes.TrimSpace(line)) > 0 && line[0] == '{' {
			break
		}
		if isData {
			b.message(data)
		}
		b.line = rest
	}
	if err == io.EOF {
		b.message(bytes.TrimPrefix(b.line, []byte("data:")))
	}
	return n, err
}

func (b *watchedBody) message(raw []byte) {
	var m struct {
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal(raw, &m) == nil {
		b.listing.note(m.Result)
	}
}

// lists reports whether a request asks for the tools.
func lists(r *http.Request) bool {
	if r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	var m struct {
		Method string `json:"method"`
	}
	return json.NewDecoder(body).Decode(&m) == nil && m.Method == "tools/list"
}
