package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
)

const (
	adminToken = "operator-of-the-measurement"
	startTime  = time.Minute
	patience   = time.Minute // for all answers, once all commands were sent
)

// house is the program and what is around it.
type house struct {
	platforms []platform
	processes []*exec.Cmd
	held      chan struct{} // open: the engine does not answer
}

func startHouse(ctx context.Context, b *testing.B, dir string, each int) (h *house, err error) {
	h = &house{held: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.stop())
		}
	}()
	binary := filepath.Join(dir, "signalbox")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/signalbox")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return h, fmt.Errorf("go build, to be called from the project's root: %w", err)
	}
	engine, err := h.startEngine(ctx, b, dir, binary)
	if err != nil {
		return h, err
	}
	violation := func(text string) { err = errors.Join(err, errors.New(text)) }
	tg := telegramtest.New(b, telegramtest.Options{Patience: patience, OnViolation: violation})
	dc := discordtest.New(b, discordtest.Options{Patience: patience, OnViolation: violation})
	page, err := freeAddress()
	if err != nil {
		return h, err
	}
	err = h.launch(binary, []string{
		"DATA_DIR=" + filepath.Join(dir, "data"), "LISTEN_ADDR=" + page, "ADMIN_TOKEN=" + adminToken, "API_RATE=0", "LOG_LEVEL=error", "COMFYUI_URLS=" + engine,
		"TELEGRAM_BOT_TOKEN=" + tg.Token, "TELEGRAM_API_URL=" + tg.URL,
		"DISCORD_BOT_TOKEN=" + dc.Token, "DISCORD_APP_ID=" + dc.ApplicationID, "DISCORD_API_URL=" + dc.URL, "DISCORD_PUBLIC_KEY=" + dc.PublicKey,
	}, "up")
	if err == nil {
		err = awaitServer(ctx, "http://"+page+"/readyz")
	}
	if err != nil {
		return h, err
	}
	web, err := openPages(ctx, "http://"+page, each)
	if err != nil {
		return h, err
	}
	discord, err := joinDiscord(dc, each)
	if err != nil {
		return h, err
	}
	h.platforms = []platform{joinTelegram(tg, each), discord, web}
	return h, nil
}

// startEngine starts an engine that takes prompts and keeps them until the end.
func (h *house) startEngine(ctx context.Context, b *testing.B, dir, binary string) (string, error) {
	address, err := freeAddress()
	if err != nil {
		return "", err
	}
	if err := h.launch(binary, nil, "engine", "--listen", address, "--input", filepath.Join(dir, "in"), "--output", filepath.Join(dir, "out")); err != nil {
		return "", err
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/prompt" {
			select {
			case <-h.held:
			case <-r.Context().Done():
			}
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	b.Cleanup(gate.CloseClientConnections)
	return gate.URL, awaitServer(ctx, "http://"+address+"/system_stats")
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

// stop ends the program and the engine. The program has work under way, which it leaves for a next start.
func (h *house) stop() error {
	close(h.held)
	var errs error
	for i := len(h.processes) - 1; i >= 0; i-- {
		p := h.processes[i]
		errs = errors.Join(errs, p.Process.Signal(os.Interrupt), p.Wait())
	}
	return errs
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func awaitServer(ctx context.Context, address string) error {
	for limit := time.Now().Add(startTime); ; time.Sleep(50 * time.Millisecond) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		if ctx.Err() != nil || time.Now().After(limit) {
			return fmt.Errorf("%s does not answer within %v: %w", address, startTime, errors.Join(err, ctx.Err()))
		}
	}
}

// call sends a request with a key and reads the answer.
func call(ctx context.Context, method, address, key, kind, body string, answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", kind)
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
		return fmt.Errorf("%s %s: %d %s", method, address, res.StatusCode, bytes.TrimSpace(data))
	}
	return json.Unmarshal(data, answer)
}
