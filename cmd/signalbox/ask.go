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
func (a *app) newAsk() (ask, forget http.Handler, err error) {
	agents, err := a.newAgents()
	if err != nil {
		return nil, nil, err
	}
	first := openai.Provider
	if agents[anthropic.Provider] != nil {
		first = anthropic.Provider
	}
	cfg := askapi.Config{
		Agents: agents, Default: first, Users: a.users, Caller: web.Caller, Budget: web.Budget, ByAgent: web.ByAgent,
		Conversations: a.conversations, Logger: a.log.With("component", "agent"),
	}
	return askapi.Handler(cfg), askapi.ForgetHandler(cfg), nil
}

// newAgents makes an agent for each service of models, and, under no name, one that asks all models in their order: the
// next one when one is in trouble.
func (a *app) newAgents() (map[string]*agent.Agent, error) {
	models, err := a.newModels()
	if err != nil || len(models) == 0 {
		return nil, err
	}
	guidance, err := agent.DefaultGuidance()
	if err != nil {
		return nil, err
	}
	agents := map[string]*agent.Agent{}
	add := func(name, provider string, models ...agent.Model) {
		agents[name] = agent.New(agent.Config{
			Registry: a.registry, Runs: a.runs, Model: agent.NewReliable(agent.Patience{}, models...), Provider: provider, File: a.toldFile,
			Guidance: func() agent.Guidance { return guidance }, Memory: a.conversations, Account: a.conversations, Logger: a.log.With("component", "agent"),
		})
	}
	var all []agent.Model
	of := map[string][]agent.Model{}
	for _, m := range models {
		of[m.provider], all = append(of[m.provider], m.model), append(all, m.model)
	}
	for provider, own := range of {
		add(provider, provider, own...)
	}
	add("", models[0].provider, all...)
	return agents, nil
}

// namedModel is a model with the name of its service.
type namedModel struct {
	provider string
	model    agent.Model
}

// newModels makes the models that the configuration names, in the order in which they are asked.
func (a *app) newModels() ([]namedModel, error) {
	var models []namedModel
	for _, name := range splitList(a.cfg.AnthropicModel) {
		model, err := anthropic.New(anthropic.Config{Key: a.cfg.AnthropicAPIKey, BaseURL: a.cfg.AnthropicBaseURL, Model: name})
		if err != nil {
			return nil, err
		}
		models = append(models, namedModel{anthropic.Provider, model})
	}
	for _, name := range splitList(a.cfg.OpenAIModel) {
		model, err := openai.New(openai.Config{Key: a.cfg.OpenAIAPIKey, BaseURL: a.cfg.OpenAIBaseURL, Model: name})
		if err != nil {
			return nil, err
		}
		models = append(models, namedModel{openai.Provider, model})
	}
	return models, nil
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
