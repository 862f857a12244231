package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// What is asked for.
const (
	caseTools = "tools" // the tool list
	caseRun   = "run"   // a run that is over
	caseFile  = "file"  // its picture
)

// house is the two servers that are compared, each a process of its own.
type house struct {
	api, bare string // host:port
	key       string
	requests  map[string][]byte
	sizes     map[string]int
	processes []*exec.Cmd
}

const adminToken = "operator-of-the-measurement"

// startTime bounds how long a server takes to be there, and how long the one run takes.
const startTime = time.Minute

func startHouse(ctx context.Context, dir string) (h *house, err error) {
	h = &house{requests: map[string][]byte{}, sizes: map[string]int{}}
	defer func() {
		if err != nil {
			h.stop()
		}
	}()
	program := filepath.Join(dir, "signalbox")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/signalbox")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return h, fmt.Errorf("go build, to be called from the project's root: %w", err)
	}
	if h.api, err = freeAddress(); err != nil {
		return h, err
	}
	settings := []string{"DATA_DIR=" + filepath.Join(dir, "data"), "LISTEN_ADDR=" + h.api, "ADMIN_TOKEN=" + adminToken, "API_RATE=0", "LOG_LEVEL=warn"}
	if err := h.launch(program, settings, "up"); err != nil {
		return h, err
	}
	if err := awaitServer(ctx, "http://"+h.api+"/readyz"); err != nil {
		return h, err
	}
	answers := filepath.Join(dir, "answers")
	if err := h.prepare(ctx, answers); err != nil {
		return h, err
	}
	return h, h.startBare(ctx, answers)
}

func (h *house) launch(program string, settings []string, args ...string) error {
	p := exec.Command(program, args...)
	p.Env = append(os.Environ(), settings...)
	p.Stderr = os.Stderr
	if err := p.Start(); err != nil {
		return err
	}
	h.processes = append(h.processes, p)
	return nil
}

func (h *house) stop() {
	for _, p := range h.processes {
		p.Process.Signal(os.Interrupt)
		p.Wait()
	}
}

// prepare makes an account and a run, and keeps the answers that are asked for later.
func (h *house) prepare(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var made struct{ Key string }
	if err := h.call(ctx, "POST", "/api/keys", adminToken, `{"name":"measurement"}`, &made); err != nil {
		return err
	}
	h.key = made.Key
	var run struct {
		RunID, Status string
		Outputs       []struct{ URL string }
	}
	if err := h.call(ctx, "POST", "/api/run/wallpaper", h.key, `{"inputs":{"width":256,"height":256}}`, &run); err != nil {
		return err
	}
	for limit := time.Now().Add(startTime); run.Status != "succeeded"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(limit) {
			return fmt.Errorf("the run is %s after %v", run.Status, startTime)
		}
		if err := h.call(ctx, "GET", "/api/runs/"+run.RunID, h.key, "", &run); err != nil {
			return err
		}
	}
	picture, err := url.Parse(run.Outputs[0].URL)
	if err != nil {
		return err
	}
	return errors.Join(h.keep(ctx, dir, caseTools, "/api/tools", h.key), h.keep(ctx, dir, caseRun, "/api/runs/"+run.RunID, h.key), h.keep(ctx, dir, caseFile, picture.Path, ""))
}

func (h *house) keep(ctx context.Context, dir, name, path, key string) error {
	body, err := h.get(ctx, path, key)
	if err != nil {
		return err
	}
	h.requests[name], h.sizes[name] = requestFor(h.api, path, key), len(body)
	return os.WriteFile(filepath.Join(dir, name), body, 0o644)
}

func (h *house) startBare(ctx context.Context, answers string) (err error) {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if h.bare, err = freeAddress(); err != nil {
		return err
	}
	if err := h.launch(program, []string{"BARE_ADDR=" + h.bare}, "-bare", answers); err != nil {
		return err
	}
	return awaitServer(ctx, "http://"+h.bare+"/"+caseTools)
}

// serveBare answers with the files of a folder from memory: the least that a server in Go can do.
func serveBare(ctx context.Context, dir string, _ io.Writer) error {
	mux := http.NewServeMux()
	for _, name := range []string{caseTools, caseRun, caseFile} {
		body, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		kind := http.DetectContentType(body)
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			w.Write(body)
		})
	}
	server := &http.Server{Addr: os.Getenv("BARE_ADDR"), Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (h *house) get(ctx context.Context, path, key string) ([]byte, error) {
	var body []byte
	err := h.request(ctx, "GET", path, key, "", func(data []byte) error { body = data; return nil })
	return body, err
}

func (h *house) call(ctx context.Context, method, path, key, body string, answer any) error {
	return h.request(ctx, method, path, key, body, func(data []byte) error { return json.Unmarshal(data, answer) })
}

func (h *house) request(ctx context.Context, method, path, key, body string, read func([]byte) error) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+h.api+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Accept-Encoding", "identity")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, bytes.TrimSpace(data))
	}
	return read(data)
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

func awaitServer(ctx context.Context, address string) error {
	for limit := time.Now().Add(startTime); ; time.Sleep(50 * time.Millisecond) {
		res, err := http.Get(address)
		if err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		if ctx.Err() != nil || time.Now().After(limit) {
			return fmt.Errorf("no server at %s: %w", address, errors.Join(err, ctx.Err()))
		}
	}
}
