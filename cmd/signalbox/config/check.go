package config

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
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/asking"
	"github.com/signalbox/signalbox/cmd/signalbox/housekey"
	"github.com/signalbox/signalbox/cmd/signalbox/settings"
	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/tag"
	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/schedule"
	"github.com/signalbox/signalbox/internal/signature"
	"github.com/signalbox/signalbox/platforms/discord/gateway"
	"github.com/signalbox/signalbox/registry/catalog"
)

var (
	telegramToken = regexp.MustCompile(`^\d{3,20}:[A-Za-z0-9_-]{30,64}$`)
	discordToken  = regexp.MustCompile(`^[A-Za-z0-9_-]{18,40}\.[A-Za-z0-9_-]{5,10}\.[A-Za-z0-9_-]{25,64}$`)
	discordID     = regexp.MustCompile(`^\d{15,20}$`)
	hexKey        = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
)

// Check reads every setting and reports all that are wrong, a line each: the variable, what was found
// (never a secret), what is allowed.
func Check(s settings.Settings) (Config, error) {
	c := Config{Settings: s}
	var p problems
	c.checkAddresses(&p)
	c.checkTexts(&p)
	c.checkEngines(&p)
	c.checkFleetHook(&p)
	var wrong []settings.Wrong
	c.Store, wrong = s.Store()
	for _, w := range wrong {
		p.unless(false, w.Variable, w.Found, w.Want)
	}
	c.checkMoney(&p)
	c.checkSources(&p)
	c.checkPeople(&p)
	c.checkProxies(&p)
	p.unless(OneOf(s.LogLevel, "debug", "info", "warn", "error"), "LOG_LEVEL", s.LogLevel, "debug, info, warn or error")
	p.unless(OneOf(s.LogFormat, "text", "json"), "LOG_FORMAT", s.LogFormat, "text or json")
	p.unless(s.TelegramBotToken == "" || telegramToken.MatchString(s.TelegramBotToken),
		"TELEGRAM_BOT_TOKEN", "(hidden)", "a token as @BotFather gives it: digits, a colon, 35 letters")
	c.checkDiscord(&p)
	c.checkServices(&p)
	c.checkKnowledge(&p)
	c.checkContent(&p)
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

// isAddress reports whether a program can listen at s, as far as one sees by its form.
func isAddress(s string) bool {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	_, err = net.LookupPort("tcp", port)
	return err == nil
}

// checkAddresses checks where this program listens, what it is reached at, and what it reaches.
func (c *Config) checkAddresses(p *problems) {
	p.unless(isAddress(c.ListenAddr), "LISTEN_ADDR", c.ListenAddr, "host:port, for example 127.0.0.1:8080")
	p.unless(c.MetricsAddr == "" || isAddress(c.MetricsAddr), "METRICS_ADDR", c.MetricsAddr, "host:port, for example 127.0.0.1:9100")
	p.unless(c.DatabaseURL == "" || isPostgresURL(c.DatabaseURL), "DATABASE_URL", Redact(c.DatabaseURL),
		"postgres://user:password@host:port/name, or nothing for the own Postgres")
	p.unless(c.DatabaseSessionURL == "" || c.DatabaseURL != "" && isPostgresURL(c.DatabaseSessionURL), "DATABASE_SESSION_URL", Redact(c.DatabaseSessionURL),
		"postgres://user:password@host:port/name, beside DATABASE_URL")
	if c.HouseKey != "" {
		var err error
		c.Key, err = housekey.Parse(c.HouseKey)
		p.unless(err == nil, "HOUSE_KEY", "(hidden)", "at least 32 hex digits, such as openssl rand -hex 32 gives")
	}
	var ok bool
	if c.PublicURL != "" {
		c.Public, ok = HTTPURL(c.PublicURL)
		p.unless(ok && c.Public.Path == "", "PUBLIC_URL", Redact(c.PublicURL), "an http:// or https:// address without a path, such as https://bot.example")
	}
	c.TelegramAPI, ok = HTTPURL(c.TelegramAPIURL)
	p.unless(ok, "TELEGRAM_API_URL", Redact(c.TelegramAPIURL), "an http:// or https:// address")
	if c.PostgresMirrorURL != "" {
		_, ok = HTTPURL(c.PostgresMirrorURL)
		p.unless(ok, "POSTGRES_MIRROR_URL", Redact(c.PostgresMirrorURL), "an http:// or https:// address")
	}
	for _, page := range []struct{ variable, address string }{{"TERMS_URL", c.TermsURL}, {"PRIVACY_URL", c.PrivacyURL}, {"BUY_URL", c.BuyURL}} {
		_, ok = HTTPURL(page.address)
		p.unless(ok || page.address == "", page.variable, Redact(page.address), "an http:// or https:// address")
	}
	for _, host := range List(c.OutboundAllow) {
		p.unless(!strings.ContainsAny(host, " \t") && !strings.Contains(host, "://"), "OUTBOUND_ALLOW", host, "hosts, host:port or CIDRs, separated by commas")
		c.Allow = append(c.Allow, host)
	}
}

// checkTexts checks what people read or write.
func (c *Config) checkTexts(p *problems) {
	p.unless(IsOneWord(c.DefaultTool), "DEFAULT_TOOL", c.DefaultTool, OneWord)
	p.unless(len(c.BuyText) <= MaxBuyText, "BUY_TEXT", c.BuyText[:min(len(c.BuyText), 60)], fmt.Sprintf("at most %d bytes", MaxBuyText))
	p.unless(len(c.SellerText) <= MaxBuyText, "SELLER_TEXT", c.SellerText[:min(len(c.SellerText), 60)], fmt.Sprintf("at most %d bytes", MaxBuyText))
	p.unless(!strings.ContainsAny(c.Support, "\r\n"), "SUPPORT", c.Support, "one line: an address or a name")
}

// checkEngines checks where runs of workflows are sent, and how.
func (c *Config) checkEngines(p *problems) {
	for _, raw := range List(c.ComfyUIURLs) {
		u, ok := HTTPURL(raw)
		p.unless(ok, "COMFYUI_URLS", Redact(raw), "http:// or https:// addresses, separated by commas")
		if ok {
			tags, err := tag.Read(u)
			if err != nil {
				p.add(fmt.Errorf("COMFYUI_URLS: %w", err))
			}
			if tags.Wake != "" {
				err = outbound.NewHooks(List(c.OutboundAllow), time.Minute).Check(tags.Wake)
				p.unless(err == nil, "COMFYUI_URLS", "wake= of "+comfy.EngineName(u), "an https:// address at a public host, or at one of OUTBOUND_ALLOW, without a name and password")
			}
		}
		c.Engines = append(c.Engines, u)
	}
	_, err := c.EngineHeaders()
	p.add(err)
	c.Endpoints, err = c.readEndpoints()
	p.add(err)
	c.Loras, err = c.readLoras()
	p.add(err)
	p.unless(c.ComfyOrgAPIKey == "" || fitsHeader(c.ComfyOrgAPIKey), "COMFY_ORG_API_KEY", "(hidden)", "a key without spaces")
	c.GoneAfter, err = time.ParseDuration(c.ComfyUIGoneAfter)
	p.unless(err == nil && c.GoneAfter >= time.Second, "COMFYUI_GONE_AFTER", c.ComfyUIGoneAfter, "a time of at least a second, such as 30s or 2m")
	c.WakeFor, err = time.ParseDuration(c.ComfyUIWakeFor)
	p.unless(err == nil && c.WakeFor >= 10*time.Second, "COMFYUI_WAKE_FOR", c.ComfyUIWakeFor, "a time of at least ten seconds, such as 10m")
}

// checkResultChecks reads by what results are looked at.
func (c *Config) checkResultChecks(p *problems) {
	if c.ResultChecksURL != "" {
		_, ok := HTTPURL(c.ResultChecksURL)
		p.unless(ok, "RESULT_CHECKS_URL", Redact(c.ResultChecksURL), "an http:// or https:// address, such as https://api.openai.com/v1")
		p.unless(!ok || c.Reports == "on", "RESULT_CHECKS_URL", Redact(c.ResultChecksURL), "REPORTS=on beside it: what is held back is reported to operators")
	}
	p.unless(fitsHeader(c.ResultChecksModel), "RESULT_CHECKS_MODEL", c.ResultChecksModel, "the name of a model without spaces, such as omni-moderation-latest")
	p.unless(fitsHeader(c.ResultChecksKey), "RESULT_CHECKS_API_KEY", "(hidden)", "a key without spaces, as the service shows it")
	at, err := strconv.ParseFloat(c.ResultChecksAt, 64)
	p.unless(err == nil && at > 0 && at <= 1, "RESULT_CHECKS_AT", c.ResultChecksAt, "a number above 0 and at most 1, such as 0.8")
	c.ChecksAt = at
	p.unless(OneOf(c.ResultChecksDown, "pass", "hold"), "RESULT_CHECKS_DOWN", c.ResultChecksDown, "pass or hold")
}

// checkFleetHook reads what is told about the engines, and when.
func (c *Config) checkFleetHook(p *problems) {
	var err error
	address := strings.Contains(c.FleetHook, "://")
	if address {
		err = outbound.NewHooks(List(c.OutboundAllow), time.Minute).Check(c.FleetHook)
		p.unless(err == nil, "FLEET_HOOK", Redact(c.FleetHook), "an https:// address at a public host, or at one of OUTBOUND_ALLOW, without a name and password")
	} else if c.FleetHook != "" {
		_, err = exec.LookPath(c.FleetHook)
		p.unless(err == nil, "FLEET_HOOK", c.FleetHook, "an https:// address, or a program that can be started")
	}
	if address && err == nil || c.FleetHookSecret != "" {
		c.FleetSecret, err = signature.ParseSecret(c.FleetHookSecret)
		p.unless(err == nil, "FLEET_HOOK_SECRET", "(hidden)", "whsec_ and 24 to 64 bytes in base64; an address in FLEET_HOOK needs it")
	}
	c.FleetBusyAt, err = strconv.Atoi(c.FleetBusyRuns)
	p.unless(err == nil && c.FleetBusyAt >= 1, "FLEET_BUSY_AT", c.FleetBusyRuns, "a number of runs, such as 4")
	c.FleetBusyAfter, err = time.ParseDuration(c.FleetBusyFor)
	p.unless(err == nil && c.FleetBusyAfter >= 0, "FLEET_BUSY_AFTER", c.FleetBusyFor, "a time such as 30s")
	c.FleetIdleAfter, err = time.ParseDuration(c.FleetIdleFor)
	p.unless(err == nil && c.FleetIdleAfter > 0, "FLEET_IDLE_AFTER", c.FleetIdleFor, "a time such as 10m")
}

// checkProxies reads TRUSTED_PROXIES; a single address is a prefix of its own.
func (c *Config) checkProxies(p *problems) {
	for _, text := range List(c.TrustedProxies) {
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
	c.DiscordAPI, ok = HTTPURL(c.DiscordAPIURL)
	p.unless(ok, "DISCORD_API_URL", Redact(c.DiscordAPIURL), "an http:// or https:// address")
	p.unless(c.DiscordBotToken == "" || discordToken.MatchString(c.DiscordBotToken),
		"DISCORD_BOT_TOKEN", "(hidden)", "a token as the developer portal gives it: three parts with dots between")
	p.unless(c.DiscordAppID == "" || discordID.MatchString(c.DiscordAppID), "DISCORD_APP_ID", c.DiscordAppID, "the application's id: 17 to 20 digits")
	p.unless(c.DiscordPublicKey == "" || hexKey.MatchString(c.DiscordPublicKey), "DISCORD_PUBLIC_KEY", c.DiscordPublicKey,
		"the application's public key: 64 hex digits")
	p.unless(c.DiscordSecret == "" || (c.DiscordAppID+c.DiscordBotToken != "" && fitsHeader(c.DiscordSecret)),
		"DISCORD_CLIENT_SECRET", "(hidden)", "the secret of the application that DISCORD_APP_ID or DISCORD_BOT_TOKEN names")
	p.unless(OneOf(c.DiscordTestSales, "true", "false"), "DISCORD_TEST_PURCHASES", c.DiscordTestSales, "true or false")
	shards, err := gateway.ParseShards(c.DiscordShards)
	if err != nil {
		p.add(fmt.Errorf("DISCORD_SHARDS: %w", err))
	}
	c.Shards = shards
}

func (c *Config) checkMoney(p *problems) {
	rate, err := decimal.Parse(json.Number(c.ComfyUIUSDPerSecond))
	p.unless(err == nil && rate.Sign() >= 0, "COMFYUI_USD_PER_SECOND", c.ComfyUIUSDPerSecond, "a decimal number of US dollars, for example 0.000337")
	c.Points, err = billing.ParsePoints(c.PointUSD)
	p.unless(err == nil, "POINT_USD", c.PointUSD, "a decimal number of US dollars above zero, for example 0.000337")
	c.SignupCredit, err = billing.ParseUSD(c.SignupCreditUSD)
	p.unless(err == nil && c.SignupCredit >= 0 && c.SignupCredit <= billing.MaxAmount, "SIGNUP_CREDIT_USD", c.SignupCreditUSD, "a decimal number of US dollars, for example 1 or 0.50")
	c.AskPerQuestion, err = billing.ParseUSD(c.AskUSDPerQuestion)
	p.unless(err == nil && c.AskPerQuestion > 0, "ASK_USD_PER_QUESTION", c.AskUSDPerQuestion, "a decimal number of US dollars above zero, for example 0.25")
	c.AskPerDay, err = billing.ParseUSD(c.AskUSDPerDay)
	p.unless(err == nil && c.AskPerDay >= 0, "ASK_USD_PER_DAY", c.AskUSDPerDay, "a decimal number of US dollars, 0 for no limit")
	p.unless(OneOf(c.AskPaidBy, asking.ByAsker, asking.ByHouse), "ASK_PAID_BY", c.AskPaidBy, "asker or house")
	if c.Rates, err = asking.Rates(c.ModelRatesFile); err != nil {
		p.add(fmt.Errorf("MODEL_RATES_FILE: %w", err))
	}
}

// runsAtOnce bounds an account of a house that is open to the world, unless RUNS_AT_ONCE says otherwise.
const runsAtOnce = "8"

func (c *Config) checkPeople(p *problems) {
	atOnce := cmp.Or(c.RunsAtOnce, "0")
	if c.RunsAtOnce == "" && c.PublicURL != "" {
		atOnce = runsAtOnce
	}
	p.unless(OneOf(c.Access, AccessOpen, AccessListed), "ACCESS", c.Access, "open or listed")
	p.unless(OneOf(c.BillCanceled, "true", "false"), "BILL_CANCELED", c.BillCanceled, "true or false")
	p.unless(OneOf(c.Reports, "on", "off"), "REPORTS", c.Reports, "on or off")
	c.checkResultChecks(p)
	p.unless(OneOf(c.AutoRunRead, "true", "false"), "AUTO_RUN_READ", c.AutoRunRead, "true or false")
	for _, limit := range []struct {
		variable, found string
		into            *int
	}{{"RUNS_AT_ONCE", atOnce, &c.Limits.AtOnce}, {"RUNS_PER_DAY", c.RunsPerDay, &c.Limits.PerDay}, {"STREAMS_AT_ONCE", c.StreamsAtOnce, &c.Limits.Streams}, {"API_RATE", c.APIRate, &c.RequestRate}, {"ASK_TOKENS_PER_DAY", c.AskTokensPerDay, &c.TokensPerDay}} {
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
	p.unless(IsBatch(c.BatchRuns), "BATCH_RUNS", c.BatchRuns, BatchExpected)
	days, err := strconv.Atoi(c.KeepResultsDays)
	p.unless(err == nil && days >= 0 && days <= maxDays, "KEEP_RESULTS_DAYS", c.KeepResultsDays, "a whole number of days, 0 for ever")
	c.KeepResults = time.Duration(days) * 24 * time.Hour
	p.unless(OneOf(c.KeepWorkflow, "true", "false"), "KEEP_WORKFLOW_IN_FILES", c.KeepWorkflow, "true or false")
}

// The largest values of limits of files, so that they can be counted with.
const (
	maxMB   = 1 << 40
	maxDays = 36500
)

// checkSources looks at where tools come from. WORKFLOWS_DIR and AGENTS_DIR may be missing: they can come later.
func (c *Config) checkSources(p *problems) {
	_, err := schedule.Parse(c.SyncSchedule)
	p.unless(err == nil, "SYNC_SCHEDULE", c.SyncSchedule, "a cron expression with five fields, for example */5 * * * *")
	for variable, dir := range map[string]string{"WORKFLOWS_DIR": c.WorkflowsDir, "AGENTS_DIR": c.AgentsDir} {
		info, err := os.Stat(dir)
		p.unless(errors.Is(err, os.ErrNotExist) || err == nil && info.IsDir(), variable, dir, "a folder")
	}
	if c.ToolsDir != "" {
		info, err := os.Stat(c.ToolsDir)
		p.unless(err == nil && info.IsDir(), "TOOLS_DIR", c.ToolsDir, "a folder that exists")
	}
	if c.ToolsFile != "" {
		if _, err := catalog.NewFlashLoader("flash", c.ToolsFile).Load(context.Background()); err != nil {
			p.add(fmt.Errorf("TOOLS_FILE: %w", err))
		}
	}
	_, err = c.RateCard()
	p.add(err)
	_, err = c.ServiceMargins()
	p.add(err)
	_, err = c.SoldProducts()
	p.add(err)
	_, ok := HTTPURL(c.StripeAPIURL)
	p.unless(ok, "STRIPE_API_URL", Redact(c.StripeAPIURL), "an http:// or https:// address")
	isKey := strings.HasPrefix(c.StripeSecretKey, "sk_") || strings.HasPrefix(c.StripeSecretKey, "rk_")
	p.unless(c.StripeSecretKey == "" || isKey, "STRIPE_SECRET_KEY", "(hidden)", "a secret key of Stripe, which begins with sk_ or rk_")
	p.unless(!isKey || c.PublicURL != "", "STRIPE_SECRET_KEY", "(hidden)", "PUBLIC_URL beside it, where Stripe leads people back")
	for _, secret := range List(c.StripeWebhookSecret) {
		p.unless(strings.HasPrefix(secret, "whsec_"), "STRIPE_WEBHOOK_SECRET", "(hidden)", "secrets of a webhook of Stripe, which begin with whsec_, separated by commas")
	}
}

// MissingFolders gives WORKFLOWS_DIR and AGENTS_DIR where somebody has named a folder that is not there: it may come later, or its name is
// mistyped. The usual ones are missing in most houses.
func (c *Config) MissingFolders() (missing map[string]string) {
	missing = map[string]string{}
	for _, f := range []struct{ variable, dir, usual string }{{"WORKFLOWS_DIR", c.WorkflowsDir, "./workflows"}, {"AGENTS_DIR", c.AgentsDir, "./agents"}} {
		if _, err := os.Stat(f.dir); f.dir != f.usual && errors.Is(err, os.ErrNotExist) {
			missing[f.variable] = f.dir
		}
	}
	return missing
}

func isPostgresURL(s string) bool {
	if strings.Contains(s, "://") {
		u, err := url.Parse(s)
		return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql")
	}
	return strings.Contains(s, "=") // "host=... dbname=..."
}
