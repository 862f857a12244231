package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
)

// imageRuns answer as a site's tools for pictures do.
type imageRuns struct{ fakeRuns }

func (f imageRuns) Ask(ctx context.Context, r runs.Request) (runs.Run, error) {
	run, err := f.fakeRuns.Ask(ctx, r)
	run.Outputs = []runs.Output{{Name: "url", Type: "text", Text: "/uploads/00/abc/mug.png"}}
	return run, err
}

func TestImages(t *testing.T) {
	t.Parallel()
	read := func(id string, metadata map[string]any) registry.Tool {
		return registrytest.Tool(id, func(t *registry.Tool) {
			t.CommandName, t.Capability, t.CostingModel, t.Metadata = "", registry.CapabilityRead, nil, metadata
			t.OutputSchema = registry.OutputSchema{{Name: "url", Type: "text"}}
		})
	}
	reg := registrytest.Registry(t, registrytest.NewLoader("tools", read("getImage", nil), read("browseImages", map[string]any{"after": "getImage"})))
	ask := func(t *testing.T, list ...agent.Turn) agent.Answer {
		return askPages(t, reg, turns(list...), agent.Question{Text: "a mug"}, func(c *agent.Config) { c.Runs = imageRuns{fakeRuns{registry: reg}} })
	}
	look := agent.Turn{Calls: []agent.Call{call("getImage", `{"prompt":"mug"}`)}}
	t.Run("D110 an answer with a domain is corrected", func(t *testing.T) {
		t.Parallel()
		answer := ask(t, look, agent.Turn{Text: "![a mug](https://example.com/uploads/00/abc/mug.png) and //cdn.example/uploads/00/abc/mug.png, from https://example.com/mugs"})
		if answer.Text != "![a mug](/uploads/00/abc/mug.png) and /uploads/00/abc/mug.png, from https://example.com/mugs" {
			t.Errorf("got %q", answer.Text)
		}
	})
	t.Run("D112 an address that no tool returned goes back once", func(t *testing.T) {
		t.Parallel()
		made := agent.Turn{Calls: []agent.Call{call("finalAnswer", `{"answer":"Here: /uploads/00/abc/cup.png"}`)}}
		answer := ask(t, look, made, agent.Turn{Calls: []agent.Call{call("finalAnswer", `{"answer":"Here: /uploads/00/abc/mug.png."}`)}})
		if refused := answer.Steps[1].Result; refused.OK || !strings.Contains(refused.Error.Message, "no tool returned /uploads/00/abc/cup.png") {
			t.Errorf("the invented address: %+v", refused)
		}
		if answer.Text != "Here: /uploads/00/abc/mug.png." || answer.Rounds != 3 {
			t.Errorf("got %+v", answer)
		}
	})
	t.Run("D111 what the site has is looked for before what is outside", func(t *testing.T) {
		t.Parallel()
		browse := agent.Turn{Calls: []agent.Call{call("browseImages", `{"prompt":"mug"}`)}}
		answer := ask(t, browse, look, browse, agent.Turn{Text: "Found."})
		if early := answer.Steps[0]; early.Result.OK || early.RunID != "" || !strings.Contains(early.Result.Error.Message, "getImage first") {
			t.Errorf("browsing at once: %+v", early)
		}
		if !answer.Steps[1].Result.OK || !answer.Steps[2].Result.OK {
			t.Errorf("got %+v", answer.Steps)
		}
	})
}

// meeting holds calls up until so many are under way at the same time.
type meeting struct {
	fakeRuns
	together sync.WaitGroup
}

func (m *meeting) Ask(ctx context.Context, r runs.Request) (runs.Run, error) {
	run, err := m.fakeRuns.Ask(ctx, r)
	run.Status = runs.StatusRunning
	return run, err
}

func (m *meeting) Subscribe(id string) (<-chan runs.Run, func()) {
	states := make(chan runs.Run, 1)
	go func() {
		defer close(states)
		m.together.Done()
		m.together.Wait() // if the second call waited for the first one's end, it would never come here
		if run, err := m.fakeRuns.Ask(context.Background(), runs.Request{ToolID: strings.TrimPrefix(id, "run-")}); err == nil {
			states <- run
		}
	}()
	return states, func() {}
}

func (*meeting) Cancel(context.Context, string, string) (runs.Run, error) { return runs.Run{}, nil }

func TestOrderOfCalls(t *testing.T) {
	t.Parallel()
	t.Run("B33 calls of one turn are under way together, and recorded in their order and round", func(t *testing.T) {
		t.Parallel()
		reg := pages(t, 2)
		both := &meeting{fakeRuns: fakeRuns{registry: reg}}
		both.together.Add(2)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		cfg := agent.Config{Registry: reg, Runs: both, Provider: "demo", File: func(runs.Run, runs.Output) any { return nil },
			Model: turns(agent.Turn{Calls: []agent.Call{call("thing0001", `{"prompt":"x"}`), call("thing0000", `{"prompt":"x"}`)}}, agent.Turn{Text: "done"})}
		answer, err := agent.New(cfg).Ask(ctx, agent.Question{Text: "both things"})
		if err != nil || len(answer.Steps) != 2 {
			t.Fatalf("got %+v, %v", answer, err)
		}
		for i, tool := range []string{"thing0001", "thing0000"} {
			if s := answer.Steps[i]; s.Tool != tool || s.Round != 1 || !s.Result.OK {
				t.Errorf("step %d is %+v", i, s)
			}
		}
	})
}

func TestGuidanceSaysWhatNothingElseSays(t *testing.T) {
	t.Parallel()
	bundled, err := agent.DefaultGuidance()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := content.New(content.Config{}).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	words := func(text string) []string {
		list := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
		return slices.DeleteFunc(list, func(w string) bool { return len(w) < 4 })
	}
	t.Run("D106 no line repeats a description or a schema", func(t *testing.T) {
		checked := 0
		for _, tool := range loaded {
			line := words(bundled[tool.ToolID])
			if len(line) == 0 {
				continue
			}
			checked++
			schema, err := tool.InputSchema.JSONSchema()
			if err != nil {
				t.Fatal(err)
			}
			said, known := words(tool.Description+" "+string(schema)), 0
			for _, w := range line {
				if slices.Contains(said, w) {
					known++
				}
			}
			if share := float64(known) / float64(len(line)); share > 0.6 {
				t.Errorf("%s: %.0f %% of the words of %q are in what the tool says of itself", tool.ToolID, 100*share, bundled[tool.ToolID])
			}
		}
		if checked < 8 {
			t.Errorf("only %d tools were checked", checked)
		}
	})
	t.Run("D126 D127 D132 workflows are for developers and stand in no prompt; each part has its place", func(t *testing.T) {
		files, err := filepath.Glob("../docs/workflows/*.md")
		if err != nil || len(files) == 0 {
			t.Fatalf("docs/workflows has no file: %v", err)
		}
		m := turns(agent.Turn{Text: "hello"})
		askPages(t, pages(t, 0), m, agent.Question{}, func(c *agent.Config) { c.Guidance = func() agent.Guidance { return bundled } })
		prompt := m.last.System + m.last.Turns[0].Text
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if line = strings.TrimSpace(line); len(line) > 30 && strings.Contains(prompt, line) {
					t.Errorf("%s: the prompt has %q", file, line)
				}
			}
		}
		about, err := os.ReadFile("../docs/agent.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range []string{"agent/tool-guidance.json", "agent/system.go", "docs/workflows"} {
			if !strings.Contains(string(about), place) {
				t.Errorf("docs/agent.md does not name %s", place)
			}
		}
	})
}
