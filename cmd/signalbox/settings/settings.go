// Package settings lists what the environment and the flags say.
package settings

// Settings are what the environment and the flags say, as text, unchecked. Every flag has its variable; the flag wins. The tags are what `signalbox help settings` and docs/configuration.md are drawn from.
type Settings struct {
	HouseSettings   `group:"The house"`
	StoreSettings   `group:"Files in an object store"`
	ToolSettings    `group:"Tools and engines"`
	MoneySettings   `group:"Money"`
	PeopleSettings  `group:"People"`
	ContentSettings `group:"The site"`
	ChatSettings    `group:"Telegram and Discord"`
	ServiceSettings `group:"Accounts at services"`
	BundledSettings `group:"Accounts at services"`
}

// HouseSettings are where the house lives and who reaches it.
type HouseSettings struct {
	DatabaseURL        string `env:"DATABASE_URL" placeholder:"URL" help:"Postgres to use, 14 or newer. Empty: the own one under DATA_DIR."`
	DatabaseSessionURL string `name:"database-session-url" env:"DATABASE_SESSION_URL" placeholder:"URL" help:"Where connections are sessions of Postgres, if DATABASE_URL is a pooler such as PgBouncer in transaction mode: locks, news and migrations go there. Empty: DATABASE_URL."`
	DataDir            string `env:"DATA_DIR" default:"${data_dir}" help:"Folder of the own Postgres and of all files."`
	HouseKey           string `env:"HOUSE_KEY" placeholder:"HEX" help:"The key that signs addresses and encrypts secrets, the same for all processes on one DATABASE_URL, as hex: openssl rand -hex 32. Empty: it is in DATA_DIR/link.key, which the first start makes."`
	PostgresMirrorURL  string `env:"POSTGRES_MIRROR_URL" placeholder:"URL" help:"Mirror of the public Postgres builds, for machines without Postgres."`
	ListenAddr         string `env:"LISTEN_ADDR" default:"127.0.0.1:8080" help:"Where the page and the API listen."`
	PublicURL          string `env:"PUBLIC_URL" placeholder:"URL" help:"Address under which the world reaches the page, such as https://bot.example: switches webhooks and signing in on, and limits for accounts."`
	AdminToken         string `env:"ADMIN_TOKEN" placeholder:"SECRET" help:"Signs the operator in, on the page and in the API, where it makes accounts, keys and invitations. Where it is set, nobody is the operator without it."`
	TrustedProxies     string `env:"TRUSTED_PROXIES" placeholder:"ADDRESS,..." help:"Addresses or CIDRs of the proxies in front, such as 127.0.0.1,10.0.0.0/8: what their X-Forwarded-For says is where people come from, by which guesses at keys and codes are limited. Empty: nobody is believed."`
	MetricsAddr        string `env:"METRICS_ADDR" placeholder:"HOST:PORT" help:"Serves /metrics at an address of its own, such as 127.0.0.1:9100, to anyone who reaches it, and not beside the page."`
	MetricsToken       string `env:"METRICS_TOKEN" placeholder:"SECRET" help:"Opens /metrics, as ADMIN_TOKEN does. Without PUBLIC_URL and this it is open."`
	OutboundAllow      string `env:"OUTBOUND_ALLOW" placeholder:"HOST,..." help:"Inner hosts, host:port or CIDRs that fetched inputs may come from and messages to programs may go to."`
	LogLevel           string `env:"LOG_LEVEL" default:"info" help:"debug, info, warn or error."`
	LogFormat          string `env:"LOG_FORMAT" default:"text" help:"text or json."`
}

