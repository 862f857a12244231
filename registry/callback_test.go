package registry_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/signalbox/signalbox/registry"
)

func TestReadCallback(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	now := started.Add(90 * time.Second)
	w := registry.WebhookConfig{ExpectedStatusField: "state", SuccessValue: "success", ResultPath: []string{"creations", "1", "url"}}
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
		failing := registry.WebhookConfig{ExpectedStatusField: "state", SuccessValue: "failed"} // a service may say it so
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
		if r, err := other.WebhookStrategy.Read([]byte(`{"done":true,"data":7}`), started, now); err != nil || r.Result != json.Number("7") {
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
	w := registry.WebhookConfig{
		ExpectedStatusField: "data.status", SuccessValue: "success", ResultPath: []string{"data", "output", "model"},
		FailureValues: []string{"broken"}, PendingValues: []string{"waiting"},
		ErrorPath: []string{"data", "why"}, CostPath: []string{"data", "credits"}, IDPath: []string{"data", "task_id"},
	}
	now := time.Now()
	for body, want := range map[string]registry.Reading{
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
		err = registry.Validate(tool)
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
