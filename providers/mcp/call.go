package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"reflect"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// Call runs a tool and gives its content: texts, pictures, sounds and linked files, each by its kind.
func (p *Provider) Call(ctx context.Context, c registry.Call) (registry.Result, error) {
	s, name, err := p.serverOf(c.Tool)
	if err != nil {
		return registry.Result{}, err
	}
	limited, cancel := context.WithTimeout(ctx, s.cfg.limit())
	defer cancel()
	for again := false; ; again = true {
		session, idle, err := p.connect(limited, s)
		if err != nil {
			return registry.Result{}, s.failure(ctx, c.Tool, err, true)
		}
		began := time.Now()
		asking, call := session.asks.begin(limited, c)
		params := &sdk.CallToolParams{Name: name, Arguments: argumentsOf(c)}
		params.SetProgressToken(call.token)
		answer, err := session.CallTool(asking, params)
		problem, spent := session.asks.end(call, err == nil || answered(err) != nil)
		if spent {
			p.drop(s, session)
		}
		if problem.Known() && (err == nil && answer.IsError || answered(err) != nil) {
			return registry.Result{}, registry.SayText(registry.CodeProvider, problem)
		}
		if err == nil && answer.IsError {
			why := textOf(answer)
			if strings.TrimSpace(why) == "" && answer.StructuredContent != nil {
				why = dataText(answer)
			}
			return registry.Result{}, registry.Errorf(registry.CodeProvider, "%s", cut(s.hide(cmp.Or(strings.TrimSpace(why), name+" failed and says no more"))))
		}
		if err == nil {
			return registry.Result{Outputs: p.outputs(limited, session.ClientSession, c.Tool, answer), Usage: registry.Usage{RunTime: time.Since(began)}}, nil
		}
		broke := answered(err) == nil && ctx.Err() == nil
		if broke {
			p.drop(s, session)
			err = session.said.explained(err)
		}
		// A program that ended while nobody asked anything of it shows only now.
		if again || !broke || !idle || limited.Err() != nil || !mayRepeat(c.Tool) {
			return registry.Result{}, s.failure(ctx, c.Tool, err, false)
		}
	}
}

func argumentsOf(c registry.Call) map[string]any {
	inputs := c.Inputs
	if inputs == nil {
		inputs = map[string]any{}
	}
	if wrapped, _ := c.Tool.Metadata[wrappedKey].(string); wrapped != "" {
		return map[string]any{wrapped: inputs}
	}
	return inputs
}

// mayRepeat reports whether a tool does no harm when it is called twice.
func mayRepeat(tool registry.Tool) bool {
	return tool.Idempotent || tool.Capability == registry.CapabilityRead
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
	case unsent || mayRepeat(tool):
		code := registry.CodeUnavailable
		if errors.Is(err, context.DeadlineExceeded) {
			code = registry.CodeTimeout
		}
		return registry.Say(code, said.ServiceSilent, "service", s.name).Again().Because(errors.New(s.hide(err.Error())))
	}
	return registry.Say(registry.CodeLost, said.LostConfirm, "service", "the MCP server "+s.name).Because(errors.New(s.hide(err.Error())))
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

// outputs draws results from the content; structured content stands in where there is none, and is the result where the tool
// says its shape.
func (p *Provider) outputs(ctx context.Context, session *sdk.ClientSession, tool registry.Tool, answer *sdk.CallToolResult) []registry.Output {
	var outputs []registry.Output
	data, declared := tool.OutputSchema.Data()
	if declared && answer.StructuredContent != nil {
		answer.StructuredContent = withoutFiles(answer.StructuredContent, answer.Content)
		outputs = append(outputs, registry.Output{Name: data.Name, Type: "text", Text: dataText(answer)})
	}
	for _, content := range answer.Content {
		switch c := content.(type) {
		case *sdk.TextContent:
			one := text(c.Text)
			switch {
			case declared && answer.StructuredContent == nil: // it breaks its word; people have its texts all the same
				one.Name = data.Name
			case declared && (says(c.Text, answer.StructuredContent) || says(c.Text, sole(answer.StructuredContent))):
				continue
			}
			outputs = append(outputs, one)
		case *sdk.ImageContent:
			outputs = append(outputs, file("image", c.MIMEType, c.Data))
		case *sdk.AudioContent:
			outputs = append(outputs, file("audio", c.MIMEType, c.Data))
		case *sdk.ResourceLink:
			outputs = append(outputs, p.linked(ctx, session, c)...)
		case *sdk.EmbeddedResource:
			outputs = append(outputs, embedded(c.Resource))
		}
	}
	if len(outputs) == 0 && answer.StructuredContent != nil {
		words, isText := sole(answer.StructuredContent).(string)
		if !isText {
			words = dataText(answer)
		}
		outputs = append(outputs, text(words))
	}
	return outputs
}

