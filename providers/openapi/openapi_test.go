package openapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
	"github.com/signalbox/signalbox/providers/openapi"
	"github.com/signalbox/signalbox/providers/openapi/openapitest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

const secret = "s3cret-of-the-pets"

// house is a service with its document, and the tools made of it.
type house struct {
	*openapi.Tools
	*openapitest.Server
	cfg openapi.Config
}

type option func(*openapi.Config)

func env(pairs ...string) option {
	return func(c *openapi.Config) {
		c.Lookup = func(name string) (string, bool) {
			i := slices.Index(pairs, name)
			if i < 0 || i%2 == 1 {
				return "", false
			}
			return pairs[i+1], true
		}
	}
}

func open(t *testing.T, document string, options ...option) *house {
	t.Helper()
	server := openapitest.New(t, document, secret)
	store := &registrytest.Specs{}
	store.AddFile("cat.png", "image/png", []byte("a cat"))
	h := &house{Server: server, cfg: openapi.Config{
		Documents: []string{"pets=" + server.URL + "/openapi.yaml"}, Allow: []string{"*"},
		Store: store, Guard: outbound.NewClient([]string{"127.0.0.1"}),
	}}
	env()(&h.cfg)
	for _, o := range options {
		o(&h.cfg)
	}
	h.Tools = openapi.New(h.cfg)
	return h
}

// all loads without problems.
func (h *house) all(t *testing.T) []registry.Tool {
	t.Helper()
	tools, err := h.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func (h *house) tool(t *testing.T, id string) registry.Tool {
	t.Helper()
	tools := h.all(t)
	i := slices.IndexFunc(tools, func(tool registry.Tool) bool { return tool.ToolID == id })
	if i < 0 {
		t.Fatalf("no tool %s among %d", id, len(tools))
	}
	return tools[i]
}

// call binds inputs as runs does, and calls.
func (h *house) call(t *testing.T, id string, inputs map[string]any) (registry.Result, error) {
	t.Helper()
	tool := h.tool(t, id)
	values := map[string]any{}
	for name, raw := range inputs {
		f, known := tool.InputSchema.Get(name)
		if !known {
			t.Fatalf("%s has no input %s", id, name)
		}
		value, err := registry.CheckValue(f, raw)
		if err != nil && !f.Type.IsMedia() {
			return registry.Result{}, err
		} else if err != nil {
			value = raw
		}
		values[name] = value
	}
	return h.Call(t.Context(), registry.Call{RunID: "run", Handle: "the-handle", Tool: tool, Inputs: values, Media: h.cfg.Store})
}

// sent calls and gives the one request that arrived.
func (h *house) sent(t *testing.T, id string, inputs map[string]any) openapitest.Request {
	t.Helper()
	before := len(h.Received())
	if _, err := h.call(t, id, inputs); err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	got := h.Received()
	if len(got) != before+1 {
		t.Fatalf("%s: %d requests, expected one", id, len(got)-before)
	}
	return got[before]
}

// pets is a document without extensions.
const pets = `
openapi: 3.0.3
info: {title: Pets, version: "1"}
servers: [{url: "{{server}}/v1"}]
paths:
  /pets/{kind}/{name}:
    parameters:
      - {name: kind, in: path, required: true, description: What it is, schema: {type: string, enum: [cat, dog]}}
    get:
      operationId: showPet
      summary: Show a pet
      description: Shows one pet with all that is known about it.
      tags: [Animals]
      parameters:
        - {name: name, in: path, required: true, description: Its name, schema: {type: string}}
        - {name: tags, in: query, description: Tags, schema: {type: array, items: {type: string}}}
        - {name: ids, in: query, description: Ids, style: pipeDelimited, explode: false, schema: {type: array, items: {type: integer}}}
        - {name: filter, in: query, description: Filter, style: deepObject, explode: true, schema: {type: object, properties: {age: {type: integer}, from: {type: string}}}}
        - {name: X-Trace, in: header, description: Trace, schema: {type: string}}
      responses: {"200": {description: The pet, content: {application/json: {schema: {}}}}}
    put:
      operationId: replacePet
      summary: Replace a pet
      parameters: [{name: name, in: path, required: true, description: Its name, schema: {type: string}}]
      requestBody: {$ref: "#/components/requestBodies/Pet"}
      responses: {"204": {description: Done}}
    patch:
      operationId: changePet
      summary: Change a pet
      parameters: [{name: name, in: path, required: true, description: Its name, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {age: {type: integer, description: Age in years}}}}}}
      responses: {"200": {description: The pet, content: {application/json: {schema: {type: object, required: [pet], properties: {pet: {$ref: "#/components/schemas/Named"}, ids: {oneOf: [{type: string, enum: [none]}, {type: array, items: {type: integer}}]}}}}}}}
    delete:
      operationId: removePet
      summary: Remove a pet
      parameters: [{name: name, in: path, required: true, description: Its name, schema: {type: string}}]
      responses: {"204": {description: Done}}
  /pets:
    post:
      operationId: addPet
      summary: Add a pet
      parameters: [{name: Idempotency-Key, in: header, schema: {type: string}}]
      requestBody: {$ref: "#/components/requestBodies/Pet"}
      responses: {"201": {description: The pet}}
  /notes:
    post:
      operationId: addNotes
      summary: Add notes
      requestBody: {required: true, content: {application/json: {schema: {type: array, minItems: 1, items: {type: string}}}}}
      responses: {"200": {description: Notes}}
  /photos:
    post:
      operationId: addPhoto
      summary: Add a photo
      requestBody:
        content:
          multipart/form-data:
            schema: {type: object, required: [photo], properties: {photo: {type: string, format: binary, description: The photo}, title: {type: string, description: Title}}}
            encoding: {photo: {contentType: image/png}}
      responses: {"200": {description: A picture, content: {image/png: {schema: {type: string, format: binary}}}}}
  /forms:
    post:
      operationId: sendForm
      summary: Send a form
      requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {a: {type: string, description: A}, n: {type: integer, description: N}}}}}}
      responses: {"200": {description: Done}}
components:
  requestBodies:
    Pet: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
  schemas:
    Named: {type: object, required: [name_of_owner], properties: {name_of_owner: {type: string, description: Owner, minLength: 2, maxLength: 5}}}
    Pet:
      allOf:
        - {$ref: "#/components/schemas/Named"}
        - type: object
          required: [age]
          properties:
            id: {type: string, readOnly: true}
            age: {type: integer, description: Age, minimum: 0, maximum: 99, default: 1}
            seed: {type: integer, description: Large, maximum: 18446744073709551615}
            weight: {type: number, description: Weight, minimum: 0, exclusiveMinimum: true}
            nickname: {type: string, nullable: true, description: Nickname, enum: [Tom, Tim]}
            friends: {type: array, minItems: 1, maxItems: 2, description: Friends, items: {type: string}}
            mother: {$ref: "#/components/schemas/Family"}
    Family: {type: object, required: [n], properties: {n: {type: integer}, mother: {$ref: "#/components/schemas/Family"}}}
`

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("loader", func(t *testing.T) {
		t.Parallel()
		registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
			h := open(t, pets)
			return registrytest.LoaderSetup{Loader: h, Break: func() { h.Down(true) }, Mend: func() { h.Down(false) }}
		})
	})
	for name, method := range map[string]string{"what may be repeated": "put", "what may not": "post"} {
		t.Run("caller of "+name, func(t *testing.T) {
			t.Parallel()
			registrytest.TestCaller(t, func(t *testing.T) registrytest.CallerSetup { return guarded(t, method) })
		})
	}
}

