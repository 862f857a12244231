package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// client speaks to the running program with somebody's key.
type client struct{ server, key string }

// send makes a request with a body of JSON, or with none. A refusal is an error in the program's words.
func (c client) send(ctx context.Context, method, path, accept string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", accept)
	return c.do(request)
}

func (c client) do(request *http.Request) (*http.Response, error) {
	request.Header.Set("Authorization", "Bearer "+c.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("no program answers at %s; start it with signalbox up: %w", c.server, err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		defer response.Body.Close()
		return nil, refusalOf(response)
	}
	return response, nil
}

// call is send for an answer in JSON, which is read into a value, if there is one.
func (c client) call(ctx context.Context, method, path string, body, into any) error {
	response, err := c.send(ctx, method, path, "application/json", body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if into == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// attachment is a file that the program has.
type attachment struct {
	Type string `json:"type"`
	Ref  string `json:"ref"`
	Name string `json:"name"`
}

// upload gives the program a file.
func (c client) upload(ctx context.Context, path string) (attachment, error) {
	file, err := os.Open(path)
	if err != nil {
		return attachment{}, err
	}
	defer file.Close()
	name := filepath.Base(path)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.server+"/api/uploads?name="+url.QueryEscape(name), file)
	if err != nil {
		return attachment{}, err
	}
	request.Header.Set("Content-Type", "application/octet-stream")
	response, err := c.do(request)
	if err != nil {
		return attachment{}, fmt.Errorf("%s: %w", path, err)
	}
	defer response.Body.Close()
	one := attachment{Type: kindOf(name), Name: name}
	return one, json.NewDecoder(response.Body).Decode(&one)
}

// kindOf is what a file is by its name.
func kindOf(name string) string {
	kind, _, _ := strings.Cut(mime.TypeByExtension(strings.ToLower(filepath.Ext(name))), "/")
	switch kind {
	case "image", "video", "audio":
		return kind
	}
	return "file"
}

// refusalOf reads why a request was refused.
func refusalOf(response *http.Response) error {
	var problem struct{ Detail string }
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&problem); err != nil || problem.Detail == "" {
		return fmt.Errorf("the program answered %s", response.Status)
	}
	return errors.New(problem.Detail)
}
