package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/mcp"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runner"
	"github.com/signalbox/signalbox/test/housetest"
	"github.com/signalbox/signalbox/users"
)

// versions are both eras of the protocol.
var versions = []string{"2026-07-28", "2025-11-25"}

// now answers at once: with the prompt, and with a picture where the tool has one.
type now struct {
	mu    sync.Mutex
	calls []registry.Call
}

func (n *now) Call(_ context.Context, c registry.Call) (registry.Result, error) {
	n.mu.Lock()
	n.calls = append(n.calls, c)
	n.mu.Unlock()
	prompt, _ := c.Inputs["prompt"].(string)
	if prompt == "fail" {
		return registry.Result{}, registry.Errorf(registry.CodeRefused, "the service does not draw that")
	}
	var result registry.Result
	for _, o := range c.Tool.OutputSchema {
		if _, declared := c.Tool.OutputSchema.Data(); declared {
			result.Outputs = append(result.Outputs, registrytest.Text(o.Name, prompt))
		} else if o.Type == "text" {
			result.Outputs = append(result.Outputs, registrytest.Text(o.Name, "said: "+prompt))
		} else {
			result.Outputs = append(result.Outputs, registrytest.File(o.Name, o.Type, registry.MediaInfo{Name: "picture.png", MIMEType: "image/png", Alt: prompt}, picture))
		}
	}
	return result, nil
}

func (n *now) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.calls)
}

// picture is a PNG of one pixel.
var picture = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\xdac\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82")

type house struct {
	url    string
	reg    *catalog.Registry
	tools  *registrytest.Loader
	runs   *runner.Service
	users  *users.Store
	ledger *billing.Ledger
	now    *now
	slow   *registrytest.Service
	asking *registrytest.Asking
	pool   *pgxpool.Pool
}

func tool(id string, change ...func(*registry.Tool)) registry.Tool {
	return registrytest.Tool(id, append([]func(*registry.Tool){func(t *registry.Tool) {
		t.CommandName = ""
		t.Service, t.Capability, t.OutputSchema = "now", registry.CapabilityRead, registry.OutputSchema{{Name: "story", Type: "text"}}
	}}, change...)...)
}

func paid(t *registry.Tool) {
	t.CostingModel = &registry.CostingModel{Rate: "0.02", Unit: registry.UnitRequest, RateSource: registry.RateStatic}
}

func data(schema string) func(*registry.Tool) {
	return func(t *registry.Tool) {
		t.OutputSchema = registry.OutputSchema{{Name: "result", Type: "text", Schema: json.RawMessage(schema)}}
	}
}

func newHouse(t *testing.T, adapt ...func(*runs.Config)) *house {
	t.Helper()
	pool := postgrestest.New(t)
	h := &house{ledger: billing.NewLedger(pool), now: &now{}, slow: registrytest.NewService("fake")}
	h.asking = &registrytest.Asking{Questions: func(registry.Call) []registry.Question { return []registry.Question{{Message: "Sure?"}} }}
	h.tools = registrytest.NewLoader("tools",
		tool("free.story"),
		tool("paid-story", paid),
		tool("paid-picture", paid, func(t *registry.Tool) { t.OutputSchema = registry.OutputSchema{{Name: "image", Type: "image"}} }),
		tool("delete-all", func(t *registry.Tool) { t.Capability = registry.CapabilityWrite }),
		tool("introduce", func(t *registry.Tool) { t.PIIRequired = []string{"full_name", "email"} }),
		tool("product", data(`{"type":"object","properties":{"sku":{"type":"string"},"id":{"type":"integer"}},"required":["sku"]}`)),
		tool("products", data(`{"type":"array","items":{"$ref":"#/$defs/sku"},"$defs":{"sku":{"type":"string"}}}`)),
		tool("inner", func(t *registry.Tool) { t.Visibility = registry.VisibilityInternal }),
		registrytest.Tool("slow", func(t *registry.Tool) { t.Capability = registry.CapabilityRead }),
	)
	h.users = users.New(pool, users.Config{OnCreate: housetest.Welcome(h.ledger, billing.Dollar)})
	h.reg = registrytest.Registry(t, h.tools)
	config := runs.Config{
		Pool: pool, Registry: h.reg, Ledger: h.ledger, Users: h.users, Limits: h.users, Assets: housetest.NewFiles(t, pool),
		Providers: map[string]runs.Provider{"now": {Caller: h.now}, "fake": {Submitter: h.slow}, "asking": {Caller: h.asking}},
	}
	for _, change := range adapt {
		change(&config)
	}
	h.pool = pool
	h.runs = housetest.Runs(t, config)
	h.serve(t)
	return h
}

