package request

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/users"
)

// WantedKey is an API key as somebody asks for it. What is nil, and an empty limit, restricts nothing; what restricts to nothing is refused.
type WantedKey struct {
	Label   string    `json:"label"`
	Limit   KeyLimit  `json:"spendLimitUsd"` // what its runs may cost in a calendar month, such as "5"
	Agent   bool      `json:"agent"`         // a model acts with it: what changes something waits for the owner's approval
	Tools   toolNames `json:"tools"`         // all that it may use: ids of tools, or how ids begin with a * behind it
	Expires *string   `json:"expires"`       // when it ends, RFC 3339
	Days    *int      `json:"days"`          // or after how many days from now
	AllRuns bool      `json:"allRuns"`       // though restricted, it sees all runs of the account, not its own alone
}

// toolNames is nil only where nothing was said of tools: a program that means a list and has none often writes null.
type toolNames []string

// UnmarshalJSON takes null for a list of nothing.
func (n *toolNames) UnmarshalJSON(raw []byte) error {
	err := json.Unmarshal(raw, (*[]string)(n))
	if *n == nil {
		*n = toolNames{}
	}
	return err
}

// KeyLimit is empty only where nothing was said of a limit: a program that means one and has none writes null, or nothing between quotes.
type KeyLimit string

// UnmarshalJSON takes null and an empty text for a limit of nothing.
func (l *KeyLimit) UnmarshalJSON(raw []byte) error {
	err := json.Unmarshal(raw, (*string)(l))
	if strings.TrimSpace(string(*l)) == "" {
		*l = "0"
	}
	return err
}

const (
	maxKeyTools = 100
	maxKeyDays  = 3650
)

// Key checks what is wanted for an account. within is the end of the key that asks for it: none that it makes lasts longer.
func (k WantedKey) Key(tools *catalog.Snapshot, a users.Account, now time.Time, within *time.Time) (users.NewKey, error) {
	made := users.NewKey{Label: k.Label, Agent: k.Agent, Tools: k.Tools, AllRuns: k.AllRuns}
	if limit := strings.TrimSpace(string(k.Limit)); limit != "" {
		amount, err := billing.ParseUSD(limit)
		if err != nil || amount <= 0 {
			return made, registry.Say(registry.CodeInvalidInput, said.KeyLimit).At("spendLimitUsd")
		}
		made.SpendLimit = int64(amount)
	}
	switch {
	case k.Tools != nil && len(k.Tools) == 0:
		return made, registry.Errorf(registry.CodeInvalidInput, "expected at least one tool, or no list for all of them").At("tools")
	case k.Days != nil && (*k.Days < 1 || *k.Days > maxKeyDays):
		return made, registry.Say(registry.CodeInvalidInput, said.KeyDays, "most", maxKeyDays).At("days")
	case k.Days != nil && k.Expires != nil:
		return made, registry.Errorf(registry.CodeInvalidInput, "expected one of expires and days").At("days")
	case k.Days != nil:
		made.ExpiresAt = new(now.AddDate(0, 0, *k.Days))
	case k.Expires != nil:
		at, err := time.Parse(time.RFC3339, *k.Expires)
		if err != nil {
			return made, registry.Errorf(registry.CodeInvalidInput, "expires: found %.40q, expected a time such as 2030-12-31T00:00:00Z", *k.Expires).At("expires")
		}
		made.ExpiresAt = &at
	}
	switch {
	case within != nil && made.ExpiresAt == nil:
		made.ExpiresAt = within
	case within != nil && made.ExpiresAt.After(*within):
		return made, registry.Errorf(registry.CodeInvalidInput, "this key ends on %s, and makes none that lasts longer", within.UTC().Format(time.RFC3339)).At("expires")
	}
	return made, checkTools(k.Tools, tools, a)
}

// checkTools refuses names that name no tool which somebody's key could use.
func checkTools(names []string, tools *catalog.Snapshot, a users.Account) error {
	if len(names) > maxKeyTools {
		return registry.Errorf(registry.CodeInvalidInput, "expected at most %d names; several tools have one as how their ids begin, such as flux*", maxKeyTools).At("tools")
	}
	a.Operator = false // a restricted key is never an operator's
	var known []string
	for t := range tools.Each() {
		if Knows(a, t) {
			known = append(known, t.ToolID)
		}
	}
	for _, name := range names {
		if err := checkTool(name, known); err != nil {
			return err.At("tools")
		}
	}
	return nil
}

func checkTool(name string, known []string) *registry.Error {
	for _, id := range known {
		if registry.NamesTool(name, id) {
			return nil
		}
	}
	if near := edit.Nearest(strings.TrimSuffix(name, "*"), known); near != "" {
		return registry.Say(registry.CodeInvalidInput, said.KeyToolNear, "name", name, "near", near)
	}
	return registry.Say(registry.CodeInvalidInput, said.KeyToolUnknown, "name", name)
}
