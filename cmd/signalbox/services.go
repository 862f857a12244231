package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/providers/comfydeploy"
	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/providers/imagegen"
	mcpservers "github.com/signalbox/signalbox/providers/mcp"
	"github.com/signalbox/signalbox/providers/openapi"
	"github.com/signalbox/signalbox/providers/remote"
	"github.com/signalbox/signalbox/providers/vidu"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// ServiceSettings are the operator's accounts at services. A service without a key has no tools.
type ServiceSettings struct {
	ToolManifest string `name:"orchestrator-tool-manifest-path" env:"ORCHESTRATOR_TOOL_MANIFEST_PATH" placeholder:"FILE" help:"Remote tools (JSON): manifest, endpoint and staticHeaders of each."`
	MCPServers   string `name:"mcp-servers" env:"MCP_SERVERS" placeholder:"FILE" help:"MCP servers whose tools are offered (JSON, mcpServers)."`

	AnthropicAPIKey  string `env:"ANTHROPIC_API_KEY" placeholder:"KEY" help:"Lets models of Anthropic answer questions with the tools (POST /api/ask)."`
	AnthropicBaseURL string `name:"anthropic-base-url" env:"ANTHROPIC_BASE_URL" default:"https://api.anthropic.com" help:"Anthropic's API, without its version."`
	AnthropicModel   string `env:"ANTHROPIC_MODEL" placeholder:"NAME" help:"Anthropic's model that answers; none: nobody can ask one."`
	OpenAIModel      string `name:"openai-model" env:"OPENAI_MODEL" placeholder:"NAME" help:"OpenAI's model that answers questions with the tools (POST /api/ask); none: nobody can ask one."`

	OpenAIAPIKey  string `name:"openai-api-key" env:"OPENAI_API_KEY" placeholder:"KEY" help:"Makes /imagine draw with OpenAI, and lets its models answer questions."`
	OpenAIBaseURL string `name:"openai-base-url" env:"OPENAI_BASE_URL" default:"https://api.openai.com/v1" help:"OpenAI's API, with its version."`
	GeminiAPIKey  string `env:"GEMINI_API_KEY" placeholder:"KEY" help:"Makes /imagine draw with Google Gemini."`
	GeminiBaseURL string `name:"gemini-base-url" env:"GEMINI_BASE_URL" default:"https://generativelanguage.googleapis.com" help:"Gemini's API."`

	ComfyDeployAPIKey string `name:"comfydeploy-api-key" env:"COMFYDEPLOY_API_KEY" placeholder:"KEY" help:"Makes tools of the workflows deployed at ComfyUI Deploy."`
	ComfyDeployAPIURL string `name:"comfydeploy-api-url" env:"COMFYDEPLOY_API_URL" default:"https://api.comfydeploy.com/api" help:"ComfyUI Deploy's API."`

	ViduAPIKey       string `env:"VIDU_API_KEY" placeholder:"KEY" help:"Makes videos with Vidu."`
	ViduAPIURL       string `name:"vidu-api-url" env:"VIDU_API_URL" default:"https://api.vidu.com/ent/v2" help:"Vidu's API, with its version."`
	ViduUSDPerCredit string `name:"vidu-usd-per-credit" env:"VIDU_USD_PER_CREDIT" default:"0.005" help:"What a credit of the Vidu account costs, US dollars."`
	ViduEffects      string `env:"VIDU_EFFECTS" placeholder:"NAME,..." help:"Vidu's templates to offer as effects."`
	ViduUpscale      string `env:"VIDU_UPSCALE" default:"off" help:"on offers to enlarge videos with Vidu; needs PUBLIC_URL."`

	MediaSettings

	OpenAPIDocs  string `name:"openapi-docs" env:"OPENAPI_DOCS" placeholder:"[NAME=]URL,..." help:"OpenAPI documents whose operations become tools: addresses or files."`
	OpenAPIAllow string `name:"openapi-allow" env:"OPENAPI_ALLOW" placeholder:"ID,..." help:"Operations that are tools in documents that don't say so: operationIds, * for any part."`
}

