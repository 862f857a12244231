package openapi_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/openapi"
)

const agent = `{"agent_id": "flights", "version": "1.2.0", "domain": "flights.example", "display_name": "Flights", "one_liner": "Books flights.", "intents": ["travel"],
	"openapi_url": "/openapi.yaml", "ui": {}, "health_url": "/health", "sla": {}, "pii_scope": ["name", "passport"], "requires_payment": true, "supported_regions": ["EU"],
	"capabilities": [], "connect": {"type": "oauth2"}, "listing": {}}`

// introduced is a house whose document is found by its agent's manifest.
func introduced(t *testing.T, edits ...string) *house {
	t.Helper()
	h := open(t, travel)
	h.Introduce(strings.NewReplacer(edits...).Replace(agent))
	h.cfg.Documents = []string{h.URL + "/.well-known/agent.json"}
	h.Tools = openapi.New(h.cfg)
	return h
}

func TestManifest(t *testing.T) {
	t.Parallel()
	t.Run("C55 C56 an agent's manifest leads to its document, and is kept with its tools", func(t *testing.T) {
		t.Parallel()
		h := introduced(t)
		about, _ := h.tool(t, "flight_book_offer").Metadata["agent"].(map[string]any)
		if about["agent_id"] != "flights" || about["payment_mode"] != "agent_owned" || about["requires_payment"] != true || about["domain"] != "flights.example" {
			t.Errorf("got %v", about)
		}
		h.sent(t, "flight_book_offer", map[string]any{"offer_id": "o", "traveler_id": "t"})
	})
	t.Run("an agent can't take the name of another document, whose secrets it would get", func(t *testing.T) {
		t.Parallel()
		h := open(t, strings.Replace(travel, "paths:", "security: [{auth: []}]\ncomponents: {securitySchemes: {auth: {type: http, scheme: bearer}}}\npaths:", 1), env("OPENAPI_FLIGHTS_AUTH_TOKEN", secret))
		h.Introduce(agent)
		h.cfg.Documents = []string{h.URL + "/.well-known/agent.json"}
		h.Tools = openapi.New(h.cfg)
		if tool := h.tool(t, "flight_book_offer"); tool.Status == nil || !strings.Contains(tool.Status.Reason, "OPENAPI_127_0_0_1_AUTH_TOKEN") {
			t.Errorf("its status is %+v", tool.Status)
		}
	})
	for name, c := range map[string]struct{ from, to, want string }{
		"C55 money with connect none":           {`{"type": "oauth2"}`, `"none"`, "nobody would know who pays"},
		"C55 another connection":                {`"oauth2"`, `"password"`, "orchet_user_jwt"},
		"C55 no id of the document":             {`"/openapi.yaml"`, `""`, "openapi_url is missing"},
		"C53 C55 another scope":                 {`"passport"]`, `"shoe_size"]`, "shoe_size"},
		"C53 C55 a tool that takes more":        {`["name", "passport"]`, `["name"]`, "takes passport"},
		"C56 another mode of payment":           {`"requires_payment"`, `"payment_mode": "barter", "requires_payment"`, "orchet_unified"},
		"C55 a document that is no web address": {`"/openapi.yaml"`, `"file:///etc/passwd"`, "web address"},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()
			if tools, err := introduced(t, c.from, c.to).Load(t.Context()); err == nil || len(tools) != 0 || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d tools, %v, expected %q", len(tools), err, c.want)
			}
		})
	}
}
