package config

import (
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/providers/comfyrouter"
	"github.com/signalbox/signalbox/providers/fal"
	"github.com/signalbox/signalbox/providers/openapi"
	"github.com/signalbox/signalbox/providers/replicate"
)

func (c *Config) checkServices(p *problems) {
	for variable, address := range map[string]string{"ANTHROPIC_BASE_URL": c.AnthropicBaseURL, "OPENAI_BASE_URL": c.OpenAIBaseURL, "GEMINI_BASE_URL": c.GeminiBaseURL, "COMFYDEPLOY_API_URL": c.ComfyDeployAPIURL, "VIDU_API_URL": c.ViduAPIURL} {
		_, ok := HTTPURL(address)
		p.unless(ok, variable, Redact(address), "an http:// or https:// address")
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
	for _, name := range List(c.ViduEffects) {
		p.unless(effectName.MatchString(name), "VIDU_EFFECTS", name, "names of Vidu's templates, separated by commas")
	}
	for _, entry := range List(c.OpenAPIDocs) {
		p.unless(openapi.IsDocument(entry), "OPENAPI_DOCS", Redact(entry), "addresses or files that exist, each perhaps with NAME= before it, separated by commas")
	}
	for _, entry := range List(c.OpenAPIAllow) {
		p.unless(openapi.IsPattern(entry), "OPENAPI_ALLOW", entry, "operationIds, separated by commas; * stands for any part")
	}
	p.unless(OneOf(c.ViduUpscale, "on", "off"), "VIDU_UPSCALE", c.ViduUpscale, "on or off")
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
		for _, name := range List(model.names) {
			ok = ok && fitsHeader(name)
		}
		p.unless(ok, variable, model.names, "names of models as the service has them, separated by commas")
		p.unless(!ok || model.names == "" || !model.keyless, variable, model.names, "a key of the service beside it, or nothing")
	}
	if _, err := c.ToolGuidance(); err != nil {
		p.unless(false, "TOOL_GUIDANCE_FILE", c.ToolGuidanceFile, "a readable file of hints as JSON: "+err.Error())
	}
}

// openAIAddress is where OpenAI itself is.
const openAIAddress = "https://api.openai.com/v1"

var effectName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (c *Config) checkMedia(p *problems) {
	for variable, address := range map[string]string{
		"TRIPO_API_URL": c.TripoAPIURL, "UNSPLASH_API_URL": c.UnsplashAPIURL, "PEXELS_API_URL": c.PexelsAPIURL,
		"TAVILY_API_URL": c.TavilyAPIURL, "BRAVE_API_URL": c.BraveAPIURL,
		"REPLICATE_API_URL": c.ReplicateAPIURL, "FAL_QUEUE_URL": c.FalQueueURL, "FAL_DOCS_URL": c.FalDocsURL, "FAL_REST_URL": c.FalRESTURL, "FAL_PRICES_URL": c.FalPricesURL, "COMFY_ROUTER_URL": c.ComfyRouterURL,
	} {
		_, ok := HTTPURL(address)
		p.unless(ok, variable, Redact(address), "an http:// or https:// address")
	}
	if c.SearxngURL != "" {
		_, ok := HTTPURL(c.SearxngURL)
		p.unless(ok, "SEARXNG_URL", Redact(c.SearxngURL), "an http:// or https:// address, or nothing")
	}
	for variable, key := range map[string]string{
		"TRIPO_API_KEY": c.TripoAPIKey, "UNSPLASH_ACCESS_KEY": c.UnsplashAccessKey, "PEXELS_API_KEY": c.PexelsAPIKey,
		"REPLICATE_API_TOKEN": c.ReplicateAPIToken, "FAL_KEY": c.FalKey, "TAVILY_API_KEY": c.TavilyAPIKey, "BRAVE_API_KEY": c.BraveAPIKey,
		"COMFY_ROUTER_API_KEY": c.ComfyRouterAPIKey,
	} {
		p.unless(fitsHeader(key), variable, "(hidden)", "a key without spaces, as the service shows it")
	}
	c.checkPrice(p, "TRIPO_USD_PER_CREDIT", c.TripoUSDPerCredit)
	c.checkPrice(p, "COMFY_ROUTER_RUN_USD", c.ComfyRouterRunUSD)
	for variable, price := range map[string]string{"REPLICATE_USD_PER_SECOND": c.ReplicateUSDPerSecond, "FAL_USD_PER_SECOND": c.FalUSDPerSecond} {
		if price != "" {
			c.checkPrice(p, variable, price)
		}
	}
	if _, err := c.ModelPrices(); err != nil {
		p.unless(false, "MODEL_PRICES_FILE", c.ModelPricesFile, "a readable list of prices as JSON: "+err.Error())
	}
	for _, name := range List(c.FalModels) {
		p.unless(fal.IsModel(name), "FAL_MODELS", name, "models like owner/name or owner/name/path, separated by commas")
	}
	for _, name := range List(c.ComfyRouterModels) {
		p.unless(comfyrouter.IsPattern(name), "COMFY_ROUTER_MODELS", name, "models like owner/name, owner/* or *, separated by commas")
	}
	for _, name := range List(c.ReplicateModels) {
		p.unless(replicate.IsModel(name), "REPLICATE_MODELS", name, "models like owner/name or owner/name:version, separated by commas")
	}
}

