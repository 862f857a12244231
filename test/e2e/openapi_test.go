//go:build unix

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/openapi/openapitest"
)

// weather is a service that says nothing about tools; the operator allows one of its operations.
const weather = `
openapi: 3.1.0
info: {title: Weather, version: "1"}
servers: [{url: "{{server}}/v2"}]
security: [{key: []}]
paths:
  /places/{place}/days:
    get:
      operationId: forecast
      summary: Weather of the coming days
      parameters:
        - {name: place, in: path, required: true, description: Where, schema: {type: string}}
        - {name: days, in: query, description: How many days, schema: {type: integer, minimum: 1, maximum: 10, default: 3}}
      responses: {"200": {description: The forecast, content: {application/json: {schema: {type: object}}}}}
    delete:
      operationId: forget
      parameters: [{name: place, in: path, required: true, schema: {type: string}}]
      responses: {"204": {description: Forgotten}}
components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Api-Key}}}
`

// trips is a service whose bookings must be confirmed and can be taken back.
const trips = `
openapi: 3.1.0
info: {title: Trips, version: "1"}
servers: [{url: "{{server}}"}]
paths:
  /bookings:
    post:
      operationId: createBooking
      summary: Book a trip
      x-orchet-tool: true
      x-orchet-requires-confirmation: structured-booking
      x-orchet-cancels: cancelBooking
      requestBody: {content: {application/json: {schema: {type: object, required: [to], properties: {to: {type: string, description: Where to}}}}}}
      responses: {"200": {description: The booking}}
  /bookings/{id}:
    delete:
      operationId: cancelBooking
      summary: Cancel a trip
      x-orchet-tool: true
      x-orchet-requires-confirmation: false
      x-orchet-cancel-for: createBooking
      parameters: [{name: id, in: path, required: true, description: Which, schema: {type: string}}]
      responses: {"200": {description: Done}}
`

// contacts is a service that wants to know who is introduced.
const contacts = `
openapi: 3.1.0
info: {title: Contacts, version: "1"}
servers: [{url: "{{server}}"}]
paths:
  /introductions:
    post:
      operationId: introduce
      summary: Introduce yourself to somebody
      x-orchet-tool: true
      x-orchet-pii-required: [name, email]
      parameters: [{name: X-Orchet-Pii-Grant, in: header, schema: {type: string}}]
      requestBody:
        content:
          application/json:
            schema:
              type: object
              required: [to]
              properties: {to: {type: string, description: To whom}, name: {type: string, description: Your name}, email: {type: string, description: Your address}}
      responses: {"200": {description: Done}}
`

