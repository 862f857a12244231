package catalog

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/registry"
)

// embedded is a tool as websites and prompts may have it: what a person needs to choose and start
// it, nothing about where or how it runs (A68).
type embedded struct {
	ToolID      string                `json:"toolId"`
	DisplayName string                `json:"displayName"`
	Description string                `json:"description,omitempty"`
	CommandName string                `json:"commandName,omitempty"`
	Category    string                `json:"category,omitempty"`
	IntentTags  []string              `json:"intentTags,omitempty"`
	Inputs      registry.InputSchema  `json:"inputSchema"`
	Outputs     registry.OutputSchema `json:"outputSchema,omitempty"`
	Price       string                `json:"price"`
	State       registry.State        `json:"state"`
	Notice      string                `json:"notice,omitempty"`
}

// Embed writes the public tools in a reduced form: no internal or hidden tools, no metadata, no paths
// or addresses inside the house, and nothing that looks like a secret.
func Embed(s *Snapshot) ([]byte, error) {
	tools := []embedded{}
	for _, t := range s.Public() {
		tools = append(tools, reduce(t))
	}
	return indented(map[string]any{"tools": tools})
}

func reduce(t *registry.Tool) embedded {
	c := t.Clone()
	for i := range c.InputSchema {
		f := &c.InputSchema[i]
		f.Description, f.DisplayName = scrub(f.Description), scrub(f.DisplayName)
		f.Default = scrubValue(f.Default)
		if isSecretName(f.Name) {
			f.Default = nil
		}
		for j := range f.Choices {
			f.Choices[j].Label, f.Choices[j].Value = scrub(f.Choices[j].Label), scrubValue(f.Choices[j].Value)
		}
		f.Schema = nil
	}
	for i := range c.OutputSchema {
		c.OutputSchema[i].Description = scrub(c.OutputSchema[i].Description)
	}
	return embedded{
		ToolID: c.ToolID, DisplayName: scrub(c.DisplayName), Description: scrub(c.Description), CommandName: c.CommandName,
		Category: c.Category, IntentTags: c.IntentTags, Inputs: c.InputSchema, Outputs: c.OutputSchema,
		Price: c.CostingModel.Summary(), State: c.State(), Notice: stateLine(&c),
	}
}

func scrubValue(v any) any {
	switch v := v.(type) {
	case string:
		return scrub(v)
	case []any:
		for i := range v {
			v[i] = scrubValue(v[i])
		}
	case map[string]any:
		for key := range v {
			if v[key] = scrubValue(v[key]); isSecretName(key) {
				delete(v, key)
			}
		}
	}
	return v
}

// What stands in place of what was taken out.
const (
	scrubbedSecret  = "(secret)"
	scrubbedAddress = "(internal address)"
)

var (
	secretName = regexp.MustCompile(`(?i)(^|[^a-z])(api[_-]?key|access[_-]?key|secret|token|password|passwd|credential|authorization)s?([^a-z]|$)`)

	// Keys as the services we know give them out, then whatever is said to be one.
	secretText = regexp.MustCompile(`\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}` +
		`|\b(?:gh[opsu]_|github_pat_|glpat-|hf_|r8_|xox[abeprs]-)[A-Za-z0-9_-]{10,}` +
		`|\bAIza[A-Za-z0-9_-]{30,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b` +
		`|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*` +
		`|\b[0-9]{8,12}:[A-Za-z0-9_-]{30,}` +
		`|(?i:\bbearer\s+[A-Za-z0-9._~+/=-]{12,})` +
		`|(?i:\b(?:api[_-]?key|access[_-]?key|secret|token|password|passwd|authorization)\b["']?\s*[:=]\s*["']?[^\s"',;]{6,})` +
		`|-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)

	addressText = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://[^\s"'<>)\]}]+` +
		`|\b(?:localhost|(?:[0-9]{1,3}\.){3}[0-9]{1,3}|(?:[a-z0-9-]+\.)+(?:local|internal|lan|localdomain|intranet|corp|home\.arpa))\b(?::[0-9]+)?(?:/[^\s"'<>)\]}]*)?` +
		`|\[[0-9a-f:]*:[0-9a-f:.]*\](?::[0-9]+)?`)
)

// camelParts cuts apiKey into api and Key.
func camelParts(s string) []string {
	var parts []string
	start, runes := 0, []rune(s)
	for i := 1; i < len(runes); i++ {
		if unicode.IsLower(runes[i-1]) && unicode.IsUpper(runes[i]) {
			parts = append(parts, string(runes[start:i]))
			start = i
		}
	}
	return append(parts, string(runes[start:]))
}

func isSecretName(name string) bool {
	// apiKey and api_key are one name.
	return secretName.MatchString(strings.ToLower(strings.Join(camelParts(name), "_")))
}

// scrub takes secrets and addresses inside the house out of a text that leaves it. Public addresses
// stay without user name and query, where tokens like to hide.
func scrub(s string) string {
	s = secretText.ReplaceAllString(s, scrubbedSecret)
	return addressText.ReplaceAllStringFunc(s, scrubAddress)
}

func scrubAddress(s string) string {
	if !strings.Contains(s, "://") {
		host := s
		if cut := strings.IndexAny(s, "/"); cut >= 0 {
			host = s[:cut]
		}
		if isInternalHost(hostOnly(host)) {
			return scrubbedAddress
		}
		return s
	}
	u, err := url.Parse(s)
	if err != nil || isInternalHost(u.Hostname()) || (u.Scheme != "http" && u.Scheme != "https") {
		return scrubbedAddress
	}
	if u.User == nil && u.RawQuery == "" {
		return s
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

func hostOnly(hostPort string) string {
	if addr, err := netip.ParseAddrPort(hostPort); err == nil {
		return addr.Addr().String()
	}
	if i := strings.LastIndexByte(hostPort, ':'); i >= 0 && !strings.HasSuffix(hostPort, "]") {
		hostPort = hostPort[:i]
	}
	return strings.Trim(hostPort, "[]")
}

// isInternalHost takes any bare IP address as internal: nobody advertises a service by one.
func isInternalHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if !strings.Contains(host, ".") {
		return true // localhost, and names that only an inner network resolves
	}
	for _, zone := range []string{".localhost", ".local", ".internal", ".lan", ".localdomain", ".intranet", ".corp", ".home.arpa"} {
		if strings.HasSuffix(host, zone) {
			return true
		}
	}
	return false
}
