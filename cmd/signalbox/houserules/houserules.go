// Package houserules holds the settings that operators change in the console while the program runs.
package houserules

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/internal/blocklist"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// The settings that operators change in the console, by their names in the database.
const (
	Access          = "access"
	RunsAtOnce      = "runs-at-once"
	RunsPerDay      = "runs-per-day"
	BatchRuns       = "batch-runs"
	StreamsAtOnce   = "streams-at-once"
	UploadMB        = "upload-mb"
	ResultMB        = "result-mb"
	Margins         = "margins"
	SharePercent    = "share-percent"
	ShareUSD        = "share-usd"
	Support         = "support"
	Buy             = "buy"
	DefaultTool     = "default-tool"
	Terms           = "terms"
	Privacy         = "privacy"
	BlockedWords    = "blocked-words"
	BlockedPatterns = "blocked-patterns"
	Strikes         = "strikes"
	StrikeDays      = "strike-days"
	MuteHours       = "mute-hours"
)

// Rules are what operators set in the console. One rule says what is in force: the environment where it sets something other than the
// default, else the console, else the default.
type Rules struct {
	store   *settings.Store
	cfg     config.Config
	list    []rule
	blocked atomic.Pointer[blocked] // nil: not read yet
	// Changed is called when the margins or the bounds of shares are others; nil until the tools are loaded.
	Changed func(ctx context.Context)
}

// rule is one of them.
type rule struct {
	console.Setting                            // Value is the one of the environment, or the default
	check           func(value string) *string // what is expected instead; nil: it is right
}

// Open reads what was set before.
func Open(ctx context.Context, pool *pgxpool.Pool, c config.Config) (*Rules, error) {
	store, err := settings.Open(ctx, pool)
	if err != nil {
		return nil, err
	}
	rules, err := list(c)
	return &Rules{store: store, cfg: c, list: rules}, err
}

