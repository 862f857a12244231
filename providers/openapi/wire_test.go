package openapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/providers/openapi"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// wire is a service that notes requests as they came, byte by byte. The library that judges for openapitest forgives what strict
// services don't, and knows no discriminators.
type wire struct {
	*openapi.Tools
	*httptest.Server
	store   *registrytest.Specs
	tools   map[string]registry.Tool
	request *http.Request
	body    string
	answer  http.HandlerFunc
}

// wired has the paths of a document as its tools. components may be empty.
func wired(t *testing.T, paths, components string, secrets ...string) *wire {
	t.Helper()
	w := &wire{store: &registrytest.Specs{}, tools: map[string]registry.Tool{}, answer: func(http.ResponseWriter, *http.Request) {}}
	w.store.AddFile("cät \"1\".png", "image/png", []byte("a cat"))
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/openapi.yaml" {
			io.WriteString(out, "openapi: 3.1.0\ninfo: {title: Wire, version: '1'}\nservers: [{url: '/{version}', variables: {version: {default: v2}}}, {url: 'https://second.example'}]\npaths:\n"+paths+"\ncomponents:\n"+components)
			return
		}
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.request, w.body = r.Clone(t.Context()), string(raw)
		w.answer(out, r)
	}))
	t.Cleanup(w.Server.Close)
	cfg := openapi.Config{Documents: []string{"wire=" + w.URL + "/openapi.yaml"}, Allow: []string{"*"}, Store: w.store, Guard: outbound.NewClient([]string{"127.0.0.1"})}
	env(secrets...)(&cfg)
	w.Tools = openapi.New(cfg)
	list, err := w.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list {
		w.tools[tool.ToolID] = tool
	}
	return w
}

// call gives inputs, as JSON, and calls.
func (w *wire) call(t *testing.T, id, inputs string) (registry.Result, error) {
	t.Helper()
	given, values := map[string]any{}, map[string]any{}
	d := json.NewDecoder(strings.NewReader(strings.ReplaceAll(inputs, "CAT", registry.SpecRef([]byte("a cat")))))
	d.UseNumber()
	if err := d.Decode(&given); err != nil {
		t.Fatal(err)
	}
	for name, raw := range given {
		f, known := w.tools[id].InputSchema.Get(name)
		if !known {
			t.Fatalf("%s has no input %s: %+v", id, name, w.tools[id].InputSchema)
		}
		value, refused := registry.CheckValue(f, raw)
		if refused != nil && !f.Type.IsMedia() {
			return registry.Result{}, refused
		} else if refused != nil {
			value = raw
		}
		values[name] = value
	}
	w.request, w.body = nil, ""
	return w.Call(t.Context(), registry.Call{RunID: "run", Handle: "the-handle", Tool: w.tools[id], Inputs: values, Media: w.store})
}

