package openapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
)

// methods are those that can be tools.
var methods = []string{"get", "post", "put", "patch", "delete"}

// operation is one operation where it stands in a document.
type operation struct {
	path, method string
	item, object *ordered.Object // the path's item, and its member for the method
}

func (o operation) id() string { return o.object.Text("operationId") }

// String names the operation, also one without an id.
func (o operation) String() string {
	if id := o.id(); id != "" {
		return id
	}
	return strings.ToUpper(o.method) + " " + o.path
}

// operations lists those of a document, in its order, also those that stand in other files.
func (d *document) operations(findings *[]Finding) []operation {
	var list []operation
	for _, p := range d.root.Object("paths").Members() {
		item := d.part(p.Value, p.Name, findings)
		for _, method := range methods {
			if !item.Has(method) {
				continue
			}
			if o := d.part(item.Get(method), strings.ToUpper(method)+" "+p.Name, findings); o != nil {
				list = append(list, operation{p.Name, method, item, o})
			}
		}
	}
	return list
}

// part opens a part of the document's paths. One that can't be had, or is no object, is refused.
func (d *document) part(v any, at string, findings *[]Finding) *ordered.Object {
	d.lost = nil
	o, _ := d.open(v)
	if o == nil {
		why := "it is no object"
		if len(d.lost) > 0 {
			why = d.lost[0]
		}
		*findings = append(*findings, Finding{Document: d.name, Operation: at, Refused: true, Message: why})
	}
	return o
}

// build makes the tool and how it is called. What is wrong is in the findings.
func (b *builder) build() {
	b.doc.lost = nil
	b.identity()
	b.connection()
	b.parameters()
	b.body()
	b.fold()
	b.answer()
	b.extensions()
	for _, lost := range slices.Compact(b.doc.lost) {
		b.refuse("%s", lost)
	}
	for _, f := range b.findings {
		if f.Refused {
			return
		}
	}
	if err := validate.Tool(b.withoutJudged()); err != nil {
		b.refuse("it makes no valid tool: %s", firstLine(err))
	}
}

// withoutJudged is the tool without the schemas that were judged already, and what was judged by them.
func (b *builder) withoutJudged() registry.Tool {
	t := b.tool
	t.InputSchema = slices.Clone(t.InputSchema)
	for i, f := range t.InputSchema {
		if f.Schema != nil {
			t.InputSchema[i].Schema, t.InputSchema[i].Default = nil, nil
		}
	}
	return t
}

func (b *builder) identity() {
	o := b.op.object
	id := b.op.id()
	if id == "" {
		b.refuse("it has no operationId, which is the tool's name: give it one that stays")
	}
	summary, description := o.Text("summary"), o.Text("description")
	if summary == "" && description == "" {
		b.warn("it has neither summary nor description: say in plain words what it does")
	}
	spelled := words(id)
	name := sentence(summary)
	if name == "" || utf8.RuneCountInString(name) > maxNameText || markdown.MatchString(name) {
		name = plain.Clip(spelled, maxNameText)
	}
	b.tool = registry.Tool{
		ToolID: shortened(strings.Join(strings.Fields(id), "_"), maxID, id), Service: Service, DisplayName: name, Description: cmp.Or(description, summary),
		CommandName: command(spelled, id),
		Listing:     registry.Listing{Category: b.category(), Kind: "openapi"},
		Execution:   registry.Execution{Capability: registry.CapabilityWrite, Idempotent: b.op.method == "get" || b.op.method == "put" || b.op.method == "delete"},
		InputSchema: registry.InputSchema{}, Metadata: map[string]any{"document": b.doc.name},
	}
	if b.op.method == "get" {
		b.tool.Capability = registry.CapabilityRead
	}
	if o.Bool("deprecated") {
		b.tool.Status = registry.SayStatus(registry.StateDeprecated, said.ReasonRemoved.With())
	}
	b.spec = spec{Name: cmp.Or(b.doc.root.Object("info").Text("title"), b.doc.name), Method: strings.ToUpper(b.op.method), Path: b.op.path}
}

func (b *builder) category() string {
	if tags := b.op.object.List("tags"); len(tags) > 0 {
		first, _ := tags[0].(string)
		return first
	}
	return b.doc.root.Object("info").Text("title")
}

