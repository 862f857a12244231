package main

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// The settings that operators change in the console, by their names in the database.
const (
	accessSetting      = "access"
	atOnceSetting      = "runs-at-once"
	perDaySetting      = "runs-per-day"
	batchSetting       = "batch-runs"
	streamsSetting     = "streams-at-once"
	uploadSetting      = "upload-mb"
	resultSetting      = "result-mb"
	marginSetting      = "margins"
	supportSetting     = "support"
	buySetting         = "buy"
	defaultToolSetting = "default-tool"
	termsSetting       = "terms"
	privacySetting     = "privacy"
)

// houseRules are what operators set in the console. One rule says what is in force: the environment where it sets something other than the
// default, else the console, else the default.
type houseRules struct {
	store *settings.Store
	cfg   Config
	list  []houseRule
	// changed is called when the margins are others; nil until the tools are loaded.
	changed func(ctx context.Context)
}

// houseRule is one of them.
type houseRule struct {
	console.Setting                            // Value is the one of the environment, or the default
	check           func(value string) *string // what is expected instead; nil: it is right
}

// newHouseRules reads what was set before.
func newHouseRules(ctx context.Context, pool *pgxpool.Pool, c Config) (*houseRules, error) {
	store, err := settings.Open(ctx, pool)
	if err != nil {
		return nil, err
	}
	list, err := houseRuleList(c)
	return &houseRules{store: store, cfg: c, list: list}, err
}

func houseRuleList(c Config) ([]houseRule, error) {
	margins := ""
	if c.ServiceMarginsFile != "" {
		data, err := os.ReadFile(c.ServiceMarginsFile)
		if err != nil {
			return nil, err
		}
		margins = strings.TrimSpace(string(data))
	}
	limits := c.Limits
	rule := func(name, group, title, variable, found, usual, inForce, about string, long bool, check func(string) *string) houseRule {
		s := console.Setting{Name: name, Group: group, Title: title, Variable: variable, Value: inForce, About: about, Long: long, Source: console.FromDefault}
		if found != usual {
			s.Source = console.FromEnvironment
		}
		return houseRule{s, check}
	}
	return []houseRule{
		rule(accessSetting, "Access", "Who may use the tools", "ACCESS", c.Access, accessOpen, c.Access, "open: whoever comes; listed: only those whom a rule allows.", false, expects("open or listed", func(v string) bool { return oneOf(v, accessOpen, accessListed) })),
		rule(atOnceSetting, "Limits of each account", "Runs at once", "RUNS_AT_ONCE", c.RunsAtOnce, "", strconv.Itoa(limits.AtOnce), "0: no limit.", false, wholeNumber),
		rule(perDaySetting, "Limits of each account", "Runs a day", "RUNS_PER_DAY", c.RunsPerDay, "0", strconv.Itoa(limits.PerDay), "In UTC; 0: no limit.", false, wholeNumber),
		rule(batchSetting, "Limits of each account", "Runs of one batch", "BATCH_RUNS", c.BatchRuns, "100", c.BatchRuns, "For /batch and /again.", false, expects(batchExpected, isBatch)),
		rule(streamsSetting, "Limits of each account", "Event streams at once", "STREAMS_AT_ONCE", c.StreamsAtOnce, "20", strconv.Itoa(limits.Streams), "0: no limit.", false, wholeNumber),
		rule(uploadSetting, "Limits of each account", "Megabytes of uploads", "UPLOAD_MB", c.UploadMB, "", strconv.FormatInt(limits.UploadBytes>>20, 10), "0: no limit.", false, wholeNumber),
		rule(resultSetting, "Limits of each account", "Megabytes of results", "RESULT_MB", c.ResultMB, "", strconv.FormatInt(limits.ResultBytes>>20, 10), "0: no limit.", false, wholeNumber),
		rule(marginSetting, "Money", "Margins", "SERVICE_MARGINS_FILE", c.ServiceMarginsFile, "", margins, `Added to the prices of services, as JSON: {"vidu": {"markup": "0.2", "minimumUsd": "0.01"}, "*": {"markup": "0.05"}}. Runs under way keep their price.`, true, marginProblem),
		rule(defaultToolSetting, "Chats", "Tool for words without a command", "DEFAULT_TOOL", c.DefaultTool, "", c.DefaultTool, "By its id or command; empty: the one used most.", false, expects(oneWord, isOneWord)),
		rule(buySetting, "Texts", "How to get credit", "BUY_TEXT", c.BuyText, "", c.BuyText, "For /buy.", true, expects("a text of at most 1000 bytes", func(v string) bool { return len(v) <= maxBuyText })),
		rule(supportSetting, "Texts", "Whom to ask about payments", "SUPPORT", c.Support, "", c.Support, "For /paysupport: an address or a name.", false, expects("one line of at most 500 bytes", func(v string) bool { return len(v) <= 500 && !strings.ContainsAny(v, "\r\n") })),
		rule(termsSetting, "Texts", "Terms", "TERMS_URL", c.TermsURL, "", c.TermsURL, "For /terms: the text itself, or its address.", true, shortText),
		rule(privacySetting, "Texts", "Privacy", "PRIVACY_URL", c.PrivacyURL, "", c.PrivacyURL, "For /privacy: the text itself, or its address.", true, shortText),
	}, nil
}

