package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/registry"
)

// The extensions by which a document says what may be done with its operations. Two of the family are spelled
// compensation-, the others compensating-; a name that is only near to one of these is reported.
const (
	extPrefix       = "x-orchet-"
	extTool         = "x-orchet-tool"
	extConfirmation = "x-orchet-requires-confirmation"
	extPII          = "x-orchet-pii-required"
	extTags         = "x-orchet-intent-tags"
	extCancels      = "x-orchet-cancels"
	extCancelFor    = "x-orchet-cancel-for"
	extKind         = "x-orchet-compensation-kind"
	extReversible   = "x-orchet-reversibility"
	extUndo         = "x-orchet-compensating-tool"
	extTemplate     = "x-orchet-compensating-inputs-template"
	extWindow       = "x-orchet-compensating-window-seconds"
	extTier         = "x-orchet-cost-tier"
)

var extensions = []string{
	extTool, extConfirmation, extPII, extTags, extCancels, extCancelFor, extKind, extReversible, extUndo, extTemplate, extWindow, extTier,
}

// The values that extensions take.
var (
	confirmations   = []string{"structured-itinerary", "structured-cart", "structured-booking", "structured-reservation", "structured-trip"}
	scopes          = []string{"name", "email", "phone", "address", "dob", "payment_method_id", "passport", "passport_optional", "loyalty_numbers", "traveler_profile"}
	kinds           = []string{"perfect", "best-effort", "manual"}
	reversibilities = []string{"reversible", "compensating", "irreversible"}
	tiers           = []string{"free", "low", "metered", "money", "money-compound", "compensation"}
)

// exposed reports whether an operation is to be a tool. Only true says so; everything else is no.
func (d *document) exposed(op operation, annotated bool, allow []string, findings *[]Finding) bool {
	if !annotated {
		return allowed(allow, op.id())
	}
	value := op.object.Get(extTool)
	if _, isBool := value.(bool); !isBool && op.object.Has(extTool) {
		*findings = append(*findings, Finding{Document: d.name, Operation: op.String(), Message: fmt.Sprintf("%s is %s, which is not true: it is no tool", extTool, shown(value))})
	}
	return value == true
}

func shown(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return "odd"
	}
	return string(raw[:min(len(raw), 60)])
}

// extensions reads what the operation's extensions say.
func (b *builder) extensions() {
	o, t := b.op.object, &b.tool
	t.Confirmation = b.confirmation()
	t.PIIRequired = b.words(extPII)
	for _, scope := range t.PIIRequired {
		if !slices.Contains(scopes, scope) {
			b.refuse("%s has %q; allowed are %s", extPII, scope, strings.Join(scopes, ", "))
		}
	}
	t.IntentTags = b.words(extTags)
	t.Cancels, t.CancelFor = o.Text(extCancels), o.Text(extCancelFor)
	b.withholdPersonal()
	b.compensation()
	b.jargon()
}

// confirmation is the kind of summary that must be affirmed before the tool runs, "" for none.
func (b *builder) confirmation() string {
	value := b.op.object.Get(extConfirmation)
	kind, _ := value.(string)
	switch {
	case value == nil, value == false:
		return ""
	case !slices.Contains(confirmations, kind):
		b.refuse("%s is %s; allowed are false, %s", extConfirmation, shown(value), strings.Join(confirmations, ", "))
	}
	return kind
}

// words reads an extension that is a list of words.
func (b *builder) words(name string) []string {
	value := b.op.object.Get(name)
	if value == nil {
		return nil
	}
	list, isList := value.([]any)
	var found []string
	for _, one := range list {
		if word, isText := one.(string); isText {
			found = append(found, word)
		}
	}
	if !isList || len(found) != len(list) {
		b.refuse("%s is %s; expected a list of words", name, shown(value))
	}
	return found
}

// word reads an extension that takes one of a list of words.
func (b *builder) word(name string, allowed []string, otherwise string) string {
	value := b.op.object.Get(name)
	if value == nil {
		return otherwise
	}
	word, _ := value.(string)
	if !slices.Contains(allowed, word) {
		b.refuse("%s is %s; allowed are %s", name, shown(value), strings.Join(allowed, ", "))
	}
	return word
}

// withholdPersonal takes away inputs that are personal data which the document does not ask for by scope.
func (b *builder) withholdPersonal() {
	if !b.op.object.Has(extPII) {
		return
	}
	b.tool.InputSchema = slices.DeleteFunc(b.tool.InputSchema, func(f registry.InputField) bool {
		if !slices.Contains(scopes, f.Name) || slices.Contains(b.tool.PIIRequired, f.Name) {
			return false
		}
		if f.Required {
			b.refuse("it needs the personal data %s without naming it in %s", f.Name, extPII)
		} else {
			b.warn("the input %s is personal data that %s does not name: it is never sent", f.Name, extPII)
		}
		return true
	})
}

// Compensation is how what a tool did can be undone. It is in the tool's metadata under "compensation".
type Compensation struct {
	Kind          string          `json:"kind,omitempty"` // perfect, best-effort, manual; of a tool that cancels another
	Reversibility string          `json:"reversibility"`  // a document that doesn't say means irreversible
	Tool          string          `json:"tool,omitempty"` // the one that undoes it
	Inputs        json.RawMessage `json:"inputs,omitempty"`
	WindowSeconds json.Number     `json:"windowSeconds,omitempty"` // how long it can be undone; empty: always
	CostTier      string          `json:"costTier"`
}

