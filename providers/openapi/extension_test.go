package openapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/openapi"
	"github.com/signalbox/signalbox/providers/openapi/openapitest"
	"github.com/signalbox/signalbox/registry"
)

// travel is a document with extensions: a booking and what cancels it.
const travel = `
openapi: 3.0.3
info: {title: Travel agent, version: "1"}
servers: [{url: "{{server}}"}]
paths:
  /book:
    post:
      operationId: flight_book_offer
      summary: Book a flight
      x-orchet-tool: true
      x-orchet-requires-confirmation: structured-itinerary
      x-orchet-pii-required: [name, passport]
      x-orchet-intent-tags: [travel, flights]
      x-orchet-cancels: flight_cancel_booking
      x-orchet-reversibility: compensating
      x-orchet-compensating-inputs-template: {booking_id: "{{outputs.booking.id}}"}
      x-orchet-compensating-window-seconds: 86400
      x-orchet-cost-tier: money
      parameters:
        - {name: X-Orchet-User-Id, in: header, schema: {type: string}}
        - {name: X-Orchet-Idempotency-Key, in: header, required: true, schema: {type: string}}
        - {name: X-Orchet-Pii-Grant, in: header, schema: {type: string}}
        - {name: X-Orchet-Session-Id, in: header, schema: {type: string}}
        - {name: X-Orchet-Turn-Id, in: header, schema: {type: string}}
        - {name: X-Orchet-Region, in: header, schema: {type: string}}
        - {name: X-Orchet-Device-Kind, in: header, schema: {type: string}}
      requestBody:
        content:
          application/json:
            schema:
              type: object
              required: [offer_id, traveler_id]
              properties:
                offer_id: {type: string, description: The offer}
                traveler_id: {type: string, description: Who travels}
                name: {type: string, description: Name of the traveler}
                email: {type: string, description: Address for the ticket}
      responses: {"200": {description: The booking}}
  /cancel:
    post:
      operationId: flight_cancel_booking
      x-orchet-tool: true
      x-orchet-requires-confirmation: false
      x-orchet-cancel-for: flight_book_offer
      responses: {"200": {description: Done}}
  /internal:
    get: {operationId: internal, summary: Not for agents, responses: {"200": {description: OK}}}
`

// edited is the document with parts replaced, one after the other.
func edited(pairs ...string) string {
	document := travel
	for i := 0; i < len(pairs); i += 2 {
		document = strings.Replace(document, pairs[i], pairs[i+1], 1)
	}
	return document
}

