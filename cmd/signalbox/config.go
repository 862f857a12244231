package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/schedule"
	"github.com/signalbox/signalbox/platforms/discord"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Settings are what the environment and the flags say, as text. Every flag has its variable; the flag
// wins. Config is their checked form.
type Settings struct {
	DatabaseURL string `env:"DATABASE_URL" placeholder:"URL" help:"Postgres to use. Empty: an own Postgres under DATA_DIR."`
	DataDir     string `env:"DATA_DIR" default:"${data_dir}" help:"Folder of the own Postgres and of all files."`
	ListenAddr  string `env:"LISTEN_ADDR" default:"127.0.0.1:8080" help:"Where the page and the API listen."`
	PublicURL   string `env:"PUBLIC_URL" placeholder:"URL" help:"Address under which the world reaches the page; switches webhooks on."`

	WorkflowsDir        string `env:"WORKFLOWS_DIR" default:"./workflows" help:"Folder of ComfyUI workflows. Missing: the bundled ones alone."`
	ToolsDir            string `env:"TOOLS_DIR" placeholder:"DIR" help:"Folder of tool definitions: *.tool.yaml over HTTP, *.json."`
	ToolsFile           string `env:"TOOLS_FILE" placeholder:"FILE" help:"Start from this flashed registry instead of the live sources."`
	SyncSchedule        string `env:"SYNC_SCHEDULE" default:"*/5 * * * *" help:"Cron expression: when all tool sources are read again."`
	ComfyUIURLs         string `name:"comfyui-urls" env:"COMFYUI_URLS" placeholder:"URL,..." help:"ComfyUI servers. Empty: the embedded CPU engine."`
	ComfyUIUSDPerSecond string `name:"comfyui-usd-per-second" env:"COMFYUI_USD_PER_SECOND" default:"0.000337" help:"Price of one second of engine time, US dollars."`
	ComfyUIGoneAfter    string `name:"comfyui-gone-after" env:"COMFYUI_GONE_AFTER" default:"30s" help:"How long an engine may be down before its runs go to others."`
	GPURatesFile        string `env:"GPU_RATES_FILE" placeholder:"FILE" help:"Bill by the GPU that ran, at these rates (JSON)."`
	ServiceMarginsFile  string `env:"SERVICE_MARGINS_FILE" placeholder:"FILE" help:"Markup and minimum to add to the prices of services (JSON)."`
	PointUSD            string `env:"POINT_USD" placeholder:"USD" help:"Show amounts in points, too: what a point is worth, for example 0.000337. Empty: dollars alone."`
	SignupCreditUSD     string `env:"SIGNUP_CREDIT_USD" default:"1" help:"Credit of a new account, US dollars."`
	Access              string `env:"ACCESS" default:"open" help:"open: whoever comes may use the tools; listed: only those whom an operator allows."`
	RunsAtOnce          string `env:"RUNS_AT_ONCE" placeholder:"N" help:"Runs of one account under way at a time; 0: no limit. Empty: 8 with PUBLIC_URL, else no limit."`
	StreamsAtOnce       string `env:"STREAMS_AT_ONCE" default:"20" help:"Event streams of one account open at a time; 0: no limit."`
	RunsPerDay          string `env:"RUNS_PER_DAY" default:"0" help:"Runs of one account a day (UTC); 0: no limit."`
	BillCanceled        string `env:"BILL_CANCELED" default:"false" help:"true: a run that its owner cancels pays for the seconds that it ran, which is told with the price; false: it costs nothing."`
	AutoRunRead         string `env:"AUTO_RUN_READ" default:"true" help:"true: tools that only read run by themselves when a model asks; false: they wait for approval, too."`
	UploadMB            string `name:"upload-mb" env:"UPLOAD_MB" placeholder:"N" help:"Megabytes that uploads of one account may take; 0: no limit. Empty: 500 with PUBLIC_URL, else none."`
	ResultMB            string `name:"result-mb" env:"RESULT_MB" placeholder:"N" help:"Megabytes that results of one account may take; 0: no limit. Empty: 5120 with PUBLIC_URL, else none."`
	KeepResultsDays     string `name:"keep-results-days" env:"KEEP_RESULTS_DAYS" default:"0" help:"Days after which the files of a run are deleted; 0: never."`
	KeepWorkflow        string `name:"keep-workflow-in-files" env:"KEEP_WORKFLOW_IN_FILES" default:"false" help:"true: results keep workflow, prompts and other texts in their metadata; false: these are removed."`
	APIRate             string `name:"api-rate" env:"API_RATE" default:"100" help:"API requests of one account a second, on average; 0: no limit."`
	MetricsAddr         string `env:"METRICS_ADDR" placeholder:"HOST:PORT" help:"Serve /metrics there, to whoever reaches it, and not beside the page."`
	MetricsToken        string `env:"METRICS_TOKEN" placeholder:"SECRET" help:"Opens /metrics, as ADMIN_TOKEN does; without PUBLIC_URL and this it is open."`
	AdminToken          string `env:"ADMIN_TOKEN" placeholder:"SECRET" help:"Signs the operator in, on the page and in the API."`
	TrustedProxies      string `env:"TRUSTED_PROXIES" placeholder:"ADDRESS,..." help:"Addresses or CIDRs of your proxies: their X-Forwarded-For is believed. Empty: nobody's."`
	Support             string `env:"SUPPORT" placeholder:"TEXT" help:"Whom to ask about payments: an address or a name. Empty: the operator."`
	TermsURL            string `env:"TERMS_URL" placeholder:"URL" help:"The terms of use, for /terms."`
	PrivacyURL          string `env:"PRIVACY_URL" placeholder:"URL" help:"What happens to people's data, for /privacy."`
	OutboundAllow       string `env:"OUTBOUND_ALLOW" placeholder:"HOST,..." help:"Inner hosts, host:port or CIDRs that requests may reach."`
	PostgresMirrorURL   string `env:"POSTGRES_MIRROR_URL" placeholder:"URL" help:"Mirror of the public Postgres builds, when none is installed."`

	TelegramBotToken string `env:"TELEGRAM_BOT_TOKEN" placeholder:"TOKEN" help:"From @BotFather. Empty: no Telegram."`
	TelegramAPIURL   string `name:"telegram-api-url" env:"TELEGRAM_API_URL" default:"https://api.telegram.org" help:"Telegram's API server."`

	DiscordBotToken  string `env:"DISCORD_BOT_TOKEN" placeholder:"TOKEN" help:"From the developer portal, page Bot. Empty: no Discord."`
	DiscordAppID     string `name:"discord-app-id" env:"DISCORD_APP_ID" placeholder:"ID" help:"The application's id. Empty: the one the token names."`
	DiscordPublicKey string `env:"DISCORD_PUBLIC_KEY" placeholder:"HEX" help:"The application's public key: takes interactions by HTTP, too."`
	DiscordAPIURL    string `name:"discord-api-url" env:"DISCORD_API_URL" default:"https://discord.com" help:"Discord's server."`
	DiscordSecret    string `name:"discord-client-secret" env:"DISCORD_CLIENT_SECRET" placeholder:"SECRET" help:"From the developer portal, page OAuth2: lets people sign in with Discord."`
	DiscordShards    string `env:"DISCORD_SHARDS" default:"auto" help:"Gateway connections of this process: auto, none, a count, or ids/count such as 0,1/4."`

	ServiceSettings

	LogLevel  string `env:"LOG_LEVEL" default:"info" help:"debug, info, warn or error."`
	LogFormat string `env:"LOG_FORMAT" default:"text" help:"text or json."`
}