func TestOpenAPIDocument(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	const key = "key-of-the-weather"
	service := openapitest.New(t, weather, key)
	dir := t.TempDir()
	p := start(t, spec{env: []string{
		"ADMIN_TOKEN=" + adminToken, "TOOLS_DIR=" + dir, "OPENAPI_DOCS=weather=" + service.URL + "/openapi.yaml", "OPENAPI_ALLOW=forecast,other*", "OPENAPI_WEATHER_KEY_KEY=" + key, "OUTBOUND_ALLOW=127.0.0.1",
	}})
	c := newClient(p, "ann")
	t.Run("C1 C50 C57 an operation of a document at an address runs like every tool", func(t *testing.T) {
		r := c.succeed("forecast", map[string]any{"place": "Bad Ems/Nassau"})
		if got := service.Received(); len(r.Outputs) != 1 || len(got) != 1 || got[0].URI != "/v2/places/Bad%20Ems%2FNassau/days?days=3" {
			t.Errorf("got %+v by %+v", r, got)
		}
		if c.tools()["forget"] != nil {
			t.Error("an operation that nobody allowed is a tool")
		}
	})
	t.Run("a document dropped into TOOLS_DIR", func(t *testing.T) {
		document := strings.NewReplacer("{{server}}", service.URL, "forecast", "otherForecast", "security: [{key: []}]", "").Replace(weather)
		if err := os.WriteFile(filepath.Join(dir, "more.openapi.yaml"), []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
		await(t, "the tool", func() bool { return c.tools()["otherForecast"] != nil }, p.said)
	})
	t.Run("C13 C14 C33 a booking waits until it is confirmed, and is made once; taking it back asks nothing", func(t *testing.T) {
		agency := openapitest.New(t, trips, key)
		if err := os.WriteFile(filepath.Join(dir, "trips.openapi.yaml"), []byte(strings.ReplaceAll(trips, "{{server}}", agency.URL)), 0o600); err != nil {
			t.Fatal(err)
		}
		await(t, "the tool", func() bool { return c.tools()["createBooking"] != nil }, p.said)
		run := c.run("createBooking", map[string]any{"to": "Oslo"})
		if run.Status != "awaiting_confirmation" || len(agency.Received()) != 0 {
			t.Fatalf("it is %s, and %d requests were made", run.Status, len(agency.Received()))
		}
		for range 2 {
			c.must(http.StatusAccepted, http.MethodPost, "/api/runs/"+run.RunID+"/confirm", nil, nil)
		}
		if run = c.finished(run.RunID); run.Status != "succeeded" || len(agency.Received()) != 1 {
			t.Errorf("got %+v by %d requests", run, len(agency.Received()))
		}
		c.succeed("cancelBooking", map[string]any{"id": "1"})
	})
	t.Run("C15 personal data is granted one by one: what is not granted is neither sent nor named", func(t *testing.T) {
		service := openapitest.New(t, contacts, key)
		if err := os.WriteFile(filepath.Join(dir, "contacts.openapi.yaml"), []byte(strings.ReplaceAll(contacts, "{{server}}", service.URL)), 0o600); err != nil {
			t.Fatal(err)
		}
		await(t, "the tool", func() bool { return c.tools()["introduce"] != nil }, p.said)
		for _, grant := range []struct {
			body any
			want string // X-Orchet-Pii-Grant
		}{{map[string]any{"granted": []string{"name"}}, "name"}, {map[string]any{"granted": []string{"email"}}, "email"}, {map[string]any{"granted": []string{}}, ""}, {nil, "name,email"}} {
			before := len(service.Received())
			run := c.run("introduce", map[string]any{"to": "Ben", "name": "Ann", "email": "ann@sea.example"})
			if run.Status != "awaiting_confirmation" || len(service.Received()) != before {
				t.Fatalf("it is %s, %d requests were made", run.Status, len(service.Received())-before)
			}
			c.must(http.StatusAccepted, http.MethodPost, "/api/runs/"+run.RunID+"/confirm", grant.body, nil)
			if run = c.finished(run.RunID); run.Status != "succeeded" || len(service.Received()) != before+1 {
				t.Fatalf("got %+v by %d requests", run, len(service.Received())-before)
			}
			sent := service.Received()[before]
			if got := sent.Header.Get("X-Orchet-Pii-Grant"); got != grant.want {
				t.Errorf("%v grants %q", grant.body, got)
			}
			for field, value := range map[string]string{"name": `"Ann"`, "email": `"ann@sea.example"`} {
				if got := strings.Contains(string(sent.Body), value); got != strings.Contains(grant.want, field) {
					t.Errorf("with %v %s is sent: %v, in %s", grant.body, field, got, sent.Body)
				}
			}
		}
		run := c.run("introduce", map[string]any{"to": "Ben", "name": "Ann"})
		before := len(service.Received())
		c.must(http.StatusUnprocessableEntity, http.MethodPost, "/api/runs/"+run.RunID+"/confirm", map[string]any{"granted": []string{"passport"}}, nil)
		if n := len(service.Received()); n != before {
			t.Errorf("what is not asked for was granted, and %d requests were made", n-before)
		}
	})
	p.stop(os.Interrupt)
	if strings.Contains(p.said(), key) {
		t.Error("the key was logged")
	}
}
