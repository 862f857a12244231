package imagegen_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
	"github.com/signalbox/signalbox/providers/imagegen"
	"github.com/signalbox/signalbox/providers/imagegen/imagegentest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// house is the provider with both engines, and the services behind it.
func house(t *testing.T, change ...func(*imagegen.Config)) (*imagegen.Provider, *imagegentest.Server) {
	t.Helper()
	server := imagegentest.New(t)
	cfg := imagegen.Config{
		OpenAIKey: imagegentest.OpenAIKey, OpenAIURL: server.URL + "/v1",
		GeminiKey: imagegentest.GeminiKey, GeminiURL: server.URL,
	}
	for _, c := range change {
		c(&cfg)
	}
	p, err := imagegen.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p, server
}

func noOpenAI(c *imagegen.Config) { c.OpenAIKey = "" }
func noGemini(c *imagegen.Config) { c.GeminiKey = "" }

// pictures opens every reference as a picture.
type pictures struct{}

func (pictures) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	switch ref {
	case "asset:text":
		return io.NopCloser(strings.NewReader("no picture")), registry.MediaInfo{}, nil
	case "asset:gone":
		return nil, registry.MediaInfo{}, errors.New("no such file")
	}
	return io.NopCloser(bytes.NewReader(imagegentest.Picture(64, 64, "png"))), registry.MediaInfo{Name: "cat.png"}, nil
}

// call binds inputs as runs does: with the tool's defaults.
func call(t *testing.T, p *imagegen.Provider, inputs map[string]any) registry.Call {
	t.Helper()
	tools, err := p.Load(t.Context())
	if err != nil || len(tools) != 1 {
		t.Fatalf("loaded %d tools, %v", len(tools), err)
	}
	c := registry.Call{RunID: "r", Tool: tools[0], Inputs: map[string]any{"prompt": "a red bicycle"}, Media: pictures{}}
	for _, f := range tools[0].InputSchema {
		if f.Default != nil {
			c.Inputs[f.Name] = f.Default
		}
	}
	maps.Copy(c.Inputs, inputs)
	return c
}

func TestLoader(t *testing.T) {
	t.Parallel()
	registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
		p, _ := house(t)
		return registrytest.LoaderSetup{Loader: p}
	})
}

func TestCallers(t *testing.T) {
	t.Parallel()
	for engine, c := range map[string]struct {
		only   func(*imagegen.Config)
		secret string
	}{"OpenAI": {noGemini, imagegentest.OpenAIKey}, "Gemini": {noOpenAI, imagegentest.GeminiKey}} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			registrytest.TestCaller(t, func(t *testing.T) registrytest.CallerSetup {
				line := registrytest.NewLine(t, nil)
				p, server := house(t, c.only, func(c *imagegen.Config) { c.HTTP = line.Client() })
				return registrytest.CallerSetup{
					Caller: p, Line: line, Secret: c.secret,
					Call:     func() registry.Call { return call(t, p, map[string]any{"quality": "draft"}) },
					Received: func() int { return len(server.Calls()) },
				}
			})
		})
	}
}

