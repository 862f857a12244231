// Package asking wires models that answer questions: which there are, what they cost, and who pays.
package asking

import (
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/anthropic"
	"github.com/signalbox/signalbox/agent/openai"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/settings"
)

// The values of ASK_PAID_BY.
const (
	ByAsker = "asker"
	ByHouse = "house"
)

// Model is a model with the name of its service.
type Model struct {
	Provider string
	agent.Model
}

// Models makes the models that the settings name, in the order in which they are asked, each with its rate.
func Models(s settings.ServiceSettings, rates billing.ModelRates) ([]Model, error) {
	var models []Model
	for _, name := range split(s.AnthropicModel) {
		model, err := anthropic.New(anthropic.Config{Key: s.AnthropicAPIKey, BaseURL: s.AnthropicBaseURL, Model: name})
		if err != nil {
			return nil, err
		}
		models = append(models, Model{anthropic.Provider, agent.NewPriced(model, name, rates)})
	}
	for _, name := range split(s.OpenAIModel) {
		model, err := openai.New(openai.Config{Key: s.OpenAIAPIKey, BaseURL: s.OpenAIBaseURL, Model: name})
		if err != nil {
			return nil, err
		}
		models = append(models, Model{openai.Provider, agent.NewPriced(model, name, rates)})
	}
	return models, nil
}

// Rates are what tokens cost: the bundled rates, and over them those of a file such as MODEL_RATES_FILE names; empty: none.
func Rates(file string) (billing.ModelRates, error) {
	rates := billing.DefaultModelRates()
	if file == "" {
		return rates, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return rates, err
	}
	own, err := billing.ParseModelRates(data)
	if err != nil {
		return rates, err
	}
	return rates.With(own), nil
}

// WarnOfUnpriced tells the operator, who pays for them, of models of services with a key that have no rate.
func WarnOfUnpriced(s settings.ServiceSettings, rates billing.ModelRates, log *slog.Logger) {
	hosted := split(s.AnthropicModel)
	if s.OpenAIAPIKey != "" {
		hosted = append(hosted, split(s.OpenAIModel)...)
	}
	for _, name := range hosted {
		if _, ok := rates.Rate(name, time.Now()); !ok {
			log.Warn("no rate is known for a model: nobody who asks pays for it; name its price in MODEL_RATES_FILE", "model", name)
		}
	}
}

// split reads a list of names separated by commas.
func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