// expects checks a value and says what is expected.
func expects(what string, ok func(string) bool) func(string) *string {
	return func(value string) *string {
		if ok(value) {
			return nil
		}
		return &what
	}
}

// maxBatchRuns bounds what an operator may let a batch have.
const maxBatchRuns = 1000

const batchExpected = "a whole number from 1 to 1000"

func isBatch(v string) bool {
	n, err := strconv.Atoi(v)
	return err == nil && n >= 1 && n <= maxBatchRuns
}

const oneWord = "the id or the command of a tool: one word"

func isOneWord(v string) bool { return !strings.ContainsAny(v, " \t\r\n") }

const (
	maxNumber = 1_000_000_000
	maxText   = 3500 // bytes: it fits into a message of a chat
)

func wholeNumber(value string) *string {
	return expects("a whole number from 0 to 1000000000, 0 for no limit", func(v string) bool {
		n, err := strconv.Atoi(v)
		return err == nil && n >= 0 && n <= maxNumber
	})(value)
}

func shortText(value string) *string {
	return expects("a text of at most 3500 bytes", func(v string) bool { return len(v) <= maxText })(value)
}

func marginProblem(value string) *string {
	if value == "" {
		return nil
	}
	if _, err := billing.ParseMargins([]byte(value)); err != nil {
		said := "margins: " + err.Error()
		return &said
	}
	return nil
}

// List gives all settings as they are in force.
func (h *houseRules) List() []console.Setting {
	list := make([]console.Setting, len(h.list))
	for i, rule := range h.list {
		list[i] = h.now(rule)
	}
	return list
}

// now is a rule as it is in force. A value that is none any more, as of another version of the program, does not count.
func (h *houseRules) now(rule houseRule) console.Setting {
	s := rule.Setting
	if set, ok := h.store.Get(s.Name); ok && s.Source != console.FromEnvironment && rule.check(set.Text) == nil {
		s.Value, s.Source, s.By, s.At = set.Text, console.FromConsole, set.By, set.At
	}
	return s
}

// value is what is in force of a name.
func (h *houseRules) value(name string) string {
	for _, rule := range h.list {
		if rule.Name == name {
			return h.now(rule).Value
		}
	}
	return ""
}

// Set sets a value and takes it into force.
func (h *houseRules) Set(ctx context.Context, name, value, by string) error {
	value = strings.TrimSpace(strings.ReplaceAll(value, "\r\n", "\n"))
	for _, rule := range h.list {
		if rule.Name != name {
			continue
		}
		if wrong := rule.check(value); wrong != nil {
			return registry.Errorf(registry.CodeInvalidInput, "%s: found %.60q, expected %s.", rule.Title, value, *wrong)
		}
		return h.took(ctx, name, h.store.Set(ctx, name, value, by))
	}
	return registry.Errorf(registry.CodeInvalidInput, "There is no setting %.60q.", name)
}

// Clear goes back to the default.
func (h *houseRules) Clear(ctx context.Context, name string) error {
	return h.took(ctx, name, h.store.Clear(ctx, name))
}

// took has the tools follow their margins.
func (h *houseRules) took(ctx context.Context, name string, err error) error {
	if err == nil && name == marginSetting && h.changed != nil {
		h.changed(context.WithoutCancel(ctx))
	}
	return err
}

// follow takes over what other processes set; reload reads the tools again when their margins are others.
func (h *houseRules) follow(ctx context.Context, log *slog.Logger, reload func(context.Context)) {
	margins := h.value(marginSetting)
	h.store.Follow(ctx, log, func() {
		if now := h.value(marginSetting); now != margins {
			margins = now
			reload(ctx)
		}
	})
}

// margins are those in force; their text was checked when it was set.
func (h *houseRules) margins() billing.Margins {
	text := h.value(marginSetting)
	if text == "" {
		return billing.Margins{}
	}
	margins, err := billing.ParseMargins([]byte(text))
	if err != nil {
		return billing.Margins{}
	}
	return margins
}

// says gives one of the texts.
func (h *houseRules) says(name string) turn.Saying { return func() string { return h.value(name) } }

// number gives one that was checked when it was set.
func (h *houseRules) number(name string) int {
	n, _ := strconv.Atoi(h.value(name))
	return n
}

// governs lets access and limits be those in force.
func (h *houseRules) governs(c *users.Config) {
	c.Defaults = func() (bool, users.Limits) {
		limits := h.cfg.Limits
		limits.AtOnce, limits.PerDay, limits.Streams = h.number(atOnceSetting), h.number(perDaySetting), h.number(streamsSetting)
		limits.UploadBytes, limits.ResultBytes = int64(h.number(uploadSetting))<<20, int64(h.number(resultSetting))<<20
		return h.value(accessSetting) == accessListed, limits
	}
}
