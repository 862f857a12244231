package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/signalbox/signalbox/internal/ordered"
)

// maxMetadata bounds what the head of a file says; a server reads heads of at most 1 MB, and escapes what is in them.
const maxMetadata = 6 << 20

// Metadata is what the head of a .safetensors file says about it: texts by name, of which some hold JSON.
type Metadata map[string]json.RawMessage

// ModelMetadata reads what a model file in a folder such as "loras" says about itself. It is empty for one that says nothing, is not there, or is
// of another format.
func (c *Client) ModelMetadata(ctx context.Context, folder, name string) (Metadata, error) {
	path := "/view_metadata/" + url.PathEscape(folder)
	res, err := c.get(ctx, path, url.Values{"filename": {name}})
	var status *StatusError
	if errors.As(err, &status) && status.Status < http.StatusInternalServerError {
		return nil, nil // 404 is what servers answer in all of these cases
	}
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var meta Metadata
	if err := DecodeJSON(res.Body, maxMetadata, &meta); err != nil {
		return nil, fmt.Errorf("reading %s of %.80q: %w", path, name, err)
	}
	return meta, nil
}

// Models lists the files of a folder of models, such as checkpoints.
func (c *Client) Models(ctx context.Context, folder string) (files []string, err error) {
	res, err := c.get(ctx, "/models/"+url.PathEscape(folder), nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if err := DecodeJSON(res.Body, MaxJSON, &files); err != nil {
		return nil, fmt.Errorf("reading the models of %.80q: %w", folder, err)
	}
	return files, nil
}

// Text is the text under a name, or "".
func (m Metadata) Text(name string) string {
	var text string
	if json.Unmarshal(m[name], &text) != nil {
		return ""
	}
	return text
}

// Object is the object under a name, or the one that the text there holds as JSON, in its order; else nil, which is empty.
func (m Metadata) Object(name string) *ordered.Object {
	data := []byte(m[name])
	if text := m.Text(name); text != "" {
		data = []byte(text)
	}
	v, err := ordered.Parse(data)
	if err != nil {
		return nil
	}
	o, _ := v.(*ordered.Object)
	return o
}