// list are all settings, as the environment has them.
func list(c config.Config) ([]rule, error) {
	margins := ""
	if c.ServiceMarginsFile != "" {
		data, err := os.ReadFile(c.ServiceMarginsFile)
		if err != nil {
			return nil, err
		}
		margins = strings.TrimSpace(string(data))
	}
	limits := c.Limits
	add := func(name, group, title, variable, found, usual, inForce, about string, long bool, check func(string) *string) rule {
		s := console.Setting{Name: name, Group: group, Title: title, Variable: variable, Value: inForce, About: about, Long: long, Source: console.FromDefault}
		if found != usual {
			s.Source = console.FromEnvironment
		}
		return rule{s, check}
	}
	return []rule{
		add(Access, "Access", "Who may use the tools", "ACCESS", c.Access, config.AccessOpen, c.Access, "open: everybody; listed: only those whom a rule allows.", false, expects("open or listed", func(v string) bool { return config.OneOf(v, config.AccessOpen, config.AccessListed) })),
		add(RunsAtOnce, "Limits of each account", "Runs at once", "RUNS_AT_ONCE", c.RunsAtOnce, "", strconv.Itoa(limits.AtOnce), "0: no limit.", false, wholeNumber),
		add(RunsPerDay, "Limits of each account", "Runs a day", "RUNS_PER_DAY", c.RunsPerDay, "0", strconv.Itoa(limits.PerDay), "In UTC; 0: no limit.", false, wholeNumber),
		add(BatchRuns, "Limits of each account", "Runs of one batch", "BATCH_RUNS", c.BatchRuns, "100", c.BatchRuns, "For /batch and /again.", false, expects(config.BatchExpected, config.IsBatch)),
		add(StreamsAtOnce, "Limits of each account", "Event streams at once", "STREAMS_AT_ONCE", c.StreamsAtOnce, "20", strconv.Itoa(limits.Streams), "0: no limit.", false, wholeNumber),
		add(UploadMB, "Limits of each account", "Megabytes of uploads", "UPLOAD_MB", c.UploadMB, "", strconv.FormatInt(limits.UploadBytes>>20, 10), "0: no limit.", false, wholeNumber),
		add(ResultMB, "Limits of each account", "Megabytes of results", "RESULT_MB", c.ResultMB, "", strconv.FormatInt(limits.ResultBytes>>20, 10), "0: no limit.", false, wholeNumber),
		add(Margins, "Money", "Margins", "SERVICE_MARGINS_FILE", c.ServiceMarginsFile, "", margins, `Added to the prices of services, as JSON: {"vidu": {"markup": "0.2", "minimumUsd": "0.01"}, "*": {"markup": "0.05"}}. Runs under way keep their price.`, true, marginProblem),
		add(SharePercent, "Money", "Largest share of an author, in percent", "", "", "", "0", "Of what a run of a chain or tool costs, added to its price for who made it. 0: none. Larger ones count as this.", false, shareProblem("a number from 0 to 100", "100")),
		add(ShareUSD, "Money", "Largest share of an author, in US dollars", "", "", "", "0", "In place of a percentage, for each run that costs something. 0: none.", false, shareProblem("US dollars from 0 to 1000, with at most 9 decimals", "1000")),
		add(DefaultTool, "Chats", "Tool for words without a command", "DEFAULT_TOOL", c.DefaultTool, "", c.DefaultTool, "By its id or command; empty: the one used most.", false, expects(config.OneWord, config.IsOneWord)),
		add(BlockedWords, "What is not made", "Words", "", "", "", "", "One a line, with * behind it the beginning of one. A run whose texts have one is refused, however it is written. Empty: none.", true, blockedProblem(func(v string) error {
			_, err := blocklist.Parse(v, "")
			return err
		})),
		add(BlockedPatterns, "What is not made", "Patterns", "", "", "", "", "Regular expressions (RE2), one a line, for texts in lower case without accents. Empty: none.", true, blockedProblem(func(v string) error {
			_, err := blocklist.Parse("", v)
			return err
		})),
		add(Strikes, "What is reported", "Strikes before a mute", "", "", "", "3", "With REPORTS=on; 0: strikes never mute.", false, wholeNumber),
		add(StrikeDays, "What is reported", "Days for which a strike counts", "", "", "", "30", "From 1 to 3650.", false, numberTo(3650)),
		add(MuteHours, "What is reported", "Hours of a mute", "", "", "", "24", "From 1 to 8760.", false, numberTo(8760)),
		add(Buy, "Texts", "How to get credit", "BUY_TEXT", c.BuyText, "", c.BuyText, "For /buy.", true, expects("a text of at most 1000 bytes", func(v string) bool { return len(v) <= config.MaxBuyText })),
		add(Support, "Texts", "Whom to ask about payments", "SUPPORT", c.Support, "", c.Support, "For /paysupport: an address or a name.", false, expects("one line of at most 500 bytes", func(v string) bool { return len(v) <= 500 && !strings.ContainsAny(v, "\r\n") })),
		add(Terms, "Texts", "Terms", "TERMS_URL", c.TermsURL, "", c.TermsURL, "For /terms: the text itself, or its address.", true, shortText),
		add(Privacy, "Texts", "Privacy", "PRIVACY_URL", c.PrivacyURL, "", c.PrivacyURL, "For /privacy: the text itself, or its address.", true, shortText),
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

func numberTo(most int) func(string) *string {
	return expects("a whole number from 1 to "+strconv.Itoa(most), func(v string) bool {
		n, err := strconv.Atoi(v)
		return err == nil && n >= 1 && n <= most
	})
}

func shortText(value string) *string {
	return expects("a text of at most 3500 bytes", func(v string) bool { return len(v) <= maxText })(value)
}

// maxBlocked bounds each list, in bytes: every run looks through it.
const maxBlocked = 64 << 10

func blockedProblem(parse func(string) error) func(string) *string {
	return func(value string) *string {
		said := "at most 65536 bytes"
		if len(value) <= maxBlocked {
			err := parse(value)
			if err == nil {
				return nil
			}
			said = "an entry a line: " + err.Error()
		}
		return &said
	}
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

func shareProblem(expected, most string) func(string) *string {
	return expects(expected, func(v string) bool {
		share, err := billing.ParseShare(v)
		return v != "" && err == nil && (share == nil || share.USD != "" && billing.ShareBounds{USD: most}.Allows(share))
	})
}

// List gives all settings as they are in force.
func (h *Rules) List() []console.Setting {
	list := make([]console.Setting, len(h.list))
	for i, rule := range h.list {
		list[i] = h.now(rule)
	}
	return list
}

// now is a rule as it is in force. A value that is none any more, as of another version of the program, does not count.
func (h *Rules) now(rule rule) console.Setting {
	s := rule.Setting
	if set, ok := h.store.Get(s.Name); ok && s.Source != console.FromEnvironment && rule.check(set.Text) == nil {
		s.Value, s.Source, s.By, s.At = set.Text, console.FromConsole, set.By, set.At
	}
	return s
}

// Value is what is in force of a name.
func (h *Rules) Value(name string) string {
	for _, rule := range h.list {
		if rule.Name == name {
			return h.now(rule).Value
		}
	}
	return ""
}

// Set sets a value and takes it into force.
func (h *Rules) Set(ctx context.Context, name, value, by string) error {
	value = strings.TrimSpace(strings.ReplaceAll(value, "\r\n", "\n"))
	for _, rule := range h.list {
		if rule.Name != name {
			continue
		}
		if wrong := rule.check(value); wrong != nil {
			return registry.Errorf(registry.CodeInvalidInput, "%s: found %.60q, expected %s.", rule.Title, value, *wrong)
		}
		err := h.took(ctx, name, h.store.Set(ctx, name, value, by))
		if errors.Is(err, settings.ErrOvertaken) {
			err = registry.Errorf(registry.CodeInvalidInput, "Somebody changed this meanwhile: %s is “%s” now. What you filled in is kept below and not saved; the same button puts it in place of that.", rule.Title, h.Value(name))
		}
		return err
	}
	return registry.Errorf(registry.CodeInvalidInput, "There is no setting %.60q.", name)
}

// Clear goes back to the default.
func (h *Rules) Clear(ctx context.Context, name string) error {
	return h.took(ctx, name, h.store.Clear(ctx, name))
}

// prices are the settings that are in the prices of tools.
func (h *Rules) prices() string {
	return strings.Join([]string{h.Value(Margins), h.Value(SharePercent), h.Value(ShareUSD)}, "\n")
}

// took has the tools follow what is in their prices.
func (h *Rules) took(ctx context.Context, name string, err error) error {
	if err == nil && slices.Contains([]string{Margins, SharePercent, ShareUSD}, name) && h.Changed != nil {
		h.Changed(context.WithoutCancel(ctx))
	}
	return err
}

// Follow takes over what other processes set; reload reads the tools again when their prices are others.
func (h *Rules) Follow(ctx context.Context, log *slog.Logger, reload func(context.Context)) {
	prices := h.prices()
	h.store.Follow(ctx, log, func() {
		if now := h.prices(); now != prices {
			prices = now
			reload(ctx)
		}
	})
}

// Look has Follow look at once whether another process set something.
func (h *Rules) Look() { h.store.Look() }

// ServiceMargins are those in force; their text was checked when it was set.
func (h *Rules) ServiceMargins() billing.Margins {
	text := h.Value(Margins)
	if text == "" {
		return billing.Margins{}
	}
	margins, err := billing.ParseMargins([]byte(text))
	if err != nil {
		return billing.Margins{}
	}
	return margins
}

// Shares are the largest shares of authors in force.
func (h *Rules) Shares() billing.ShareBounds {
	return billing.ShareBounds{Percent: h.Value(SharePercent), USD: h.Value(ShareUSD)}
}

// blocked are lists as they were read.
type blocked struct {
	words, patterns string
	list            *blocklist.List
}

// Screen finds in a text what is not made here.
func (h *Rules) Screen(text string) (entry string, found bool) {
	set, _ := h.store.Get(BlockedWords)
	words := set.Text
	set, _ = h.store.Get(BlockedPatterns)
	patterns := set.Text
	if words == "" && patterns == "" {
		return "", false
	}
	b := h.blocked.Load()
	if b == nil || b.words != words || b.patterns != patterns {
		list, err := blocklist.Parse(words, patterns)
		if err != nil {
			return "", false // it was checked when it was set
		}
		b = &blocked{words, patterns, list}
		h.blocked.Store(b)
	}
	return b.list.Find(text)
}

// Says gives one of the texts.
func (h *Rules) Says(name string) turn.Saying { return func() string { return h.Value(name) } }

// Number gives one that was checked when it was set.
func (h *Rules) Number(name string) int {
	n, _ := strconv.Atoi(h.Value(name))
	return n
}

// Governs lets access and limits be those in force.
func (h *Rules) Governs(c *users.Config) {
	c.Defaults = func() (bool, users.Limits) {
		limits := h.cfg.Limits
		limits.AtOnce, limits.PerDay, limits.Streams = h.Number(RunsAtOnce), h.Number(RunsPerDay), h.Number(StreamsAtOnce)
		limits.UploadBytes, limits.ResultBytes = int64(h.Number(UploadMB))<<20, int64(h.Number(ResultMB))<<20
		return h.Value(Access) == config.AccessListed, limits
	}
}
