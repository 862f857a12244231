// Package embeddings finds tools by vectors of what they mean, made by any server that speaks OpenAI's embeddings API,
// beside what the registry's own search knows of words.
package embeddings

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// Config is the server and the model; URL and Model are required.
type Config struct {
	URL   string // with its version: https://api.openai.com/v1
	Model string
	Key   string // empty: the server wants none
}

// Client makes vectors of texts.
type Client struct {
	api   *upstream.Client
	model string
}

const (
	batch   = 96 // texts of one request
	timeout = 30 * time.Second
)

// NewClient checks the configuration; it sends nothing.
func NewClient(cfg Config) (*Client, error) {
	api, err := upstream.New(upstream.Config{
		Name: "The server of embeddings", BaseURL: cfg.URL, Secrets: []string{cfg.Key}, Timeout: timeout, Limit: 64 << 20,
		Authorize: func(r *http.Request) {
			if cfg.Key != "" {
				r.Header.Set("Authorization", "Bearer "+cfg.Key)
			}
		},
	})
	return &Client{api, cfg.Model}, err
}

// vector is of length one.
type vector []float32

// vectors makes one for each text, in their order.
func (c *Client) vectors(ctx context.Context, texts []string) ([]vector, error) {
	made := make([]vector, 0, len(texts))
	for len(texts) > 0 {
		n := min(len(texts), batch)
		part, err := c.request(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		made, texts = append(made, part...), texts[n:]
	}
	return made, nil
}

// request makes the vectors of a few texts. They may come in any order; their places tell.
func (c *Client) request(ctx context.Context, texts []string) ([]vector, error) {
	var got struct {
		Data []struct {
			Index     int    `json:"index"`
			Embedding vector `json:"embedding"`
		} `json:"data"`
	}
	res, err := c.api.Do(ctx, upstream.Request{
		Method: http.MethodPost, Path: "/embeddings", Repeatable: true, JSON: map[string]any{"model": c.model, "input": texts, "encoding_format": "float"},
	})
	if err == nil {
		err = c.api.Decode(res, &got)
	}
	if err != nil {
		return nil, err
	}
	made := make([]vector, len(texts))
	for _, one := range got.Data {
		if one.Index < 0 || one.Index >= len(made) || made[one.Index] != nil || !one.Embedding.normalize() {
			return nil, registry.Errorf(registry.CodeProvider, "the server of embeddings gave an answer that can't be used")
		}
		made[one.Index] = one.Embedding
	}
	for i, v := range made {
		if v == nil || len(v) != len(made[0]) {
			return nil, fmt.Errorf("the server of embeddings gave no vector of %d members for text %d", len(made[0]), i)
		}
	}
	return made, nil
}

// normalize makes a vector's length one, and reports whether it has one.
func (v vector) normalize() bool {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return false
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / length)
	}
	return true
}

// dot is how near two vectors are: one where they are the same, none where one has nothing of the other.
func (v vector) dot(w vector) float64 {
	if len(v) != len(w) {
		return 0
	}
	sum := 0.0
	for i := range v {
		sum += float64(v[i]) * float64(w[i])
	}
	return sum
}
