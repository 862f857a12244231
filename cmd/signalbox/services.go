package main

import (
	"encoding/json"
	"fmt"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/providers/canvas"
	"github.com/signalbox/signalbox/providers/comfydeploy"
	"github.com/signalbox/signalbox/providers/imagegen"
	"github.com/signalbox/signalbox/providers/knowledge"
	mcpservers "github.com/signalbox/signalbox/providers/mcp"
	"github.com/signalbox/signalbox/providers/openapi"
	"github.com/signalbox/signalbox/providers/remote"
	"github.com/signalbox/signalbox/providers/vidu"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// service is where tools come from and who runs them.
type service struct {
	name     string
	loader   registry.Loader // nil: another service's brings its tools
	provider runs.Provider
}

// jobs is a service that works on a run by itself and has its own tools.
func jobs[P interface {
	registry.Loader
	registry.Submitter
}](name string, p P) service {
	return service{name, p, runs.Provider{Submitter: p}}
}

// calls is a service that answers at once and has its own tools.
func calls[P interface {
	registry.Loader
	registry.Caller
}](name string, p P) service {
	return service{name, p, runs.Provider{Caller: p}}
}

// newServices makes the services that the configuration has accounts for: the one visible list of them.
func (a *app) newServices() ([]service, error) {
	c, guard := a.cfg, outbound.NewClient(a.cfg.Allow)
	pictures, err := imagegen.New(imagegen.Config{
		OpenAIKey: c.OpenAIAPIKey, OpenAIURL: c.OpenAIBaseURL, GeminiKey: c.GeminiAPIKey, GeminiURL: c.GeminiBaseURL,
	})
	if err != nil {
		return nil, fmt.Errorf("the image services: %w", err)
	}
	if a.remote, err = a.newRemote(guard); err != nil {
		return nil, err
	}
	site, err := a.content.open()
	if err != nil {
		return nil, fmt.Errorf("the site: %w", err)
	}
	list := []service{calls(imagegen.Service, pictures), calls(remote.Service, a.remote), calls(agent.Service, a.agents.team()), site}
	if a.db != nil {
		if a.knowledge, err = a.newDocuments(guard); err != nil {
			return nil, err
		}
		list = append(list, calls(knowledge.Service, a.knowledge.Provider))
		if a.canvas, err = a.newCanvas(pictures); err != nil {
			return nil, fmt.Errorf("the drawing tools: %w", err)
		}
		list = append(list, calls(canvas.Service, a.canvas))
		list = append(list, jobs(missions.ChainService, missions.NewChains(a.db.Pool, func() *missions.Service { return a.missions })))
	}
	if c.MCPServers != "" {
		servers := a.newMCPServers(guard)
		list = append(list, calls(mcpservers.Service, servers))
	}
	list = append(list, a.newFiles(guard)...)
	if docs := config.List(c.OpenAPIDocs); c.ToolsDir != "" || len(docs) > 0 {
		a.documents = openapi.New(openapi.Config{
			Dir: c.ToolsDir, Documents: docs, Allow: config.List(c.OpenAPIAllow), Store: a.templates,
			Guard: outbound.NewClient(append(openapi.Hosts(docs), c.Allow...)),
		})
		list = append(list, calls(openapi.Service, a.documents))
	}
	if c.ComfyDeployAPIKey != "" {
		deployed, err := comfydeploy.New(comfydeploy.Config{Key: c.ComfyDeployAPIKey, BaseURL: c.ComfyDeployAPIURL, Guard: guard, Logger: a.log})
		if err != nil {
			return nil, err
		}
		list = append(list, jobs(comfydeploy.Service, deployed))
	}
	if c.ViduAPIKey != "" {
		videos, err := vidu.New(vidu.Config{
			Key: c.ViduAPIKey, BaseURL: c.ViduAPIURL, USDPerCredit: json.Number(c.ViduUSDPerCredit),
			Templates: config.List(c.ViduEffects), Upscale: c.ViduUpscale == "on", MediaURL: a.mediaURL, Guard: guard,
		})
		if err != nil {
			return nil, err
		}
		list = append(list, jobs(vidu.Service, videos))
	}
	media, err := a.newMediaServices(guard)
	if err != nil {
		return nil, err
	}
	return append(list, media...), nil
}