func TestPresence(t *testing.T) {
	t.Parallel()
	t.Run("B4 present when an OpenAI or Google key is set, absent when neither is", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			change  []func(*imagegen.Config)
			engines []string
		}{
			"both":    {nil, []string{"openai", "gemini"}},
			"openai":  {[]func(*imagegen.Config){noGemini}, []string{"openai"}},
			"gemini":  {[]func(*imagegen.Config){noOpenAI}, []string{"gemini"}},
			"neither": {[]func(*imagegen.Config){noOpenAI, noGemini}, nil},
		} {
			p, _ := house(t, c.change...)
			tools, err := p.Load(t.Context())
			if err != nil || (len(tools) == 1) != (len(c.engines) > 0) {
				t.Errorf("%s: %d tools, %v", name, len(tools), err)
				continue
			}
			var engines []string
			for _, tool := range tools {
				field, _ := tool.InputSchema.Get("engine")
				for _, choice := range field.Choices {
					engines = append(engines, choice.Value.(string))
				}
			}
			if strings.Join(engines, " ") != strings.Join(c.engines, " ") {
				t.Errorf("%s: engines %v, expected %v", name, engines, c.engines)
			}
		}
	})
	t.Run("B52 the place on a page is taken, and changes nothing of the request", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		for _, place := range []map[string]any{nil, {"blockType": "hero", "blockId": "b-1", "pageSlug": "about"}} {
			request := call(t, p, place)
			for name := range place {
				if _, takes := request.Tool.InputSchema.Get(name); !takes {
					t.Errorf("there is no input %s", name)
				}
			}
			if _, err := p.Call(t.Context(), request); err != nil {
				t.Fatal(err)
			}
		}
		if sent := server.Calls(); len(sent) != 2 || fmt.Sprint(sent[0].Fields) != fmt.Sprint(sent[1].Fields) {
			t.Errorf("got %+v", sent)
		}
	})
	t.Run("B54 read capability, one attempt, not idempotent, 90 seconds", func(t *testing.T) {
		t.Parallel()
		p, _ := house(t)
		tool := call(t, p, nil).Tool
		if tool.ToolID != "image.generate" || tool.Capability != registry.CapabilityRead || tool.RetryPolicy.MaxAttempts != 1 || tool.Timeout() != 90*time.Second || tool.Idempotent {
			t.Errorf("got %+v", tool)
		}
	})
	t.Run("an address that is none stops the start", func(t *testing.T) {
		t.Parallel()
		if _, err := imagegen.New(imagegen.Config{OpenAIKey: "x", OpenAIURL: "openai"}); err == nil {
			t.Error("no error")
		}
	})
}

func TestPictures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		inputs map[string]any
		fields map[string]string // what OpenAI got
		width  int
		height int
		cost   string
		most   string // the quote
	}{
		{"B49 OpenAI gpt-image-1", nil, map[string]string{"size": "1024x1024", "quality": "high", "background": "auto", "output_format": "png", "prompt": "a red bicycle"}, 1024, 1024, "0.166415", "0.166465"},
		{"B52 landscape is 1536x1024, draft is low", map[string]any{"aspectRatio": "landscape", "quality": "draft"}, map[string]string{"size": "1536x1024", "quality": "low"}, 1536, 1024, "0.016335", "0.016385"},
		{"B52 portrait is 1024x1536, transparent, jpeg or webp", map[string]any{"aspectRatio": "portrait", "quality": "draft", "background": "transparent", "outputFormat": "webp"},
			map[string]string{"size": "1024x1536", "background": "transparent", "output_format": "webp"}, 1024, 1536, "0.016335", "0.016385"},
		{"B52 style joins the description", map[string]any{"style": "pixel art", "quality": "draft", "outputFormat": "jpeg"},
			map[string]string{"prompt": "a red bicycle\n\nStyle: pixel art", "output_format": "jpeg"}, 1024, 1024, "0.01091", "0.011035"},
		{"B50 Google gemini-2.5-flash-image", map[string]any{"engine": "gemini"}, nil, 1024, 1024, "0.038703", "0.0387039"},
		{"B52 Gemini's shapes are ratios", map[string]any{"engine": "gemini", "aspectRatio": "landscape"}, nil, 1248, 832, "0.038703", "0.0387039"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, server := house(t)
			request := call(t, p, c.inputs)
			result, err := p.Call(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			checkPicture(t, result, c.width, c.height)
			if alt := result.Outputs[0].Info.Alt; alt == "" || alt != request.Inputs["prompt"] {
				t.Errorf("B53 the picture is told as %q", alt)
			}
			sent := server.Calls()
			if len(sent) != 1 {
				t.Fatalf("%d calls were sent", len(sent))
			}
			for name, want := range c.fields {
				if sent[0].Fields[name] != want {
					t.Errorf("sent %s %q, expected %q", name, sent[0].Fields[name], want)
				}
			}
			quote, err := p.Price(t.Context(), request)
			if err != nil || !sameUSD(quote.CostUSD, c.most) || !sameUSD(result.Usage.CostUSD, c.cost) {
				t.Errorf("quoted %s (%v), cost %s; expected %s, %s", quote.CostUSD, err, result.Usage.CostUSD, c.most, c.cost)
			}
		})
	}
}