// markdown finds what would be read as stars and brackets in a name.
var markdown = regexp.MustCompile("\\*\\*|\\]\\(|`")

// wordBreak finds where camel case begins a new word.
var wordBreak = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// words spells an identifier out: "listPets" is "List pets".
func words(id string) string {
	parts := strings.FieldsFunc(wordBreak.ReplaceAllString(id, "$1 $2"), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	text := []rune(strings.ToLower(strings.Join(parts, " ")))
	if len(text) > 0 {
		text[0] = unicode.ToUpper(text[0])
	}
	return string(text)
}

var notCommand = regexp.MustCompile(`[^a-z0-9]+`)

const (
	maxID      = 128 // bytes of a tool's id
	maxCommand = 32  // bytes of a command's name
	markLength = 4
)

// command is the command of an operation's words, "" where nothing of them is left.
func command(spelled, id string) string {
	name := strings.Trim(notCommand.ReplaceAllString(strings.ToLower(spelled), "_"), "_")
	if name == "" {
		return ""
	}
	return "/" + shortened(name, maxCommand, id)
}

// shortened cuts a name that is too long after a word and adds the operation's mark, so that it stays the same whatever
// other operations there are.
func shortened(name string, most int, id string) string {
	if len(name) <= most {
		return name
	}
	return marked(name, most, id)
}

// marked is a name with the operation's mark, which hardly another one has.
func marked(name string, most int, id string) string {
	sum := sha256.Sum256([]byte(id))
	room := most - markLength - 1
	if len(name) > room {
		cut := name[:room]
		if name[room] != '_' {
			if end := strings.LastIndexByte(cut, '_'); end > room/2 {
				cut = cut[:end]
			}
		}
		name = strings.TrimRight(cut, "_")
	}
	return name + "_" + hex.EncodeToString(sum[:])[:markLength]
}

// connection finds where the operation is and what opens it.
func (b *builder) connection() {
	base, set := b.lookup(b.doc.variable("URL"))
	if !set || base == "" {
		var err error
		if base, err = b.doc.server(b.op.object, b.op.item); err != nil {
			b.refuse("%v", err)
			return
		}
	}
	b.spec.BaseURL = base
	auth, missing := b.doc.auth(b.op.object, b.lookup)
	b.spec.Auth = auth
	if reason := missing.String(); reason != "" {
		b.tool.Status = registry.SayStatus(registry.StateUnavailable, missing)
		b.warn("%s", reason)
	}
}

// idempotencyHeaders are those by which services tell a repeated request; the run's handle goes there.
var idempotencyHeaders = []string{"idempotency-key", "x-idempotency-key"}

// parameters makes inputs of the operation's parameters and its path's.
func (b *builder) parameters() {
	byName := map[[2]string]*ordered.Object{}
	var order [][2]string
	for _, list := range [][]any{b.op.item.List("parameters"), b.op.object.List("parameters")} {
		for _, v := range list {
			p, _ := b.doc.open(v)
			if p.Text("name") == "" || !slices.Contains([]string{"path", "query", "header", "cookie"}, p.Text("in")) {
				if p != nil || len(b.doc.lost) == 0 {
					b.refuse("a parameter has no name, or a place (in) other than path, query, header and cookie: %s", shown(p))
				}
				continue
			}
			key := [2]string{p.Text("name"), p.Text("in")}
			if _, known := byName[key]; !known {
				order = append(order, key)
			}
			byName[key] = p
		}
	}
	for _, place := range placeholder.FindAllStringSubmatch(b.op.path, -1) {
		if key := [2]string{place[1], "path"}; byName[key] == nil {
			order = append(order, key) // a document that forgot it; a request with the braces would lead nowhere
			byName[key] = ordered.Of(ordered.Member{Name: "schema", Value: ordered.Of(ordered.Member{Name: "type", Value: "string"})})
		}
	}
	for _, key := range order {
		b.parameter(byName[key], key[0], key[1])
	}
}

// placeholder finds where a path takes a parameter.
var placeholder = regexp.MustCompile(`\{([\w.-]+)\}`)

func (b *builder) parameter(p *ordered.Object, name, in string) {
	header := strings.ToLower(name)
	switch {
	case in == "header" && slices.Contains(idempotencyHeaders, header):
		b.spec.Idempotency, b.tool.Idempotent = http.CanonicalHeaderKey(name), true
		return
	case in == "header" && strings.HasPrefix(header, extPrefix):
		b.spec.Context = append(b.spec.Context, http.CanonicalHeaderKey(name))
		return
	case in == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, header):
		return // not parameters, as the specification says
	}
	if in != "path" && isSecret(name) {
		b.secret(p, name, in)
		return
	}
	q := param{Name: name, In: in, Input: b.free(name, in), style: styleOf(p, map[string]string{"query": "form", "cookie": "form"}[in])}
	schema := p.Get("schema")
	for _, content := range p.Object("content").Members() {
		media, _ := content.Value.(*ordered.Object)
		schema, q.JSON = media.Get("schema"), preference(content.Name) < 2
	}
	f := b.field(q.Input, schema, p.Bool("required") || in == "path")
	if text := p.Text("description"); text != "" {
		f.Description = text
	}
	if f.Type.IsMedia() {
		f.Type = registry.TypeString
	}
	b.tool.InputSchema = append(b.tool.InputSchema, f)
	b.spec.Params = append(b.spec.Params, q)
}