// withoutFiles is structured content without the files that the content has beside it: some servers repeat the whole answer there, and
// nobody reads a picture in base64.
func withoutFiles(value any, beside []sdk.Content) any {
	known := map[string]string{}
	note := func(data []byte, media string) {
		if len(data) > 0 {
			known[base64.StdEncoding.EncodeToString(data)] = fmt.Sprintf("(%s, %d bytes)", cmp.Or(media, "file"), len(data))
		}
	}
	for _, content := range beside {
		switch c := content.(type) {
		case *sdk.ImageContent:
			note(c.Data, c.MIMEType)
		case *sdk.AudioContent:
			note(c.Data, c.MIMEType)
		case *sdk.EmbeddedResource:
			if c.Resource != nil {
				note(c.Resource.Blob, c.Resource.MIMEType)
			}
		}
	}
	if len(known) == 0 {
		return value
	}
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			return cmp.Or(known[v], v)
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			for name := range v {
				v[name] = walk(v[name])
			}
		}
		return v
	}
	return walk(value)
}

// sole is the only member of an object, in which libraries for servers wrap what is no object; nil where there is no such.
func sole(content any) any {
	if object, isObject := content.(map[string]any); isObject && len(object) == 1 {
		for _, value := range object {
			return value
		}
	}
	return nil
}

// dataText is the structured content as JSON: as the server wrote it into a text, whose numbers are whole, or as it came.
func dataText(answer *sdk.CallToolResult) string {
	for _, content := range answer.Content {
		if c, ok := content.(*sdk.TextContent); ok && says(c.Text, answer.StructuredContent) {
			return c.Text
		}
	}
	raw, err := json.MarshalIndent(answer.StructuredContent, "", "  ")
	if err != nil {
		return ""
	}
	return string(raw)
}

// says reports whether a text is the JSON of a value.
func says(text string, value any) bool {
	var read any
	return value != nil && json.Unmarshal([]byte(text), &read) == nil && reflect.DeepEqual(read, value)
}

// linked is what a link leads to: a file on the web, or what the server itself has under an address that only it knows. Where
// it does not hand that out, the link stays as a text: what the call did is done.
func (p *Provider) linked(ctx context.Context, session *sdk.ClientSession, link *sdk.ResourceLink) (outputs []registry.Output) {
	if u, err := url.Parse(link.URI); err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") {
		return []registry.Output{upstream.File(p.cfg.Guard, "link", kindOf(link.MIMEType), link.URI, registry.MediaInfo{Name: link.Name, MIMEType: link.MIMEType})}
	}
	found, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: link.URI})
	if err != nil {
		return []registry.Output{text(strings.TrimSpace(cmp.Or(link.Title, link.Name) + " " + link.URI))}
	}
	for _, part := range found.Contents {
		one := embedded(part)
		if one.Open != nil {
			one.Info.Name = link.Name
		}
		outputs = append(outputs, one)
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
	one := file(kindOf(r.MIMEType), r.MIMEType, r.Blob)
	if u, err := url.Parse(r.URI); err == nil && path.Base(u.Path) != "/" && path.Base(u.Path) != "." {
		one.Info.Name = path.Base(u.Path)
	}
	return one
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
