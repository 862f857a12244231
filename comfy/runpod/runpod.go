// Package runpod speaks to a serverless endpoint of RunPod that runs worker-comfyui 5: jobs are prompts, results are pictures. Other hosts that speak the
// same are reached in the same way. Facts: docs.runpod.io (serverless, endpoints) and the worker's README, 2026.
package runpod

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

const (
	// MaxBody is how large a request may be that begins a job, with the files in it.
	MaxBody = 10 << 20

	maxAnswer = 192 << 20 // results come within the answer, as base64
)

// Client talks to one endpoint. It is safe for concurrent use.
type Client struct{ service *upstream.Client }

// New makes a client of the endpoint at base, such as https://api.runpod.ai/v2/abc123. It sends nothing.
func New(base, key string, client *http.Client) (*Client, error) {
	service, err := upstream.New(upstream.Config{
		Name: "RunPod", BaseURL: base, Secrets: []string{key}, HTTP: client, Limit: maxAnswer, Timeout: 2 * time.Minute,
		Authorize: func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) },
	})
	if err != nil {
		return nil, err
	}
	return &Client{service: service}, nil
}

// Input is what a job works on.
type Input struct {
	Workflow any     `json:"workflow"` // a prompt
	Images   []Image `json:"images,omitempty"`
	// PartnerKey pays for nodes that call partners' services; empty: there are none.
	PartnerKey string `json:"comfy_org_api_key,omitempty"`
}

// Image is a file that a prompt names.
type Image struct {
	Name string `json:"name"`
	Data []byte `json:"image"` // base64 in JSON
}

// ErrTooLarge is for a job that is larger than MaxBody.
var ErrTooLarge = errors.New("the request is larger than 10 MB with its files")

// Run begins a job and gives its id. The service has no handle by which a job can be found again: after an error with CodeLost nobody knows whether
// it runs, after any other it does not.
func (c *Client) Run(ctx context.Context, in Input) (id string, err error) {
	body, err := json.Marshal(map[string]any{"input": in})
	if err != nil {
		return "", err
	}
	if len(body) > MaxBody {
		return "", ErrTooLarge
	}
	var job Job
	if err := c.service.Begin(ctx, "run", json.RawMessage(body), &job); err != nil {
		return "", err
	}
	if job.ID == "" {
		return "", registry.Errorf(registry.CodeLost, "RunPod took the job and gave no id for it")
	}
	return job.ID, nil
}

// Job is what the service says of a job.
type Job struct {
	ID            string          `json:"id"`
	Status        string          `json:"status"`        // IN_QUEUE, IN_PROGRESS, RUNNING, COMPLETED, FAILED, CANCELLED, TIMED_OUT
	ExecutionTime float64         `json:"executionTime"` // ms of work, without waiting
	Output        json.RawMessage `json:"output"`
	Error         json.RawMessage `json:"error"`
}

// Status asks after a job. One that is not known is an error with CodeLost: results are kept for half an hour.
func (c *Client) Status(ctx context.Context, id string) (Job, error) {
	var job Job
	err := c.service.Get(ctx, "status/"+url.PathEscape(id), nil, &job)
	return job, err
}

// Cancel ends a job. One that is over is no error.
func (c *Client) Cancel(ctx context.Context, id string) error {
	err := c.service.Post(ctx, "cancel/"+url.PathEscape(id), nil, nil)
	if failure := registry.AsError(err); err != nil && failure.Code == registry.CodeLost && !errors.Is(err, upstream.ErrUnconfirmed) {
		return nil
	}
	return err
}

// Waiting tells how many jobs the endpoint has that are not over.
func (c *Client) Waiting(ctx context.Context) (int, error) {
	var health struct {
		Jobs struct {
			InQueue    int `json:"inQueue"`
			InProgress int `json:"inProgress"`
		} `json:"jobs"`
	}
	err := c.service.Get(ctx, "health", nil, &health)
	return health.Jobs.InQueue + health.Jobs.InProgress, err
}

// State is the job's state in our words.
func (j Job) State() registry.Progress {
	switch j.Status {
	case "IN_QUEUE":
		return registry.Progress{State: registry.RunQueued}
	case "IN_PROGRESS", "RUNNING":
		return registry.Progress{State: registry.RunRunning}
	case "COMPLETED":
		return registry.Progress{State: registry.RunSucceeded}
	case "FAILED", "TIMED_OUT":
		return registry.Progress{State: registry.RunFailed}
	case "CANCELLED":
		return registry.Progress{State: registry.RunCanceled}
	}
	return registry.Progress{State: registry.RunRunning, Unknown: j.Status}
}

// RunTime is how long the job worked.
func (j Job) RunTime() time.Duration {
	if j.ExecutionTime <= 0 || j.ExecutionTime > float64(7*24*time.Hour/time.Millisecond) {
		return 0
	}
	return time.Duration(j.ExecutionTime * float64(time.Millisecond))
}

// Result is a picture that a job made: its bytes, or where they are.
type Result struct {
	Filename string
	Data     []byte
	URL      string
}

// Results are the pictures of a job that is completed.
func (j Job) Results() ([]Result, error) {
	var out struct {
		Images []struct {
			Filename string `json:"filename"`
			Type     string `json:"type"` // base64 or s3_url
			Data     string `json:"data"`
		} `json:"images"`
	}
	if err := json.Unmarshal(j.Output, &out); err != nil {
		return nil, err
	}
	var results []Result
	for _, image := range out.Images {
		r := Result{Filename: image.Filename}
		switch image.Type {
		case "s3_url":
			r.URL = image.Data
		case "base64":
			data := image.Data
			if _, rest, ok := strings.Cut(data, "base64,"); ok && strings.HasPrefix(data, "data:") {
				data = rest
			}
			var err error
			if r.Data, err = base64.StdEncoding.DecodeString(data); err != nil {
				return nil, err
			}
		default:
			return nil, errors.New("a result of the unknown type " + image.Type)
		}
		results = append(results, r)
	}
	return results, nil
}

// Failure is what the service or its worker says of a job that failed: for logs, it can hold paths and inputs.
func (j Job) Failure() string {
	for _, raw := range []json.RawMessage{j.Error, j.Output} {
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return text
		}
		var inner struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(raw, &inner) == nil && inner.Error != "" {
			return inner.Error
		}
	}
	return j.Status
}
