package main

import (
	"encoding/json"
	"net/http"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/providers/comfyrouter"
	"github.com/signalbox/signalbox/providers/fal"
	"github.com/signalbox/signalbox/providers/photos"
	"github.com/signalbox/signalbox/providers/replicate"
	"github.com/signalbox/signalbox/providers/tripo"
	"github.com/signalbox/signalbox/providers/webtools"
	"github.com/signalbox/signalbox/registry"
)

// newMediaServices makes those services of MediaSettings that have a key. guard fetches what they made.
func (a *app) newMediaServices(guard *http.Client) ([]service, error) {
	c := a.cfg
	var list []service
	prices, err := c.ModelPrices()
	if err != nil {
		return nil, err
	}
	if c.TripoAPIKey != "" {
		models, err := tripo.New(tripo.Config{Key: c.TripoAPIKey, BaseURL: c.TripoAPIURL, USDPerCredit: json.Number(c.TripoUSDPerCredit), Guard: guard})
		if err != nil {
			return nil, err
		}
		list = append(list, jobs(tripo.Service, models))
	}
	if c.ReplicateAPIToken != "" {
		models, err := replicate.New(replicate.Config{
			Token: c.ReplicateAPIToken, BaseURL: c.ReplicateAPIURL, Models: config.List(c.ReplicateModels), USDPerSecond: json.Number(c.ReplicateUSDPerSecond), Prices: prices,
			MediaURL: a.mediaURL, Guard: guard,
		})
		if err != nil {
			return nil, err
		}
		list = append(list, jobs(replicate.Service, models))
	}
	if c.FalKey != "" {
		models, err := fal.New(fal.Config{
			Key: c.FalKey, QueueURL: c.FalQueueURL, DocsURL: c.FalDocsURL, RestURL: c.FalRESTURL, Models: config.List(c.FalModels),
			USDPerSecond: json.Number(c.FalUSDPerSecond), PricesURL: c.FalPricesURL, Prices: prices, MediaURL: a.mediaURL, Guard: guard,
		})
		if err != nil {
			return nil, err
		}
		list = append(list, jobs(fal.Service, models))
	}
	if c.ComfyRouterAPIKey != "" {
		models, err := comfyrouter.New(comfyrouter.Config{
			Key: c.ComfyRouterAPIKey, BaseURL: c.ComfyRouterURL, Models: config.List(c.ComfyRouterModels), USDPerRun: json.Number(c.ComfyRouterRunUSD), Prices: prices,
			MediaURL: a.mediaURL, Guard: guard,
		})
		if err != nil {
			return nil, err
		}
		list = append(list, jobs(comfyrouter.Service, models))
	}
	found, err := photos.New(photos.Config{
		UnsplashKey: c.UnsplashAccessKey, UnsplashURL: c.UnsplashAPIURL, PexelsKey: c.PexelsAPIKey, PexelsURL: c.PexelsAPIURL,
		Store: a.media, Link: a.uploadPath, Imported: a.content.imported, Guard: guard,
	})
	if err != nil {
		return nil, err
	}
	outside, err := webtools.New(webtools.Config{
		TavilyKey: c.TavilyAPIKey, TavilyURL: c.TavilyAPIURL, BraveKey: c.BraveAPIKey, BraveURL: c.BraveAPIURL, SearxngURL: c.SearxngURL, Guard: guard,
	})
	if err != nil {
		return nil, err
	}
	return append(list, calls(photos.Service, found), calls(webtools.Service, outside)), nil
}

// uploadPath is the address here of a file that a tool keeps.
func (a *app) uploadPath(owner string, ref registry.Media, name string) string {
	return a.web.UploadPath(owner, ref, name)
}
