// Package config checks what the environment and the flags say, and reads the files that they name.
package config

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/settings"
	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/loras"
	"github.com/signalbox/signalbox/platforms/discord/gateway"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Config is a checked configuration.
type Config struct {
	settings.Settings
	Store                     settings.Store // of files; its zero value: DATA_DIR
	Key                       []byte         // see HouseKey; nil: in DATA_DIR
	Engines                   []*url.URL
	Loras                     map[string]loras.Lora
	Endpoints                 []*comfy.Endpoint
	GoneAfter                 time.Duration // see ComfyUIGoneAfter
	WakeFor                   time.Duration // see ComfyUIWakeFor
	ChecksAt                  float64       // see ResultChecksAt
	FleetSecret               []byte        // that signs messages to FleetHook
	FleetBusyAt               int
	FleetBusyAfter            time.Duration
	FleetIdleAfter            time.Duration
	Public                    *url.URL // nil: none
	TelegramAPI               *url.URL
	DiscordAPI                *url.URL
	Shards                    gateway.Shards
	SignupCredit              billing.NanoUSD
	Points                    billing.Points
	Limits                    users.Limits // of accounts that have no others
	RequestRate               int
	TokensPerDay              int // of each account's questions
	SeenPerDay                int // pictures of sites that a model describes; 0: none
	AskPerQuestion, AskPerDay billing.NanoUSD
	Rates                     billing.ModelRates // of models' tokens
	Proxies                   []netip.Prefix
	KeepResults               time.Duration // 0: for ever
	Allow                     []string
	Fetching                  func(bytes int64) io.Writer // watches the fetch of Postgres; nil: nobody does
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

// The values of ACCESS.
const (
	AccessOpen   = "open"
	AccessListed = "listed"
)

// Approval is what of a model's requests waits for a person's Approval.
func (c *Config) Approval() runs.Approval {
	if c.AutoRunRead == "false" {
		return runs.ApproveAll
	}
	return runs.ApproveWrites
}

// HTTPURL reads an address of a web server, without a slash at its end.
func HTTPURL(s string) (*url.URL, bool) {
	u, err := url.Parse(strings.TrimRight(s, "/"))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, false
	}
	return u, true
}

// Redact keeps what helps to find the mistake and drops user, password and query.
func Redact(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		if strings.ContainsAny(s, "@=") {
			return "(hidden)"
		}
		return s
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// List splits what is separated by commas.
func List(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// OneOf reports whether s is one of the values that are allowed.
func OneOf(s string, allowed ...string) bool { return slices.Contains(allowed, s) }

// DefaultDataDir is the user's data folder, or ./data where there is none.
func DefaultDataDir() string {
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "signalbox")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share", "signalbox")
	}
	return "data"
}

// BatchExpected is what BATCH_RUNS is expected to be.
const BatchExpected = "a whole number from 1 to 1000"

// IsBatch reports whether v is a number of runs that one batch may have.
func IsBatch(v string) bool {
	n, err := strconv.Atoi(v)
	return err == nil && n >= 1 && n <= maxBatchRuns
}

// maxBatchRuns bounds what an operator may let a batch have.
const maxBatchRuns = 1000

// OneWord is what DEFAULT_TOOL is expected to be.
const OneWord = "the id or the command of a tool: one word"

// IsOneWord reports whether v has no spaces.
func IsOneWord(v string) bool { return !strings.ContainsAny(v, " \t\r\n") }

// MaxBuyText bounds what /buy says, so that it fits into a message of every chat with the rest.
const MaxBuyText = 1000