// Config is a checked configuration.
type Config struct {
	Settings
	Engines      []*url.URL
	GoneAfter    time.Duration // see ComfyUIGoneAfter
	Public       *url.URL      // nil: none
	TelegramAPI  *url.URL
	DiscordAPI   *url.URL
	Shards       discord.Shards
	SignupCredit billing.NanoUSD
	Points       billing.Points
	Limits       users.Limits // of accounts that have no others
	RequestRate  int
	Proxies      []netip.Prefix
	KeepResults  time.Duration // 0: for ever
	Allow        []string
}

var (
	telegramToken = regexp.MustCompile(`^\d{3,20}:[A-Za-z0-9_-]{30,64}$`)
	discordToken  = regexp.MustCompile(`^[A-Za-z0-9_-]{18,40}\.[A-Za-z0-9_-]{5,10}\.[A-Za-z0-9_-]{25,64}$`)
	discordID     = regexp.MustCompile(`^\d{15,20}$`)
	hexKey        = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
)

// check reads every setting and reports all that are wrong, a line each: the variable, what was found
// (never a secret), what is allowed.
func (s Settings) check() (Config, error) {
	c := Config{Settings: s}
	var p problems
	c.checkAddresses(&p)
	c.checkMoney(&p)
	c.checkSources(&p)
	c.checkPeople(&p)
	c.checkProxies(&p)
	p.unless(oneOf(s.LogLevel, "debug", "info", "warn", "error"), "LOG_LEVEL", s.LogLevel, "debug, info, warn or error")
	p.unless(oneOf(s.LogFormat, "text", "json"), "LOG_FORMAT", s.LogFormat, "text or json")
	p.unless(s.TelegramBotToken == "" || telegramToken.MatchString(s.TelegramBotToken),
		"TELEGRAM_BOT_TOKEN", "(hidden)", "a token as @BotFather gives it: digits, a colon, 35 letters")
	c.checkDiscord(&p)
	c.checkServices(&p)
	p.unless(fitsHeader(s.MetricsToken),
		"METRICS_TOKEN", "(hidden)", "letters, digits and signs without spaces, as fits into a header")
	p.unless(fitsHeader(s.AdminToken),
		"ADMIN_TOKEN", "(hidden)", "letters, digits and signs without spaces, as fits into a header")
	dir, err := filepath.Abs(s.DataDir)
	p.unless(err == nil, "DATA_DIR", s.DataDir, "a folder")
	c.DataDir = dir
	return c, errors.Join(p...)
}

