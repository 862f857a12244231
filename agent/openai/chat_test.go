package openai_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/openai/openaitest"
	"github.com/signalbox/signalbox/registry"
)

func looksTwice(heard []agent.Result) agent.Turn {
	if heard == nil {
		return agent.Turn{Text: "Let me see.", Calls: []agent.Call{{Tool: "a_b", Arguments: `{"n":12345678901234567890}`}, {Tool: "a_b_2", Arguments: `{"n":2}`}}}
	}
	return agent.Turn{Text: heard[0].Text + heard[1].Text}
}

// Servers that call themselves compatible differ in many ways; all of these are understood.
func TestCompatibleServers(t *testing.T) {
	t.Parallel()
	for name, habits := range map[string]openaitest.Habits{
		"as documented": {}, "places of calls are missing": {NoIndex: true}, "ids are missing": {NoID: true}, "arguments are an object": {Objects: true},
		"arguments come twice": {Repeats: true}, "no end of the stream": {NoDone: true}, "no stream at all": {NoStream: true},
	} {
		t.Run("B31 "+name, func(t *testing.T) {
			t.Parallel()
			server := openaitest.NewChat(t, habits, looksTwice)
			client := newClient(t, server.BaseURL(), "")
			asked, err := client.Answer(t.Context(), talk)
			if err != nil {
				t.Fatal(err)
			}
			if len(asked.Calls) != 2 || asked.Calls[0].Tool != "a_b" || asked.Calls[1].Tool != "a.b" || asked.Calls[0].Arguments != `{"n":12345678901234567890}` || asked.Text != "Let me see." || asked.Usage.Input != 40 {
				t.Fatalf("got %+v", asked)
			}
			next := talk
			next.Turns = append(next.Turns[:1:1], asked, agent.Turn{By: agent.Tools, Results: []agent.Result{{CallID: asked.Calls[0].ID, Text: "one "}, {CallID: asked.Calls[1].ID, Text: "two"}}})
			if done, err := client.Answer(t.Context(), next); err != nil || done.Text != "one two" {
				t.Errorf("got %+v, %v", done, err)
			}
		})
	}
	t.Run("B31 a server with keys that knows no Responses API is asked by chat completions", func(t *testing.T) {
		t.Parallel()
		server := openaitest.NewChat(t, openaitest.Habits{}, looksTwice)
		if asked, err := newClient(t, server.BaseURL(), "sk-x").Answer(t.Context(), talk); err != nil || len(asked.Calls) != 2 {
			t.Errorf("got %+v, %v", asked, err)
		}
	})
	for name, habits := range map[string]openaitest.Habits{"a stream that is cut": {Cut: true}, "a stream that fails": {Fails: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := openaitest.NewChat(t, habits, looksTwice)
			_, err := newClient(t, server.BaseURL(), "").Answer(t.Context(), talk)
			if e := registry.AsError(err); err == nil || !e.Retryable || strings.Contains(err.Error(), "sk-") {
				t.Errorf("got %v", err)
			}
		})
	}
}
