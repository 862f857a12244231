package main

import (
	"net/http"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/anthropic"
	"github.com/signalbox/signalbox/agent/openai"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/askapi"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// newAsk is the agent over HTTP, with the models that the configuration names. A key alone is not enough: what models
// charge is the operator's, and the key may be there for pictures.
func (a *app) newAsk() (http.Handler, error) {
	models := map[string]agent.Model{}
	if a.cfg.AnthropicModel != "" {
		model, err := anthropic.New(anthropic.Config{Key: a.cfg.AnthropicAPIKey, BaseURL: a.cfg.AnthropicBaseURL, Model: a.cfg.AnthropicModel})
		if err != nil {
			return nil, err
		}
		models[anthropic.Provider] = model
	}
	if a.cfg.OpenAIModel != "" {
		model, err := openai.New(openai.Config{Key: a.cfg.OpenAIAPIKey, BaseURL: a.cfg.OpenAIBaseURL, Model: a.cfg.OpenAIModel})
		if err != nil {
			return nil, err
		}
		models[openai.Provider] = model
	}
	log := a.log.With("component", "agent")
	agents := map[string]*agent.Agent{}
	for name, model := range models {
		agents[name] = agent.New(agent.Config{Registry: a.registry, Runs: a.runs, Model: model, Provider: name, File: a.toldFile, Logger: log})
	}
	first := openai.Provider
	if models[anthropic.Provider] != nil {
		first = anthropic.Provider
	}
	return askapi.Handler(askapi.Config{Agents: agents, Default: first, Users: a.users, Caller: web.Caller, Budget: web.Budget, Logger: log}), nil
}

// toldFile is what a model is told of a stored file: where it is, and by what reference other tools take it.
func (a *app) toldFile(run runs.Run, o runs.Output) any {
	file := map[string]any{"url": a.web.FilePath(run.AccountID, o.Media, o.FileName), "ref": o.Media, "mimeType": o.MIMEType}
	if o.Width > 0 {
		file["width"], file["height"] = o.Width, o.Height
	}
	if o.Type == string(registry.TypeImage) {
		file["imageUrl"] = file["url"]
	}
	if o.Alt != "" {
		file["alt"] = o.Alt
	}
	return file
}
