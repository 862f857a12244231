package remote

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
)

// Service is the service of remote tools.
const Service = "remote"

// Bounds of a manifest.
const (
	minTimeoutMs = 250
	maxTimeoutMs = 2 * 60 * 1000
	maxAttempts  = 5
	maxBackoffMs = 60 * 1000
	maxHeaders   = 32
)

// Manifest says what a tool does. The schemas are JSON Schemas; InputSchema is that of an object.
type Manifest struct {
	Name         string               `json:"name"` // as calls name it; may have dots
	Description  string               `json:"description"`
	InputSchema  json.RawMessage      `json:"inputSchema"`
	OutputSchema json.RawMessage      `json:"outputSchema"`
	Capability   registry.Capability  `json:"capability"`
	TimeoutMs    int64                `json:"timeoutMs"` // of one attempt
	RetryPolicy  registry.RetryPolicy `json:"retryPolicy"`
	Idempotent   bool                 `json:"idempotent"`
}

// Entry is a tool as it is registered. Enabled and Tool are our own additions to the shape.
type Entry struct {
	Manifest      Manifest          `json:"manifest"`
	Endpoint      string            `json:"endpoint"`
	StaticHeaders map[string]string `json:"staticHeaders,omitempty"` // secrets
	Enabled       *bool             `json:"enabled,omitempty"`       // nil: it is
	// Tool holds further members of the ToolDefinition, such as displayName, commandName, costingModel, or an
	// outputSchema whose outputs are members of the data.
	Tool json.RawMessage `json:"tool,omitempty"`
}

var (
	namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	headerName  = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$") // RFC 9110, 5.6.2
	notCommand  = regexp.MustCompile(`[^a-z0-9]+`)
)

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// keyOf is a name as names are told apart.
func keyOf(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

func (e Entry) enabled() bool { return e.Enabled == nil || *e.Enabled }

// decodeEntry reads an entry and tells everything that is wrong with it at once.
func decodeEntry(raw []byte) (Entry, error) {
	var e Entry
	if err := registry.ReadStrict(raw, &e); err != nil {
		return e, err
	}
	e.Manifest.Name = strings.TrimSpace(e.Manifest.Name)
	return e, errors.Join(append(e.Manifest.check(), e.check()...)...)
}

// missing reports that an entry has no such schema.
func missing(schema json.RawMessage) bool { return len(schema) == 0 || string(schema) == "null" }

func (m Manifest) check() (wrong []error) {
	bad := func(ok bool, field, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf("manifest.%s: %s", field, fmt.Sprintf(format, args...)))
		}
	}
	bad(namePattern.MatchString(m.Name), "name", "is %q; expected letters, digits, dots, dashes and underscores, like pim.getProduct", m.Name)
	bad(strings.TrimSpace(m.Description) != "", "description", "is empty; say what the tool is for")
	bad(m.Capability == registry.CapabilityRead || m.Capability == registry.CapabilityWrite, "capability", "is %q; expected read or write", m.Capability)
	bad(m.TimeoutMs >= minTimeoutMs && m.TimeoutMs <= maxTimeoutMs, "timeoutMs", "is %d; expected %d to %d", m.TimeoutMs, minTimeoutMs, maxTimeoutMs)
	bad(m.RetryPolicy.MaxAttempts >= 1 && m.RetryPolicy.MaxAttempts <= maxAttempts, "retryPolicy.maxAttempts", "is %d; expected 1 to %d", m.RetryPolicy.MaxAttempts, maxAttempts)
	bad(m.RetryPolicy.BackoffMs >= 0 && m.RetryPolicy.BackoffMs <= maxBackoffMs, "retryPolicy.backoffMs", "is %d; expected 0 to %d", m.RetryPolicy.BackoffMs, maxBackoffMs)
	_, err := registry.SchemaInputs(m.InputSchema)
	bad(err == nil || missing(m.InputSchema), "inputSchema", "%v", err)
	for field, schema := range map[string]json.RawMessage{"inputSchema": m.InputSchema, "outputSchema": m.OutputSchema} {
		if missing(schema) {
			bad(false, field, `is missing; expected a JSON Schema, such as {"type": "object"}`)
			continue
		}
		_, err := registry.ParseSchema(schema)
		bad(err == nil, field, "%v", err)
	}
	return wrong
}