// styleOf is how a parameter, or a member of a form, is written.
func styleOf(o *ordered.Object, usual string) style {
	s := style{Style: cmp.Or(o.Text("style"), usual), Explode: o.Bool("explode"), Reserved: o.Bool("allowReserved")}
	if !o.Has("explode") {
		s.Explode = s.Style == "form"
	}
	return s
}

// secretNames are those of parameters that take the key of the operator's account.
var secretNames = regexp.MustCompile(`(?i)(^|[-_.])(api|access|auth|secret|subscription)[-_.]?(key|token|secret)$|^x?[-_]?(auth[-_])?(token|password)$`)

func isSecret(name string) bool { return secretNames.MatchString(name) }

// secret makes a parameter that takes a key one that the operator sets: neither people nor models are asked for it. Where a
// security scheme has it already, that is enough.
func (b *builder) secret(p *ordered.Object, name, in string) {
	for _, a := range b.spec.Auth {
		if a.Kind == in && strings.EqualFold(a.Name, name) {
			return
		}
	}
	a := auth{Kind: in, Name: name, Secret: b.doc.variable(name), Optional: !p.Bool("required")}
	b.spec.Auth = append(b.spec.Auth, a)
	if value, set := b.lookup(a.Secret); set && value != "" {
		return
	}
	if a.Optional {
		b.warn("its %s %s is sent once %s is set by the operator", in, name, a.Secret)
		return
	}
	b.tool.Status = registry.SayStatus(registry.StateUnavailable, said.OperatorMust.With("name", a.Secret))
	b.warn("%s", b.tool.Status.Reason)
}

// free gives an input's name, with where it goes if another has that name.
func (b *builder) free(name, in string) string {
	name = strings.TrimSpace(name)
	for _, candidate := range []string{name, name + "_" + in} {
		if _, taken := b.tool.InputSchema.Get(candidate); !taken && candidate != "" {
			return candidate
		}
	}
	return fmt.Sprintf("%s_%s_%d", name, in, len(b.tool.InputSchema))
}

// preference is the order in which kinds of bodies are chosen.
func preference(media string) int {
	kind, _, _ := strings.Cut(media, ";")
	switch {
	case kind == "application/json":
		return 0
	case strings.HasSuffix(kind, "+json"), kind == "*/*", kind == "application/*":
		return 1
	case kind == formMultipart:
		return 2
	case kind == formEncoded:
		return 3
	}
	return 4
}

