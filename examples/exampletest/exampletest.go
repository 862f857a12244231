// Package exampletest calls the examples as Signalbox does.
package exampletest

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/providers/remote"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
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
	tools := &Tools{provider: remote.New(remote.Config{File: file, Store: &registrytest.Specs{}, Guard: http.DefaultClient, SiteID: "test"}), byID: map[string]registry.Tool{}}
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
