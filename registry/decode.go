package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// DecodeTool reads one ToolDefinition strictly: unknown and repeated keys and values of another type
// are errors that name the tool and the field. It does not judge the content, see Validate.
// The error is of type Problems, or tells where the text is no JSON.
func DecodeTool(data []byte) (Tool, error) {
	n, err := parseNode(data)
	if err != nil {
		return Tool{}, err
	}
	var d decoder
	t := d.tool(n, "definition")
	return t, d.problems.Err()
}

// DecodeTools reads an object, an array of objects or {"tools": [...]}, each object as DecodeTool
// does. Beside an error of type Problems it returns the tools that were good, in the text's order.
func DecodeTools(data []byte) ([]Tool, error) {
	n, err := parseNode(data)
	if err != nil {
		return nil, err
	}
	var d decoder
	tools := d.tools(n)
	return tools, d.problems.Err()
}

// UnmarshalJSON decodes as DecodeTool does.
func (t *Tool) UnmarshalJSON(data []byte) error {
	decoded, err := DecodeTool(data)
	if err != nil {
		return err
	}
	*t = decoded
	return nil
}

// UnmarshalJSON reads an object and keeps its order.
func (s *InputSchema) UnmarshalJSON(data []byte) error {
	return unmarshalWith(data, func(d *decoder, n node) { *s = d.inputs(n, "inputSchema") })
}

// UnmarshalJSON reads an object and keeps its order.
func (s *OutputSchema) UnmarshalJSON(data []byte) error {
	return unmarshalWith(data, func(d *decoder, n node) { *s = d.outputs(n, "outputSchema") })
}

// UnmarshalJSON reads one input; numbers inside stay json.Number.
func (f *InputField) UnmarshalJSON(data []byte) error {
	return unmarshalWith(data, func(d *decoder, n node) { *f = d.input(n, "", "") })
}

// UnmarshalJSON reads the bare value or {"value": ..., "label": ...}.
func (c *Choice) UnmarshalJSON(data []byte) error {
	return unmarshalWith(data, func(d *decoder, n node) { *c = d.choice(n, "choice") })
}

func unmarshalWith(data []byte, decode func(*decoder, node)) error {
	n, err := parseNode(data)
	if err != nil {
		return err
	}
	var d decoder
	decode(&d, n)
	return d.problems.Err()
}

// decoder collects what is wrong while it reads one document.
type decoder struct {
	toolID   string
	problems Problems
}

func (d *decoder) bad(field, format string, args ...any) {
	d.problems = append(d.problems, Problem{ToolID: d.toolID, Field: field, Message: fmt.Sprintf(format, args...)})
}

func (d *decoder) tools(n node) []Tool {
	switch {
	case n.kind == kindArray:
		return d.toolList(n.items)
	case n.kind == kindObject && hasKey(n, "tools"):
		o := d.object(n, "")
		list := o.take("tools", kindArray)
		o.done()
		return d.toolList(list.items)
	default:
		return d.toolList([]node{n})
	}
}

func (d *decoder) toolList(items []node) []Tool {
	tools := make([]Tool, 0, len(items))
	seen := make(map[string]Tool, len(items))
	for i, item := range items {
		before := len(d.problems)
		t := d.tool(item, "tool "+strconv.Itoa(i+1))
		if first, taken := seen[t.ToolID]; taken && t.ToolID != "" {
			if len(d.problems) == before && sameTool(first, t) {
				continue // a copy that says the same is no mistake (A4)
			}
			d.bad("toolId", "appears twice in one document; the first one counts")
		} else {
			seen[t.ToolID] = t
		}
		if len(d.problems) == before {
			tools = append(tools, t)
		}
	}
	d.toolID = ""
	return tools
}

