package main

import (
	"context"
	"net/http"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// chatPlatforms are the chat platforms that the configuration switches on, with the router they share.
type chatPlatforms struct {
	adapters  []chat.Adapter
	deliverer *chat.Deliverer
	router    *chat.Router
	fileURL   func(ref registry.Media, name string) string
}

// newChat makes the adapters and what delivers through them. It comes before the runs service, which
// delivers, while the router, which starts runs, comes after it.
func (a *app) newChat() (*chatPlatforms, error) {
	p := &chatPlatforms{fileURL: func(registry.Media, string) string { return "" }}
	var err error
	p.deliverer, err = chat.NewDeliverer(chat.DelivererConfig{
		Adapters: p.adapters, Pool: a.db.pool, Media: a.media, Logger: a.log,
		Link: func(run runs.Run, output int) string {
			o := run.Outputs[output]
			return p.fileURL(o.Media, o.FileName)
		},
	})
	return p, err
}

func (p *chatPlatforms) deliverers() map[string]runs.Deliverer {
	m := map[string]runs.Deliverer{}
	for _, name := range p.deliverer.Platforms() {
		m[name] = p.deliverer
	}
	return m
}

func (a *app) startChat(ctx context.Context) error {
	p := a.chat
	if len(p.adapters) == 0 {
		return nil
	}
	var err error
	p.router, err = chat.NewRouter(chat.Config{
		Deliverer: p.deliverer, Pool: a.db.pool, Tools: a.registry, Runs: a.runs, Accounts: a.users, Wallets: a.ledger, Logger: a.log,
	})
	if err != nil {
		return err
	}
	if err := p.router.Start(ctx); err != nil {
		return err
	}
	a.onStop("chat router", p.router.Stop)
	return nil
}

// linkFiles tells how results can be reached from outside, once the page is there.
func (p *chatPlatforms) linkFiles(fileURL func(registry.Media, string) string) { p.fileURL = fileURL }

// mount adds the platforms' webhooks to the page's routes.
func (p *chatPlatforms) mount(*http.ServeMux) {}

func (p *chatPlatforms) names() []string { return p.deliverer.Platforms() }
