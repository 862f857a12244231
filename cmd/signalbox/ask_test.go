package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/anthropic/anthropictest"
	"github.com/signalbox/signalbox/agent/openai/openaitest"
	"github.com/signalbox/signalbox/providers/photos/photostest"
)

// example builds and runs one of the examples until the test ends, and gives its address.
func example(t *testing.T, name string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	binary := filepath.Join(t.TempDir(), name)
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../examples/"+name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ctx, stop := context.WithCancel(context.Background())
	program := exec.CommandContext(ctx, binary, "-listen", address)
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = program.Wait() // it was killed
	})
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(5 * time.Minute); ; <-look.C {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return "http://" + address
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not answer at %s", name, address)
		}
	}
}

// chairTalk is a model that looks a product up and searches pictures of it in two places at the same time, then tells what it heard.
func chairTalk() func(heard []agent.Result) agent.Turn {
	round, product := 0, ""
	return func(heard []agent.Result) agent.Turn {
		round++
		switch round {
		case 1:
			return agent.Turn{Text: "I look it up.", Calls: []agent.Call{{Tool: "pim_getProduct", Arguments: `{"sku":"CH-100"}`}}}
		case 2:
			product = heard[0].Text
			return agent.Turn{Calls: []agent.Call{
				{Tool: "dam_searchAssets", Arguments: `{"query":"oak chair"}`}, {Tool: "unsplash_search", Arguments: `{"query":"oak chair","limit":2}`},
			}}
		}
		if len(heard) < 2 {
			return agent.Turn{Text: "hello"}
		}
		return agent.Turn{Text: strings.Join([]string{product, heard[0].Text, heard[1].Text}, "\n")}
	}
}

// asked is an answer of POST /api/ask.
type asked struct {
	Answer, Model, Stop, TraceID string
	Rounds                       int
	Calls                        []askedCall
}

type askedCall struct {
	Round       int
	Tool, RunID string
	Arguments   any
	Result      struct {
		OK       bool
		Data     any
		Attempts int
		TraceID  string
	}
}

