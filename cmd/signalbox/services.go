package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/signalbox/signalbox/agent"
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

func (c *Config) checkServices(p *problems) {
	for variable, address := range map[string]string{"ANTHROPIC_BASE_URL": c.AnthropicBaseURL, "OPENAI_BASE_URL": c.OpenAIBaseURL, "GEMINI_BASE_URL": c.GeminiBaseURL, "COMFYDEPLOY_API_URL": c.ComfyDeployAPIURL, "VIDU_API_URL": c.ViduAPIURL} {
		_, ok := httpURL(address)
		p.unless(ok, variable, redactURL(address), "an http:// or https:// address")
	}
	_, err := os.Stat(c.MCPServers)
	p.unless(c.MCPServers == "" || err == nil, "MCP_SERVERS", c.MCPServers, "a file that exists")
	info, err := os.Stat(c.ToolManifest)
	p.unless(err != nil || !info.IsDir(), "ORCHESTRATOR_TOOL_MANIFEST_PATH", c.ToolManifest, "a file")
	for variable, key := range map[string]string{"ANTHROPIC_API_KEY": c.AnthropicAPIKey, "OPENAI_API_KEY": c.OpenAIAPIKey, "COMFYDEPLOY_API_KEY": c.ComfyDeployAPIKey, "VIDU_API_KEY": c.ViduAPIKey} {
		p.unless(fitsHeader(key), variable, "(hidden)", "a key without spaces, as the service shows it")
	}
	c.checkModels(p)
	c.checkPrice(p, "VIDU_USD_PER_CREDIT", c.ViduUSDPerCredit)
	c.checkMedia(p)
	c.checkBundled(p)
	for _, name := range splitList(c.ViduEffects) {
		p.unless(effectName.MatchString(name), "VIDU_EFFECTS", name, "names of Vidu's templates, separated by commas")
	}
	for _, entry := range splitList(c.OpenAPIDocs) {
		p.unless(openapi.IsDocument(entry), "OPENAPI_DOCS", redactURL(entry), "addresses or files that exist, each perhaps with NAME= before it, separated by commas")
	}
	for _, entry := range splitList(c.OpenAPIAllow) {
		p.unless(openapi.IsPattern(entry), "OPENAPI_ALLOW", entry, "operationIds, separated by commas; * stands for any part")
	}
	p.unless(oneOf(c.ViduUpscale, "on", "off"), "VIDU_UPSCALE", c.ViduUpscale, "on or off")
	p.unless(c.ViduUpscale != "on" || c.PublicURL != "", "VIDU_UPSCALE", c.ViduUpscale, "off, or a PUBLIC_URL from which Vidu can fetch videos")
}

// checkModels wants a key beside each model, but for those of a server that is merely compatible with OpenAI.
func (c *Config) checkModels(p *problems) {
	for variable, model := range map[string]struct {
		names   string
		keyless bool
	}{
		"ANTHROPIC_MODEL": {c.AnthropicModel, c.AnthropicAPIKey == ""},
		"OPENAI_MODEL":    {c.OpenAIModel, c.OpenAIAPIKey == "" && c.OpenAIBaseURL == openAIAddress},
	} {
		ok := true
		for _, name := range splitList(model.names) {
			ok = ok && fitsHeader(name)
		}
		p.unless(ok, variable, model.names, "names of models as the service has them, separated by commas")
		p.unless(!ok || model.names == "" || !model.keyless, variable, model.names, "a key of the service beside it, or nothing")
	}
	if _, err := c.toolGuidance(); err != nil {
		p.unless(false, "TOOL_GUIDANCE_FILE", c.ToolGuidanceFile, "a readable file of hints as JSON: "+err.Error())
	}
}

// openAIAddress is where OpenAI itself is.
const openAIAddress = "https://api.openai.com/v1"

var effectName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

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
		list = append(list, jobs(missions.ChainService, missions.NewChains(a.db.pool, func() *missions.Service { return a.missions })))
	}
	if c.MCPServers != "" {
		servers := a.newMCPServers(guard)
		list = append(list, calls(mcpservers.Service, servers))
	}
	list = append(list, a.newFiles(guard)...)
	if docs := splitList(c.OpenAPIDocs); c.ToolsDir != "" || len(docs) > 0 {
		a.documents = openapi.New(openapi.Config{
			Dir: c.ToolsDir, Documents: docs, Allow: splitList(c.OpenAPIAllow), Store: a.templates,
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
			Templates: splitList(c.ViduEffects), Upscale: c.ViduUpscale == "on", MediaURL: a.mediaURL, Guard: guard,
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

// mediaURL is an address from which a service can fetch a stored file.
func (a *app) mediaURL(_ context.Context, ref registry.Media) (string, error) {
	if address := a.web.FileURL("", ref, ""); address != "" {
		return address, nil
	}
	return "", errors.New("there is no PUBLIC_URL from which it could be fetched")
}