func (c *Config) checkPrice(p *problems, variable, price string) {
	_, err := billing.ParseUSD(price)
	p.unless(err == nil && !strings.HasPrefix(price, "-"), variable, price, "a decimal number of US dollars, for example 0.005")
}

// BundledKeys are the secrets of the services that come as data, by the names that their files have for them.
func (c *Config) BundledKeys() map[string]string {
	return map[string]string{
		"BFL_API_KEY": c.BFLAPIKey, "RUNWAY_API_KEY": c.RunwayAPIKey, "LUMA_API_KEY": c.LumaAPIKey, "KLING_ACCESS_KEY": c.KlingAccessKey, "KLING_SECRET_KEY": c.KlingSecretKey,
		"ARK_API_KEY": c.ArkAPIKey, "GEMINI_API_KEY": c.GeminiAPIKey, "IDEOGRAM_API_KEY": c.IdeogramAPIKey, "RECRAFT_API_KEY": c.RecraftAPIKey,
		"STABILITY_API_KEY": c.StabilityAPIKey, "ELEVENLABS_API_KEY": c.ElevenLabsAPIKey, "MINIMAX_API_KEY": c.MiniMaxAPIKey,
	}
}

func (c *Config) checkBundled(p *problems) {
	for variable, key := range c.BundledKeys() {
		p.unless(fitsHeader(key), variable, "(hidden)", "a key without spaces, as the service shows it")
	}
}

func (c *Config) checkKnowledge(p *problems) {
	if c.KnowledgeDir != "" {
		info, err := os.Stat(c.KnowledgeDir)
		p.unless(err == nil && info.IsDir(), "KNOWLEDGE_DIR", c.KnowledgeDir, "a folder that exists")
	}
	for _, file := range List(c.KnowledgeFiles) {
		info, err := os.Stat(file)
		p.unless(err == nil && info.Mode().IsRegular(), "KNOWLEDGE_FILES", file, "files that signalbox knowledge build wrote, separated by commas")
	}
	if c.EmbeddingsURL != "" {
		_, ok := HTTPURL(c.EmbeddingsURL)
		p.unless(ok, "EMBEDDINGS_URL", Redact(c.EmbeddingsURL), "an http:// or https:// address, such as http://127.0.0.1:11434/v1")
		p.unless(!ok || c.EmbeddingsModel != "", "EMBEDDINGS_MODEL", "", "the name of a model, beside EMBEDDINGS_URL")
	}
	p.unless(c.EmbeddingsModel == "" || c.EmbeddingsURL != "", "EMBEDDINGS_MODEL", c.EmbeddingsModel, "EMBEDDINGS_URL beside it, or nothing")
	p.unless(fitsHeader(c.EmbeddingsAPIKey), "EMBEDDINGS_API_KEY", "(hidden)", "a key without spaces, as the service shows it")
}

func (c *Config) checkContent(p *problems) {
	info, err := os.Stat(c.ContentDir)
	p.unless(c.ContentDir == "" || err == nil && info.IsDir(), "CONTENT_DIR", c.ContentDir, "a folder that exists")
	c.SeenPerDay, err = strconv.Atoi(c.SiteSeen)
	p.unless(err == nil && c.SeenPerDay >= 0, "SITE_DESCRIPTIONS_PER_DAY", c.SiteSeen, "a whole number of pictures, 0 for none")
	u, ok := HTTPURL("http://" + c.SiteHost)
	p.unless(c.SiteHost == "" || ok && u.Path == "" && u.Host == c.SiteHost, "SITE_HOST", c.SiteHost, "a host, perhaps with a port, such as www.example.com")
	p.unless(c.SiteHost == "" || c.Public == nil || !strings.EqualFold(c.SiteHost, c.Public.Host), "SITE_HOST", c.SiteHost, "another host than that of PUBLIC_URL")
}
