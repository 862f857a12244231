package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/test/bench/program"
)

// What is asked for.
const (
	caseTools = "tools" // the tool list
	caseRun   = "run"   // a run that is over
	caseFile  = "file"  // its picture
)

// house is the two servers that are compared, each a process of its own.
type house struct {
	api, bare *program.Process
	key       string
	requests  map[string][]byte
	sizes     map[string]int
}

// runTime bounds how long the one run takes.
const runTime = time.Minute

func startHouse(ctx context.Context, dir string) (h *house, err error) {
	h = &house{api: &program.Process{Dir: filepath.Join(dir, "data"), Env: []string{"LOG_LEVEL=warn"}}, bare: &program.Process{Probe: "/" + caseTools}, requests: map[string][]byte{}, sizes: map[string]int{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.stop())
		}
	}()
	if h.api.Binary, err = program.Build(ctx, ".", dir); err != nil {
		return h, err
	}
	if h.api.Address, err = program.FreeAddress(); err != nil {
		return h, err
	}
	if err := h.api.Up(ctx); err != nil {
		return h, err
	}
	answers := filepath.Join(dir, "answers")
	if err := h.prepare(ctx, answers); err != nil {
		return h, err
	}
	return h, h.startBare(ctx, answers)
}

func (h *house) stop() error { return errors.Join(h.bare.Stop(), h.api.Stop()) }

// prepare makes an account and a run, and keeps the answers that are asked for later.
func (h *house) prepare(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var err error
	if h.key, err = h.api.NewKey(ctx, "measurement"); err != nil {
		return err
	}
	var run struct {
		RunID, Status string
		Outputs       []struct{ URL string }
	}
	order := program.Request{Method: http.MethodPost, Path: "/api/run/wallpaper", Key: h.key, Body: map[string]any{"inputs": map[string]any{"width": 256, "height": 256}}}
	if err := h.api.Call(ctx, order, &run); err != nil {
		return err
	}
	for limit := time.Now().Add(runTime); run.Status != "succeeded"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(limit) {
			return fmt.Errorf("the run is %s after %v", run.Status, runTime)
		}
		if err := h.api.Call(ctx, program.Request{Path: "/api/runs/" + run.RunID, Key: h.key}, &run); err != nil {
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
	var body string
	if err := h.api.Call(ctx, program.Request{Path: path, Key: key}, &body); err != nil {
		return err
	}
	h.requests[name], h.sizes[name] = requestFor(h.api.Address, path, key), len(body)
	return os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644)
}

func (h *house) startBare(ctx context.Context, answers string) (err error) {
	if h.bare.Binary, err = os.Executable(); err != nil {
		return err
	}
	if h.bare.Address, err = program.FreeAddress(); err != nil {
		return err
	}
	h.bare.Args = []string{"-bare", answers}
	return h.bare.Up(ctx)
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
	server := &http.Server{Addr: os.Getenv("LISTEN_ADDR"), Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
