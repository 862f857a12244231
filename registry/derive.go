package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/said"
)

// State gives the tool's life state; no status means active.
func (t *Tool) State() State {
	if t.Status == nil || t.Status.State == "" {
		return StateActive
	}
	return t.Status.State
}

// Hints gives the platform hints, derived from the first required input where the tool has none
// (A15): a media input asks for its file, which may come with a caption or be replied to.
func (t *Tool) Hints() PlatformHints {
	if t.PlatformHints != nil {
		return *t.PlatformHints
	}
	for _, f := range t.InputSchema.Ordered() {
		if !f.Required {
			continue
		}
		if f.Type.IsMedia() {
			return PlatformHints{PrimaryInput: string(f.Type), SupportsFileCaption: true, SupportsReplyWithCommand: true}
		}
		break
	}
	return PlatformHints{PrimaryInput: "text"}
}

// Delivers gives the delivery mode. A missing one is derived (A87): webhook where there is a webhook
// strategy, else immediate.
func (t *Tool) Delivers() DeliveryMode {
	switch {
	case t.DeliveryMode != "":
		return t.DeliveryMode
	case t.WebhookStrategy != nil:
		return DeliveryWebhook
	}
	return DeliveryImmediate
}

// RunPath is where the HTTP API runs the tool: APIPath, or /api/run/ and the escaped id.
func (t *Tool) RunPath() string {
	if t.APIPath != "" {
		return t.APIPath
	}
	return defaultRunPath(t.ToolID)
}

// RunPrefix begins the addresses of tools that name none themselves.
const RunPrefix = "/api/run/"

func defaultRunPath(toolID string) string { return RunPrefix + url.PathEscape(toolID) }

// Timeout is how long a run may take; zero means the runner's default.
func (t *Tool) Timeout() time.Duration { return time.Duration(t.TimeoutMs) * time.Millisecond }

// Ordered gives the inputs as people should see them: those with an Order by it, then the others as
// they stand in the schema.
func (s InputSchema) Ordered() []InputField {
	fields := slices.Clone(s)
	slices.SortStableFunc(fields, func(a, b InputField) int {
		switch {
		case a.Order == b.Order:
			return 0
		case a.Order == 0 || (b.Order != 0 && b.Order < a.Order):
			return 1
		}
		return -1
	})
	return fields
}

// StableID makes an id that never changes of a service and the source's own stable key, such as a
// deployment id: the service and ten hex digits of the key's hash (A90).
func StableID(service, key string) string {
	sum := sha256.Sum256([]byte(service + "\x00" + key))
	return service + "-" + hex.EncodeToString(sum[:])[:10]
}

// Migrate gives stored preferences, by input name, under the tool's present input names (A88), and
// whether anything moved. It does not modify prefs. A value already stored under the new name wins.
func (t *Tool) Migrate(prefs map[string]any) (map[string]any, bool) {
	migrated, moved := prefs, false
	for _, m := range t.Migrations {
		value, ok := migrated[m.From]
		if !ok || !applies(m, migrated) {
			continue
		}
		if !moved {
			migrated, moved = maps.Clone(prefs), true
		}
		delete(migrated, m.From)
		if _, taken := migrated[m.To]; !taken {
			migrated[m.To] = value
		}
	}
	return migrated, moved
}

func applies(m Rename, prefs map[string]any) bool {
	for name, want := range m.When {
		if have, ok := prefs[name]; !ok || !SameValue(have, want) {
			return false
		}
	}
	return true
}

// Audience is who looks at or starts tools.
type Audience string

// The audiences that have no list of tools; see Only for those that have one.
const (
	Everyone Audience = ""         // people in chats, on the page and with API keys
	Insiders Audience = "insiders" // operators and agents of the house: internal tools too
)

// onlyPrefix begins the audiences that Only gives; what may be used follows, a line each.
const onlyPrefix = "only\n"

// Only is an audience of which no more is everyone's than the tools that are named: by ids, or by how ids begin with a * behind it. Without names it is
// Everyone. To it all other tools look as if they did not exist.
func Only(names []string) Audience {
	if len(names) == 0 {
		return Everyone
	}
	return Audience(onlyPrefix + strings.Join(names, "\n"))
}

// Names reports whether a tool of the id may be among those of the audience.
func (a Audience) Names(toolID string) bool {
	list, limited := strings.CutPrefix(string(a), onlyPrefix)
	if !limited {
		return true
	}
	for name := range strings.SplitSeq(list, "\n") {
		if NamesTool(name, toolID) {
			return true
		}
	}
	return false
}

