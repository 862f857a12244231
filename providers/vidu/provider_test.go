package vidu_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
	"github.com/signalbox/signalbox/providers/vidu"
	"github.com/signalbox/signalbox/providers/vidu/vidutest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// house is the provider with everything switched on, and the service behind it.
func house(t *testing.T) (*vidu.Provider, *vidutest.Server) {
	t.Helper()
	server := vidutest.New(t)
	return provider(t, server, nil), server
}

// provider is one that sends by client; nil: its own.
func provider(t *testing.T, server *vidutest.Server, client *http.Client) *vidu.Provider {
	t.Helper()
	p, err := vidu.New(vidu.Config{
		HTTP: client,
		Key:  vidutest.Key, BaseURL: server.BaseURL(), USDPerCredit: "0.005", Templates: []string{"hug", "kiss"}, Upscale: true,
		MediaURL: func(_ context.Context, ref registry.Media) (string, error) {
			return "https://bot.example/files/" + ref[len("asset:"):], nil
		},
		Guard: outbound.NewClient([]string{"127.0.0.1"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pictures opens references like "asset:640x480" as pictures of that size.
type pictures struct{}

func (pictures) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	var width, height int
	if _, err := fmt.Sscanf(ref, "asset:%dx%d", &width, &height); err != nil {
		return io.NopCloser(strings.NewReader("no picture")), registry.MediaInfo{}, nil
	}
	var b bytes.Buffer
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.NRGBA{R: 200, A: 255}})
	if err := png.Encode(&b, img); err != nil {
		return nil, registry.MediaInfo{}, err
	}
	return io.NopCloser(&b), registry.MediaInfo{}, nil
}

// call binds inputs to a tool as runs does: with its defaults.
func call(t *testing.T, p *vidu.Provider, tool string, inputs map[string]any) registry.Call {
	t.Helper()
	tools, err := p.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tools, func(one registry.Tool) bool { return one.ToolID == tool })
	if i < 0 {
		t.Fatalf("there is no tool %s", tool)
	}
	c := registry.Call{RunID: "run-" + t.Name(), Handle: "handle-" + t.Name(), Tool: tools[i], Inputs: map[string]any{}, Media: pictures{}, CallbackURL: "https://bot.example/webhooks/vidu/1"}
	for _, f := range tools[i].InputSchema {
		if f.Default != nil {
			c.Inputs[f.Name] = f.Default
		}
	}
	maps.Copy(c.Inputs, inputs)
	return c
}

func TestContracts(t *testing.T) {
	t.Parallel()
	registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
		p, _ := house(t)
		return registrytest.LoaderSetup{Loader: p}
	})
	registrytest.TestSubmitter(t, func(t *testing.T) registrytest.SubmitterSetup {
		server, line := vidutest.New(t), registrytest.NewLine(t, nil)
		p := provider(t, server, line.Client())
		return registrytest.SubmitterSetup{
			Submitter: p, Line: line, Secret: vidutest.Key, Restart: func() registry.Submitter { return provider(t, server, line.Client()) },
			Fail: func(ticket registry.Ticket) {
				server.Change(ticket.ProviderID, func(task *vidutest.Task) { task.State, task.ErrCode = "failed", "CreationPolicyViolation" })
			},
			Report: func(ticket registry.Ticket) registry.CallbackRequest { return report(t, ticket.ProviderID) },
		}.Of(server, call(t, p, "vidu.text2video", map[string]any{"prompt": "a cat"}))
	})
}

// report is the service's callback about a task, as it arrives.
func report(t *testing.T, id string) registry.CallbackRequest {
	t.Helper()
	body, now := []byte(`{"id": "`+id+`", "state": "success", "creations": []}`), time.Now()
	r, err := vidutest.Callback(vidutest.Key, "https://bot.example/webhooks/vidu/1?x=y", now, "nonce-"+id, body)
	if err != nil {
		t.Fatal(err)
	}
	return registry.CallbackRequest{Method: r.Method, Path: r.URL.EscapedPath(), RawQuery: r.URL.RawQuery, Header: r.Header, Body: body, At: now}
}

