package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// manifest is what an agent says of itself at /.well-known/agent.json; its document is elsewhere.
type manifest struct {
	AgentID         string          `json:"agent_id"`
	Version         string          `json:"version"`
	Domain          string          `json:"domain"`
	DisplayName     string          `json:"display_name"`
	OneLiner        string          `json:"one_liner"`
	OpenAPIURL      string          `json:"openapi_url"`
	HealthURL       string          `json:"health_url"`
	Intents         []string        `json:"intents"`
	PIIScope        []string        `json:"pii_scope"`
	Regions         []string        `json:"supported_regions"`
	RequiresPayment bool            `json:"requires_payment"`
	PaymentMode     string          `json:"payment_mode"`
	Connect         json.RawMessage `json:"connect"` // a word, or an object with it as type
}

var (
	connections  = []string{"oauth2", "orchet_user_jwt", "none"}
	paymentModes = []string{"agent_owned", "orchet_unified", "hybrid"}
)

// readManifest reads a manifest, nil where data is something else, such as a document.
func readManifest(data []byte) (*manifest, error) {
	var about struct {
		AgentID json.RawMessage `json:"agent_id"`
		OpenAPI json.RawMessage `json:"openapi"`
	}
	if json.Unmarshal(data, &about) != nil || about.AgentID == nil || about.OpenAPI != nil {
		return nil, nil
	}
	m := &manifest{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("the agent's manifest can't be read: %s", firstLine(err))
	}
	return m, m.check()
}

func (m *manifest) check() error {
	var wrong []string
	for _, need := range [][2]string{
		{"agent_id", m.AgentID}, {"version", m.Version}, {"domain", m.Domain}, {"display_name", m.DisplayName}, {"one_liner", m.OneLiner}, {"openapi_url", m.OpenAPIURL},
	} {
		if strings.TrimSpace(need[1]) == "" {
			wrong = append(wrong, need[0]+" is missing")
		}
	}
	for _, scope := range m.PIIScope {
		if !slices.Contains(scopes, scope) {
			wrong = append(wrong, fmt.Sprintf("pii_scope has %q; allowed are %s", scope, strings.Join(scopes, ", ")))
		}
	}
	m.PaymentMode = cmp.Or(m.PaymentMode, paymentModes[0])
	if !slices.Contains(paymentModes, m.PaymentMode) {
		wrong = append(wrong, fmt.Sprintf("payment_mode is %q; allowed are %s", m.PaymentMode, strings.Join(paymentModes, ", ")))
	}
	if !slices.Contains(connections, m.connection()) {
		wrong = append(wrong, fmt.Sprintf("connect is %q; allowed are %s", m.connection(), strings.Join(connections, ", ")))
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the agent's manifest is refused: %s", strings.Join(wrong, "; "))
	}
	return nil
}

// connection is how people's accounts are connected.
func (m *manifest) connection() string {
	var word string
	var object struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(m.Connect, &word) != nil && json.Unmarshal(m.Connect, &object) == nil {
		word = object.Type
	}
	return word
}

// document is where the agent's document is, seen from its manifest.
func (m *manifest) document(s source) (source, error) {
	at, err := url.Parse(m.OpenAPIURL)
	if err == nil && s.at != nil {
		at = s.at.ResolveReference(at)
	}
	if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" {
		return s, fmt.Errorf("openapi_url is %q; expected a web address", m.OpenAPIURL)
	}
	s.at = at // its name stays: whose secrets a document gets is the operator's word, not the agent's
	return s, nil
}

// describe says in each tool whose it is. Nobody may spend money with an agent that does not know who they are, nor
// get personal data that its manifest does not name.
func (m *manifest) describe(built []*builder) {
	for _, b := range built {
		compensation, _ := b.tool.Metadata["compensation"].(map[string]any)
		if compensation["costTier"] == "money" && m.connection() == "none" {
			b.refuse("%s is money, and the agent's connect is none: nobody would know who pays", b.tool.ToolID)
		}
		for _, scope := range b.tool.PIIRequired {
			if !slices.Contains(m.PIIScope, scope) {
				b.refuse("%s takes %s, which the agent's pii_scope does not have", b.tool.ToolID, scope)
			}
		}
		about, err := asMetadata(m)
		if err != nil {
			b.refuse("its agent's manifest can't be kept: %v", err)
		}
		b.tool.Metadata["agent"] = about
	}
}
