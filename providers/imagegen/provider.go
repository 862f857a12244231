// Package imagegen makes pictures with image models behind one tool, image.generate: OpenAI's GPT image
// models and Google's Gemini image models, whichever the operator has a key for.
//
// Both answer at once with the picture in the answer, and report the tokens they used, which is the price.
package imagegen

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // the formats of results
	_ "image/png"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	_ "golang.org/x/image/webp"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

const (
	callTimeout = 3 * time.Minute // a picture in high quality takes up to two
	answerLimit = 64 << 20        // bytes; base64 of a large picture
	maxImage    = 20 << 20        // bytes of a picture sent along
)

// Config names the accounts. Without a key an engine is not offered.
type Config struct {
	OpenAIKey, OpenAIURL string // OpenAIURL: with its version, https://api.openai.com/v1
	GeminiKey, GeminiURL string // GeminiURL: without a version, https://generativelanguage.googleapis.com
	HTTP                 *http.Client
	Prices               *Prices // nil: the list that comes with the program
}

// Provider is the loader and the caller of image.generate.
type Provider struct{ engines []engine }

var (
	_ registry.Loader = (*Provider)(nil)
	_ registry.Caller = (*Provider)(nil)
	_ registry.Pricer = (*Provider)(nil)
)

// engine is a service that makes pictures.
type engine interface {
	name() string  // value of the input engine
	label() string // for people
	price() Price
	quality(tool string) string // the service's word for draft and final
	draw(ctx context.Context, r request) (picture, error)
}

// request is a call in the terms that all engines share.
type request struct {
	prompt, aspect, quality, background, format string
	images                                      []file
}

type file struct {
	name, mime string
	data       []byte
}

// picture is the result of a request.
type picture struct {
	data []byte
	used tokens
}

// New makes the provider with those engines that have a key; there may be none.
func New(cfg Config) (*Provider, error) {
	prices := cfg.Prices
	if prices == nil {
		own, err := ParsePrices(defaultPrices)
		if err != nil {
			return nil, err
		}
		prices = &own
	}
	p := &Provider{}
	if cfg.OpenAIKey != "" {
		e, err := newOpenAI(cfg, prices.OpenAI)
		if err != nil {
			return nil, err
		}
		p.engines = append(p.engines, e)
	}
	if cfg.GeminiKey != "" {
		e, err := newGemini(cfg, prices.Gemini)
		if err != nil {
			return nil, err
		}
		p.engines = append(p.engines, e)
	}
	return p, nil
}

// Name identifies the loader.
func (p *Provider) Name() string { return Service }

// Load gives image.generate, or nothing where no engine has a key.
func (p *Provider) Load(ctx context.Context) ([]registry.Tool, error) {
	if err := ctx.Err(); err != nil || len(p.engines) == 0 {
		return nil, err
	}
	return []registry.Tool{tool(p.engines)}, nil
}

// Price bounds what a call will cost, by the price list.
func (p *Provider) Price(_ context.Context, c registry.Call) (registry.Price, error) {
	e, r, err := p.request(c)
	if err != nil {
		return registry.Price{}, err
	}
	r.images = make([]file, len(references(c)))
	return registry.Price{CostUSD: e.price().cost(e.price().foresee(r))}, nil
}

// Call has a picture made. Its price is that of the tokens the service reports.
func (p *Provider) Call(ctx context.Context, c registry.Call) (registry.Result, error) {
	e, r, err := p.request(c)
	if err != nil {
		return registry.Result{}, err
	}
	if r.images, err = readImages(ctx, c); err != nil {
		return registry.Result{}, err
	}
	began := time.Now()
	made, err := e.draw(ctx, r)
	if err != nil {
		return registry.Result{}, err
	}
	prompt, _ := c.Inputs["prompt"].(string)
	alt := []rune(prompt)
	output, err := made.output(string(alt[:min(len(alt), maxAlt)]))
	if err != nil {
		return registry.Result{}, registry.Say(registry.CodeBadOutput, said.PictureUnreadAt, "service", e.label())
	}
	usage := registry.Usage{RunTime: time.Since(began), Tokens: made.used.sum()}
	if usage.Tokens > 0 {
		usage.CostUSD = e.price().cost(made.used)
	}
	return registry.Result{Outputs: []registry.Output{output}, Usage: usage}, nil
}

