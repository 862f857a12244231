package main

import (
	"context"
	"errors"
	"log/slog"
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/parts"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/internal/watch"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/platforms/web/penpot"
	"github.com/signalbox/signalbox/providers/canvas"
	"github.com/signalbox/signalbox/providers/openapi"
	"github.com/signalbox/signalbox/providers/remote"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/history"
)

// app is the whole program, wired. Parts are started in the order of start's steps and stopped in reverse.
type app struct {
	*house
	flows      *loader.Workflows
	documents  *openapi.Tools // nil: none
	remote     *remote.Provider
	knowledge  *documents // nil: there is no database
	content    contents
	agents     agents
	canvas     *canvas.Provider // nil: there is no database
	penpot     *penpot.Hub
	history    *history.Store
	watcher    *watch.Watcher
	missions   *missions.Service
	exports    *exports.Service
	moderation *moderation.Service // nil: nothing is reported
	moderated  chan struct{}       // closed when it is there; nil: nobody waits
	post       post
	chat       *chatPlatforms
	figures    net.Listener // of METRICS_ADDR; nil: there is none
}

// newApp has the parts know the house. Nothing is started.
func newApp(c config.Config, log *slog.Logger) *app {
	h := &house{Parts: parts.New(log), log: log, cfg: c, metrics: prometheus.NewRegistry()}
	return &app{house: h, content: contents{house: h}, agents: agents{house: h}, post: post{house: h}}
}

// mediaURL is an address from which a service can fetch a stored file.
func (a *app) mediaURL(_ context.Context, ref registry.Media) (string, error) {
	if address := a.web.FileURL("", ref, ""); address != "" {
		return address, nil
	}
	return "", errors.New("there is no PUBLIC_URL from which it could be fetched")
}
