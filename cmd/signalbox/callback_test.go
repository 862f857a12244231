package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reporter is a service that can't be asked: it only calls back.
const reporter = `
tool:
  toolId: %[1]s
  displayName: Reporter %[1]s
  timeoutMs: %[3]s
  inputSchema:
    prompt: {type: string, required: true}
  outputSchema:
    answer: {type: text}
  webhookStrategy:
    expectedStatusField: job.state
    successValue: done
    resultPath: [job, said]
    errorPath: [job, why]
http:
  baseURL: %[2]s
  submit: {path: /%[1]s, body: {text: "{{prompt}}", report: "{{run.callback}}"}}
`

// TestToolsThatOnlyCallBack runs such tools through the whole program, which is told by its public address.
func TestToolsThatOnlyCallBack(t *testing.T) {
	t.Parallel()
	calls := make(chan string, 8) // where the service would report
	report := func(address, body string) int {
		res, err := http.Post(address, "application/json", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		return res.StatusCode
	}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var order struct{ Text, Report string }
		if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
			t.Error(err)
		}
		if r.URL.Path == "/quick" { // calls back before it answers
			if code := report(order.Report, `{"job": {"state": "done", "said": "quick"}}`); code != http.StatusOK {
				t.Errorf("the early callback was answered with %d", code)
			}
		}
		calls <- order.Report
		fmt.Fprint(w, `{"accepted": true}`)
	}))
	t.Cleanup(service.Close)
	dir := t.TempDir()
	for tool, timeout := range map[string]string{"quick": "60000", "slow": "60000", "never": "1500"} {
		if err := os.WriteFile(filepath.Join(dir, tool+".tool.yaml"), fmt.Appendf(nil, reporter, tool, service.URL, timeout), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0") // the public address has to be known before
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	page := start(t, "--tools-dir", dir, "--listen-addr", address, "--public-url", "http://"+address, "--admin-token", remoteAdmin, "--outbound-allow", "127.0.0.1")
	operator := client{t, page, remoteAdmin}
	_, answer := operator.do("POST", "/api/keys", `{"label":"ann"}`)
	var made struct{ Key string }
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.Key == "" {
		t.Fatalf("no key: %s", answer)
	}
	ann := client{t, page, made.Key}
	t.Run("a callback before the answer to submit is kept", func(t *testing.T) {
		if status, output := ann.run("quick", `{"prompt": "x"}`); status != "succeeded" || output != "quick" {
			t.Errorf("%s: %s", status, output)
		}
		<-calls
	})
	for _, c := range []struct{ name, body, status, said string }{
		{"A32 A33 A35 the result is what the callback says", `{"job": {"state": "done", "said": "here it is"}}`, "succeeded", "here it is"},
		{"A32 a failure is what the callback says", `{"job": {"state": "failed", "why": "no paint"}}`, "failed", "no paint"},
		{"a success without a result is none", `{"job": {"state": "done"}}`, "failed", "said"},
	} {
		t.Run(c.name, func(t *testing.T) {
			done := make(chan [2]string, 1)
			go func() {
				status, output := ann.run("slow", `{"prompt": "`+c.said+`"}`)
				done <- [2]string{status, output}
			}()
			address := <-calls
			for forged, want := range map[string]int{address + "x": http.StatusUnauthorized, address[:strings.LastIndex(address, "/")]: http.StatusUnauthorized} {
				if code := report(forged, `{"job": {"state": "done", "said": "forged"}}`); code != want {
					t.Errorf("a forged callback was answered with %d", code)
				}
			}
			for _, body := range []string{`{"job": {"state": "painting"}}`, "rubbish", c.body, `{"job": {"state": "done", "said": "too late"}}`} {
				if code := report(address, body); code != http.StatusOK {
					t.Errorf("the callback was answered with %d", code)
				}
			}
			if got := <-done; got[0] != c.status || !strings.Contains(got[1], c.said) {
				t.Errorf("%s: %s", got[0], got[1])
			}
		})
	}
	t.Run("none at all ends it by timeout, free of charge", func(t *testing.T) {
		if status, output := ann.run("never", `{"prompt": "x"}`); status != "timed_out" {
			t.Errorf("%s: %s", status, output)
		}
	})
}

func TestInspectWarnsOfSilence(t *testing.T) {
	t.Parallel()
	good := fmt.Sprintf(reporter, "say", "https://say.example", "60000")
	for name, c := range map[string]struct{ old, new, want string }{
		"it calls back":           {"", "", ""},
		"neither poll nor report": {`, report: "{{run.callback}}"`, "", "neither poll nor {{run.callback}}"},
		"nobody reads the report": {good[strings.Index(good, "  webhookStrategy"):strings.Index(good, "http:\n")], "", "webhookStrategy"},
	} {
		file := filepath.Join(t.TempDir(), "say.tool.yaml")
		if err := os.WriteFile(file, []byte(strings.Replace(good, c.old, c.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if code := run(t.Context(), []string{"inspect", file}, &out, &out); code != 0 || strings.Contains(out.String(), "warning") != (c.want != "") || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %d %s", name, code, out.String())
		}
	}
}