func (b *builder) compensation() {
	o := b.op.object
	if !slices.ContainsFunc(extensions[4:], o.Has) {
		return
	}
	kind := ""
	if b.tool.CancelFor != "" {
		kind = "best-effort"
	}
	c := Compensation{
		Kind: b.word(extKind, kinds, kind), Reversibility: b.word(extReversible, reversibilities, "irreversible"),
		Tool: o.Text(extUndo), CostTier: b.word(extTier, tiers, "free"), WindowSeconds: o.Number(extWindow),
	}
	c.Tool = cmp.Or(c.Tool, b.tool.Cancels)
	if seconds, err := c.WindowSeconds.Float64(); o.Has(extWindow) && (err != nil || seconds <= 0) {
		b.refuse("%s is %s; expected a number of seconds above zero", extWindow, shown(o.Get(extWindow)))
	}
	if o.Has(extTemplate) {
		c.Inputs = b.template(o.Get(extTemplate))
	}
	if o.Has(extReversible) && c.Reversibility == "irreversible" && b.tool.Confirmation == "" && b.tool.CancelFor == "" && b.op.method != "get" {
		b.tool.Confirmation = c.Reversibility // who can't take it back is asked before
	}
	if c.CostTier == "money" && (b.tool.Cancels == "" || b.tool.Confirmation == "") {
		b.refuse("%s is money: it needs %s and a kind of summary in %s", extTier, extCancels, extConfirmation)
	}
	metadata, err := asMetadata(c)
	if err != nil {
		b.refuse("its compensation can't be kept: %v", err)
	}
	b.tool.Metadata["compensation"] = metadata
}

// asMetadata gives a value as metadata holds it.
func asMetadata(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	tree, err := parseTree(raw)
	return ordered.Plain(tree), err
}

var (
	templated = regexp.MustCompile(`\{\{(.*?)\}\}`)
	fromStep  = regexp.MustCompile(`^\s*outputs(\.[\w-]+)+\s*$`)
)

// template reads the inputs of the tool that undoes this one, with places for this one's answer.
func (b *builder) template(value any) json.RawMessage {
	o, isObject := value.(*ordered.Object)
	raw, err := json.Marshal(value)
	if !isObject || err != nil || len(o.Members()) == 0 {
		b.refuse("%s is %s; expected an object of inputs", extTemplate, shown(value))
		return nil
	}
	for _, place := range templated.FindAllSubmatch(raw, -1) {
		if !fromStep.Match(place[1]) {
			b.refuse("%s has {{%s}}; expected a path into the answer, such as {{outputs.booking.id}}", extTemplate, place[1])
		}
	}
	return raw
}

// jargonWords are understood by those who make the service, not by those who use it.
var jargonWords = regexp.MustCompile(`(?i)\b(PNR|GDS|SKU|DTO|CRUD|upsert|payload|endpoint|webhook|middleware|microservice|idempotent|foreign key|enum|boolean|nullable|HTTP \d{3})\b`)

func (b *builder) jargon() {
	if found := jargonWords.FindString(b.op.object.Text("summary") + " " + b.op.object.Text("description")); found != "" && b.op.object.Has(extTool) {
		b.warn("its description says %q: people who use the tool may not know the word", found)
	}
}

// lintNames reports extensions that nobody knows, wherever they stand: a slip of the pen in one of them would let
// something run that must not.
//
// One that is not even spelled as an extension costs its operation.
func (d *document) lintNames(operations []operation) []Finding {
	var findings []Finding
	seen := map[string]bool{}
	found := func(name, at string) {
		if seen[name+" "+at] {
			return
		}
		seen[name+" "+at] = true
		message := fmt.Sprintf("the extension %s is not known", name)
		if near := edit.Nearest(normal(name), extensions); near != "" {
			message += "; did you mean " + near + "?"
		}
		findings = append(findings, Finding{Document: d.name, Operation: at, Refused: !strings.HasPrefix(name, "x-"), Message: message})
	}
	d.walkNames(d.root, "", found)
	for _, op := range operations { // that stand in other files
		d.walkNames(op.object, op.id(), found)
	}
	return findings
}

// normal spells a name as extensions are spelled.
func normal(name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	if rest, cut := strings.CutPrefix(name, "orchet-"); cut {
		name = extPrefix + rest
	}
	return strings.Replace(name, "x-orchet-compensation-tool", extUndo, 1)
}

var nearPrefix = regexp.MustCompile(`(?i)^(x[-_])?orchet[-_]`)

// mapsOfNames are members whose own members are named by the document's author.
var mapsOfNames = []string{"properties", "headers", "schemas", "parameters", "responses", "examples", "example", "default", "enum"}

// walkNames finds the names that look like extensions and are none. Operations are named as they are met.
func (d *document) walkNames(v any, at string, found func(name, at string)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			d.walkNames(item, at, found)
		}
	case *ordered.Object:
		if id := v.Text("operationId"); id != "" {
			at = id
		}
		for _, m := range v.Members() {
			if strings.ContainsAny(m.Name[:min(len(m.Name), 1)], "xXoO") && nearPrefix.MatchString(m.Name) && !slices.Contains(extensions, m.Name) {
				found(m.Name, at)
			}
			if named, isObject := m.Value.(*ordered.Object); isObject && slices.Contains(mapsOfNames, m.Name) {
				for _, inner := range named.Members() {
					d.walkNames(inner.Value, at, found)
				}
				continue
			}
			d.walkNames(m.Value, at, found)
		}
	}
}