// StoreSettings are where files are kept, if not in DATA_DIR.
type StoreSettings struct {
	S3Endpoint        string `name:"s3-endpoint" env:"S3_ENDPOINT" placeholder:"URL" help:"An object store that speaks S3, such as https://s3.eu-central-1.amazonaws.com: keeps all files, for several machines. Empty: they are in DATA_DIR. signalbox files move brings them from one to the other."`
	S3PublicEndpoint  string `name:"s3-public-endpoint" env:"S3_PUBLIC_ENDPOINT" placeholder:"URL" help:"Where browsers reach the object store: large files come straight from there, by signed addresses. Empty: they come through the program."`
	S3Bucket          string `name:"s3-bucket" env:"S3_BUCKET" placeholder:"NAME" help:"The bucket."`
	S3Region          string `name:"s3-region" env:"S3_REGION" default:"us-east-1" help:"Its region."`
	S3AccessKeyID     string `name:"s3-access-key-id" env:"S3_ACCESS_KEY_ID" placeholder:"ID" help:"A key that may read, write and delete in the bucket."`
	S3SecretAccessKey string `name:"s3-secret-access-key" env:"S3_SECRET_ACCESS_KEY" placeholder:"SECRET" help:"Its other half."`
}

// ToolSettings are where tools come from and where ComfyUI runs them.
type ToolSettings struct {
	WorkflowsDir      string `env:"WORKFLOWS_DIR" default:"./workflows" help:"Folder of ComfyUI workflows, watched for changes. The bundled ones are always there."`
	ToolsDir          string `env:"TOOLS_DIR" placeholder:"DIR" help:"Folder of tools as data, watched for changes: tools over HTTP (*.tool.yaml, see docs/providers.md), OpenAPI documents (*.openapi.yaml), definitions (*.json)."`
	ComfyUIURLs       string `name:"comfyui-urls" env:"COMFYUI_URLS" placeholder:"URL,..." help:"ComfyUI servers, such as http://gpu1:8188,http://gpu2:8188. Tags that workflows can ask for come behind: http://gpu1:8188#gpu=4090&room=cellar, what a second there costs: rate=0.0004, and for whom a server is: only=tool:paint, only=group:ID. wake=URL is called while the server sleeps and a run waits for it. Empty: the embedded CPU engine."`
	ComfyUIHeaders    string `name:"comfyui-headers-file" env:"COMFYUI_HEADERS_FILE" placeholder:"FILE" help:"Headers for ComfyUI servers behind a door, and for addresses that wake them, by address, as JSON: {\"https://gpu.example/comfy\": {\"Authorization\": \"Bearer ...\"}}. Name and password go into COMFYUI_URLS: https://name:password@gpu.example."`
	ComfyUIServerless string `name:"comfyui-serverless-file" env:"COMFYUI_SERVERLESS_FILE" placeholder:"FILE" help:"Serverless endpoints (RunPod with worker-comfyui) that get runs for which no ComfyUI server has a place, as JSON: [{\"endpoint\": \"https://api.runpod.ai/v2/abc123\", \"key\": \"...\", \"objectInfo\": \"object_info.json\", \"gpu\": \"NVIDIA L4\", \"atOnce\": 3}]."`
	ComfyOrgAPIKey    string `name:"comfy-org-api-key" env:"COMFY_ORG_API_KEY" placeholder:"KEY" help:"A key of Comfy's platform, which pays for nodes that call partners' services. It goes along with workflows that have such nodes."`
	ComfyUIGoneAfter  string `name:"comfyui-gone-after" env:"COMFYUI_GONE_AFTER" default:"30s" help:"How long a ComfyUI server may be down before its runs go to another one."`
	ComfyUIWakeFor    string `name:"comfyui-wake-for" env:"COMFYUI_WAKE_FOR" default:"10m" help:"How long a ComfyUI server with wake= behind its address may take to wake before it is given up, and runs that only it could take end."`
	FleetHook         string `name:"fleet-hook" env:"FLEET_HOOK" placeholder:"URL or FILE" help:"What is told when the ComfyUI servers have too much or nothing to do, to start and stop machines: an address that gets signed messages, or a program that reads them, see docs/comfyui.md."`
	FleetHookSecret   string `name:"fleet-hook-secret" env:"FLEET_HOOK_SECRET" placeholder:"SECRET" help:"Signs the messages to an address in FLEET_HOOK: whsec_ and 24 to 64 bytes in base64."`
	FleetBusyRuns     string `name:"fleet-busy-at" env:"FLEET_BUSY_AT" default:"4" help:"How many runs have to wait for each server that takes runs, for it to be too much."`
	FleetBusyFor      string `name:"fleet-busy-after" env:"FLEET_BUSY_AFTER" default:"30s" help:"How long it is too much before FLEET_HOOK is told. Where runs wait and no server takes any it is told at once."`
	FleetIdleFor      string `name:"fleet-idle-after" env:"FLEET_IDLE_AFTER" default:"10m" help:"How long nothing waits and a server has nothing to do before FLEET_HOOK is told."`
	LorasFile         string `env:"LORAS_FILE" placeholder:"FILE" help:"What is known of the LoRAs of ComfyUI servers, as JSON: {\"detail.safetensors\": {\"label\": \"More detail\", \"words\": \"intricate detail\"}}. Anyone who chooses one finds its words in the prompt. Without words, those count that the file itself names."`
	OpenAPIDocs       string `name:"openapi-docs" env:"OPENAPI_DOCS" placeholder:"[NAME=]URL,..." help:"OpenAPI documents whose operations become tools: addresses or files. Another address and the secrets of a document's service are OPENAPI_<NAME>_URL and OPENAPI_<NAME>_<SCHEME>_KEY, see docs/openapi.md."`
	OpenAPIAllow      string `name:"openapi-allow" env:"OPENAPI_ALLOW" placeholder:"ID,..." help:"Operations that are tools in documents that don't say so with x-orchet-tool: operationIds, * for any part."`
	MCPServers        string `name:"mcp-servers" env:"MCP_SERVERS" placeholder:"FILE" help:"MCP servers whose tools are offered, as JSON in the form that MCP clients have (mcpServers), see docs/mcp.md."`
	ToolManifest      string `name:"orchestrator-tool-manifest-path" env:"ORCHESTRATOR_TOOL_MANIFEST_PATH" placeholder:"FILE" help:"Tools behind HTTP endpoints of your own, as JSON: manifest, endpoint and staticHeaders of each, see examples/tools.json."`
	KnowledgeDir      string `env:"KNOWLEDGE_DIR" placeholder:"DIR" help:"Folder of documents, watched for changes: each folder or zip in it is a source that /docs finds passages in, see docs/knowledge.md."`
	KnowledgeFiles    string `env:"KNOWLEDGE_FILES" placeholder:"FILE,..." help:"Built files of documents (signalbox knowledge build), each a source."`
	EmbeddingsURL     string `name:"embeddings-url" env:"EMBEDDINGS_URL" placeholder:"URL" help:"Service with OpenAI's API, with its version, that tells how near texts are in meaning, such as http://127.0.0.1:11434/v1. The search of tools, of documents and of the site's pictures knows meanings by it. Empty: documents are searched with a table of English words that comes with the program."`
	EmbeddingsModel   string `env:"EMBEDDINGS_MODEL" placeholder:"NAME" help:"The model of EMBEDDINGS_URL, such as text-embedding-3-small."`
	EmbeddingsAPIKey  string `name:"embeddings-api-key" env:"EMBEDDINGS_API_KEY" placeholder:"KEY" help:"Key of EMBEDDINGS_URL, if it wants one."`
	ToolsFile         string `env:"TOOLS_FILE" placeholder:"FILE" help:"Starts from this flashed registry (signalbox flash) instead of the live sources."`
	SyncSchedule      string `env:"SYNC_SCHEDULE" default:"*/5 * * * *" help:"Cron expression: when all tool sources are read again."`
}

