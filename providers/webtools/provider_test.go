package webtools_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/providers/webtools"
	"github.com/signalbox/signalbox/providers/webtools/webtoolstest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/registry/validate"
)

type object = map[string]any

func house(t *testing.T, change ...func(*webtools.Config)) (*webtools.Provider, *webtoolstest.Server) {
	t.Helper()
	server := webtoolstest.New(t)
	cfg := webtools.Config{
		TavilyKey: webtoolstest.TavilyKey, TavilyURL: server.URL + "/tavily", BraveURL: server.URL + "/brave", Guard: outbound.NewClient([]string{"127.0.0.1"}),
	}
	for _, c := range change {
		c(&cfg)
	}
	p, err := webtools.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cfg.Guard.CloseIdleConnections)
	return p, server
}

func withBrave(c *webtools.Config) { c.TavilyKey, c.BraveKey = "", webtoolstest.BraveKey }
func withSearxng(c *webtools.Config) {
	c.TavilyKey, c.SearxngURL = "", strings.Replace(c.TavilyURL, "/tavily", "/searxng", 1)
}
func withNothing(c *webtools.Config) { c.TavilyKey = "" }

func find(t *testing.T, p *webtools.Provider, id string) registry.Tool {
	t.Helper()
	list, err := p.Load(t.Context())
	i := slices.IndexFunc(list, func(one registry.Tool) bool { return one.ToolID == id })
	if err != nil || i < 0 {
		t.Fatalf("there is no tool %s: %v", id, err)
	}
	return list[i]
}

func call(t *testing.T, p *webtools.Provider, id string, inputs object) (object, error) {
	t.Helper()
	tool := find(t, p, id)
	r, err := p.Call(t.Context(), registry.Call{RunID: "r", Tool: tool, Inputs: inputs})
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(r.Outputs[0].Text))
	d.UseNumber()
	var answer object
	if err := d.Decode(&answer); err != nil {
		t.Fatal(err)
	}
	schema, err := registry.ParseSchema(tool.OutputSchema[0].Schema)
	if err == nil {
		err = schema.Check(answer)
	}
	if err != nil {
		t.Errorf("%s: the answer is not as declared: %v: %s", id, err, r.Outputs[0].Text)
	}
	return answer, nil
}

func items(t *testing.T, p *webtools.Provider, id string, inputs object) []object {
	t.Helper()
	answer, err := call(t, p, id, inputs)
	if err != nil {
		t.Fatal(err)
	}
	list := []object{}
	for _, item := range answer["items"].([]any) {
		list = append(list, item.(object))
	}
	return list
}

