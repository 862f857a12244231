package strategy_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/strategy"
	"github.com/signalbox/signalbox/registry/validate"
)

func TestReadCallback(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	now := started.Add(90 * time.Second)
	w := strategy.Reader{WebhookConfig: registry.WebhookConfig{ExpectedStatusField: "state", SuccessValue: "success", ResultPath: []string{"creations", "1", "url"}}}
	const body = `{"state":"success","creations":[{"url":"first"},{"url":"second","seed":18446744073709551615}]}`

	t.Run("A32 a body that has only another status field is not read as finished", func(t *testing.T) {
		r, err := w.Read([]byte(`{"status":"success","creations":[]}`), started, now)
		if err == nil || r.State.Terminal() {
			t.Errorf("read as %+v, %v", r, err)
		}
	})
	t.Run("A33 only the exact value counts as success, other ends are failures, the rest goes on", func(t *testing.T) {
		for status, want := range map[string]registry.RunState{
			"Success": registry.RunRunning, "succeeded": registry.RunRunning, "processing": registry.RunRunning,
			"failed": registry.RunFailed, "cancelled": registry.RunCanceled, "timeout": registry.RunFailed,
		} {
			r, err := w.Read([]byte(`{"state":"`+status+`"}`), started, now)
			if err != nil || r.State != want {
				t.Errorf("%q is read as %s (%v), expected %s", status, r.State, err, want)
			}
			if want == registry.RunRunning && r.Unknown != status {
				t.Errorf("%q is not reported, only %q", status, r.Unknown)
			}
		}
		failing := strategy.Reader{WebhookConfig: registry.WebhookConfig{ExpectedStatusField: "state", SuccessValue: "failed"}} // a service may say it so
		if r, err := failing.Read([]byte(`{"state":"failed"}`), started, now); err != nil || r.State != registry.RunSucceeded {
			t.Errorf("the configured success value lost against the list of ends: %+v, %v", r, err)
		}
	})
	t.Run("A34 the duration is kept when it is tracked, and only then", func(t *testing.T) {
		if r, err := w.Read([]byte(body), started, now); err != nil || r.Duration != 0 {
			t.Errorf("untracked: %v, %v", r.Duration, err)
		}
		tracked := w
		tracked.DurationTracking = true
		if r, err := tracked.Read([]byte(body), started, now); err != nil || r.Duration != 90*time.Second {
			t.Errorf("tracked: %v, %v", r.Duration, err)
		}
	})
	t.Run("A35 a path through objects and indexes yields the artifact, a missing step a clear error", func(t *testing.T) {
		r, err := w.Read([]byte(body), started, now)
		if err != nil || r.State != registry.RunSucceeded || r.Result != "second" {
			t.Errorf("read %+v, %v", r, err)
		}
		for _, path := range [][]string{{"creations", "2", "url"}, {"creations", "x"}, {"nothing"}, {"creations", "0", "url", "deeper"}, {"creations", "-1"}} {
			w := w
			w.ResultPath = path
			_, err := w.Read([]byte(body), started, now)
			var typed *registry.Error
			if !errors.As(err, &typed) || typed.Code != registry.CodeBadOutput {
				t.Errorf("path %v: %v", path, err)
			}
		}
		seed := w
		seed.ResultPath = []string{"creations", "1", "seed"}
		if r, err := seed.Read([]byte(body), started, now); err != nil || r.Result != json.Number("18446744073709551615") {
			t.Errorf("a 64-bit number came out as %v, %v", r.Result, err)
		}
	})
	t.Run("A78 another mapping is another value, not other code", func(t *testing.T) {
		other, err := registry.DecodeTool([]byte(`{"toolId":"x","service":"s","displayName":"X","inputSchema":{},
			"webhookStrategy":{"expectedStatusField":"done","successValue":"true","durationTracking":false,"resultPath":["data"]}}`))
		if err != nil {
			t.Fatal(err)
		}
		if r, err := (strategy.Reader{WebhookConfig: *other.WebhookStrategy}).Read([]byte(`{"done":true,"data":7}`), started, now); err != nil || r.Result != json.Number("7") {
			t.Errorf("read %+v, %v", r, err)
		}
	})
	t.Run("a body that is not JSON is an error", func(t *testing.T) {
		if _, err := w.Read([]byte(`<html>`), started, now); err == nil {
			t.Error("it was read")
		}
	})
}
func TestFurtherMembersOfTheWebhookStrategy(t *testing.T) {
	t.Parallel()
	w := strategy.Reader{WebhookConfig: registry.WebhookConfig{
		ExpectedStatusField: "data.status", SuccessValue: "success", ResultPath: []string{"data", "output", "model"},
		FailureValues: []string{"broken"}, PendingValues: []string{"waiting"},
		ErrorPath: []string{"data", "why"}, CostPath: []string{"data", "credits"}, IDPath: []string{"data", "task_id"},
	}}
	now := time.Now()
	for body, want := range map[string]strategy.Reading{
		`{"data":{"status":"waiting","task_id":"t1"}}`:                           {State: registry.RunQueued, ID: "t1"},
		`{"data":{"status":"thinking"}}`:                                         {State: registry.RunRunning, Unknown: "thinking"},
		`{"data":{"status":"broken","why":"no clay","credits":0}}`:               {State: registry.RunFailed, Error: "no clay", Cost: "0"},
		`{"data":{"status":"success","output":{"model":"m"},"credits":12.50}}`:   {State: registry.RunSucceeded, Result: "m", Cost: "12.50"},
		`{"data":{"status":"success","output":{"model":"m"},"credits":{"a":1}}}`: {State: registry.RunSucceeded, Result: "m"},
	} {
		if got, err := w.Read([]byte(body), now, now); err != nil || got != want {
			t.Errorf("A78 %s: %+v, %v; expected %+v", body, got, err, want)
		}
	}
	tool, err := registry.DecodeTool([]byte(`{"toolId":"x","service":"s","displayName":"X","inputSchema":{},"webhookStrategy":{"expectedStatusField":"a","successValue":"ok","durationTracking":false,
		"failureValues":["ok"],"errorPath":[""]}}`))
	if err == nil {
		err = validate.Tool(tool)
	}
	if err == nil {
		t.Error("a status that means both success and failure, and an empty step, were accepted")
	}
	encoded, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	again, err := registry.DecodeTool([]byte(`{"toolId":"x","service":"s","displayName":"X","inputSchema":{},"webhookStrategy":` + string(encoded) + `}`))
	if err != nil || again.WebhookStrategy.CostPath[1] != "credits" || again.WebhookStrategy.PendingValues[0] != "waiting" {
		t.Errorf("the round trip gives %+v, %v", again.WebhookStrategy, err)
	}
}

