package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/robfig/cron/v3"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
)

// Settings are what the environment and the flags say, as text. Every flag has its variable; the flag
// wins. Config is their checked form.
type Settings struct {
	DatabaseURL string `env:"DATABASE_URL" placeholder:"URL" help:"Postgres to use. Empty: an own Postgres under DATA_DIR."`
	DataDir     string `env:"DATA_DIR" default:"${data_dir}" help:"Folder of the own Postgres and of all files."`
	ListenAddr  string `env:"LISTEN_ADDR" default:"127.0.0.1:8080" help:"Where the page and the API listen."`
	PublicURL   string `env:"PUBLIC_URL" placeholder:"URL" help:"Address under which the world reaches the page; switches webhooks on."`

	WorkflowsDir        string `env:"WORKFLOWS_DIR" default:"./workflows" help:"Folder of ComfyUI workflows. Missing: the bundled ones alone."`
	ToolsDir            string `env:"TOOLS_DIR" placeholder:"DIR" help:"Folder of tool definitions (JSON)."`
	ToolsFile           string `env:"TOOLS_FILE" placeholder:"FILE" help:"Start from this flashed registry instead of the live sources."`
	SyncSchedule        string `env:"SYNC_SCHEDULE" default:"*/5 * * * *" help:"Cron expression: when all tool sources are read again."`
	ComfyUIURLs         string `name:"comfyui-urls" env:"COMFYUI_URLS" placeholder:"URL,..." help:"ComfyUI servers. Empty: the embedded CPU engine."`
	ComfyUIUSDPerSecond string `name:"comfyui-usd-per-second" env:"COMFYUI_USD_PER_SECOND" default:"0.000337" help:"Price of one second of engine time, US dollars."`
	GPURatesFile        string `env:"GPU_RATES_FILE" placeholder:"FILE" help:"Bill by the GPU that ran, at these rates (JSON)."`
	SignupCreditUSD     string `env:"SIGNUP_CREDIT_USD" default:"1" help:"Credit of a new account, US dollars."`
	AdminToken          string `env:"ADMIN_TOKEN" placeholder:"SECRET" help:"Opens the operator's part of the API."`
	OutboundAllow       string `env:"OUTBOUND_ALLOW" placeholder:"HOST,..." help:"Inner hosts, host:port or CIDRs that requests may reach."`
	PostgresMirrorURL   string `env:"POSTGRES_MIRROR_URL" placeholder:"URL" help:"Mirror of the public Postgres builds, when none is installed."`

	TelegramBotToken string `env:"TELEGRAM_BOT_TOKEN" placeholder:"TOKEN" help:"From @BotFather. Empty: no Telegram."`
	TelegramAPIURL   string `name:"telegram-api-url" env:"TELEGRAM_API_URL" default:"https://api.telegram.org" help:"Telegram's API server."`

	LogLevel  string `env:"LOG_LEVEL" default:"info" help:"debug, info, warn or error."`
	LogFormat string `env:"LOG_FORMAT" default:"text" help:"text or json."`
}

// Config is a checked configuration.
type Config struct {
	Settings
	Engines      []*url.URL
	Public       *url.URL // nil: none
	TelegramAPI  *url.URL
	SignupCredit billing.NanoUSD
	Allow        []string
}

var telegramToken = regexp.MustCompile(`^\d{3,20}:[A-Za-z0-9_-]{30,64}$`)