// MoneySettings are prices and credit.
type MoneySettings struct {
	SignupCreditUSD     string `env:"SIGNUP_CREDIT_USD" default:"1" help:"Credit of a new account, US dollars."`
	ComfyUIUSDPerSecond string `name:"comfyui-usd-per-second" env:"COMFYUI_USD_PER_SECOND" default:"0.000337" help:"Price of a second of engine time, US dollars."`
	GPURatesFile        string `env:"GPU_RATES_FILE" placeholder:"FILE" help:"Bills by the GPU that ran, as JSON: {\"NVIDIA GeForce RTX 4090\": \"0.0004\"}."`
	ServiceMarginsFile  string `env:"SERVICE_MARGINS_FILE" placeholder:"FILE" help:"Adds to the prices of services, as JSON: {\"vidu\": {\"markup\": \"0.2\", \"minimumUsd\": \"0.01\"}, \"*\": {\"markup\": \"0.05\"}}."`
	ModelPricesFile     string `env:"MODEL_PRICES_FILE" placeholder:"FILE" help:"What models at Replicate, fal.ai and Comfy Router cost, as JSON: {\"asOf\": \"2026-11-01\", \"services\": {\"fal\": {\"owner/name\": {\"usd\": 0.025, \"per\": \"image\"}}}}; per is run, image, megapixel, second (of video or sound) or hardware-second. Empty: a list of the program."`
	PointUSD            string `env:"POINT_USD" placeholder:"USD" help:"Shows amounts in points beside dollars: what a point is worth, such as 0.000337. Nothing is kept or charged in them."`
	BillCanceled        string `env:"BILL_CANCELED" default:"false" help:"true: a run that its owner cancels pays for the seconds that it ran, which is told with its price; false: it costs nothing."`
	Support             string `env:"SUPPORT" placeholder:"TEXT" help:"Whom to ask about payments, an address or a name, for /paysupport. Empty: it says that the operator is to be asked."`
	BuyText             string `env:"BUY_TEXT" placeholder:"TEXT" help:"What /buy says in chats and on the page: how to get more credit. Empty: it names BUY_URL, or whom to ask."`
	ProductsFile        string `env:"PRODUCTS_FILE" placeholder:"FILE" help:"What is sold, as YAML or JSON: packs and subscriptions with their prices by currency, XTR for Telegram's Stars, and Discord's SKUs; see docs/payments.md."`
	SellerText          string `env:"SELLER_TEXT" placeholder:"TEXT" help:"Who sells, for receipts: name, address and tax number, lines separated by |."`
	StripeSecretKey     string `env:"STRIPE_SECRET_KEY" placeholder:"KEY" help:"An account at Stripe: what is sold can be paid on the page. Needs PUBLIC_URL."`
	StripeWebhookSecret string `env:"STRIPE_WEBHOOK_SECRET" placeholder:"SECRET,..." help:"Of the webhook at PUBLIC_URL/stripe/webhook, whsec_...; while it is replaced also the one before."`
	StripeAPIURL        string `name:"stripe-api-url" env:"STRIPE_API_URL" default:"https://api.stripe.com" help:"Stripe's API."`
	BuyURL              string `name:"buy-url" env:"BUY_URL" placeholder:"URL" help:"A page on which more credit can be bought, for /buy."`
}

