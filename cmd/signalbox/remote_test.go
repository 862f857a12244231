package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

const (
	remoteAdmin  = "admin-token-for-tests"
	remoteSecret = "sesame-1234567"
)

// flaky is an endpoint of remote tools that fails a few times before it answers.
type flaky struct {
	*httptest.Server
	mu    sync.Mutex
	fails int
	times []time.Time
	body  string
}

func newFlaky(t *testing.T, fails int) *flaky {
	t.Helper()
	f := &flaky{fails: fails}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.times, f.body = append(f.times, time.Now()), string(raw)
		if r.Header.Get("X-Api-Key") != remoteSecret || len(f.times) <= f.fails {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, `{"data":{"title":"Chair"}}`)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *flaky) seen() ([]time.Time, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.times, f.body
}

func remoteEntry(name, endpoint, more string) string {
	return fmt.Sprintf(`{"manifest":{"name":%q,"description":"Looks up a product.","inputSchema":{"type":"object","properties":{"sku":{"type":"string"}},"required":["sku"]},
		"outputSchema":{"type":"object","required":["title"]},"capability":"read","timeoutMs":3000,"retryPolicy":{"maxAttempts":3,"backoffMs":150},"idempotent":true},
		"endpoint":%q,"staticHeaders":{"X-Api-Key":%q}%s}`, name, endpoint, remoteSecret, more)
}

// client talks to the program's API with a key.
type client struct {
	t         *testing.T
	page, key string
}

func (c client) do(method, path, body string) (status int, answer string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.page+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if bytes.Contains(raw, []byte(remoteSecret)) {
		c.t.Errorf("%s %s shows the headers: %s", method, path, raw)
	}
	return res.StatusCode, string(raw)
}

// run runs a tool to its end.
func (c client) run(tool, inputs string) (status, output string) {
	c.t.Helper()
	code, answer := c.do("POST", "/api/run/"+tool, `{"inputs":`+inputs+`}`)
	var run struct {
		RunID, Status string
		Outputs       []struct{ Text string }
		Error         struct{ Message string }
	}
	if err := json.Unmarshal([]byte(answer), &run); err != nil || run.RunID == "" {
		return fmt.Sprint(code), answer
	}
	c.do("GET", "/api/runs/"+run.RunID+"/events", "") // to their end
	_, answer = c.do("GET", "/api/runs/"+run.RunID, "")
	if err := json.Unmarshal([]byte(answer), &run); err != nil {
		c.t.Fatal(err)
	}
	if len(run.Outputs) > 0 {
		return run.Status, run.Outputs[0].Text
	}
	return run.Status, run.Error.Message
}

