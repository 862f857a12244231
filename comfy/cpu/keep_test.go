package cpu_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/comfy/cpu"
)

// served is an engine behind HTTP with folders of its own.
func served(t *testing.T, cfg cpu.Config) (url, dir string) {
	t.Helper()
	dir = t.TempDir()
	cfg.Input, cfg.Output, cfg.Temp = filepath.Join(dir, "input"), filepath.Join(dir, "output"), filepath.Join(dir, "temp")
	e, err := cpu.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(e)
	t.Cleanup(func() {
		server.Close()
		if err := e.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return server.URL, dir
}

func filesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names
}

func send(t *testing.T, method, url, kind, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// inverts uploads a picture and runs a prompt with it up to its end.
func inverts(t *testing.T, url, id string) {
	t.Helper()
	var form, picture bytes.Buffer
	if err := png.Encode(&picture, image.NewNRGBA(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("image", "signalbox_photo.png")
	if err == nil {
		_, err = part.Write(picture.Bytes())
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	if status := send(t, "POST", url+"/upload/image", w.FormDataContentType(), form.String()); status != http.StatusOK {
		t.Fatalf("upload: %d", status)
	}
	prompt := fmt.Sprintf(`{"prompt_id": %q, "prompt": {"1": {"class_type": "LoadImage", "inputs": {"image": "signalbox_photo.png"}},
		"2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}}, "3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "made"}}}}`, id)
	if status := send(t, "POST", url+"/prompt", "application/json", prompt); status != http.StatusOK {
		t.Fatalf("prompt: %d", status)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		res, err := http.Get(url + "/history/" + id)
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		_, err = body.ReadFrom(res.Body)
		res.Body.Close()
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the prompt does not end: %v", err)
		}
		if body.Len() > 2 {
			return
		}
	}
}

func TestTransientFilesGoWithTheirPrompt(t *testing.T) {
	t.Parallel()
	url, dir := served(t, cpu.Config{Transient: true})
	inverts(t, url, "11111111-1111-4111-8111-111111111111")
	if names := filesBelow(t, filepath.Join(dir, "output")); len(names) != 1 {
		t.Fatalf("the results are %v", names)
	}
	t.Run("files are their owner's alone", func(t *testing.T) {
		for _, name := range append(filesBelow(t, dir), filepath.Join(dir, "input"), filepath.Join(dir, "output")) {
			info, err := os.Stat(name)
			if err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
	})
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "input", "signalbox_photo.png"), old, old); err != nil {
		t.Fatal(err)
	}
	if status := send(t, "POST", url+"/history", "application/json", `{"delete": ["11111111-1111-4111-8111-111111111111"]}`); status != http.StatusOK {
		t.Fatalf("history: %d", status)
	}
	if names := filesBelow(t, dir); len(names) != 0 {
		t.Errorf("left over: %v", names)
	}
	t.Run("the same prompt makes its files anew", func(t *testing.T) {
		inverts(t, url, "22222222-2222-4222-8222-222222222222")
		if names := filesBelow(t, filepath.Join(dir, "output")); len(names) != 1 {
			t.Errorf("the results are %v", names)
		}
	})
	t.Run("what was left at the last end goes at the start", func(t *testing.T) {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "left.png"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := cpu.New(cpu.Config{Input: folder, Transient: true})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close(t.Context())
		if names := filesBelow(t, folder); len(names) != 0 {
			t.Errorf("left over: %v", names)
		}
	})
}

func TestOtherEnginesKeepTheirFiles(t *testing.T) {
	t.Parallel()
	url, dir := served(t, cpu.Config{})
	inverts(t, url, "11111111-1111-4111-8111-111111111111")
	if status := send(t, "POST", url+"/history", "application/json", `{"clear": true}`); status != http.StatusOK {
		t.Fatalf("history: %d", status)
	}
	if names := filesBelow(t, dir); len(names) != 2 {
		t.Errorf("there are %v, want the upload and the result", names)
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		listen string
		hosts  map[string]bool
	}{
		{"", map[string]bool{"127.0.0.1:8188": true, "localhost": true, "[::1]:8188": true, "127.9.9.9": true, "evil.example": false, "10.0.0.5:8188": false, "localhost.evil.example": false, "": false}},
		{"10.0.0.5", map[string]bool{"10.0.0.5:8188": true, "localhost:8188": true, "10.0.0.6": false, "evil.example:8188": false}},
		{"0.0.0.0", map[string]bool{"10.0.0.5:8188": true, "engine:8188": true, "evil.example:8188": false}},
		{"gpu.inner.example", map[string]bool{"GPU.inner.example:8188": true, "evil.example": false}},
	} {
		e, err := cpu.New(cpu.Config{Listen: tc.listen})
		if err != nil {
			t.Fatal(err)
		}
		for host, allowed := range tc.hosts {
			req := httptest.NewRequestWithContext(t.Context(), "GET", "/history", nil)
			req.Host = host
			res := httptest.NewRecorder()
			e.ServeHTTP(res, req)
			if got := res.Code == http.StatusOK; got != allowed || !got && res.Code != http.StatusForbidden {
				t.Errorf("listening on %q, Host %q: status %d", tc.listen, host, res.Code)
			}
		}
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestFoldersOfKilledPrograms(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	first, err := cpu.New(cpu.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close(t.Context())
	alive, err := filepath.Glob(filepath.Join(os.TempDir(), "comfy-engine-*"))
	if err != nil || len(alive) != 1 {
		t.Fatalf("the folders are %v, %v", alive, err)
	}
	killed := filepath.Join(os.TempDir(), "comfy-engine-killed") // its lock is held by nobody
	if err := os.MkdirAll(filepath.Join(killed, "input"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(killed, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	second, err := cpu.New(cpu.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(killed); !os.IsNotExist(err) {
		t.Errorf("the folder of a killed program: %v", err)
	}
	if _, err := os.Stat(alive[0]); err != nil {
		t.Errorf("the folder of the other engine: %v", err)
	}
	if err := second.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestEnginesThatStartTogether(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var starting sync.WaitGroup
	for range 64 {
		starting.Go(func() {
			e, err := cpu.New(cpu.Config{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := e.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	starting.Wait()
}