// PeopleSettings are what people may do, and what is kept of it.
type PeopleSettings struct {
	Access            string `env:"ACCESS" default:"open" help:"open: everybody may use the tools; listed: only those whom an operator allows."`
	RunsAtOnce        string `env:"RUNS_AT_ONCE" placeholder:"N" help:"Runs of each account under way at a time, with exceptions by an operator; 0: no limit. Empty: 8 with PUBLIC_URL, else no limit."`
	RunsPerDay        string `env:"RUNS_PER_DAY" default:"0" help:"Runs of each account a day (UTC), likewise."`
	BatchRuns         string `env:"BATCH_RUNS" default:"100" help:"Runs of one batch (/batch, /again 3), from 1 to 1000."`
	StreamsAtOnce     string `env:"STREAMS_AT_ONCE" default:"20" help:"Event streams of each account open at a time, likewise."`
	APIRate           string `name:"api-rate" env:"API_RATE" default:"100" help:"API requests of one account a second, on average, more for a moment; 0: no limit."`
	UploadMB          string `name:"upload-mb" env:"UPLOAD_MB" placeholder:"N" help:"Megabytes that the uploads of each account may take, likewise. Empty: 500 with PUBLIC_URL, else no limit."`
	ResultMB          string `name:"result-mb" env:"RESULT_MB" placeholder:"N" help:"Megabytes that the results of each account may take, likewise. Empty: 5120 with PUBLIC_URL, else no limit."`
	KeepResultsDays   string `name:"keep-results-days" env:"KEEP_RESULTS_DAYS" default:"0" help:"Days after which a run's files are deleted; its row stays and says so. 0: never."`
	KeepWorkflow      string `name:"keep-workflow-in-files" env:"KEEP_WORKFLOW_IN_FILES" default:"false" help:"true: results keep workflow, prompts and other texts in their metadata; false: these are removed."`
	AutoRunRead       string `env:"AUTO_RUN_READ" default:"true" help:"true: tools that only read run by themselves when a model asks; false: they wait for a person's approval, as those that change something always do."`
	ResultChecksURL   string `name:"result-checks-url" env:"RESULT_CHECKS_URL" placeholder:"URL" help:"Service with OpenAI's API, with its version, that looks at each picture before anybody gets it (POST /moderations), such as https://api.openai.com/v1; needs REPORTS=on, see docs/people.md. Empty: nothing is looked at."`
	ResultChecksModel string `env:"RESULT_CHECKS_MODEL" placeholder:"NAME" default:"omni-moderation-latest" help:"The model of RESULT_CHECKS_URL, one that takes pictures."`
	ResultChecksKey   string `name:"result-checks-api-key" env:"RESULT_CHECKS_API_KEY" placeholder:"KEY" help:"Key of RESULT_CHECKS_URL, if it wants one."`
	ResultChecksAt    string `env:"RESULT_CHECKS_AT" default:"0.8" help:"How sure the service must be, above 0 and at most 1, that a picture is of one of its categories for it to be held back."`
	ResultChecksDown  string `env:"RESULT_CHECKS_DOWN" default:"pass" help:"What becomes of pictures that could not be looked at, since the service is down or does not take them: pass, and the audit log says so, or hold."`
	Reports           string `env:"REPORTS" default:"off" help:"on: people report results of others, operators and the admins of chats decide about them, see docs/people.md; off: nothing is reported."`
	DefaultTool       string `env:"DEFAULT_TOOL" placeholder:"TOOL" help:"The tool that words without a command are offered to, by its id or command, for who has used none yet. Empty: the one used most. Admins choose one for their chat with /chatsettings TOOL."`
	TermsURL          string `env:"TERMS_URL" placeholder:"URL" help:"The terms of use, for /terms. Empty: it tells what holds anyway, and whom to ask."`
	PrivacyURL        string `env:"PRIVACY_URL" placeholder:"URL" help:"What happens to people's data, for /privacy. Empty: as for /terms."`
}

