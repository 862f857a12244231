package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// flashed reads the tools of a dump.
func flashed(t *testing.T, out string) map[string]registry.Tool {
	t.Helper()
	list, err := catalog.NewFlashLoader("dump", filepath.Join(out, catalog.FlashFile)).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]registry.Tool{}
	for _, tool := range list {
		tools[tool.ToolID] = tool
	}
	return tools
}

func TestFlashIsWhatIsServed(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	flows, definitions, out := bundled(t, map[string]string{"extra": "sticker"}), newDir(t), filepath.Join(newDir(t), "out")
	definition := `{"toolId": %q, "service": %q, "displayName": "T", "commandName": "/%n", "inputSchema": {"prompt": {"type": "string", "required": true}}, "outputSchema": {"image": {"type": "image"}}}`
	for id, service := range map[string]string{"bare": "vidu", "hollow": "comfyui"} {
		put(t, filepath.Join(definitions, id+".json"), strings.NewReplacer("%q, \"service\": %q", `"`+id+`", "service": "`+service+`"`, "%n", id).Replace(definition))
	}
	env := []string{"ADMIN_TOKEN=" + adminToken, "WORKFLOWS_DIR=" + flows, "TOOLS_DIR=" + definitions, "OUTBOUND_ALLOW=127.0.0.1"}
	p := start(t, spec{env: env})
	operator := client{t: t, page: p.page, key: adminToken}
	var answer json.RawMessage
	operator.must(http.StatusCreated, http.MethodPost, "/tools/register", json.RawMessage(`{"manifest": {"name": "pim.getProduct", "description": "Looks up a product.",
		"inputSchema": {"type": "object", "properties": {"sku": {"type": "string"}}}, "outputSchema": {"type": "object"}, "capability": "read", "timeoutMs": 3000, "retryPolicy": {"maxAttempts": 3, "backoffMs": 150}}, "endpoint": "http://127.0.0.1:9/"}`), &answer)
	if err := os.Rename(filepath.Join(flows, "extra.json"), filepath.Join(flows, "renamed.json")); err != nil {
		t.Fatal(err)
	}
	await(t, "the renamed tool", func() bool { return operator.tools()["renamed"] != nil }, p.said)
	served := operator.tools()
	var hidden json.RawMessage // it is in no list
	operator.must(http.StatusOK, http.MethodGet, "/api/tools/"+missions.StepsTool, nil, &hidden)
	served[missions.StepsTool] = hidden
	if r := run(t, spec{dir: p.dir, env: env, args: []string{"flash", "--out", out}}); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	dump := flashed(t, out)
	t.Run("A64 A67 the dump is what is served, with addresses written out", func(t *testing.T) {
		for id, tool := range dump {
			if want := tool.RunPath(); tool.APIPath != want || want == "" {
				t.Errorf("%s has the address %q", id, tool.APIPath)
			}
			if tool.APIPath == "/api/run/"+id {
				tool.APIPath = ""
			}
			if got, err := registry.Encode(tool); err != nil || string(got) != compact(t, served[id]) {
				t.Errorf("%s was flashed as\n%s\nand is served as\n%s", id, got, served[id])
			}
		}
		if len(dump) != len(served) || len(dump) < 11 {
			t.Errorf("%d tools were flashed, %d are served", len(dump), len(served))
		}
	})
	t.Run("the tool of today has its old name, and the one that was registered is there", func(t *testing.T) {
		if tool := dump["renamed"]; !slices.Contains(tool.Aliases, "extra") {
			t.Errorf("aliases %v", tool.Aliases)
		}
		if dump["pim.getProduct"].Service == "" {
			t.Error("no registered tool")
		}
	})
	t.Run("definitions that nothing here runs are unavailable, with the reason", func(t *testing.T) {
		for id, want := range map[string]string{"bare": "vidu is not connected", "hollow": "T has no workflow behind it"} {
			tool := dump[id]
			if tool.State() != registry.StateUnavailable || tool.Status.Reason != want {
				t.Errorf("%s: %+v", id, tool.Status)
			}
			if status, body, err := operator.do(t.Context(), http.MethodPost, "/api/run/"+id, map[string]any{"inputs": map[string]string{"prompt": "x"}}, ""); err != nil || status != http.StatusServiceUnavailable || !strings.Contains(string(body), want) {
				t.Errorf("%s was answered with %d %s, %v", id, status, body, err)
			}
		}
	})
	p.stop(os.Interrupt)
}

func TestFlashWithoutAnswers(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	flows, out, dir := bundled(t, nil), filepath.Join(newDir(t), "out"), newDir(t)
	flash := func(args []string, env ...string) result {
		return run(t, spec{dir: dir, args: append([]string{"flash", "--out", out}, args...), env: append(env, "WORKFLOWS_DIR="+flows)})
	}
	gone := closedPort(t)
	servers := filepath.Join(dir, "servers.json")
	put(t, servers, `{"mcpServers": {"notes": {"url": "http://`+gone+`/mcp"}}}`)
	t.Run("nothing is written where an engine or service is silent, and it is named", func(t *testing.T) {
		for env, want := range map[string]string{"COMFYUI_URLS=http://" + gone: gone, "MCP_SERVERS=" + servers: "notes"} {
			r := flash(nil, env)
			if _, err := os.Stat(out); r.code != 1 || !os.IsNotExist(err) || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, "nothing was written") {
				t.Errorf("%s: %+v, %v", env, r, err)
			}
		}
	})
	t.Run("--allow-missing leaves out what was never known", func(t *testing.T) {
		if r := flash([]string{"--allow-missing"}, "COMFYUI_URLS=http://"+gone); r.code != 0 || !strings.Contains(r.stderr, "poster is left out") {
			t.Fatalf("%+v", r)
		}
		for id, tool := range flashed(t, out) {
			if tool.State() != registry.StateActive && !strings.Contains(tool.Status.Reason, "the operator sets") && !strings.Contains(tool.Status.Reason, "must be set by the operator") { // no service is silent there: none is connected
				t.Errorf("%s is %+v", id, tool.Status)
			}
		}
	})
	t.Run("--allow-missing keeps the last good definitions", func(t *testing.T) {
		if r := flash(nil); r.code != 0 {
			t.Fatalf("%+v", r)
		}
		good := contents(t, out)
		for _, env := range []string{"COMFYUI_URLS=http://" + gone, "MCP_SERVERS=" + servers} {
			if r := flash([]string{"--allow-missing"}, env); r.code != 0 || !strings.Contains(r.stderr, "does not answer") && !strings.Contains(r.stderr, "notes") {
				t.Fatalf("%+v", r)
			}
			for file, was := range good {
				if now := contents(t, out)[file]; now != was && strings.Contains(file, "tool_defs") {
					t.Errorf("%s: %s became\n%s", env, file, now)
				}
			}
		}
	})
}
