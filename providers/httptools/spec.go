package httptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/signalbox/signalbox/registry"
)

// The services of tools from files: those that work for a while, and those that answer at once.
const (
	Service    = "http"
	ServiceNow = "http-now"
	maxFile    = 1 << 20
)

// endings are those of the files' names.
var endings = []string{".tool.yaml", ".tool.yml", ".tool.json"}

// IsFile reports whether a file's name is that of a tool over HTTP.
func IsFile(name string) bool {
	return slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(strings.ToLower(name), end) })
}

// spec says how a tool is called.
type spec struct {
	BaseURL string            `json:"baseURL"`
	Headers map[string]string `json:"headers,omitempty"`
	Query   map[string]string `json:"query,omitempty"`
	Submit  request           `json:"submit"`
	Poll    *request          `json:"poll,omitempty"`
	Cancel  *request          `json:"cancel,omitempty"`
	// Media is how files are sent: "data" for data URIs (the default), "url" for addresses.
	Media string `json:"media,omitempty"`
	// Repeatable says that the service makes a run that is sent again with the same run.handle only once.
	Repeatable bool `json:"repeatable,omitempty"`
	// USDPerCost is what one unit of the webhook strategy's costPath costs; empty: one dollar.
	USDPerCost json.Number `json:"usdPerCost,omitempty"`
	PerSecond  float64     `json:"perSecond,omitempty"` // requests; zero: unbounded
}

// request is one request of a spec.
type request struct {
	Method string            `json:"method,omitempty"` // empty: POST for submit and cancel, GET for poll
	Path   string            `json:"path"`
	Query  map[string]string `json:"query,omitempty"`
	Body   json.RawMessage   `json:"body,omitempty"`
	Form   bool              `json:"form,omitempty"` // the body is sent as a form instead of JSON
}

// definition is what a file holds.
type definition struct {
	Tool json.RawMessage `json:"tool"`
	HTTP *spec           `json:"http"`
	// Example is an answer of the service that has a result. It is only looked at by Check.
	Example json.RawMessage `json:"example,omitempty"`
}

// parse reads a file. Everything that is wrong is told at once.
func parse(name string, data []byte) (registry.Tool, definition, error) {
	if !strings.HasSuffix(strings.ToLower(name), ".json") {
		var err error
		if data, err = yaml.YAMLToJSON(data); err != nil {
			return registry.Tool{}, definition{}, fmt.Errorf("it is no YAML: %s", firstLine(err))
		}
	}
	var read definition
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&read); err != nil {
		return registry.Tool{}, definition{}, fmt.Errorf("it is not as expected: %w", err)
	}
	if read.Tool == nil || read.HTTP == nil {
		return registry.Tool{}, definition{}, errors.New("it must have the members tool and http")
	}
	tool, err := decodeTool(read.Tool, *read.HTTP)
	if err != nil {
		return registry.Tool{}, definition{}, err
	}
	return tool, read, errors.Join(read.HTTP.check(tool)...)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// decodeTool reads the definition; its service is ours to give.
func decodeTool(raw json.RawMessage, s spec) (registry.Tool, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return registry.Tool{}, fmt.Errorf("tool: %w", err)
	}
	if _, there := members["service"]; there {
		return registry.Tool{}, errors.New("tool.service: leave it out, it is given")
	}
	// The member goes before the others, whose order must stay.
	rest := bytes.TrimSpace(raw)[1:]
	whole := fmt.Appendf(nil, `{"service":%q,`, ServiceNow)
	if len(members) == 0 {
		whole = whole[:len(whole)-1]
	}
	tool, err := registry.DecodeTool(append(whole, rest...))
	if err != nil {
		return registry.Tool{}, err
	}
	if s.waits(tool) {
		tool.Service = Service
	}
	return tool, registry.Validate(tool)
}

// waits reports whether a run goes on after the answer to submit: until it is asked for, or calls back.
func (s spec) waits(tool registry.Tool) bool {
	return s.Poll != nil || s.Submit.callsBack() && tool.Delivers() != registry.DeliveryImmediate
}

// callsBack reports whether a request tells the service where to report.
func (r request) callsBack() bool {
	return slices.ContainsFunc(placeholder.FindAllStringSubmatch(r.text(), -1), func(m []string) bool { return m[1] == "run.callback" })
}

