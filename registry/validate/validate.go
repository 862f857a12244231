package validate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Bounds of a definition.
const (
	maxToolIDBytes  = 128
	maxNameRunes    = 256
	maxInputs       = 500
	maxTimeout      = 7 * 24 * time.Hour
	maxAttempts     = 100
	maxCommandBytes = 32 // as Telegram and Discord have it
)

// Tool judges a definition and tells everything that is wrong with it at once: nil, or a Problems
// in which each entry names the tool and the field.
func Tool(t registry.Tool) error {
	v := validator{toolID: t.ToolID}
	v.identity(t)
	v.inputs(t.InputSchema)
	v.outputs(t.OutputSchema)
	v.costing(t.CostingModel)
	v.webhook(t.WebhookStrategy)
	v.hints(t.PlatformHints)
	v.status(t)
	v.running(t)
	v.aliases(t)
	v.migrations(t)
	v.defaults(t)
	if len(v.problems) == 0 {
		v.encoding(t)
	}
	return v.problems.Err()
}

type validator struct {
	toolID   string
	problems registry.Problems
}

func (v *validator) bad(field, format string, args ...any) {
	v.problems = append(v.problems, registry.Problem{ToolID: v.toolID, Field: field, Message: fmt.Sprintf(format, args...)})
}

// oneOf checks an optional word of a closed list.
func oneOf[S ~string](v *validator, field string, found S, allowed ...S) {
	if found != "" && !slices.Contains(allowed, found) {
		v.bad(field, "is %q; allowed are %s", said.Brief(string(found)), joined(allowed))
	}
}

func joined[S ~string](words []S) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}

func (v *validator) identity(t registry.Tool) {
	v.id("toolId", t.ToolID)
	switch {
	case t.Service == "":
		v.bad("service", "is missing; name the service the tool comes from, such as comfyui")
	case !isWord(t.Service):
		v.bad("service", "is %q; it must be one word without blanks", said.Brief(t.Service))
	}
	if strings.TrimSpace(t.DisplayName) == "" {
		v.bad("displayName", "is missing; it is the name people see")
	}
	if utf8.RuneCountInString(t.DisplayName) > maxNameRunes {
		v.bad("displayName", "is longer than %d characters", maxNameRunes)
	}
	for _, text := range []struct{ field, value string }{{"displayName", t.DisplayName}, {"description", t.Description}} {
		if strings.ContainsRune(text.value, 0) {
			v.bad(text.field, "holds the character U+0000, which nobody can show or store")
		}
	}
	if t.CommandName != "" {
		v.command("commandName", t.CommandName)
	}
	if t.APIPath != "" {
		v.apiPath(t.APIPath)
	}
	oneOf(v, "visibility", t.Visibility, registry.VisibilityPublic, registry.VisibilityInternal, registry.VisibilityHidden)
	oneOf(v, "follows", t.Follows, append(registry.Follows(), registry.FollowNone)...)
}

func (v *validator) id(field, id string) {
	switch {
	case id == "":
		v.bad(field, "is missing")
	case len(id) > maxToolIDBytes:
		v.bad(field, "is longer than %d bytes", maxToolIDBytes)
	case !isWord(id) || strings.HasPrefix(id, "/"):
		v.bad(field, "is %q; it must be one word without blanks and not begin with /", said.Brief(id))
	}
}

// isWord accepts printable text without blanks.
func isWord(s string) bool {
	return s != "" && utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}) < 0
}

