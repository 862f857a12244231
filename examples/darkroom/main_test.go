package main

import (
	"image/png"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// TestDarkroom goes the way of docs/providers.md: the file makes a tool of the service.
func TestDarkroom(t *testing.T) {
	t.Setenv("DARKROOM_KEY", "practice")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	server := httptest.NewServer(newDarkroom("practice", time.Minute, func() time.Time { return now }))
	t.Cleanup(server.Close)
	file, err := os.ReadFile("darkroom.tool.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := strings.Replace(string(file), "http://127.0.0.1:9090", server.URL, 1)
	if err := os.WriteFile(filepath.Join(dir, "darkroom.tool.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tools := httptools.New(httptools.Config{Dir: dir, Store: &registrytest.Specs{}, Guard: outbound.NewClient([]string{"127.0.0.1"})})
	loaded, err := tools.Load(t.Context())
	if err != nil || len(loaded) != 1 {
		t.Fatalf("%d tools, %v", len(loaded), err)
	}
	jobs := tools.Jobs()
	submit := func(side any) registry.Ticket {
		ticket, err := jobs.Submit(t.Context(), registry.Call{RunID: "r", Handle: "h", Tool: loaded[0], Inputs: map[string]any{"subject": "a red bicycle", "side": side}})
		if err != nil {
			t.Fatal(err)
		}
		return ticket
	}
	t.Run("A78 a picture takes a moment and has a price", func(t *testing.T) {
		ticket := submit(256)
		if p, err := jobs.Poll(t.Context(), ticket); err != nil || p.State != registry.RunQueued {
			t.Errorf("at once: %+v, %v", p, err)
		}
		now = now.Add(time.Hour)
		p, err := jobs.Poll(t.Context(), ticket)
		if err != nil || p.State != registry.RunSucceeded || p.Result.Usage.CostUSD != "0.010000000000" {
			t.Fatalf("later: %+v, %v", p, err)
		}
		content, err := p.Result.Outputs[0].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer content.Close()
		if size, err := png.DecodeConfig(content); err != nil || size.Width != 256 {
			t.Errorf("a picture of %dx%d, %v", size.Width, size.Height, err)
		}
	})
	t.Run("cancelled jobs are, and wrong values are refused", func(t *testing.T) {
		ticket := submit(256)
		if err := jobs.Cancel(t.Context(), ticket); err != nil {
			t.Error(err)
		}
		if p, err := jobs.Poll(t.Context(), ticket); err != nil || p.State != registry.RunCanceled {
			t.Errorf("got %+v, %v", p, err)
		}
		_, err := jobs.Submit(t.Context(), registry.Call{Tool: loaded[0], Inputs: map[string]any{"subject": "x", "side": 9000}})
		if e := registry.AsError(err); e == nil || e.Code != registry.CodeInvalidInput {
			t.Errorf("got %v", err)
		}
	})
}

// TestTheDocument keeps the page and the file together: what the page shows is in the file.
func TestTheDocument(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("darkroom.tool.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```yaml\n")
	shown, _, _ = strings.Cut(shown, "```")
	for line := range strings.Lines(shown) {
		line, _, _ = strings.Cut(line, " #")
		if line = strings.TrimRight(strings.TrimSpace(line), "}"); !strings.Contains(string(file), line) {
			t.Errorf("docs/providers.md shows %q, which darkroom.tool.yaml has not", line)
		}
	}
}