func (h *house) serve(t *testing.T) {
	t.Helper()
	var pages *web.Server
	server, err := mcp.New(mcp.Config{
		Registry: h.reg, Runs: h.runs, Users: h.users, Caller: web.Caller, Budget: web.Budget, ByAgent: web.ByAgent, Secret: []byte("a key for the tests that is long"), Version: "test",
		FilePath: func(owner string, ref registry.Media, name string) string { return pages.FilePath(owner, ref, name) },
		Logger:   slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	served := server.Handler()
	pages, err = web.New(web.Config{
		Registry: h.reg, Runs: h.runs, Users: h.users, Ledger: h.ledger, AdminToken: "operator-token", LinkKey: []byte("a key for the tests that is long"),
		Mounts: []web.Mount{{Path: "GET /mcp", Use: web.Run, Handler: served, Streams: mcp.Streams}, {Path: "POST /mcp", Use: web.Run, Handler: served, Streams: mcp.Streams}, {Path: "DELETE /mcp", Use: web.Run, Handler: served}},
	})
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(pages.Handler())
	t.Cleanup(site.Close)
	h.url = site.URL
}

// person makes an account with a key; limit is what the key may spend a month.
func (h *house) person(t *testing.T, name string, limit billing.NanoUSD) (account, key string) {
	t.Helper()
	a, err := h.users.Identify(t.Context(), users.Identity{Platform: "web", ExternalID: name, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	key, err = h.users.MakeKey(t.Context(), a.ID, users.NewKey{SpendLimit: int64(limit)})
	if err != nil {
		t.Fatal(err)
	}
	return a.ID, key
}

// bearer sends a key with each request.
type bearer struct{ key string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	return http.DefaultTransport.RoundTrip(r)
}

// person's answer to a question.
type answers struct {
	mu     sync.Mutex
	action string
	asked  []string
}

func (a *answers) elicit(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, r.Params.Message)
	return &sdk.ElicitResult{Action: a.action, Content: map[string]any{}}, nil
}

func (h *house) connect(t *testing.T, version, key string, options sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &options)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: h.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{key}}, MaxRetries: -1}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func call(t *testing.T, session *sdk.ClientSession, name string, arguments map[string]any) *sdk.CallToolResult {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func textOf(r *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			b.WriteString(text.Text + "\n")
		}
	}
	return b.String()
}

func prompt(text string) map[string]any { return map[string]any{"prompt": text} }

func (h *house) balance(t *testing.T, account string) billing.NanoUSD {
	t.Helper()
	b, err := h.ledger.Balance(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	return b.Available
}

func TestServer(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			testTools(t, h, version)
			testCalls(t, h, version)
			testMoney(t, h, version)
			testProgress(t, h, version)
		})
	}
}

func testTools(t *testing.T, h *house, version string) {
	t.Run("A74 tools are listed with schema, annotations and price; internal ones to operators only", func(t *testing.T) {
		_, key := h.person(t, "list", 0)
		session := h.connect(t, version, key, sdk.ClientOptions{})
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		byName := map[string]*sdk.Tool{}
		for _, tool := range list.Tools {
			byName[tool.Name] = tool
		}
		story := byName["free.story"]
		if len(byName) != 9 || story == nil || byName["inner"] != nil {
			t.Fatalf("listed are %v", byName)
		}
		schema, _ := json.Marshal(story.InputSchema)
		if !strings.Contains(string(schema), `"required":["prompt"]`) || !story.Annotations.ReadOnlyHint || story.OutputSchema == nil || byName["delete-all"].Annotations.ReadOnlyHint {
			t.Errorf("got %+v with %s", story, schema)
		}
		if !strings.Contains(byName["paid-story"].Description, "0.02") {
			t.Errorf("no price in %q", byName["paid-story"].Description)
		}
		operator, err := h.connect(t, version, "operator-token", sdk.ClientOptions{}).ListTools(t.Context(), nil)
		if err != nil || len(operator.Tools) != 10 {
			t.Errorf("the operator sees %d tools, %v", len(operator.Tools), err)
		}
	})
}