func TestContracts(t *testing.T) {
	t.Parallel()
	registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
		p, _ := house(t)
		return registrytest.LoaderSetup{Loader: p}
	})
	for name, change := range map[string]func(*webtools.Config){"Tavily": func(*webtools.Config) {}, "Brave": withBrave, "SearXNG": withSearxng} {
		t.Run(name, func(t *testing.T) {
			registrytest.TestCaller(t, func(t *testing.T) registrytest.CallerSetup {
				line := registrytest.NewLine(t, nil)
				p, server := house(t, change, func(c *webtools.Config) { c.HTTP = line.Client() })
				return registrytest.CallerSetup{
					Caller: p, Line: line, Secret: webtoolstest.TavilyKey,
					Call: func() registry.Call {
						return registry.Call{Tool: find(t, p, "searchWeb"), Inputs: object{"query": "mugs"}}
					},
					Received: server.Searches,
				}
			})
		})
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	p, _ := house(t)
	t.Run("D7 D104 D105 four external tools, described", func(t *testing.T) {
		list, err := p.Load(t.Context())
		if err != nil || len(list) != 4 {
			t.Fatalf("%d tools, %v", len(list), err)
		}
		for _, tool := range list {
			if tool.Category != "external" || !strings.Contains(tool.Description, "Returns") || !strings.Contains(tool.Description, "untrusted") {
				t.Errorf("%s: %s, %s", tool.ToolID, tool.Category, tool.Description)
			}
			if err := validate.Tool(tool); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("without a search service searchWeb is unavailable, and says which settings are missing", func(t *testing.T) {
		none, _ := house(t, withNothing)
		tool := find(t, none, "searchWeb")
		if tool.State() != registry.StateUnavailable || !strings.Contains(tool.Status.Reason, "BRAVE_API_KEY") {
			t.Errorf("got %+v", tool.Status)
		}
		if _, err := call(t, none, "searchWeb", object{"query": "x"}); registry.AsError(err).Code != registry.CodeUnavailable {
			t.Errorf("got %v", err)
		}
		if tool := find(t, none, "fetchContent"); tool.State() != registry.StateActive {
			t.Errorf("fetchContent: %+v", tool.Status)
		}
	})
}

func TestSearchWeb(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*webtools.Config){"tavily": func(*webtools.Config) {}, "brave": withBrave, "searxng": withSearxng} {
		t.Run("D87 D194 quick gives results of "+name, func(t *testing.T) {
			t.Parallel()
			p, server := house(t, change)
			answer, err := call(t, p, "searchWeb", object{"query": "mugs", "mode": "quick", "numResults": json.Number("3")})
			if err != nil {
				t.Fatal(err)
			}
			first := answer["items"].([]any)[0].(object)
			if answer["provider"] != name || answer["count"] != json.Number("3") || first["title"] != "Result 0" || first["text"] != "Snippet 0" || answer["answer"] != nil || server.Visited("GET /page") != 0 {
				t.Errorf("got %v", answer)
			}
		})
		t.Run("D87 D130 D195 deep reads the best pages of "+name+", and has an answer or says that there is none", func(t *testing.T) {
			t.Parallel()
			p, _ := house(t, change)
			answer, err := call(t, p, "searchWeb", object{"query": "mugs", "mode": "deep"})
			if err != nil {
				t.Fatal(err)
			}
			list := answer["items"].([]any)
			if text := list[0].(object)["text"].(string); !strings.Contains(text, "A mug is a cup with a handle.") || list[1].(object)["text"] != "Snippet 1" {
				t.Errorf("got %v", list)
			}
			if hasAnswer := answer["answer"] == "Mugs are cups with handles."; hasAnswer != (name == "tavily") || hasAnswer == (answer["note"] != nil) {
				t.Errorf("got %v, %v", answer["answer"], answer["note"])
			}
		})
	}
	t.Run("D88 given urls are read, and come first", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		got := items(t, p, "searchWeb", object{"query": "mugs", "numResults": json.Number("1"), "urls": []any{server.URL + "/plain", "ftp://x"}})
		if len(got) != 3 || got[0]["text"] != "just text" || got[1]["error"] == nil || got[2]["title"] != "Result 0" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("topics that the service has", func(t *testing.T) {
		t.Parallel()
		for _, change := range []func(*webtools.Config){func(*webtools.Config) {}, withBrave, withSearxng} {
			p, _ := house(t, change)
			if got := items(t, p, "searchWeb", object{"query": "mugs", "topic": "news", "numResults": json.Number("2")}); len(got) != 2 {
				t.Errorf("got %v", got)
			}
		}
	})
}

func TestFetchContent(t *testing.T) {
	t.Parallel()
	p, server := house(t)
	fetch := func(t *testing.T, format string, paths ...string) []object {
		t.Helper()
		var urls []any
		for _, path := range paths {
			urls = append(urls, server.URL+path)
		}
		return items(t, p, "fetchContent", object{"urls": urls, "format": format})
	}
	t.Run("D89 D196 the readable part of a page, as markdown or text", func(t *testing.T) {
		page := fetch(t, "markdown", "/page")[0]
		want := "# Mugs\n\nA mug is a **cup** with a [handle](" + server.URL + "/handle).\n\n- tall\n- bare\n\n" + webtoolstest.Instruction
		if page["title"] != "Of mugs" || page["content"] != want {
			t.Errorf("got %v\nwant %s", page, want)
		}
		if got := fetch(t, "text", "/page")[0]["content"].(string); !strings.HasPrefix(got, "Mugs\n\nA mug is a cup with a handle.") {
			t.Errorf("got %q", got)
		}
		if got := fetch(t, "text", "/latin")[0]["content"]; got != "Café" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("D89 PDF files, and one failure does not fail all", func(t *testing.T) {
		got := fetch(t, "markdown", "/report.pdf", "/broken.pdf", "/picture", "/nothing", "/plain")
		if text, _ := got[0]["content"].(string); !strings.Contains(text, "Kiln report of 2026") {
			t.Errorf("got %v", got[0])
		}
		for _, failed := range got[1:4] {
			if failed["error"] == nil || failed["content"] != nil {
				t.Errorf("got %v", failed)
			}
		}
		if got[4]["content"] != "just text" {
			t.Errorf("got %v", got[4])
		}
	})
	t.Run("robots.txt is respected, and read once", func(t *testing.T) {
		got := fetch(t, "text", "/private", "/private/x", "/private/open")
		if got[0]["error"] == nil || got[1]["error"] == nil || got[2]["content"] != "open" || server.Visited("GET /private") != 0 {
			t.Errorf("got %v", got)
		}
		if n := server.Visited("GET /robots.txt"); n > 8 {
			t.Errorf("robots.txt was read %d times", n)
		}
	})
	t.Run("D90 inner addresses are refused", func(t *testing.T) {
		guarded, _ := house(t, func(c *webtools.Config) { c.Guard = outbound.NewClient(nil) })
		got := items(t, guarded, "fetchContent", object{"urls": []any{server.URL + "/page", "http://169.254.169.254/latest", "file:///etc/passwd"}})
		for _, one := range got {
			if one["error"] == nil || one["content"] != nil || strings.Contains(one["error"].(string), "127.0.0.1") {
				t.Errorf("got %v", one)
			}
		}
	})
	t.Run("D92 all of it is marked as untrusted", func(t *testing.T) {
		for _, ask := range []struct {
			tool   string
			inputs object
		}{{"fetchContent", object{"urls": []any{server.URL + "/page", server.URL + "/nothing"}}}, {"searchWeb", object{"query": "x", "mode": "deep"}}, {"httpGet", object{"url": server.URL + "/page"}}} {
			answer, err := call(t, p, ask.tool, ask.inputs)
			if err != nil || answer["untrusted"] != true {
				t.Errorf("%s: %v, %v", ask.tool, answer, err)
			}
			list, _ := answer["items"].([]any)
			for _, item := range list {
				if item.(object)["untrusted"] != true {
					t.Errorf("%s: %v", ask.tool, item)
				}
			}
		}
	})
	t.Run("too many are refused", func(t *testing.T) {
		if _, err := call(t, p, "fetchContent", object{"urls": slices.Repeat([]any{"https://example.com"}, 11)}); registry.AsError(err).Code != registry.CodeInvalidInput {
			t.Errorf("got %v", err)
		}
	})
}

func TestRequests(t *testing.T) {
	t.Parallel()
	p, server := house(t)
	t.Run("D90 D197 httpGet gives status, headers and body", func(t *testing.T) {
		got, err := call(t, p, "httpGet", object{"url": server.URL + "/plain", "headers": object{"X-Mine": "yes"}})
		if err != nil || got["status"] != json.Number("200") || got["body"] != "just text" || got["headers"].(object)["X-Seen"] != "yes" {
			t.Errorf("got %v, %v", got, err)
		}
		if got, err := call(t, p, "httpGet", object{"url": server.URL + "/nothing"}); err != nil || got["status"] != json.Number("404") || got["success"] != false {
			t.Errorf("got %v, %v", got, err)
		}
		if got, err := call(t, p, "httpGet", object{"url": server.URL + "/moved"}); err != nil || got["status"] != json.Number("200") {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("D90 inner addresses and headers of the connection are refused", func(t *testing.T) {
		guarded, _ := house(t, func(c *webtools.Config) { c.Guard = outbound.NewClient(nil) })
		for _, inputs := range []object{{"url": "http://127.0.0.1/"}, {"url": "http://10.0.0.1/"}, {"url": "file:///etc/passwd"}, {"url": "https://user:secret@example.com/"}} {
			if _, err := call(t, guarded, "httpGet", inputs); registry.AsError(err).Code != registry.CodeInvalidInput {
				t.Errorf("%v: got %v", inputs, err)
			}
		}
		for _, name := range []string{"Host", "Content-Length", "X Y", "A\r\nB"} {
			if _, err := call(t, p, "httpGet", object{"url": server.URL + "/plain", "headers": object{name: "x"}}); registry.AsError(err).Code != registry.CodeInvalidInput {
				t.Errorf("%q: got %v", name, err)
			}
		}
	})
	t.Run("D91 D198 httpPost shows what it would send, and sends it once when confirmed", func(t *testing.T) {
		inputs := object{"url": server.URL + "/hook", "body": object{"a": json.Number("1")}}
		shown, err := call(t, p, "httpPost", inputs)
		if err != nil || shown["requiresConfirmation"] != true || len(server.Posts()) != 0 {
			t.Fatalf("got %v, %v, sent %v", shown, err, server.Posts())
		}
		item := shown["items"].([]any)[0].(object)
		if item["method"] != "POST" || item["host"] != strings.TrimPrefix(server.URL, "http://") || item["body"] != `{"a":1}` {
			t.Errorf("got %v", item)
		}
		inputs["confirmed"] = true
		if got, err := call(t, p, "httpPost", inputs); err != nil || got["status"] != json.Number("200") {
			t.Errorf("got %v, %v", got, err)
		}
		if sent := server.Posts(); len(sent) != 1 || sent[0] != (webtoolstest.Post{Body: `{"a":1}`, ContentType: "application/json"}) {
			t.Errorf("sent %v", sent)
		}
		if got, err := call(t, p, "httpPost", object{"url": server.URL + "/moved", "body": "x", "confirmed": true}); err != nil || got["status"] != json.Number("307") || len(server.Posts()) != 1 {
			t.Errorf("it followed to where nobody said: %v, %v", got, err)
		}
	})
	t.Run("D99 a model's httpPost that only shows is read, the deed is a write that is never tried again", func(t *testing.T) {
		tool := find(t, p, "httpPost")
		for confirmed, want := range map[bool]registry.Capability{false: registry.CapabilityRead, true: registry.CapabilityWrite} {
			look, err := p.Preview(t.Context(), registry.Call{Tool: tool, Inputs: object{"url": server.URL, "body": "x", "confirmed": confirmed}})
			if err != nil || look.Capability != want {
				t.Errorf("confirmed %v: %+v, %v", confirmed, look, err)
			}
		}
		if tool.Repeatable() || tool.RetryPolicy.MaxAttempts != 1 {
			t.Errorf("got %+v", tool)
		}
	})
}
