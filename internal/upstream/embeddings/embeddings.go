// Package embeddings has vectors of texts made by any service that speaks OpenAI's protocol: POST /embeddings with model and input.
package embeddings

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/upstream"
)

// Bounds of one request.
const (
	timeout    = 60 * time.Second
	askTimeout = 3 * time.Second
	limit      = 64 << 20 // bytes of an answer
	maxBytes   = 24_000   // of one text, which is cut: models take some 8000 tokens
)

// Config is the service and its model; URL and Model are required.
type Config struct {
	URL   string // with its version: https://api.openai.com/v1
	Model string
	Key   string // empty: the service wants none
	HTTP  *http.Client
}

// Client makes vectors.
type Client struct {
	api   *upstream.Client
	model string
}

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Client, error) {
	c := upstream.Config{Name: "the embeddings service", BaseURL: cfg.URL, HTTP: cfg.HTTP, Limit: limit}
	if cfg.Key != "" {
		c.Secrets = []string{cfg.Key}
		c.Authorize = func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+cfg.Key) }
	}
	api, err := upstream.New(c)
	return &Client{api, cfg.Model}, err
}

// Model names the model.
func (c *Client) Model() string { return c.model }

// Covers tells that the model takes all languages, as such models do.
func (c *Client) Covers(string) bool { return true }

type request struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	EncodingFormat string   `json:"encoding_format"`
}

type answer struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	} `json:"data"`
}

// Embed gives a vector of length 1 for each text.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return c.embed(ctx, texts, timeout)
}

// Ask is Embed of a text for which somebody waits. A service that takes longer several times is left alone for a while.
func (c *Client) Ask(ctx context.Context, text string) ([]float32, error) {
	made, err := c.embed(ctx, []string{text}, askTimeout)
	if err != nil {
		return nil, err
	}
	return made[0], nil
}

func (c *Client) embed(ctx context.Context, texts []string, within time.Duration) ([][]float32, error) {
	input := make([]string, len(texts))
	for i, text := range texts {
		input[i] = strings.ToValidUTF8(text[:min(len(text), maxBytes)], "")
	}
	res, err := c.api.Do(ctx, upstream.Request{
		Method: http.MethodPost, Path: "/embeddings", JSON: request{c.model, input, "float"}, Repeatable: true, Within: within,
	})
	if err != nil {
		return nil, err
	}
	var said answer
	if err := c.api.Decode(res, &said); err != nil {
		return nil, err
	}
	list := make([][]float32, len(texts))
	for _, d := range said.Data {
		if d.Index < 0 || d.Index >= len(list) || len(d.Embedding) == 0 || len(d.Embedding) != len(said.Data[0].Embedding) {
			return nil, errors.New("the embeddings service gave vectors that do not fit what was asked")
		}
		list[d.Index] = unit(d.Embedding)
	}
	for i, v := range list {
		if v == nil {
			return nil, fmt.Errorf("the embeddings service gave no usable vector for text %d of %d", i+1, len(list))
		}
	}
	return list, nil
}

// unit makes a vector of length 1; nil where it has none.
func unit(v []float64) []float32 {
	length := 0.0
	for _, x := range v {
		length += x * x
	}
	if length == 0 || math.IsInf(length, 0) || math.IsNaN(length) {
		return nil
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / math.Sqrt(length))
	}
	return out
}

// Dot is how near two vectors of length 1 are: 1 where they are the same, 0 where one has nothing of the other, as with those of different models.
// Several sums at once keep the processor busy: it is most of what a search takes where vectors are long.
func Dot(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var s0, s1, s2, s3 float32
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]float32)(a), (*[8]float32)(b)
		s0 += x[0]*y[0] + x[4]*y[4]
		s1 += x[1]*y[1] + x[5]*y[5]
		s2 += x[2]*y[2] + x[6]*y[6]
		s3 += x[3]*y[3] + x[7]*y[7]
		a, b = a[8:], b[8:]
	}
	for i, x := range a {
		s0 += x * b[i]
	}
	return float64(s0 + s1 + s2 + s3)
}
