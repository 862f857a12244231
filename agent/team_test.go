package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// agentFile is one of a folder of agents.
func agentFile(id, rank, tools, agents string) string {
	return fmt.Sprintf(`{"id":%q,"name":%q,"rank":%q,"instructions":"Do what you do.","toolIds":[%s],"agentIds":[%s]}`, id, id, rank, tools, agents)
}

func folderOf(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, text := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.agent.json", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func loaded(t *testing.T, tools []registry.Tool, files ...string) (ids []string, problems string, byID map[string]registry.Tool) {
	t.Helper()
	snapshot := catalog.NewSnapshot(tools, time.Now())
	team := agent.NewTeam(agent.TeamConfig{Dir: folderOf(t, files...), Snapshot: func() *catalog.Snapshot { return snapshot }})
	list, err := team.Load(t.Context())
	if partial := new(registry.PartialError); err != nil && !errors.As(err, &partial) {
		t.Fatal(err)
	}
	byID = map[string]registry.Tool{}
	for _, tool := range list {
		ids, byID[tool.ToolID] = append(ids, tool.ToolID), tool
	}
	return ids, fmt.Sprint(err), byID
}

func TestTeam(t *testing.T) {
	t.Parallel()
	look := registrytest.Tool("look")
	t.Run("E8 agents of three ranks are tools of kind agent", func(t *testing.T) {
		t.Parallel()
		ids, problems, byID := loaded(t, nil, agentFile("boss", "director", ``, `"middle"`), agentFile("middle", "coordinator", ``, `"hand"`), agentFile("hand", "specialist", `"look"`, ``))
		if !slices.Equal(ids, []string{"boss", "middle", "hand"}) || problems != "<nil>" {
			t.Fatalf("got %v, %s", ids, problems)
		}
		for id, tool := range byID {
			if found := registry.Validate(tool); tool.Kind != agent.Kind || found != nil {
				t.Errorf("%s: kind %q, %v", id, tool.Kind, found)
			}
		}
	})
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"E137 a circle is refused with its names":     {[]string{agentFile("a", "director", `"b"`, ``), agentFile("b", "director", `"a"`, ``)}, "a > b > a"},
		"E76 an unknown agent is refused by its name": {[]string{agentFile("a", "director", ``, `"ghost"`)}, "ghost"},
		"E8 nobody calls upwards":                     {[]string{agentFile("a", "specialist", ``, `"b"`), agentFile("b", "director", ``, ``)}, "a specialist can't call b, which is a director"},
		"E8 nobody calls upwards as a tool":           {[]string{agentFile("a", "coordinator", `"b"`, ``), agentFile("b", "coordinator", ``, ``)}, "a coordinator can't call b"},
		"E8 an unknown rank is refused":               {[]string{agentFile("a", "king", ``, ``)}, "king"},
		"two agents of one id are refused":            {[]string{agentFile("a", "director", ``, ``), agentFile("a", "specialist", ``, ``)}, "two agents have the id a"},
		"a member that there is not is refused":       {[]string{`{"id":"a","name":"a","rank":"director","instructions":"x","toolIds":[],"mood":"good"}`}, "mood"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := append(c.files, agentFile("good", "specialist", ``, ``))
			ids, problems, _ := loaded(t, nil, files...)
			if !strings.Contains(problems, c.want) || !slices.Contains(ids, "good") {
				t.Errorf("got %v, %s", ids, problems)
			}
		})
	}
	t.Run("E76 an unknown tool is reported at load, by its name", func(t *testing.T) {
		t.Parallel()
		_, _, byID := loaded(t, []registry.Tool{look}, agentFile("hand", "specialist", `"look","ghostTool"`, ``))
		if s := byID["hand"].Status; s == nil || s.State != registry.StateUnavailable || !strings.Contains(s.Reason, "ghostTool") || strings.Contains(s.Reason, "look,") {
			t.Errorf("got %+v", s)
		}
	})
}

func TestTeamAnswers(t *testing.T) {
	t.Parallel()
	reg := pages(t, 30)
	m := turns(agent.Turn{Calls: []agent.Call{call("getPage", `{"prompt":"x"}`), call("thing0001", `{"prompt":"x"}`)}}, agent.Turn{Text: "I looked."})
	team := agent.NewTeam(agent.TeamConfig{
		Dir: folderOf(t, agentFile("hand", "specialist", `"getPage"`, ``)), Snapshot: reg.Snapshot,
		Ask: func(_ context.Context, d agent.Definition, q agent.Question) (agent.Answer, error) {
			return askPages(t, reg, m, q, func(c *agent.Config) { c.Instructions, c.Only = d.Instructions, d.Tools() }), nil
		},
	})
	tools, err := team.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	result, err := team.Call(t.Context(), registry.Call{Tool: tools[0], UserID: "ann", Inputs: map[string]any{"query": "what is on the page?"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("E75 an agent that is asked answers by its instructions", func(t *testing.T) {
		if result.Outputs[0].Text != "I looked." || !strings.Contains(m.last.System, "Do what you do.") {
			t.Errorf("got %+v", result)
		}
	})
	t.Run("E8 its toolIds limit what it is shown and what it can call", func(t *testing.T) {
		for _, tool := range m.last.Tools {
			if strings.HasPrefix(tool.Name, "thing") || tool.Name == "updatePage" {
				t.Errorf("%s is shown", tool.Name)
			}
		}
		results := m.last.Turns[2].Results
		if results[0].Failed || !results[1].Failed || !strings.Contains(results[1].Text, "tool_not_found") {
			t.Errorf("heard %+v", results)
		}
	})
	t.Run("E76 an agent one of whose tools went is not asked", func(t *testing.T) {
		gone := tools[0].Clone()
		gone.Metadata["agent"].(map[string]any)["toolIds"] = []any{"ghostTool"}
		if _, err := team.Call(t.Context(), registry.Call{Tool: gone, Inputs: map[string]any{"query": "x"}}); err == nil || !strings.Contains(err.Error(), "ghostTool") {
			t.Errorf("got %v", err)
		}
	})
}