func (e Entry) check() (wrong []error) {
	if u, err := url.Parse(e.Endpoint); err != nil || u.Host == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
		wrong = append(wrong, errors.New("endpoint: expected an http or https address without a user"))
	}
	if len(e.StaticHeaders) > maxHeaders {
		wrong = append(wrong, fmt.Errorf("staticHeaders: %d are given, at most %d are possible", len(e.StaticHeaders), maxHeaders))
	}
	for _, name := range slices.Sorted(maps.Keys(e.StaticHeaders)) {
		reserved := slices.Contains([]string{"Host", "Content-Type", "Content-Length", "Transfer-Encoding", "Connection"}, http.CanonicalHeaderKey(name))
		if reserved || !headerName.MatchString(name) || strings.ContainsFunc(e.StaticHeaders[name], isControl) {
			wrong = append(wrong, fmt.Errorf("staticHeaders: %q can't be sent as a header of a call", name))
		}
	}
	return wrong
}

// given are the members of a definition that the manifest gives.
var given = []string{"toolId", "service", "description", "inputSchema", "capability", "timeoutMs", "retryPolicy", "idempotent", "webhookStrategy", "metadata"}

// tool is the definition of an entry. ref names how it is called, source where it comes from.
func (e Entry) tool(ref registry.Media, source string) (registry.Tool, error) {
	m := e.Manifest
	inputs, err := registry.SchemaInputs(m.InputSchema)
	if err != nil {
		return registry.Tool{}, err
	}
	members := map[string]any{"displayName": m.Name, "commandName": commandOf(m.Name), "outputSchema": registry.OutputSchema{{Name: resultName, Type: "text", Schema: m.OutputSchema}}}
	var own map[string]json.RawMessage
	if len(e.Tool) > 0 {
		if err := json.Unmarshal(e.Tool, &own); err != nil {
			return registry.Tool{}, fmt.Errorf("tool: expected an object: %w", err)
		}
	}
	for name, value := range own {
		if slices.Contains(given, name) {
			return registry.Tool{}, fmt.Errorf("tool.%s: leave it out, the manifest gives it", name)
		}
		members[name] = value
	}
	maps.Copy(members, map[string]any{
		"toolId": m.Name, "service": Service, "description": m.Description, "inputSchema": inputs, "capability": m.Capability, "idempotent": m.Idempotent,
		"timeoutMs": m.whole().Milliseconds(), "retryPolicy": registry.RetryPolicy{MaxAttempts: m.RetryPolicy.MaxAttempts, BackoffMs: cmp.Or(m.RetryPolicy.BackoffMs, 1)},
		"metadata": map[string]any{specKey: ref, "source": source, "manifest": m},
	})
	if key := keyOf(m.Name); key != m.Name && own["aliases"] == nil {
		members["aliases"] = []string{key}
	}
	raw, err := json.Marshal(members)
	if err != nil {
		return registry.Tool{}, err
	}
	tool, err := registry.DecodeTool(raw)
	if err != nil {
		return registry.Tool{}, err
	}
	return tool, validate.Tool(tool)
}

// whole bounds a run: all attempts and the waits between them.
func (m Manifest) whole() time.Duration {
	timeout, pause := time.Duration(m.TimeoutMs)*time.Millisecond, time.Duration(m.RetryPolicy.BackoffMs)*time.Millisecond
	total := 10 * time.Second
	for range m.RetryPolicy.MaxAttempts {
		total += timeout + 2*pause
		pause *= 2
	}
	return total
}

// commandOf makes a chat command of a name: pim.getProduct is /pim_getproduct.
func commandOf(name string) string {
	word := strings.Trim(notCommand.ReplaceAllString(keyOf(name), "_"), "_")
	return "/" + strings.TrimRight(word[:min(len(word), 32)], "_")
}
