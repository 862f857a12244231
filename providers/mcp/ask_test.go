package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/registry"
)

// owner answers what a server asks.
type owner struct {
	mu     sync.Mutex
	asked  []registry.Question
	answer func(ctx context.Context, q registry.Question) registry.Reply
}

func (o *owner) ask(ctx context.Context, q registry.Question) registry.Reply {
	o.mu.Lock()
	o.asked = append(o.asked, q)
	o.mu.Unlock()
	return o.answer(ctx, q)
}

func accept(values map[string]any) func(context.Context, registry.Question) registry.Reply {
	return func(_ context.Context, q registry.Question) registry.Reply {
		if len(q.Fields) == 0 {
			return registry.Reply{Action: registry.ActionAccept}
		}
		return registry.Reply{Action: registry.ActionAccept, Values: values}
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	values := map[string]any{"shelf": json.Number("3"), "lend": true, "colour": "#0f0", "mail": "ann@example.org"}
	const form = `accept {"colour":"#0f0","lend":true,"mail":"ann@example.org","shelf":3};`
	says := func(action registry.Action) func(context.Context, registry.Question) registry.Reply {
		return func(context.Context, registry.Question) registry.Reply { return registry.Reply{Action: action} }
	}
	for name, c := range map[string]struct {
		server func(*testing.T) string
		before string
	}{
		"2026-07-28 over HTTP":         {func(t *testing.T) string { return newLibrary(t, true).config("") }, ""},
		"2025-11-25 over HTTP":         {func(t *testing.T) string { return newLibrary(t, false).config("") }, " as before"},
		"a program by standard in/out": {program, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, map[string]string{"library": c.server(t)})
			tools, err := h.tools(t)
			if err != nil {
				t.Fatal(err)
			}
			call := func(text string, o *owner) (string, error) {
				result, err := h.Call(t.Context(), registry.Call{RunID: "r", Tool: tools["library.find"], Inputs: map[string]any{"text": text + c.before}, Ask: o.ask})
				if err != nil {
					return "", err
				}
				return result.Outputs[0].Text, nil
			}
			t.Run("a form is the owner's to fill in", func(t *testing.T) {
				o := &owner{answer: accept(values)}
				got, err := call("form", o)
				if err != nil || got != form {
					t.Fatalf("got %q, %v", got, err)
				}
				q := o.asked[0]
				names := ""
				for _, f := range q.Fields {
					names += f.Name + " "
				}
				colour, _ := q.Field("colour")
				if len(o.asked) != 1 || q.Message != "Which shelf?" || names != "shelf colour lend mail " || !q.Fields[0].Required || q.Fields[0].DisplayName != "Shelf ***" || q.URL != "" || colour.Choices[1].Label != "Green" {
					t.Errorf("asked %+v", o.asked)
				}
			})
			t.Run("no, and no answer in time, are told to the server", func(t *testing.T) {
				for _, action := range []registry.Action{registry.ActionDecline, registry.ActionCancel} {
					if got, err := call("form", &owner{answer: says(action)}); err != nil || got != string(action)+" null;" {
						t.Errorf("%s: got %q, %v", action, got, err)
					}
				}
			})
			t.Run("two questions come one after the other", func(t *testing.T) {
				o := &owner{answer: accept(values)}
				if got, err := call("two", o); err != nil || got != `accept {};`+form && got != `accept null;`+form || len(o.asked) != 2 || o.asked[0].Message != "Sure?" || len(o.asked[0].Fields) != 0 {
					t.Errorf("got %q, %v; asked %+v", got, err, o.asked)
				}
			})
			t.Run("a page to open is shown with its address; what is no page is declined unasked", func(t *testing.T) {
				o := &owner{answer: accept(nil)}
				if got, err := call("page", o); err != nil || got != `accept null;` || o.asked[0].URL != "https://books.example/in?for=me" || o.asked[0].Message != "Please sign in" {
					t.Errorf("got %q, %v; asked %+v", got, err, o.asked)
				}
				if got, err := call("script", o); err != nil || got != `decline null;` || len(o.asked) != 1 {
					t.Errorf("got %q, %v; asked %+v", got, err, o.asked)
				}
			})
			t.Run("a call that fails for want of an answer says so", func(t *testing.T) {
				_, err := call("insist", &owner{answer: says(registry.ActionCancel)})
				if e := registry.AsError(err); e == nil || e.Message != "library asked something and got no answer in time: Which shelf?" {
					t.Errorf("got %v", err)
				}
				_, err = call("insist", &owner{answer: says(registry.ActionDecline)})
				if e := registry.AsError(err); e == nil || e.Message != "no shelf, no book" {
					t.Errorf("a no is answered in the server's own words: %v", err)
				}
			})
			t.Run("a call that is canceled takes its question back", func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				over := make(chan struct{})
				o := &owner{answer: func(asking context.Context, _ registry.Question) registry.Reply {
					defer close(over)
					cancel()
					<-asking.Done()
					return registry.Reply{Action: registry.ActionCancel}
				}}
				_, err := h.Call(ctx, registry.Call{RunID: "r", Tool: tools["library.find"], Inputs: map[string]any{"text": "form" + c.before}, Ask: o.ask})
				if err == nil {
					t.Error("the call succeeded")
				}
				select {
				case <-over:
				case <-time.After(time.Minute):
					t.Fatal("the question is still open")
				}
			})
			t.Run("the next calls' questions are theirs again", func(t *testing.T) {
				// The first one's may be declined where a question does not say which call it is of: the one before was left without an answer.
				got, err := call("form", &owner{answer: accept(values)})
				if err != nil || got != form && (c.before == "" || got != "decline null;") {
					t.Errorf("got %q, %v", got, err)
				}
				if got, err := call("form", &owner{answer: accept(values)}); err != nil || got != form {
					t.Errorf("then got %q, %v", got, err)
				}
			})
		})
	}
	t.Run("nobody is asked what may be another's question", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, map[string]string{"library": newLibrary(t, false).config("")})
		tools, err := h.tools(t)
		if err != nil {
			t.Fatal(err)
		}
		call := func(text string, o *owner) string {
			result, err := h.Call(t.Context(), registry.Call{RunID: "r", Tool: tools["library.find"], Inputs: map[string]any{"text": text}, Ask: o.ask})
			if err != nil {
				return err.Error()
			}
			return result.Outputs[0].Text
		}
		asked, answered := make(chan struct{}), make(chan struct{})
		first := &owner{answer: func(context.Context, registry.Question) registry.Reply {
			close(asked)
			<-answered
			return registry.Reply{Action: registry.ActionAccept, Values: values}
		}}
		done := make(chan string)
		go func() { done <- call("form as before", first) }()
		<-asked
		second := &owner{answer: accept(values)}
		if got := call("form as before", second); got != "decline null;" || len(second.asked) != 0 {
			t.Errorf("got %q, asked %+v", got, second.asked)
		}
		close(answered)
		if got := <-done; got != form {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a form beyond bounds is declined unasked", func(t *testing.T) {
		t.Parallel()
		properties := map[string]any{}
		for i := range 21 {
			properties[fmt.Sprintf("f%d", i)] = map[string]any{"type": "string"}
		}
		questions := map[string]any{"many fields": properties, "a long name": map[string]any{strings.Repeat("n", 201): map[string]any{"type": "string"}}}
		for name, properties := range questions {
			server := asking(t, map[string]any{"type": "object", "properties": properties})
			h := newHouse(t, map[string]string{"library": server})
			o := &owner{answer: accept(nil)}
			tools, err := h.tools(t)
			if err != nil {
				t.Fatal(err)
			}
			result, err := h.Call(t.Context(), registry.Call{RunID: "r", Tool: tools["library.ask"], Ask: o.ask})
			if err != nil || result.Outputs[0].Text != "decline null;" || len(o.asked) != 0 {
				t.Errorf("%s: got %+v, %v; asked %d", name, result.Outputs, err, len(o.asked))
			}
		}
	})
}

// asking is a server with one tool, which asks for what a schema says.
func asking(t *testing.T, schema map[string]any) string {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "x", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "ask"}, func(_ context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		if said, asked := r.Params.InputResponses["q"].(*sdk.ElicitResult); asked {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: heard(said)}}}, nil, nil
		}
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"q": &sdk.ElicitParams{Mode: "form", Message: "?", RequestedSchema: schema}}}, nil, nil
	})
	s := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(s.Close)
	return fmt.Sprintf(`{"url":%q}`, s.URL)
}
