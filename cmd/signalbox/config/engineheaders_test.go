package config

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEngineHeaders(t *testing.T) {
	t.Parallel()
	engine, err := url.Parse("https://gpu.example/comfy")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content, problem string
	}{
		"a key":             {`{"https://gpu.example/comfy/": {"x-api-key": "secret"}}`, ""},
		"another server":    {`{"https://user:secret@other.example": {"x-api-key": "secret"}}`, "https://other.example is none of COMFYUI_URLS (gpu.example/comfy)"},
		"no JSON":           {`secret`, "is not as in"},
		"headers as a list": {`{"https://gpu.example/comfy": ["secret"]}`, "is not as in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "headers.json")
			if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			config := Config{Engines: []*url.URL{engine}}
			config.ComfyUIHeaders = file
			headers, err := config.EngineHeaders()
			switch {
			case c.problem == "":
				if err != nil || headers["gpu.example/comfy"].Get("X-API-Key") != "secret" {
					t.Errorf("%v, %v", headers, err)
				}
			case err == nil || !strings.Contains(err.Error(), c.problem) || strings.Contains(err.Error(), "secret"):
				t.Error(err)
			}
		})
	}
}