func TestTasks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool   string
		inputs map[string]any
		sent   map[string]any // what the service got
		absent []string
		images int
	}{
		"A1 text to video": {"vidu.text2video", map[string]any{"prompt": "a cat", "duration": json.Number("8")},
			map[string]any{"model": "viduq3-pro", "prompt": "a cat", "duration": json.Number("8"), "aspect_ratio": "16:9", "audio": true}, []string{"bgm", "style", "resolution"}, 0},
		"an older model gets what it knows": {"vidu.text2video", map[string]any{"prompt": "a cat", "model": "viduq1", "style": "anime"},
			map[string]any{"model": "viduq1", "style": "anime", "bgm": false, "movement_amplitude": "auto"}, []string{"audio", "duration"}, 0},
		"picture to video":     {"vidu.img2video", map[string]any{"image": "asset:200x200"}, map[string]any{"model": "viduq3-pro"}, []string{"prompt", "image"}, 1},
		"between two pictures": {"vidu.start-end2video", map[string]any{"start": "asset:200x200", "end": "asset:240x200"}, nil, nil, 2},
		"with subjects":        {"vidu.reference2video", map[string]any{"prompt": "both dance", "images": []any{"asset:200x200", "asset:200x300"}}, map[string]any{"model": "viduq2"}, nil, 2},
		"an effect":            {"vidu.template2video", map[string]any{"template": "kiss", "images": "asset:200x200"}, map[string]any{"template": "kiss"}, []string{"model"}, 1},
		"enlarging":            {"vidu.upscale", map[string]any{"video": "asset:abc"}, map[string]any{"video_url": "https://bot.example/files/abc", "resolution": "1080p"}, []string{"model"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := house(t)
			request := call(t, p, c.tool, c.inputs)
			ticket, err := p.Submit(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			body := server.Tasks()[0].Body
			for field, want := range c.sent {
				if body[field] != want {
					t.Errorf("sent %s %v, expected %v", field, body[field], want)
				}
			}
			for _, field := range c.absent {
				if _, there := body[field]; there {
					t.Errorf("%s was sent: %v", field, body[field])
				}
			}
			if images, _ := body["images"].([]any); len(images) != c.images || body["payload"] != request.Handle || body["callback_url"] != request.CallbackURL {
				t.Errorf("sent %d pictures, payload %v, callback %v", len(images), body["payload"], body["callback_url"])
			}
			server.Finish(ticket.ProviderID)
			progress, err := p.Poll(t.Context(), ticket)
			if err != nil || progress.State != registry.RunSucceeded {
				t.Fatalf("%+v, %v", progress, err)
			}
			checkVideo(t, progress.Result, "video "+ticket.ProviderID+".mp4")
		})
	}
}