// guarded is a caller of one operation that needs a key.
func guarded(t *testing.T, method string) registrytest.CallerSetup {
	t.Helper()
	line := registrytest.NewLine(t, nil)
	server := openapitest.New(t, "", secret)
	document := strings.NewReplacer("{{server}}", server.URL, "{{method}}", method).Replace(`
openapi: 3.1.0
info: {title: Pets, version: "1"}
servers: [{url: "{{server}}"}]
paths:
  /pets:
    {{method}}:
      operationId: writePet
      summary: Write a pet
      security: [{auth: []}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {name: {type: string, description: Name}}}}}}
      responses: {"200": {description: Done}}
components: {securitySchemes: {auth: {type: http, scheme: bearer}}}
`)
	server.Describe(document)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pets.openapi.yaml"), []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := openapi.Config{Dir: dir, Allow: []string{"*"}, Store: &registrytest.Specs{}, Guard: line.Client()}
	env("OPENAPI_PETS_AUTH_TOKEN", secret)(&cfg)
	tools := openapi.New(cfg)
	loaded, err := tools.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return registrytest.CallerSetup{
		Caller: tools, Line: line, Secret: secret,
		Call:     func() registry.Call { return registry.Call{Tool: loaded[0], Inputs: map[string]any{"name": "Tom"}} },
		Received: func() int { return len(server.Received()) },
	}
}

