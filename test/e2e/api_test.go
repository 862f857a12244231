//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// adminToken is the operator's in all tests that need one.
const adminToken = "the-operator-of-the-tests"

// client is a user of the HTTP API.
type client struct {
	t    testing.TB
	page string
	key  string
}

// newClient makes an account with a key. The program must have been started with ADMIN_TOKEN.
func newClient(p *program, name string) client {
	p.t.Helper()
	var answer struct{ Key string }
	operator := client{t: p.t, page: p.page, key: adminToken}
	operator.must(http.StatusCreated, http.MethodPost, "/api/keys", map[string]string{"name": name}, &answer)
	return client{t: p.t, page: p.page, key: answer.Key}
}

// do sends a request; the error is that of the connection.
func (c client) do(ctx context.Context, method, path string, body any, idempotencyKey string) (int, []byte, error) {
	var content io.Reader = http.NoBody
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		content = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.page+path, content)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Content-Type", "application/json")
	if idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", idempotencyKey)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	return res.StatusCode, data, err
}

// must sends a request, expects the status and decodes the answer.
func (c client) must(status int, method, path string, body, answer any) {
	c.t.Helper()
	got, data, err := c.do(c.t.Context(), method, path, body, "")
	if err != nil {
		c.t.Fatal(err)
	}
	if got != status {
		c.t.Fatalf("%s %s: %d, want %d: %.500s", method, path, got, status, data)
	}
	if answer != nil {
		if err := json.Unmarshal(data, answer); err != nil {
			c.t.Fatalf("%s %s: %v in %.500s", method, path, err, data)
		}
	}
}

// apiRun is what the tests read of a run.
type apiRun struct {
	RunID       string
	ToolVersion string
	Status      string
	Inputs      map[string]any
	Outputs     []struct {
		Type, URL     string
		Text          string
		Width, Height int
	}
	Cost  int64 `json:"costNanoUsd"`
	Error *struct{ Code, Message string }
}

func (r apiRun) final() bool {
	return slices.Contains([]string{"succeeded", "failed", "canceled", "timed_out"}, r.Status)
}

func (c client) run(tool string, inputs map[string]any) apiRun {
	c.t.Helper()
	var r apiRun
	c.must(http.StatusAccepted, http.MethodPost, "/api/run/"+tool, map[string]any{"inputs": inputs}, &r)
	return r
}

func (c client) runs() []apiRun {
	c.t.Helper()
	var answer struct{ Runs []apiRun }
	c.must(http.StatusOK, http.MethodGet, "/api/runs?limit=200", nil, &answer)
	return answer.Runs
}

func (c client) finished(id string) apiRun {
	c.t.Helper()
	var r apiRun
	await(c.t, "run "+id, func() bool {
		c.must(http.StatusOK, http.MethodGet, "/api/runs/"+id, nil, &r)
		return r.final()
	}, func() string { return fmt.Sprintf("%+v", r) })
	return r
}

// succeed runs a tool to its end.
func (c client) succeed(tool string, inputs map[string]any) apiRun {
	c.t.Helper()
	r := c.finished(c.run(tool, inputs).RunID)
	if r.Status != "succeeded" || len(r.Outputs) == 0 {
		c.t.Fatalf("%s: %+v", tool, r)
	}
	return r
}

type balance struct {
	Available int64 `json:"balanceNanoUsd"`
	Held      int64 `json:"heldNanoUsd"`
}

func (c client) balance() balance {
	c.t.Helper()
	var b balance
	c.must(http.StatusOK, http.MethodGet, "/api/balance", nil, &b)
	return b
}

// tools gives the listed tools as they were sent, by id.
func (c client) tools() map[string]json.RawMessage {
	c.t.Helper()
	var answer struct{ Tools []json.RawMessage }
	c.must(http.StatusOK, http.MethodGet, "/api/tools", nil, &answer)
	tools := map[string]json.RawMessage{}
	for _, raw := range answer.Tools {
		var t struct{ ToolID string }
		if err := json.Unmarshal(raw, &t); err != nil {
			c.t.Fatal(err)
		}
		tools[t.ToolID] = raw
	}
	return tools
}

// small is a picture that takes no time.
func small(side int) map[string]any {
	return map[string]any{"width": side, "height": side, "colors": 4}
}

// picture fetches an output.
func (c client) picture(url string) []byte {
	c.t.Helper()
	_, path, ok := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	if !ok {
		c.t.Fatalf("the output's address is %q", url)
	}
	status, data, err := c.do(c.t.Context(), http.MethodGet, "/"+path, nil, "")
	if err != nil || status != http.StatusOK {
		c.t.Fatalf("%s: %d, %v", url, status, err)
	}
	return data
}