// check reads every setting and reports all that are wrong, a line each: the variable, what was found
// (never a secret), what is allowed.
func (s Settings) check() (Config, error) {
	c := Config{Settings: s}
	var problems []error
	wrong := func(variable, found, want string) {
		problems = append(problems, fmt.Errorf("%s: found %q, expected %s", variable, found, want))
	}

	if _, _, err := net.SplitHostPort(s.ListenAddr); err != nil {
		wrong("LISTEN_ADDR", s.ListenAddr, "host:port, for example 127.0.0.1:8080")
	}
	if s.DatabaseURL != "" && !isPostgresURL(s.DatabaseURL) {
		wrong("DATABASE_URL", redactURL(s.DatabaseURL), "postgres://user:password@host:port/name, or nothing for the own Postgres")
	}
	for _, raw := range splitList(s.ComfyUIURLs) {
		u, ok := httpURL(raw)
		if !ok {
			wrong("COMFYUI_URLS", redactURL(raw), "http:// or https:// addresses, separated by commas")
			continue
		}
		c.Engines = append(c.Engines, u)
	}
	if s.PublicURL != "" {
		u, ok := httpURL(s.PublicURL)
		if !ok {
			wrong("PUBLIC_URL", redactURL(s.PublicURL), "an http:// or https:// address")
		}
		c.Public = u
	}
	u, ok := httpURL(s.TelegramAPIURL)
	if !ok {
		wrong("TELEGRAM_API_URL", redactURL(s.TelegramAPIURL), "an http:// or https:// address")
	}
	c.TelegramAPI = u
	if s.TelegramBotToken != "" && !telegramToken.MatchString(s.TelegramBotToken) {
		wrong("TELEGRAM_BOT_TOKEN", "(hidden)", "a token as @BotFather gives it: digits, a colon, 35 letters")
	}
	if rate, err := registry.ParseDecimal(json.Number(s.ComfyUIUSDPerSecond)); err != nil || rate.Sign() < 0 {
		wrong("COMFYUI_USD_PER_SECOND", s.ComfyUIUSDPerSecond, "a decimal number of US dollars, for example 0.000337")
	}
	credit, err := billing.ParseUSD(s.SignupCreditUSD)
	if err != nil || credit < 0 {
		wrong("SIGNUP_CREDIT_USD", s.SignupCreditUSD, "a decimal number of US dollars, for example 1 or 0.50")
	}
	c.SignupCredit = credit
	if _, err := cron.ParseStandard(s.SyncSchedule); err != nil {
		wrong("SYNC_SCHEDULE", s.SyncSchedule, "a cron expression with five fields, for example */5 * * * *")
	}
	for _, h := range splitList(s.OutboundAllow) {
		if strings.ContainsAny(h, " \t") || strings.Contains(h, "://") {
			wrong("OUTBOUND_ALLOW", h, "hosts, host:port or CIDRs, separated by commas")
		}
		c.Allow = append(c.Allow, h)
	}
	for _, f := range []struct {
		variable, path, want string
		folder, optional     bool
	}{
		{variable: "WORKFLOWS_DIR", path: s.WorkflowsDir, want: "a folder", folder: true, optional: true},
		{variable: "TOOLS_DIR", path: s.ToolsDir, want: "a folder that exists", folder: true},
		{variable: "TOOLS_FILE", path: s.ToolsFile, want: "a file that exists"},
		{variable: "GPU_RATES_FILE", path: s.GPURatesFile, want: "a file that exists"},
	} {
		if info, err := os.Stat(f.path); f.path != "" && !(f.optional && errors.Is(err, os.ErrNotExist)) && (err != nil || info.IsDir() != f.folder) {
			wrong(f.variable, f.path, f.want)
		}
	}
	if strings.ContainsFunc(s.AdminToken, func(r rune) bool { return r <= ' ' || r > '~' }) {
		wrong("ADMIN_TOKEN", "(hidden)", "letters, digits and signs without spaces, as fits into a header")
	}
	if _, ok := httpURL(s.PostgresMirrorURL); s.PostgresMirrorURL != "" && !ok {
		wrong("POSTGRES_MIRROR_URL", redactURL(s.PostgresMirrorURL), "an http:// or https:// address")
	}
	if !oneOf(s.LogLevel, "debug", "info", "warn", "error") {
		wrong("LOG_LEVEL", s.LogLevel, "debug, info, warn or error")
	}
	if !oneOf(s.LogFormat, "text", "json") {
		wrong("LOG_FORMAT", s.LogFormat, "text or json")
	}
	if abs, err := filepath.Abs(s.DataDir); err != nil {
		wrong("DATA_DIR", s.DataDir, "a folder")
	} else {
		c.DataDir = abs
	}
	return c, errors.Join(problems...)
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