func sameUSD(a, b string) bool {
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}

func checkPicture(t *testing.T, result registry.Result, width, height int) {
	t.Helper()
	if len(result.Outputs) != 1 {
		t.Fatalf("%d outputs", len(result.Outputs))
	}
	output := result.Outputs[0]
	if output.Name != "image" || output.Info.Width != width || output.Info.Height != height {
		t.Errorf("output %s, %+v; expected %dx%d", output.Name, output.Info, width, height)
	}
	body, err := output.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if data, err := io.ReadAll(body); err != nil || int64(len(data)) != output.Info.Bytes {
		t.Errorf("B53 read %d bytes, %v; expected %d", len(data), err, output.Info.Bytes)
	}
}

func TestEdits(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"openai", "gemini"} {
		for _, images := range []any{"asset:a", []any{"asset:a", "asset:b"}} {
			p, server := house(t)
			result, err := p.Call(t.Context(), call(t, p, map[string]any{"engine": engine, "images": images}))
			if err != nil {
				t.Fatal(err)
			}
			checkPicture(t, result, 1024, 1024)
			want := 1
			if list, ok := images.([]any); ok {
				want = len(list)
			}
			if sent := server.Calls(); len(sent) != 1 || sent[0].Images != want {
				t.Errorf("%s got %+v, expected %d pictures", engine, sent, want)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		inputs map[string]any
		change func(*imagegen.Config)
		fault  upstreamtest.Fault
		code   registry.Code
		field  string
		retry  time.Duration // -1: must not be retryable
	}{
		"B51 an engine without a key":         {inputs: map[string]any{"engine": "gemini"}, change: noGemini, code: registry.CodeUnavailable, field: "engine", retry: -1},
		"a transparent JPEG":                  {inputs: map[string]any{"background": "transparent", "outputFormat": "jpeg"}, code: registry.CodeInvalidInput, field: "outputFormat", retry: -1},
		"transparent with Gemini":             {inputs: map[string]any{"engine": "gemini", "background": "transparent"}, code: registry.CodeInvalidInput, field: "background", retry: -1},
		"JPEG with Gemini":                    {inputs: map[string]any{"engine": "gemini", "outputFormat": "jpeg"}, code: registry.CodeInvalidInput, field: "outputFormat", retry: -1},
		"a description that is too long":      {inputs: map[string]any{"prompt": strings.Repeat("ž", 32_001)}, code: registry.CodeInvalidInput, field: "prompt", retry: -1},
		"too many pictures":                   {inputs: map[string]any{"images": make([]any, 17)}, code: registry.CodeInvalidInput, field: "images", retry: -1},
		"a file that is no picture":           {inputs: map[string]any{"images": "asset:text"}, code: registry.CodeInvalidInput, field: "images", retry: -1},
		"a picture that is gone":              {inputs: map[string]any{"images": "asset:gone"}, code: registry.CodeInvalidInput, field: "images", retry: -1},
		"OpenAI's rules for content":          {fault: upstreamtest.Answer(400, `{"error":{"code":"moderation_blocked","message":"no"}}`), code: registry.CodeRefused, retry: -1},
		"OpenAI's quota":                      {fault: upstreamtest.Answer(429, `{"error":{"code":"insufficient_quota"}}`), code: registry.CodeUnavailable, retry: -1},
		"OpenAI's rate limit":                 {fault: upstreamtest.Answer(429, `{"error":{"code":"rate_limit_exceeded"}}`), code: registry.CodeRateLimited},
		"OpenAI refuses the key":              {change: func(c *imagegen.Config) { c.OpenAIKey = "sk-wrong" }, code: registry.CodeUnauthorized, retry: -1},
		"OpenAI without a picture":            {fault: upstreamtest.Answer(200, `{"data":[]}`), code: registry.CodeBadOutput, retry: -1},
		"OpenAI with half a picture":          {fault: upstreamtest.Answer(200, `{"data":[{"b64_json":"aGFsZg=="}]}`), code: registry.CodeBadOutput, retry: -1},
		"OpenAI down":                         {fault: upstreamtest.Answer(503, ``), code: registry.CodeUnavailable},
		"Gemini's rules for the description":  {inputs: gemini, fault: upstreamtest.Answer(200, `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`), code: registry.CodeRefused, retry: -1},
		"Gemini's rules for the picture":      {inputs: gemini, fault: upstreamtest.Answer(200, `{"candidates":[{"finishReason":"IMAGE_SAFETY","content":{"parts":[{"text":"no"}]}}]}`), code: registry.CodeRefused, retry: -1},
		"Gemini with words only":              {inputs: gemini, fault: upstreamtest.Answer(200, `{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"a cat"}]}}]}`), code: registry.CodeBadOutput, retry: -1},
		"Gemini's rate limit":                 {inputs: gemini, fault: upstreamtest.Answer(429, `{"error":{"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"32s"}]}}`), code: registry.CodeRateLimited, retry: 32 * time.Second},
		"Gemini refuses the key as bad input": {inputs: gemini, fault: upstreamtest.Answer(400, `{"error":{"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`), code: registry.CodeUnauthorized, retry: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := c.change
			if change == nil {
				change = func(*imagegen.Config) {}
			}
			p, server := house(t, change)
			if c.fault != nil {
				server.Fail(c.fault)
			}
			_, err := p.Call(t.Context(), call(t, p, c.inputs))
			var e *registry.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if e.Code != c.code || e.Field != c.field || e.Retryable != (c.retry >= 0) || e.RetryAfter != max(c.retry, 0) {
				t.Errorf("got %v (field %q, retryable %v after %v)", e, e.Field, e.Retryable, e.RetryAfter)
			}
			if strings.Contains(fmt.Sprint(e, e.Cause), "sk-wrong") {
				t.Errorf("the error shows a key: %v", e)
			}
		})
	}
}