// text has all places of a request that placeholders can be in.
func (r request) text() string { return r.Path + string(r.Body) + fmt.Sprint(r.Query) }

// warnings are about files that can be read, but may not do what was meant.
func (s spec) warnings(tool registry.Tool) []string {
	const instead = "the answer to submit is taken as the result"
	switch {
	case s.waits(tool):
	case s.Submit.callsBack():
		return []string{"http.submit: has {{run.callback}}, but what is called back is not read without tool.webhookStrategy: " + instead}
	case tool.WebhookStrategy != nil:
		return []string{"http: has neither poll nor {{run.callback}} in submit: " + instead + ", and a run that goes on after it is never heard of again"}
	}
	return nil
}

func (s spec) check(tool registry.Tool) []error {
	var wrong []error
	bad := func(field, format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("http.%s: %s", field, fmt.Sprintf(format, args...)))
	}
	if u, err := url.Parse(s.BaseURL); err != nil || u.Host == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
		bad("baseURL", "is %q; expected an http or https address", s.BaseURL)
	}
	if s.Media != "" && s.Media != "data" && s.Media != "url" {
		bad("media", "is %q; expected data or url", s.Media)
	}
	waits := s.waits(tool)
	if s.Poll != nil && (tool.WebhookStrategy == nil || len(tool.WebhookStrategy.IDPath) == 0) {
		bad("poll", "needs tool.webhookStrategy with idPath: where submit's answer has the id to ask for")
	} else if waits && tool.WebhookStrategy == nil {
		bad("submit", "has {{run.callback}}, which needs tool.webhookStrategy: how what is called back is read")
	}
	if waits && tool.WebhookStrategy == nil {
		return wrong
	}
	if s.Cancel != nil && !waits {
		bad("cancel", "needs poll, or {{run.callback}} in submit: a tool that answers at once can't be cancelled")
	}
	if s.Cancel != nil && s.Poll == nil && waits && len(tool.WebhookStrategy.IDPath) == 0 && strings.Contains(s.Cancel.text(), "task.id") {
		bad("cancel", "needs tool.webhookStrategy with idPath: where submit's answer has the id of the run")
	}
	for _, out := range tool.OutputSchema {
		if _, err := registry.ParseSchema(out.Schema); out.Schema != nil && err != nil {
			wrong = append(wrong, fmt.Errorf("tool.outputSchema.%s.schema: %w", out.Name, err))
		}
	}
	if len(tool.OutputSchema) == 0 {
		wrong = append(wrong, errors.New("tool.outputSchema: name the result, for example image: {type: image}"))
	}
	if model := tool.CostingModel; model != nil && model.RateSource != registry.RateAPI {
		if model.Unit == registry.UnitToken {
			wrong = append(wrong, errors.New("tool.costingModel.unit: token can't be counted here; price it by request, or by what the service says with rateSource api and costPath"))
		}
		if model.Unit == registry.UnitSecond && waits && !tool.WebhookStrategy.DurationTracking {
			wrong = append(wrong, errors.New("tool.costingModel.unit: second needs durationTracking: true in tool.webhookStrategy, or every run is free"))
		}
	}
	if s.USDPerCost != "" {
		if rate, err := registry.ParseDecimal(s.USDPerCost); err != nil || rate.Sign() < 0 {
			bad("usdPerCost", "is %q; expected US dollars like 0.005", s.USDPerCost)
		}
	}
	for _, values := range []map[string]string{s.Headers, s.Query} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if _, err := fill(values[name], os.LookupEnv); err != nil {
				bad("headers or query", "%s: %v", name, err)
			}
		}
	}
	return append(wrong, s.checkRequests(tool)...)
}

// checkRequests looks for placeholders that stand for nothing.
func (s spec) checkRequests(tool registry.Tool) []error {
	var wrong []error
	for name, r := range map[string]*request{"submit": &s.Submit, "poll": s.Poll, "cancel": s.Cancel} {
		if r == nil {
			continue
		}
		if !strings.HasPrefix(r.Path, "/") && r.Path != "" {
			wrong = append(wrong, fmt.Errorf("http.%s.path: is %q; expected a path that begins with /", name, r.Path))
		}
		for _, m := range placeholder.FindAllStringSubmatch(r.text(), -1) {
			_, input := tool.InputSchema.Get(m[1])
			if known := slices.Contains([]string{"run.id", "run.handle", "run.callback"}, m[1]); !input && !known && (m[1] != "task.id" || name == "submit") {
				wrong = append(wrong, fmt.Errorf("http.%s: {{%s}} is no input of the tool", name, m[1]))
			}
		}
	}
	return wrong
}