// ContentSettings are about the site that is run from the chat.
type ContentSettings struct {
	SiteHost   string `env:"SITE_HOST" placeholder:"HOST" help:"A host of its own for the site, such as www.example.com. Empty: it is below /site/ of the page."`
	SiteSeen   string `env:"SITE_DESCRIPTIONS_PER_DAY" default:"200" help:"How many pictures that come to sites the connected model describes in a day (UTC), which the house pays; 0: none, they are described by their names."`
	ContentDir string `env:"CONTENT_DIR" placeholder:"DIR" help:"Folder with own templates of sections (templates/*.html) and an own theme (theme/), see docs/content.md."`
}

// ChatSettings connect the chat platforms.
type ChatSettings struct {
	TelegramBotToken string `env:"TELEGRAM_BOT_TOKEN" placeholder:"TOKEN" help:"From @BotFather. Empty: no Telegram."`
	TelegramAPIURL   string `name:"telegram-api-url" env:"TELEGRAM_API_URL" default:"https://api.telegram.org" help:"Telegram's API server."`
	DiscordBotToken  string `env:"DISCORD_BOT_TOKEN" placeholder:"TOKEN" help:"From the developer portal, page Bot. Empty: no Discord."`
	DiscordAppID     string `name:"discord-app-id" env:"DISCORD_APP_ID" placeholder:"ID" help:"The application's id. Empty: the one the token names."`
	DiscordPublicKey string `env:"DISCORD_PUBLIC_KEY" placeholder:"HEX" help:"The application's public key: takes interactions by HTTP at /webhooks/discord/interactions, too."`
	DiscordSecret    string `name:"discord-client-secret" env:"DISCORD_CLIENT_SECRET" placeholder:"SECRET" help:"From the developer portal, page OAuth2: lets people sign in with Discord; the application's redirects name PUBLIC_URL/signin/discord/back."`
	DiscordShards    string `env:"DISCORD_SHARDS" default:"auto" help:"Gateway connections: auto or a count, divided among the processes on one DATABASE_URL; ids/count such as 0,1/4, for this process alone; none (HTTP only)."`
	DiscordTestSales string `env:"DISCORD_TEST_PURCHASES" default:"false" help:"true: what is bought in Discord's store for tests, where nothing is paid, gives credit too, and says that it is a test; false: it gives none."`
	DiscordAPIURL    string `name:"discord-api-url" env:"DISCORD_API_URL" default:"https://discord.com" help:"Discord's server."`
}