// fitsHeader reports whether a secret can stand in an HTTP header.
func fitsHeader(secret string) bool {
	return !strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' })
}

// problems collects what is wrong with the settings.
type problems []error

func (p *problems) unless(ok bool, variable, found, want string) {
	if !ok {
		*p = append(*p, fmt.Errorf("%s: found %q, expected %s", variable, found, want))
	}
}

// add notes the first line of a problem that describes itself, if there is one.
func (p *problems) add(err error) {
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		*p = append(*p, errors.New(line))
	}
}

// isAddress reports whether a program can listen at s, as far as one sees by its form.
func isAddress(s string) bool {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	_, err = net.LookupPort("tcp", port)
	return err == nil
}

func (c *Config) checkAddresses(p *problems) {
	p.unless(isAddress(c.ListenAddr), "LISTEN_ADDR", c.ListenAddr, "host:port, for example 127.0.0.1:8080")
	p.unless(c.MetricsAddr == "" || isAddress(c.MetricsAddr), "METRICS_ADDR", c.MetricsAddr, "host:port, for example 127.0.0.1:9100")
	p.unless(c.DatabaseURL == "" || isPostgresURL(c.DatabaseURL), "DATABASE_URL", redactURL(c.DatabaseURL),
		"postgres://user:password@host:port/name, or nothing for the own Postgres")
	for _, raw := range splitList(c.ComfyUIURLs) {
		u, ok := httpURL(raw)
		p.unless(ok, "COMFYUI_URLS", redactURL(raw), "http:// or https:// addresses, separated by commas")
		c.Engines = append(c.Engines, u)
	}
	var err error
	c.GoneAfter, err = time.ParseDuration(c.ComfyUIGoneAfter)
	p.unless(err == nil && c.GoneAfter >= time.Second, "COMFYUI_GONE_AFTER", c.ComfyUIGoneAfter, "a time of at least a second, such as 30s or 2m")
	var ok bool
	if c.PublicURL != "" {
		c.Public, ok = httpURL(c.PublicURL)
		p.unless(ok && c.Public.Path == "", "PUBLIC_URL", redactURL(c.PublicURL), "an http:// or https:// address without a path, such as https://bot.example")
	}
	c.TelegramAPI, ok = httpURL(c.TelegramAPIURL)
	p.unless(ok, "TELEGRAM_API_URL", redactURL(c.TelegramAPIURL), "an http:// or https:// address")
	if c.PostgresMirrorURL != "" {
		_, ok = httpURL(c.PostgresMirrorURL)
		p.unless(ok, "POSTGRES_MIRROR_URL", redactURL(c.PostgresMirrorURL), "an http:// or https:// address")
	}
	for variable, raw := range map[string]string{"TERMS_URL": c.TermsURL, "PRIVACY_URL": c.PrivacyURL} {
		_, ok = httpURL(raw)
		p.unless(ok || raw == "", variable, redactURL(raw), "an http:// or https:// address")
	}
	p.unless(!strings.ContainsAny(c.Support, "\r\n"), "SUPPORT", c.Support, "one line: an address or a name")
	for _, host := range splitList(c.OutboundAllow) {
		p.unless(!strings.ContainsAny(host, " \t") && !strings.Contains(host, "://"), "OUTBOUND_ALLOW", host, "hosts, host:port or CIDRs, separated by commas")
		c.Allow = append(c.Allow, host)
	}
}