// isName accepts what may name an input or output: authors of workflows do use blanks.
func isName(s string) bool {
	return s != "" && len(s) <= maxNameRunes && utf8.ValidString(s) && strings.TrimSpace(s) == s &&
		strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

func (v *validator) command(field, command string) {
	name, slash := strings.CutPrefix(command, "/")
	switch {
	case !slash && IsCommandWord(command):
		v.bad(field, "is %q; it must begin with a slash: %q", said.Brief(command), "/"+command)
	case !slash:
		v.bad(field, "is %q; it takes a slash, then 1 to %d lower-case letters a-z, digits and underscores", said.Brief(command), maxCommandBytes)
	case !IsCommandWord(name):
		v.bad(field, "is %q; after the slash it takes 1 to %d lower-case letters a-z, digits and underscores", said.Brief(command), maxCommandBytes)
	}
}

// IsCommandWord reports whether a command may have that name, which has no slash.
func IsCommandWord(s string) bool {
	return s != "" && len(s) <= maxCommandBytes && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

func (v *validator) apiPath(p string) {
	if !strings.HasPrefix(p, "/") || path.Clean(p) != p || p == "/" || !isWord(p) || strings.ContainsAny(p, "?#{}\\") {
		v.bad("apiPath", "is %q; it must be a clean absolute path such as %s without query", said.Brief(p), registry.RunPrefix+"fluxgeneral")
	}
}

func (v *validator) inputs(schema registry.InputSchema) {
	if schema == nil {
		v.bad("inputSchema", "is missing; a tool without inputs has an empty one: {}")
	}
	if len(schema) > maxInputs {
		v.bad("inputSchema", "has %d inputs, more than %d", len(schema), maxInputs)
	}
	seen := make(map[string]bool, len(schema))
	for _, f := range schema {
		at := "inputSchema." + f.Name
		if !isName(f.Name) {
			v.bad(at, "the name %q must be printable text that neither begins nor ends with a blank", said.Brief(f.Name))
		}
		if seen[f.Name] {
			v.bad(at, "there are two inputs of this name")
		}
		seen[f.Name] = true
		v.input(f, at)
		if f.Words == nil {
			continue
		}
		if into, ok := schema.Get(f.Words.Into); !ok || into.Type != registry.TypeString || len(into.Choices) > 0 {
			v.bad(at+".words.into", "is %q; it must be an input of type string that takes any text", said.Brief(f.Words.Into))
		}
	}
}

var inputTypes = []registry.InputType{registry.TypeString, registry.TypeNumber, registry.TypeImage, registry.TypeVideo, registry.TypeAudio, registry.TypeFile, registry.TypeBoolean}

func (v *validator) input(f registry.InputField, at string) {
	if !slices.Contains(inputTypes, f.Type) {
		v.bad(at+".type", "is %q; allowed are %s", said.Brief(string(f.Type)), joined(inputTypes))
		return
	}
	before := len(v.problems)
	v.onlyFor(f, at)
	v.numbers(f, at)
	if f.Order < 0 {
		v.bad(at+".order", "is %d; it must not be negative", f.Order)
	}
	if len(f.Schema) > 0 {
		if _, err := registry.ParseSchema(f.Schema); err != nil {
			v.bad(at+".schema", "%v", err)
		}
	}
	if len(f.Choices) > 0 && f.Type.IsMedia() {
		v.bad(at+".choices", "cannot be given for inputs of type %s", f.Type)
	} else {
		v.choices(f, at)
	}
	if len(v.problems) == before && f.Default != nil {
		v.fits(f, f.Default, at+".default")
	}
}

// onlyFor refuses members that mean nothing for the input's type.
func (v *validator) onlyFor(f registry.InputField, at string) {
	refuse := func(has bool, member string, needs registry.InputType) {
		if has && f.Type != needs {
			v.bad(at+"."+member, "is for inputs of type %s, this one is of type %s", needs, f.Type)
		}
	}
	refuse(f.Min != "", "min", registry.TypeNumber)
	refuse(f.Max != "", "max", registry.TypeNumber)
	refuse(f.Step != "", "step", registry.TypeNumber)
	refuse(f.Integer, "integer", registry.TypeNumber)
	refuse(f.Seed, "seed", registry.TypeNumber)
	refuse(f.Multiline, "multiline", registry.TypeString)
	refuse(f.Role != "", "role", cmp.Or(registry.InputRoles()[f.Role], f.Type))
	oneOf(v, at+".role", f.Role, registry.RoleStrength, registry.RoleOwn, registry.RoleVariation, registry.RolePicture)
	refuse(f.Mask != "", "mask", registry.TypeImage)
	if f.Mask != "" && f.Mask != registry.MaskWithin && f.Mask != registry.MaskAlpha && f.Mask != registry.MaskWhite {
		v.bad(at+".mask", "is %q; allowed are within, alpha and white", said.Brief(string(f.Mask)))
	}
}

func (v *validator) numbers(f registry.InputField, at string) {
	for _, n := range []struct {
		member string
		number json.Number
	}{{"min", f.Min}, {"max", f.Max}, {"step", f.Step}} {
		if n.number == "" {
			continue
		}
		if _, err := decimal.Parse(n.number); err != nil {
			v.bad(at+"."+n.member, "%v", err)
		}
	}
	low, hasLow := decimal.Optional(f.Min)
	high, hasHigh := decimal.Optional(f.Max)
	if hasLow && hasHigh && low.Cmp(high) > 0 {
		v.bad(at+".min", "is %s, above the maximum %s", f.Min, f.Max)
	}
	if step, ok := decimal.Optional(f.Step); ok && step.Sign() <= 0 {
		v.bad(at+".step", "is %s; it must be above zero", f.Step)
	}
}

func (v *validator) choices(f registry.InputField, at string) {
	bare := f
	bare.Choices, bare.Required, bare.Multiple, bare.Default, bare.Step = nil, false, false, nil, ""
	if f.SchemaOfList() {
		bare.Schema = nil
	}
	for i, c := range f.Choices {
		here := at + ".choices[" + strconv.Itoa(i) + "]"
		if c.Value == nil {
			v.bad(here, "has no value")
			continue
		}
		v.fits(bare, c.Value, here)
		if slices.ContainsFunc(f.Choices[:i], func(o registry.Choice) bool { return registry.SameValue(o.Value, c.Value) }) {
			v.bad(here, "the value %s is there twice", said.Brief(valueText(c)))
		}
	}
}

// fits checks a value that stands in the definition. Unlike a value from a chat it must have its
// proper JSON type: the text "20" is no number here.
func (v *validator) fits(f registry.InputField, value any, at string) {
	for _, one := range asList(f, value) {
		if _, isText := one.(string); isText && len(f.Schema) == 0 && (f.Type == registry.TypeNumber || f.Type == registry.TypeBoolean) {
			v.bad(at, "must be of type %s, found the text %q", f.Type, said.Brief(one.(string)))
			return
		}
		if reason := foreignValue(one); reason != "" {
			v.bad(at, "%s", reason)
			return
		}
	}
	f.Required = false
	if f.Type == registry.TypeString && value == "" {
		return // an empty text stands for "nothing chosen", also beside choices
	}
	if _, err := registry.CheckValue(f, value); err != nil {
		v.bad(at, "%s", strings.TrimPrefix(err.Message, f.Label()+": "))
	}
}

func asList(f registry.InputField, value any) []any {
	if list, ok := value.([]any); ok && f.Multiple {
		return list
	}
	return []any{value}
}

// foreignValue says why a Go value cannot stand in a definition: floats would lose digits.
func foreignValue(value any) string {
	switch value.(type) {
	case nil, string, bool, json.Number, []any, map[string]any:
		return ""
	}
	return fmt.Sprintf("holds a Go %T; use string, bool, json.Number, []any or map[string]any", value)
}

var outputTypes = []string{"image", "video", "audio", "file", "text", "string", "number", "boolean"}

func (v *validator) outputs(schema registry.OutputSchema) {
	seen := make(map[string]bool, len(schema))
	for _, f := range schema {
		at := "outputSchema." + f.Name
		if !isName(f.Name) {
			v.bad(at, "the name %q must be printable text that neither begins nor ends with a blank", said.Brief(f.Name))
		}
		if seen[f.Name] {
			v.bad(at, "there are two outputs of this name")
		}
		seen[f.Name] = true
		if !slices.Contains(outputTypes, f.Type) {
			v.bad(at+".type", "is %q; allowed are %s", said.Brief(f.Type), strings.Join(outputTypes, ", "))
		}
		if f.Schema != nil && f.Type != "text" {
			v.bad(at+".schema", "is for outputs of type text")
		}
	}
}

func (v *validator) costing(m *registry.CostingModel) {
	if m == nil {
		return
	}
	sources := []registry.RateSource{registry.RateStatic, registry.RateMachine, registry.RateAPI, registry.RateHistorical}
	if m.RateSource == "" {
		v.bad("costingModel.rateSource", "is missing; allowed are %s", joined(sources))
	}
	oneOf(v, "costingModel.rateSource", m.RateSource, sources...)
	units := []registry.CostUnit{registry.UnitSecond, registry.UnitToken, registry.UnitRequest}
	if m.Unit == "" {
		v.bad("costingModel.unit", "is missing; allowed are %s", joined(units))
	}
	oneOf(v, "costingModel.unit", m.Unit, units...)
	v.amount("costingModel.markup", m.Markup, maxMarkup)
	v.amount("costingModel.minimumUsd", m.MinimumUSD, maxMinimum)
	v.share(m.Share)
	if m.UpTo && m.RateSource != registry.RateAPI {
		v.bad("costingModel.upTo", "goes with the rateSource api: no other tells after the run what it came to")
	}
	if m.Rate == "" {
		// Without one nothing could be promised where the machine or the service says nothing, and all runs would be free.
		v.bad("costingModel.rate", "is missing; it is a number of US dollars per unit, by which runs are quoted until the machine or the service tells more")
		return
	}
	rate, err := decimal.Parse(m.Rate)
	switch {
	case err != nil:
		v.bad("costingModel.rate", "%v", err)
	case rate.Sign() < 0:
		v.bad("costingModel.rate", "is %s; it must not be negative", m.Rate)
	}
}

var accountID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// share checks what an author gets.
func (v *validator) share(s *registry.Share) {
	if s == nil {
		return
	}
	if !accountID.MatchString(s.Author) {
		v.bad("costingModel.share.author", "is %q; expected the id of an account, a UUID", said.Brief(s.Author))
	}
	if (s.Percent == "") == (s.USD == "") {
		v.bad("costingModel.share", "has percent or usd, one of them")
	}
	v.amount("costingModel.share.percent", s.Percent, 100)
	v.amount("costingModel.share.usd", s.USD, maxMinimum)
}

// The largest markup and minimum that are no slip of the pen.
const (
	maxMarkup  = 100
	maxMinimum = 1000 // US dollars
)

// amount checks a decimal that may be left out.
func (v *validator) amount(path string, n json.Number, most int64) {
	if n == "" {
		return
	}
	amount, err := decimal.Parse(n)
	switch {
	case err != nil:
		v.bad(path, "%v", err)
	case amount.Sign() < 0 || amount.Cmp(big.NewRat(most, 1)) > 0:
		v.bad(path, "is %s; expected 0 to %d", n, most)
	}
}

func (v *validator) webhook(w *registry.WebhookConfig) {
	if w == nil {
		return
	}
	if w.ExpectedStatusField == "" {
		v.bad("webhookStrategy.expectedStatusField", "is missing; name the member of the callback that holds the status")
	}
	if w.SuccessValue == "" {
		v.bad("webhookStrategy.successValue", "is missing; give the status that means success")
	}
	for name, path := range map[string][]string{"resultPath": w.ResultPath, "errorPath": w.ErrorPath, "costPath": w.CostPath, "idPath": w.IDPath, "progressPath": w.ProgressPath} {
		if slices.Contains(path, "") {
			v.bad("webhookStrategy."+name, "has an empty step")
		}
	}
	for _, paths := range [][][]string{w.ResultPaths, w.ErrorPaths} {
		if slices.ContainsFunc(paths, func(path []string) bool { return len(path) == 0 || slices.Contains(path, "") }) {
			v.bad("webhookStrategy.resultPaths, errorPaths", "has a path that is empty or has an empty step")
		}
	}
	for _, sign := range w.Failures {
		if len(sign.Path) == 0 || slices.Contains(sign.Path, "") || slices.Contains(sign.Words, "") || len(sign.Is) > 0 && len(sign.Not) > 0 {
			v.bad("webhookStrategy.failures", "each takes a path without empty steps, and is or not, or neither")
		}
		oneOf(v, "webhookStrategy.failures.means", sign.Means, registry.MeansRefused, registry.MeansBusy)
	}
	if most, err := decimal.Parse(w.ProgressMax); w.ProgressMax != "" && (err != nil || most.Sign() <= 0) {
		v.bad("webhookStrategy.progressMax", "is %s; it must be a number above zero", w.ProgressMax)
	}
	for name, values := range map[string][]string{"failureValues": w.FailureValues, "pendingValues": w.PendingValues} {
		if slices.Contains(values, w.SuccessValue) {
			v.bad("webhookStrategy."+name, "has %q, which means success", w.SuccessValue)
		}
	}
}

func (v *validator) hints(h *registry.PlatformHints) {
	if h == nil {
		return
	}
	kinds := []string{"text", "image", "video", "audio", "file"}
	if h.PrimaryInput == "" {
		v.bad("platformHints.primaryInput", "is missing; allowed are %s", strings.Join(kinds, ", "))
	}
	oneOf(v, "platformHints.primaryInput", h.PrimaryInput, kinds...)
}

func (v *validator) status(t registry.Tool) {
	s := t.Status
	if s == nil {
		return
	}
	states := []registry.State{registry.StateActive, registry.StateDeprecated, registry.StateUnavailable}
	if s.State == "" {
		v.bad("status.state", "is missing; allowed are %s", joined(states))
	}
	oneOf(v, "status.state", s.State, states...)
	if s.State == registry.StateUnavailable && s.Reason == "" {
		v.bad("status.reason", "is missing; people are told why the tool is unavailable")
	}
	if s.Replacement != "" && s.Replacement == t.ToolID {
		v.bad("status.replacement", "is the tool itself")
	}
	if s.Since == "" {
		return
	}
	if _, err := time.Parse(time.RFC3339, s.Since); err != nil {
		if _, err := time.Parse(time.DateOnly, s.Since); err != nil {
			v.bad("status.since", "is %q; it must be a date such as 2026-05-01", said.Brief(s.Since))
		}
	}
}

func (v *validator) running(t registry.Tool) {
	oneOf(v, "capability", t.Capability, registry.CapabilityRead, registry.CapabilityWrite)
	oneOf(v, "deliveryMode", t.DeliveryMode, registry.DeliveryImmediate, registry.DeliveryWebhook, registry.DeliveryAsync)
	if t.TimeoutMs < 0 || t.TimeoutMs > maxTimeout.Milliseconds() {
		v.bad("timeoutMs", "is %d; allowed is 0 (the runner's default) to %d", t.TimeoutMs, maxTimeout.Milliseconds())
	}
	if r := t.RetryPolicy; r != nil {
		if r.MaxAttempts < 1 || r.MaxAttempts > maxAttempts {
			v.bad("retryPolicy.maxAttempts", "is %d; allowed is 1 (no retry) to %d", r.MaxAttempts, maxAttempts)
		}
		if r.BackoffMs < 0 || r.BackoffMs > maxTimeout.Milliseconds() {
			v.bad("retryPolicy.backoffMs", "is %d; it must not be negative", r.BackoffMs)
		}
	}
	for _, name := range t.Reaches {
		if _, there := t.InputSchema.Get(name); !there {
			v.bad("reaches", "names %s, which is no input", said.Brief(name))
		}
	}
	v.localized(t)
	for platform, hint := range t.Delivery {
		oneOf(v, "delivery."+platform+".sendAs", hint.SendAs, "photo", "document", "video", "animation", "audio", "voice")
	}
	for _, list := range []struct {
		field string
		words []string
	}{{"piiRequired", t.PIIRequired}, {"intentTags", t.IntentTags}} {
		if slices.ContainsFunc(list.words, func(w string) bool { return strings.TrimSpace(w) == "" }) {
			v.bad(list.field, "has an empty entry")
		}
	}
}

// languageTag is a base language as registry.Tool.Localized has it.
var languageTag = regexp.MustCompile(`^[a-z]{2,3}$`)

func (v *validator) localized(t registry.Tool) {
	for language, words := range t.Localized {
		at := "localized." + said.Brief(language)
		if !languageTag.MatchString(language) {
			v.bad(at, "is no language; it must be two or three small letters, such as de")
		}
		for name, own := range words.Inputs {
			f, there := t.InputSchema.Get(name)
			if !there {
				v.bad(at+".inputs."+said.Brief(name), "is none of the tool's inputs")
			}
			for value := range own.Choices {
				if there && !slices.ContainsFunc(f.Choices, func(c registry.Choice) bool { return valueText(c) == value }) {
					v.bad(at+".inputs."+said.Brief(name)+".choices."+said.Brief(value), "is none of the input's choices")
				}
			}
		}
		for name := range words.Outputs {
			if !slices.ContainsFunc(t.OutputSchema, func(f registry.OutputField) bool { return f.Name == name }) {
				v.bad(at+".outputs."+said.Brief(name), "is none of the tool's outputs")
			}
		}
	}
}

func (v *validator) aliases(t registry.Tool) {
	for i, alias := range t.Aliases {
		at := "aliases[" + strconv.Itoa(i) + "]"
		if strings.HasPrefix(alias, "/") {
			v.command(at, alias)
		} else {
			v.id(at, alias)
		}
		if slices.Contains(t.Aliases[:i], alias) {
			v.bad(at, "%q is there twice", said.Brief(alias))
		}
		if alias == t.ToolID || alias == t.CommandName {
			v.bad(at, "%q is the tool's own name", said.Brief(alias))
		}
	}
}

func (v *validator) migrations(t registry.Tool) {
	for i, m := range t.Migrations {
		at := "migrations[" + strconv.Itoa(i) + "]"
		if m.From == "" || m.From == m.To {
			v.bad(at+".from", "must be the input's old name, another than the new one")
		}
		if _, ok := t.InputSchema.Get(m.To); !ok {
			v.bad(at+".to", "is %q, which is no input of the tool", said.Brief(m.To))
		}
	}
}

func (v *validator) defaults(t registry.Tool) {
	for name, value := range t.HumanDefaults {
		f, ok := t.InputSchema.Get(name)
		if !ok {
			v.bad("humanDefaults."+name, "is no input of the tool")
			continue
		}
		if value != nil && slices.Contains(inputTypes, f.Type) {
			v.fits(f, value, "humanDefaults."+name)
		}
	}
}

// encoding makes sure that what a loader built in Go can be written. Only free-form values can be otherwise, and most
// tools have few of them: writing ten thousand tools out to see is left to those that need it.
func (v *validator) encoding(t registry.Tool) {
	if isWritable(t) {
		return
	}
	if _, err := registry.Encode(t); err != nil {
		v.bad("", "%v", err)
	}
}

// isWritable reports whether a tool can be written for sure, by looking at its free-form values and numbers.
func isWritable(t registry.Tool) bool {
	if !writable(t.Metadata, 0) || !writable(t.HumanDefaults, 0) || t.CostingModel != nil {
		return false
	}
	for _, m := range t.Migrations {
		if !writable(m.When, 0) {
			return false
		}
	}
	for _, f := range t.InputSchema {
		if f.Schema != nil || !writable(f.Default, 0) || !writable(f.Min, 0) || !writable(f.Max, 0) || !writable(f.Step, 0) {
			return false
		}
		for _, c := range f.Choices {
			if !writable(c.Value, 0) {
				return false
			}
		}
	}
	return true
}

// writable reports whether a value is made of what JSON has, with numbers as they are kept, and does not hold itself.
func writable(v any, depth int) bool {
	if depth > ordered.MaxDepth {
		return false
	}
	switch v := v.(type) {
	case nil, string, bool:
		return true
	case json.Number:
		_, err := v.Float64()
		return v == "" || err == nil && json.Valid([]byte(v))
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !writable(item, depth+1) })
	case map[string]any:
		for _, item := range v {
			if !writable(item, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

// valueText is a choice's value as people would see it without a label.
func valueText(c registry.Choice) string { return registry.Choice{Value: c.Value}.Text() }