// ServiceSettings are the operator's accounts at services. A service without a key has no tools.
type ServiceSettings struct {
	OpenAIAPIKey          string `name:"openai-api-key" env:"OPENAI_API_KEY" placeholder:"KEY" help:"An account at OpenAI: /imagine draws with it, and its models answer with the tools (POST /api/ask)."`
	OpenAIModel           string `name:"openai-model" env:"OPENAI_MODEL" placeholder:"NAME" help:"OpenAI's models that answer with the tools, separated by commas, the next when one is in trouble; or one of a compatible server; none: nobody can ask one."`
	OpenAIBaseURL         string `name:"openai-base-url" env:"OPENAI_BASE_URL" default:"https://api.openai.com/v1" help:"OpenAI's API, with its version; or a server that is compatible (Ollama, vLLM, llama.cpp), which needs no key."`
	AnthropicAPIKey       string `env:"ANTHROPIC_API_KEY" placeholder:"KEY" help:"An account at Anthropic, for a model that answers with the tools (POST /api/ask, see docs/agent.md)."`
	AnthropicModel        string `env:"ANTHROPIC_MODEL" placeholder:"NAME" help:"Anthropic's models that answer with the tools, separated by commas, the next when one is in trouble; none: nobody can ask one."`
	AgentsDir             string `env:"AGENTS_DIR" default:"./agents" placeholder:"DIR" help:"Agents as files *.agent.json: each is a tool that answers with tools of its own."`
	ToolGuidanceFile      string `env:"TOOL_GUIDANCE_FILE" placeholder:"FILE" help:"Hints for models, a line by tool, in place of those that come with the program; read again when it changes."`
	AskTokensPerDay       string `env:"ASK_TOKENS_PER_DAY" default:"0" help:"How many tokens the questions of one account may use in a day (UTC); 0: no limit."`
	AskPaidBy             string `env:"ASK_PAID_BY" default:"asker" placeholder:"asker|house" help:"Who pays for the tokens of models that have a rate: who asks, or the house. Models without a rate, such as those on your machine, are free for who asks."`
	AskUSDPerQuestion     string `name:"ask-usd-per-question" env:"ASK_USD_PER_QUESTION" default:"0.25" help:"What a model may cost for one question, US dollars; no more is held or charged."`
	AskUSDPerDay          string `name:"ask-usd-per-day" env:"ASK_USD_PER_DAY" default:"0" help:"What models may cost for the questions of one account in a day (UTC), US dollars, no matter who pays; 0: no limit."`
	ModelRatesFile        string `env:"MODEL_RATES_FILE" placeholder:"FILE" help:"What tokens of models cost, as JSON, beside and over the rates that come with the program, see docs/agent.md."`
	AnthropicBaseURL      string `name:"anthropic-base-url" env:"ANTHROPIC_BASE_URL" default:"https://api.anthropic.com" help:"Anthropic's API, without its version."`
	GeminiAPIKey          string `env:"GEMINI_API_KEY" placeholder:"KEY" help:"An account at Google Gemini: /imagine draws with it, /veo makes videos."`
	GeminiBaseURL         string `name:"gemini-base-url" env:"GEMINI_BASE_URL" default:"https://generativelanguage.googleapis.com" help:"Gemini's API."`
	ComfyDeployAPIKey     string `name:"comfydeploy-api-key" env:"COMFYDEPLOY_API_KEY" placeholder:"KEY" help:"An account at ComfyUI Deploy: each deployed workflow is a tool."`
	ComfyDeployAPIURL     string `name:"comfydeploy-api-url" env:"COMFYDEPLOY_API_URL" default:"https://api.comfydeploy.com/api" help:"ComfyUI Deploy's API."`
	ViduAPIKey            string `env:"VIDU_API_KEY" placeholder:"KEY" help:"An account at Vidu: /viduvideo, /viduanimate, /vidumorph, /viducast."`
	ViduUSDPerCredit      string `name:"vidu-usd-per-credit" env:"VIDU_USD_PER_CREDIT" default:"0.005" help:"What a credit of the Vidu account costs, US dollars."`
	ViduEffects           string `env:"VIDU_EFFECTS" placeholder:"NAME,..." help:"Vidu's templates to offer as /vidueffect."`
	ViduUpscale           string `env:"VIDU_UPSCALE" default:"off" help:"on offers to enlarge videos with /viduupscale; needs PUBLIC_URL."`
	ViduAPIURL            string `name:"vidu-api-url" env:"VIDU_API_URL" default:"https://api.vidu.com/ent/v2" help:"Vidu's API, with its version."`
	TripoAPIKey           string `env:"TRIPO_API_KEY" placeholder:"KEY" help:"An account at Tripo: 3D models with /tripomodel, /tripoimage and more."`
	TripoUSDPerCredit     string `name:"tripo-usd-per-credit" env:"TRIPO_USD_PER_CREDIT" default:"0.01" help:"What a credit of the Tripo account costs, US dollars."`
	TripoAPIURL           string `name:"tripo-api-url" env:"TRIPO_API_URL" default:"https://api.tripo3d.ai/v2/openapi" help:"Tripo's API, with its version."`
	UnsplashAccessKey     string `env:"UNSPLASH_ACCESS_KEY" placeholder:"KEY" help:"An account at Unsplash: unsplash.search, and photos to browse and import with their credit."`
	UnsplashAPIURL        string `name:"unsplash-api-url" env:"UNSPLASH_API_URL" default:"https://api.unsplash.com" help:"Unsplash's API."`
	PexelsAPIKey          string `env:"PEXELS_API_KEY" placeholder:"KEY" help:"An account at Pexels: photos to browse and import with their credit."`
	PexelsAPIURL          string `name:"pexels-api-url" env:"PEXELS_API_URL" default:"https://api.pexels.com/v1" help:"Pexels' API, with its version."`
	TavilyAPIKey          string `env:"TAVILY_API_KEY" placeholder:"KEY" help:"An account at Tavily: searchWeb, with answers."`
	TavilyAPIURL          string `name:"tavily-api-url" env:"TAVILY_API_URL" default:"https://api.tavily.com" help:"Tavily's API."`
	BraveAPIKey           string `env:"BRAVE_API_KEY" placeholder:"KEY" help:"An account at Brave Search: searchWeb, where there is none at Tavily."`
	BraveAPIURL           string `name:"brave-api-url" env:"BRAVE_API_URL" default:"https://api.search.brave.com/res/v1" help:"Brave's Search API, with its version."`
	SearxngURL            string `name:"searxng-url" env:"SEARXNG_URL" placeholder:"URL" help:"A SearXNG instance that allows the format json: searchWeb, where there is neither of the two."`
	ReplicateAPIToken     string `name:"replicate-api-token" env:"REPLICATE_API_TOKEN" placeholder:"TOKEN" help:"An account at Replicate: each of REPLICATE_MODELS is a tool."`
	ReplicateModels       string `env:"REPLICATE_MODELS" placeholder:"OWNER/NAME,..." help:"Models at Replicate: owner/name or owner/name:version."`
	ReplicateUSDPerSecond string `name:"replicate-usd-per-second" env:"REPLICATE_USD_PER_SECOND" placeholder:"USD" help:"What a second of work at Replicate costs, US dollars, of models without a price. Empty: these can't be used."`
	ReplicateAPIURL       string `name:"replicate-api-url" env:"REPLICATE_API_URL" default:"https://api.replicate.com/v1" help:"Replicate's API, with its version."`
	FalKey                string `env:"FAL_KEY" placeholder:"KEY" help:"An account at fal.ai: each of FAL_MODELS is a tool."`
	FalModels             string `env:"FAL_MODELS" placeholder:"OWNER/NAME,..." help:"Models at fal.ai: owner/name, perhaps with a path."`
	FalUSDPerSecond       string `name:"fal-usd-per-second" env:"FAL_USD_PER_SECOND" placeholder:"USD" help:"What a second of work at fal.ai costs, US dollars, of models without a price. Empty: these can't be used."`
	FalQueueURL           string `name:"fal-queue-url" env:"FAL_QUEUE_URL" default:"https://queue.fal.run" help:"fal.ai's queue."`
	FalDocsURL            string `name:"fal-docs-url" env:"FAL_DOCS_URL" default:"https://fal.ai" help:"Where fal.ai describes its models."`
	FalRESTURL            string `name:"fal-rest-url" env:"FAL_REST_URL" default:"https://rest.fal.ai" help:"Where fal.ai has the keys of its webhooks."`
	FalPricesURL          string `name:"fal-prices-url" env:"FAL_PRICES_URL" default:"https://api.fal.ai" help:"Where fal.ai tells the prices of models."`
	ComfyRouterAPIKey     string `env:"COMFY_ROUTER_API_KEY" placeholder:"KEY" help:"An account at Comfy Router: each of COMFY_ROUTER_MODELS is a tool."`
	ComfyRouterModels     string `env:"COMFY_ROUTER_MODELS" placeholder:"OWNER/NAME,..." help:"Models of Comfy Router's catalogue: owner/name, owner/* for all of one, * for all."`
	ComfyRouterRunUSD     string `name:"comfy-router-run-usd" env:"COMFY_ROUTER_RUN_USD" default:"0.25" help:"What a run at Comfy Router costs, US dollars, where neither MODEL_PRICES_FILE nor the service says so."`
	ComfyRouterURL        string `name:"comfy-router-url" env:"COMFY_ROUTER_URL" default:"https://api.comfy.org" help:"Comfy Router's API."`
}

