package web_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/signalbox/signalbox/registry"
)

// describe reads the document as strictly as the library can.
func describe(t *testing.T, h *house) (*openapi3.T, []byte) {
	t.Helper()
	res := h.visitor().do("GET", "/openapi.json", "", nil)
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v", res.StatusCode, err)
	}
	loader := openapi3.NewLoader()
	document, err := loader.LoadFromData(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(loader.Context); err != nil {
		t.Fatalf("the document is not valid: %v", err)
	}
	return document, data
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	document, data := describe(t, h)

	t.Run("A48 A61 every public tool is an operation under its apiPath, its inputs as JSON Schema", func(t *testing.T) {
		tools := h.reg.Snapshot().Public()
		if len(tools) == 0 {
			t.Fatal("no tools")
		}
		for _, tool := range tools {
			item := document.Paths.Value(tool.RunPath())
			if item == nil || item.Post == nil {
				t.Errorf("%s has no operation", tool.ToolID)
				continue
			}
			checkToolOperation(t, tool, item.Post)
		}
	})

	t.Run("the schemas inside are JSON Schema 2020-12, and every operation has an id of its own", func(t *testing.T) {
		ids := map[string]bool{}
		for path, item := range document.Paths.Map() {
			for method, op := range item.Operations() {
				if op.OperationID == "" || ids[op.OperationID] {
					t.Errorf("%s %s: operationId %q", method, path, op.OperationID)
				}
				ids[op.OperationID] = true
				if op.Responses.Default() == nil || op.Summary == "" {
					t.Errorf("%s %s: no summary or no problem", method, path)
				}
			}
		}
		compiler := jsonschema.NewCompiler()
		compiler.DefaultDraft(jsonschema.Draft2020)
		whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource("openapi.json", whole); err != nil {
			t.Fatal(err)
		}
		for name := range document.Components.Schemas {
			if _, err := compiler.Compile("openapi.json#/components/schemas/" + name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})

	t.Run("every route of the API is described", func(t *testing.T) {
		for _, path := range []string{"/api/tools", "/api/runs/{id}/events", "/api/keys/{id}", "/api/invitations", "/api/uploads", "/api/quote/{id}", "/api/balance"} {
			if document.Paths.Value(path) == nil {
				t.Errorf("%s is missing", path)
			}
		}
	})

	t.Run("a client made of the document alone runs a tool; request and answers are as described", func(t *testing.T) {
		callByDocument(t, h, document)
	})
}

func checkToolOperation(t *testing.T, tool *registry.Tool, op *openapi3.Operation) {
	t.Helper()
	raw, err := json.Marshal(op.RequestBody.Value.Content.Get("application/json").Schema.Value.Properties["inputs"].Value)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range tool.InputSchema {
		if !bytes.Contains(raw, []byte(`"`+f.Name+`"`)) {
			t.Errorf("%s: input %s is missing", tool.ToolID, f.Name)
		}
		if f.Type.IsMedia() && !bytes.Contains(raw, []byte("data:")) {
			t.Errorf("%s: nothing says that %s may be a data URI", tool.ToolID, f.Name)
		}
	}
	if op.RequestBody.Value.Content.Get("multipart/form-data") == nil {
		t.Errorf("%s: nothing says that files may be sent", tool.ToolID)
	}
}

// callByDocument takes method, address, body and authorization from the document, and checks what it sends and gets against it.
func callByDocument(t *testing.T, h *house, document *openapi3.T) {
	t.Helper()
	c := documentedClient{t: t, document: document, base: h.url, key: h.developer("document").key}
	item := document.Paths.Value("/api/run/wallpaper")
	example, err := json.Marshal(item.Post.RequestBody.Value.Content.Get("application/json").Example)
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ RunID string }
	c.exchange("POST", "/api/run/wallpaper", nil, example, &made)
	var got struct{ RunID string }
	c.exchange("GET", "/api/runs/{id}", map[string]string{"id": made.RunID}, nil, &got)
	if got.RunID != made.RunID || made.RunID == "" {
		t.Errorf("ran %q, got %q", made.RunID, got.RunID)
	}
	c.exchange("GET", "/api/balance", nil, nil, nil)
	c.exchange("GET", "/api/tools", nil, nil, nil)
	c.exchange("GET", "/api/runs", nil, nil, nil)
	c.exchange("POST", "/api/keys", nil, []byte(`{"label":"small","spendLimitUsd":"0.50"}`), nil)
	var listed struct{ Keys []map[string]any }
	c.exchange("GET", "/api/keys", nil, nil, &listed)
	told := document.Components.Schemas["Key"].Value.Properties
	for _, key := range listed.Keys {
		for name := range key {
			if told[name] == nil {
				t.Errorf("keys have a member %s, which is not described", name)
			}
		}
	}
	if asked := document.Paths.Value("/api/keys").Post.RequestBody.Value.Content.Get("application/json").Schema.Value.Properties; asked["spendLimitUsd"] == nil {
		t.Error("nothing says that keys may have a limit")
	}
}

// documentedClient sends what the document says, and checks what it sends and gets against it.
type documentedClient struct {
	t         *testing.T
	document  *openapi3.T
	base, key string
}

func (c documentedClient) exchange(method, path string, parameters map[string]string, body []byte, answer any) {
	c.t.Helper()
	t, address := c.t, path
	for name, value := range parameters {
		address = strings.ReplaceAll(address, "{"+name+"}", value)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, c.base+address, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	item := c.document.Paths.Value(path)
	route := &routers.Route{Spec: c.document, Path: path, PathItem: item, Method: method, Operation: item.GetOperation(method)}
	asked := &openapi3filter.RequestValidationInput{Request: req, PathParams: parameters, Route: route, Options: &openapi3filter.Options{
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, SkipSettingDefaults: true,
	}}
	if err := openapi3filter.ValidateRequest(t.Context(), asked); err != nil {
		t.Errorf("%s %s: the request is not as described: %v", method, address, err)
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s %v", method, address, res.StatusCode, data, err)
	}
	told := &openapi3filter.ResponseValidationInput{RequestValidationInput: asked, Status: res.StatusCode, Header: res.Header, Options: asked.Options}
	if err := openapi3filter.ValidateResponse(t.Context(), told.SetBodyBytes(data)); err != nil {
		t.Errorf("%s %s: the answer is not as described: %v", method, address, err)
	}
	if answer != nil {
		if err := json.Unmarshal(data, answer); err != nil {
			t.Fatal(err)
		}
	}
}
