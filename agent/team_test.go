package agent_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	"github.com/signalbox/signalbox/registry/validate"
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
	team := agent.NewTeam(agent.TeamConfig{Dir: folderOf(t, files...), Store: &registrytest.Specs{}, Snapshot: func() *catalog.Snapshot { return snapshot }})
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
			if found := validate.Tool(tool); tool.Kind != agent.Kind || found != nil {
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
	snapshot := reg.Snapshot
	m := turns(agent.Turn{Calls: []agent.Call{call("getPage", `{"prompt":"x"}`), call("thing0001", `{"prompt":"x"}`)}}, agent.Turn{Text: "I looked."})
	team := agent.NewTeam(agent.TeamConfig{
		Dir: folderOf(t, agentFile("hand", "specialist", `"getPage"`, ``)), Store: &registrytest.Specs{}, Snapshot: func() *catalog.Snapshot { return snapshot() },
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
		snapshot = func() *catalog.Snapshot { return catalog.NewSnapshot(nil, time.Now()) }
		if _, err := team.Call(t.Context(), registry.Call{Tool: tools[0], Inputs: map[string]any{"query": "x"}}); err == nil || !strings.Contains(err.Error(), "getPage") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("what an agent is told stands in no tool", func(t *testing.T) {
		if text := fmt.Sprintf("%+v", tools[0]); strings.Contains(text, "Do what you do.") {
			t.Errorf("found in %s", text)
		}
	})
}

// bundledTeam loads the agents that come with the program beside these tools, twice, as the program does.
func bundledTeam(t *testing.T, ask func(d agent.Definition) agent.Answer, own []string, tools ...registry.Tool) (*agent.Team, map[string]registry.Tool) {
	t.Helper()
	snapshot := catalog.NewSnapshot(nil, time.Now())
	store := &registrytest.Specs{}
	cfg := agent.TeamConfig{
		Dir: folderOf(t, own...), Bundled: agent.BundledTeam(), Store: store, Snapshot: func() *catalog.Snapshot { return snapshot },
		Ask: func(_ context.Context, d agent.Definition, _ agent.Question) (agent.Answer, error) {
			return ask(d), nil
		},
		May: func(_ context.Context, _, _, budget string) (registry.Audience, error) {
			return registry.Only(strings.Fields(budget)), nil
		},
	}
	team, byID := agent.NewTeam(cfg), map[string]registry.Tool{}
	for range 2 {
		list, err := team.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		clear(byID)
		for _, tool := range list {
			byID[tool.ToolID] = tool
		}
		snapshot = catalog.NewSnapshot(slices.Concat(tools, list), time.Now())
	}
	return agent.NewTeam(cfg), byID // which has to find in the store what the other one was told
}

func TestBundledTeam(t *testing.T) {
	t.Parallel()
	tool := func(id, service, gives string) registry.Tool {
		return registrytest.Tool(id, func(t *registry.Tool) {
			t.Service, t.CommandName, t.CostingModel, t.OutputSchema = service, "", nil, registry.OutputSchema{{Name: "result", Type: gives}}
		})
	}
	nobody := func(agent.Definition) agent.Answer { return agent.Answer{} }
	names := func(byID map[string]registry.Tool) string {
		return strings.Join(slices.Sorted(maps.Keys(byID)), " ")
	}
	t.Run("E137 each agent is there as its tools are", func(t *testing.T) {
		t.Parallel()
		for want, tools := range map[string][]registry.Tool{
			"":                            {tool("count", "demo", "text")},
			"director illustrator":        {tool("paint", "demo", "image")},
			"designer director librarian": {tool("draw", "canvas", "text"), tool("docs", "knowledge", "text")},
			"designer director editor illustrator librarian": {tool("paint", "demo", "image"), tool("draw", "canvas", "text"), tool("docs", "knowledge", "text"), tool("getPage", "content", "text")},
		} {
			_, byID := bundledTeam(t, nobody, nil, tools...)
			if got := names(byID); got != want {
				t.Errorf("there are %q, want %q", got, want)
			}
			for id, one := range byID {
				if found := validate.Tool(one); found != nil || one.Status != nil {
					t.Errorf("%s: %v, %+v", id, found, one.Status)
				}
			}
		}
	})
	t.Run("E8 an agent of the operator's takes the place of the bundled one", func(t *testing.T) {
		t.Parallel()
		_, byID := bundledTeam(t, nobody, []string{agentFile("illustrator", "specialist", `"paint"`, ``)}, tool("paint", "demo", "image"))
		if byID["illustrator"].DisplayName != "illustrator" || names(byID) != "director illustrator" {
			t.Errorf("got %v", byID)
		}
	})
	t.Run("E41 the director's prompt lists who can be called, with rules and an example", func(t *testing.T) {
		t.Parallel()
		var told agent.Definition
		team, byID := bundledTeam(t, func(d agent.Definition) agent.Answer { told = d; return agent.Answer{Text: "done"} }, nil,
			tool("paint", "demo", "image"), tool("draw", "canvas", "text"))
		if _, err := team.Call(t.Context(), registry.Call{Tool: byID["director"], Inputs: map[string]any{"query": "a party"}}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"\n- illustrator: Makes pictures", "Rules: Say what is to be seen", `Example: {"query":"A red bicycle`, "\n- designer: "} {
			if !strings.Contains(told.Instructions, want) {
				t.Errorf("%q is missing in %s", want, told.Instructions)
			}
		}
		if strings.Contains(told.Instructions, "librarian") || !slices.Equal(told.Tools(), []string{"illustrator", "designer"}) {
			t.Errorf("told of others: %+v", told)
		}
	})
	t.Run("who may not call one of them is told nothing of it", func(t *testing.T) {
		t.Parallel()
		var told agent.Definition
		team, byID := bundledTeam(t, func(d agent.Definition) agent.Answer { told = d; return agent.Answer{Text: "done"} }, nil, tool("paint", "demo", "image"), tool("draw", "canvas", "text"))
		for only, want := range map[string]string{"director designer": "designer", "director": "nobody"} {
			if _, err := team.Call(t.Context(), registry.Call{Tool: byID["director"], Budget: only, Inputs: map[string]any{"query": "a party"}}); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(told.Instructions, "illustrator") || strings.Contains(told.Instructions, "\n- designer: ") != (want == "designer") || strings.Contains(told.Instructions, "Those you can call") != (want == "designer") {
				t.Errorf("with a key for %q: %s", only, told.Instructions)
			}
		}
	})
	t.Run("E8 an agent has the tools that its definition chooses", func(t *testing.T) {
		t.Parallel()
		var told agent.Definition
		team, byID := bundledTeam(t, func(d agent.Definition) agent.Answer { told = d; return agent.Answer{Text: "done"} }, nil,
			tool("paint", "demo", "image"), tool("count", "demo", "text"), tool("draw", "canvas", "text"))
		if _, err := team.Call(t.Context(), registry.Call{Tool: byID["illustrator"], Inputs: map[string]any{"query": "a bicycle"}}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(told.Tools(), []string{"paint"}) {
			t.Errorf("it has %v", told.Tools())
		}
	})
}
