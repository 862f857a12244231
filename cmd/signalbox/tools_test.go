package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
	"github.com/signalbox/signalbox/workflows"
)

func TestFormerVersionsRun(t *testing.T) {
	t.Parallel()
	flow, err := workflows.FS.ReadFile("wallpaper.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := defaultSettings()
	if err != nil {
		t.Fatal(err)
	}
	s.DataDir, s.ListenAddr, s.WorkflowsDir = t.TempDir(), "127.0.0.1:0", t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(s.WorkflowsDir, "paint.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.ToolsDir = t.TempDir()
	describe := func(name string) {
		t.Helper()
		file := "tool: {toolId: echo, displayName: " + name + ", commandName: /echo, inputSchema: {}, outputSchema: {a: {type: text}}}\nhttp: {baseURL: https://clouds.example, submit: {path: /x}}\n"
		if err := os.WriteFile(filepath.Join(s.ToolsDir, "echo.tool.yaml"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(string(flow))
	describe("Former")
	a := startApp(t, s)
	write(strings.Replace(string(flow), "label=Colours min=2 max=64", "label=Inks min=2 max=4", 1))
	describe("Present")
	a.reload(t.Context())
	for _, command := range [][]string{{"rollback", "/paint", "1"}, {"keep", "paint", "2"}, {"rollback", "echo", "1"}} {
		args := append([]string{"tools"}, command...)
		if _, problems, code := printed(t, append(args, "--data-dir", s.DataDir)...); code != 0 {
			t.Fatalf("%v: %s", args, problems)
		}
	}
	if out, _, _ := printed(t, "tools", "versions", "paint", "--data-dir", s.DataDir); !strings.Contains(out, "rolled back to") || !strings.Contains(out, "kept as paint-v2") {
		t.Error(out)
	}
	a.reload(t.Context())
	if echo, there := a.registry.Snapshot().ByID("echo"); !there || echo.DisplayName != "Former" || !echo.OfferedTo(registry.Everyone) {
		t.Errorf("a service's tool is served as %+v, not as it was", echo)
	}
	who, err := a.users.Identify(t.Context(), users.Identity{Platform: "web", ExternalID: "1", Name: "Ann"})
	if err != nil {
		t.Fatal(err)
	}
	for tool, most := range map[string]int{"paint": 64, "paint-v2": 4} {
		request := func(colors int) runs.Request {
			return runs.Request{AccountID: who.ID, ToolID: tool, Origin: runs.Origin{Platform: "api"}, Audience: registry.Everyone,
				Values: map[runs.Source]map[string]any{runs.FromArgument: {"colors": colors, "width": 64, "height": 64}}}
		}
		if _, err := a.runs.Accept(t.Context(), request(most+1)); err == nil {
			t.Errorf("%s takes %d colours", tool, most+1)
		}
		run, err := a.runs.Accept(t.Context(), request(most))
		if err != nil {
			t.Fatal(err)
		}
		states, stop := a.runs.Subscribe(run.ID)
		for state := range states {
			run = state
		}
		stop()
		if run.Status != runs.StatusSucceeded {
			t.Errorf("%s: %s, %v", tool, run.Status, run.Error)
		}
	}
}