// TestAsk puts one question to both models, which work with the same tools.
func TestAsk(t *testing.T) {
	t.Parallel()
	manifest, err := os.ReadFile("../../examples/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("http://127.0.0.1:9101", example(t, "pim"), "http://127.0.0.1:9102", example(t, "dam")).Replace(string(manifest))
	file := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	team := t.TempDir()
	for name, text := range map[string]string{
		"boss":   `{"id":"boss","name":"Boss","rank":"director","model":"anthropic","instructions":"Lead.","toolIds":["pim.getProduct","dam.searchAssets"],"agentIds":["keeper","finder"]}`,
		"keeper": `{"id":"keeper","name":"Keeper","rank":"specialist","model":"anthropic","instructions":"Keep.","toolIds":["pim.getProduct"]}`,
		"finder": `{"id":"finder","name":"Finder","rank":"specialist","model":"anthropic","instructions":"Find.","toolIds":["dam.searchAssets"]}`,
	} {
		if err := os.WriteFile(filepath.Join(team, name+".agent.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	photos, claude, gpt := photostest.New(t), anthropictest.New(t, chairTalk()), openaitest.New(t, chairTalk())
	page := start(t, "--admin-token", remoteAdmin, "--outbound-allow", "127.0.0.1", "--orchestrator-tool-manifest-path", file, "--agents-dir", team,
		"--unsplash-access-key", photostest.UnsplashKey, "--unsplash-api-url", photos.UnsplashURL(),
		"--anthropic-api-key", anthropictest.Key, "--anthropic-base-url", claude.URL, "--anthropic-model", anthropictest.Model,
		"--openai-api-key", openaitest.Key, "--openai-base-url", gpt.BaseURL(), "--openai-model", openaitest.Model)
	operator := client{t, page, remoteAdmin}
	ask := func(t *testing.T, model string) (got asked) {
		status, body := operator.do("POST", "/api/ask", fmt.Sprintf(`{"question":"find the oak chair and a picture for it","model":%q}`, model))
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %s", model, status, body)
		}
		return got
	}
	byClaude, byGPT := ask(t, "anthropic"), ask(t, "openai")
	t.Run("B1 a PIM, a DAM and a search are called in one conversation", func(t *testing.T) {
		for _, got := range []asked{byClaude, byGPT} {
			var called []string
			for _, call := range got.Calls {
				called = append(called, fmt.Sprint(call.Round, " ", call.Tool))
				if !call.Result.OK || call.Result.Attempts != 1 || call.Result.TraceID != got.TraceID {
					t.Errorf("%s: %s came back as %+v", got.Model, call.Tool, call.Result)
				}
			}
			if want := []string{"1 pim.getProduct", "2 dam.searchAssets", "2 unsplash.search"}; !reflect.DeepEqual(called, want) {
				t.Errorf("%s called %q, want %q", got.Model, called, want)
			}
			for _, word := range []string{"149.00 EUR", "oak-chair.jpg", "Ann Lens"} {
				if !strings.Contains(got.Answer, word) {
					t.Errorf("%s: no %s in the answer %s", got.Model, word, got.Answer)
				}
			}
		}
		if n := len(photos.Searches()); n != 2 {
			t.Errorf("%d searches", n)
		}
	})
	t.Run("B2 the same registry under Anthropic and OpenAI gives equal results", func(t *testing.T) {
		if byClaude.Model != "anthropic" || byGPT.Model != "openai" || byClaude.TraceID == byGPT.TraceID {
			t.Fatalf("asked %+v and %+v", byClaude, byGPT)
		}
		runs := map[string]bool{}
		same := func(a asked) asked {
			a.Model, a.TraceID = "", ""
			for i := range a.Calls {
				runs[a.Calls[i].RunID] = true
				a.Calls[i].RunID, a.Calls[i].Result.TraceID = "", ""
			}
			return a
		}
		if a, b := same(byClaude), same(byGPT); !reflect.DeepEqual(a, b) {
			t.Errorf("Anthropic:\n%+v\nOpenAI:\n%+v", a, b)
		}
		if len(runs) != 6 {
			t.Errorf("%d runs for two conversations of three calls", len(runs))
		}
		toldClaude, toldGPT := map[string]any{}, map[string]any{}
		for _, tool := range claude.Requests()[0].Tools {
			toldClaude[tool.Name] = []any{tool.Description, tool.InputSchema}
		}
		for _, tool := range gpt.Requests()[0].Tools {
			toldGPT[tool.Name] = []any{tool.Description, tool.Parameters}
		}
		if len(toldClaude) < 4 || !reflect.DeepEqual(toldClaude, toldGPT) {
			t.Errorf("the models were shown different tools:\n%v\n%v", toldClaude, toldGPT)
		}
	})
	t.Run("a key for some tools is given these alone, by models, missions and chains", func(t *testing.T) {
		made := func(body string) client {
			var key struct{ Key string }
			if status, answer := operator.do("POST", "/api/keys", body); status != http.StatusCreated || json.Unmarshal([]byte(answer), &key) != nil {
				t.Fatalf("%s: %d %s", body, status, answer)
			}
			return client{t, page, key.Key}
		}
		const legs = `"legs":[{"tool":"dam.searchAssets","inputs":{"query":"oak"},"order":1,"depends_on":[]},{"tool":"pim.getProduct","inputs":{"sku":"CH-100"},"order":2,"depends_on":[]}]`
		var chain struct{ ToolID string }
		ann := made(`{"name":"ann"}`)
		save := func(into any, body string) {
			if status, answer := ann.do("POST", "/api/chains", body); status != http.StatusCreated || json.Unmarshal([]byte(answer), into) != nil {
				t.Fatalf("%d %s", status, answer)
			}
		}
		save(&chain, `{"name":"Look","command":"/look_twice","visibility":"private",`+legs+`}`)
		var key struct{ Key string }
		if status, answer := ann.do("POST", "/api/keys", `{"tools":["dam.*","boss","finder","`+chain.ToolID+`"]}`); status != http.StatusCreated || json.Unmarshal([]byte(answer), &key) != nil {
			t.Fatalf("%d %s", status, answer)
		}
		some := client{t, page, key.Key}
		before := len(claude.Requests())
		status, body := some.do("POST", "/api/ask", `{"question":"find the oak chair","model":"anthropic"}`)
		var got asked
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK {
			t.Errorf("asked: %d %s", status, body)
		}
		for _, tool := range claude.Requests()[before].Tools {
			if strings.HasPrefix(tool.Name, "pim") || strings.HasPrefix(tool.Name, "unsplash") || tool.Name == "proposeSteps" || tool.Name == "keeper" {
				t.Errorf("the model was shown %s", tool.Name)
			}
		}
		for _, c := range []struct{ path, body string }{
			{"/api/missions", `{"title":"Look",` + legs + `}`}, {"/api/run/" + chain.ToolID, `{"inputs":{}}`}, {"/api/quote/" + chain.ToolID, `{"inputs":{}}`}, {"/api/run/pim.getProduct", `{"inputs":{"sku":"CH-100"}}`}, {"/api/quote/pim.getProduct", `{"inputs":{"sku":"CH-100"}}`},
			{"/api/improve", `{"tool":"pim.getProduct","input":"sku","text":"x"}`},
		} {
			status, answer := some.do("POST", c.path, c.body)
			if status == http.StatusAccepted || status == http.StatusOK { // a chain that fails as it begins
				var run struct{ RunID, Status string }
				if err := json.Unmarshal([]byte(answer), &run); err == nil && run.RunID != "" {
					some.do("GET", "/api/runs/"+run.RunID+"/events", "")
					_, answer = some.do("GET", "/api/runs/"+run.RunID, "")
				}
				if !strings.Contains(answer, `"status":"failed"`) {
					t.Errorf("%s: %d %s", c.path, status, answer)
				}
			} else if status < 400 || !strings.Contains(answer, "nknown tool") && !strings.Contains(answer, "no such tool") && !strings.Contains(answer, "no tool") {
				t.Errorf("%s: %d %s", c.path, status, answer)
			}
		}
		before = len(claude.Requests())
		var led struct{ RunID string }
		if status, answer := some.do("POST", "/api/run/boss", `{"inputs":{"query":"find the oak chair"}}`); status != http.StatusAccepted || json.Unmarshal([]byte(answer), &led) != nil {
			t.Fatalf("an agent as a tool: %d %s", status, answer)
		}
		some.do("GET", "/api/runs/"+led.RunID+"/events", "")
		if len(claude.Requests()) == before {
			t.Error("the agent was not asked")
		}
		for _, request := range claude.Requests()[before:] {
			if told := fmt.Sprintf("%+v", request); strings.Contains(told, "keeper") || strings.Contains(told, "pim_getProduct") || !strings.Contains(told, "finder") {
				t.Errorf("the agent was told %s", told)
			}
		}
		remembered := func(by client, word string) int {
			if status, answer := by.do("POST", "/api/ask", `{"question":"`+word+`","model":"openai","conversation":"secrets"}`); status != http.StatusOK {
				t.Fatalf("%d %s", status, answer)
			}
			sent := gpt.Requests()
			return strings.Count(fmt.Sprintf("%+v", sent[len(sent)-1]), "open sesame")
		}
		if remembered(ann, "open sesame") != 1 || remembered(some, "what did I say?") != 0 || remembered(ann, "what did I say?") != 1 {
			t.Error("a conversation of the account is the key's, too, or is forgotten")
		}
		if status, _ := some.do("DELETE", "/api/conversations/secrets", ""); status != http.StatusNoContent || remembered(ann, "and now?") != 1 {
			t.Errorf("the key forgot (%d) a conversation that is not its own", status)
		}
		if status, answer := some.do("GET", "/api/scenes", ""); status != http.StatusForbidden {
			t.Errorf("drawings: %d %s", status, answer)
		}
		if _, answer := some.do("GET", "/tools", ""); strings.Contains(answer, "pim.getProduct") || !strings.Contains(answer, "dam.searchAssets") {
			t.Errorf("manifests: %s", answer)
		}
		if _, answer := some.do("GET", "/api/runs?limit=200", ""); strings.Contains(answer, "pim.getProduct\"") && strings.Contains(answer, `"toolId":"pim.getProduct"`) {
			t.Errorf("it ran what it may not: %s", answer)
		}
	})
	t.Run("no body may have a member that nobody knows", func(t *testing.T) {
		_, document := operator.do("GET", "/openapi.json", "")
		refusesUnknown(t, operator, document)
	})
	t.Run("wrong requests say what is wrong", func(t *testing.T) {
		for body, want := range map[string]string{
			`{"question":"hello","model":"eliza"}`: "anthropic, openai", `{"question":" "}`: "question", `hello`: `{\"question\":`,
		} {
			if status, answer := operator.do("POST", "/api/ask", body); status != http.StatusUnprocessableEntity || !strings.Contains(answer, want) {
				t.Errorf("%s: %d %s", body, status, answer)
			}
		}
		busy := anthropictest.Refuse(529, "overloaded_error", "Overloaded")
		claude.Fail(busy, busy, busy)
		if status, answer := operator.do("POST", "/api/ask", `{"question":"hello","model":"anthropic"}`); status != http.StatusServiceUnavailable || !strings.Contains(answer, `"retryable":true`) {
			t.Errorf("a busy service: %d %s", status, answer)
		}
	})
	t.Run("a model that stays busy is passed over where none was asked for", func(t *testing.T) {
		busy := anthropictest.Refuse(529, "overloaded_error", "Overloaded")
		claude.Fail(busy, busy, busy)
		before := len(gpt.Requests())
		if status, answer := operator.do("POST", "/api/ask", `{"question":"hello"}`); status != http.StatusOK || len(gpt.Requests()) == before {
			t.Errorf("%d %s", status, answer)
		}
	})
	t.Run("a conversation is remembered until it is forgotten", func(t *testing.T) {
		heard := func() int {
			if status, answer := operator.do("POST", "/api/ask", `{"question":"again?","model":"openai","conversation":"mugs"}`); status != http.StatusOK {
				t.Fatalf("%d %s", status, answer)
			}
			sent := gpt.Requests()
			return len(sent[len(sent)-1].Input)
		}
		first, second := heard(), heard()
		if status, answer := operator.do("DELETE", "/api/conversations/mugs", ""); status != http.StatusNoContent {
			t.Fatalf("%d %s", status, answer)
		}
		if third := heard(); second != first+2 || third != first {
			t.Errorf("the model heard %d, %d and then %d items", first, second, third)
		}
	})
	t.Run("the API's document describes it", func(t *testing.T) {
		if _, document := operator.do("GET", "/openapi.json", ""); !strings.Contains(document, `"/api/ask"`) {
			t.Error("no /api/ask")
		}
	})
}

// What models charge is the operator's, whose key may be there for pictures.
func TestAKeyAloneLetsNobodyAsk(t *testing.T) {
	t.Parallel()
	page := start(t, "--admin-token", remoteAdmin, "--openai-api-key", openaitest.Key)
	status, body := client{t, page, remoteAdmin}.do("POST", "/api/ask", `{"question":"hello"}`)
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "OPENAI_MODEL") {
		t.Errorf("%d %s", status, body)
	}
}

// Agents are files; one whose tools there are not is told with their names.
func TestAgentsAreTools(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good": `{"id":"helper","name":"Helper","rank":"specialist","instructions":"Help.","toolIds":["wallpaper"]}`,
		"bad":  `{"id":"lost","name":"Lost","rank":"specialist","instructions":"Help.","toolIds":["ghostTool"]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".agent.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gpt := openaitest.NewChat(t, openaitest.Habits{}, func([]agent.Result) agent.Turn { return agent.Turn{Text: "hello"} })
	page := start(t, "--admin-token", remoteAdmin, "--agents-dir", dir, "--openai-base-url", gpt.BaseURL(), "--openai-model", openaitest.Model)
	operator := client{t, page, remoteAdmin}
	t.Run("E75 an agent runs as any tool does", func(t *testing.T) {
		if status, answer := operator.do("POST", "/api/run/helper", `{"inputs":{"query":"help me"}}`); status != http.StatusAccepted && status != http.StatusOK {
			t.Errorf("%d %s", status, answer)
		}
	})
	t.Run("E76 one whose tools there are not is unavailable, with their names", func(t *testing.T) {
		if _, answer := operator.do("GET", "/api/tools/lost", ""); !strings.Contains(answer, "unavailable") || !strings.Contains(answer, "there is no ghostTool") {
			t.Errorf("got %s", answer)
		}
	})
}

// refusesUnknown sends each operation of a document that takes JSON a member that nobody knows. What has to be there for it is made before.
func refusesUnknown(t *testing.T, operator client, document string) {
	t.Helper()
	var all struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(document), &all); err != nil {
		t.Fatal(err)
	}
	made := func(path, body, member string) string {
		status, answer := operator.do("POST", path, body)
		var of map[string]any
		if err := json.Unmarshal([]byte(answer), &of); err != nil || status >= 300 {
			t.Fatalf("%s: %d %s", path, status, answer)
		}
		return fmt.Sprint(of[member])
	}
	run := made("/api/run/wallpaper", `{"inputs":{"width":64,"height":64}}`, "runId")
	leg := `"legs":[{"tool":"wallpaper","inputs":{},"order":1,"depends_on":[]}]`
	chain := made("/api/chains", `{"name":"Walls","command":"/walls","visibility":"private",`+leg+`}`, "chainId")
	mission := made("/api/missions", `{"title":"Walls",`+leg+`}`, "missionId")
	hook := made("/api/webhooks", `{"url":"https://hooks.example/x"}`, "id")
	made("/api/site/pages", `{"name":"Walls","slug":"walls"}`, "id")
	_, answer := operator.do("GET", "/api/engines", "")
	var engines struct{ Engines []struct{ Name string } }
	if err := json.Unmarshal([]byte(answer), &engines); err != nil || len(engines.Engines) == 0 {
		t.Fatal(answer)
	}
	engine := engines.Engines[0].Name
	n := 0
	for path, item := range all.Paths {
		for method, raw := range item {
			var operation struct {
				RequestBody struct{ Content map[string]any }
			}
			if err := json.Unmarshal(raw, &operation); err != nil {
				continue // what all methods have
			}
			if _, takes := operation.RequestBody.Content["application/json"]; !takes {
				continue
			}
			n++
			id := "x"
			switch {
			case strings.HasPrefix(path, "/api/runs/"):
				id = run
			case strings.HasPrefix(path, "/api/chains/"):
				id = chain
			case strings.HasPrefix(path, "/api/missions/"):
				id = mission
			case strings.HasPrefix(path, "/api/webhooks/"):
				id = hook
			}
			at := strings.NewReplacer("{id}", id, "{n}", "0", "{page}", "walls", "{engine}", engine).Replace(path)
			body := `{"nobodyKnows":1}`
			at = strings.Replace(at, "/api/quote/x", "/api/quote/wallpaper", 1)
			status, answer := operator.do(strings.ToUpper(method), at, body)
			if status == http.StatusServiceUnavailable && strings.HasPrefix(path, "/api/run/") {
				continue // it can't be run in this house
			}
			if status < 400 || status >= 500 || !strings.Contains(answer, "nobodyKnows") {
				t.Errorf("%s %s: %d %s", method, path, status, answer)
			}
		}
	}
	if n < 30 {
		t.Errorf("%d operations take JSON", n)
	}
}