func checkVideo(t *testing.T, result *registry.Result, want string) {
	t.Helper()
	if len(result.Outputs) != 1 || result.Usage.CostUSD != "0.300000000" {
		t.Fatalf("%d outputs for %s; 60 credits at $0.005 are $0.30", len(result.Outputs), result.Usage.CostUSD)
	}
	body, err := result.Outputs[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if data, err := io.ReadAll(body); err != nil || string(data) != want {
		t.Errorf("read %q, %v; expected %q", data, err, want)
	}
}

func TestRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool   string
		inputs map[string]any
		field  string
	}{
		"a length the model does not make":     {"vidu.text2video", map[string]any{"prompt": "x", "model": "viduq1", "duration": json.Number("8")}, "duration"},
		"a resolution the model does not make": {"vidu.text2video", map[string]any{"prompt": "x", "model": "viduq1", "resolution": "540p"}, "resolution"},
		"eight seconds in 1080p of 2.0":        {"vidu.img2video", map[string]any{"image": "asset:200x200", "model": "vidu2.0", "duration": json.Number("8"), "resolution": "1080p"}, "resolution"},
		"a shape the model does not make":      {"vidu.text2video", map[string]any{"prompt": "x", "model": "viduq1", "aspect_ratio": "4:3"}, "aspect_ratio"},
		"a long description":                   {"vidu.text2video", map[string]any{"prompt": strings.Repeat("ž", 2001), "model": "viduq2"}, "prompt"},
		"a model that is gone":                 {"vidu.text2video", map[string]any{"prompt": "x", "model": "viduq0"}, "model"},
		"a small picture":                      {"vidu.img2video", map[string]any{"image": "asset:127x200"}, "image"},
		"a long picture":                       {"vidu.img2video", map[string]any{"image": "asset:200x800"}, "image"},
		"no picture":                           {"vidu.img2video", map[string]any{"image": "asset:text"}, "image"},
		"two pictures of different shapes":     {"vidu.start-end2video", map[string]any{"start": "asset:200x200", "end": "asset:300x200"}, "end"},
		"eight subjects":                       {"vidu.reference2video", map[string]any{"prompt": "x", "images": slices.Repeat([]any{"asset:128x128"}, 8)}, "images"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := house(t)
			_, err := p.Submit(t.Context(), call(t, p, c.tool, c.inputs))
			if e := registry.AsError(err); e == nil || e.Code != registry.CodeInvalidInput || e.Field != c.field {
				t.Errorf("got %v, expected a refusal of %s", err, c.field)
			}
			if n := len(server.Tasks()); n != 0 {
				t.Errorf("%d tasks were made", n)
			}
		})
	}
}

func TestLostAnswers(t *testing.T) {
	t.Parallel()
	t.Run("a task whose answer was lost is found again by its payload", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		c := call(t, p, "vidu.text2video", map[string]any{"prompt": "a cat"})
		server.Fail(upstreamtest.LoseAnswer)
		_, err := p.Submit(t.Context(), c)
		if e := registry.AsError(err); e == nil || !e.Retryable {
			t.Fatalf("got %v, expected an error that may be retried", err)
		}
		for i := range 120 { // more than a page of others
			other := c
			other.Handle = fmt.Sprint("other-", i)
			if _, err := p.Submit(t.Context(), other); err != nil {
				t.Fatal(err)
			}
		}
		c.Repeated = true
		ticket, err := p.Submit(t.Context(), c)
		if err != nil || ticket.ProviderID != server.Tasks()[0].ID || len(server.Tasks()) != 121 {
			t.Errorf("ticket %+v, %v, with %d tasks", ticket, err, len(server.Tasks()))
		}
	})
	t.Run("one that never arrived is made", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		c := call(t, p, "vidu.text2video", map[string]any{"prompt": "a cat"})
		c.Repeated = true
		if _, err := p.Submit(t.Context(), c); err != nil || len(server.Tasks()) != 1 {
			t.Errorf("%v, with %d tasks", err, len(server.Tasks()))
		}
	})
}

