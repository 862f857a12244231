// Package checks has a service look at pictures that were made: any with OpenAI's POST /moderations, with the model that takes pictures
// (omni-moderation-latest). One picture goes with each request, as a data: address, since the model takes one.
package checks

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/internal/upstream"
)

const (
	timeout = 20 * time.Second
	limit   = 1 << 20 // bytes of an answer
)

// Config is the service and its model; URL and Model are required.
type Config struct {
	URL   string // with its version: https://api.openai.com/v1
	Model string
	Key   string // empty: the service wants none
	HTTP  *http.Client
}

// Client asks the service.
type Client struct {
	api   *upstream.Client
	model string
}

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Client, error) {
	c := upstream.Config{Name: "the moderation service", BaseURL: cfg.URL, HTTP: cfg.HTTP, Timeout: timeout, Limit: limit}
	if cfg.Key != "" {
		c.Secrets = []string{cfg.Key}
		c.Authorize = func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+cfg.Key) }
	}
	api, err := upstream.New(c)
	return &Client{api, cfg.Model}, err
}

type (
	request struct {
		Model string `json:"model"`
		Input []part `json:"input"`
	}
	part struct {
		Type     string  `json:"type"`
		ImageURL address `json:"image_url"`
	}
	address struct {
		URL string `json:"url"`
	}
	answer struct {
		Results []struct {
			Scores map[string]float64 `json:"category_scores"`
		} `json:"results"`
	}
)

// Look gives how surely a picture is of each category, from 0 to 1. The service's own verdict (flagged) is not used: where the line is drawn is the
// operator's to say.
func (c *Client) Look(ctx context.Context, mime string, picture []byte) (map[string]float64, error) {
	res, err := c.api.Do(ctx, upstream.Request{
		Method: http.MethodPost, Path: "/moderations", Repeatable: true,
		JSON: request{c.model, []part{{"image_url", address{"data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(picture)}}}},
	})
	if err != nil {
		return nil, err
	}
	var said answer
	if err := c.api.Decode(res, &said); err != nil {
		return nil, err
	}
	if len(said.Results) != 1 || len(said.Results[0].Scores) == 0 {
		return nil, fmt.Errorf("the moderation service gave %d results for one picture, or none with scores", len(said.Results))
	}
	for category, score := range said.Results[0].Scores {
		if score < 0 || score > 1 {
			return nil, fmt.Errorf("the moderation service gave %.40q a score of %g, expected 0 to 1", category, score)
		}
	}
	return said.Results[0].Scores, nil
}