func says(findings []openapi.Finding, part string) bool {
	return slices.ContainsFunc(findings, func(f openapi.Finding) bool { return strings.Contains(f.String(), part) })
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	h := open(t, travel)
	t.Run("C2 C12 only operations that say so are tools, whatever the allow-list has", func(t *testing.T) {
		if tools := h.all(t); len(tools) != 2 {
			t.Errorf("%d tools", len(tools))
		}
	})
	book := h.tool(t, "flight_book_offer")
	t.Run("C14 C15 C16 C17 C27 C39 a booking loads with its gate", func(t *testing.T) {
		if book.Confirmation != "structured-itinerary" || book.Cancels != "flight_cancel_booking" || !slices.Equal(book.PIIRequired, []string{"name", "passport"}) ||
			!slices.Equal(book.IntentTags, []string{"travel", "flights"}) {
			t.Errorf("got %+v", book)
		}
	})
	t.Run("C13 C18 C41 what cancels it asks nothing, and loads without body and words", func(t *testing.T) {
		cancel := h.tool(t, "flight_cancel_booking")
		if cancel.Confirmation != "" || cancel.CancelFor != "flight_book_offer" || len(cancel.InputSchema) != 0 {
			t.Errorf("got %+v", cancel)
		}
		if want := "flight_cancel_booking: it has neither summary nor description"; !says(h.Findings(), want) {
			t.Errorf("no finding about %q: %v", want, h.Findings())
		}
	})
	t.Run("C40 offer and traveler are needed", func(t *testing.T) {
		for _, name := range []string{"offer_id", "traveler_id"} {
			if f, ok := book.InputSchema.Get(name); !ok || !f.Required || f.Type != registry.TypeString {
				t.Errorf("%s became %+v", name, f)
			}
		}
	})
	t.Run("C15 personal data that is not named by scope is never sent", func(t *testing.T) {
		if _, there := book.InputSchema.Get("email"); there || !says(h.Findings(), "email is personal data") {
			t.Errorf("email is an input, or nobody is told: %v", h.Findings())
		}
		if _, there := book.InputSchema.Get("name"); !there {
			t.Error("name is missing")
		}
	})
	t.Run("C54 where a call comes from is our word, and no input", func(t *testing.T) {
		r := h.sent(t, "flight_book_offer", map[string]any{"offer_id": "o", "traveler_id": "t"})
		if r.Header.Get("X-Orchet-Idempotency-Key") != "the-handle" || r.Header.Get("X-Orchet-Pii-Grant") != "name,passport" {
			t.Errorf("sent %v", r.Header)
		}
		if len(book.InputSchema) != 3 {
			t.Errorf("the inputs are %+v", book.InputSchema)
		}
		for _, name := range []string{"User-Id", "Region", "Device-Kind"} {
			if _, there := r.Header["X-Orchet-"+name]; there {
				t.Errorf("%s is sent, though nobody knows it: %v", name, r.Header)
			}
		}
	})
	t.Run("C54 all seven members of the context are sent where they are known", func(t *testing.T) {
		before := len(h.Received())
		if _, err := h.Call(t.Context(), registry.Call{
			RunID: "the-run", Handle: "the-handle", UserID: "ann", Tool: book, Media: h.cfg.Store, Inputs: map[string]any{"offer_id": "o", "traveler_id": "t"},
			Context: registry.CallContext{SessionID: "chat-7", TraceID: "turn-9", Region: "BR", DeviceKind: registry.DeviceMobile},
		}); err != nil {
			t.Fatal(err)
		}
		header := h.Received()[before].Header
		for name, want := range map[string]string{
			"User-Id": "ann", "Session-Id": "chat-7", "Turn-Id": "turn-9", "Region": "BR", "Device-Kind": "mobile", "Idempotency-Key": "the-handle", "Pii-Grant": "name,passport",
		} {
			if got := header.Get("X-Orchet-" + name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	})
	t.Run("C25 the tier is kept, beside what the document says of undoing", func(t *testing.T) {
		for id, want := range map[string]string{
			"flight_book_offer":     `{"costTier":"money","inputs":{"booking_id":"{{outputs.booking.id}}"},"reversibility":"compensating","tool":"flight_cancel_booking","windowSeconds":86400}`,
			"flight_cancel_booking": `{"costTier":"free","kind":"best-effort","reversibility":"irreversible"}`,
		} {
			if raw, err := json.Marshal(h.tool(t, id).Metadata["compensation"]); err != nil || string(raw) != want {
				t.Errorf("%s: got %s, expected %s", id, raw, want)
			}
		}
	})
}

func TestConfirmationKinds(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"structured-itinerary", "structured-cart", "structured-booking", "structured-reservation", "structured-trip"} {
		t.Run("C28 "+kind+" is taken", func(t *testing.T) {
			t.Parallel()
			h := open(t, edited("structured-itinerary", kind))
			if tool := h.tool(t, "flight_book_offer"); tool.Confirmation != kind {
				t.Errorf("became %q", tool.Confirmation)
			}
		})
	}
}

func TestIrreversible(t *testing.T) {
	t.Parallel()
	for reversibility, want := range map[string]string{"irreversible": "irreversible", "reversible": ""} {
		t.Run("C21 "+reversibility+" asks: "+want, func(t *testing.T) {
			t.Parallel()
			h := open(t, edited("reversibility: compensating", "reversibility: "+reversibility, "x-orchet-requires-confirmation: structured-itinerary", "x-orchet-requires-confirmation: false", "cost-tier: money", "cost-tier: low"))
			if tool := h.tool(t, "flight_book_offer"); tool.Confirmation != want {
				t.Errorf("it asks for %q", tool.Confirmation)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edits []string
		want  []string
	}{
		"C28 another kind of summary":        {[]string{"structured-itinerary", "structured-picnic"}, []string{"flight_book_offer", "structured-picnic", "structured-cart"}},
		"C14 a confirmation of true":         {[]string{"structured-itinerary", "true"}, []string{"flight_book_offer", "true"}},
		"C53 another scope":                  {[]string{"[name, passport]", "[name, shoe_size]"}, []string{"shoe_size", "traveler_profile"}},
		"C16 tags that are no list":          {[]string{"[travel, flights]", "travel"}, []string{"intent-tags"}},
		"C34 a booking that nothing cancels": {[]string{"      x-orchet-cancels: flight_cancel_booking\n", "", "cost-tier: money", "cost-tier: low"}, []string{"flight_book_offer", "flight_cancel_booking"}},
		"C17 a cancel tool that is not there": {[]string{"x-orchet-cancels: flight_cancel_booking", "x-orchet-cancels: nothing", "cancel-for: flight_book_offer", "intent-tags: []"},
			[]string{"flight_book_offer", "nothing"}},
		"C35 a link one way":                  {[]string{"      x-orchet-cancel-for: flight_book_offer\n", ""}, []string{"flight_book_offer", "flight_cancel_booking", "name it back"}},
		"C18 C35 a link to another tool":      {[]string{"cancel-for: flight_book_offer", "cancel-for: other"}, []string{"flight_cancel_booking", "other"}},
		"C36 a cancel tool that asks":         {[]string{"confirmation: false", "confirmation: structured-booking"}, []string{"flight_cancel_booking", "structured-booking"}},
		"C36 a cancel tool that does not say": {[]string{"      x-orchet-requires-confirmation: false\n", ""}, []string{"flight_cancel_booking", "false"}},
		"C25 money without a summary":         {[]string{"x-orchet-requires-confirmation: structured-itinerary", "x-orchet-requires-confirmation: false"}, []string{"money"}},
		"C25 another tier":                    {[]string{"cost-tier: money", "cost-tier: dear"}, []string{"dear", "metered"}},
		"another kind of compensation":        {[]string{"x-orchet-reversibility", "x-orchet-compensation-kind: good\n      x-orchet-reversibility"}, []string{"good", "best-effort"}},
		"C21 another reversibility":           {[]string{"reversibility: compensating", "reversibility: maybe"}, []string{"maybe", "irreversible"}},
		"C22 an undoing tool that asks": {[]string{"      x-orchet-cancel-for: flight_book_offer\n", "      x-orchet-cancel-for: flight_book_offer\n      x-orchet-compensating-tool: flight_book_offer\n"},
			[]string{"flight_book_offer, which asks for a confirmation"}},
		"C22 an undoing tool that is not there":      {[]string{"x-orchet-reversibility", "x-orchet-compensating-tool: none\n      x-orchet-reversibility"}, []string{"none"}},
		"a template with a place outside the answer": {[]string{"{{outputs.booking.id}}", "{{inputs.offer_id}}"}, []string{"inputs.offer_id"}},
		"a window of nothing":                        {[]string{"86400", "0"}, []string{"seconds"}},
		"C15 personal data that is needed unnamed":   {[]string{"[offer_id, traveler_id]", "[offer_id, email]"}, []string{"email"}},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()
			h := open(t, edited(c.edits...))
			tools, err := h.Load(t.Context())
			if err == nil || slices.ContainsFunc(tools, func(tool registry.Tool) bool { return tool.ToolID == "flight_book_offer" }) {
				t.Fatalf("loaded, with %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v does not say %q", err, want)
				}
			}
		})
	}
	t.Run("C34 names alone tell of an obligation", func(t *testing.T) {
		t.Parallel()
		for id, obliges := range map[string]bool{"createReservation": true, "order_pizza": true, "fileExpense": true, "listOrders": false, "searchBookings": false, "addPet": false} {
			document := edited("operationId: internal", "operationId: internal, x-orchet-tool: true", "  /internal:\n    get:", "  /internal:\n    post:", "operationId: internal", "operationId: "+id)
			if _, err := open(t, document).Load(t.Context()); (err != nil) != obliges {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
	t.Run("a document that becomes bad keeps the tools it had", func(t *testing.T) {
		t.Parallel()
		h := open(t, travel)
		h.all(t)
		h.Describe(edited("confirmation: false", "confirmation: structured-booking"))
		if tools, err := h.Load(t.Context()); err == nil || len(tools) != 2 {
			t.Errorf("%d tools, %v", len(tools), err)
		}
	})
}

func TestLint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, want string }{
		"C11 C26 a name nobody knows":                   {"x-orchet-cost-tier: money", "x-orchet-cost-tier: money\n      x-orchet-mood: good", "x-orchet-mood is not known"},
		"C26 compensation-tool":                         {"x-orchet-cost-tier: money", "x-orchet-cost-tier: money\n      x-orchet-compensation-tool: x", "did you mean x-orchet-compensating-tool"},
		"C26 compensating-kind":                         {"x-orchet-cost-tier: money", "x-orchet-cost-tier: money\n      x-orchet-compensating-kind: x", "did you mean x-orchet-compensation-kind"},
		"C26 other letters":                             {"x-orchet-cost-tier: money", "x-orchet-cost-tier: money\n      X_Orchet_Intent_Tag: x", "did you mean x-orchet-intent-tags"},
		"C26 without x":                                 {"x-orchet-cost-tier: money", "x-orchet-cost-tier: money\n      orchet-tool: true", "did you mean x-orchet-tool"},
		"C2 C12 a tool of \"true\"":                     {"operationId: internal", "operationId: internal, x-orchet-tool: \"true\"", "is \"true\", which is not true"},
		"C5 words of the trade":                         {"summary: Book a flight", "summary: Make a PNR at the endpoint", "PNR"},
		"C9 an input without description":               {", description: The offer", "", "offer_id has no description"},
		"C41 neither summary nor description":           {"x", "x", "flight_cancel_booking: it has neither summary nor description"},
		"a template's input that the cancel tool lacks": {"x-orchet-cost-tier", "x-orchet-compensating-tool: flight_cancel_booking\n      x-orchet-cost-tier", "booking_id, which is no input"},
	} {
		t.Run(name+" is told", func(t *testing.T) {
			t.Parallel()
			h := open(t, edited(c.from, c.to))
			_, err := h.Load(t.Context())
			if told := err != nil && strings.Contains(err.Error(), c.want); !told && !says(h.Findings(), c.want) {
				t.Errorf("nothing says %q: %v, %v", c.want, err, h.Findings())
			}
		})
	}
	t.Run("a property of such a name is none of our business", func(t *testing.T) {
		t.Parallel()
		h := open(t, edited("email: {", "orchet_id: {"))
		h.all(t)
		if says(h.Findings(), "orchet_id is not known") {
			t.Errorf("got %v", h.Findings())
		}
	})
}

func TestRefusalsOfCancellations(t *testing.T) {
	t.Parallel()
	h := open(t, travel)
	for _, status := range []int{http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable} {
		t.Run(fmt.Sprintf("C45 anyone who takes a call back can tell a %d from others", status), func(t *testing.T) {
			h.Answer("flight_cancel_booking", func(openapitest.Request) openapitest.Answer { return openapitest.Answer{Status: status} })
			if _, err := h.call(t, "flight_cancel_booking", nil); registry.StatusOf(err) != status {
				t.Errorf("got %d of %v", registry.StatusOf(err), err)
			}
		})
	}
}