func TestDocumentBecomesTools(t *testing.T) {
	t.Parallel()
	h := open(t, pets)
	tools := h.all(t)
	t.Run("C49 each method can be a tool, in the document's order", func(t *testing.T) {
		t.Parallel()
		var ids []string
		for _, tool := range tools {
			ids = append(ids, tool.ToolID)
		}
		if got := strings.Join(ids, " "); got != "showPet replacePet changePet removePet addPet addNotes addPhoto sendForm" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("C1 C4 a tool has the operation's id, words and kind", func(t *testing.T) {
		t.Parallel()
		tool := h.tool(t, "showPet")
		if tool.DisplayName != "Show a pet" || tool.CommandName != "/show_pet" || tool.Category != "Animals" || tool.Capability != registry.CapabilityRead || !tool.Idempotent {
			t.Errorf("got %+v", tool)
		}
		if write := h.tool(t, "addNotes"); write.Capability != registry.CapabilityWrite || write.Idempotent {
			t.Errorf("a POST became %s, idempotent %v", write.Capability, write.Idempotent)
		}
	})
	t.Run("C6 C40 what is required comes first, and numbers keep their digits", func(t *testing.T) {
		t.Parallel()
		tool := h.tool(t, "replacePet")
		var names []string
		for _, f := range tool.InputSchema {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != "kind name name_of_owner age seed weight nickname friends mother" {
			t.Errorf("the inputs are %s", got)
		}
		if seed, _ := tool.InputSchema.Get("seed"); seed.Max != "18446744073709551615" {
			t.Errorf("the maximum became %s", seed.Max)
		}
		if age, _ := tool.InputSchema.Get("age"); age.Default != json.Number("1") || !age.Integer || !age.Required {
			t.Errorf("age became %+v", age)
		}
	})
	for name, c := range map[string]struct {
		input string
		good  any
		bad   []any
	}{
		"C7 enum":                       {"kind", "cat", []any{"cow"}},
		"C8 minLength and maxLength":    {"name_of_owner", "Ann", []any{"A", "Annabell"}},
		"C8 minimum and maximum":        {"age", json.Number("99"), []any{json.Number("-1"), json.Number("100"), json.Number("1.5")}},
		"C8 exclusiveMinimum of 3.0":    {"weight", json.Number("0.1"), []any{json.Number("0")}},
		"C8 minItems and maxItems":      {"friends", []any{"a", "b"}, []any{[]any{}, []any{"a", "b", "c"}}},
		"C51 a cycle takes any value":   {"mother", map[string]any{"n": json.Number("1"), "mother": map[string]any{"n": json.Number("2"), "mother": "anything"}}, []any{map[string]any{"n": "x"}, map[string]any{}}},
		"C7 an enum that may be null":   {"nickname", "Tom", []any{"Jack"}},
		"C8 a whole number is no text":  {"seed", json.Number("18446744073709551615"), []any{"many"}},
		"C6 a required text is refused": {"name", "Tom", []any{nil}},
	} {
		t.Run(name+" is judged before anything is sent", func(t *testing.T) {
			t.Parallel()
			f, _ := h.tool(t, "replacePet").InputSchema.Get(c.input)
			if _, err := registry.CheckValue(f, c.good); err != nil {
				t.Errorf("%v is refused: %v", c.good, err)
			}
			for _, bad := range c.bad {
				if _, err := registry.CheckValue(f, bad); err == nil {
					t.Errorf("%v is taken", bad)
				}
			}
		})
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	h := open(t, pets)
	pet := map[string]any{"kind": "cat", "name": "Tom", "name_of_owner": "Ann", "age": json.Number("3")}
	t.Run("C50 path and query values are escaped, in the document's styles", func(t *testing.T) {
		r := h.sent(t, "showPet", map[string]any{
			"kind": "cat", "name": "../a b/ü?x=1", "tags": []any{"x&y", "z"}, "ids": []any{json.Number("1"), json.Number("2")},
			"filter": map[string]any{"age": json.Number("2"), "from": "A&B"}, "X-Trace": "a\r\nEvil: 1",
		})
		if want := "/v1/pets/cat/..%2Fa%20b%2F%C3%BC%3Fx=1?tags=x%26y&tags=z&ids=1%7C2&filter%5Bage%5D=2&filter%5Bfrom%5D=A%26B"; r.URI != want {
			t.Errorf("sent\n%s, expected\n%s", r.URI, want)
		}
		if r.Header.Get("Evil") != "" || r.Header.Get("X-Trace") != "a  Evil: 1" {
			t.Errorf("the header became %q", r.Header)
		}
	})
	t.Run("C50 a path value can't leave its place", func(t *testing.T) {
		if _, err := h.call(t, "showPet", map[string]any{"kind": "cat", "name": ".."}); registry.AsError(err).Code != registry.CodeInvalidInput {
			t.Errorf("got %v", err)
		}
	})
	t.Run("C50 C54 a JSON body, and the run's handle as idempotency key", func(t *testing.T) {
		r := h.sent(t, "addPet", map[string]any{"name_of_owner": "Ann", "age": json.Number("3"), "seed": json.Number("18446744073709551615")})
		if string(r.Body) != `{"age":3,"name_of_owner":"Ann","seed":18446744073709551615}` || r.Header.Get("Idempotency-Key") != "the-handle" {
			t.Errorf("sent %s with %v", r.Body, r.Header)
		}
		if tool := h.tool(t, "addPet"); !tool.Idempotent || len(tool.InputSchema) != 7 {
			t.Errorf("the key is an input: %v", tool.InputSchema)
		}
	})
	t.Run("C49 put, patch and delete", func(t *testing.T) {
		for id, inputs := range map[string]map[string]any{
			"replacePet": pet, "changePet": {"kind": "dog", "name": "Rex", "age": json.Number("4")}, "removePet": {"kind": "dog", "name": "Rex"},
		} {
			h.sent(t, id, inputs)
		}
	})
	t.Run("C3 a body that is no object is one input", func(t *testing.T) {
		if r := h.sent(t, "addNotes", map[string]any{"body": []any{"a", "b"}}); string(r.Body) != `["a","b"]` {
			t.Errorf("sent %s", r.Body)
		}
	})
	t.Run("a file goes into a form, and a picture comes back", func(t *testing.T) {
		h.Answer("addPhoto", func(openapitest.Request) openapitest.Answer {
			return openapitest.Answer{Type: "image/png", Body: "a picture"}
		})
		result, err := h.call(t, "addPhoto", map[string]any{"photo": registry.SpecRef([]byte("a cat")), "title": "Tom"})
		if err != nil {
			t.Fatal(err)
		}
		got := h.Received()
		if body := string(got[len(got)-1].Body); !strings.Contains(body, "a cat") || !strings.Contains(body, `filename="cat.png"`) {
			t.Errorf("sent %s", body)
		}
		if out := result.Outputs[0]; out.Type != "image" || out.Info.MIMEType != "image/png" {
			t.Errorf("got %+v", out)
		}
	})
	t.Run("a form", func(t *testing.T) {
		if r := h.sent(t, "sendForm", map[string]any{"a": "x&y", "n": json.Number("2")}); string(r.Body) != "a=x%26y&n=2" {
			t.Errorf("sent %s", r.Body)
		}
	})
	t.Run("C10 an answer in JSON is text with its members", func(t *testing.T) {
		h.Answer("sendForm", func(openapitest.Request) openapitest.Answer {
			return openapitest.Answer{Body: `{"big":18446744073709551615}`}
		})
		result, err := h.call(t, "sendForm", map[string]any{"a": "x"})
		if err != nil || result.Outputs[0].Text != "{\n  \"big\": 18446744073709551615\n}" {
			t.Errorf("got %+v, %v", result.Outputs, err)
		}
	})
	t.Run("B20 the result has the shape that the document tells, without what services don't keep", func(t *testing.T) {
		data, declared := h.tool(t, "changePet").OutputSchema.Data()
		if want := `{"type":"object","properties":{"pet":{"type":["object","null"],"properties":{"name_of_owner":{"type":["string","null"]}}},"ids":{"anyOf":[{"type":["string","null"]},{"type":["array","null"],"items":{"type":["integer","null"]}}]}}}`; !declared || string(data.Schema) != want {
			t.Errorf("got %s", data.Schema)
		}
	})
	t.Run("the service's own words for a refusal", func(t *testing.T) {
		h.Answer("addNotes", func(openapitest.Request) openapitest.Answer {
			return openapitest.Answer{Status: 409, Body: map[string]any{"error": map[string]string{"message": "There are notes already."}}}
		})
		_, err := h.call(t, "addNotes", map[string]any{"body": []any{"a"}})
		if e := registry.AsError(err); e.Code != registry.CodeInvalidInput || e.Message != "Pets did not accept the values: There are notes already" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a run that was accepted before the document changed calls what it was accepted for", func(t *testing.T) {
		old := h.tool(t, "removePet")
		h.Describe(strings.Replace(pets, "operationId: removePet", "operationId: otherPet", 1))
		h.all(t)
		again := openapi.New(h.cfg)
		call := registry.Call{Tool: old, Inputs: map[string]any{"kind": "cat", "name": "Tom"}, Media: h.cfg.Store}
		if _, err := again.Call(t.Context(), call); err != nil {
			t.Error(err)
		}
	})
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	document := func(scheme string) string {
		return `
openapi: 3.1.0
info: {title: Pets, version: "1"}
servers: [{url: "{{server}}"}]
security: [{Main-auth: [read, write]}]
paths:
  /open: {get: {operationId: free, summary: Free, security: [], responses: {"200": {description: OK}}}}
  /closed: {get: {operationId: guarded, summary: Guarded, responses: {"200": {description: OK}}}}
components: {securitySchemes: {Main-auth: ` + scheme + `}}`
	}
	const prefix = "OPENAPI_PETS_MAIN_AUTH_"
	for name, c := range map[string]struct {
		scheme string
		env    []string
	}{
		"a key in a header":  {`{type: apiKey, in: header, name: X-Api-Key}`, []string{prefix + "KEY", secret}},
		"a key in the query": {`{type: apiKey, in: query, name: api_key}`, []string{prefix + "KEY", secret}},
		"a key in a cookie":  {`{type: apiKey, in: cookie, name: session}`, []string{prefix + "KEY", secret}},
		"http bearer":        {`{type: http, scheme: Bearer}`, []string{prefix + "TOKEN", secret}},
		"http basic":         {`{type: http, scheme: basic}`, []string{prefix + "USER", "me", prefix + "PASSWORD", secret}},
		"oauth2 with client credentials": {`{type: oauth2, flows: {clientCredentials: {tokenUrl: "/token", scopes: {read: r, write: w}}}}`,
			[]string{prefix + "CLIENT_ID", "me", prefix + "CLIENT_SECRET", secret}},
		"oauth2 with a token": {`{type: oauth2, flows: {authorizationCode: {authorizationUrl: "https://x.example/a", tokenUrl: "https://x.example/t", scopes: {read: r, write: w}}}}`,
			[]string{prefix + "TOKEN", secret}},
	} {
		t.Run("C57 "+name, func(t *testing.T) {
			t.Parallel()
			h := open(t, document(c.scheme), env(c.env...))
			h.sent(t, "guarded", nil)
			h.sent(t, "guarded", nil)
			h.sent(t, "free", nil)
			if h.Tokens() > 1 {
				t.Errorf("%d tokens for two calls", h.Tokens())
			}
		})
		t.Run("C1 "+name+": without the secret the tool is there, and says what is missing", func(t *testing.T) {
			t.Parallel()
			h := open(t, document(c.scheme))
			tool := h.tool(t, "guarded")
			if tool.State() != registry.StateUnavailable || !strings.Contains(tool.Status.Reason, prefix) {
				t.Errorf("its status is %+v", tool.Status)
			}
			h.sent(t, "free", nil)
		})
	}
	t.Run("C57 a kind of sign-in that is not known makes the tool unavailable", func(t *testing.T) {
		t.Parallel()
		h := open(t, document(`{type: mutualTLS}`))
		if tool := h.tool(t, "guarded"); tool.State() != registry.StateUnavailable {
			t.Errorf("its status is %+v", tool.Status)
		}
	})
}

// What services call their operations, in blanks or in sentences, becomes an id and a name.
func TestOperationNames(t *testing.T) {
	t.Parallel()
	const head = "openapi: 3.1.0\ninfo: {title: T, version: '1'}\nservers: [{url: '{{server}}'}]\npaths:\n"
	h := open(t, head+`  /a: {get: {operationId: find pet by id, summary: Find it, responses: {'200': {description: x}}}}
  /b: {get: {operationId: listFields, summary: "Provides the general information about the API, and the list of fields that can be asked for", responses: {'200': {description: x}}}}
  /c: {get: {operationId: getRuns, summary: "**NOTE:** needs an [admin key](/keys)", responses: {'200': {description: x}}}}
`)
	for id, want := range map[string]string{"find_pet_by_id": "Find it", "listFields": "List fields", "getRuns": "Get runs"} {
		if tool := h.tool(t, id); tool.DisplayName != want {
			t.Errorf("%s is called %q, want %q", id, tool.DisplayName, want)
		}
	}
}

func TestBadDocuments(t *testing.T) {
	t.Parallel()
	const head = "openapi: 3.1.0\ninfo: {title: T, version: '1'}\nservers: [{url: 'https://x.example'}]\n"
	for name, c := range map[string]struct{ document, want string }{
		"another version":        {"swagger: '2.0'\ninfo: {}", "Swagger 2.0; 3.0 and 3.1 are read: convert it, as editor.swagger.io does"},
		"no version":             {"$id: x\ntype: object", "it has no openapi: 3.1.0"},
		"no document":            {"hello", "no JSON object"},
		"broken YAML":            {"a: [", "neither JSON nor YAML"},
		"broken JSON":            {"\n{\"openapi\": \"3.1.0\",\n \"paths\": }", "line 3, column 11: not valid JSON near"},
		"a billion laughs":       {head + "x-a: &a [1]\nx-b: [*a, *a]\npaths: {}", "aliases"},
		"paths that are a list":  {head + "paths: [1]", "no object"},
		"a parameter of nothing": {head + "paths: {/a: {get: {operationId: a, parameters: [{name: x}], responses: {'200': {description: x}}}}}", "a parameter has no name"},
		"C4 no operationId":      {head + "paths: {/a: {get: {x-orchet-tool: true, summary: A, responses: {'200': {description: x}}}}}", "GET /a"},
		"no server":              {strings.Replace(head, "https://x.example", "ftp://x", 1) + "paths: {/a: {get: {operationId: a, responses: {'200': {description: x}}}}}", "OPENAPI_BAD_URL"},
		"lists without an end":   {head + "x-a: " + strings.Repeat("[", 500_000), "nested deeper"},
		"objects without an end": {head + "x-a: " + strings.Repeat("{a: ", 100_000), "nested deeper"},
		"lists in lists":         {head + "x-a:\n " + strings.Repeat("- ", 100_000), "nested deeper"},
		"nested too deep":        {`{"openapi":"3.1.0","x":` + strings.Repeat("[", 400) + strings.Repeat("]", 400) + "}", "line 1, column 223: nested deeper"},
		"a reference to nothing": {head + "paths: {/a: {get: {operationId: a, parameters: [{$ref: '#/components/parameters/none'}], responses: {'200': {description: x}}}}}", "none"},
	} {
		t.Run(name+" is refused in one line", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "bad.openapi.yaml"), []byte(c.document), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := openapi.New(openapi.Config{Dir: dir, Allow: []string{"*"}, Store: &registrytest.Specs{}}).Load(t.Context())
			var partial *registry.PartialError
			if !errors.As(err, &partial) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, expected one line with %q", err, c.want)
			}
		})
	}
	t.Run("C51 references to other origins are never followed, and take any value", func(t *testing.T) {
		t.Parallel()
		h := open(t, head+`paths: {/a: {post: {operationId: a, requestBody: {content: {application/json: {schema: {type: object, properties: {x: {$ref: "http://169.254.169.254/latest#/x"}}}}}}, responses: {"200": {description: x}}}}}`)
		f, _ := h.tool(t, "a").InputSchema.Get("x")
		if _, err := registry.CheckValue(f, map[string]any{"any": "thing"}); err != nil {
			t.Error(err)
		}
	})
	t.Run("a flaw costs its operation, and no other", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct{ flaw, says string }{
			"a reference to nothing":      {"parameters: [{$ref: '#/components/parameters/none'}], responses: {}", "#/components/parameters/none can't be followed"},
			"a schema of nothing":         {"requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/none'}}}}", "#/components/schemas/none can't be followed"},
			"a schema that is none":       {"parameters: [{name: q, in: query, schema: {type: cat, minLength: 1}}]", "the input q"},
			"a parameter without place":   {"parameters: [{name: q}]", "a parameter has no name"},
			"a file that is not there":    {"parameters: [{$ref: 'none.yml#/x'}]", "none.yml#/x can't be followed"},
			"a name that is no extension": {"Orchet-Tool: true", "Orchet-Tool is not known"},
		} {
			dir, good := t.TempDir(), "{operationId: good, responses: {'200': {}}, x-new: {a: 1}, parameters: [{name: n, in: query, schema: {type: integer, minimum: '-99999999999999999999999', $recursiveAnchor: true, optional: 1}}]}"
			document := head + "tags: [{name: x, description: {$ref: 'gone.yml'}}]\npaths:\n  /{a}: {get: " + good + "}\n  /{b}: {get: {operationId: bad, " + c.flaw + "}}\n"
			if err := os.WriteFile(filepath.Join(dir, "odd.openapi.yaml"), []byte(document), 0o600); err != nil {
				t.Fatal(err)
			}
			tools, err := openapi.New(openapi.Config{Dir: dir, Allow: []string{"*"}, Store: &registrytest.Specs{}}).Load(t.Context())
			if len(tools) != 1 || tools[0].ToolID != "good" || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %d tools, %v; expected %q", name, len(tools), err, c.says)
			}
		}
	})
	t.Run("operations in other files of the folder are read, and none beyond", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		for name, text := range map[string]string{
			"secret.yml":          "{operationId: secret, responses: {}}",
			"in/api.openapi.yaml": head + "paths:\n  /a: {get: {$ref: 'res/a.yml'}}\n  /b: {$ref: 'res/b.json#/items/1'}\n  /c: {get: {$ref: '../secret.yml'}}\n  /d: {get: {$ref: 'link.yml'}}\ncomponents: {parameters: {n: {name: n, in: query, schema: {type: integer}}}}\n",
			"in/res/a.yml":        "operationId: one\nparameters: [{$ref: '../shared/p.yml#/q'}, {$ref: '../api.openapi.yaml#/components/parameters/n'}]\n",
			"in/res/b.json":       `{"items": [{}, {"post": {"operationId": "two", "parameters": [{"$ref": "#/p"}]}}], "p": {"name": "z", "in": "query", "schema": {"type": "string"}}}`,
			"in/shared/p.yml":     "q: {name: q, in: query, schema: {$ref: '#/s'}}\ns: {type: string, maxLength: 3}\n",
		} {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(filepath.Join(dir, "secret.yml"), filepath.Join(dir, "in", "link.yml")); err != nil {
			t.Fatal(err)
		}
		loader := openapi.New(openapi.Config{Dir: filepath.Join(dir, "in"), Allow: []string{"*"}, Store: &registrytest.Specs{}})
		inputs := func() string {
			tools, _ := loader.Load(t.Context())
			var names []string
			for _, tool := range tools {
				for _, f := range tool.InputSchema {
					names = append(names, tool.ToolID+"."+f.Name)
				}
			}
			return strings.Join(names, " ")
		}
		if got, want := inputs(), "one.q one.n two.z"; got != want {
			t.Errorf("it has %q, want %q", got, want)
		}
		if err := os.WriteFile(filepath.Join(dir, "in", "shared", "p.yml"), []byte("q: {name: r, in: query, schema: {type: string}}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, want := inputs(), "one.r one.n two.z"; got != want {
			t.Errorf("after a change of a file it has %q, want %q", got, want)
		}
	})
	t.Run("names are short, whole words, and each operation's own for ever", func(t *testing.T) {
		t.Parallel()
		long := "pulls/request-reviewers-for-a-pull-request"
		list := func(ids ...string) map[string]string {
			dir, b := t.TempDir(), strings.Builder{}
			b.WriteString(head + "paths:\n")
			for i, id := range ids {
				fmt.Fprintf(&b, "  /p%d: {get: {operationId: %s}}\n", i, id)
			}
			if err := os.WriteFile(filepath.Join(dir, "n.openapi.yaml"), []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			tools, err := openapi.New(openapi.Config{Dir: dir, Allow: []string{"*"}, Store: &registrytest.Specs{}}).Load(t.Context())
			if err != nil || len(tools) != len(ids) {
				t.Fatalf("%d tools, %v", len(tools), err)
			}
			names := map[string]string{}
			for i, tool := range tools {
				names[ids[i]] = tool.CommandName
			}
			return names
		}
		all := list(long+"s", long, "repos/get", "repos_get", strings.Repeat("x", 200))
		if all["repos/get"] != "/repos_get" || all["repos_get"] == "" || all["repos_get"] == all["repos/get"] || all[long] == all[long+"s"] {
			t.Errorf("they are called %q", all)
		}
		if name := all[long]; !strings.HasPrefix(name, "/pulls_request_reviewers_for_") || len(name) > 33 || list(long)[long] != name {
			t.Errorf("it is called %q, alone %q", name, list(long)[long])
		}
	})
	t.Run("a parameter that takes the operator's key is no input", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		document := head + "paths:\n  /a: {get: {operationId: a, parameters: [{name: xi-api-key, in: header, schema: {type: string}}, {name: page-token, in: header, schema: {type: string}}]}}\n  /b: {get: {operationId: b, parameters: [{name: api_key, in: query, required: true, schema: {type: string}}]}}\n"
		if err := os.WriteFile(filepath.Join(dir, "voice.openapi.yaml"), []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
		loader := openapi.New(openapi.Config{Dir: dir, Allow: []string{"*"}, Store: &registrytest.Specs{}, Lookup: func(string) (string, bool) { return "", false }})
		tools, err := loader.Load(t.Context())
		if err != nil || len(tools) != 2 {
			t.Fatalf("%d tools, %v", len(tools), err)
		}
		if a := tools[0]; len(a.InputSchema) != 1 || a.InputSchema[0].Name != "page-token" || a.Status != nil || !says(loader.Findings(), "OPENAPI_VOICE_XI_API_KEY") {
			t.Errorf("a takes %+v, %+v: %v", a.InputSchema, a.Status, loader.Findings())
		}
		if b := tools[1]; len(b.InputSchema) != 0 || b.Status == nil || !strings.Contains(b.Status.Reason, "OPENAPI_VOICE_API_KEY must be set") {
			t.Errorf("b takes %+v, %+v", b.InputSchema, b.Status)
		}
	})
	t.Run("a document that multiplies itself is bounded", func(t *testing.T) {
		t.Parallel()
		var b strings.Builder
		b.WriteString(head + "paths: {/a: {post: {operationId: a, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/S0'}}}}, responses: {'200': {description: x}}}}}\ncomponents:\n  schemas:\n    S30: {type: string}\n")
		for i := range 30 {
			fmt.Fprintf(&b, "    S%d: {type: object, properties: {a: {$ref: '#/components/schemas/S%d'}, b: {$ref: '#/components/schemas/S%d'}}}\n", i, i+1, i+1)
		}
		h := open(t, b.String())
		if f, _ := h.tool(t, "a").InputSchema.Get("a"); len(f.Schema) > 1<<20 {
			t.Errorf("the schema has %d bytes", len(f.Schema))
		}
	})
}

func TestAllowList(t *testing.T) {
	t.Parallel()
	t.Run("only what the operator allows of a document without extensions", func(t *testing.T) {
		t.Parallel()
		h := open(t, pets, func(c *openapi.Config) { c.Allow = []string{"showPet", "add*"} })
		if tools := h.all(t); len(tools) != 4 {
			t.Errorf("%d tools, expected 4", len(tools))
		}
	})
	t.Run("nothing without a list, or with one that names nothing, and that is told", func(t *testing.T) {
		t.Parallel()
		for _, list := range [][]string{nil, {"somethingElse"}} {
			h := open(t, pets, func(c *openapi.Config) { c.Allow = list })
			tools, err := h.Load(t.Context())
			if want := "name those that shall be in OPENAPI_ALLOW, such as "; len(tools) != 0 || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%d tools, %v, expected none and %q", len(tools), err, want)
			}
		}
	})
	t.Run("whoever looks at a document without a list sees all to choose from, and that none is a tool so far", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "pets.openapi.yaml")
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(pets, "{{server}}", "https://pets.example")), 0o600); err != nil {
			t.Fatal(err)
		}
		tools, findings, err := openapi.Check(t.Context(), file, nil)
		if err != nil || len(tools) == 0 || !says(findings, "OPENAPI_ALLOW is empty") {
			t.Errorf("%d tools, %v, %v", len(tools), findings, err)
		}
	})
	t.Run("C52 one operationId in two documents is refused with both named", func(t *testing.T) {
		t.Parallel()
		h := open(t, pets)
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "more.openapi.yaml"), []byte(strings.ReplaceAll(pets, "{{server}}", h.URL)), 0o600); err != nil {
			t.Fatal(err)
		}
		h.cfg.Dir = dir
		tools, err := openapi.New(h.cfg).Load(t.Context())
		if len(tools) != 8 || err == nil || !strings.Contains(err.Error(), "more.openapi.yaml") || !strings.Contains(err.Error(), h.URL) {
			t.Errorf("%d tools, %v", len(tools), err)
		}
	})
}

