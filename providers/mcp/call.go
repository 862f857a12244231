package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/providers/upstream"
	"github.com/signalbox/signalbox/registry"
)

const (
	callLimit  = 5 * time.Minute
	maxMessage = 240 // characters of an error
)

// Call runs a tool and gives its content: texts, pictures, sounds and linked files, each by its kind.
func (p *Provider) Call(ctx context.Context, c registry.Call) (registry.Result, error) {
	s, name, err := p.serverOf(c.Tool)
	if err != nil {
		return registry.Result{}, err
	}
	limited, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	session, err := p.connect(limited, s)
	if err != nil {
		return registry.Result{}, s.failure(ctx, c.Tool, err, true)
	}
	arguments := c.Inputs
	if arguments == nil {
		arguments = map[string]any{}
	}
	began := time.Now()
	answer, err := session.CallTool(limited, &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		if answered(err) == nil && ctx.Err() == nil {
			s.drop(session)
		}
		return registry.Result{}, s.failure(ctx, c.Tool, err, false)
	}
	if answer.IsError {
		return registry.Result{}, registry.Errorf(registry.CodeProvider, "%s", cut(s.hide(textOf(answer))))
	}
	return registry.Result{Outputs: p.outputs(answer), Usage: registry.Usage{RunTime: time.Since(began)}}, nil
}

// codeRejected is the library's own code for a message that the transport did not take.
const codeRejected = -32005

// answered is the error that the server itself answered, or nil where there is none of it.
func answered(err error) *jsonrpc.Error {
	var refused *jsonrpc.Error
	if errors.As(err, &refused) && refused.Code != codeRejected {
		return refused
	}
	return nil
}

// failure judges a call that brought no answer. Where nothing was sent, it may be tried again in any case.
func (s *server) failure(ctx context.Context, tool registry.Tool, err error, unsent bool) error {
	refused := answered(err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case refused != nil && refused.Code == jsonrpc.CodeInvalidParams:
		return &registry.Error{Code: registry.CodeInvalidInput, Message: cut(s.hide(refused.Message)), Cause: err}
	case refused != nil:
		return &registry.Error{Code: registry.CodeProvider, Message: cut(s.hide(refused.Message)), Cause: err}
	case unsent || tool.Idempotent || tool.Capability == registry.CapabilityRead:
		code := registry.CodeUnavailable
		if errors.Is(err, context.DeadlineExceeded) {
			code = registry.CodeTimeout
		}
		return &registry.Error{Code: code, Retryable: true, Message: "the MCP server " + s.name + " does not answer", Cause: errors.New(s.hide(err.Error()))}
	}
	return &registry.Error{Code: registry.CodeLost, Message: "the MCP server " + s.name + " did not confirm the call, and making it again could do it twice", Cause: errors.New(s.hide(err.Error()))}
}

func cut(text string) string {
	if runes := []rune(text); len(runes) > maxMessage {
		return string(runes[:maxMessage-1]) + "…"
	}
	return text
}

// textOf is all that an answer says in words.
func textOf(answer *sdk.CallToolResult) string {
	var b bytes.Buffer
	for _, content := range answer.Content {
		if text, ok := content.(*sdk.TextContent); ok {
			b.WriteString(text.Text + "\n")
		}
	}
	return b.String()
}

// outputs draws results from the content; structured content stands in where there is none.
func (p *Provider) outputs(answer *sdk.CallToolResult) []registry.Output {
	var outputs []registry.Output
	for _, content := range answer.Content {
		switch c := content.(type) {
		case *sdk.TextContent:
			outputs = append(outputs, text(c.Text))
		case *sdk.ImageContent:
			outputs = append(outputs, file("image", c.MIMEType, c.Data))
		case *sdk.AudioContent:
			outputs = append(outputs, file("audio", c.MIMEType, c.Data))
		case *sdk.ResourceLink:
			outputs = append(outputs, upstream.File(p.cfg.Guard, "link", kindOf(c.MIMEType), c.URI, registry.MediaInfo{Name: c.Name, MIMEType: c.MIMEType}))
		case *sdk.EmbeddedResource:
			outputs = append(outputs, embedded(c.Resource))
		}
	}
	if len(outputs) == 0 && answer.StructuredContent != nil {
		if raw, err := json.MarshalIndent(answer.StructuredContent, "", "  "); err == nil {
			outputs = append(outputs, text(string(raw)))
		}
	}
	return outputs
}

func text(t string) registry.Output { return registry.Output{Name: "text", Type: "text", Text: t} }

func file(kind, mimeType string, data []byte) registry.Output {
	return registry.Output{
		Name: kind, Type: kind, Info: registry.MediaInfo{MIMEType: mimeType, Bytes: int64(len(data))},
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
	}
}

func embedded(r *sdk.ResourceContents) registry.Output {
	if r == nil || r.Blob == nil {
		if r == nil {
			return text("")
		}
		return text(r.Text)
	}
	return file(kindOf(r.MIMEType), r.MIMEType, r.Blob)
}

// kindOf is the kind of output that a media type is.
func kindOf(mimeType string) string {
	for _, kind := range []string{"image", "video", "audio"} {
		if len(mimeType) > len(kind) && mimeType[:len(kind)+1] == kind+"/" {
			return kind
		}
	}
	return "file"
}
