// Package exampletest calls the examples as Signalbox does.
package exampletest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/providers/remote"
	"github.com/signalbox/signalbox/registry"
)

// Tools are the remote tools of a manifest file.
type Tools struct {
	provider *remote.Provider
	byID     map[string]registry.Tool
}

// Load makes tools of a manifest file's text. Whatever is wrong with it fails the test.
func Load(t *testing.T, text string) *Tools {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tools := &Tools{provider: remote.New(remote.Config{File: file, Store: &store{files: map[string][]byte{}}, Guard: http.DefaultClient, SiteID: "test"}), byID: map[string]registry.Tool{}}
	list, err := tools.provider.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list {
		tools.byID[tool.ToolID] = tool
	}
	return tools
}

// Tool gives the definition of a tool.
func (s *Tools) Tool(t *testing.T, name string) registry.Tool {
	t.Helper()
	tool, there := s.byID[name]
	if !there {
		t.Fatalf("there is no tool %s", name)
	}
	return tool
}

// Manifest gives a tool's manifest, as it stands in the file.
func (s *Tools) Manifest(t *testing.T, name string) (m remote.Manifest) {
	t.Helper()
	raw, err := json.Marshal(s.Tool(t, name).Metadata["manifest"])
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Call runs a tool and gives the text of its only output.
func (s *Tools) Call(t *testing.T, name string, inputs map[string]any) (string, error) {
	t.Helper()
	result, err := s.provider.Call(t.Context(), registry.Call{RunID: t.Name(), Tool: s.Tool(t, name), Inputs: inputs})
	if err != nil {
		return "", err
	}
	if len(result.Outputs) != 1 {
		t.Fatalf("%d outputs", len(result.Outputs))
	}
	return result.Outputs[0].Text, nil
}

// store keeps files in memory, by content.
type store struct {
	mu    sync.Mutex
	files map[registry.Media][]byte
}

// Put keeps a file.
func (s *store) Put(_ context.Context, r io.Reader, name string) (registry.Media, registry.MediaInfo, error) {
	data, err := io.ReadAll(r)
	sum := sha256.Sum256(data)
	ref := "asset:" + hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[ref] = data
	return ref, registry.MediaInfo{Name: name}, err
}

// OpenMedia opens a kept file.
func (s *store) OpenMedia(_ context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, known := s.files[ref]
	if !known {
		return nil, registry.MediaInfo{}, os.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(data)), registry.MediaInfo{}, nil
}