var (
	placeholder = regexp.MustCompile(`\{\{\s*([\w.-]+)\s*\}\}`)
	variable    = regexp.MustCompile(`\$\{(\w+)\}`)
	secretName  = regexp.MustCompile(`^[A-Z][A-Z0-9_]*_(KEY|TOKEN|SECRET)$`)
)

// ownSecrets are the program's: no file may send them anywhere.
var ownSecrets = regexp.MustCompile(`^(ADMIN|TELEGRAM|DISCORD|DATABASE)_`)

// fill puts secrets of the environment into a header's value.
func fill(value string, lookup func(string) (string, bool)) (string, error) {
	var wrong error
	filled := variable.ReplaceAllStringFunc(value, func(found string) string {
		name := variable.FindStringSubmatch(found)[1]
		if !secretName.MatchString(name) || ownSecrets.MatchString(name) {
			wrong = fmt.Errorf("${%s} can't be used: the name must end in _KEY, _TOKEN or _SECRET and not be one of the program's own", name)
			return ""
		}
		secret, set := lookup(name)
		if !set || secret == "" {
			wrong = fmt.Errorf("${%s} is not set in the environment", name)
		}
		return secret
	})
	return filled, wrong
}

// secrets are the values that a spec takes from the environment.
func (s spec) secrets() []string {
	var list []string
	for _, values := range []map[string]string{s.Headers, s.Query} {
		for _, value := range values {
			for _, m := range variable.FindAllStringSubmatch(value, -1) {
				list = append(list, os.Getenv(m[1]))
			}
		}
	}
	return list
}

// usd is what a number of units costs, or "" where it is none.
func (s spec) usd(units json.Number) string {
	n, err := registry.ParseDecimal(units)
	if err != nil || n.Sign() < 0 {
		return ""
	}
	rate := big.NewRat(1, 1)
	if s.USDPerCost != "" {
		if rate, err = registry.ParseDecimal(s.USDPerCost); err != nil {
			return ""
		}
	}
	return n.Mul(n, rate).FloatString(12)
}

// Check reads one file and tells everything that is wrong with it, and what may be, for people who write such files.
func Check(path string) (tool registry.Tool, warnings []string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return registry.Tool{}, nil, err
	}
	if len(data) > maxFile {
		return registry.Tool{}, nil, fmt.Errorf("the file has more than %d bytes", maxFile)
	}
	tool, d, err := parse(filepath.Base(path), data)
	if err != nil {
		return tool, nil, err
	}
	return tool, append(d.HTTP.warnings(tool), d.tryExample(tool)...), nil
}

// tryExample reads the example as the answer of a run, and tells what would keep the run from its results.
func (d definition) tryExample(tool registry.Tool) []string {
	if d.Example == nil {
		return nil
	}
	reading := registry.Reading{State: registry.RunSucceeded}
	var err error
	if w := tool.WebhookStrategy; w != nil {
		reading, err = w.Read(d.Example, time.Time{}, time.Time{})
	} else {
		reading.Result, err = decode(d.Example)
	}
	if err != nil {
		return []string{"example: " + err.Error()}
	}
	if reading.State != registry.RunSucceeded {
		return []string{fmt.Sprintf("example: it is read as %s, not as a success; expected an answer with successValue and a result", reading.State)}
	}
	outputs, err := (&Tools{}).outputs(tool.OutputSchema, reading.Result)
	if err != nil {
		return []string{"example: " + err.Error()}
	}
	var warnings []string
	for _, declared := range tool.OutputSchema {
		if !slices.ContainsFunc(outputs, func(o registry.Output) bool { return o.Name == declared.Name }) {
			warnings = append(warnings, fmt.Sprintf("example: it has nothing for the output %s", declared.Name))
		}
	}
	return warnings
}