// same compares JSON as the client's library reads it.
func same(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

func testCalls(t *testing.T, h *house, version string) {
	account, key := h.person(t, "caller", 0)
	session := h.connect(t, version, key, sdk.ClientOptions{})
	t.Run("B26 a free read tool runs by itself, and its result is text and structure", func(t *testing.T) {
		result := call(t, session, "free.story", prompt("a pier"))
		structured, _ := json.Marshal(result.StructuredContent)
		if result.IsError || !strings.Contains(textOf(result), "said: a pier") || !strings.Contains(string(structured), `"outputs":{"story":["said: a pier"]}`) {
			t.Errorf("got %s, %s", textOf(result), structured)
		}
		list, err := h.runs.List(t.Context(), runs.Filter{AccountID: account})
		if err != nil || len(list) != 1 || list[0].Origin.Platform != mcp.Platform {
			t.Errorf("the runs are %+v, %v", list, err)
		}
	})
	t.Run("B20 B74 a tool that declares the schema of its data gives data of that shape, and its clients see the schema", func(t *testing.T) {
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		schemas := map[string]string{}
		for _, tool := range list.Tools {
			raw, _ := json.Marshal(tool.OutputSchema)
			schemas[tool.Name] = string(raw)
		}
		if want := `{"properties":{"id":{"type":"integer"},"sku":{"type":"string"}},"required":["sku"],"type":"object"}`; schemas["product"] != want {
			t.Errorf("the schema is %s", schemas["product"])
		}
		for _, c := range []struct{ tool, text, want, data string }{
			{"product", "{\n \"sku\": \"A-1\", \"id\": 12345678901234567890}", `{"id":12345678901234567890,"sku":"A-1"}`, `{"id":12345678901234567890,"sku":"A-1"}`},
			{"products", `["A-1"]`, `{"data":["A-1"]}`, `["A-1"]`},
			{"product", `{"id":5}`, `null`, `{"result":["{\"id\":5}"]}`}, // not as declared
		} {
			result := call(t, session, c.tool, prompt(c.text))
			got, _ := json.Marshal(result.StructuredContent)
			envelope, _ := json.Marshal(result.Meta["signalbox/envelope"].(map[string]any)["data"])
			if !same(string(got), c.want) || !same(string(envelope), c.data) || result.IsError != (c.want == "null") || !strings.Contains(textOf(result), c.text) {
				t.Errorf("%s: got %s, %s, %s", c.tool, got, envelope, textOf(result))
			}
			schema, err := registry.ParseSchema(json.RawMessage(schemas[c.tool]))
			if err != nil || !result.IsError && schema.Check(result.StructuredContent) != nil {
				t.Errorf("%s: %s does not fit %s: %v", c.tool, got, schemas[c.tool], err)
			}
		}
	})
	t.Run("what a model can mend comes as a result, what it can't as an error", func(t *testing.T) {
		for want, arguments := range map[string]map[string]any{"prompt": {}, "nonsense": {"prompt": "x", "nonsense": 1}, "takes text": {"prompt": 5}, "does not draw that": prompt("fail")} {
			if result := call(t, session, "free.story", arguments); !result.IsError || !strings.Contains(textOf(result), want) {
				t.Errorf("%v: %s", arguments, textOf(result))
			}
		}
		for _, name := range []string{"nothing", "inner"} {
			if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: prompt("x")}); err == nil {
				t.Errorf("%s can be called", name)
			}
		}
	})
}