func TestStates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*vidutest.Task)
		state   registry.RunState
		unknown string
		code    registry.Code
	}{
		"created":                 {func(*vidutest.Task) {}, registry.RunQueued, "", ""},
		"queueing":                {func(t *vidutest.Task) { t.State = "queueing" }, registry.RunQueued, "", ""},
		"scheduling":              {func(t *vidutest.Task) { t.State = "scheduling" }, registry.RunQueued, "", ""},
		"processing":              {func(t *vidutest.Task) { t.State = "processing" }, registry.RunRunning, "", ""},
		"canceled":                {func(t *vidutest.Task) { t.State = "canceled" }, registry.RunCanceled, "", ""},
		"a new word":              {func(t *vidutest.Task) { t.State = "polishing" }, registry.RunRunning, "polishing", ""},
		"success with nothing":    {func(t *vidutest.Task) { t.State = "success" }, registry.RunFailed, "", registry.CodeBadOutput},
		"failed for its content":  {func(t *vidutest.Task) { t.State, t.ErrCode = "failed", "CreationPolicyViolation" }, registry.RunFailed, "", registry.CodeRefused},
		"failed for a picture":    {func(t *vidutest.Task) { t.State, t.ErrCode = "failed", "ImageCheckFaceFailed" }, registry.RunFailed, "", registry.CodeInvalidInput},
		"failed without a reason": {func(t *vidutest.Task) { t.State = "failed" }, registry.RunFailed, "", registry.CodeProvider},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, server := house(t)
			ticket, err := p.Submit(t.Context(), call(t, p, "vidu.text2video", map[string]any{"prompt": "a cat"}))
			if err != nil {
				t.Fatal(err)
			}
			server.Change(ticket.ProviderID, c.change)
			got, err := p.Poll(t.Context(), ticket)
			if err != nil || got.State != c.state || got.Unknown != c.unknown || (got.Err != nil) != (c.code != "") || got.Err != nil && got.Err.Code != c.code {
				t.Errorf("got %+v (%v), %v", got, got.Err, err)
			}
		})
	}
	t.Run("A27 without credits in the answer the tool's own rate counts", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		ticket, err := p.Submit(t.Context(), call(t, p, "vidu.text2video", map[string]any{"prompt": "a cat"}))
		if err != nil {
			t.Fatal(err)
		}
		server.Finish(ticket.ProviderID)
		server.Change(ticket.ProviderID, func(t *vidutest.Task) { t.Credits = nil })
		got, err := p.Poll(t.Context(), ticket)
		if err != nil || got.Result == nil || got.Result.Usage.CostUSD != "" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]struct {
		status int
		code   registry.Code
		retry  bool
	}{
		"TaskPromptPolicyViolation": {400, registry.CodeRefused, false},
		"CreditInsufficient":        {400, registry.CodeUnavailable, false},
		"ModelUnavailable":          {400, registry.CodeUnavailable, false},
		"OperationInProcess":        {400, registry.CodeRateLimited, true},
		"QuotaExceeded":             {429, registry.CodeRateLimited, true},
		"InternalServiceFailure":    {500, registry.CodeProvider, true},
		"SomethingNew":              {400, registry.CodeInvalidInput, false},
		"Unauthorized":              {401, registry.CodeUnauthorized, false},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			p, server := house(t)
			server.Fail(vidutest.Refuse(want.status, code))
			_, err := p.Submit(t.Context(), call(t, p, "vidu.text2video", map[string]any{"prompt": "a cat"}))
			if e := registry.AsError(err); e == nil || e.Code != want.code || e.Retryable != want.retry || strings.Contains(fmt.Sprint(e, e.Cause), vidutest.Key) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	p, _ := house(t)
	for name, c := range map[string]struct {
		inputs map[string]any
		usd    string
	}{
		"five seconds in 720p of the best": {map[string]any{"prompt": "x"}, "0.750000000"},
		"eight in 1080p":                   {map[string]any{"prompt": "x", "duration": json.Number("8"), "resolution": "1080p"}, "1.280000000"},
		"the only length of another":       {map[string]any{"prompt": "x", "model": "viduq1"}, "0.400000000"},
		"a further second that costs less": {map[string]any{"prompt": "x", "model": "viduq2", "resolution": "540p", "duration": json.Number("4")}, "0.080000000"},
		"a model whose price nobody knows": {map[string]any{"prompt": "x", "model": "viduq3-turbo"}, ""},
		"a resolution nobody has priced":   {map[string]any{"prompt": "x", "model": "viduq2"}, ""},
	} {
		got, err := p.Price(t.Context(), call(t, p, "vidu.text2video", c.inputs))
		if err != nil || got.CostUSD != c.usd {
			t.Errorf("%s: %q, %v; expected %q", name, got.CostUSD, err, c.usd)
		}
	}
}