// tool reads one definition; without an id it is called by its place in the messages.
func (d *decoder) tool(n node, place string) Tool {
	d.toolID = place
	if id, ok := n.get("toolId"); ok && id.kind == kindString && id.text != "" {
		d.toolID = id.text
	}
	d.refuseRepeatedKeys(n, "")
	o := d.object(n, "")
	var t Tool
	readString(o, "toolId", &t.ToolID)
	readString(o, "service", &t.Service)
	readString(o, "displayName", &t.DisplayName)
	readString(o, "description", &t.Description)
	readString(o, "commandName", &t.CommandName)
	readString(o, "apiPath", &t.APIPath)
	if inputs := o.take("inputSchema", kindObject); inputs.kind == kindObject {
		t.InputSchema = d.inputs(inputs, "inputSchema")
	}
	if outputs := o.take("outputSchema", kindObject); outputs.kind == kindObject {
		t.OutputSchema = d.outputs(outputs, "outputSchema")
	}
	t.CostingModel = readPart(o, "costingModel", d.costing)
	t.WebhookStrategy = readPart(o, "webhookStrategy", d.webhook)
	t.PlatformHints = readPart(o, "platformHints", d.hints)
	t.Metadata = o.object("metadata")
	d.additions(o, &t)
	o.done()
	return t
}

// additions reads the members that are ours, all optional.
func (d *decoder) additions(o *object, t *Tool) {
	readString(o, "version", &t.Version)
	t.Status = readPart(o, "status", d.status)
	readString(o, "visibility", &t.Visibility)
	readString(o, "category", &t.Category)
	t.Aliases = o.strings("aliases")
	readString(o, "kind", &t.Kind)
	readString(o, "capability", &t.Capability)
	readString(o, "deliveryMode", &t.DeliveryMode)
	o.integer("timeoutMs", &t.TimeoutMs)
	t.RetryPolicy = readPart(o, "retryPolicy", d.retry)
	o.boolean("idempotent", &t.Idempotent)
	readString(o, "confirmation", &t.Confirmation)
	readString(o, "cancels", &t.Cancels)
	readString(o, "cancelFor", &t.CancelFor)
	t.PIIRequired = o.strings("piiRequired")
	t.IntentTags = o.strings("intentTags")
	readString(o, "guidance", &t.Guidance)
	t.Migrations = readList(o, "migrations", d.rename)
	t.HumanDefaults = o.object("humanDefaults")
	t.Delivery = readMap(o, "delivery", d.delivery)
	o.boolean("incomplete", &t.Incomplete)
}

func (d *decoder) inputs(n node, path string) InputSchema {
	schema := make(InputSchema, 0, len(n.members))
	if n.kind != kindObject {
		d.bad(path, "must be an object of inputs by name, found %s", n.kind)
	}
	for _, m := range n.members {
		schema = append(schema, d.input(m.value, joinPath(path, m.key), m.key))
	}
	return schema
}

func (d *decoder) input(n node, path, key string) InputField {
	o := d.object(n, path)
	f := InputField{Name: key}
	readString(o, "name", &f.Name)
	if key != "" && f.Name != key {
		d.bad(joinPath(path, "name"), "is %q but its key in the schema is %q; they must be equal", f.Name, key)
	}
	readString(o, "type", &f.Type)
	o.boolean("required", &f.Required)
	f.Default = o.any("default")
	readString(o, "description", &f.Description)
	o.boolean("advanced", &f.Advanced)
	readString(o, "displayName", &f.DisplayName)
	f.Choices = readList(o, "choices", d.choice)
	o.number("min", &f.Min)
	o.number("max", &f.Max)
	o.number("step", &f.Step)
	o.boolean("integer", &f.Integer)
	o.boolean("multiline", &f.Multiline)
	o.boolean("multiple", &f.Multiple)
	o.boolean("seed", &f.Seed)
	var order int64
	o.integer("order", &order)
	f.Order = int(order)
	if schema := o.take("schema", ""); schema.kind != kindNull {
		f.Schema = json.RawMessage(schema.compact())
	}
	o.done()
	return f
}

// choice reads a bare value, or an object as the labelled form.
func (d *decoder) choice(n node, path string) Choice {
	if n.kind != kindObject {
		return Choice{Value: n.value()}
	}
	o := d.object(n, path)
	if !hasKey(n, "value") {
		d.bad(path, `a choice is a bare value or {"value": ..., "label": "..."}; value is missing`)
	}
	c := Choice{Value: o.any("value")}
	readString(o, "label", &c.Label)
	o.done()
	return c
}

