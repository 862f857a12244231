package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/providers/fal"
	"github.com/signalbox/signalbox/providers/photos"
	"github.com/signalbox/signalbox/providers/replicate"
	"github.com/signalbox/signalbox/providers/tripo"
	"github.com/signalbox/signalbox/providers/webtools"
	"github.com/signalbox/signalbox/registry"
)

func (c *Config) checkMedia(p *problems) {
	for variable, address := range map[string]string{
		"TRIPO_API_URL": c.TripoAPIURL, "UNSPLASH_API_URL": c.UnsplashAPIURL, "PEXELS_API_URL": c.PexelsAPIURL,
		"TAVILY_API_URL": c.TavilyAPIURL, "BRAVE_API_URL": c.BraveAPIURL,
		"REPLICATE_API_URL": c.ReplicateAPIURL, "FAL_QUEUE_URL": c.FalQueueURL, "FAL_DOCS_URL": c.FalDocsURL, "FAL_REST_URL": c.FalRESTURL, "FAL_PRICES_URL": c.FalPricesURL,
	} {
		_, ok := httpURL(address)
		p.unless(ok, variable, redactURL(address), "an http:// or https:// address")
	}
	if c.SearxngURL != "" {
		_, ok := httpURL(c.SearxngURL)
		p.unless(ok, "SEARXNG_URL", redactURL(c.SearxngURL), "an http:// or https:// address, or nothing")
	}
	for variable, key := range map[string]string{
		"TRIPO_API_KEY": c.TripoAPIKey, "UNSPLASH_ACCESS_KEY": c.UnsplashAccessKey, "PEXELS_API_KEY": c.PexelsAPIKey,
		"REPLICATE_API_TOKEN": c.ReplicateAPIToken, "FAL_KEY": c.FalKey, "TAVILY_API_KEY": c.TavilyAPIKey, "BRAVE_API_KEY": c.BraveAPIKey,
	} {
		p.unless(fitsHeader(key), variable, "(hidden)", "a key without spaces, as the service shows it")
	}
	c.checkPrice(p, "TRIPO_USD_PER_CREDIT", c.TripoUSDPerCredit)
	for variable, price := range map[string]string{"REPLICATE_USD_PER_SECOND": c.ReplicateUSDPerSecond, "FAL_USD_PER_SECOND": c.FalUSDPerSecond} {
		if price != "" {
			c.checkPrice(p, variable, price)
		}
	}
	if _, err := c.modelPrices(); err != nil {
		p.unless(false, "MODEL_PRICES_FILE", c.ModelPricesFile, "a readable list of prices as JSON: "+err.Error())
	}
	for _, name := range splitList(c.FalModels) {
		p.unless(fal.IsModel(name), "FAL_MODELS", name, "models like owner/name or owner/name/path, separated by commas")
	}
	for _, name := range splitList(c.ReplicateModels) {
		p.unless(replicate.IsModel(name), "REPLICATE_MODELS", name, "models like owner/name or owner/name:version, separated by commas")
	}
}

// modelPrices are those of the file, or those that come with the program.
func (c *Config) modelPrices() (upstream.ModelPrices, error) {
	if c.ModelPricesFile == "" {
		return upstream.DefaultModelPrices()
	}
	data, err := os.ReadFile(c.ModelPricesFile)
	if err != nil {
		return upstream.ModelPrices{}, err
	}
	return upstream.ParseModelPrices(data)
}

func (c *Config) checkPrice(p *problems, variable, price string) {
	_, err := billing.ParseUSD(price)
	p.unless(err == nil && !strings.HasPrefix(price, "-"), variable, price, "a decimal number of US dollars, for example 0.005")
}

// newMediaServices makes those services of MediaSettings that have a key. guard fetches what they made.
func (a *app) newMediaServices(guard *http.Client) ([]service, error) {
	c := a.cfg
	var list []service
	prices, err := c.modelPrices()
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
			Token: c.ReplicateAPIToken, BaseURL: c.ReplicateAPIURL, Models: splitList(c.ReplicateModels), USDPerSecond: json.Number(c.ReplicateUSDPerSecond), Prices: prices,
			MediaURL: a.mediaURL, Guard: guard,
		})
		if err != nil {
			return nil, err
		}
		list = append(list, jobs(replicate.Service, models))
	}
	if c.FalKey != "" {
		models, err := fal.New(fal.Config{
			Key: c.FalKey, QueueURL: c.FalQueueURL, DocsURL: c.FalDocsURL, RestURL: c.FalRESTURL, Models: splitList(c.FalModels),
			USDPerSecond: json.Number(c.FalUSDPerSecond), PricesURL: c.FalPricesURL, Prices: prices, MediaURL: a.mediaURL, Guard: guard,
		})
		if err != nil {
			return nil, err
		}
		list = append(list, jobs(fal.Service, models))
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