func (c *Config) checkServices(p *problems) {
	for variable, address := range map[string]string{"ANTHROPIC_BASE_URL": c.AnthropicBaseURL, "OPENAI_BASE_URL": c.OpenAIBaseURL, "GEMINI_BASE_URL": c.GeminiBaseURL, "COMFYDEPLOY_API_URL": c.ComfyDeployAPIURL, "VIDU_API_URL": c.ViduAPIURL} {
		_, ok := httpURL(address)
		p.unless(ok, variable, redactURL(address), "an http:// or https:// address")
	}
	_, err := os.Stat(c.MCPServers)
	p.unless(c.MCPServers == "" || err == nil, "MCP_SERVERS", c.MCPServers, "a file that exists")
	info, err := os.Stat(c.ToolManifest)
	p.unless(err != nil || !info.IsDir(), "ORCHESTRATOR_TOOL_MANIFEST_PATH", c.ToolManifest, "a file")
	for variable, key := range map[string]string{"ANTHROPIC_API_KEY": c.AnthropicAPIKey, "OPENAI_API_KEY": c.OpenAIAPIKey, "GEMINI_API_KEY": c.GeminiAPIKey, "COMFYDEPLOY_API_KEY": c.ComfyDeployAPIKey, "VIDU_API_KEY": c.ViduAPIKey} {
		p.unless(fitsHeader(key), variable, "(hidden)", "a key without spaces, as the service shows it")
	}
	for variable, model := range map[string]struct{ name, key string }{
		"ANTHROPIC_MODEL": {c.AnthropicModel, c.AnthropicAPIKey}, "OPENAI_MODEL": {c.OpenAIModel, c.OpenAIAPIKey},
	} {
		p.unless(fitsHeader(model.name), variable, model.name, "a model's name as the service has it")
		p.unless(!fitsHeader(model.name) || model.name == "" || model.key != "", variable, model.name, "a key of the service beside it, or nothing")
	}
	c.checkPrice(p, "VIDU_USD_PER_CREDIT", c.ViduUSDPerCredit)
	c.checkMedia(p)
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

var effectName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// service is where tools come from and who runs them.
type service struct {
	name     string
	loader   registry.Loader // nil: another service's brings its tools
	provider runs.Provider
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
	list := []service{{imagegen.Service, pictures, pictures}, {remote.Service, a.remote, a.remote}}
	if c.MCPServers != "" {
		servers := a.newMCPServers(guard)
		list = append(list, service{mcpservers.Service, servers, servers})
	}
	if c.ToolsDir != "" {
		files := httptools.New(httptools.Config{Dir: c.ToolsDir, Store: a.templates, Guard: guard, MediaURL: a.mediaURL, Reports: a.reports()})
		list = append(list, service{httptools.Service, files, files.Jobs()}, service{name: httptools.ServiceNow, provider: files.Calls()})
	}
	if docs := splitList(c.OpenAPIDocs); c.ToolsDir != "" || len(docs) > 0 {
		a.documents = openapi.New(openapi.Config{
			Dir: c.ToolsDir, Documents: docs, Allow: splitList(c.OpenAPIAllow), Store: a.templates,
			Guard: outbound.NewClient(append(openapi.Hosts(docs), c.Allow...)),
		})
		list = append(list, service{openapi.Service, a.documents, a.documents})
	}
	if c.ComfyDeployAPIKey != "" {
		deployed, err := comfydeploy.New(comfydeploy.Config{Key: c.ComfyDeployAPIKey, BaseURL: c.ComfyDeployAPIURL, Guard: guard, Logger: a.log})
		if err != nil {
			return nil, err
		}
		list = append(list, service{comfydeploy.Service, deployed, deployed})
	}
	if c.ViduAPIKey != "" {
		videos, err := vidu.New(vidu.Config{
			Key: c.ViduAPIKey, BaseURL: c.ViduAPIURL, USDPerCredit: json.Number(c.ViduUSDPerCredit),
			Templates: splitList(c.ViduEffects), Upscale: c.ViduUpscale == "on", MediaURL: a.mediaURL, Guard: guard,
		})
		if err != nil {
			return nil, err
		}
		list = append(list, service{vidu.Service, videos, videos})
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