func (d *decoder) outputs(n node, path string) OutputSchema {
	schema := make(OutputSchema, 0, len(n.members))
	if n.kind != kindObject {
		d.bad(path, "must be an object of outputs by name, found %s", n.kind)
	}
	for _, m := range n.members {
		fieldPath := joinPath(path, m.key)
		o := d.object(m.value, fieldPath)
		f := OutputField{Name: m.key}
		readString(o, "name", &f.Name)
		if f.Name != m.key {
			d.bad(joinPath(fieldPath, "name"), "is %q but its key in the schema is %q; they must be equal", f.Name, m.key)
		}
		readString(o, "type", &f.Type)
		readString(o, "description", &f.Description)
		if shape := o.take("schema", ""); shape.kind != kindNull {
			f.Schema = json.RawMessage(shape.compact())
		}
		o.done()
		schema = append(schema, f)
	}
	return schema
}

// costing reads a CostingModel. The older form {"rateSource": "static", "staticCost": {"amount": n,
// "unit": u}} is taken as rate and unit (A89).
func (d *decoder) costing(n node, path string) CostingModel {
	o := d.object(n, path)
	var m CostingModel
	o.number("rate", &m.Rate)
	readString(o, "unit", &m.Unit)
	readString(o, "rateSource", &m.RateSource)
	o.number("markup", &m.Markup)
	o.number("minimumUsd", &m.MinimumUSD)
	if static := o.take("staticCost", kindObject); static.kind == kindObject {
		d.staticCost(static, joinPath(path, "staticCost"), &m)
	}
	o.done()
	return m
}

func (d *decoder) staticCost(n node, path string, m *CostingModel) {
	if m.Rate != "" || m.Unit != "" {
		d.bad(path, "cannot stand beside rate and unit; keep one of the two forms")
	}
	o := d.object(n, path)
	o.number("amount", &m.Rate)
	readString(o, "unit", &m.Unit)
	o.done()
	switch m.Unit {
	case "", "run", "image", "generation", "fixed":
		m.Unit = UnitRequest
	}
	if m.RateSource == "" {
		m.RateSource = RateStatic
	}
}

func (d *decoder) webhook(n node, path string) WebhookConfig {
	o := d.object(n, path)
	var w WebhookConfig
	readString(o, "expectedStatusField", &w.ExpectedStatusField)
	readString(o, "successValue", &w.SuccessValue)
	o.boolean("durationTracking", &w.DurationTracking)
	w.ResultPath = o.strings("resultPath")
	w.FailureValues, w.PendingValues = o.strings("failureValues"), o.strings("pendingValues")
	w.ErrorPath, w.CostPath, w.IDPath = o.strings("errorPath"), o.strings("costPath"), o.strings("idPath")
	o.done()
	return w
}

func (d *decoder) hints(n node, path string) PlatformHints {
	o := d.object(n, path)
	var h PlatformHints
	readString(o, "primaryInput", &h.PrimaryInput)
	o.boolean("supportsFileCaption", &h.SupportsFileCaption)
	o.boolean("supportsReplyWithCommand", &h.SupportsReplyWithCommand)
	o.done()
	return h
}

func (d *decoder) status(n node, path string) Status {
	o := d.object(n, path)
	var s Status
	readString(o, "state", &s.State)
	readString(o, "reason", &s.Reason)
	readString(o, "replacement", &s.Replacement)
	readString(o, "since", &s.Since)
	o.boolean("checked", &s.Checked)
	o.done()
	return s
}

func (d *decoder) retry(n node, path string) RetryPolicy {
	o := d.object(n, path)
	var r RetryPolicy
	var attempts int64
	o.integer("maxAttempts", &attempts)
	r.MaxAttempts = int(attempts)
	o.integer("backoffMs", &r.BackoffMs)
	o.done()
	return r
}

func (d *decoder) rename(n node, path string) Rename {
	o := d.object(n, path)
	var r Rename
	readString(o, "from", &r.From)
	readString(o, "to", &r.To)
	r.When = o.object("when")
	o.done()
	return r
}

func (d *decoder) delivery(n node, path string) DeliveryHint {
	o := d.object(n, path)
	var h DeliveryHint
	readString(o, "sendAs", &h.SendAs)
	readString(o, "filename", &h.Filename)
	o.done()
	return h
}

