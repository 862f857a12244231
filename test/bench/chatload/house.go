package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
	"github.com/signalbox/signalbox/test/bench/program"
)

// patience is for all answers, once all commands were sent.
const patience = time.Minute

// house is the program and what is around it.
type house struct {
	platforms []platform
	processes []*program.Process
	held      chan struct{} // open: the engine does not answer
}

func startHouse(ctx context.Context, b *testing.B, dir string, each int) (h *house, err error) {
	h = &house{held: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.stop())
		}
	}()
	binary, err := program.Build(ctx, ".", dir)
	if err != nil {
		return h, err
	}
	engine, err := h.startEngine(ctx, b, dir, binary)
	if err != nil {
		return h, err
	}
	violation := func(text string) { err = errors.Join(err, errors.New(text)) }
	tg := telegramtest.New(b, telegramtest.Options{Patience: patience, OnViolation: violation})
	dc := discordtest.New(b, discordtest.Options{Patience: patience, OnViolation: violation})
	address, err := program.FreeAddress()
	if err != nil {
		return h, err
	}
	page := &program.Process{Binary: binary, Dir: filepath.Join(dir, "data"), Address: address, Env: []string{
		"LOG_LEVEL=error", "COMFYUI_URLS=" + engine, "TELEGRAM_BOT_TOKEN=" + tg.Token, "TELEGRAM_API_URL=" + tg.URL,
		"DISCORD_BOT_TOKEN=" + dc.Token, "DISCORD_APP_ID=" + dc.ApplicationID, "DISCORD_API_URL=" + dc.URL, "DISCORD_PUBLIC_KEY=" + dc.PublicKey,
	}}
	if err := h.launch(ctx, page); err != nil {
		return h, err
	}
	web, err := openPages(ctx, page, each)
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
	address, err := program.FreeAddress()
	if err != nil {
		return "", err
	}
	engine := &program.Process{
		Binary: binary, Args: []string{"engine", "--listen", address, "--input", filepath.Join(dir, "in"), "--output", filepath.Join(dir, "out")},
		Dir: dir, Address: address, Probe: "/system_stats",
	}
	if err := h.launch(ctx, engine); err != nil {
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
	return gate.URL, nil
}

func (h *house) launch(ctx context.Context, p *program.Process) error {
	h.processes = append(h.processes, p)
	return p.Up(ctx)
}

// stop ends the program and the engine. The program has work under way, which it leaves for a next start.
func (h *house) stop() (err error) {
	close(h.held)
	for _, p := range slices.Backward(h.processes) {
		err = errors.Join(err, p.Stop())
	}
	return err
}