// TestRealDocument takes a large document of a real service.
func TestRealDocument(t *testing.T) {
	t.Parallel()
	data := shared(t, "specs", "discord-openapi.json")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "discord.openapi.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	tools, err := openapi.New(openapi.Config{Dir: dir, Allow: []string{"*"}, Store: &registrytest.Specs{}}).Load(t.Context())
	if err != nil || len(tools) < 200 {
		t.Errorf("%d tools, %v", len(tools), err)
	}
	t.Logf("%d tools in %s", len(tools), time.Since(began))
}

// shared reads a file of the folder beside the project.
func shared(t *testing.T, parts ...string) []byte {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	data, err := os.ReadFile(filepath.Join(append([]string{dir, "..", "shared"}, parts...)...))
	if errors.Is(err, os.ErrNotExist) && os.Getenv("CI") != "true" {
		t.Skip("the folder beside the project is not there")
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAnswersThatComeToHarm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault upstreamtest.Fault
		want  registry.Code // empty: it is an answer all the same
	}{
		"cut off in the middle":                  {upstreamtest.Truncate, registry.CodeUnavailable},
		"sent elsewhere, where nobody goes":      {upstreamtest.Redirect("http://127.0.0.1:1/"), registry.CodeProvider},
		"larger than anybody reads":              {upstreamtest.Huge(65 << 20), registry.CodeProvider},
		"with white space wherever it may stand": {upstreamtest.Spaced, ""},
		"with members nobody has heard of":       {upstreamtest.Chatty, ""},
	} {
		t.Run("an answer "+name, func(t *testing.T) {
			t.Parallel()
			h := open(t, pets)
			tool := h.tool(t, "removePet")
			h.Fail(c.fault)
			result, err := h.Call(t.Context(), registry.Call{RunID: "run", Handle: "the-handle", Tool: tool, Inputs: map[string]any{"kind": "cat", "name": "Tom"}, Media: h.cfg.Store})
			if c.want == "" {
				if err != nil || !strings.Contains(result.Outputs[0].Text, "removePet") {
					t.Errorf("got %+v, %v", result.Outputs, err)
				}
				return
			}
			if e := registry.AsError(err); e == nil || e.Code != c.want {
				t.Errorf("got %+v, %v, want %s", result.Outputs, err, c.want)
			}
		})
	}
	t.Run("nobody waits longer than they have time for", func(t *testing.T) {
		t.Parallel()
		h := open(t, pets)
		tool := h.tool(t, "removePet")
		h.Fail(upstreamtest.Late(time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := h.Call(ctx, registry.Call{RunID: "run", Handle: "the-handle", Tool: tool, Inputs: map[string]any{"kind": "cat", "name": "Tom"}, Media: h.cfg.Store})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a request that changes something is not repeated when its answer is lost", func(t *testing.T) {
		t.Parallel()
		h := open(t, pets)
		tool := h.tool(t, "addNotes")
		h.Fail(upstreamtest.LoseAnswer)
		_, err := h.Call(t.Context(), registry.Call{RunID: "run", Handle: "the-handle", Tool: tool, Inputs: map[string]any{"body": []any{"a"}}, Media: h.cfg.Store})
		if !errors.Is(err, upstream.ErrUnconfirmed) || len(h.Received()) != 1 {
			t.Errorf("%d requests, %v", len(h.Received()), err)
		}
	})
}