var gemini = map[string]any{"engine": "gemini"}

func TestProxiesInSnakeCase(t *testing.T) {
	t.Parallel()
	p, server := house(t)
	body, err := json.Marshal(map[string]any{"candidates": []any{map[string]any{"content": map[string]any{"parts": []any{
		map[string]any{"inline_data": map[string]any{"mime_type": "image/png", "data": imagegentest.Picture(8, 8, "png")}},
	}}}}})
	if err != nil {
		t.Fatal(err)
	}
	server.Fail(upstreamtest.Answer(200, string(body)))
	result, err := p.Call(t.Context(), call(t, p, gemini))
	if err != nil {
		t.Fatal(err)
	}
	checkPicture(t, result, 8, 8)
	if result.Usage.CostUSD != "" {
		t.Errorf("no tokens were reported, but a cost of %s", result.Usage.CostUSD)
	}
}

func TestEachCallIsAPictureOfItsOwn(t *testing.T) {
	t.Parallel()
	t.Run("B54 a second identical call generates again and is billed again", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		for range 2 {
			if result, err := p.Call(t.Context(), call(t, p, nil)); err != nil || result.Usage.CostUSD == "" {
				t.Fatalf("%+v, %v", result.Usage, err)
			}
		}
		if n := len(server.Calls()); n != 2 {
			t.Errorf("%d calls were sent", n)
		}
	})
}

func TestPrices(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", `{"openai":{"m":{"textIn":"x","imageIn":"1","imageOut":"1"}}}`, `{"gemini":{"m":{"textIn":"1","imageIn":"-1","imageOut":"1"}}}`} {
		if _, err := imagegen.ParsePrices([]byte(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	empty := imagegen.Prices{}
	if _, err := imagegen.New(imagegen.Config{GeminiKey: "x", GeminiURL: "http://x", Prices: &empty}); err == nil {
		t.Error("an engine without prices was accepted")
	}
}
