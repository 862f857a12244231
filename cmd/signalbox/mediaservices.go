package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/providers/fal"
	"github.com/signalbox/signalbox/providers/photos"
	"github.com/signalbox/signalbox/providers/replicate"
	"github.com/signalbox/signalbox/providers/tripo"
	"github.com/signalbox/signalbox/providers/upstream"
	"github.com/signalbox/signalbox/registry"
)

// MediaSettings are the operator's accounts at services that make or have pictures, videos and models, with those of
// ServiceSettings.
type MediaSettings struct {
	TripoAPIKey       string `env:"TRIPO_API_KEY" placeholder:"KEY" help:"Makes 3D models with Tripo."`
	TripoAPIURL       string `name:"tripo-api-url" env:"TRIPO_API_URL" default:"https://api.tripo3d.ai/v2/openapi" help:"Tripo's API, with its version."`
	TripoUSDPerCredit string `name:"tripo-usd-per-credit" env:"TRIPO_USD_PER_CREDIT" default:"0.01" help:"What a credit of the Tripo account costs, US dollars."`

	UnsplashAccessKey string `env:"UNSPLASH_ACCESS_KEY" placeholder:"KEY" help:"Finds and imports photos of Unsplash."`
	UnsplashAPIURL    string `name:"unsplash-api-url" env:"UNSPLASH_API_URL" default:"https://api.unsplash.com" help:"Unsplash's API."`
	PexelsAPIKey      string `env:"PEXELS_API_KEY" placeholder:"KEY" help:"Finds and imports photos of Pexels."`
	PexelsAPIURL      string `name:"pexels-api-url" env:"PEXELS_API_URL" default:"https://api.pexels.com/v1" help:"Pexels' API, with its version."`

	ReplicateAPIToken     string `name:"replicate-api-token" env:"REPLICATE_API_TOKEN" placeholder:"TOKEN" help:"Runs models at Replicate."`
	ReplicateAPIURL       string `name:"replicate-api-url" env:"REPLICATE_API_URL" default:"https://api.replicate.com/v1" help:"Replicate's API, with its version."`
	ReplicateModels       string `env:"REPLICATE_MODELS" placeholder:"OWNER/NAME,..." help:"The models at Replicate that become tools: owner/name, or owner/name:version."`
	ReplicateUSDPerSecond string `name:"replicate-usd-per-second" env:"REPLICATE_USD_PER_SECOND" placeholder:"USD" help:"What a second of work at Replicate costs, US dollars, of models without a price. Empty: these can't be used."`

	FalKey          string `env:"FAL_KEY" placeholder:"KEY" help:"Runs models at fal.ai."`
	FalQueueURL     string `name:"fal-queue-url" env:"FAL_QUEUE_URL" default:"https://queue.fal.run" help:"fal.ai's queue."`
	FalDocsURL      string `name:"fal-docs-url" env:"FAL_DOCS_URL" default:"https://fal.ai" help:"Where fal.ai describes its models."`
	FalRESTURL      string `name:"fal-rest-url" env:"FAL_REST_URL" default:"https://rest.fal.ai" help:"Where fal.ai has the keys of its webhooks."`
	FalModels       string `env:"FAL_MODELS" placeholder:"OWNER/NAME,..." help:"The models at fal.ai that become tools: owner/name, perhaps with a path."`
	FalUSDPerSecond string `name:"fal-usd-per-second" env:"FAL_USD_PER_SECOND" placeholder:"USD" help:"What a second of work at fal.ai costs, US dollars, of models without a price. Empty: these can't be used."`
	FalPricesURL    string `name:"fal-prices-url" env:"FAL_PRICES_URL" default:"https://api.fal.ai" help:"Where fal.ai tells the prices of models."`
	ModelPricesFile string `env:"MODEL_PRICES_FILE" placeholder:"FILE" help:"What hosted models cost, as JSON."`
}

func (c *Config) checkMedia(p *problems) {
	for variable, address := range map[string]string{
		"TRIPO_API_URL": c.TripoAPIURL, "UNSPLASH_API_URL": c.UnsplashAPIURL, "PEXELS_API_URL": c.PexelsAPIURL,
		"REPLICATE_API_URL": c.ReplicateAPIURL, "FAL_QUEUE_URL": c.FalQueueURL, "FAL_DOCS_URL": c.FalDocsURL, "FAL_REST_URL": c.FalRESTURL, "FAL_PRICES_URL": c.FalPricesURL,
	} {
		_, ok := httpURL(address)
		p.unless(ok, variable, redactURL(address), "an http:// or https:// address")
	}
	for variable, key := range map[string]string{
		"TRIPO_API_KEY": c.TripoAPIKey, "UNSPLASH_ACCESS_KEY": c.UnsplashAccessKey, "PEXELS_API_KEY": c.PexelsAPIKey,
		"REPLICATE_API_TOKEN": c.ReplicateAPIToken, "FAL_KEY": c.FalKey,
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
		list = append(list, service{tripo.Service, models, models})
	}
	if c.ReplicateAPIToken != "" {
		models, err := replicate.New(replicate.Config{
			Token: c.ReplicateAPIToken, BaseURL: c.ReplicateAPIURL, Models: splitList(c.ReplicateModels), USDPerSecond: json.Number(c.ReplicateUSDPerSecond), Prices: prices,
			MediaURL: a.mediaURL, Guard: guard,
		})
		if err != nil {
			return nil, err
		}
		list = append(list, service{replicate.Service, models, models})
	}
	if c.FalKey != "" {
		models, err := fal.New(fal.Config{
			Key: c.FalKey, QueueURL: c.FalQueueURL, DocsURL: c.FalDocsURL, RestURL: c.FalRESTURL, Models: splitList(c.FalModels),
			USDPerSecond: json.Number(c.FalUSDPerSecond), PricesURL: c.FalPricesURL, Prices: prices, MediaURL: a.mediaURL, Guard: guard,
		})
		if err != nil {
			return nil, err
		}
		list = append(list, service{fal.Service, models, models})
	}
	found, err := photos.New(photos.Config{
		UnsplashKey: c.UnsplashAccessKey, UnsplashURL: c.UnsplashAPIURL, PexelsKey: c.PexelsAPIKey, PexelsURL: c.PexelsAPIURL,
		Store: a.media, Link: a.uploadPath, Guard: guard,
	})
	if err != nil {
		return nil, err
	}
	return append(list, service{photos.Service, found, found}), nil
}

// uploadPath is the address here of a file that a tool keeps.
func (a *app) uploadPath(owner string, ref registry.Media, name string) string {
	return a.web.UploadPath(owner, ref, name)
}
