package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/registry"
)

const maxFile = 1 << 20

const (
	callLimit  = 5 * time.Minute
	maxTimeout = 24 * time.Hour
	maxMessage = 240 // characters of an error
)

// serverConfig is one server of the file: a program or an address.
type serverConfig struct {
	Type    string            `json:"type,omitempty"` // sse: the address speaks the transport of 2024; anything else: what else the entry says decides
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Dir     string            `json:"cwd,omitempty"` // where the program is started; empty: where we are
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Tools   []string          `json:"tools,omitempty"` // patterns; empty: all
	// USDPerCall is what a call costs; empty: nothing.
	USDPerCall json.Number `json:"usdPerCall,omitempty"`
	Disabled   bool        `json:"disabled,omitempty"` // as if it did not stand there
	// TimeoutMs is how long a call may take; zero: callLimit.
	TimeoutMs int64 `json:"timeoutMs,omitempty"`

	secrets []string // must show in no message
}

var (
	serverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)
	variable   = regexp.MustCompile(`\$\{(\w+)\}`)
)

// readServers reads the file. Servers that are good are given beside what is wrong with the others.
func readServers(file string, lookup func(string) (string, bool)) (map[string]serverConfig, registry.Problems) {
	raw, err := readBounded(file)
	var all struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err == nil && all.Servers == nil {
		err = errors.New(`it has no member "mcpServers"`)
	}
	if err != nil {
		return nil, registry.Problems{{Source: file, Message: err.Error()}}
	}
	var problems registry.Problems
	servers := map[string]serverConfig{}
	for _, name := range slices.Sorted(maps.Keys(all.Servers)) {
		s, err := readServer(name, all.Servers[name], lookup)
		if err != nil {
			problems = append(problems, registry.Problem{Source: file, Field: "mcpServers." + name, Message: err.Error()})
			continue
		}
		if s.Disabled {
			continue
		}
		servers[name] = s
	}
	return servers, problems
}

func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(raw) > maxFile {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	return raw, err
}

func readServer(name string, raw json.RawMessage, lookup func(string) (string, bool)) (s serverConfig, err error) {
	if err := registry.ReadStrict(raw, &s); err != nil {
		return s, err
	}
	u, err := url.Parse(s.URL)
	switch {
	case !serverName.MatchString(name):
		return s, errors.New("the name has up to 32 letters, digits, dashes and underscores")
	case (s.Command == "") == (s.URL == ""):
		return s, errors.New("give either command or url")
	case s.URL != "" && (err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https"):
		return s, errors.New("url: expected an http or https address without a user")
	}
	if rate, err := decimal.Parse(cmp.Or(s.USDPerCall, "0")); err != nil || rate.Sign() < 0 {
		return s, fmt.Errorf("usdPerCall: is %q; expected US dollars like 0.005", s.USDPerCall)
	}
	if s.TimeoutMs < 0 || s.TimeoutMs > maxTimeout.Milliseconds() {
		return s, fmt.Errorf("timeoutMs: is %d; expected milliseconds up to %d", s.TimeoutMs, maxTimeout.Milliseconds())
	}
	for _, pattern := range s.Tools {
		if _, err := path.Match(pattern, ""); err != nil {
			return s, fmt.Errorf("tools: %q is no pattern", pattern)
		}
	}
	return s, errors.Join(s.fill(s.Env, lookup), s.fill(s.Headers, lookup))
}

// fill puts variables of the environment into values, all of which are taken for secrets.
func (s *serverConfig) fill(values map[string]string, lookup func(string) (string, bool)) error {
	var wrong error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		s.secrets = append(s.secrets, value)
		values[name] = variable.ReplaceAllStringFunc(value, func(found string) string {
			filled, set := lookup(variable.FindStringSubmatch(found)[1])
			if !set {
				wrong = errors.Join(wrong, fmt.Errorf("%s: %s is not set in the environment", name, found))
			}
			s.secrets = append(s.secrets, filled)
			return filled
		})
	}
	return wrong
}

// limit is how long a call may take.
func (s serverConfig) limit() time.Duration {
	return cmp.Or(time.Duration(s.TimeoutMs)*time.Millisecond, callLimit)
}

// takes reports whether a tool of the server is wanted.
func (s serverConfig) takes(tool string) bool {
	return len(s.Tools) == 0 || slices.ContainsFunc(s.Tools, func(pattern string) bool {
		ok, err := path.Match(pattern, tool)
		return ok && err == nil
	})
}