// TestRemoteTools registers and runs remote tools through the whole program.
func TestRemoteTools(t *testing.T) {
	t.Parallel()
	bootstrap, registered := newFlaky(t, 2), newFlaky(t, 0)
	file := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(file, []byte(`{"tools":[`+remoteEntry("pim.getProduct", bootstrap.URL, "")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	page := start(t, "--orchestrator-tool-manifest-path", file, "--admin-token", remoteAdmin, "--outbound-allow", "127.0.0.1")
	stranger, operator := client{t, page, ""}, client{t, page, remoteAdmin}
	_, answer := operator.do("POST", "/api/keys", `{"label":"ann"}`)
	var made struct{ Key string }
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.Key == "" {
		t.Fatalf("no key: %s", answer)
	}
	ann := client{t, page, made.Key}

	t.Run("B11 B12 B26 B62 B72 B82 a tool of the file runs by itself, with the attempts and pauses of its policy", func(t *testing.T) {
		status, output := ann.run("pim.getProduct", `{"sku":"A-1"}`)
		times, body := bootstrap.seen()
		if status != "succeeded" || !strings.Contains(output, "Chair") || len(times) != 3 {
			t.Fatalf("%s: %s after %d attempts", status, output, len(times))
		}
		if first, second := times[1].Sub(times[0]), times[2].Sub(times[1]); first < 150*time.Millisecond || second < 300*time.Millisecond {
			t.Errorf("the pauses were %s and %s", first, second)
		}
		if !strings.Contains(body, `"toolName":"pim.getProduct"`) || !strings.Contains(body, `"siteId":"local"`) {
			t.Errorf("the endpoint got %s", body)
		}
	})
	t.Run("B20 B74 the envelope's data is the tool's own, as its outputSchema says", func(t *testing.T) {
		_, answer := ann.do("GET", "/api/runs", "")
		id := regexp.MustCompile(`"runId":"([^"]+)"`).FindStringSubmatch(answer)
		if id == nil {
			t.Fatalf("no run in %s", answer)
		}
		var e struct{ Data struct{ Title string } }
		if _, answer = ann.do("GET", "/api/runs/"+id[1]+"/envelope", ""); json.Unmarshal([]byte(answer), &e) != nil || e.Data.Title != "Chair" {
			t.Errorf("got %s", answer)
		}
	})
	entry := remoteEntry("dam.searchAssets", registered.URL, "")
	t.Run("B60 without authorisation nothing is registered", func(t *testing.T) {
		for c, want := range map[client]int{stranger: http.StatusUnauthorized, {t, page, "sbx_wrong"}: http.StatusUnauthorized, ann: http.StatusForbidden} {
			for _, request := range [][2]string{{"POST", "/tools/register"}, {"DELETE", "/tools/pim.getProduct"}} {
				if status, answer := c.do(request[0], request[1], entry); status != want {
					t.Errorf("%s: %d %s, expected %d", request[0], status, answer, want)
				}
			}
		}
		if status, answer := ann.run("dam.searchAssets", `{"sku":"A-1"}`); status != "404" {
			t.Errorf("%s %s", status, answer)
		}
		if status, _ := stranger.do("GET", "/tools", ""); status != http.StatusUnauthorized {
			t.Errorf("the list: %d", status)
		}
	})
	t.Run("B55 B56 B59 a registered tool is listed with its source and callable at once", func(t *testing.T) {
		if status, answer := operator.do("POST", "/tools/register", entry); status != http.StatusCreated {
			t.Fatalf("%d %s", status, answer)
		}
		_, list := ann.do("GET", "/tools", "")
		var listed struct {
			Tools []struct {
				Source   string
				Manifest struct {
					Name      string
					TimeoutMs int
				}
			}
		}
		if err := json.Unmarshal([]byte(list), &listed); err != nil {
			t.Fatal(err)
		}
		sources := map[string]string{}
		for _, tool := range listed.Tools {
			sources[tool.Manifest.Name] = tool.Source
		}
		if sources["pim.getProduct"] != "file" || sources["dam.searchAssets"] != "api" || sources["wallpaper"] != "comfyui" || strings.Contains(list, registered.URL) {
			t.Errorf("listed are %v: %s", sources, list)
		}
		if status, output := ann.run("dam.searchAssets", `{"sku":"A-1"}`); status != "succeeded" || !strings.Contains(output, "Chair") {
			t.Errorf("%s: %s", status, output)
		}
	})
	t.Run("B55 B56 the API's document describes the registration as it is", func(t *testing.T) {
		_, raw := stranger.do("GET", "/openapi.json", "")
		document, err := openapi3.NewLoader().LoadFromData([]byte(raw))
		if err == nil {
			err = document.Validate(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		list, register := document.Paths.Value("/tools"), document.Paths.Value("/tools/register")
		if list == nil || register == nil || document.Paths.Value("/tools/{name}") == nil {
			t.Fatal("the routes are missing")
		}
		fits := func(what string, content openapi3.Content, body string) {
			t.Helper()
			var value any
			if err := json.Unmarshal([]byte(body), &value); err != nil {
				t.Fatal(err)
			}
			if err := content.Get("application/json").Schema.Value.VisitJSON(value); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		_, answer := ann.do("GET", "/tools", "")
		fits("the list", list.Get.Responses.Status(http.StatusOK).Value.Content, answer)
		fits("an entry", register.Post.RequestBody.Value.Content, entry)
		_, answer = operator.do("POST", "/tools/register", entry)
		fits("the answer", register.Post.Responses.Status(http.StatusOK).Value.Content, answer)
	})
	t.Run("B57 B58 what breaks the rules, or belongs to another tool, is refused and changes nothing", func(t *testing.T) {
		for want, body := range map[int][]string{
			http.StatusUnprocessableEntity: {`{`, `{"manifest":{}}`, strings.Replace(entry, `"read"`, `"delete"`, 1), remoteEntry("x.y", "ftp://127.0.0.1/", ""), remoteEntry("x.y", "http://10.0.0.1/", "")},
			http.StatusConflict:            {remoteEntry("wallpaper", registered.URL, "")},
		} {
			for _, b := range body {
				if status, answer := operator.do("POST", "/tools/register", b); status != want || !strings.Contains(answer, `"code"`) {
					t.Errorf("%s: %d %s, expected %d", b, status, answer, want)
				}
			}
		}
		if _, list := ann.do("GET", "/tools", ""); strings.Contains(list, "x.y") {
			t.Error("x.y is there")
		}
	})
	t.Run("a command that another tool has stays with it, and the answer says so", func(t *testing.T) {
		status, answer := operator.do("POST", "/tools/register", remoteEntry("x.y", registered.URL, `,"tool":{"commandName":"/wallpaper"}`))
		if status != http.StatusCreated || !strings.Contains(answer, `"problem":`) {
			t.Errorf("%d %s", status, answer)
		}
	})
	t.Run("B61 B84 replacing, disabling and removing", func(t *testing.T) {
		if status, answer := operator.do("POST", "/tools/register", strings.Replace(entry, "Looks up", "Finds", 1)); status != http.StatusOK || !strings.Contains(answer, "Finds") {
			t.Errorf("replacing: %d %s", status, answer)
		}
		if status, answer := operator.do("POST", "/tools/register", remoteEntry("dam.searchAssets", registered.URL, `,"enabled":false`)); status != http.StatusOK {
			t.Errorf("disabling: %d %s", status, answer)
		}
		if status, _ := ann.run("dam.searchAssets", `{"sku":"A-1"}`); status != "404" {
			t.Errorf("running the disabled one: %s", status)
		}
		for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
			if status, answer := operator.do("DELETE", "/tools/dam.searchAssets", ""); status != want {
				t.Errorf("removing: %d %s, expected %d", status, answer, want)
			}
		}
		if status, _ := operator.do("DELETE", "/tools/pim.getProduct", ""); status != http.StatusUnprocessableEntity {
			t.Errorf("removing the file's: %d", status)
		}
	})
	t.Run("B11 a tool that is added to the file is there without a restart or a schedule", func(t *testing.T) {
		if err := os.WriteFile(file, []byte(`{"tools":[`+remoteEntry("pim.added", bootstrap.URL, "")+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		look := time.NewTicker(50 * time.Millisecond)
		defer look.Stop()
		list := ""
		for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(list, "pim.added"); <-look.C {
			if time.Now().After(deadline) {
				t.Fatalf("the file's change is not noticed: %s", list)
			}
			_, list = ann.do("GET", "/tools", "")
		}
		if strings.Contains(list, "pim.getProduct") {
			t.Error("the tool that is no more in the file is still there")
		}
	})
}