func testMoney(t *testing.T, h *house, version string) {
	t.Run("B27 B28 what costs money runs after its price was confirmed, once", func(t *testing.T) {
		account, key := h.person(t, "payer", 0)
		person := &answers{action: "decline"}
		session := h.connect(t, version, key, sdk.ClientOptions{ElicitationHandler: person.elicit})
		before, calls := h.balance(t, account), h.now.count()
		if result := call(t, session, "paid-picture", prompt("a pier")); !result.IsError || h.now.count() != calls || h.balance(t, account) != before {
			t.Errorf("declined: %s", textOf(result))
		}
		if len(person.asked) != 1 || !strings.Contains(person.asked[0], "$0.02") || !strings.Contains(person.asked[0], "a pier") {
			t.Errorf("asked was %q", person.asked)
		}
		person.action = "accept"
		result := call(t, session, "paid-picture", prompt("a pier"))
		if result.IsError || h.now.count() != calls+1 || before-h.balance(t, account) != 20_000_000 {
			t.Fatalf("accepted: %s; paid %s", textOf(result), before-h.balance(t, account))
		}
		link, ok := result.Content[0].(*sdk.ResourceLink)
		if !ok || link.MIMEType != "image/png" {
			t.Fatalf("got %+v", result.Content[0])
		}
		data := envelopeOf(t, result).Data["image"]
		if told, _ := data[0].(map[string]any); told["imageUrl"] != link.URI || told["alt"] != "a pier" {
			t.Errorf("B53 planners are told %v", data)
		}
		res, err := http.Get(link.URI)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if body, _ := io.ReadAll(res.Body); !bytes.Equal(body, picture) {
			t.Errorf("the link gives %d: %q", res.StatusCode, body)
		}
	})
	t.Run("the question is in its reader's language, with the price as it is written there", func(t *testing.T) {
		account, key := h.person(t, "leser", 0)
		if err := h.users.SetLanguage(t.Context(), account, "de"); err != nil {
			t.Fatal(err)
		}
		person := &answers{action: "decline"}
		call(t, h.connect(t, version, key, sdk.ClientOptions{ElicitationHandler: person.elicit}), "paid-picture", prompt("a pier"))
		if len(person.asked) != 1 || !strings.HasPrefix(person.asked[0], "Tool paid-picture starten?\nPreis: 0,02\u00a0$\n") {
			t.Errorf("asked was %q", person.asked)
		}
	})
	t.Run("B27 what changes something is confirmed, whatever it costs", func(t *testing.T) {
		_, key := h.person(t, "writer", billing.Dollar)
		calls := h.now.count()
		if result := call(t, h.connect(t, version, key, sdk.ClientOptions{}), "delete-all", prompt("x")); !result.IsError || !strings.Contains(textOf(result), "confirmed by a person") || h.now.count() != calls {
			t.Errorf("a client that can't ask: %s", textOf(result))
		}
		person := &answers{action: "accept"}
		if result := call(t, h.connect(t, version, key, sdk.ClientOptions{ElicitationHandler: person.elicit}), "delete-all", prompt("x")); result.IsError || len(person.asked) != 1 {
			t.Errorf("confirmed: %s", textOf(result))
		}
	})
	t.Run("B26 a key's limit is its owner's word for what a read costs, also where the client could ask", func(t *testing.T) {
		_, key := h.person(t, "budgeted", 50_000_000)
		person := &answers{action: "decline"}
		if result := call(t, h.connect(t, version, key, sdk.ClientOptions{ElicitationHandler: person.elicit}), "paid-story", prompt("x")); result.IsError || len(person.asked) != 0 {
			t.Errorf("asked %q: %s", person.asked, textOf(result))
		}
	})
	t.Run("a client that can't ask spends what its key's limit allows, and no more", func(t *testing.T) {
		_, without := h.person(t, "no-limit", 0)
		if result := call(t, h.connect(t, version, without, sdk.ClientOptions{}), "paid-story", prompt("x")); !result.IsError || !strings.Contains(textOf(result), "spending limit") {
			t.Errorf("without a limit: %s", textOf(result))
		}
		account, key := h.person(t, "limited", 50_000_000)
		session := h.connect(t, version, key, sdk.ClientOptions{})
		before := h.balance(t, account)
		for i := range 3 {
			if result := call(t, session, "paid-story", prompt(fmt.Sprint(i))); result.IsError != (i == 2) {
				t.Errorf("call %d: %s", i, textOf(result))
			}
		}
		if spent := before - h.balance(t, account); spent != 40_000_000 {
			t.Errorf("spent %s", spent)
		}
	})
}

func testProgress(t *testing.T, h *house, version string) {
	t.Run("progress is told and increases, and giving up cancels the run", func(t *testing.T) {
		account, key := h.person(t, "watcher", 0)
		told := make(chan sdk.ProgressNotificationParams, 64)
		session := h.connect(t, version, key, sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { told <- *r.Params }})
		ctx, giveUp := context.WithCancel(t.Context())
		defer giveUp()
		done := make(chan error, 1)
		go func() {
			params := &sdk.CallToolParams{Name: "slow", Arguments: prompt("x")}
			params.SetProgressToken("p1")
			_, err := session.CallTool(ctx, params)
			done <- err
		}()
		mine := func() string {
			for _, c := range h.slow.Calls() {
				if c.UserID == account {
					return c.RunID
				}
			}
			return ""
		}
		if err := h.slow.WaitFor(t.Context(), func() bool { return mine() != "" }); err != nil {
			t.Fatal(err)
		}
		id := mine()
		if err := h.slow.Set(id, registry.Progress{State: registry.RunRunning, Fraction: 0.4, HasFraction: true, Stage: "Sampling"}); err != nil {
			t.Fatal(err)
		}
		last := -1.0
		for last < 0.4 {
			select {
			case p := <-told:
				if p.Progress <= last {
					t.Errorf("progress %v after %v", p.Progress, last)
				}
				last = p.Progress
			case err := <-done:
				t.Fatalf("the call ended: %v", err)
			case <-time.After(2 * time.Minute):
				t.Fatal("no progress is told")
			}
		}
		states, stop := h.runs.Subscribe(id)
		defer stop()
		giveUp()
		if err := <-done; err == nil {
			t.Error("a call that was given up succeeds")
		}
		for run := range states {
			if run.Status.Final() && run.Status != runs.StatusCanceled {
				t.Errorf("the run ended as %s", run.Status)
			}
		}
	})
}

func TestAQuestionIsTheOwnersToAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.tools.Set(tool("asks", func(t *registry.Tool) {
		t.Service, t.OutputSchema = "asking", registry.OutputSchema{{Name: "text", Type: "text"}}
	}))
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			account, key := h.person(t, "asked"+version, 0)
			told := make(chan string, 64)
			session := h.connect(t, version, key, sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { told <- r.Params.Message }})
			done := make(chan *sdk.CallToolResult, 1)
			go func() {
				params := &sdk.CallToolParams{Name: "asks", Arguments: prompt("x")}
				params.SetProgressToken("p1")
				result, err := session.CallTool(t.Context(), params)
				if err != nil {
					t.Error(err)
				}
				done <- result
			}()
			for words := ""; !strings.Contains(words, "waits for the answer at "+h.url+"/run/"); {
				select {
				case words = <-told:
				case <-done:
					t.Fatal("nobody was asked")
				case <-time.After(2 * time.Minute):
					t.Fatal("the client is not told")
				}
			}
			list, err := h.runs.List(t.Context(), runs.Filter{AccountID: account})
			if err != nil || len(list) != 1 || list[0].Question == nil {
				t.Fatalf("got %+v, %v", list, err)
			}
			if _, err := h.runs.Answer(t.Context(), list[0].ID, account, list[0].Question.ID, registry.Reply{Action: registry.ActionAccept}); err != nil {
				t.Fatal(err)
			}
			if result := <-done; result == nil || result.IsError || !strings.Contains(fmt.Sprint(result.StructuredContent), "accept") {
				t.Errorf("got %+v", result)
			}
		})
	}
}

func TestDoors(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	t.Run("without a key there is nothing", func(t *testing.T) {
		t.Parallel()
		for _, key := range []string{"", "sbx_wrong"} {
			req, _ := http.NewRequestWithContext(t.Context(), "POST", h.url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
			if key != "" {
				req.Header.Set("Authorization", "Bearer "+key)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusUnauthorized {
				t.Errorf("key %q: %d", key, res.StatusCode)
			}
		}
	})
	t.Run("a session belongs to the key that opened it", func(t *testing.T) {
		t.Parallel()
		_, ann := h.person(t, "ann", 0)
		_, bob := h.person(t, "bob", 0)
		session := h.connect(t, "2025-11-25", ann, sdk.ClientOptions{})
		if session.ID() == "" {
			t.Fatal("there is no session")
		}
		for key, refused := range map[string]bool{bob: true, ann: false} {
			req, _ := http.NewRequestWithContext(t.Context(), "POST", h.url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":9,"method":"tools/list"}`))
			for name, value := range map[string]string{"Authorization": "Bearer " + key, "Mcp-Session-Id": session.ID(), "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25"} {
				req.Header.Set(name, value)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if (res.StatusCode >= 400) != refused {
				t.Errorf("refused %t: %d", refused, res.StatusCode)
			}
		}
	})
	t.Run("listening for news is an event stream of the account, in both eras", func(t *testing.T) {
		t.Parallel()
		account, key := h.person(t, "listener", 0)
		if err := h.users.SetLimits(t.Context(), account, users.Limits{Streams: 1}, "operator", ""); err != nil {
			t.Fatal(err)
		}
		session := h.connect(t, "2025-11-25", key, sdk.ClientOptions{}) // listens by itself
		legacy := map[string]string{"Mcp-Session-Id": session.ID(), "Mcp-Protocol-Version": "2025-11-25"}
		for n := 0; h.send(t, key, "GET", "", legacy) != http.StatusTooManyRequests; n++ {
			if n == 1000 {
				t.Fatal("a second stream is open")
			}
		}
		modern := map[string]string{"Mcp-Method": "subscriptions/listen", "Mcp-Protocol-Version": versions[0]}
		if status := h.send(t, key, "POST", `{"jsonrpc":"2.0","id":9,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`, modern); status != http.StatusTooManyRequests {
			t.Errorf("without a session: %d", status)
		}
		if status := h.send(t, key, "POST", `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`, legacy); status != http.StatusOK {
			t.Errorf("all else goes on: %d", status)
		}
	})
	t.Run("the oldest session ends when an account opens too many, those that were ended don't count", func(t *testing.T) {
		t.Parallel()
		_, key := h.person(t, "opener", 0)
		first := h.opens(t, key)
		goes := func() bool {
			return h.send(t, key, "POST", `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`, map[string]string{"Mcp-Session-Id": first, "Mcp-Protocol-Version": "2025-11-25"}) == http.StatusOK
		}
		for range 60 {
			h.send(t, key, "DELETE", "", map[string]string{"Mcp-Session-Id": h.opens(t, key)})
		}
		if !goes() {
			t.Fatal("the only session ended")
		}
		for range 60 {
			h.opens(t, key)
		}
		for n := 0; goes(); n++ {
			if n == 1000 {
				t.Fatal("61 sessions are open")
			}
		}
	})
	t.Run("A47 a tool that comes or goes is told to the clients", func(t *testing.T) {
		t.Parallel()
		_, key := h.person(t, "eve", 0)
		changed := make(chan struct{}, 8)
		session := h.connect(t, "2025-11-25", key, sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} }})
		h.tools.Set(tool("free.story"), tool("new"))
		if _, err := h.reg.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changed:
		case <-time.After(2 * time.Minute):
			t.Error("nothing was told")
		}
		list, err := session.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != 3 { // and searchTools
			t.Errorf("got %d tools, %v", len(list.Tools), err)
		}
	})
}