// request reads a call's inputs and finds who is to make the picture.
func (p *Provider) request(c registry.Call) (engine, request, error) {
	text := func(name string) string { s, _ := c.Inputs[name].(string); return s }
	r := request{prompt: text("prompt"), aspect: text("aspectRatio"), background: text("background"), format: text("outputFormat")}
	if style := strings.TrimSpace(text("style")); style != "" {
		r.prompt += "\n\nStyle: " + style
	}
	if n := utf8.RuneCountInString(r.prompt); n > maxPrompt {
		return nil, r, registry.Say(registry.CodeInvalidInput, said.TextTooLongStyle, "n", n, "most", maxPrompt).At("prompt")
	}
	if r.background == "transparent" && r.format == "jpeg" {
		return nil, r, registry.Say(registry.CodeInvalidInput, said.PictureJPEG).At("outputFormat")
	}
	wanted := text("engine")
	for _, e := range p.engines {
		if wanted == "" || e.name() == wanted {
			r.quality = e.quality(text("quality"))
			return e, r, nil
		}
	}
	return nil, r, registry.Say(registry.CodeUnavailable, said.KeyMissing, "service", wanted).At("engine")
}

// references are the pictures sent along: a list, or a single one.
func references(c registry.Call) []any {
	switch v := c.Inputs["images"].(type) {
	case []any:
		return v
	case string:
		return []any{v}
	}
	return nil
}

func readImages(ctx context.Context, c registry.Call) ([]file, error) {
	refs := references(c)
	if len(refs) > maxPicture {
		return nil, registry.Say(registry.CodeInvalidInput, said.PicturesMany, "n", len(refs), "most", maxPicture).At("images")
	}
	files := make([]file, 0, len(refs))
	for _, ref := range refs {
		f, err := readImage(ctx, c, fmt.Sprint(ref))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func readImage(ctx context.Context, c registry.Call, ref registry.Media) (file, error) {
	body, info, err := c.Media.OpenMedia(ctx, ref)
	if err != nil {
		return file{}, registry.Say(registry.CodeInvalidInput, said.PictureUnopened).At("images").Because(err)
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, maxImage+1))
	if err != nil {
		return file{}, registry.Say(registry.CodeInternal, said.PictureUnread).At("images").Because(err)
	}
	if len(data) > maxImage {
		return file{}, registry.Say(registry.CodeInvalidInput, said.PictureMB, "n", maxImage>>20).At("images")
	}
	mime := http.DetectContentType(data)
	if mime != "image/png" && mime != "image/jpeg" && mime != "image/webp" {
		return file{}, registry.Say(registry.CodeInvalidInput, said.PictureKind).At("images")
	}
	name := info.Name
	if name == "" {
		name = "picture." + strings.TrimPrefix(mime, "image/")
	}
	return file{name: name, mime: mime, data: data}, nil
}

// output is the picture as a result, with its real size and format.
func (p picture) output(alt string) (registry.Output, error) {
	size, format, err := image.DecodeConfig(bytes.NewReader(p.data))
	if err != nil {
		return registry.Output{}, err
	}
	return registry.Output{
		Name: "image", Type: "image",
		Info: registry.MediaInfo{Name: "image." + format, MIMEType: "image/" + format, Bytes: int64(len(p.data)), Width: size.Width, Height: size.Height, Alt: alt},
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(p.data)), nil },
	}, nil
}

func newClient(cfg Config, name, base, key string, authorize func(*http.Request), failure func(upstream.Response) *registry.Error) (*upstream.Client, error) {
	return upstream.New(upstream.Config{
		Name: name, BaseURL: base, Secrets: []string{key}, Authorize: authorize, HTTP: cfg.HTTP,
		Timeout: callTimeout, Limit: answerLimit, Failure: failure,
	})
}
