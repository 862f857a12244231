package imagegen

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

const openAIModel = "gpt-image-1"

// openAI speaks OpenAI's images API: /images/generations and /images/edits.
type openAI struct {
	client *upstream.Client
	rates  Price
}

func newOpenAI(cfg Config, prices map[string]Price) (*openAI, error) {
	rates, err := priceOf(prices, openAIModel)
	if err != nil {
		return nil, err
	}
	authorize := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+cfg.OpenAIKey) }
	client, err := newClient(cfg, "OpenAI", cfg.OpenAIURL, cfg.OpenAIKey, authorize, openAIFailure)
	return &openAI{client: client, rates: rates}, err
}

func (o *openAI) name() string  { return "openai" }
func (o *openAI) label() string { return "OpenAI" }
func (o *openAI) price() Price  { return o.rates }

func (o *openAI) quality(tool string) string {
	if tool == draft {
		return "low"
	}
	return "high"
}

// openAISizes are the sizes of the tool's shapes (B52).
var openAISizes = map[string]string{square: "1024x1024", landscape: "1536x1024", portrait: "1024x1536"}

// parameters are the members of a request, in the order they are sent. The model is always named: the
// default is an old one.
func (o *openAI) parameters(r request) [][2]string {
	return [][2]string{
		{"model", openAIModel}, {"prompt", r.prompt}, {"size", openAISizes[r.aspect]}, {"quality", r.quality},
		{"background", r.background}, {"output_format", r.format},
	}
}

func (o *openAI) draw(ctx context.Context, r request) (picture, error) {
	request, err := o.encode(r)
	if err != nil {
		return picture{}, err
	}
	answer, err := o.client.Do(ctx, request)
	if err != nil {
		return picture{}, err
	}
	var body struct {
		Data []struct {
			B64 string `json:"b64_json"`
		} `json:"data"`
		Usage struct {
			Output  int64 `json:"output_tokens"`
			Details struct {
				Text  int64 `json:"text_tokens"`
				Image int64 `json:"image_tokens"`
			} `json:"input_tokens_details"`
		} `json:"usage"`
	}
	if err := o.client.Decode(answer, &body); err != nil {
		return picture{}, err
	}
	if len(body.Data) == 0 || body.Data[0].B64 == "" {
		return picture{}, registry.Say(registry.CodeBadOutput, said.AnswerMissing, "service", "OpenAI")
	}
	data, err := base64.StdEncoding.DecodeString(body.Data[0].B64)
	if err != nil {
		return picture{}, registry.Say(registry.CodeBadOutput, said.PictureUnreadAt, "service", "OpenAI")
	}
	return picture{data: data, used: tokens{textIn: body.Usage.Details.Text, imageIn: body.Usage.Details.Image, imageOut: body.Usage.Output}}, nil
}

// encode is a request for a new picture, or for an edit where there are pictures.
func (o *openAI) encode(r request) (upstream.Request, error) {
	if len(r.images) == 0 {
		body := map[string]string{}
		for _, p := range o.parameters(r) {
			body[p[0]] = p[1]
		}
		return upstream.Request{Method: http.MethodPost, Path: "images/generations", JSON: body}, nil
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, p := range o.parameters(r) {
		if err := form.WriteField(p[0], p[1]); err != nil {
			return upstream.Request{}, err
		}
	}
	for i, f := range r.images {
		header := textproto.MIMEHeader{}
		header.Set("Content-Disposition", fmt.Sprintf(`form-data; name="image[]"; filename="picture%d.%s"`, i+1, strings.TrimPrefix(f.mime, "image/")))
		header.Set("Content-Type", f.mime)
		part, err := form.CreatePart(header)
		if err == nil {
			_, err = part.Write(f.data)
		}
		if err != nil {
			return upstream.Request{}, err
		}
	}
	if err := form.Close(); err != nil {
		return upstream.Request{}, err
	}
	return upstream.Request{Method: http.MethodPost, Path: "images/edits", Body: &body, ContentType: form.FormDataContentType()}, nil
}

// openAIFailure reads {"error": {message, type, param, code}}.
func openAIFailure(answer upstream.Response) *registry.Error {
	var body struct {
		Error struct {
			Code  string `json:"code"`
			Param string `json:"param"`
		} `json:"error"`
	}
	if json.Unmarshal(answer.Body, &body) != nil {
		return nil
	}
	switch body.Error.Code {
	case "moderation_blocked", "content_policy_violation":
		return registry.Say(registry.CodeRefused, said.PictureRules, "service", "OpenAI")
	case "insufficient_quota", "billing_hard_limit_reached":
		return registry.Say(registry.CodeUnavailable, said.ServiceNoMoney, "service", "OpenAI")
	}
	if answer.Status == http.StatusBadRequest && body.Error.Param == "prompt" {
		return registry.Say(registry.CodeInvalidInput, said.PictureText, "service", "OpenAI").At("prompt")
	}
	return nil
}
