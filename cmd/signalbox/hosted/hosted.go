// Package hosted connects the services of others that the configuration has an account for.
package hosted

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/providers/comfydeploy"
	"github.com/signalbox/signalbox/providers/comfyrouter"
	"github.com/signalbox/signalbox/providers/fal"
	"github.com/signalbox/signalbox/providers/photos"
	"github.com/signalbox/signalbox/providers/replicate"
	"github.com/signalbox/signalbox/providers/tripo"
	"github.com/signalbox/signalbox/providers/vidu"
	"github.com/signalbox/signalbox/providers/webtools"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Service is where tools come from and who runs them.
type Service struct {
	Name     string
	Loader   registry.Loader // nil: another service's brings its tools
	Provider runs.Provider
}

// Jobs is a service that works on a run by itself and has its own tools.
func Jobs[P interface {
	registry.Loader
	registry.Submitter
}](name string, p P) Service {
	return Service{name, p, runs.Provider{Submitter: p}}
}

// Calls is a service that answers at once and has its own tools.
func Calls[P interface {
	registry.Loader
	registry.Caller
}](name string, p P) Service {
	return Service{name, p, runs.Provider{Caller: p}}
}

// House is what the services need of the program.
type House struct {
	Guard      *http.Client // fetches what they made
	Media      photos.Store
	MediaURL   func(ctx context.Context, ref registry.Media) (string, error)
	UploadPath func(owner string, ref registry.Media, name string) string               // the address here of a file that a tool keeps
	Imported   func(ctx context.Context, accountID string, photo photos.Imported) error // is told of each photo that comes to a site
	Logger     *slog.Logger
}

// account adds a service that works on runs by itself to the list, where there is a key for it.
func account[C any, P interface {
	registry.Loader
	registry.Submitter
}](list *[]Service, key, name string, open func(C) (P, error), c C) error {
	if key == "" {
		return nil
	}
	p, err := open(c)
	if err == nil {
		*list = append(*list, Jobs(name, p))
	}
	return err
}

// New makes those services that the configuration has an account for.
func New(c config.Config, h House) ([]Service, error) {
	prices, err := c.ModelPrices()
	if err != nil {
		return nil, err
	}
	var list []Service
	if err := errors.Join(
		account(&list, c.ComfyDeployAPIKey, comfydeploy.Service, comfydeploy.New, comfydeploy.Config{
			Key: c.ComfyDeployAPIKey, BaseURL: c.ComfyDeployAPIURL, Guard: h.Guard, Logger: h.Logger,
		}),
		account(&list, c.ViduAPIKey, vidu.Service, vidu.New, vidu.Config{
			Key: c.ViduAPIKey, BaseURL: c.ViduAPIURL, USDPerCredit: json.Number(c.ViduUSDPerCredit),
			Templates: config.List(c.ViduEffects), Upscale: c.ViduUpscale == "on", MediaURL: h.MediaURL, Guard: h.Guard,
		}),
		account(&list, c.TripoAPIKey, tripo.Service, tripo.New, tripo.Config{
			Key: c.TripoAPIKey, BaseURL: c.TripoAPIURL, USDPerCredit: json.Number(c.TripoUSDPerCredit), Guard: h.Guard,
		}),
		account(&list, c.ReplicateAPIToken, replicate.Service, replicate.New, replicate.Config{
			Token: c.ReplicateAPIToken, BaseURL: c.ReplicateAPIURL, Models: config.List(c.ReplicateModels), USDPerSecond: json.Number(c.ReplicateUSDPerSecond), Prices: prices,
			MediaURL: h.MediaURL, Guard: h.Guard,
		}),
		account(&list, c.FalKey, fal.Service, fal.New, fal.Config{
			Key: c.FalKey, QueueURL: c.FalQueueURL, DocsURL: c.FalDocsURL, RestURL: c.FalRESTURL, Models: config.List(c.FalModels),
			USDPerSecond: json.Number(c.FalUSDPerSecond), PricesURL: c.FalPricesURL, Prices: prices, MediaURL: h.MediaURL, Guard: h.Guard,
		}),
		account(&list, c.ComfyRouterAPIKey, comfyrouter.Service, comfyrouter.New, comfyrouter.Config{
			Key: c.ComfyRouterAPIKey, BaseURL: c.ComfyRouterURL, Models: config.List(c.ComfyRouterModels), USDPerRun: json.Number(c.ComfyRouterRunUSD), Prices: prices,
			MediaURL: h.MediaURL, Guard: h.Guard,
		}),
	); err != nil {
		return nil, err
	}
	found, err := photos.New(photos.Config{
		UnsplashKey: c.UnsplashAccessKey, UnsplashURL: c.UnsplashAPIURL, PexelsKey: c.PexelsAPIKey, PexelsURL: c.PexelsAPIURL,
		Store: h.Media, Link: h.UploadPath, Imported: h.Imported, Guard: h.Guard,
	})
	if err != nil {
		return nil, err
	}
	outside, err := webtools.New(webtools.Config{
		TavilyKey: c.TavilyAPIKey, TavilyURL: c.TavilyAPIURL, BraveKey: c.BraveAPIKey, BraveURL: c.BraveAPIURL, SearxngURL: c.SearxngURL, Guard: h.Guard,
	})
	if err != nil {
		return nil, err
	}
	return append(list, Calls(photos.Service, found), Calls(webtools.Service, outside)), nil
}