// BundledSettings are the keys of the services that come as data, see providers/services. One without its key has no tools for people.
type BundledSettings struct {
	BFLAPIKey        string `name:"bfl-api-key" env:"BFL_API_KEY" placeholder:"KEY" help:"An account at Black Forest Labs: pictures with /flux2, /flux2flex, /flux11pro."`
	RunwayAPIKey     string `env:"RUNWAY_API_KEY" placeholder:"KEY" help:"An account at Runway: videos with /runwayvideo and /runwayanimate."`
	LumaAPIKey       string `env:"LUMA_API_KEY" placeholder:"KEY" help:"An account at Luma: pictures with /lumaimage and /lumaedit."`
	KlingAccessKey   string `env:"KLING_ACCESS_KEY" placeholder:"KEY" help:"An account at Kling: videos with /klingvideo and /klinganimate. It takes KLING_SECRET_KEY, too."`
	KlingSecretKey   string `env:"KLING_SECRET_KEY" placeholder:"KEY" help:"The other half of Kling's key, by which tokens are signed."`
	ArkAPIKey        string `env:"ARK_API_KEY" placeholder:"KEY" help:"An account at BytePlus ModelArk: videos with /seedance, pictures with /seedream."`
	IdeogramAPIKey   string `env:"IDEOGRAM_API_KEY" placeholder:"KEY" help:"An account at Ideogram: pictures with lettering with /ideogram."`
	RecraftAPIKey    string `env:"RECRAFT_API_KEY" placeholder:"KEY" help:"An account at Recraft: pictures and drawings with /recraft and more."`
	StabilityAPIKey  string `env:"STABILITY_API_KEY" placeholder:"KEY" help:"An account at Stability: pictures with /stableultra and more."`
	ElevenLabsAPIKey string `name:"elevenlabs-api-key" env:"ELEVENLABS_API_KEY" placeholder:"KEY" help:"An account at ElevenLabs: speech with /elevenspeech, sounds with /elevensound."`
	MiniMaxAPIKey    string `name:"minimax-api-key" env:"MINIMAX_API_KEY" placeholder:"KEY" help:"An account at MiniMax: videos with /hailuo."`
}