func TestC50WhatArrives(t *testing.T) {
	t.Parallel()
	const list, object = "schema: {type: array, items: {type: string}}", "schema: {type: object, additionalProperties: true}"
	for name, c := range map[string]struct{ path, param, inputs, want string }{
		"form":                      {"/x", "name: p, in: query, " + list, `{"p":["a b","c&d"]}`, "/v2/x?p=a%20b&p=c%26d"},
		"form, not exploded":        {"/x", "name: p, in: query, explode: false, " + list, `{"p":["a,b","c"]}`, "/v2/x?p=a%2Cb,c"},
		"form, an object":           {"/x", "name: p, in: query, " + object, `{"p":{"a":"1 2","b":null,"c":true}}`, "/v2/x?a=1%202&c=true"},
		"form, an object in one":    {"/x", "name: p, in: query, explode: false, " + object, `{"p":{"a":"1","c":2}}`, "/v2/x?p=a,1,c,2"},
		"spaceDelimited":            {"/x", "name: p, in: query, style: spaceDelimited, explode: false, " + list, `{"p":["a","b"]}`, "/v2/x?p=a%20b"},
		"pipeDelimited":             {"/x", "name: p, in: query, style: pipeDelimited, explode: false, " + list, `{"p":["a","b"]}`, "/v2/x?p=a%7Cb"},
		"deepObject":                {"/x", "name: p, in: query, style: deepObject, explode: true, " + object, `{"p":{"a":{"b":1},"c":["x","y"],"d":null}}`, "/v2/x?p%5Ba%5D%5Bb%5D=1&p%5Bc%5D%5B0%5D=x&p%5Bc%5D%5B1%5D=y"},
		"reserved characters":       {"/x", "name: p, in: query, allowReserved: true, schema: {type: string}", `{"p":"a/b:c,d e&f"}`, "/v2/x?p=a/b:c,d%20e%26f"},
		"a name to be escaped":      {"/x", "name: 'p[]', in: query, " + list, `{"p[]":["a"]}`, "/v2/x?p%5B%5D=a"},
		"a text that is JSON":       {"/x", "name: p, in: query, content: {application/json: {schema: {type: string}}}", `{"p":"a"}`, "/v2/x?p=%22a%22"},
		"an object that is JSON":    {"/x", "name: p, in: query, content: {application/json: {" + object + "}}", `{"p":{"a":1}}`, "/v2/x?p=%7B%22a%22%3A1%7D"},
		"a text of another kind":    {"/x", "name: p, in: query, content: {text/plain: {schema: {type: string}}}", `{"p":"a"}`, "/v2/x?p=a"},
		"simple":                    {"/{p}", "name: p, in: path, required: true, " + list, `{"p":["a/b","c"]}`, "/v2/a%2Fb,c"},
		"simple, an object":         {"/{p}", "name: p, in: path, required: true, explode: true, " + object, `{"p":{"a":"1","b":2}}`, "/v2/a=1,b=2"},
		"label":                     {"/{p}", "name: p, in: path, required: true, style: label, explode: true, " + list, `{"p":["a","b"]}`, "/v2/.a.b"},
		"label, not exploded":       {"/{p}", "name: p, in: path, required: true, style: label, " + list, `{"p":["a","b"]}`, "/v2/.a,b"},
		"matrix":                    {"/{p}", "name: p, in: path, required: true, style: matrix, explode: true, " + list, `{"p":["a","b"]}`, "/v2/;p=a;p=b"},
		"matrix, an object":         {"/{p}", "name: p, in: path, required: true, style: matrix, explode: true, " + object, `{"p":{"a":"1","b":2}}`, "/v2/;a=1;b=2"},
		"matrix, not exploded":      {"/{p}", "name: p, in: path, required: true, style: matrix, " + object, `{"p":{"a":"1","b":2}}`, "/v2/;p=a,1,b,2"},
		"a query in the path":       {"/x?mode=fast", "name: p, in: query, schema: {type: string}", `{"p":"a"}`, "/v2/x?mode=fast&p=a"},
		"a type list with null":     {"/x", "name: p, in: query, schema: {type: [integer, 'null']}", `{"p":5}`, "/v2/x?p=5"},
		"a place that nobody named": {"/{p}/{q}", "name: p, in: path, required: true, schema: {type: string}", `{"p":"a","q":"b"}`, "/v2/a/b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := wired(t, "  "+c.path+": {get: {operationId: a, parameters: [{"+c.param+"}]}}", "  {}")
			if _, err := w.call(t, "a", c.inputs); err != nil {
				t.Fatal(err)
			}
			if w.request.RequestURI != c.want {
				t.Errorf("got  %s\nwant %s", w.request.RequestURI, c.want)
			}
		})
	}
	for name, c := range map[string]struct{ operation, inputs, header, want string }{
		"simple":                       {"parameters: [{name: X-P, in: header, " + list + "}]", `{"X-P":["a b","c"]}`, "X-P", "a b,c"},
		"simple, exploded":             {"parameters: [{name: X-P, in: header, explode: true, " + object + "}]", `{"X-P":{"a":1,"b":null,"c":"d"}}`, "X-P", "a=1,c=d"},
		"cookies share one line":       {"parameters: [{name: a, in: cookie, schema: {type: string}}, {name: b, in: cookie, explode: false, " + list + "}], security: [{k: []}]", `{"a":"x y","b":["1","2"]}`, "Cookie", "a=x%20y; b=1,2; session=" + secret},
		"answers of one kind":          {"responses: {'200': {content: {audio/mpeg: {}}}}", `{}`, "Accept", "audio/mpeg"},
		"JSON before XML":              {"responses: {'200': {content: {application/xml: {}, application/json: {}}}}", `{}`, "Accept", "application/json"},
		"a kind of JSON":               {"responses: {'200': {content: {application/vnd.api+json: {}}}}", `{}`, "Accept", "application/vnd.api+json"},
		"JSON or a picture":            {"responses: {'2XX': {content: {application/json: {}, image/png: {}}}}", `{}`, "Accept", "application/json, image/png"},
		"answers that nobody told":     {"responses: {'204': {description: x}}", `{}`, "Accept", "application/json"},
		"a key that need not be there": {"security: [{}, {h: []}]", `{}`, "X-Api-Key", secret},
	} {
		t.Run("headers: "+name, func(t *testing.T) {
			t.Parallel()
			w := wired(t, "  /x: {get: {operationId: a, "+c.operation+"}}", "  securitySchemes: {k: {type: apiKey, in: cookie, name: session}, h: {type: apiKey, in: header, name: X-Api-Key}}",
				"OPENAPI_WIRE_K_KEY", secret, "OPENAPI_WIRE_H_KEY", secret)
			if _, err := w.call(t, "a", c.inputs); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(w.request.Header.Values(c.header), "|"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestC50BodiesThatArrive(t *testing.T) {
	t.Parallel()
	const form = "application/x-www-form-urlencoded"
	const components = `  schemas:
    Base: {type: object, required: [id], properties: {id: {type: integer, readOnly: true}, name: {type: string}, key: {type: string, writeOnly: true}}}
    Cat: {type: object, required: [kind], properties: {kind: {type: string}, lives: {type: integer}}}
    Dog: {type: object, required: [kind], properties: {kind: {type: string}, tricks: {type: array, items: {type: string}}}}
    Pet: {oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}], discriminator: {propertyName: kind, mapping: {dog: '#/components/schemas/Dog'}}}
    Car: {type: object, required: [kind], properties: {kind: {type: string}, name: {type: string}}, discriminator: {propertyName: kind}}
    Van: {allOf: [{$ref: '#/components/schemas/Car'}, {type: object, required: [load], properties: {load: {type: integer}}}]}
    Cab: {allOf: [{$ref: '#/components/schemas/Car'}]}
    Bus: {allOf: [{$ref: '#/components/schemas/Car'}, {type: object, properties: {seats: {type: integer}}}]}
    Ship: {type: object, required: [kind], properties: {kind: {type: string}}, discriminator: {propertyName: kind, mapping: {ferry: Ferry, tug: '#/components/schemas/Tug'}}}
    Ferry: {allOf: [{$ref: '#/components/schemas/Ship'}, {properties: {cars: {type: array, items: {$ref: '#/components/schemas/Car'}}}}]}
    Tug: {allOf: [{$ref: '#/components/schemas/Ship'}, {required: [pull], properties: {pull: {type: integer}}}]}
`
	for name, c := range map[string]struct{ media, schema, encoding, inputs, want string }{
		"members beside a reference":         {"application/json", "{$ref: '#/components/schemas/Base', required: [age], properties: {age: {type: integer}}}", "", `{"name":"A","key":"k","age":3}`, `{"age":3,"key":"k","name":"A"}`},
		"the case that a word names":         {"application/json", "{type: object, properties: {pet: {$ref: '#/components/schemas/Pet'}}}", "", `{"pet":{"kind":"dog","tricks":["sit"]}}`, `{"pet":{"kind":"dog","tricks":["sit"]}}`},
		"the case that its own name names":   {"application/json", "{$ref: '#/components/schemas/Pet'}", "", `{"body":{"kind":"Cat","lives":9}}`, `{"kind":"Cat","lives":9}`},
		"a case of a base without oneOf":     {"application/json", "{$ref: '#/components/schemas/Car'}", "", `{"body":{"kind":"Van","load":3}}`, `{"kind":"Van","load":3}`},
		"a case that adds nothing":           {"application/json", "{$ref: '#/components/schemas/Car'}", "", `{"body":{"kind":"Cab"}}`, `{"kind":"Cab"}`},
		"a case that a mapping names":        {"application/json", "{type: object, properties: {ship: {allOf: [{$ref: '#/components/schemas/Ship'}], description: Hers.}}}", "", `{"ship":{"kind":"ferry","cars":[{"kind":"Bus","seats":9}]}}`, `{"ship":{"cars":[{"kind":"Bus","seats":9}],"kind":"ferry"}}`},
		"a text of a kind is a text":         {"application/json", "{type: object, properties: {page: {type: string, contentMediaType: text/html}}}", "", `{"page":"<p>"}`, `{"page":"\u003cp\u003e"}`},
		"a form":                             {form, "{type: object, properties: {b: {type: string}, a: {type: array, items: {type: string}}, o: {type: object, additionalProperties: true}}}", "", `{"a":["x","y z"],"b":"1&2","o":{"k":"v"}}`, "b=1%262&a=x&a=y+z&o=%7B%22k%22%3A%22v%22%7D"},
		"a form with a style":                {form, "{type: object, properties: {a: {type: array, items: {type: string}}, o: {type: object, additionalProperties: true}, n: {type: array, items: {type: integer}}}}", "a: {style: deepObject, explode: true}, o: {style: deepObject, explode: true}, n: {explode: false}", `{"a":["x","y"],"o":{"k":{"l":"v w"}},"n":[1,2]}`, "a%5B0%5D=x&a%5B1%5D=y&o%5Bk%5D%5Bl%5D=v+w&n=1,2"},
		"parts":                              {"multipart/form-data", "{type: object, properties: {t: {type: string}, o: {type: object, additionalProperties: true}, l: {type: array, items: {type: string}}, f: {type: string, format: binary}}}", "", `{"t":"x","o":{"a":1},"l":["1","2"],"f":"CAT"}`, "form-data; name=\"t\"||x\nform-data; name=\"o\"|application/json|{\"a\":1}\nform-data; name=\"l\"||1\nform-data; name=\"l\"||2\nform-data; name=\"f\"; filename=\"cät \\\"1\\\".png\"|image/png|a cat\n"},
		"parts of 3.1, files without a type": {"multipart/form-data", "{type: object, properties: {f: {}, g: {contentMediaType: application/octet-stream}}}", "f: {contentType: 'image/png, image/jpeg'}", `{"f":"CAT"}`, "form-data; name=\"f\"; filename=\"cät \\\"1\\\".png\"|image/png|a cat\n"},
		"a picture of any kind":              {"image/*", "{}", "", `{"body":"CAT"}`, "image/png a cat"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := wired(t, "  /x: {post: {operationId: a, requestBody: {required: true, content: {'"+c.media+"': {schema: "+c.schema+", encoding: {"+c.encoding+"}}}}}}", components)
			if _, err := w.call(t, "a", c.inputs); err != nil {
				t.Fatal(err)
			}
			if got := w.read(t, c.media); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	for name, c := range map[string]struct{ schema, inputs string }{
		"a word that names no case":            {"{$ref: '#/components/schemas/Pet'}", `{"body":{"kind":"cow"}}`},
		"a case that lacks what it needs":      {"{$ref: '#/components/schemas/Car'}", `{"body":{"kind":"Van"}}`},
		"a word that a mapping does not name":  {"{$ref: '#/components/schemas/Ship'}", `{"body":{"kind":"Tug","pull":1}}`},
		"a case inside of a case that is none": {"{$ref: '#/components/schemas/Ship'}", `{"body":{"kind":"ferry","cars":[{"kind":"Car"}]}}`},
		"what does not fit its case":           {"{$ref: '#/components/schemas/Pet'}", `{"body":{"kind":"dog","tricks":"sit"}}`},
		"what stands in an allOf":              {"{type: object, properties: {o: {allOf: [{$ref: '#/components/schemas/Base'}, {additionalProperties: true, required: [n], properties: {n: {type: integer}}}]}}}", `{"o":{"name":"A"}}`},
		"what stands beside a reference":       {"{type: object, properties: {o: {$ref: '#/components/schemas/Cat', required: [lives]}}}", `{"o":{"kind":"x"}}`},
	} {
		t.Run("refused: "+name, func(t *testing.T) {
			t.Parallel()
			w := wired(t, "  /x: {post: {operationId: a, requestBody: {required: true, content: {application/json: {schema: "+c.schema+"}}}}}", components)
			if _, err := w.call(t, "a", c.inputs); registry.AsError(err) == nil || registry.AsError(err).Code != registry.CodeInvalidInput {
				t.Errorf("got %v, and %s", err, w.body)
			}
		})
	}
}

// read is a body that arrived, with its parts one a line.
func (w *wire) read(t *testing.T, media string) string {
	t.Helper()
	kind := w.request.Header.Get("Content-Type")
	if strings.HasPrefix(media, "image") {
		return kind + " " + w.body
	}
	if !strings.HasPrefix(kind, media) {
		t.Errorf("it is sent as %s", kind)
	}
	if !strings.HasPrefix(media, "multipart") {
		return w.body
	}
	w.request.Body = io.NopCloser(strings.NewReader(w.body))
	parts, err := w.request.MultipartReader()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for part, err := parts.NextRawPart(); err == nil; part, err = parts.NextRawPart() {
		data, _ := io.ReadAll(part)
		b.WriteString(part.Header.Get("Content-Disposition") + "|" + part.Header.Get("Content-Type") + "|" + string(data) + "\n")
	}
	return b.String()
}

func TestC10AnswersThatCome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		responses string
		answer    http.HandlerFunc
		want      string // type, name, media type and text, or the error
	}{
		"a sound": {"{'200': {content: {audio/mpeg: {}}}}", replies(200, "audio/mpeg", "sound"), "audio||audio/mpeg|sound"},
		"a table of an office, which is no text": {"{'200': {content: {application/vnd.openxmlformats-officedocument.spreadsheetml.sheet: {}}}}",
			replies(200, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "PK\x03\x04", "Content-Disposition", `attachment; filename="../a b.xlsx"`), "file|a b.xlsx|application/vnd.openxmlformats-officedocument.spreadsheetml.sheet|PK\x03\x04"},
		"lines of values":                 {"{'200': {content: {text/csv: {}}}}", replies(200, "text/csv", "a,b"), "text|||a,b"},
		"a problem in JSON":               {"{}", replies(200, "application/problem+json; charset=utf-8", `{"a":1}`), "text|||{\n  \"a\": 1\n}"},
		"events, told by what they carry": {"{'200': {content: {text/event-stream: {}}}}", replies(200, "text/event-stream", ": hello\n\nevent: x\ndata: one\ndata: two\n\ndata: three\n\n"), "text|||one\ntwo\nthree"},
		"where what was made is":          {"{'201': {}}", replies(201, "", "", "Location", "/v2/things/7"), "text|||/v2/things/7"},
		"RFC 9457 with its errors":        {"{}", replies(422, "application/problem+json", `{"title":"Unfit","errors":[{"detail":"must be a colour","pointer":"#/colour"}]}`), "Unfit; #/colour: must be a colour"},
		"members with their errors":       {"{}", replies(400, "application/json", `{"title":"One or more","errors":{"Age":["is too low","is odd"]}}`), "One or more; Age: is too low, is odd"},
		"the errors of FastAPI":           {"{}", replies(422, "application/json", `{"detail":[{"loc":["body","age"],"msg":"Input should be an integer"}]}`), "body.age: Input should be an integer"},
		"errors in a list":                {"{}", replies(400, "application/json", `{"errors":["too many","too few"]}`), "too many; too few"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := wired(t, "  /x: {post: {operationId: a, responses: "+c.responses+"}}", "  {}")
			w.answer = c.answer
			result, err := w.call(t, "a", `{}`)
			if err != nil {
				if got := registry.AsError(err).Message; got != "Wire did not accept the values: "+c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
				return
			}
			if got := told(t, result); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	t.Run("an answer that says later is waited for", func(t *testing.T) {
		t.Parallel()
		w := wired(t, "  /x: {post: {operationId: a, security: [{k: []}], responses: {'202': {}}}}", "  securitySchemes: {k: {type: apiKey, in: header, name: X-Api-Key}}", "OPENAPI_WIRE_K_KEY", secret)
		asked := 0
		w.answer = func(out http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Api-Key") != secret {
				t.Errorf("%s without the key", r.URL)
			}
			switch asked++; r.URL.Path {
			case "/v2/x":
				replies(202, "application/json", `{"state":"begun"}`, "Location", "jobs/1?a=b", "Retry-After", "0")(out, r)
			case "/v2/jobs/1":
				if asked < 4 {
					replies(202, "", "", "Retry-After", "0")(out, r)
					return
				}
				replies(303, "", "", "Location", "/results/1")(out, r)
			case "/results/1":
				replies(200, "image/png", "a picture")(out, r)
			}
		}
		result, err := w.call(t, "a", `{}`)
		if err != nil || told(t, result) != "image||image/png|a picture" || asked != 5 {
			t.Errorf("%d requests, %+v, %v", asked, result, err)
		}
	})
	t.Run("a token that was taken back before its time is fetched anew", func(t *testing.T) {
		t.Parallel()
		w := wired(t, "  /x: {post: {operationId: a, security: [{o: []}], requestBody: {content: {application/json: {schema: {type: object, properties: {n: {type: integer}}}}}}}}",
			"  securitySchemes: {o: {type: oauth2, flows: {clientCredentials: {tokenUrl: /token, scopes: {}}}}}", "OPENAPI_WIRE_O_CLIENT_ID", "me", "OPENAPI_WIRE_O_CLIENT_SECRET", secret)
		tokens := 0
		w.answer = func(out http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/token":
				tokens++
				replies(200, "application/json", fmt.Sprintf(`{"access_token":"t%d","token_type":"Bearer","expires_in":3600}`, tokens))(out, r)
			case r.Header.Get("Authorization") != "Bearer t2":
				replies(401, "application/json", `{"error":"invalid_token"}`)(out, r)
			default:
				replies(200, "text/plain", w.body)(out, r)
			}
		}
		if result, err := w.call(t, "a", `{"n":1}`); err != nil || told(t, result) != "text|||{\n  \"n\": 1\n}" || tokens != 2 {
			t.Errorf("%d tokens, %+v, %v", tokens, result, err)
		}
	})
	t.Run("what is worked on is asked for once, whatever happens while it is looked at", func(t *testing.T) {
		t.Parallel()
		w := wired(t, "  /x: {post: {operationId: a, security: [{o: []}], responses: {'202': {}}}}",
			"  securitySchemes: {o: {type: oauth2, flows: {clientCredentials: {tokenUrl: /token, scopes: {}}}}}", "OPENAPI_WIRE_O_CLIENT_ID", "me", "OPENAPI_WIRE_O_CLIENT_SECRET", secret)
		tokens, begun, looks := 0, 0, 0
		w.answer = func(out http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/token":
				tokens++
				replies(200, "application/json", fmt.Sprintf(`{"access_token":"t%d","token_type":"Bearer","expires_in":3600}`, tokens))(out, r)
			case "/v2/x":
				begun++
				replies(202, "", "", "Location", "/v2/jobs/1", "Retry-After", "0")(out, r)
			default:
				looks++
				switch {
				case looks == 1:
					replies(503, "application/json", `{"error":"busy"}`, "Retry-After", "0")(out, r)
				case r.Header.Get("Authorization") == "Bearer t1":
					replies(401, "application/json", `{"error":"invalid_token"}`)(out, r)
				default:
					replies(200, "text/plain", "made")(out, r)
				}
			}
		}
		if result, err := w.call(t, "a", `{}`); err != nil || told(t, result) != "text|||made" || begun != 1 {
			t.Errorf("begun %d times, looked at %d times, %+v, %v", begun, looks, result, err)
		}
	})
	t.Run("nobody is sent elsewhere with the key", func(t *testing.T) {
		t.Parallel()
		w := wired(t, "  /x: {post: {operationId: a, responses: {'202': {}}}}", "  {}")
		w.answer = replies(202, "application/json", `{"state":"begun"}`, "Location", "https://other.example/jobs/1")
		if result, err := w.call(t, "a", `{}`); err != nil || told(t, result) != "text|||{\n  \"state\": \"begun\"\n}" {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

// replies answers with a status, a media type, a body, and pairs of headers.
func replies(status int, media, body string, headers ...string) http.HandlerFunc {
	return func(out http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			out.Header().Set(headers[i], headers[i+1])
		}
		if media != "" {
			out.Header().Set("Content-Type", media)
		}
		out.WriteHeader(status)
		io.WriteString(out, body)
	}
}

func told(t *testing.T, result registry.Result) string {
	t.Helper()
	out := result.Outputs[0]
	if out.Type == "text" {
		return "text|||" + out.Text
	}
	content, err := out.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	data, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	return out.Type + "|" + out.Info.Name + "|" + out.Info.MIMEType + "|" + string(data)
}