// send sends one request to the server and gives its status.
func (h *house) send(t *testing.T, key, method, body string, header map[string]string) int {
	t.Helper()
	res := h.request(t, key, method, body, header)
	res.Body.Close()
	return res.StatusCode
}

func (h *house) request(t *testing.T, key, method, body string, header map[string]string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, h.url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + key, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
		req.Header.Set(name, value)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// opens opens a session, and gives its id.
func (h *house) opens(t *testing.T, key string) string {
	t.Helper()
	res := h.request(t, key, "POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, nil)
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	return res.Header.Get("Mcp-Session-Id")
}

func TestSpendLimit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	account, free := h.person(t, "ann", 0)
	for _, wrong := range []string{"much", "-1", "0"} {
		if status, answer := h.ask(t, free, "/api/keys", `{"spendLimitUsd":"`+wrong+`"}`); status != http.StatusUnprocessableEntity {
			t.Errorf("a limit of %s: %d %s", wrong, status, answer)
		}
	}
	_, answer := h.ask(t, free, "/api/keys", `{"label":"mcp","spendLimitUsd":"0.03"}`)
	var made struct{ Key string }
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.Key == "" {
		t.Fatalf("got %s", answer)
	}
	before := h.balance(t, account)
	t.Run("the limit holds for runs by MCP and by the API together", func(t *testing.T) {
		if result := call(t, h.connect(t, versions[0], made.Key, sdk.ClientOptions{}), "paid-story", prompt("x")); result.IsError {
			t.Fatal(textOf(result))
		}
		if status, answer := h.ask(t, made.Key, "/api/run/paid-story", `{"inputs":{"prompt":"y"}}`); status != http.StatusTooManyRequests {
			t.Errorf("beyond the limit: %d %s", status, answer)
		}
		if spent := before - h.balance(t, account); spent != 20_000_000 {
			t.Errorf("spent %s", spent)
		}
	})
	t.Run("a key with a limit makes no key without one, and no session", func(t *testing.T) {
		if status, answer := h.ask(t, made.Key, "/api/keys", `{}`); status != http.StatusForbidden {
			t.Errorf("%d %s", status, answer)
		}
		for key, opens := range map[string]bool{made.Key: false, free: true} {
			if status := h.signIn(t, key); (status == http.StatusSeeOther) != opens {
				t.Errorf("signing in, which works %t: %d", opens, status)
			}
		}
	})
}

// ask sends JSON to the API.
func (h *house) ask(t *testing.T, key, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", h.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

// signIn types a key into the sign-in page.
func (h *house) signIn(t *testing.T, key string) int {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(h.url + "/signin")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), `name="csrf-token" content="`)
	token, _, _ := strings.Cut(rest, `"`)
	if res, err = client.PostForm(h.url+"/signin", url.Values{"key": {key}, door.CSRFField: {token}}); err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

func TestPreview(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.slow.Answer(func(registry.Call) (registry.Result, *registry.Error) {
		return registry.Result{Outputs: []registry.Output{registrytest.Text("story", "done")}}, nil
	})
	does := registry.CapabilityWrite
	var parts []registry.Part
	var changes []registry.Change
	h.slow.Previews(func(registry.Call) (registry.Preview, error) {
		return registry.Preview{Capability: does, Message: "Delete 1 post?", Touches: []registry.Touch{{Kind: "post", ID: "7", Title: "Hello", Version: "1"}}, Parts: parts, Changes: changes}, nil
	})
	h.tools.Set(registrytest.Tool("remove", func(t *registry.Tool) {
		t.CommandName, t.OutputSchema = "", registry.OutputSchema{{Name: "story", Type: "text"}}
	}))
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, limited := h.person(t, "ann", billing.Dollar)
	t.Run("D99 a spending limit is no word for a call that its preview says changes something", func(t *testing.T) {
		result := call(t, h.connect(t, versions[0], limited, sdk.ClientOptions{}), "remove", prompt("confirmed"))
		if !result.IsError || h.slow.Submissions() != 0 || envelopeOf(t, result).Error.Code != string(runs.ToolRequiresApproval) {
			t.Errorf("got %s after %d executions", textOf(result), h.slow.Submissions())
		}
	})
	_, key := h.person(t, "bob", 0)
	t.Run("D96 the person reads what would change, and lets it happen once", func(t *testing.T) {
		person := &answers{action: "accept"}
		result := call(t, h.connect(t, versions[0], key, sdk.ClientOptions{ElicitationHandler: person.elicit}), "remove", prompt("confirmed"))
		if result.IsError || len(person.asked) != 1 || !strings.Contains(person.asked[0], "\nDelete 1 post?\n• Hello") {
			t.Fatalf("%s; asked %q", textOf(result), person.asked)
		}
		if calls := h.slow.Calls(); len(calls) != 1 || calls[0].Preview == nil || calls[0].Preview.Touches[0].Version != "1" {
			t.Errorf("carried out as %+v", calls)
		}
	})
	t.Run("the steps of a call are told with their prices in the person's language", func(t *testing.T) {
		account, key := h.person(t, "leser", 0)
		if err := h.users.SetLanguage(t.Context(), account, "de"); err != nil {
			t.Fatal(err)
		}
		parts = []registry.Part{{Name: "Grow", CostUSD: "0.042", Inputs: []registry.PartInput{{Label: "Where", Value: "elsewhere"}, {Label: "What", From: 2}}}, {Name: "Look", CostUSD: "0"}}
		person := &answers{action: "decline"}
		call(t, h.connect(t, versions[0], key, sdk.ClientOptions{ElicitationHandler: person.elicit}), "remove", prompt("confirmed"))
		if len(person.asked) != 1 || !strings.Contains(person.asked[0], "\n1. Grow · Preis: 0,042\u00a0$\n   Where: elsewhere\n   What: was Schritt 2 ergibt\n2. Look · Kostenlos") {
			t.Errorf("asked was %q", person.asked)
		}
		parts = nil
	})
	t.Run("what would be different stands in place of the inputs", func(t *testing.T) {
		changes = []registry.Change{{Field: "content.body", Pieces: []edit.Piece{{Kind: edit.Same, Text: "a "}, {Kind: edit.Gone, Text: "red "}, {Kind: edit.New, Text: "blue "}, {Kind: edit.Same, Text: "mug"}}}}
		person := &answers{action: "decline"}
		call(t, h.connect(t, versions[0], key, sdk.ClientOptions{ElicitationHandler: person.elicit}), "remove", prompt("confirmed"))
		if len(person.asked) != 1 || !strings.HasSuffix(person.asked[0], "\n• Hello\ncontent › body: a [−red −][+blue +]mug") {
			t.Errorf("asked was %q", person.asked)
		}
		changes = nil
	})
	t.Run("D96 what only shows it runs by itself", func(t *testing.T) {
		does = registry.CapabilityRead
		if result := call(t, h.connect(t, versions[0], key, sdk.ClientOptions{}), "remove", prompt("show")); result.IsError {
			t.Error(textOf(result))
		}
	})
	t.Run("a client that can't ask hears why a call that goes outside is refused, and what to do", func(t *testing.T) {
		h.tools.Set(registrytest.Tool("fetch", func(t *registry.Tool) {
			t.CommandName, t.CostingModel, t.Capability, t.Reaches = "", nil, registry.CapabilityRead, []string{"prompt"}
		}))
		if _, err := h.reg.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if result := call(t, h.connect(t, versions[0], key, sdk.ClientOptions{}), "fetch", prompt("https://new.example/")); !result.IsError || !strings.Contains(textOf(result), "search first") {
			t.Error(textOf(result))
		}
	})
}

func TestApproval(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, ann := h.person(t, "ann", 0)
	_, bob := h.person(t, "bob", 0)
	person := &answers{}
	manual := sdk.ClientOptions{ElicitationHandler: person.elicit, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}}
	session := h.connect(t, versions[0], ann, manual)
	answer := func(t *testing.T, s *sdk.ClientSession, state, tool string, arguments map[string]any) *sdk.CallToolResult {
		t.Helper()
		result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments, RequestState: state, InputResponses: sdk.InputResponseMap{"confirm": &sdk.ElicitResult{Action: "accept", Content: map[string]any{}}}})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	first := call(t, session, "paid-story", prompt("a pier"))
	if !first.NeedsInput() || first.RequestState == "" || h.now.count() != 0 {
		t.Fatalf("got %+v", first)
	}
	t.Run("B28 other arguments, another tool, another account and a forged state need an approval of their own", func(t *testing.T) {
		for name, result := range map[string]*sdk.CallToolResult{
			"arguments": answer(t, session, first.RequestState, "paid-story", prompt("a castle")),
			"tool":      answer(t, session, first.RequestState, "paid-picture", prompt("a pier")),
			"account":   answer(t, h.connect(t, versions[0], bob, manual), first.RequestState, "paid-story", prompt("a pier")),
			"forged":    answer(t, session, "x"+first.RequestState[1:], "paid-story", prompt("a pier")),
		} {
			if !result.IsError || h.now.count() != 0 {
				t.Errorf("%s: %s", name, textOf(result))
			}
		}
	})
	account, _ := h.person(t, "ann", 0)
	agent, err := h.users.MakeKey(t.Context(), account, users.NewKey{Agent: true})
	if err != nil {
		t.Fatal(err)
	}
	_, limited := h.person(t, "ann", billing.Dollar)
	t.Run("B28 what one key was asked, an agent's key and one with a limit can't answer", func(t *testing.T) {
		for name, key := range map[string]string{"agent": agent, "limit": limited} {
			if result := answer(t, h.connect(t, versions[0], key, manual), first.RequestState, "paid-story", prompt("a pier")); !result.IsError || h.now.count() != 0 {
				t.Errorf("%s: %s", name, textOf(result))
			}
		}
	})
	for n, version := range versions {
		t.Run("B27 an agent's key is asked nothing: its write waits until the owner confirms it, "+version, func(t *testing.T) {
			calls, model := h.now.count(), &answers{action: "accept"}
			session := h.connect(t, version, agent, sdk.ClientOptions{ElicitationHandler: model.elicit})
			traced := &sdk.CallToolParams{Name: "delete-all", Arguments: prompt("x"), Meta: sdk.Meta{"traceparent": fmt.Sprintf("00-%032x-00f067aa0ba902b7-01", 7+n)}}
			result, err := session.CallTool(t.Context(), traced)
			if err != nil {
				t.Fatal(err)
			}
			_, id, waits := strings.Cut(strings.TrimSpace(textOf(result)), h.url+"/run/")
			if !result.IsError || !waits || len(model.asked) != 0 || h.now.count() != calls {
				t.Fatalf("got %s, asked %q", textOf(result), model.asked)
			}
			if e := envelopeOf(t, result); e.Error.Code != string(runs.ToolRequiresApproval) {
				t.Errorf("the envelope tells %+v", e.Error)
			}
			for key, want := range map[string]int{agent: http.StatusForbidden, limited: http.StatusForbidden} {
				if status, body := h.ask(t, key, "/api/runs/"+id+"/confirm", `{}`); status != want {
					t.Errorf("confirmed: %d %s", status, body)
				}
			}
			if status, body := h.ask(t, ann, "/api/runs/"+id+"/confirm", `{}`); status != http.StatusAccepted {
				t.Fatalf("the owner: %d %s", status, body)
			}
			run, err := h.runs.Get(t.Context(), id)
			if err == nil {
				run, err = runs.Await(t.Context(), h.runs, run, nil)
			}
			if err != nil || run.Status != runs.StatusSucceeded || h.now.count() != calls+1 {
				t.Errorf("it ended as %s, %v", run.Status, err)
			}
			if again, err := session.CallTool(t.Context(), traced); err != nil || again.IsError || !strings.Contains(textOf(again), "said: x") || h.now.count() != calls+1 {
				t.Errorf("made again, it gives %+v, %v", again, err)
			}
		})
	}
	t.Run("B28 an approved call runs once, however often it is sent", func(t *testing.T) {
		calls := h.now.count()
		for range 2 {
			if result := answer(t, session, first.RequestState, "paid-story", prompt("a pier")); result.IsError || !strings.Contains(textOf(result), "said: a pier") {
				t.Errorf("got %s", textOf(result))
			}
		}
		if n := h.now.count() - calls; n != 1 {
			t.Errorf("it ran %d times", n)
		}
	})
	t.Run("who declines what has run already is told that it did", func(t *testing.T) {
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "paid-story", Arguments: prompt("a pier"), RequestState: first.RequestState, InputResponses: sdk.InputResponseMap{"confirm": &sdk.ElicitResult{Action: "decline"}}})
		if err != nil || result.IsError || !strings.Contains(textOf(result), "said: a pier") {
			t.Errorf("got %+v, %v", result, err)
		}
	})
}

func TestKeysForSomeTools(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	account, _ := h.person(t, "ann", 0)
	key, err := h.users.MakeKey(t.Context(), account, users.NewKey{Tools: []string{"free*"}, SpendLimit: int64(billing.Dollar)})
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		session := h.connect(t, version, key, sdk.ClientOptions{})
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		if slices.Sort(names); !slices.Equal(names, []string{"free.story", "searchTools"}) {
			t.Errorf("%s: it is shown %q", version, names)
		}
		if found := call(t, session, "searchTools", map[string]any{"query": "paid story"}); strings.Contains(textOf(found), "paid") {
			t.Errorf("%s: it finds %s", version, textOf(found))
		}
		told := func(name string) string {
			_, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: prompt("x")})
			if err == nil {
				t.Fatalf("%s: %s can be called", version, name)
			}
			return strings.ReplaceAll(err.Error(), name, "NAME")
		}
		if got, want := told("paid-story"), told("nothing"); got != want {
			t.Errorf("%s: told %s, of a tool that there is not: %s", version, got, want)
		}
		if result := call(t, session, "free.story", prompt("a pier")); result.IsError {
			t.Errorf("%s: %s", version, textOf(result))
		}
	}
}
