package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/landing"
	"github.com/signalbox/signalbox/workflows"
)

func TestExamplesOfBundledTools(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := newApp(config.Config{}, slog.New(slog.DiscardHandler))
	a.cfg.WorkflowsDir = dir
	same, err := workflows.FS.ReadFile("poster.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"poster.json": same, "wallpaper.json": []byte(`{"nodes": []}`)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pictures, err := landing.Examples(a.cfg.WorkflowsDir)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"poster": true, "sticker": true, "wallpaper": false} {
		if _, found := pictures[id]; found != want {
			t.Errorf("an example of %s: found %v, want %v: another workflow of its name makes other pictures", id, found, want)
		}
	}
}
