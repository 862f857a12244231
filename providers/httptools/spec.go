package httptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/validate"
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
	BaseURL string `json:"baseURL"`
	// Hosts get the account's key beside BaseURL's host, where an answer names an address at one of them: "eu.clouds.example", or
	// "*.clouds.example" for all below.
	Hosts   []string          `json:"hosts,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Query   map[string]string `json:"query,omitempty"`
	JWT     *jwt              `json:"jwt,omitempty"`
	Upload  *upload           `json:"upload,omitempty"`
	Submit  request           `json:"submit"`
	Poll    *request          `json:"poll,omitempty"`
	Result  *request          `json:"result,omitempty"` // asks for the result of a run that succeeded, where another answer has it
	Cancel  *request          `json:"cancel,omitempty"`
	// Callback says how the service signs what it calls back; nil: the token in the address is all that is checked.
	Callback *callback `json:"callback,omitempty"`
	// Media is how files are sent: "data" for data URIs (the default), "url" for addresses.
	Media string `json:"media,omitempty"`
	// ResultsNeedKey says that results are fetched with the account's key, from hosts that get it.
	ResultsNeedKey bool `json:"resultsNeedKey,omitempty"`
	// ResultEncoding is how files stand in answers: "hex"; empty: base64.
	ResultEncoding string `json:"resultEncoding,omitempty"`
	// Repeatable says that the service makes a run that is sent again with the same run.handle only once.
	Repeatable bool `json:"repeatable,omitempty"`
	// Most bounds by formulas how many files inputs take, which one has to be told before it pays.
	Most map[string]string `json:"most,omitempty"`
	// Tables are values by others: what the service calls a choice, or what it costs.
	Tables map[string]table `json:"tables,omitempty"`
	// USDPerCost is what one unit of the webhook strategy's costPath costs; empty: one dollar.
	USDPerCost json.Number `json:"usdPerCost,omitempty"`
	Price      *price      `json:"price,omitempty"`
	PerSecond  float64     `json:"perSecond,omitempty"` // requests; zero: unbounded
}

// request is one request of a spec.
type request struct {
	Method    string            `json:"method,omitempty"` // empty: GET for poll and result, else POST
	Path      string            `json:"path,omitempty"`
	URL       string            `json:"url,omitempty"` // a whole address that an answer named, in place of Path
	Query     map[string]string `json:"query,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Body      json.RawMessage   `json:"body,omitempty"`
	Form      bool              `json:"form,omitempty"`      // the body is sent as a form instead of JSON
	Multipart bool              `json:"multipart,omitempty"` // the body is sent in parts, files as they are
	// EverySeconds is the least time between two requests for one run; of poll.
	EverySeconds float64 `json:"everySeconds,omitempty"`
}

// upload says how files get to a service before the run that takes them.
type upload struct {
	Inputs []string  `json:"inputs"`
	Steps  []request `json:"steps"`
	As     string    `json:"as"` // what stands for the file in the run's request
}

// table is a column of values by others. "*" is the row of all that have none.
type table map[string]json.RawMessage

// definition is what a file holds of one tool.
type definition struct {
	Tool json.RawMessage `json:"tool"`
	HTTP *spec           `json:"http"`
	// Example is an answer of the service that has a result. It is only looked at by Check.
	Example json.RawMessage `json:"example,omitempty"`
}

// described is a tool with how it is called.
type described struct {
	tool    registry.Tool
	spec    spec
	example json.RawMessage
}

// parse reads a file. Everything that is wrong is told at once.
func parse(name string, data []byte) ([]described, error) {
	if !strings.HasSuffix(strings.ToLower(name), ".json") {
		var err error
		if data, err = yaml.YAMLToJSON(data); err != nil {
			return nil, fmt.Errorf("it is no YAML: %s", firstLine(err))
		}
	}
	parts, err := split(data)
	if err != nil {
		return nil, err
	}
	list := make([]described, len(parts))
	var wrong []error
	for i, part := range parts {
		if list[i], err = parseOne(part); err != nil && len(parts) > 1 {
			err = fmt.Errorf("tools[%d] %s: %w", i, list[i].tool.ToolID, err)
		}
		wrong = append(wrong, err)
	}
	return list, errors.Join(wrong...)
}

func parseOne(data []byte) (described, error) {
	var read definition
	if err := registry.ReadStrict(data, &read); err != nil {
		return described{}, err
	}
	if read.Tool == nil || read.HTTP == nil {
		return described{}, errors.New("it must have the members tool and http")
	}
	tool, err := decodeTool(read.Tool, *read.HTTP)
	one := described{tool, *read.HTTP, read.Example}
	if err != nil {
		return one, err
	}
	return one, errors.Join(one.spec.check(tool)...)
}

// split gives the definitions of a file: itself, or with "tools" one for each of them, which is what differs from the
// file's own tool, http and example as a JSON Merge Patch (RFC 7396).
func split(data []byte) ([][]byte, error) {
	read, err := ordered.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("it is not as expected: %w", err)
	}
	whole, _ := read.(*ordered.Object)
	if !whole.Has("tools") {
		return [][]byte{data}, nil
	}
	list := whole.List("tools")
	if len(list) == 0 {
		return nil, errors.New("tools: expected a list of what differs, each with tool and http")
	}
	whole.Drop("tools")
	parts := make([][]byte, len(list))
	for i, patch := range list {
		if parts[i], err = ordered.Marshal(merge(whole, patch)); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// merge gives a value as a JSON Merge Patch changes it. Members keep their order, new ones follow.
func merge(value, patch any) any {
	changes, isObject := patch.(*ordered.Object)
	if !isObject {
		return patch
	}
	merged := new(ordered.Object)
	base, _ := value.(*ordered.Object)
	for _, m := range base.Members() {
		merged.Set(m.Name, m.Value)
	}
	for _, m := range changes.Members() {
		if m.Value == nil {
			merged.Drop(m.Name)
			continue
		}
		merged.Set(m.Name, merge(merged.Get(m.Name), m.Value))
	}
	return merged
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
	return tool, validate.Tool(tool)
}

// waits reports whether a run goes on after the answer to submit: until it is asked for, or calls back.
func (s spec) waits(tool registry.Tool) bool {
	return s.Poll != nil || s.Submit.callsBack() && tool.Delivers() != registry.DeliveryImmediate
}

// callsBack reports whether a request tells the service where to report.
func (r request) callsBack() bool {
	return slices.Contains(r.names(), "run.callback")
}