// refuseRepeatedKeys looks through the whole definition, free-form parts too: of two equal keys one
// would silently be lost.
func (d *decoder) refuseRepeatedKeys(n node, path string) {
	seen := make(map[string]bool, len(n.members))
	for _, m := range n.members {
		at := joinPath(path, m.key)
		if seen[m.key] {
			d.bad(at, "the key appears twice")
		}
		seen[m.key] = true
		d.refuseRepeatedKeys(m.value, at)
	}
	for i, item := range n.items {
		d.refuseRepeatedKeys(item, path+"["+strconv.Itoa(i)+"]")
	}
}

func hasKey(n node, key string) bool {
	_, ok := n.get(key)
	return ok
}

// object hands out the members of a node and remembers which keys were asked for, so that done can
// refuse all others.
type object struct {
	d     *decoder
	path  string
	node  node
	known []string
}

func (d *decoder) object(n node, path string) *object {
	if n.kind != kindObject {
		d.bad(path, "must be an object, found %s", n.kind)
	}
	return &object{d: d, path: path, node: n}
}

func (o *object) done() {
	for _, m := range o.node.members {
		if !slices.Contains(o.known, m.key) {
			o.d.bad(joinPath(o.path, m.key), "unknown key%s", didYouMean(m.key, o.known))
		}
	}
}

// take gives the member's node, a null one where it is absent, null or of another kind than wanted
// (which it reports). An empty want takes any kind.
func (o *object) take(key string, want nodeKind) node {
	o.known = append(o.known, key)
	n, ok := o.node.get(key)
	if !ok || n.kind == kindNull {
		return node{kind: kindNull}
	}
	if want != "" && n.kind != want {
		o.d.bad(joinPath(o.path, key), "must be of type %s, found %s", want, excerpt(n))
		return node{kind: kindNull}
	}
	return n
}

// excerpt shows a wrong value in a message, never much of it.
func excerpt(n node) string {
	if n.kind == kindArray || n.kind == kindObject {
		return string(n.kind)
	}
	text := n.compact()
	if len(text) > 40 {
		text = string(bytes.ToValidUTF8([]byte(text[:40]), nil)) + "..."
	}
	return string(n.kind) + " " + text
}

func readString[S ~string](o *object, key string, to *S) {
	if n := o.take(key, kindString); n.kind == kindString {
		*to = S(n.text)
	}
}

func (o *object) boolean(key string, to *bool) {
	if n := o.take(key, kindBool); n.kind == kindBool {
		*to = n.truth
	}
}

func (o *object) number(key string, to *json.Number) {
	if n := o.take(key, kindNumber); n.kind == kindNumber {
		*to = json.Number(n.text)
	}
}

func (o *object) integer(key string, to *int64) {
	n := o.take(key, kindNumber)
	if n.kind != kindNumber {
		return
	}
	i, err := strconv.ParseInt(n.text, 10, 64)
	if err != nil {
		o.d.bad(joinPath(o.path, key), "must be a whole number, found %s", n.text)
		return
	}
	*to = i
}

func (o *object) any(key string) any { return o.take(key, "").value() }

func (o *object) object(key string) map[string]any {
	m, _ := o.take(key, kindObject).value().(map[string]any)
	return m
}

func (o *object) strings(key string) []string {
	return readList(o, key, func(n node, path string) string {
		if n.kind != kindString {
			o.d.bad(path, "must be of type string, found %s", excerpt(n))
		}
		return n.text
	})
}

func readList[T any](o *object, key string, read func(node, string) T) []T {
	n := o.take(key, kindArray)
	if n.kind != kindArray || len(n.items) == 0 {
		return nil
	}
	list := make([]T, len(n.items))
	for i, item := range n.items {
		list[i] = read(item, joinPath(o.path, key)+"["+strconv.Itoa(i)+"]")
	}
	return list
}

func readMap[T any](o *object, key string, read func(node, string) T) map[string]T {
	n := o.take(key, kindObject)
	if n.kind != kindObject || len(n.members) == 0 {
		return nil
	}
	m := make(map[string]T, len(n.members))
	for _, one := range n.members {
		m[one.key] = read(one.value, joinPath(joinPath(o.path, key), one.key))
	}
	return m
}

func readPart[T any](o *object, key string, read func(node, string) T) *T {
	n := o.take(key, kindObject)
	if n.kind != kindObject {
		return nil
	}
	part := read(n, joinPath(o.path, key))
	return &part
}
