package main

import (
	"fmt"

	"github.com/signalbox/signalbox/providers/imagegen"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// ServiceSettings are the operator's accounts at services. A service without a key has no tools.
type ServiceSettings struct {
	OpenAIAPIKey  string `name:"openai-api-key" env:"OPENAI_API_KEY" placeholder:"KEY" help:"Makes /imagine draw with OpenAI."`
	OpenAIBaseURL string `name:"openai-base-url" env:"OPENAI_BASE_URL" default:"https://api.openai.com/v1" help:"OpenAI's API, with its version."`
	GeminiAPIKey  string `env:"GEMINI_API_KEY" placeholder:"KEY" help:"Makes /imagine draw with Google Gemini."`
	GeminiBaseURL string `name:"gemini-base-url" env:"GEMINI_BASE_URL" default:"https://generativelanguage.googleapis.com" help:"Gemini's API."`
}

func (s ServiceSettings) check(p *problems) {
	for variable, address := range map[string]string{"OPENAI_BASE_URL": s.OpenAIBaseURL, "GEMINI_BASE_URL": s.GeminiBaseURL} {
		_, ok := httpURL(address)
		p.unless(ok, variable, redactURL(address), "an http:// or https:// address")
	}
	for variable, key := range map[string]string{"OPENAI_API_KEY": s.OpenAIAPIKey, "GEMINI_API_KEY": s.GeminiAPIKey} {
		p.unless(fitsHeader(key), variable, "(hidden)", "a key without spaces, as the service shows it")
	}
}

// service is where tools come from and who runs them.
type service struct {
	name     string
	loader   registry.Loader
	provider runs.Provider
}

// newServices makes the services that the configuration has accounts for: the one visible list of them.
func newServices(c Config) ([]service, error) {
	pictures, err := imagegen.New(imagegen.Config{
		OpenAIKey: c.OpenAIAPIKey, OpenAIURL: c.OpenAIBaseURL, GeminiKey: c.GeminiAPIKey, GeminiURL: c.GeminiBaseURL,
	})
	if err != nil {
		return nil, fmt.Errorf("the image services: %w", err)
	}
	return []service{{imagegen.Service, pictures, pictures}}, nil
}