func TestCallbacks(t *testing.T) {
	t.Parallel()
	p, _ := house(t)
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	body := []byte(`{"id":"42","state":"success","creations":[]}`)
	request := func(t *testing.T, key string, at time.Time) registry.CallbackRequest {
		t.Helper()
		r, err := vidutest.Callback(key, "https://bot.example/webhooks/vidu/1?token=abc%20d", at, "nonce-1", body)
		if err != nil {
			t.Fatal(err)
		}
		return registry.CallbackRequest{Method: r.Method, Path: r.URL.EscapedPath(), RawQuery: r.URL.RawQuery, Header: r.Header, Body: body, At: now}
	}
	t.Run("an authentic one names the task", func(t *testing.T) {
		t.Parallel()
		got, err := p.VerifyCallback(t.Context(), request(t, vidutest.Key, now.Add(-4*time.Minute)))
		if want := (registry.Callback{ProviderID: "42", EventID: "nonce-1", State: registry.RunSucceeded}); err != nil || got != want {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	for name, change := range map[string]func(*registry.CallbackRequest){
		"another path":              func(r *registry.CallbackRequest) { r.Path = "/webhooks/vidu/2" },
		"another query":             func(r *registry.CallbackRequest) { r.RawQuery = "token=x" },
		"another method":            func(r *registry.CallbackRequest) { r.Method = http.MethodPut },
		"another nonce":             func(r *registry.CallbackRequest) { r.Header.Set("X-Request-Nonce", "nonce-2") },
		"no signature":              func(r *registry.CallbackRequest) { r.Header.Del("X-Hmac-Signature") },
		"a shortened signature":     func(r *registry.CallbackRequest) { r.Header.Set("X-Hmac-Signature", "AAAA") },
		"no date":                   func(r *registry.CallbackRequest) { r.Header.Del("Date") },
		"301 seconds late":          func(r *registry.CallbackRequest) { r.At = now.Add(301 * time.Second) },
		"301 seconds early":         func(r *registry.CallbackRequest) { r.At = now.Add(-301 * time.Second) },
		"a body that names no task": func(r *registry.CallbackRequest) { r.Body = []byte("{}") },
	} {
		t.Run("refused: "+name, func(t *testing.T) {
			t.Parallel()
			r := request(t, vidutest.Key, now)
			change(&r)
			if got, err := p.VerifyCallback(t.Context(), r); err == nil {
				t.Errorf("accepted: %+v", got)
			}
		})
	}
	t.Run("refused: another key", func(t *testing.T) {
		t.Parallel()
		if _, err := p.VerifyCallback(t.Context(), request(t, "vda_other", now)); err == nil {
			t.Error("accepted")
		}
	})
	t.Run("the published example", func(t *testing.T) {
		t.Parallel()
		r := registry.CallbackRequest{
			Method: "POST", Path: "/vidu/callback", RawQuery: "name=james&age=36", Body: body, At: time.Date(2025, 5, 6, 12, 9, 42, 0, time.UTC),
			Header: http.Header{
				"Date": {"Tue, 06 May 2025 12:09:42 GMT"}, "X-Request-Nonce": {"123e4567-e89b-12d3-a456-426614174000"},
				"X-Hmac-Signed-Headers": {"Date;x-request-nonce"}, "X-Hmac-Algorithm": {"hmac-sha256"}, "X-Hmac-Access-Key": {"vidu"},
				"X-Hmac-Signature": {"UaF2428J2BgkBzPJa4M0McqJGOlQGXJ6UXuQZnsbcsk="},
			},
		}
		if _, err := p.VerifyCallback(t.Context(), r); err != nil {
			t.Error(err)
		}
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	p, server := house(t)
	ticket, err := p.Submit(t.Context(), call(t, p, "vidu.text2video", map[string]any{"prompt": "a cat"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Cancel(t.Context(), ticket); err != nil || server.Tasks()[0].State != "canceled" {
		t.Errorf("%v, state %s", err, server.Tasks()[0].State)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]vidu.Config{
		"no address":              {Key: "k", USDPerCredit: "0.005"},
		"no price":                {Key: "k", BaseURL: "https://x"},
		"enlarging without a way": {Key: "k", BaseURL: "https://x", USDPerCredit: "0.005", Upscale: true},
	} {
		if _, err := vidu.New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