// body makes inputs of the request's body: one for each member of an object, else one for all of it.
func (b *builder) body() {
	request, _ := b.doc.open(b.op.object.Get("requestBody"))
	content := request.Object("content")
	if content == nil || len(content.Members()) == 0 {
		return
	}
	chosen := slices.MinFunc(content.Members(), func(a, c ordered.Member) int { return preference(a.Name) - preference(c.Name) })
	media, _ := chosen.Value.(*ordered.Object)
	out := &body{Type: chosen.Name, Required: request.Bool("required")}
	if preference(chosen.Name) == 1 && strings.Contains(chosen.Name, "*") {
		out.Type = "application/json"
	}
	b.spec.Body = out
	properties, named := b.doc.properties(media.Get("schema"))
	if !named || preference(chosen.Name) == 4 {
		b.wholeBody(out, media.Get("schema"), request)
		return
	}
	for _, p := range properties {
		f := b.field(b.free(p.name, "body"), p.schema, p.required)
		part := bodyField{Name: p.name, Input: f.Name}
		encoding := media.Object("encoding").Object(p.name)
		part.Type = encoding.Text("contentType")
		if encoding.Has("style") || encoding.Has("explode") || encoding.Has("allowReserved") {
			how := styleOf(encoding, "form")
			part.Style = &how
		}
		if out.Type == formMultipart && b.doc.simple(p.schema).Len() == 0 { // a file, as 3.1 writes it
			f.Type, f.Schema = registry.TypeFile, nil
		}
		if f.Type == registry.TypeFile && part.Type != "" {
			f.Type = mediaType(part.Type)
		}
		b.tool.InputSchema = append(b.tool.InputSchema, f)
		out.Fields = append(out.Fields, part)
	}
}

// wholeBody makes one input of a body that is no object with named members.
func (b *builder) wholeBody(out *body, schema any, request *ordered.Object) {
	out.Whole = b.free("body", "whole")
	f := b.field(out.Whole, schema, out.Required)
	if preference(out.Type) == 4 && !strings.HasPrefix(out.Type, "text/") {
		f.Type, f.Schema = mediaType(out.Type), nil
	}
	if text := request.Text("description"); text != "" {
		f.Description = text
	}
	b.tool.InputSchema = append(b.tool.InputSchema, f)
}

// fold puts what must be filled in first, and folds away the rest where there is much of it.
func (b *builder) fold() {
	slices.SortStableFunc(b.tool.InputSchema, func(x, y registry.InputField) int {
		switch {
		case x.Required == y.Required:
			return 0
		case x.Required:
			return -1
		}
		return 1
	})
	for i, f := range b.tool.InputSchema {
		b.tool.InputSchema[i].Advanced = !f.Required && len(b.tool.InputSchema) > fewInputs
	}
}

// answer makes the output of the operation's answer when it succeeds.
func (b *builder) answer() {
	out := registry.OutputField{Name: "result", Type: "text"}
	successes := slices.DeleteFunc(slices.Clone(b.op.object.Object("responses").Members()), func(m ordered.Member) bool { return !strings.HasPrefix(m.Name, "2") })
	var kinds []string
	for i, success := range successes {
		response, _ := b.doc.open(success.Value)
		if i == 0 {
			out.Description = response.Text("description")
		}
		contents := response.Object("content").Members()
		for _, content := range contents {
			kinds = append(kinds, content.Name)
			if about, _ := b.doc.open(content.Value); len(successes) == 1 && len(contents) == 1 && preference(content.Name) == 0 {
				out.Schema = b.doc.answerSchema(about.Get("schema"))
			}
			b.spec.Pages = b.spec.Pages || strings.HasPrefix(content.Name, "text/") || content.Name == "*/*"
		}
	}
	if files := slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return outputType(kind) == "text" }); len(files) > 0 {
		out.Type = outputType(files[0])
	}
	b.spec.Accept = accepted(kinds)
	b.spec.Stream = b.spec.Accept == "text/event-stream"
	b.tool.OutputSchema = registry.OutputSchema{out}
}

// accepted is what a request says it takes of the media types that a document announces: JSON before other texts, and files.
func accepted(kinds []string) string {
	slices.SortStableFunc(kinds, func(a, c string) int { return min(preference(a), 2) - min(preference(c), 2) })
	kinds = slices.Compact(kinds)
	if len(kinds) == 0 || preference(kinds[0]) >= 2 {
		return strings.Join(kinds, ", ")
	}
	list := []string{kinds[0]}
	if strings.Contains(kinds[0], "*") {
		list = []string{"application/json", kinds[0] + ";q=0.8"}
	}
	for _, kind := range kinds[1:] {
		if outputType(kind) != "text" {
			list = append(list, kind)
		}
	}
	return strings.Join(list, ", ")
}
