package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/signalbox/signalbox/registry"
)

const (
	maxDocument = 32 << 20 // bytes
	maxChain    = 32       // references that lead to references
)

// document is one OpenAPI document. It is read twice: by the library, which judges it, and as a tree, which
// keeps the order of members and the digits of numbers.
type document struct {
	name string   // in the names of its variables
	at   *url.URL // where it was read from; nil for a file
	root *object
	old  bool // OpenAPI 3.0, with a dialect of JSON Schema of its own
	refs map[string]any

	written map[*object]json.RawMessage // schemas of inputs by where they stand in the tree
	judged  map[string]judgement        // by their text: operations share schemas, and compiling them is dear
}

// judgement is whether a schema of an input can be used, and the compiled one.
type judgement struct {
	schema *registry.Schema
	err    error
}

// compiled judges an input's schema, each once.
func (d *document) compiled(raw json.RawMessage) judgement {
	found, known := d.judged[string(raw)]
	if !known {
		found.schema, found.err = registry.ParseSchema(raw)
		d.judged[string(raw)] = found
	}
	return found
}

var versions = regexp.MustCompile(`^3\.[012](\.|$)`)

// readDocument reads and judges a document in JSON or YAML.
func readDocument(ctx context.Context, name string, at *url.URL, data []byte) (*document, error) {
	data, err := asJSON(data)
	if err != nil {
		return nil, err
	}
	refused := judge(ctx, data) // first, so that the library's tree is gone before there is ours
	root, err := parseTree(data)
	if err != nil {
		return nil, err
	}
	version := root.text("openapi")
	if !versions.MatchString(version) {
		if root.has("swagger") {
			version = "Swagger " + root.text("swagger")
		}
		return nil, fmt.Errorf("its version is %q; expected OpenAPI 3.0 or 3.1 (openapi: 3.1.0)", version)
	}
	if cutOuter(root) {
		if data, err = json.Marshal(root); err != nil {
			return nil, err
		}
		refused = judge(ctx, data)
	}
	d := &document{name: name, at: at, root: root, old: strings.HasPrefix(version, "3.0"), refs: map[string]any{}, written: map[*object]json.RawMessage{}, judged: map[string]judgement{}}
	if err := refused; err != nil {
		for _, f := range d.lintNames() { // the library refuses what is not spelled as an extension
			err = fmt.Errorf("%w; %s", err, f.Message)
		}
		return nil, err
	}
	return d, nil
}

// judge lets the library tell whether a document is one. References to other documents are refused by it.
// Examples, defaults and patterns are not its business: services live well with odd ones.
func judge(ctx context.Context, data []byte) error {
	loader := openapi3.NewLoader()
	loader.Context = ctx
	doc, err := loader.LoadFromData(data)
	if err == nil {
		err = doc.Validate(ctx, openapi3.DisableExamplesValidation(), openapi3.DisableSchemaDefaultsValidation(),
			openapi3.DisableSchemaPatternValidation(), openapi3.AllowExtensionsWithRef())
	}
	if err != nil {
		return fmt.Errorf("it is no OpenAPI document: %s", firstLine(err))
	}
	return ctx.Err()
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if runes := []rune(line); len(runes) > 300 {
		line = string(runes[:300]) + "..."
	}
	return line
}

// asJSON gives a document's JSON. Aliases of YAML are refused: a few lines of them make gigabytes.
func asJSON(data []byte) ([]byte, error) {
	text := strings.TrimSpace(strings.TrimPrefix(string(data), "\xef\xbb\xbf"))
	if strings.HasPrefix(text, "{") {
		return []byte(text), nil
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, fmt.Errorf("it is neither JSON nor YAML: %s", firstLine(err))
	}
	var found aliases
	for _, one := range file.Docs {
		ast.Walk(&found, one)
	}
	if found {
		return nil, errors.New("it uses aliases of YAML (*name), which are not taken: write the values out, or use $ref")
	}
	raw, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil, fmt.Errorf("it is no YAML: %s", firstLine(err))
	}
	return raw, nil
}

// aliases looks for aliases in YAML.
type aliases bool

// Visit notes an alias.
func (a *aliases) Visit(n ast.Node) ast.Visitor {
	if _, is := n.(*ast.AliasNode); is {
		*a = true
	}
	return a
}

// cutOuter makes references to other documents accept any value: nothing is fetched because a document says
// so. It reports whether there were any.
func cutOuter(v any) bool {
	cut := false
	switch v := v.(type) {
	case *object:
		for i, m := range v.members {
			if ref := refOf(m.value); ref != "" && !strings.HasPrefix(ref, "#") {
				v.members[i].value, cut = &object{}, true
				continue
			}
			cut = cutOuter(m.value) || cut
		}
	case []any:
		for i, item := range v {
			if ref := refOf(item); ref != "" && !strings.HasPrefix(ref, "#") {
				v[i], cut = &object{}, true
				continue
			}
			cut = cutOuter(item) || cut
		}
	}
	return cut
}

func refOf(v any) string {
	o, _ := v.(*object)
	return o.text("$ref")
}

// open follows references until there is something else, and names the last one.
func (d *document) open(v any) (*object, string) {
	last := ""
	for range maxChain {
		o, _ := v.(*object)
		ref := o.text("$ref")
		if ref == "" {
			return o, last
		}
		last, v = ref, d.pointed(ref)
	}
	return nil, last
}

// pointed finds what a reference within the document leads to, nil where there is nothing.
func (d *document) pointed(ref string) any {
	if found, known := d.refs[ref]; known {
		return found
	}
	var at any = d.root
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		if unescaped, err := url.PathUnescape(step); err == nil {
			step = unescaped
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		o, _ := at.(*object)
		at = o.get(step)
	}
	d.refs[ref] = at
	return at
}

// server is the address that an operation's path is appended to: that of the operation, its path, or the
// document, with the variables' defaults.
func (d *document) server(holders ...*object) (string, error) {
	raw := "/"
	for _, holder := range append(holders, d.root) {
		servers := holder.list("servers")
		if len(servers) == 0 {
			continue
		}
		first, _ := servers[0].(*object)
		raw = first.text("url")
		for _, v := range first.object("variables").all() {
			o, _ := v.value.(*object)
			raw = strings.ReplaceAll(raw, "{"+v.key+"}", o.text("default"))
		}
		break
	}
	u, err := url.Parse(raw)
	if err == nil && d.at != nil {
		u = d.at.ResolveReference(u)
	}
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "https" && u.Scheme != "http") {
		return "", fmt.Errorf("its server is %q; expected an http or https address in servers, or in %s", raw, d.variable("URL"))
	}
	u.RawQuery, u.Fragment = "", ""
	return strings.TrimSuffix(u.String(), "/"), nil
}

var notVariable = regexp.MustCompile(`[^A-Z0-9]+`)

// variable is the name of one of the document's own variables in the environment.
func (d *document) variable(parts ...string) string {
	name := strings.ToUpper(strings.Join(append([]string{"openapi", d.name}, parts...), "_"))
	return strings.Trim(notVariable.ReplaceAllString(name, "_"), "_")
}
