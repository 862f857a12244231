package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/registry"
)

const (
	maxDocument = 32 << 20 // bytes
	maxChain    = 32       // references that lead to references
)

// document is one OpenAPI document as a tree, which keeps the order of members and the digits of numbers.
type document struct {
	name  string   // in the names of its variables
	at    *url.URL // where it was read from; nil for a file
	root  *ordered.Object
	parts *parts
	refs  map[string]any // what they lead to, or why they can't be followed
	lost  []string       // what was said of references that can't be followed

	written map[*ordered.Object]json.RawMessage // schemas of inputs by where they stand in the tree
	judged  map[string]judgement                // by their text: operations share schemas, and compiling them is dear
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

// readDocument reads a document in JSON or YAML. Whether its parts are what the specification wants is asked of those that
// are used: services live well with documents that no validator takes.
func readDocument(name string, at *url.URL, data []byte, files *parts) (*document, error) {
	root, err := parseTree(data)
	if err != nil {
		return nil, err
	}
	switch version := root.Text("openapi"); {
	case versions.MatchString(version):
	case root.Has("swagger"):
		return nil, fmt.Errorf("it is written in Swagger %s; 3.0 and 3.1 are read: convert it, as editor.swagger.io does (Edit, Convert to OpenAPI 3.0)", plain.Short(root.Text("swagger")))
	case version == "":
		return nil, errors.New("it has no openapi: 3.1.0 at its top, which says that it describes an API: give the document of the service itself")
	default:
		return nil, fmt.Errorf("its version is %q; OpenAPI 3.0 and 3.1 are read", plain.Short(version))
	}
	if root.Has("paths") && root.Object("paths") == nil {
		return nil, errors.New("it is no OpenAPI document: its paths are no object")
	}
	files.settle(root, files.self)
	tellKinds(root)
	return &document{name: name, at: at, root: root, parts: files, refs: map[string]any{}, written: map[*ordered.Object]json.RawMessage{}, judged: map[string]judgement{}}, nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if runes := []rune(line); len(runes) > 300 {
		line = string(runes[:300]) + "..."
	}
	return line
}

// open follows references until there is something else, and names the last one.
func (d *document) open(v any) (*ordered.Object, string) {
	last := ""
	for range maxChain {
		o, _ := v.(*ordered.Object)
		ref := o.Text("$ref")
		if ref == "" {
			return o, last
		}
		last, v = ref, d.pointed(ref)
	}
	return nil, last
}

// server is the address that an operation's path is appended to: that of the operation, its path, or the
// document, with the variables' defaults.
func (d *document) server(holders ...*ordered.Object) (string, error) {
	raw := "/"
	for _, holder := range append(holders, d.root) {
		servers := holder.List("servers")
		if len(servers) == 0 {
			continue
		}
		first, _ := servers[0].(*ordered.Object)
		raw = first.Text("url")
		for _, v := range first.Object("variables").Members() {
			o, _ := v.Value.(*ordered.Object)
			raw = strings.ReplaceAll(raw, "{"+v.Name+"}", o.Text("default"))
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

// source is where a document is read from.
type source struct {
	name    string
	address string   // as people know it: a file or a URL without its query
	at      *url.URL // nil: a file
	file    string
}

// fetchTimeout bounds how long a document's address may take.
const fetchTimeout = 30 * time.Second

// bare takes an address off an error: it may have a secret in its query.
func bare(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
