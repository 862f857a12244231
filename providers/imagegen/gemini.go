package imagegen

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

const geminiModel = "gemini-2.5-flash-image"

// gemini speaks Google's generateContent with pictures in the answer.
type gemini struct {
	client *upstream.Client
	rates  Price
}

func newGemini(cfg Config, prices map[string]Price) (*gemini, error) {
	rates, err := priceOf(prices, geminiModel)
	if err != nil {
		return nil, err
	}
	authorize := func(r *http.Request) { r.Header.Set("x-goog-api-key", cfg.GeminiKey) }
	client, err := newClient(cfg, "Gemini", cfg.GeminiURL, cfg.GeminiKey, authorize, geminiFailure)
	return &gemini{client: client, rates: rates}, err
}

func (g *gemini) name() string  { return "gemini" }
func (g *gemini) label() string { return "Google Gemini" }
func (g *gemini) price() Price  { return g.rates }

// quality: the model knows only one.
func (g *gemini) quality(string) string { return "" }

// geminiRatios are the ratios of the tool's shapes.
var geminiRatios = map[string]string{square: "1:1", landscape: "3:2", portrait: "2:3"}

// The members of requests and answers that matter here; proxies write answers in snake case.
type (
	geminiPart struct {
		Text       string      `json:"text,omitempty"`
		InlineData *geminiData `json:"inlineData,omitempty"`
		SnakeData  *geminiData `json:"inline_data,omitempty"`
	}
	geminiData struct {
		MIMEType string `json:"mimeType,omitempty"`
		Data     string `json:"data"`
	}
	geminiContent struct {
		Role  string       `json:"role,omitempty"`
		Parts []geminiPart `json:"parts"`
	}
	geminiRequest struct {
		Contents []geminiContent  `json:"contents"`
		Config   geminiGeneration `json:"generationConfig"`
	}
	geminiGeneration struct {
		Modalities []string    `json:"responseModalities"`
		Image      geminiImage `json:"imageConfig"`
	}
	geminiImage struct {
		AspectRatio string `json:"aspectRatio,omitempty"`
	}
	geminiAnswer struct {
		Candidates []struct {
			Content      geminiContent `json:"content"`
			FinishReason string        `json:"finishReason"`
		} `json:"candidates"`
		Feedback struct {
			BlockReason string `json:"blockReason"`
		} `json:"promptFeedback"`
		Usage struct {
			In  int64 `json:"promptTokenCount"`
			Out int64 `json:"candidatesTokenCount"`
		} `json:"usageMetadata"`
	}
)

func (g *gemini) draw(ctx context.Context, r request) (picture, error) {
	if r.background == "transparent" {
		return picture{}, registry.Say(registry.CodeInvalidInput, said.PictureNoTransparent).At("background")
	}
	if r.format != "png" {
		return picture{}, registry.Say(registry.CodeInvalidInput, said.PicturePNG).At("outputFormat")
	}
	parts := []geminiPart{{Text: r.prompt}}
	for _, f := range r.images {
		parts = append(parts, geminiPart{InlineData: &geminiData{MIMEType: f.mime, Data: base64.StdEncoding.EncodeToString(f.data)}})
	}
	generation := geminiGeneration{Modalities: []string{"TEXT", "IMAGE"}, Image: geminiImage{AspectRatio: geminiRatios[r.aspect]}}
	var answer geminiAnswer
	body := geminiRequest{Contents: []geminiContent{{Role: "user", Parts: parts}}, Config: generation}
	if err := g.client.Post(ctx, "v1beta/models/"+geminiModel+":generateContent", body, &answer); err != nil {
		return picture{}, err
	}
	data, err := answer.picture()
	return picture{data: data, used: tokens{textIn: answer.Usage.In, imageOut: answer.Usage.Out}}, err
}

// picture looks for the picture in all parts. An answer without one is a failure, whatever its status.
func (a geminiAnswer) picture() ([]byte, error) {
	reason := a.Feedback.BlockReason
	for _, candidate := range a.Candidates {
		for _, part := range candidate.Content.Parts {
			inline := part.InlineData
			if inline == nil {
				inline = part.SnakeData
			}
			if inline == nil {
				continue
			}
			data, err := base64.StdEncoding.DecodeString(inline.Data)
			if err != nil {
				return nil, registry.Say(registry.CodeBadOutput, said.PictureUnreadAt, "service", "Gemini")
			}
			return data, nil
		}
		reason = cmp.Or(reason, candidate.FinishReason)
	}
	switch reason {
	case "SAFETY", "IMAGE_SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "JAILBREAK", "RECITATION":
		return nil, registry.Say(registry.CodeRefused, said.PictureRules, "service", "Gemini")
	}
	return nil, registry.Say(registry.CodeBadOutput, said.AnswerMissing, "service", "Gemini")
}

// geminiFailure reads {"error": {code, message, status, details}}.
func geminiFailure(answer upstream.Response) *registry.Error {
	var body struct {
		Error struct {
			Status  string `json:"status"`
			Details []struct {
				RetryDelay string `json:"retryDelay"` // such as "32s"
				Reason     string `json:"reason"`
			} `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(answer.Body, &body) != nil {
		return nil
	}
	failure := registry.Say(registry.CodeRateLimited, said.ServiceBusy, "service", "Gemini").Again()
	for _, detail := range body.Error.Details {
		if strings.HasPrefix(detail.Reason, "API_KEY") { // which comes as a bad request
			return registry.Say(registry.CodeUnauthorized, said.KeyRefused, "service", "Gemini")
		}
		if delay, err := time.ParseDuration(detail.RetryDelay); err == nil && delay > 0 {
			failure.RetryAfter = delay
		}
	}
	if body.Error.Status == "RESOURCE_EXHAUSTED" {
		return failure
	}
	return nil
}