// checkProxies reads TRUSTED_PROXIES; a single address is a prefix of its own.
func (c *Config) checkProxies(p *problems) {
	for _, text := range splitList(c.TrustedProxies) {
		prefix, err := netip.ParsePrefix(text)
		if ip, wrong := netip.ParseAddr(text); wrong == nil {
			ip = ip.Unmap()
			prefix, err = netip.PrefixFrom(ip, ip.BitLen()), nil
		}
		p.unless(err == nil && !prefix.Addr().Is4In6(), "TRUSTED_PROXIES", text, "addresses or CIDRs, separated by commas, for example 127.0.0.1,10.0.0.0/8")
		c.Proxies = append(c.Proxies, prefix)
	}
}

func (c *Config) checkDiscord(p *problems) {
	var ok bool
	c.DiscordAPI, ok = httpURL(c.DiscordAPIURL)
	p.unless(ok, "DISCORD_API_URL", redactURL(c.DiscordAPIURL), "an http:// or https:// address")
	p.unless(c.DiscordBotToken == "" || discordToken.MatchString(c.DiscordBotToken),
		"DISCORD_BOT_TOKEN", "(hidden)", "a token as the developer portal gives it: three parts with dots between")
	p.unless(c.DiscordAppID == "" || discordID.MatchString(c.DiscordAppID), "DISCORD_APP_ID", c.DiscordAppID, "the application's id: 17 to 20 digits")
	p.unless(c.DiscordPublicKey == "" || hexKey.MatchString(c.DiscordPublicKey), "DISCORD_PUBLIC_KEY", c.DiscordPublicKey,
		"the application's public key: 64 hex digits")
	p.unless(c.DiscordSecret == "" || (c.DiscordAppID+c.DiscordBotToken != "" && isVisible(c.DiscordSecret)),
		"DISCORD_CLIENT_SECRET", "(hidden)", "the secret of the application that DISCORD_APP_ID or DISCORD_BOT_TOKEN names")
	shards, err := discord.ParseShards(c.DiscordShards)
	if err != nil {
		p.add(fmt.Errorf("DISCORD_SHARDS: %w", err))
	}
	c.Shards = shards
}

func (c *Config) checkMoney(p *problems) {
	rate, err := registry.ParseDecimal(json.Number(c.ComfyUIUSDPerSecond))
	p.unless(err == nil && rate.Sign() >= 0, "COMFYUI_USD_PER_SECOND", c.ComfyUIUSDPerSecond, "a decimal number of US dollars, for example 0.000337")
	c.Points, err = billing.ParsePoints(c.PointUSD)
	p.unless(err == nil, "POINT_USD", c.PointUSD, "a decimal number of US dollars above zero, for example 0.000337")
	c.SignupCredit, err = billing.ParseUSD(c.SignupCreditUSD)
	p.unless(err == nil && c.SignupCredit >= 0, "SIGNUP_CREDIT_USD", c.SignupCreditUSD, "a decimal number of US dollars, for example 1 or 0.50")
}

// The values of ACCESS.
const (
	accessOpen   = "open"
	accessListed = "listed"
)

// runsAtOnce bounds an account of a house that is open to the world, unless RUNS_AT_ONCE says otherwise.
const runsAtOnce = "8"