// NamesTool reports whether a name as Only takes it names the tool of the id.
func NamesTool(name, toolID string) bool {
	beginning, open := strings.CutSuffix(name, "*")
	return name == toolID || open && strings.HasPrefix(toolID, beginning)
}

// ListedFor reports whether the tool may appear in lists and search results for a (A81). Hidden tools
// are in no list.
func (t *Tool) ListedFor(a Audience) bool {
	switch t.Visibility {
	case VisibilityPublic, "":
		return a.Names(t.ToolID)
	case VisibilityInternal:
		return a == Insiders
	}
	return false
}

// OfferedTo reports whether the tool belongs into new menus and command lists for a: listed, and
// neither deprecated nor unavailable (A80).
func (t *Tool) OfferedTo(a Audience) bool {
	return t.ListedFor(a) && t.State() == StateActive
}

// InMenus reports whether lists that people pick from show the tool. With "menu": false in its metadata it is there for who looks
// for it, by name, by search and by its category, and for models: one that does a small step, or that another tool's command has in it.
func (t *Tool) InMenus() bool { return t.Metadata["menu"] != false }

// MenusFirst orders tools that menus show before the small steps, which no menu does.
func MenusFirst(a, b *Tool) int {
	switch in := a.InMenus(); {
	case in == b.InMenus():
		return 0
	case in:
		return -1
	}
	return 1
}

// After names the tool that a model has to try before this one, by "after" in its metadata: what is here already comes before what
// is outside. Empty where there is none.
func (t *Tool) After() string {
	after, _ := t.Metadata["after"].(string)
	return after
}

// KnownTo reports whether a may know of the tool. To everyone an internal tool looks as if it did not exist (A81); a hidden
// one is there for those who know its name.
func (t *Tool) KnownTo(a Audience) bool {
	return (t.Visibility != VisibilityInternal || a == Insiders) && a.Names(t.ToolID)
}

// Refusal says why a may not run the tool now, or nil. Anyone who can tell people that there is no such tool asks KnownTo first; an unavailable tool is refused with its reason. A deprecated one runs, see Notice.
func (t *Tool) Refusal(a Audience) *Error {
	if !t.KnownTo(a) {
		return Say(CodeUnavailable, said.NoTool)
	}
	if t.State() != StateUnavailable {
		return nil
	}
	if t.Status.Replacement != "" {
		return Say(CodeUnavailable, said.UnavailableInstead, "tool", t.DisplayName, "reason", t.Status.Text(), "other", t.Status.Replacement)
	}
	return Say(CodeUnavailable, said.Unavailable, "tool", t.DisplayName, "reason", t.Status.Text())
}

// Notice is the line shown with a deprecated tool: that it goes, why, and what replaces it. It is
// empty for all others.
func (t *Tool) Notice() string {
	if t.State() != StateDeprecated {
		return ""
	}
	notice := t.DisplayName + " is deprecated"
	if t.Status.Reason != "" {
		notice += ": " + t.Status.Reason
	}
	if t.Status.Replacement != "" {
		notice += "; use " + t.Status.Replacement + " instead"
	}
	return notice
}

// HasIntent reports whether one of the tags is one of the tool's.
func (t *Tool) HasIntent(tags []string) bool {
	return slices.ContainsFunc(t.IntentTags, func(own string) bool {
		return slices.ContainsFunc(tags, func(tag string) bool { return strings.EqualFold(own, strings.TrimSpace(tag)) })
	})
}

// Summary says in a few words what a run costs (A49).
func (m *CostingModel) Summary() string {
	switch {
	case m == nil:
		return "free"
	case m.Fees:
		own := *m
		own.Fees = false
		return own.Summary() + ", and what others charge for parts of it"
	case m.UpTo:
		return fmt.Sprintf("up to %s USD per %s", decimal.Plain(m.Rate), m.Unit)
	case m.RateSource == RateStatic:
		return fmt.Sprintf("%s USD per %s", decimal.Plain(m.Rate), m.Unit)
	case m.RateSource == RateMachine:
		return fmt.Sprintf("by the machine that runs it, per %s", m.Unit)
	case m.RateSource == RateHistorical:
		return fmt.Sprintf("as it has cost lately, per %s", m.Unit)
	}
	return "as the service charges it"
}