func TestAnswersOfAllKinds(t *testing.T) {
	t.Parallel()
	w := strategy.Reader{WebhookConfig: registry.WebhookConfig{
		ExpectedStatusField: "done", SuccessValue: "true", DefaultStatus: "false", PendingValues: []string{"waiting"},
		ResultPath: []string{"videos", "*", "url"}, ResultPaths: [][]string{{"groups", "*", "files", "*", "url"}, {"image", "url"}},
		ErrorPath: []string{"error", "message"}, ErrorPaths: [][]string{{"reason"}},
		Failures: []registry.FailureSign{
			{Path: []string{"filtered"}, Means: registry.MeansRefused},
			{Path: []string{"code"}, Is: []string{"429"}, Means: registry.MeansBusy, Words: []string{"code"}},
			{Path: []string{"code"}, Not: []string{"0"}},
			{Path: []string{"videos", "*", "safe"}, Is: []string{"false"}, Means: registry.MeansRefused},
		},
		ProgressPath: []string{"percent"}, ProgressMax: "100",
	}}
	now := time.Now()
	for body, want := range map[string]strategy.Reading{
		`{}`:                              {State: registry.RunRunning, Unknown: "false"},
		`{"done": true, "code": 5}`:       {State: registry.RunFailed},
		`{"done": false, "code": 429}`:    {State: registry.RunFailed, Means: registry.MeansBusy, Error: "429"},
		`{"code": "7", "reason": "full"}`: {State: registry.RunFailed, Error: "full"},
		`{"done": true, "filtered": ["x"], "error": {"message": "not this"}}`:                            {State: registry.RunFailed, Means: registry.MeansRefused, Error: "not this"},
		`{"done": true, "filtered": [], "image": {"url": "one"}}`:                                        {State: registry.RunSucceeded, Result: "one"},
		`{"done": true, "filtered": null, "code": 0, "videos": [], "image": {"url": "one"}}`:             {State: registry.RunSucceeded, Result: "one"},
		`{"done": true, "videos": [{"url": "", "safe": false}]}`:                                         {State: registry.RunFailed, Means: registry.MeansRefused},
		`{"done": true, "videos": [{"url": "a", "safe": true}, {"url": "", "safe": false}, {"x": 1}]}`:   {State: registry.RunSucceeded, Result: []any{"a"}},
		`{"done": true, "groups": [{"files": [{"url": "a"}, {"url": "b"}]}, {"files": [{"url": "c"}]}]}`: {State: registry.RunSucceeded, Result: []any{"a", "b", "c"}},
	} {
		if got, err := w.Read([]byte(body), now, now); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("A78 %s: %+v, %v; expected %+v", body, got, err, want)
		}
	}
	if got, err := w.Read([]byte(`{"percent": 25}`), now, now); err != nil || got.Fraction == nil || *got.Fraction != 0.25 {
		t.Errorf("how far it is: %+v, %v", got, err)
	}
	if _, err := w.Read([]byte(`{"done": true, "videos": [{"x": 1}]}`), now, now); registry.AsError(err) == nil || registry.AsError(err).Code != registry.CodeBadOutput {
		t.Errorf("A11 success with nothing at any path: %v", err)
	}
	for member, bad := range map[string]string{
		"resultPaths": `"resultPaths":[[]]`, "failures": `"failures":[{"path":["a"],"is":["1"],"not":["2"]}]`, "means": `"failures":[{"path":["a"],"means":"odd"}]`, "progressMax": `"progressMax":0`,
	} {
		tool, err := registry.DecodeTool([]byte(`{"toolId":"x","service":"s","displayName":"X","inputSchema":{},"webhookStrategy":{"expectedStatusField":"a","successValue":"ok","durationTracking":false,` + bad + `}}`))
		if err == nil {
			err = validate.Tool(tool)
		}
		if err == nil || !strings.Contains(err.Error(), member) {
			t.Errorf("%s: %v, expected it to name %s", bad, err, member)
		}
	}
}