func (c *Config) checkPeople(p *problems) {
	if c.RunsAtOnce == "" {
		c.RunsAtOnce = "0"
		if c.PublicURL != "" {
			c.RunsAtOnce = runsAtOnce
		}
	}
	p.unless(oneOf(c.Access, accessOpen, accessListed), "ACCESS", c.Access, "open or listed")
	p.unless(oneOf(c.BillCanceled, "true", "false"), "BILL_CANCELED", c.BillCanceled, "true or false")
	p.unless(oneOf(c.AutoRunRead, "true", "false"), "AUTO_RUN_READ", c.AutoRunRead, "true or false")
	for _, limit := range []struct {
		variable, found string
		into            *int
	}{{"RUNS_AT_ONCE", c.RunsAtOnce, &c.Limits.AtOnce}, {"RUNS_PER_DAY", c.RunsPerDay, &c.Limits.PerDay}, {"STREAMS_AT_ONCE", c.StreamsAtOnce, &c.Limits.Streams}, {"API_RATE", c.APIRate, &c.RequestRate}} {
		n, err := strconv.Atoi(limit.found)
		p.unless(err == nil && n >= 0, limit.variable, limit.found, "a whole number, 0 for no limit")
		*limit.into = n
	}
	for _, limit := range []struct {
		variable, found string
		usual           int64 // with PUBLIC_URL
		into            *int64
	}{{"UPLOAD_MB", c.UploadMB, 500, &c.Limits.UploadBytes}, {"RESULT_MB", c.ResultMB, 5120, &c.Limits.ResultBytes}} {
		if limit.found == "" && c.PublicURL != "" {
			limit.found = strconv.FormatInt(limit.usual, 10)
		}
		n, err := strconv.ParseInt(cmp.Or(limit.found, "0"), 10, 64)
		p.unless(err == nil && n >= 0 && n <= maxMB, limit.variable, limit.found, "a whole number of megabytes, 0 for no limit")
		*limit.into = n << 20
	}
	days, err := strconv.Atoi(c.KeepResultsDays)
	p.unless(err == nil && days >= 0 && days <= maxDays, "KEEP_RESULTS_DAYS", c.KeepResultsDays, "a whole number of days, 0 for ever")
	c.KeepResults = time.Duration(days) * 24 * time.Hour
	p.unless(oneOf(c.KeepWorkflow, "true", "false"), "KEEP_WORKFLOW_IN_FILES", c.KeepWorkflow, "true or false")
}

// The largest values of limits of files, so that they can be counted with.
const (
	maxMB   = 1 << 40
	maxDays = 36500
)

// approval is what of a model's requests waits for a person's approval.
func (c *Config) approval() runs.Approval {
	if c.AutoRunRead == "false" {
		return runs.ApproveAll
	}
	return runs.ApproveWrites
}

// checkSources looks at where tools come from. WORKFLOWS_DIR may be missing: it can come later.
func (c *Config) checkSources(p *problems) {
	_, err := schedule.Parse(c.SyncSchedule)
	p.unless(err == nil, "SYNC_SCHEDULE", c.SyncSchedule, "a cron expression with five fields, for example */5 * * * *")
	info, err := os.Stat(c.WorkflowsDir)
	p.unless(errors.Is(err, os.ErrNotExist) || err == nil && info.IsDir(), "WORKFLOWS_DIR", c.WorkflowsDir, "a folder")
	if c.ToolsDir != "" {
		info, err := os.Stat(c.ToolsDir)
		p.unless(err == nil && info.IsDir(), "TOOLS_DIR", c.ToolsDir, "a folder that exists")
	}
	if c.ToolsFile != "" {
		if _, err := registry.NewFlashLoader("flash", c.ToolsFile).Load(context.Background()); err != nil {
			p.add(fmt.Errorf("TOOLS_FILE: %w", err))
		}
	}
	_, err = rateCard(*c)
	p.add(err)
	_, err = serviceMargins(*c)
	p.add(err)
}

// isVisible reports whether s has no spaces and nothing that a header can't carry.
func isVisible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

func isPostgresURL(s string) bool {
	if strings.Contains(s, "://") {
		u, err := url.Parse(s)
		return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql")
	}
	return strings.Contains(s, "=") // "host=... dbname=..."
}

func httpURL(s string) (*url.URL, bool) {
	u, err := url.Parse(strings.TrimRight(s, "/"))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, false
	}
	return u, true
}

// redactURL keeps what helps to find the mistake and drops user, password and query.
func redactURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		if strings.ContainsAny(s, "@=") {
			return "(hidden)"
		}
		return s
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func splitList(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

func oneOf(s string, allowed ...string) bool {
	for _, a := range allowed {
		if s == a {
			return true
		}
	}
	return false
}

// defaultDataDir is the user's data folder, or ./data where there is none.
func defaultDataDir() string {
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "signalbox")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share", "signalbox")
	}
	return "data"
}

func cutPlatform(s string) (platform, id string, ok bool) {
	platform, id, ok = strings.Cut(s, ":")
	return platform, id, ok && platform != "" && id != ""
}
